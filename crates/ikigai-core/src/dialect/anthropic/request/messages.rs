//! Messages on their way to the wire.
//!
//! The wire knows users and assistants. Tool results are a user's, all in the one message that follows the calls, and
//! stand first in it. Instructions in mid conversation have a role of their own on few models.

use serde_json::{Map, Value, json};

use crate::{Block, Message, Role};

use super::super::DIALECT;
use super::super::place::Place;
use super::encode::Writer;

/// What is said when a conversation may not end with the assistant.
const GO_ON: &str = "Continue.";
/// What stands where the user should have begun.
const BEGIN: &str = "(begin)";

/// The conversation as it goes on the wire.
pub(super) struct Messages {
    pub(super) system: Vec<Map<String, Value>>,
    pub(super) wire: Vec<Value>,
    /// Was thinking left out that this model would want back?
    pub(super) lost_thinking: bool,
}

/// One wire message: a role, and the messages that it is made of.
struct Turn {
    role: &'static str,
    parts: Vec<Part>,
}

#[derive(Clone, Copy)]
struct Part {
    /// The message's place.
    index: usize,
    /// Instructions in a user's message.
    wrapped: bool,
}

impl Turn {
    fn new(role: &'static str, index: usize) -> Self {
        Turn { role, parts: vec![Part { index, wrapped: false }] }
    }

    fn has_results(&self, messages: &[Message]) -> bool {
        self.parts.iter().filter_map(|part| messages.get(part.index)).any(has_results)
    }
}

fn has_results(message: &Message) -> bool {
    message.role == Role::Tool || message.content.iter().any(|block| matches!(block, Block::ToolResult(_)))
}

