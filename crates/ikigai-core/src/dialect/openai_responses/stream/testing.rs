//! What the tests of streams share.

use super::Decoder;
use crate::dialect::ReadFrames;
use crate::{Block, Collector, Event, Ids, Response, Sse};

/// The events of a whole stream.
pub(in super::super) fn read_stream(sse: &str) -> Vec<Event> {
    let mut decoder = Decoder::new(Ids::default());
    let mut events = Vec::new();
    let mut parser = Sse::default();
    parser.feed(sse.as_bytes(), |frame| decoder.frame(frame.name, frame.data, &mut events)).unwrap();
    parser.end(|frame| decoder.frame(frame.name, frame.data, &mut events)).unwrap();
    decoder.end(&mut events);
    events
}

/// Checks the grammar of events and collects them.
pub(in super::super) fn check_grammar(events: &[Event]) -> Result<Response, String> {
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut collector = Collector::default();
    for (at, event) in events.iter().enumerate() {
        let fault = |what: &str| Err(format!("event {at}: {what}: {event:?}"));
        let is_open = |index: &usize, call: bool| open.get(*index) == Some(&(true, call));
        if at == 0 && !matches!(event, Event::Start { .. } | Event::Error { .. }) {
            return fault("does not start the stream");
        }
        if event.is_terminal() != (at + 1 == events.len()) {
            return fault("the end is not the last event");
        }
        match event {
            Event::Start { .. } if at > 0 => return fault("a second start"),
            Event::BlockStart { index, block } => {
                if *index != open.len() || matches!(block, Block::ToolCall(_)) {
                    return fault("opens in the wrong place");
                }
                open.push((true, false));
            }
            Event::ToolCallStart { index, id, name, .. } => {
                if *index != open.len() || id.is_empty() || name.is_empty() {
                    return fault("opens in the wrong place");
                }
                open.push((true, true));
            }
            Event::TextDelta { index, text } | Event::ThinkingDelta { index, text } => {
                if !is_open(index, false) || text.is_empty() {
                    return fault("belongs to no open block");
                }
            }
            Event::ToolCallDelta { index, arguments } => {
                if !is_open(index, true) || arguments.is_empty() {
                    return fault("belongs to no open call");
                }
            }
            Event::BlockDone { index, .. } => match open.get_mut(*index) {
                Some(block) if *block == (true, false) => block.0 = false,
                _ => return fault("closes no open block"),
            },
            Event::ToolCallDone { index, .. } => match open.get_mut(*index) {
                Some(block) if *block == (true, true) => block.0 = false,
                _ => return fault("closes no open call"),
            },
            Event::Done { .. } if open.iter().any(|(open, _)| *open) => return fault("a block is still open"),
            _ => {}
        }
        collector.push(event.clone());
    }
    let response = collector.finish();
    match &response.error {
        Some(error) if !events.iter().any(|event| matches!(event, Event::Error { .. })) => Err(error.to_string()),
        _ => Ok(response),
    }
}
