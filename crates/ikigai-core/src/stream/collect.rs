//! Converts events to a [`Response`] and back. Nothing else assembles an answer.

use std::collections::BTreeMap;

use crate::{Arguments, Block, Error, Event, FinishReason, Part, ProviderData, Response, ToolCall, Usage};

/// Collects the events of a stream into the same [`Response`] that the answer would have been without streaming.
///
/// Misplaced events do not change what is already there. A delta for a block that never opened or has ended, or a
/// second end, is an error, which [`finish`](Collector::finish) reports with everything that had arrived.
///
/// ```
/// use ikigai_core::{Collector, Event, FinishReason, Block};
///
/// let mut collector = Collector::default();
/// for event in [
///     Event::Start { id: None, model: Some("m".into()), provider_data: Default::default() },
///     Event::BlockStart { index: 0, block: Block::text("") },
///     Event::TextDelta { index: 0, text: "Hel".into() },
///     Event::TextDelta { index: 0, text: "lo".into() },
///     Event::BlockDone { index: 0, provider_data: Default::default() },
///     Event::Done { finish_reason: FinishReason::Stop, provider_data: Default::default() },
/// ] {
///     collector.push(event);
/// }
/// assert_eq!(collector.finish().text(), "Hello");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Collector {
    response: Response,
    /// The blocks that are still open, by place, each with the arguments so far if it is a call.
    open: BTreeMap<usize, String>,
    fault: Option<Error>,
    ended: bool,
}

impl Collector {
    /// Adds the next event.
    pub fn push(&mut self, event: Event) {
        if self.ended {
            return self.fail("an event came after the end of the stream");
        }
        match event {
            Event::Start { id, model, provider_data } => {
                self.response.id = id.or(self.response.id.take());
                if let Some(model) = model {
                    self.response.model = model;
                }
                self.response.provider_data.merge(provider_data);
            }
            Event::BlockStart { index, block } => self.open(index, block),
            Event::ToolCallStart { index, id, name, provider_data } => {
                self.open(index, Block::ToolCall(ToolCall { id, name, provider_data, ..ToolCall::default() }));
            }
            Event::TextDelta { index, text } => match self.opened(index) {
                Some((Block::Text(block), _)) => append(&mut block.text, text),
                _ => self.fail(format!("text for block {index}, which is not an open text block")),
            },
            Event::ThinkingDelta { index, text } => match self.opened(index) {
                Some((Block::Thinking(block), _)) => append(&mut block.text, text),
                _ => self.fail(format!("thinking for block {index}, which is not an open thinking block")),
            },
            Event::ToolCallDelta { index, arguments } => match self.opened(index) {
                Some((Block::ToolCall(_), so_far)) => append(so_far, arguments),
                _ => self.fail(format!("arguments for block {index}, which is not an open tool call")),
            },
            Event::ToolCallDone { index, arguments, provider_data } => match self.opened(index) {
                Some((Block::ToolCall(call), _)) => {
                    call.arguments = arguments;
                    call.provider_data.merge(provider_data);
                    self.close(index);
                }
                _ => self.fail(format!("block {index} ends as a tool call, but no call is open there")),
            },
            Event::BlockDone { index, mut provider_data } => match self.opened(index) {
                Some((Block::ToolCall(_), _)) | None => {
                    self.fail(format!("block {index} ends, but is not open, or is a tool call"));
                }
                Some((Block::Other(other), _)) => {
                    if let Some(data) = provider_data.remove_part(other.dialect, Part::Shape, "data") {
                        other.data = data;
                    }
                    self.close(index);
                }
                Some((block, _)) => {
                    if let Some(data) = block.provider_data_mut() {
                        data.merge(provider_data);
                    }
                    self.close(index);
                }
            },
            Event::BlockReplaced { index, block } => match self.opened(index) {
                Some((opened, _)) if opened.is_provider_run() && opened.kind() == block.kind() => *opened = block,
                _ => self.fail(format!("block {index} is replaced, but is not an open one of a provider's tool")),
            },
            Event::Citation { index, citation } => match self.response.content.get_mut(index) {
                Some(Block::Text(text)) => text.citations.push(*citation),
                _ => self.fail(format!("a citation for block {index}, which is not a text block")),
            },
            Event::Sources { sources } => self.response.sources = sources,
            Event::Usage { usage } => self.response.usage = Some(usage),
            Event::Done { finish_reason, provider_data } => {
                self.response.finish_reason = finish_reason;
                self.response.provider_data.merge(provider_data);
                self.ended = true;
            }
            Event::Error { error } => {
                self.response.finish_reason = FinishReason::Error;
                self.response.error = Some(error);
                self.ended = true;
            }
            Event::Other { .. } => {}
        }
    }

    /// Adds the next event by reference, so that the many small pieces are not copied twice.
    pub fn note(&mut self, event: &Event) {
        if self.ended {
            return self.fail("an event came after the end of the stream");
        }
        match event {
            Event::TextDelta { index, text } => match self.opened(*index) {
                Some((Block::Text(block), _)) => block.text.push_str(text),
                _ => self.push(event.clone()),
            },
            Event::ThinkingDelta { index, text } => match self.opened(*index) {
                Some((Block::Thinking(block), _)) => block.text.push_str(text),
                _ => self.push(event.clone()),
            },
            Event::ToolCallDelta { index, arguments } => match self.opened(*index) {
                Some((Block::ToolCall(_), so_far)) => so_far.push_str(arguments),
                _ => self.push(event.clone()),
            },
            Event::Start { .. }
            | Event::BlockStart { .. }
            | Event::ToolCallStart { .. }
            | Event::ToolCallDone { .. }
            | Event::BlockReplaced { .. }
            | Event::Citation { .. }
            | Event::Sources { .. }
            | Event::BlockDone { .. }
            | Event::Usage { .. }
            | Event::Done { .. }
            | Event::Error { .. } => self.push(event.clone()),
            Event::Other { .. } => {}
        }
    }

