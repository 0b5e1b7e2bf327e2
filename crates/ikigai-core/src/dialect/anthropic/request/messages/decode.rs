//! Reads a client's messages.

use std::collections::HashMap;

use crate::dialect::seal::Sealed;
use crate::json::wire::{Leftovers as _, Text};
use crate::{Block, Error, Message, Part, ProviderData, Role, Text as TextBlock};

use super::super::super::content::read_content;
use super::super::super::response::{CALL, Neighbour};
use super::super::super::wire::{self, Content};
use super::super::super::{DIALECT, keep_shape};
use super::super::refusal;

/// Reads the messages of a request.
pub(in super::super) fn read_messages(list: Vec<wire::Message<'_>>) -> Result<Vec<Message>, Error> {
    let mut messages = Vec::with_capacity(list.len());
    for (index, message) in list.into_iter().enumerate() {
        read_message(index, message, &mut messages)?;
    }
    Ok(messages)
}

fn read_message(index: usize, mut message: wire::Message<'_>, messages: &mut Vec<Message>) -> Result<(), Error> {
    let role = match message.role.take().as_ref().map(Text::as_str) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some(_) | None => {
            return Err(refusal(&format!("messages[{index}].role"), "`user`, `assistant` or `system`"));
        }
    };
    let mut data = ProviderData::default();
    let content = message.content.take().unwrap_or(Content::Odd);
    let content = read_content(content, &format_args!("messages[{index}].content"), &mut data, "blocks")?;
    let first = messages.len();
    match role {
        Role::User => split(content, messages),
        Role::Assistant | Role::Tool | Role::System => messages.push(unsealed(role, content)),
    }
    if let Some(first) = messages.get_mut(first) {
        data.extend_part(DIALECT, Part::Extra, message.leftovers());
        first.provider_data.merge(data);
    }
    Ok(())
}

/// Splits a message by role: tool results have a role of their own here. A message that mixes them with other blocks
/// becomes several, each marked, except for the first, as the continuation of the previous one.
fn split(content: Vec<Block>, messages: &mut Vec<Message>) {
    let first = messages.len();
    for block in content {
        let role = if matches!(block, Block::ToolResult(_)) { Role::Tool } else { Role::User };
        let goes_on = messages.len() > first;
        match messages.last_mut().filter(|last| goes_on && last.role == role) {
            Some(last) => last.content.push(block),
            None => {
                let mut message = Message::new(role, block);
                if goes_on {
                    keep_shape(&mut message.provider_data, "continues", true);
                }
                messages.push(message);
            }
        }
    }
    if messages.len() == first {
        messages.push(Message::new(Role::User, Vec::new()));
    }
}

/// Makes a message in which other dialects' state that travelled in this one's slots is back in its place. Its provider
/// and model are the ones that issued the state.
fn unsealed(role: Role, content: Vec<Block>) -> Message {
    let mut message = Message::new(role, Vec::with_capacity(content.len()));
    let mut for_next: Option<ProviderData> = None;
    let mut for_calls: HashMap<String, ProviderData> = HashMap::new();
    for mut block in content {
        if let Some(mut sealed) = sealed_in(&block) {
            message.provider = sealed.provider.take().or(message.provider.take());
            message.model = sealed.model.take().or(message.model.take());
            // The client may have put it anywhere.
            if let Some(call) = sealed.note.str(CALL) {
                for_calls.entry(call.into_owned()).or_default().merge(sealed.data);
                continue;
            }
            match Neighbour::of(&sealed) {
                Some(Neighbour::Next) => {
                    for_next = Some(sealed.data);
                    continue;
                }
                Some(Neighbour::Previous) => {
                    if let Some(data) = message.content.last_mut().and_then(Block::provider_data_mut) {
                        data.merge(sealed.data);
                    }
                    continue;
                }
                Some(Neighbour::Alone) => {
                    let text = TextBlock { provider_data: sealed.data, ..TextBlock::default() };
                    message.content.push(Block::Text(text));
                    continue;
                }
                None => {
                    if let Some(data) = block.provider_data_mut() {
                        *data = sealed.data;
                    }
                }
            }
        }
        if let (Some(state), Some(data)) = (for_next.take(), block.provider_data_mut()) {
            data.merge(state);
        }
        message.content.push(block);
    }
    for block in &mut message.content {
        if let Block::ToolCall(call) = block
            && let Some(state) = for_calls.remove(&call.id)
        {
            call.provider_data.merge(state);
        }
    }
    message
}

/// Returns the record in a block's slot for state, if it is one of ours.
fn sealed_in(block: &Block) -> Option<Sealed> {
    let Block::Thinking(thinking) = block else { return None };
    let state = thinking.provider_data.part(DIALECT, Part::State);
    state.str("signature").or_else(|| state.str("redacted_data")).and_then(|text| Sealed::from_text(&text))
}
