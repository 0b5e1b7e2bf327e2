//! The list of items to messages.

use serde_json::Value;

use crate::dialect::openai_responses::fields::{keep, other, take_text, text};
use crate::dialect::openai_responses::parts::{self, Written};
use crate::dialect::openai_responses::{ME, Object, items};
use crate::dialect::seal::Sealed;
use crate::{Block, Error, Message, ProviderData, Role, ThinkingBlock, ToolResult};

/// How an `input` came that could have been a text, but was a list.
pub(super) const LIST: &str = "list";

/// The text of a conversation that is one text of the user's and nothing else: `input` can be that text.
pub(super) fn lone_text(messages: &[Message]) -> Option<&str> {
    let [message] = messages else { return None };
    let [Block::Text(text)] = message.content.as_slice() else { return None };
    let alone = message.role == Role::User && message.provider_data.is_empty();
    (alone && text.cache.is_none() && text.provider_data.is_empty()).then_some(text.text.as_str())
}

/// The system prompt and the conversation that were in a list of items.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) system: Vec<Block>,
    pub(super) messages: Vec<Message>,
    /// State that belongs to calls, by their ids.
    for_calls: Vec<(String, ProviderData)>,
}

/// Reads the items of a request.
///
/// # Errors
/// When an item is not made as it should be, with its place.
pub(super) fn decode(list: Vec<Value>) -> Result<Input, Error> {
    let mut input = Input::default();
    for (index, item) in list.into_iter().enumerate() {
        let Value::Object(item) = item else {
            return Err(fault(index, "must be an object"));
        };
        input.take(index, item)?;
    }
    input.give_state_to_calls();
    Ok(input)
}

fn fault(index: usize, what: &str) -> Error {
    let mut error = Error::invalid_request(format!("`input[{index}]` {what}"));
    error.param = Some(format!("input[{index}]"));
    error
}

impl Input {
    fn take(&mut self, index: usize, item: Object) -> Result<(), Error> {
        match item.get("type").and_then(Value::as_str) {
            None | Some("message") => self.message(index, item),
            Some("reasoning") => {
                self.reasoning(item);
                Ok(())
            }
            Some("function_call") => {
                if text(&item, "call_id").is_none() || text(&item, "name").is_none() {
                    return Err(fault(index, "is a function call and needs `call_id` and `name`"));
                }
                self.of_model(item);
                Ok(())
            }
            Some("function_call_output") => self.output(index, item),
            Some(kind) => {
                let role = side(kind, &item);
                if role == Role::Assistant {
                    self.of_model(item);
                } else {
                    self.open(role).content.push(Block::Other(other(item)));
                }
                Ok(())
            }
        }
    }

    fn message(&mut self, index: usize, mut item: Object) -> Result<(), Error> {
        match text(&item, "role") {
            Some("assistant") => {
                self.of_model(item);
                return Ok(());
            }
            Some("user" | "system" | "developer") => {}
            Some(role) => {
                let way_out = "use user, assistant, system or developer, and function_call_output items for results";
                return Err(fault(index, &format!("has the role `{role}`: {way_out}")));
            }
            None => return Err(fault(index, "has neither a `type` nor a `role`")),
        }
        let role = take_text(&mut item, "role").unwrap_or_default();
        let easy = item.shift_remove("type").is_none();
        let content = item.shift_remove("content").unwrap_or_default();
        let Some((content, written)) = parts::decode_all(content) else {
            return Err(fault(index, "needs `content`: a text or a list of parts"));
        };
        let instructs = role != "user";
        let mut marks = ProviderData::default();
        if easy {
            marks.set(ME, "easy", true);
        }
        if written == Written::AsText {
            marks.set(ME, "string", true);
        }
        let odd = content.is_empty() || content.iter().any(|block| matches!(block, Block::Other(_)));
        if instructs && self.messages.is_empty() && !odd {
            self.lead(&role, content, marks, item);
            return Ok(());
        }
        if instructs {
            marks.set(ME, "role", role);
        }
        if content.iter().any(|block| matches!(block, Block::Other(_))) {
            marks.set(ME, "parts", true);
        }
        keep(&mut marks, "item", item);
        let mut message = Message::new(if instructs { Role::System } else { Role::User }, content);
        message.provider_data = marks;
        self.messages.push(message);
        Ok(())
    }