impl Writer<'_> {
    pub(super) fn messages(&mut self) -> Messages {
        let request = self.request;
        let mut done = Messages { system: Vec::new(), wire: Vec::new(), lost_thinking: false };
        for (index, block) in request.system.iter().enumerate() {
            let place = Place::System(index);
            done.system.extend(self.block(block, &super::block::Origin::system(), place, &mut done.lost_thinking));
        }
        // Instructions before anything else are the system prompt.
        let leading = match self.faithful {
            true => 0,
            false => request.messages.iter().take_while(|message| message.role == Role::System).count(),
        };
        for (index, message) in request.messages.iter().enumerate().take(leading) {
            let blocks = self.content(index, message, false, &mut done.lost_thinking);
            done.system.extend(blocks);
        }
        let turns = if self.faithful { as_it_came(&request.messages) } else { self.turns(leading) };
        for turn in turns {
            if let Some(message) = self.turn(&turn, &mut done.lost_thinking) {
                done.wire.push(message);
            }
        }
        self.beginning(&mut done);
        done
    }

    /// The user speaks first, and there is something to answer.
    fn beginning(&mut self, done: &mut Messages) {
        let fine = match done.wire.first().and_then(|message| message.get("role")) {
            Some(role) => role == "user",
            None => done.system.is_empty(),
        };
        if !self.faithful && !fine {
            done.wire.insert(0, json!({"role": "user", "content": BEGIN}));
            self.note("messages", Place::Message(0), "on this API the user begins; a placeholder is sent before it");
        }
    }

    /// The wire messages of a conversation that was not written for this API.
    fn turns(&mut self, leading: usize) -> Vec<Turn> {
        let messages = &self.request.messages;
        let mut turns: Vec<Turn> = Vec::new();
        let mut index = leading;
        while let Some(message) = messages.get(index) {
            if message.role == Role::Assistant {
                turns.push(Turn::new("assistant", index));
                index += 1;
                continue;
            }
            let run = messages.iter().skip(index).take_while(|message| message.role != Role::Assistant).count();
            self.user_turns(index, index + run, &mut turns);
            index += run;
        }
        turns
    }

    /// What stands between two answers.
    fn user_turns(&mut self, from: usize, to: usize, turns: &mut Vec<Turn>) {
        let messages = &self.request.messages;
        let role_at = |index: usize| messages.get(index).map(|message| message.role);
        let last_result = (from..to).rev().find(|index| messages.get(*index).is_some_and(has_results));
        let first = turns.len();
        let mut instructions = Vec::new();
        for index in from..to {
            let has_user = turns.len() > first;
            let before_results = last_result.is_some_and(|last| index < last);
            if role_at(index) == Some(Role::System) {
                if self.target.rules.system_messages && (has_user || before_results) {
                    // Nothing may stand between calls and their results.
                    match before_results {
                        true => instructions.push(Turn::new("system", index)),
                        false => turns.push(Turn::new("system", index)),
                    }
                    continue;
                }
                let why = "this model takes no instructions there; they are sent as the user's text";
                self.lose("system message", Place::Message(index), why);
            }
            let part = Part { index, wrapped: role_at(index) == Some(Role::System) };
            let joins = match turns.last() {
                Some(last) if has_user && last.role == "user" => {
                    before_results
                        || last_result == Some(index)
                        || last.has_results(messages)
                        || messages.get(index).is_some_and(continues)
                }
                _ => false,
            };
            match turns.last_mut().filter(|_| joins) {
                Some(last) => last.parts.push(part),
                None => turns.push(Turn { role: "user", parts: vec![part] }),
            }
            if last_result == Some(index) {
                turns.append(&mut instructions);
            }
        }
    }

    /// One wire message; none when nothing is left of it.
    fn turn(&mut self, turn: &Turn, lost_thinking: &mut bool) -> Option<Value> {
        let messages = &self.request.messages;
        let mut content: Vec<Map<String, Value>> = Vec::new();
        let mut own = None;
        for part in &turn.parts {
            let Some(message) = messages.get(part.index) else { continue };
            own = own.or_else(|| message.provider_data.get(DIALECT));
            content.extend(self.content(part.index, message, part.wrapped, lost_thinking));
        }
        if !self.faithful {
            if turn.role == "user" {
                content.sort_by_key(|fields| fields.get("type").is_none_or(|kind| kind != "tool_result"));
            }
            if content.is_empty() {
                let place = turn.parts.first().map_or(0, |part| part.index);
                self.note("message", Place::Message(place), "nothing is left of it, so it is not sent");
                return None;
            }
        }
        let as_blocks = own.is_some_and(|own| own.get("blocks").is_some());
        let mut fields = Map::new();
        fields.insert("role".to_owned(), turn.role.into());
        fields.insert("content".to_owned(), short(content, as_blocks));
        super::super::block::put_back(&mut fields, own);
        Some(Value::Object(fields))
    }

    fn content(
        &mut self,
        index: usize,
        message: &Message,
        wrapped: bool,
        lost_thinking: &mut bool,
    ) -> Vec<Map<String, Value>> {
        self.note_foreign_fields(&message.provider_data, Place::Message(index));
        let from = super::block::Origin::message(message, self);
        let mut content = Vec::with_capacity(message.content.len());
        for (inner, block) in message.content.iter().enumerate() {
            let wire = self.block(block, &from, Place::Block(index, inner), lost_thinking);
            content.extend(wire.map(|fields| if wrapped { wrap(fields) } else { fields }));
        }
        content
    }

    /// The end of the conversation: what an answer goes on from. Tells whether it is the beginning of the answer.
    pub(super) fn ending(&mut self, mut wire: Vec<Value>, has_format: bool) -> (Vec<Value>, bool) {
        let Some(last) = wire.last_mut().filter(|last| last.get("role").is_some_and(|role| role == "assistant")) else {
            return (wire, false);
        };
        if self.faithful || is_paused(last) {
            return (wire, false);
        }
        let starts_with_thinking = blocks(last).next().is_some_and(is_thinking);
        if !self.target.rules.prefill || has_format {
            let why = match has_format {
                true => {
                    "an answer that is held to a schema cannot be begun by the caller; the model is asked to continue"
                }
                false => "this model refuses conversations that end with the assistant; the model is asked to continue",
            };
            let place = self.request.messages.len().saturating_sub(1);
            self.lose("prefill", Place::Message(place), why);
            wire.push(json!({"role": "user", "content": GO_ON}));
            return (wire, false);
        }
        if trim_end(last) {
            let place = self.request.messages.len().saturating_sub(1);
            self.note("prefill", Place::Message(place), "the blanks at its end are refused, and are left out");
        }
        (wire, !starts_with_thinking)
    }
}

