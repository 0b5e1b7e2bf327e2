//! Converts the list of items to messages.

use std::collections::HashMap;

use crate::dialect::openai_responses::content::{self, other};
use crate::dialect::openai_responses::wire::{Entry, Item, Items, Many, find, word};
use crate::dialect::openai_responses::{DIALECT, items, message};
use crate::dialect::seal::Sealed;
use crate::json::loose::Loose as _;
use crate::{Block, Error, Fields, Message, Part, ProviderData, Role, Text, ThinkingBlock, ToolResult};

/// The shape of an `input` that could have been a string, but was a list.
pub(super) const LIST: &str = "list";

/// Returns the text of a conversation that is only one text from the user: `input` can be that string.
pub(super) fn lone_text(messages: &[Message]) -> Option<&str> {
    let [message] = messages else { return None };
    let [Block::Text(text)] = message.content.as_slice() else { return None };
    let alone = message.role == Role::User && message.provider_data.is_empty();
    (alone && text.cache.is_none() && text.provider_data.is_empty()).then_some(text.text.as_str())
}

/// The system prompt and the conversation from a list of items.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) system: Vec<Block>,
    pub(super) messages: Vec<Message>,
    /// State that belongs to calls, by call id.
    for_calls: HashMap<String, ProviderData>,
}

/// Reads the items of a request.
///
/// # Errors
/// Returns an error if an item is malformed; the message names its place.
pub(super) fn decode(list: Items<'_>) -> Result<Input, Error> {
    let mut input = Input::default();
    for (index, item) in list.into_iter().enumerate() {
        let read = match item {
            Entry::Fits(item) => input.take(item),
            Entry::Odd(_) => Err("must be an object".to_owned()),
        };
        read.map_err(|what| Error::invalid_param(format!("input[{index}]"), format!("`input[{index}]` {what}")))?;
    }
    input.give_state_to_calls();
    Ok(input)
}

impl Input {
    fn take(&mut self, item: Item<'_>) -> Result<(), String> {
        match word(&item.kind) {
            "message" => return self.message(item),
            "" if item.kind.is_none() => return self.message(item),
            "function_call_output" => return self.output(item),
            "function_call" if item.call_id.is_none() || item.name.is_none() => {
                return Err("is a function call and needs `call_id` and `name`".to_owned());
            }
            "function_call" => self.of_model(item),
            "reasoning" => self.reasoning(item),
            kind => match side(kind, &item) {
                Role::Assistant => self.of_model(item),
                role => self.open(role).content.push(Block::Other(other(&item))),
            },
        }
        Ok(())
    }

    fn message(&mut self, mut item: Item<'_>) -> Result<(), String> {
        let role = match word(&item.role) {
            "assistant" => {
                self.of_model(item);
                return Ok(());
            }
            "user" => None,
            "system" => Some("system"),
            "developer" => Some("developer"),
            "" if item.role.is_none() => return Err("has neither a `type` nor a `role`".to_owned()),
            role => {
                let way_out = "use user, assistant, system or developer, and function_call_output items for results";
                return Err(format!("has the role `{role}`: {way_out}"));
            }
        };
        let mut shape = Fields::default();
        if item.kind.take().is_none() {
            shape.set("easy", true);
        }
        if matches!(item.content, Many::Text(_)) {
            shape.set("string", true);
        }
        let Some(mut content) = content::decode(std::mem::take(&mut item.content)) else {
            return Err("needs `content`: a string or a list of parts".to_owned());
        };
        item.role = None;
        if let Some(role) = role {
            shape.set("role", role);
        }
        let unknown = content.iter().any(|block| matches!(block, Block::Other(_)));
        if let Some(role) = role
            && self.messages.is_empty()
            && !unknown
            && let Some((first, others)) = content.split_first_mut()
        {
            // A system or developer message before all others is part of the system prompt.
            if let Some(data) = first.provider_data_mut() {
                message::begin_item(data, shape, item);
            }
            for data in others.iter_mut().filter_map(Block::provider_data_mut) {
                data.set_part(DIALECT, Part::Shape, "role", role);
            }
            self.system.append(&mut content);
            return Ok(());
        }
        if unknown {
            shape.set("parts", true);
        }
        let head = items::head(&mut item);
        if !head.is_empty() {
            shape.set("item", head);
        }
        let mut message = Message::new(if role.is_some() { Role::System } else { Role::User }, content);
        message.provider_data.extend_part(DIALECT, Part::Shape, shape);
        message.provider_data.extend_part(DIALECT, Part::Extra, item.leftovers());
        self.messages.push(message);
        Ok(())
    }

    /// Adds an item of the model's side to the last message, if that is the model's.
    fn of_model(&mut self, item: Item<'_>) {
        self.open(Role::Assistant).content.extend(items::decode(Entry::Fits(item), Part::Extra));
    }

    /// Restores reasoning that we sealed ourselves; all other state stays unchanged.
    fn reasoning(&mut self, item: Item<'_>) {
        let Some(Sealed { provider, model, note, data }) = Sealed::from_text(word(&item.encrypted_content)) else {
            return self.of_model(item);
        };
        let message = self.issued_by(provider, model);
        if note.flag("alone") {
            message.content.push(Block::Text(Text { provider_data: data, ..Text::default() }));
        } else if note.flag("text") {
            if let Some(Block::Text(before)) = message.content.last_mut() {
                before.provider_data.merge(data);
            }
        } else if let Some(call) = note.str("call") {
            self.for_calls.insert(call.into_owned(), data);
        } else {
            let text = items::text_of(&item.summary);
            message.content.push(Block::Thinking(ThinkingBlock { text, provider_data: data }));
        }
    }

    /// Gives each state to the last call with its id.
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
        let Some(call_id) = item.call_id.take() else {
            return Err("is the output of a function call and needs its `call_id`".to_owned());
        };
        let as_text = matches!(item.output, Many::Text(_));
        let Some(content) = content::decode(std::mem::take(&mut item.output)) else {
            return Err("needs `output`: a string or a list of parts".to_owned());
        };
        item.kind = None;
        let mut result = ToolResult { tool_call_id: call_id.into_string(), content, ..ToolResult::default() };
        let mut shape = items::head(&mut item);
        match result.content.as_slice() {
            [Block::Text(text)] if as_text && text.text.is_empty() => result.content.clear(),
            // A value that we write as a string by default.
            [] | [Block::Text(_)] if !as_text => shape.set("output", "parts"),
            _ => {}
        }
        result.provider_data.extend_part(DIALECT, Part::Shape, shape);
        result.provider_data.extend_part(DIALECT, Part::Extra, item.leftovers());
        self.open(Role::Tool).content.push(Block::ToolResult(result));
        Ok(())
    }

    /// Returns the last message if it has this role, otherwise a new one.
    fn open(&mut self, role: Role) -> &mut Message {
        let joins = self.messages.last().is_some_and(|last| last.role == role && role != Role::System);
        if !joins {
            self.messages.push(Message::new(role, Vec::new()));
        }
        self.last()
    }

    /// Returns the model's last message, or a new one if another provider or model issued the state in it.
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

/// Returns the side of an item: outputs of tools that the client ran are the client's, anything else is the model's.
fn side(kind: &str, item: &Item<'_>) -> Role {
    let by_provider = find(&item.rest, "execution").is_some_and(|raw| raw.get() == "\"server\"");
    if kind == "mcp_approval_response" || (kind.ends_with("_output") && !by_provider) {
        Role::Tool
    } else if matches!(word(&item.role), "developer" | "system") {
        Role::System
    } else {
        Role::Assistant
    }
}
