//! The grammar that every stream keeps, as a check that shares nothing with the code under test.

use ikigai_core::{Block, Event};

/// Why a list of events is no stream; none when it is one.
pub(crate) fn fault(events: &[Event]) -> Option<String> {
    let mut open: Vec<(usize, &'static str)> = Vec::new();
    let mut opened = 0;
    for (at, event) in events.iter().enumerate() {
        let last = at + 1 == events.len();
        let fault = |what: &str| Some(format!("event {at} ({event:?}) {what}"));
        if event.is_terminal() != last {
            return fault(if last { "is no end" } else { "ends the stream before its last event" });
        }
        if matches!(event, Event::Start { .. }) != (at == 0) && !matches!(event, Event::Error { .. }) {
            return fault("is a start in the wrong place, or stands where the start should");
        }
        let is_open = |index: usize, kind: &'static str| open.contains(&(index, kind));
        let good = match event {
            Event::Start { .. } | Event::Usage { .. } | Event::Other { .. } | Event::Error { .. } => true,
            Event::BlockStart { index, block } => {
                let kind = match block {
                    Block::ToolCall(_) => return fault("opens a call as a plain block"),
                    Block::Text(_) => "text",
                    Block::Thinking(_) => "thinking",
                    _ => "whole",
                };
                open.push((*index, kind));
                opened += 1;
                *index == opened - 1
            }
            Event::ToolCallStart { index, .. } => {
                open.push((*index, "call"));
                opened += 1;
                *index == opened - 1
            }
            Event::TextDelta { index, text } => is_open(*index, "text") && !text.is_empty(),
            Event::ThinkingDelta { index, text } => is_open(*index, "thinking") && !text.is_empty(),
            Event::ToolCallDelta { index, .. } => is_open(*index, "call"),
            Event::ToolCallDone { index, .. } => {
                let good = is_open(*index, "call");
                open.retain(|(at, _)| at != index);
                good
            }
            Event::BlockDone { index, .. } => {
                let good = open.iter().any(|(at, kind)| at == index && *kind != "call");
                open.retain(|(at, _)| at != index);
                good
            }
            Event::Done { .. } => open.is_empty(),
            other => return Some(format!("event {at} is of a kind that the grammar does not have: {other:?}")),
        };
        if !good {
            return fault("is out of place");
        }
    }
    events.is_empty().then(|| "there are no events".to_owned())
}