fn continues(message: &Message) -> bool {
    message.provider_data.flag(DIALECT, "continues")
}

/// The wire messages as they were when the request was read.
fn as_it_came(messages: &[Message]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        let role = match message.role {
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        };
        match turns.last_mut() {
            Some(last) if last.role == "user" && role == "user" && continues(message) => {
                last.parts.push(Part { index, wrapped: false });
            }
            _ => turns.push(Turn::new(role, index)),
        }
    }
    turns
}

/// Content as the wire has it: a plain text for a lone text, else a list.
pub(super) fn short(mut content: Vec<Map<String, Value>>, as_blocks: bool) -> Value {
    if let [only] = content.as_mut_slice()
        && !as_blocks
        && only.len() == 2
        && only.get("type").is_some_and(|kind| kind == "text")
        && let Some(text) = only.shift_remove("text")
    {
        return text;
    }
    Value::Array(content.into_iter().map(Value::Object).collect())
}

/// Instructions as a user's text that the model can tell from what the user says.
fn wrap(mut fields: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::String(text)) = fields.get_mut("text") {
        *text = format!("<system-reminder>\n{text}\n</system-reminder>");
    }
    fields
}

/// The blocks of a wire message; none where it is a plain text.
fn blocks(message: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    message.get("content").and_then(Value::as_array).into_iter().flatten()
}

fn is_thinking(block: &Value) -> bool {
    matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
}

/// Does it end in the middle of the provider's own tools? Such a turn is sent again as it is, to be continued.
fn is_paused(message: &Value) -> bool {
    let last = blocks(message).next_back().and_then(|block| block.get("type")).and_then(Value::as_str);
    last.is_some_and(|kind| kind == "server_tool_use" || kind == "mcp_tool_use" || kind.ends_with("_tool_result"))
}

/// Takes the blanks off the end of a message's last text.
fn trim_end(message: &mut Value) -> bool {
    let text = match message.get_mut("content") {
        Some(Value::String(text)) => Some(text),
        Some(Value::Array(blocks)) => blocks.last_mut().and_then(|block| match block.get_mut("text") {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }),
        _ => None,
    };
    let Some(text) = text else { return false };
    let length = text.trim_end().len();
    let has_blanks = length < text.len();
    text.truncate(length);
    has_blanks
}

/// Is a tool turn going on that does not begin with thinking? Such a turn is refused while a budget is set.
///
/// The turn is everything since the last user message without tool results.
pub(super) fn is_unsigned_tool_turn(wire: &[Value]) -> bool {
    let is_result = |block: &Value| block.get("type").is_some_and(|kind| kind == "tool_result");
    let mut first = None;
    for message in wire.iter().rev() {
        match message.get("role").and_then(Value::as_str) {
            Some("assistant") => first = Some(message),
            Some("user") if !blocks(message).any(is_result) => break,
            _ => {}
        }
    }
    let has_call =
        |message: &Value| blocks(message).any(|block| block.get("type").is_some_and(|kind| kind == "tool_use"));
    let ends_with_results = wire.iter().rfind(|message| message.get("role").is_some_and(|role| role == "user"));
    let going_on = ends_with_results.is_some_and(|message| blocks(message).any(is_result));
    let Some(first) = first.filter(|_| going_on) else { return false };
    let any_call = wire.iter().any(has_call);
    any_call && !blocks(first).next().is_some_and(is_thinking)
}
