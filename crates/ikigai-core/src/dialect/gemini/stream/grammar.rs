//! The order of events, checked in every test of a stream.

use crate::{Block, BlockKind, Event};

/// One start, blocks numbered as they open and closed before the end, one end.
pub(in super::super) fn check_grammar(events: &[Event]) {
    let mut open: Vec<(usize, BlockKind)> = Vec::new();
    let mut blocks = 0;
    for (place, event) in events.iter().enumerate() {
        let last = place + 1 == events.len();
        assert_eq!(event.is_terminal(), last, "the end, and nothing else, stands at the end: {events:#?}");
        let first = place == 0 && !matches!(event, Event::Error { .. });
        assert_eq!(
            matches!(event, Event::Start { .. }),
            first,
            "the start, and nothing else, stands first: {events:#?}"
        );
        let mut opens = |index: usize, kind: BlockKind, open: &mut Vec<(usize, BlockKind)>| {
            assert_eq!(index, blocks, "blocks are numbered as they open: {events:#?}");
            blocks += 1;
            open.push((index, kind));
        };
        let is_open = |index: usize, kind: BlockKind| {
            assert!(open.contains(&(index, kind)), "block {index} is no open {kind:?}: {events:#?}");
        };
        match event {
            Event::BlockStart { index, block } => {
                assert!(!matches!(block, Block::ToolCall(_)), "a call opens by its own event: {events:#?}");
                opens(*index, block.kind(), &mut open);
            }
            Event::ToolCallStart { index, .. } => opens(*index, BlockKind::ToolCall, &mut open),
            Event::TextDelta { index, .. } => is_open(*index, BlockKind::Text),
            Event::ThinkingDelta { index, .. } => is_open(*index, BlockKind::Thinking),
            Event::ToolCallDelta { index, .. } => is_open(*index, BlockKind::ToolCall),
            Event::ToolCallDone { index, .. } => {
                is_open(*index, BlockKind::ToolCall);
                open.retain(|(known, _)| known != index);
            }
            Event::BlockDone { index, .. } => {
                let ends = |(known, kind): &(usize, BlockKind)| known == index && *kind != BlockKind::ToolCall;
                assert!(open.iter().any(ends), "block {index} ends, but is not open: {events:#?}");
                open.retain(|(known, _)| known != index);
            }
            Event::Done { .. } => assert!(open.is_empty(), "blocks {open:?} are still open: {events:#?}"),
            Event::Start { .. } | Event::Usage { .. } | Event::Error { .. } | Event::Other { .. } => {}
        }
    }
}
