//! A checker for the grammar of a stream.

use serde_json::{Map, Value};

use crate::{Arguments, Block, BlockKind, Event};

/// Checks that events come in the order that the grammar of [`Event`] streams allows.
///
/// Use it to test code that produces events: it checks every step, while a [`Collector`](crate::Collector) only reports
/// what prevents it from continuing.
///
/// ```
/// use ikigai_core::Event;
/// use ikigai_core::validate::EventChecker;
///
/// let mut checker = EventChecker::default();
/// let early = checker.push(&Event::TextDelta { index: 0, text: "Hel".into() });
/// assert_eq!(early.unwrap_err(), "text_delta comes before start");
/// ```
#[derive(Debug, Clone, Default)]
pub struct EventChecker {
    started: bool,
    ended: bool,
    blocks: Vec<Opened>,
}

#[derive(Debug, Clone)]
struct Opened {
    kind: BlockKind,
    open: bool,
    /// The arguments of a call so far.
    arguments: String,
}

impl EventChecker {
    /// Checks the next event.
    ///
    /// # Errors
    /// Returns an error if the event is not allowed here, with the reason. A wrong event is ignored for later checks.
    pub fn push(&mut self, event: &Event) -> Result<(), String> {
        let name = name(event);
        if self.ended {
            return Err(format!("{name} comes after the end"));
        }
        match event {
            Event::Start { .. } if self.started => return Err("start comes twice".to_owned()),
            Event::Start { .. } => self.started = true,
            Event::Error { .. } => self.ended = true,
            _ if !self.started => return Err(format!("{name} comes before start")),
            Event::BlockStart { index, block } => {
                if block.kind() == BlockKind::ToolCall {
                    return Err(format!("block {index} is a tool call, which tool_call_start opens"));
                }
                self.open(*index, block)?;
            }
            Event::ToolCallStart { index, id, name, .. } => {
                if id.is_empty() || name.is_empty() {
                    return Err(format!("the tool call at {index} opens without its id or name"));
                }
                self.open(*index, &Block::tool_call(id, name, Map::new()))?;
            }
            Event::TextDelta { index, .. } => {
                self.opened(*index, name, BlockKind::Text)?;
            }
            Event::ThinkingDelta { index, .. } => {
                self.opened(*index, name, BlockKind::Thinking)?;
            }
            Event::ToolCallDelta { index, arguments } => {
                self.opened(*index, name, BlockKind::ToolCall)?.arguments.push_str(arguments);
            }
            Event::ToolCallDone { index, arguments, .. } => {
                let block = self.opened(*index, name, BlockKind::ToolCall)?;
                check_arguments(*index, &block.arguments, arguments)?;
                block.open = false;
            }
            Event::BlockReplaced { index, block } => {
                if !block.is_provider_run() {
                    return Err(format!("block {index} is replaced by {}, which cannot be", block.kind()));
                }
                self.opened(*index, name, block.kind())?;
            }
            Event::Citation { index, .. } => match self.blocks.get(*index) {
                Some(block) if block.kind == BlockKind::Text => {}
                Some(block) => return Err(format!("{name} comes for block {index}, which is {}", block.kind)),
                None => return Err(format!("{name} comes for block {index}, which never opened")),
            },
            Event::BlockDone { index, .. } => {
                let block = self.any_opened(*index, name)?;
                if block.kind == BlockKind::ToolCall {
                    return Err(format!("block {index} is a tool call, which tool_call_done closes"));
                }
                block.open = false;
            }
            Event::Done { .. } => {
                if let Some(index) = self.blocks.iter().position(|block| block.open) {
                    return Err(format!("done comes while block {index} is open"));
                }
                self.ended = true;
            }
            Event::Other { index: Some(index), .. } if *index >= self.blocks.len() => {
                return Err(format!("other belongs to block {index}, which never opened"));
            }
            Event::Sources { .. } | Event::Usage { .. } | Event::Other { .. } => {}
        }
        Ok(())
    }

    /// Checks that the stream has ended.
    ///
    /// # Errors
    /// Returns an error if there was neither `done` nor `error`.
    pub fn finish(&self) -> Result<(), String> {
        if self.ended { Ok(()) } else { Err("the stream ended without done or error".to_owned()) }
    }

    /// Checks a whole stream.
    ///
    /// # Errors
    /// Returns the first fault, with the number of its event.
    pub fn check<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<(), String> {
        let mut checker = EventChecker::default();
        for (number, event) in events.into_iter().enumerate() {
            checker.push(event).map_err(|fault| format!("event {number}: {fault}"))?;
        }
        checker.finish()
    }

    fn open(&mut self, index: usize, block: &Block) -> Result<(), String> {
        let next = self.blocks.len();
        if index != next {
            return Err(format!("block {index} opens where block {next} should"));
        }
        self.blocks.push(Opened { kind: block.kind(), open: true, arguments: String::new() });
        Ok(())
    }

    fn opened(&mut self, index: usize, name: &str, kind: BlockKind) -> Result<&mut Opened, String> {
        let block = self.any_opened(index, name)?;
        if block.kind == kind {
            Ok(block)
        } else {
            Err(format!("{name} comes for block {index}, which is {}", block.kind))
        }
    }

    fn any_opened(&mut self, index: usize, name: &str) -> Result<&mut Opened, String> {
        match self.blocks.get_mut(index) {
            None => Err(format!("{name} comes for block {index}, which never opened")),
            Some(block) if !block.open => Err(format!("{name} comes for block {index}, which is closed")),
            Some(block) => Ok(block),
        }
    }
}

/// The pieces must give the same arguments as the end. A call may also arrive complete, without pieces.
fn check_arguments(index: usize, pieces: &str, arguments: &Arguments) -> Result<(), String> {
    let agrees = pieces.trim().is_empty()
        || arguments.text() == pieces
        || serde_json::from_str::<Map<String, Value>>(pieces).is_ok_and(|read| read == *arguments.object());
    if agrees {
        Ok(())
    } else {
        Err(format!("the pieces of the arguments of the tool call at {index} do not give the arguments at its end"))
    }
}

/// Returns the event's name as it is written in JSON.
fn name(event: &Event) -> &'static str {
    match event {
        Event::Start { .. } => "start",
        Event::BlockStart { .. } => "block_start",
        Event::TextDelta { .. } => "text_delta",
        Event::ThinkingDelta { .. } => "thinking_delta",
        Event::ToolCallStart { .. } => "tool_call_start",
        Event::ToolCallDelta { .. } => "tool_call_delta",
        Event::ToolCallDone { .. } => "tool_call_done",
        Event::BlockReplaced { .. } => "block_replaced",
        Event::Citation { .. } => "citation",
        Event::Sources { .. } => "sources",
        Event::BlockDone { .. } => "block_done",
        Event::Usage { .. } => "usage",
        Event::Done { .. } => "done",
        Event::Error { .. } => "error",
        Event::Other { .. } => "other",
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
