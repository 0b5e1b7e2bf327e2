//! The list of items to messages.

use std::collections::HashMap;

use crate::dialect::openai_responses::content::{self, Written, leftovers, other};
use crate::dialect::openai_responses::wire::{Any, Item, Object, is, take_text};
use crate::dialect::openai_responses::{DIALECT, items};
use crate::dialect::seal::Sealed;
use crate::{Block, Error, Fields, Message, Part, ProviderData, Role, ThinkingBlock, ToolResult};

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
    for_calls: HashMap<String, ProviderData>,
}

/// Reads the items of a request.
///
/// # Errors
/// If an item is not made as it should be; the message names its place.
pub(super) fn decode(list: Vec<Object<'_, Item<'_>>>) -> Result<Input, Error> {
    let mut input = Input::default();
    for (index, item) in list.into_iter().enumerate() {
        let Any::Object(item) = item else { return Err(fault(index, "must be an object")) };
        input.take(item).map_err(|what| fault(index, &what))?;
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
    fn take(&mut self, item: Item<'_>) -> Result<(), String> {
        match item.kind.as_ref().and_then(Any::as_str) {
            Some("message") => self.message(item),
            None if item.kind.is_none() => self.message(item),
            Some("reasoning") => {
                self.reasoning(item);
                Ok(())
            }
            Some("function_call") => {
                let has =
                    |value: &Option<_>| value.as_ref().is_some_and(|value: &Any<'_, _, _>| value.as_str().is_some());
                if !has(&item.call_id) || !has(&item.name) {
                    return Err("is a function call and needs `call_id` and `name`".to_owned());
                }
                self.of_model(item);
                Ok(())
            }
            Some("function_call_output") => self.output(item),
            kind => {
                match side(kind.unwrap_or_default(), &item) {
                    Role::Assistant => self.of_model(item),
                    role => self.open(role).content.push(Block::Other(other(&item))),
                }
                Ok(())
            }
        }
    }

    fn message(&mut self, mut item: Item<'_>) -> Result<(), String> {
        let role = match item.role.as_ref().and_then(Any::as_str) {
            Some("assistant") => {
                self.of_model(item);
                return Ok(());
            }
            Some("user") => None,
            Some("system") => Some("system"),
            Some("developer") => Some("developer"),
            Some(role) => {
                let way_out = "use user, assistant, system or developer, and function_call_output items for results";
                return Err(format!("has the role `{role}`: {way_out}"));
            }
            None => return Err("has neither a `type` nor a `role`".to_owned()),
        };
        let mut shape = Fields::default();
        if item.kind.take().is_none() {
            shape.set("easy", true);
        }
        let Some((content, written)) = item.content.take().and_then(content::decode) else {
            return Err("needs `content`: a text or a list of parts".to_owned());
        };
        if written == Written::AsText {
            shape.set("string", true);
        }
        item.role = None;
        let head = leftovers(&items::head(&mut item));
        let rest = leftovers(&item);
        let unknown = content.iter().any(|block| matches!(block, Block::Other(_)));
        if let Some(role) = role
            && self.messages.is_empty()
            && !content.is_empty()
            && !unknown
        {
            shape.set("item", head);
            self.lead(role, content, shape, rest);
            return Ok(());
        }
        if let Some(role) = role {
            shape.set("role", role);
        }
        if unknown {
            shape.set("parts", true);
        }
        if !head.is_empty() {
            shape.set("item", head);
        }
        let mut message = Message::new(if role.is_some() { Role::System } else { Role::User }, content);
        message.provider_data.extend_part(DIALECT, Part::Shape, shape);
        message.provider_data.extend_part(DIALECT, Part::Extra, rest);
        self.messages.push(message);
        Ok(())
    }

    /// A system or developer message before all others is part of the system prompt.
    fn lead(&mut self, role: &str, content: Vec<Block>, shape: Fields, rest: Fields) {
        let (mut shape, mut rest) = (Some(shape), Some(rest));
        for mut block in content {
            if let Some(data) = block.provider_data_mut() {
                data.set_part(DIALECT, Part::Shape, "role", role);
                data.extend_part(DIALECT, Part::Shape, shape.take().unwrap_or_default());
                if let Some(rest) = rest.take().filter(|rest| !rest.is_empty()) {
                    data.set_part(DIALECT, Part::Extra, "item", rest);
                }
            }
            self.system.push(block);
        }
    }

    /// An item of the model's side joins the message at the end, if that is the model's.
    fn of_model(&mut self, item: Item<'_>) {
        self.open(Role::Assistant).content.extend(items::decode(Any::Object(item), Part::Extra));
    }

    /// Reasoning that we sealed ourselves gets back what it was; all other state stays as it is.
    fn reasoning(&mut self, item: Item<'_>) {
        let sealed = item.encrypted_content.as_ref().and_then(Any::as_str).and_then(Sealed::from_text);
        let Some(Sealed { provider, model, mut data }) = sealed else {
            self.of_model(item);
            return;
        };
        let message = self.issued_by(provider, model);
        if data.remove_part(DIALECT, Part::Shape, "text").is_some() {
            if let Some(Block::Text(before)) = message.content.last_mut() {
                before.provider_data.merge(data);
            }
        } else if let Some(call) = data.remove_part(DIALECT, Part::Shape, "call") {
            self.for_calls.insert(call.as_str().unwrap_or_default().into_owned(), data);
        } else {
            let text = items::text_of(&item.summary);
            message.content.push(Block::Thinking(ThinkingBlock { text, provider_data: data }));
        }
    }

    /// Each state goes to the last call of its id.
    fn give_state_to_calls(&mut self) {
        if self.for_calls.is_empty() {
            return;
        }
        for block in self.messages.iter_mut().rev().flat_map(|message| message.content.iter_mut().rev()) {
            if let Block::ToolCall(call) = block
                && let Some(data) = self.for_calls.remove(&call.id)
            {
                call.provider_data.merge(data);
            }
        }
    }

    fn output(&mut self, mut item: Item<'_>) -> Result<(), String> {
        let Some(call_id) = take_text(&mut item.call_id) else {
            return Err("is the output of a function call and needs its `call_id`".to_owned());
        };
        let Some((content, written)) = item.output.take().and_then(content::decode) else {
            return Err("needs `output`: a text or a list of parts".to_owned());
        };
        item.kind = None;
        let mut result = ToolResult { tool_call_id: call_id.into_string(), content, ..ToolResult::default() };
        let mut shape = leftovers(&items::head(&mut item));
        match (written, result.content.as_slice()) {
            (Written::AsText, [Block::Text(text)]) if text.text.is_empty() => result.content.clear(),
            // What we write as a text if nobody says otherwise.
            (Written::AsParts, [] | [Block::Text(_)]) => shape.set("output", "parts"),
            (Written::AsText | Written::AsParts, _) => {}
        }
        result.provider_data.extend_part(DIALECT, Part::Shape, shape);
        result.provider_data.extend_part(DIALECT, Part::Extra, leftovers(&item));
        self.open(Role::Tool).content.push(Block::ToolResult(result));
        Ok(())
    }

    /// The message at the end, if it has this role; else a new one.
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
fn side(kind: &str, item: &Item<'_>) -> Role {
    let by_provider = item.rest.iter().any(|(name, raw)| name == "execution" && raw.get() == "\"server\"");
    if kind == "mcp_approval_response" || (kind.ends_with("_output") && !by_provider) {
        Role::Tool
    } else if is(&item.role, "developer") || is(&item.role, "system") {
        Role::System
    } else {
        Role::Assistant
    }
}
