//! What the assistant said before, as the target wants to hear it again.

use serde_json::{Map, Value, json};

use super::{GAP, Issuer, Writer};
use crate::dialect::openai_chat::assistant::{self, audio_id, call_fields, details_of, has_own_field};
use crate::dialect::openai_chat::marks::{self, DIALECT, EXTRA_CONTENT, REASONING_FIELD, Shape, Side, put_back};
use crate::dialect::openai_chat::part::{self, FIELD_CONTENT};
use crate::{Block, Loss, Message, ReasoningField, ReplayReasoning, Role, Text, ThinkingBlock};

impl Writer<'_> {
    pub(super) fn assistant(&mut self, index: usize, message: &Message) {
        let issuer = self.issuer(message);
        let is_own = issuer != Issuer::Another;
        let mut fields = Map::new();
        fields.insert("role".to_owned(), "assistant".into());
        if self.faithful && is_own && is_of_this_dialect(message) {
            for (place, block) in message.content.iter().enumerate() {
                self.foreign_state(block, &format!("messages[{index}].content[{place}]"));
            }
            let kept = message.provider_data.get(DIALECT);
            fields.extend(assistant::encode(&message.content, kept, Side::Request, "reasoning_content"));
            put_state(&mut fields, message);
            self.out.push(Value::Object(fields));
            return;
        }
        let before = fields.len();
        let mut said = Said::default();
        for (place, block) in message.content.iter().enumerate() {
            self.say(block, index, place, issuer, &mut said);
        }
        self.put_said(&mut fields, said);
        if is_own {
            put_state(&mut fields, message);
        }
        let mut extra = marks::extra(&message.provider_data, Side::Request).cloned().unwrap_or_default();
        if !self.faithful {
            // Reasoning goes back as the target wants it, not as it came.
            extra.retain(|key, _| !matches!(key.as_str(), "reasoning" | "reasoning_content" | "reasoning_details"));
        }
        put_back(&mut fields, Some(&extra));
        if fields.len() == before {
            let why = "nothing of this message can be said here; it is left out";
            self.losses.push(Loss::info("messages", format!("messages[{index}]"), why));
            return;
        }
        fields.entry("content").or_insert_with(|| "".into());
        self.out.push(Value::Object(fields));
    }

    /// Sorts one block into what the message will say.
    fn say(&mut self, block: &Block, index: usize, place: usize, issuer: Issuer, said: &mut Said) {
        let is_own = issuer != Issuer::Another;
        let at = format!("messages[{index}].content[{place}]");
        match block {
            Block::Text(text) => {
                self.foreign_state(block, &at);
                if !said.calls.is_empty() && !said.text_after_call {
                    said.text_after_call = true;
                    let why = "text stands before the calls here; that it came after one is lost";
                    self.losses.push(Loss::new("text", at, why));
                }
                if text.cache.is_some() {
                    self.dropped_hint = true;
                }
                said.add_text(text);
            }
            Block::Thinking(thinking) => self.think(thinking, index, &at, issuer, said),
            Block::ToolCall(call) => {
                self.foreign_state(block, &at);
                let state = assistant::call_state(&call.provider_data);
                if state.is_some() && !is_own {
                    let why = "thinking state of another provider; it is left out";
                    self.losses.push(Loss::new("thinking", at, why));
                }
                if call.cache.is_some() {
                    self.dropped_hint = true;
                }
                let id = self.ids.get(&call.id).to_owned();
                let mut fields = call_fields(call, Side::Request, id.clone());
                if !is_own {
                    fields.shift_remove("extra_content");
                }
                if !self.faithful {
                    // The call has an id by now, and its result names it.
                    fields.insert("id".to_owned(), id.into());
                }
                said.calls.push(Value::Object(fields));
            }
            Block::Audio(audio) if is_own && audio_id(audio).is_some() => {
                said.audio = audio_id(audio).cloned();
            }
            Block::Image(_) if is_own && has_own_field(block) => said.images.extend(part::encode(block, Side::Request)),
            Block::Image(_) | Block::Document(_) | Block::Audio(_) => {
                let why = "the assistant cannot show it here; it is left out";
                self.losses.push(Loss::new(block.kind().as_str(), at, why));
            }
            Block::ToolResult(_) => {
                let why = "the assistant gives no results of tools; it is left out";
                self.losses.push(Loss::new("tool_result", at, why));
            }
            Block::Other(other) if other.dialect == DIALECT => said.parts.push(other.data.clone()),
            Block::Other(_) => {
                let why = "a block that only another API has; it is left out";
                self.losses.push(Loss::new("other", at, why));
            }
        }
    }

    /// Thinking goes back only to who made it, and only if it is wanted.
    fn think(&mut self, thinking: &ThinkingBlock, index: usize, at: &str, issuer: Issuer, said: &mut Said) {
        let foreign = thinking.provider_data.iter().any(|(name, _)| name != DIALECT.as_str());
        if foreign || issuer == Issuer::Another {
            let why = "thinking state of another provider; it is left out";
            self.losses.push(Loss::new("thinking", at, why));
            return;
        }
        let own_field = thinking.provider_data.str(DIALECT, REASONING_FIELD);
        let given_in = own_field.filter(|_| issuer == Issuer::Target);
        let field = match self.target.quirks.chat.reasoning_field {
            _ if self.faithful && own_field.is_some() => own_field,
            ReasoningField::Nothing => None,
            // The field that this very provider gave it in, if it gave it.
            ReasoningField::ReasoningContent => Some(given_in.unwrap_or("reasoning_content")),
            ReasoningField::Reasoning => Some(given_in.unwrap_or("reasoning")),
            ReasoningField::ContentPart => Some(given_in.unwrap_or(FIELD_CONTENT)),
        };
        let Some(field) = field.filter(|_| self.faithful || self.wants_thinking(index)) else {
            let why = "this provider does not take thinking back; it is left out";
            let made_here = own_field.is_some();
            self.losses.push(if made_here { Loss::info("thinking", at, why) } else { Loss::new("thinking", at, why) });
            return;
        };
        let details = details_of(thinking);
        said.details.extend(details.iter().cloned());
        match field {
            FIELD_CONTENT => said.parts.extend(part::encode(&Block::Thinking(thinking.clone()), Side::Request)),
            // Whole details say everything.
            _ if !details.is_empty() => {}
            _ => match said.reasoning.as_mut() {
                Some((_, text)) => text.push_str(&thinking.text),
                None => said.reasoning = Some((field.to_owned(), thinking.text.clone())),
            },
        }
    }

    fn wants_thinking(&self, index: usize) -> bool {
        match self.target.quirks.chat.replay_reasoning {
            ReplayReasoning::Never => false,
            ReplayReasoning::Always => true,
            ReplayReasoning::ToolLoop => {
                let last_user = self.request.messages.iter().rposition(|message| message.role == Role::User);
                last_user.is_none_or(|last| index > last)
            }
        }
    }

    fn put_said(&self, fields: &mut Map<String, Value>, said: Said) {
        let has_calls = !said.calls.is_empty();
        let content = match (said.text, said.parts.is_empty()) {
            (text, false) => {
                let mut parts = said.parts;
                parts.extend(text.as_deref().map(part::text_part));
                Some(Value::Array(parts))
            }
            (Some(text), true) => Some(text.into()),
            (None, true) if !has_calls => None,
            (None, true) if self.target.quirks.chat.no_null_content => Some("".into()),
            (None, true) => Some(Value::Null),
        };
        if let Some(content) = content {
            fields.insert("content".to_owned(), content);
        }
        // Some want the field on every turn of a thinking conversation, be it empty.
        let due = self.thinks
            && self.target.quirks.chat.reasoning_field == ReasoningField::ReasoningContent
            && self.target.quirks.chat.replay_reasoning == ReplayReasoning::Always;
        match said.reasoning {
            Some((field, text)) => {
                fields.insert(field, text.into());
            }
            None if due && said.details.is_empty() && fields.len() + usize::from(has_calls) > 1 => {
                fields.insert("reasoning_content".to_owned(), "".into());
            }
            None => {}
        }
        if !said.details.is_empty() {
            fields.insert("reasoning_details".to_owned(), Value::Array(said.details));
        }
        if let Some(id) = said.audio {
            fields.insert("audio".to_owned(), json!({"id": id}));
        }
        if !said.images.is_empty() {
            fields.insert("images".to_owned(), Value::Array(said.images));
        }
        if has_calls {
            fields.insert("tool_calls".to_owned(), Value::Array(said.calls));
        }
    }
}

