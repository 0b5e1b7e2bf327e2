//! A client's messages to ours.

use serde_json::{Map, Value};

use super::decode::at;
use super::mark;
use crate::dialect::openai_chat::assistant;
use crate::dialect::openai_chat::marks::{DIALECT, EXTRA_CONTENT, Shape, Side, keep_extra, take_list, take_text};
use crate::dialect::openai_chat::part;
use crate::{Block, Error, Ids, Message, Request, Role, ToolResult};

/// Reads all messages: the leading system messages into `system`, the rest in order, runs of tool messages as one.
pub(super) fn decode(wire: Vec<Value>, request: &mut Request, own: &mut Map<String, Value>) -> Result<(), Error> {
    let mut reader = Reader { ids: Ids::default(), system: Vec::new(), leading: true, unanswered: Vec::new() };
    for (index, message) in wire.into_iter().enumerate() {
        let place = || format!("messages[{index}]");
        let Value::Object(mut fields) = message else { return Err(at(place(), "is no JSON object")) };
        let Some(role) = take_text(&mut fields, "role") else {
            return Err(at(format!("{}.role", place()), "is missing or no text"));
        };
        let is_system = matches!(role.as_str(), "system" | "developer");
        reader.leading &= is_system;
        match role.as_str() {
            _ if reader.leading => reader.lead(&role, fields, request),
            "system" | "developer" => request.messages.push(plain(Role::System, &role, fields)),
            "user" => request.messages.push(plain(Role::User, &role, fields)),
            "assistant" => request.messages.push(reader.assistant(fields)),
            "tool" | "function" => {
                let result = reader.result(&role, fields);
                // Results belong together: each call is answered in the message that follows it.
                match request.messages.last_mut() {
                    Some(last) if last.role == Role::Tool => last.content.push(result),
                    _ => request.messages.push(Message::new(Role::Tool, result)),
                }
            }
            _ => {
                let known = "is none of system, developer, user, assistant, tool and function";
                return Err(at(format!("{}.role", place()), known));
            }
        }
    }
    let shapes = reader.system;
    let is_plain = matches!(shapes.as_slice(), [only] if *only == usual());
    if !shapes.is_empty() && !is_plain {
        own.insert(mark::SYSTEM.to_owned(), shapes.into_iter().map(Value::Object).collect());
    }
    Ok(())
}

/// The shape of a system prompt that needs no note: one message, one text.
fn usual() -> Map<String, Value> {
    shape_of("system", 1)
}

fn shape_of(role: &str, blocks: usize) -> Map<String, Value> {
    let mut shape = Map::new();
    shape.insert("role".to_owned(), role.into());
    shape.insert("blocks".to_owned(), blocks.into());
    shape
}

struct Reader {
    ids: Ids,
    /// How the leading system messages were cut.
    system: Vec<Map<String, Value>>,
    leading: bool,
    /// Calls of the last assistant message that have no result yet: name and id.
    unanswered: Vec<(String, String)>,
}

impl Reader {
    fn lead(&mut self, role: &str, mut fields: Map<String, Value>, request: &mut Request) {
        let before = request.system.len();
        let mut kept = Map::new();
        content(&mut fields, &mut request.system, &mut kept);
        let mut shape = shape_of(role, request.system.len() - before);
        shape.extend(kept);
        keep_extra(&mut shape, fields);
        self.system.push(shape);
    }

    fn assistant(&mut self, mut fields: Map<String, Value>) -> Message {
        let sealed = assistant::take_sealed(&mut fields);
        let said = assistant::decode(fields, Side::Request, &mut self.ids);
        let mut message = Message::new(Role::Assistant, said.content);
        message.provider_data.extend(DIALECT, said.kept);
        if let Some(state) = said.extra_content {
            message.provider_data.set(DIALECT, EXTRA_CONTENT, state);
        }
        if !sealed.is_empty() {
            (message.provider, message.model) = assistant::unseal(&mut message.content, sealed);
        }
        self.unanswered = message
            .content
            .iter()
            .filter_map(Block::as_tool_call)
            .map(|call| (call.name.clone(), call.id.clone()))
            .collect();
        message
    }

    fn result(&mut self, role: &str, mut fields: Map<String, Value>) -> Block {
        let mut kept = Map::new();
        let mut result = ToolResult::default();
        match take_text(&mut fields, "tool_call_id") {
            Some(id) => {
                self.unanswered.retain(|(_, open)| *open != id);
                result.tool_call_id = id;
            }
            None => {
                // By its name, else in the order of the calls.
                let name = fields.get("name").and_then(Value::as_str);
                let by_name = self.unanswered.iter().position(|(call, _)| Some(call.as_str()) == name);
                let place = by_name.unwrap_or(0);
                result.tool_call_id =
                    if place < self.unanswered.len() { self.unanswered.remove(place).1 } else { self.ids.next_id() };
                kept.insert(mark::NO_ID.to_owned(), true.into());
            }
        }
        if role != "tool" {
            kept.insert(mark::ROLE.to_owned(), role.into());
        }
        content(&mut fields, &mut result.content, &mut kept);
        keep_extra(&mut kept, fields);
        result.provider_data.extend(DIALECT, kept);
        Block::ToolResult(result)
    }
}

/// A message of text and media alone.
fn plain(role: Role, word: &str, mut fields: Map<String, Value>) -> Message {
    let mut blocks = Vec::new();
    let mut kept = Map::new();
    content(&mut fields, &mut blocks, &mut kept);
    if word == "developer" {
        kept.insert(mark::ROLE.to_owned(), word.into());
    }
    keep_extra(&mut kept, fields);
    let mut message = Message::new(role, blocks);
    message.provider_data.extend(DIALECT, kept);
    message
}

/// Reads `content`, and notes how it was written where the blocks do not tell.
fn content(fields: &mut Map<String, Value>, blocks: &mut Vec<Block>, kept: &mut Map<String, Value>) {
    let before = blocks.len();
    match fields.get("content") {
        Some(Value::String(_)) => blocks.extend(take_text(fields, "content").map(Block::text)),
        Some(Value::Array(_)) => {
            let parts = take_list(fields, "content").unwrap_or_default();
            blocks.extend(parts.into_iter().map(|part| part::decode(part, Side::Request)));
            let added = blocks.get(before..).unwrap_or_default();
            // Several parts, or one that is more than text, could only be written as parts.
            let tells = added.len() > 1 || added.iter().any(|block| !part::is_bare_text(block, Side::Request));
            if !tells {
                Shape::Parts.note(kept);
            }
        }
        Some(Value::Null) => {
            fields.shift_remove("content");
            Shape::Null.note(kept);
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Shape::Absent.note(kept),
    }
}