    /// Returns what has arrived so far.
    pub fn so_far(&self) -> &Response {
        &self.response
    }

    /// Returns whether the stream has ended.
    pub fn is_done(&self) -> bool {
        self.ended
    }

    /// Returns the answer. If the stream did not end, or events were misplaced, its finish reason is `error`, and it
    /// contains what had arrived.
    pub fn finish(mut self) -> Response {
        let open = std::mem::take(&mut self.open);
        if !self.ended {
            self.fail("the stream ended without its end: the answer is cut off");
        } else if let Some(index) = open.keys().next() {
            self.fail(format!("the stream ended, but block {index} did not"));
        }
        for (index, text) in open {
            if let Some(Block::ToolCall(call)) = self.response.content.get_mut(index) {
                call.arguments = Arguments::from_text(text);
            }
        }
        self.response.warnings.extend(self.response.usage.as_ref().and_then(Usage::inconsistency));
        if let Some(fault) = self.fault {
            self.response.finish_reason = FinishReason::Error;
            self.response.error.get_or_insert_with(|| Box::new(fault));
        }
        self.response
    }

    fn open(&mut self, index: usize, block: Block) {
        if index == self.response.content.len() {
            self.response.content.push(block);
            self.open.insert(index, String::new());
        } else {
            let next = self.response.content.len();
            self.fail(format!("block {index} opens where block {next} should"));
        }
    }

    /// Returns a block that is still open, with the arguments so far.
    fn opened(&mut self, index: usize) -> Option<(&mut Block, &mut String)> {
        let so_far = self.open.get_mut(&index)?;
        Some((self.response.content.get_mut(index)?, so_far))
    }

    fn close(&mut self, index: usize) {
        self.open.remove(&index);
    }

    /// Remembers the first fault; later ones mostly follow from it.
    fn fail(&mut self, message: impl Into<String>) {
        self.fault.get_or_insert_with(|| Error::protocol(message));
    }
}

impl Extend<Event> for Collector {
    fn extend<T: IntoIterator<Item = Event>>(&mut self, events: T) {
        for event in events {
            self.push(event);
        }
    }
}

/// Adopts the first piece instead of copying it.
fn append(to: &mut String, piece: String) {
    if to.is_empty() {
        *to = piece;
    } else {
        to.push_str(&piece);
    }
}

/// Returns the events of a stream for this answer, with each block in one piece.
///
/// Collecting them gives the same response, except for its `warnings`, which streams do not carry.
pub fn events(response: &Response) -> Vec<Event> {
    let mut events = Vec::with_capacity(response.content.len() * 3 + 3);
    events.push(Event::Start {
        id: response.id.clone(),
        model: (!response.model.is_empty()).then(|| response.model.clone()),
        provider_data: response.provider_data.clone(),
    });
    for (index, block) in response.content.iter().enumerate() {
        block_events(index, block, &mut events);
    }
    if !response.sources.is_empty() {
        events.push(Event::Sources { sources: response.sources.clone() });
    }
    if let Some(usage) = &response.usage {
        events.push(Event::Usage { usage: usage.clone() });
    }
    events.push(match &response.error {
        Some(error) => Event::Error { error: error.clone() },
        None => Event::Done { finish_reason: response.finish_reason, provider_data: ProviderData::default() },
    });
    events
}

/// Appends the events of one block, in one piece.
pub(crate) fn block_events(index: usize, block: &Block, events: &mut Vec<Event>) {
    match block {
        Block::Text(text) => {
            let mut opening = text.clone();
            let text = std::mem::take(&mut opening.text);
            let citations = std::mem::take(&mut opening.citations);
            events.push(Event::BlockStart { index, block: Block::Text(opening) });
            if !text.is_empty() {
                events.push(Event::TextDelta { index, text });
            }
            let boxed = citations.into_iter().map(Box::new);
            events.extend(boxed.map(|citation| Event::Citation { index, citation }));
        }
        Block::Thinking(thinking) => {
            let mut opening = thinking.clone();
            let text = std::mem::take(&mut opening.text);
            events.push(Event::BlockStart { index, block: Block::Thinking(opening) });
            if !text.is_empty() {
                events.push(Event::ThinkingDelta { index, text });
            }
        }
        Block::ToolCall(call) => {
            events.push(Event::ToolCallStart {
                index,
                id: call.id.clone(),
                name: call.name.clone(),
                provider_data: call.provider_data.clone(),
            });
            events.push(Event::ToolCallDelta { index, arguments: call.arguments.text().to_owned() });
            events.push(Event::ToolCallDone {
                index,
                arguments: call.arguments.clone(),
                provider_data: ProviderData::default(),
            });
            return;
        }
        Block::Image(_)
        | Block::Document(_)
        | Block::Audio(_)
        | Block::ToolResult(_)
        | Block::ProviderCall(_)
        | Block::ProviderResult(_)
        | Block::Other(_) => {
            events.push(Event::BlockStart { index, block: block.clone() });
        }
    }
    events.push(Event::BlockDone { index, provider_data: ProviderData::default() });
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
