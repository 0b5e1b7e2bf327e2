//! Converts a client's messages to canonical ones.

use std::collections::{HashSet, VecDeque};

use super::decode::at;
use super::shape;
use crate::dialect::openai_chat::notes::{ContentShape, Notes, Side};
use crate::dialect::openai_chat::wire::Message as WireMessage;
use crate::dialect::openai_chat::{assistant, content, sealed};
use crate::json::loose::{Item, Loose as _};
use crate::wire::Ids;
use crate::{Block, Error, Fields, Json, Message, Request, Role, ToolResult};

/// Reads all messages: the leading system messages into `system`, the rest in order, a run of tool messages as one.
pub(super) fn decode(
    messages: Vec<Item<'_, WireMessage<'_>>>,
    request: &mut Request,
    notes: &mut Notes,
) -> Result<(), Error> {
    let mut reader = Reader { ids: Ids::default(), system: Vec::new(), pending: None };
    let mut leading = true;
    request.messages.reserve(messages.len());
    for (index, item) in messages.into_iter().enumerate() {
        let place = || format!("messages[{index}]");
        let Item::Fits(mut message) = item else { return Err(at(place(), "is not a JSON object")) };
        let Some(role) = message.role.take() else {
            return Err(at(format!("{}.role", place()), "is missing or not a string"));
        };
        let role = role.as_str();
        leading &= matches!(role, "system" | "developer");
        match role {
            _ if leading => reader.lead(role, message, request),
            "system" | "developer" => request.messages.push(plain(Role::System, role, message)),
            "user" => request.messages.push(plain(Role::User, role, message)),
            "assistant" => request.messages.push(reader.assistant(message)),
            "tool" | "function" => {
                let result = reader.result(role, message, &request.messages);
                // Results belong together: each call is answered in the message that follows it.
                match request.messages.last_mut() {
                    Some(last) if last.role == Role::Tool => last.content.push(result),
                    _ => request.messages.push(Message::new(Role::Tool, result)),
                }
            }
            _ => {
                let known = "is unknown; use system, developer, user, assistant, tool or function";
                return Err(at(format!("{}.role", place()), known));
            }
        }
    }
    let is_plain = matches!(reader.system.as_slice(), [only] if *only == system_shape("system", 1));
    if !reader.system.is_empty() && !is_plain {
        notes.shape.set(shape::SYSTEM, Json::of(&reader.system).unwrap_or_default());
    }
    Ok(())
}

/// Returns how one system message was written: its role, and how many blocks it has.
fn system_shape(role: &str, blocks: usize) -> Fields {
    let mut fields = Fields::default();
    fields.push(shape::ROLE, role);
    fields.push(shape::BLOCKS, Json::of(&blocks).unwrap_or_default());
    fields
}

struct Reader {
    ids: Ids,
    /// How the leading system messages were divided.
    system: Vec<Fields>,
    /// The calls of the last assistant message, once a result does not name its call.
    pending: Option<Pending>,
}

impl Reader {
    fn lead(&mut self, role: &str, mut message: WireMessage<'_>, request: &mut Request) {
        let before = request.system.len();
        let mut kept = Fields::default();
        read_content(&mut message, &mut request.system, &mut kept);
        let mut fields = system_shape(role, request.system.len() - before);
        kept.into_iter().for_each(|(name, value)| fields.push(name, value));
        let extra = message.leftovers();
        if !extra.is_empty() {
            fields.push(shape::EXTRA, Json::from(extra));
        }
        self.system.push(fields);
    }

    fn assistant(&mut self, mut wire: WireMessage<'_>) -> Message {
        self.pending = None;
        let sealed = sealed::take_sealed(&mut wire);
        let (blocks, notes) = assistant::decode(wire, Side::Request, &mut self.ids);
        let mut message = Message::new(Role::Assistant, blocks);
        message.provider_data = notes.into_data(Side::Request);
        if !sealed.is_empty() {
            (message.provider, message.model) = sealed::unseal(&mut message.content, sealed);
        }
        message
    }

    fn result(&mut self, role: &str, mut message: WireMessage<'_>, before: &[Message]) -> Block {
        let mut notes = Notes::default();
        let mut result = ToolResult::default();
        match message.tool_call_id.take() {
            Some(id) => {
                result.tool_call_id = id.into_string();
                if let Some(pending) = &mut self.pending {
                    pending.answered.insert(result.tool_call_id.clone());
                }
            }
            None => {
                let id = self.pending.get_or_insert_with(|| Pending::new(before)).answer();
                result.tool_call_id = id.unwrap_or_else(|| self.ids.next_id());
                notes.mark(shape::NO_ID);
            }
        }
        if role != "tool" {
            notes.shape.set(shape::ROLE, role);
        }
        read_content(&mut message, &mut result.content, &mut notes.shape);
        notes.extra = message.leftovers();
        result.provider_data = notes.into_data(Side::Request);
        Block::ToolResult(result)
    }
}

/// Calls that may not have a result yet.
struct Pending {
    /// Ids in the order of the calls.
    calls: VecDeque<String>,
    answered: HashSet<String>,
}

impl Pending {
    /// Collects the calls of the last assistant message, and the results since then.
    fn new(messages: &[Message]) -> Self {
        let last = messages.iter().rposition(|message| message.role == Role::Assistant).unwrap_or(0);
        let blocks = || messages.iter().skip(last).flat_map(|message| &message.content);
        Pending {
            calls: blocks().filter_map(Block::as_tool_call).map(|call| call.id.clone()).collect(),
            answered: blocks().filter_map(Block::as_tool_result).map(|result| result.tool_call_id.clone()).collect(),
        }
    }

    /// Returns the first call without a result.
    fn answer(&mut self) -> Option<String> {
        std::iter::from_fn(|| self.calls.pop_front()).find(|id| self.answered.insert(id.clone()))
    }
}

/// Reads a message that has only text and media.
fn plain(role: Role, word: &str, mut wire: WireMessage<'_>) -> Message {
    let mut notes = Notes::default();
    let mut message = Message::new(role, Vec::new());
    read_content(&mut wire, &mut message.content, &mut notes.shape);
    if word == "developer" {
        notes.shape.set(shape::ROLE, word);
    }
    notes.extra = wire.leftovers();
    message.provider_data = notes.into_data(Side::Request);
    message
}

/// Reads `content`, and notes how it was written if the blocks do not show it.
fn read_content(message: &mut WireMessage<'_>, blocks: &mut Vec<Block>, kept: &mut Fields) {
    let before = blocks.len();
    match assistant::read_content(message, Side::Request, blocks) {
        Some(ContentShape::Empty) => blocks.push(Block::text("")),
        Some(ContentShape::Parts) => {
            let added = blocks.get(before..).unwrap_or_default();
            // Several parts, or a single one that is more than text, could only be written as parts.
            if added.len() < 2 && added.iter().all(|block| content::is_bare_text(block, Side::Request)) {
                ContentShape::Parts.note(kept);
            }
        }
        Some(shape) => shape.note(kept),
        None => {}
    }
}