/// What one message will say.
#[derive(Debug, Default)]
struct Said {
    text: Option<String>,
    /// Was the last text split off only to hang something on it?
    seam: bool,
    text_after_call: bool,
    /// Parts that must stand before the text.
    parts: Vec<Value>,
    reasoning: Option<(String, String)>,
    details: Vec<Value>,
    calls: Vec<Value>,
    audio: Option<Value>,
    images: Vec<Value>,
}

impl Said {
    /// Adds a text, with a gap; without one where a provider cut a sentence to hang citations on its pieces.
    fn add_text(&mut self, text: &Text) {
        let cut = text.provider_data.iter().any(|(name, _)| name != DIALECT.as_str());
        match self.text.as_mut() {
            Some(so_far) => {
                if !cut && !self.seam {
                    so_far.push_str(GAP);
                }
                so_far.push_str(&text.text);
            }
            None => self.text = Some(text.text.clone()),
        }
        self.seam = cut;
    }
}

/// Can every block be written as it came?
fn is_of_this_dialect(message: &Message) -> bool {
    let in_parts = Shape::read(message.provider_data.get(DIALECT)) == Some(Shape::Parts);
    message.content.iter().all(|block| match block {
        Block::Text(_) | Block::ToolCall(_) => true,
        Block::Thinking(thinking) => thinking.provider_data.str(DIALECT, REASONING_FIELD).is_some(),
        Block::Image(_) | Block::Document(_) | Block::Audio(_) => in_parts || has_own_field(block),
        Block::Other(other) => other.dialect == DIALECT,
        Block::ToolResult(_) => false,
    })
}

/// Google's slot for signatures, where the message itself has one.
fn put_state(fields: &mut Map<String, Value>, message: &Message) {
    if let Some(state) = message.provider_data.value(DIALECT, EXTRA_CONTENT) {
        fields.insert("extra_content".to_owned(), state.clone());
    }
}