    /// A system or developer message before all others is part of the system prompt.
    fn lead(&mut self, role: &str, content: Vec<Block>, marks: ProviderData, item: Object) {
        for (place, mut block) in content.into_iter().enumerate() {
            if let Some(data) = block.provider_data_mut() {
                data.set(ME, "role", role);
                if place == 0 {
                    data.merge(marks.clone());
                    data.set(ME, "item", Value::Object(item.clone()));
                }
            }
            self.system.push(block);
        }
    }

    /// An item of the model's side joins the message at the end, when that is the model's.
    fn of_model(&mut self, item: Object) {
        let message = self.open(Role::Assistant);
        let after_text = matches!(message.content.last(), Some(Block::Text(_)));
        message.content.extend(items::decode(item, after_text));
    }

    /// Reasoning that we sealed ourselves gets back what it was; all other state stays as it is.
    fn reasoning(&mut self, item: Object) {
        let Some(sealed) = text(&item, "encrypted_content").and_then(Sealed::from_text) else {
            self.of_model(item);
            return;
        };
        let mut data = sealed.data;
        let message = self.issued_by(sealed.provider, sealed.model);
        if data.remove(ME, "text").is_some() {
            let before = message.content.iter_mut().rev().find(|block| matches!(block, Block::Text(_)));
            if let Some(before) = before.and_then(Block::provider_data_mut) {
                before.merge(data);
            }
        } else if let Some(call) = data.remove(ME, "call") {
            self.for_calls.push((call.as_str().unwrap_or_default().to_owned(), data));
        } else {
            let summary = item.get("summary").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            message.content.push(Block::Thinking(ThinkingBlock { text: items::text_of(summary), provider_data: data }));
        }
    }

    fn give_state_to_calls(&mut self) {
        for (id, data) in std::mem::take(&mut self.for_calls) {
            let calls = self.messages.iter_mut().flat_map(|message| &mut message.content);
            let call = calls.rev().find_map(|block| match block {
                Block::ToolCall(call) if call.id == id => Some(call),
                _ => None,
            });
            if let Some(call) = call {
                call.provider_data.merge(data);
            }
        }
    }

    fn output(&mut self, index: usize, mut item: Object) -> Result<(), Error> {
        let Some(call_id) = take_text(&mut item, "call_id") else {
            return Err(fault(index, "is the output of a function call and needs its `call_id`"));
        };
        let Some((content, written)) = item.shift_remove("output").and_then(parts::decode_all) else {
            return Err(fault(index, "needs `output`: a text or a list of parts"));
        };
        item.shift_remove("type");
        let mut result = ToolResult { tool_call_id: call_id, content, ..ToolResult::default() };
        match (written, result.content.as_slice()) {
            (Written::AsText, [Block::Text(text)]) if text.text.is_empty() => result.content.clear(),
            // What we write as a text when nobody says otherwise.
            (Written::AsParts, [] | [Block::Text(_)]) => result.provider_data.set(ME, "output", "parts"),
            (Written::AsText | Written::AsParts, _) => {}
        }
        keep(&mut result.provider_data, "extra", item);
        self.open(Role::Tool).content.push(Block::ToolResult(result));
        Ok(())
    }

    /// The message at the end, when it has this role; else a new one.
    fn open(&mut self, role: Role) -> &mut Message {
        let joins = self.messages.last().is_some_and(|last| last.role == role && role != Role::System);
        if !joins {
            self.messages.push(Message::new(role, Vec::new()));
        }
        self.last()
    }

    /// The model's message at the end, unless somebody else issued the state in it.
    fn issued_by(&mut self, provider: Option<String>, model: Option<String>) -> &mut Message {
        let message = self.open(Role::Assistant);
        let same = |there: &Option<String>, new: &Option<String>| there.is_none() || there == new;
        if !(same(&message.provider, &provider) && same(&message.model, &model)) {
            self.messages.push(Message::new(Role::Assistant, Vec::new()));
        }
        let message = self.last();
        message.provider = provider;
        message.model = model;
        message
    }

    fn last(&mut self) -> &mut Message {
        let last = self.messages.len().saturating_sub(1);
        #[expect(clippy::indexing_slicing, reason = "every caller has just pushed or seen a message")]
        &mut self.messages[last]
    }
}

/// Whose an item is: outputs of tools that the client ran are the client's, all else the model wrote.
fn side(kind: &str, item: &Object) -> Role {
    let by_provider = text(item, "execution") == Some("server");
    if kind == "mcp_approval_response" || (kind.ends_with("_output") && !by_provider) {
        Role::Tool
    } else if matches!(text(item, "role"), Some("developer" | "system")) {
        Role::System
    } else {
        Role::Assistant
    }
}
