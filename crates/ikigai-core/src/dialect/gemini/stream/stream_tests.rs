use super::*;
use crate::{Block, Event};

/// Checks the order of events: one start, blocks numbered as they open and closed before the end, one end.
pub(in super::super) fn check_grammar(events: &[Event]) {
    let mut open: Vec<(usize, &'static str)> = Vec::new();
    let mut blocks = 0;
    let mut is_open = |index: usize, kind: &str, open: &[(usize, &'static str)]| {
        assert!(
            open.contains(&(
                index,
                match kind {
                    "text" => "text",
                    "thinking" => "thinking",
                    "call" => "call",
                    _ => "whole",
                }
            )),
            "block {index} is no open {kind}: {events:#?}"
        );
    };
    for (place, event) in events.iter().enumerate() {
        let last = place + 1 == events.len();
        assert_eq!(event.is_terminal(), last, "the end stands at the end: {events:#?}");
        assert_eq!(matches!(event, Event::Start { .. }), place == 0 && !event.is_terminal(), "{events:#?}");
        match event {
            Event::BlockStart { index, block } => {
                assert_eq!(*index, blocks);
                blocks += 1;
                open.push((
                    *index,
                    match block {
                        Block::Text(_) => "text",
                        Block::Thinking(_) => "thinking",
                        Block::ToolCall(_) => panic!("a call opens by its own event"),
                        _ => "whole",
                    },
                ));
            }
            Event::ToolCallStart { index, .. } => {
                assert_eq!(*index, blocks);
                blocks += 1;
                open.push((*index, "call"));
            }
            Event::TextDelta { index, .. } => is_open(*index, "text", &open),
            Event::ThinkingDelta { index, .. } => is_open(*index, "thinking", &open),
            Event::ToolCallDelta { index, .. } => is_open(*index, "call", &open),
            Event::ToolCallDone { index, .. } => {
                is_open(*index, "call", &open);
                open.retain(|(known, _)| known != index);
            }
            Event::BlockDone { index, .. } => {
                assert!(open.iter().any(|(known, kind)| known == index && *kind != "call"), "{events:#?}");
                open.retain(|(known, _)| known != index);
            }
            Event::Done { .. } => assert!(open.is_empty(), "blocks {open:?} are still open: {events:#?}"),
            Event::Start { .. } | Event::Usage { .. } | Event::Error { .. } | Event::Other { .. } => {}
        }
    }
}
