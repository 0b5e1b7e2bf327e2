//! Converts canonical messages to the wire.

use std::borrow::Cow;

use super::shape;
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::assistant::{GAP, REASONING_FIELDS, Saying, detail_text, details_of, field_of};
use crate::dialect::openai_chat::content::is_cache_field;
use crate::dialect::openai_chat::notes::{
    self, ContentShape, EXTRA_CONTENT, REASONING_DETAILS, REASONING_OPAQUE, Side, THINKING_BLOCKS,
};
use crate::dialect::openai_chat::reasoning::FIELD_CONTENT;
use crate::dialect::openai_chat::wire::{self, Content, Message, Part};
use crate::fit::{Fitted, FittedBlock, FittedMessage, Place, Spelling, StateUse};
use crate::json::loose::{Item, Loose as _, Words};
use crate::json::wire::{Raw, Text};
use crate::provider::{ReasoningField, ReplayReasoning, SystemRole};
use crate::{Block, Fields, Loss, LossCode, Part as DataPart, ProviderData, Role, ThinkingBlock, ToolResult};

/// The writer of one request's messages.
pub(super) struct History<'f> {
    pub(super) fitted: &'f Fitted<'f>,
    pub(super) losses: Vec<Loss>,
    out: Vec<Item<'f, Message<'f>>>,
    /// Pictures and documents from tool results, which only a user can send here.
    moved: Vec<Item<'f, Part<'f>>>,
    after_tool: bool,
}

impl<'f> History<'f> {
    pub(super) fn new(fitted: &'f Fitted<'f>) -> Self {
        History {
            fitted,
            losses: Vec::new(),
            out: Vec::with_capacity(fitted.messages.len() + 1),
            moved: Vec::new(),
            after_tool: false,
        }
    }

    /// Returns all messages, and the losses.
    pub(super) fn all(mut self) -> (Vec<Item<'f, Message<'f>>>, Vec<Loss>) {
        self.system();
        let fitted = self.fitted;
        for message in &fitted.messages {
            if message.role != Role::Tool {
                self.flush_moved();
            }
            match message.role {
                Role::User => self.user(message),
                Role::System => self.instructions(message),
                Role::Assistant => self.assistant(message),
                Role::Tool => self.results(message),
            }
        }
        self.flush_moved();
        (self.out, self.losses)
    }

    pub(super) fn is_ours(&self) -> bool {
        self.fitted.spelling == Spelling::Ours
    }

    /// Returns how something was spelled, if that is to be followed.
    fn shape(&self, data: &'f ProviderData) -> &'f Fields {
        if self.is_ours() { Fields::NONE } else { notes::shape(data) }
    }

    fn push(&mut self, role: &'f str, mut message: Message<'f>) {
        self.after_tool = role == "tool";
        message.role = Some(role.into());
        self.out.push(Item::Fits(message));
    }

    pub(super) fn lose(&mut self, code: LossCode, what: &str, place: impl ToString, why: &str) {
        self.losses.push(Loss::new(code, what, place.to_string(), why));
    }

    /// Writes the system prompt, in its original messages or otherwise as one.
    fn system(&mut self) {
        let fitted = self.fitted;
        if self.system_as_it_came() {
            return;
        }
        let parts: Vec<Item<'_, Part<'_>>> = fitted.system.iter().filter_map(|block| self.text_part(block)).collect();
        if parts.is_empty() {
            return;
        }
        let text = |item: &Item<'_, Part<'_>>| match item {
            Item::Fits(part) if part.rest.iter().any(|(name, _)| is_cache_field(name)) => None,
            Item::Fits(part) => part.text.as_ref().map(|text| text.as_str().to_owned()),
            Item::Odd(_) => None,
        };
        let texts: Option<Vec<String>> = parts.iter().map(text).collect();
        let content = texts.map_or_else(|| Content::List(parts), |texts| Content::Text(texts.join(GAP).into()));
        self.push(self.system_role(), Message { content, ..Message::default() });
    }

    /// Returns the role of instructions whose message does not name one.
    fn system_role(&self) -> &'static str {
        match self.fitted.target.quirks.chat.system_role {
            SystemRole::Developer if self.is_ours() => "developer",
            SystemRole::System | SystemRole::Developer => "system",
        }
    }

    /// Divides the system prompt into its original messages, if it still has as many blocks.
    fn system_as_it_came(&mut self) -> bool {
        let fitted = self.fitted;
        let shape = self.shape(&fitted.request.provider_data);
        let Some(messages) = shape.get(shape::SYSTEM).and_then(|shapes| shapes.to::<Vec<Fields>>().ok()) else {
            return false;
        };
        let count = |shape: &Fields| shape.get(shape::BLOCKS).and_then(|count| count.to::<usize>().ok()).unwrap_or(0);
        if messages.iter().map(count).fold(0, usize::saturating_add) != fitted.system.len() {
            return false;
        }
        let mut blocks = fitted.system.as_slice();
        for shape in messages {
            let Some((own, rest)) = blocks.split_at_checked(count(&shape)) else { return true };
            blocks = rest;
            let mut message = self.plain(own, &shape);
            let extra: Fields = shape.get(shape::EXTRA).and_then(|extra| extra.to().ok()).unwrap_or_default();
            let owned = |(name, value): (String, crate::Json)| (Cow::Owned(name), Cow::Owned(value.raw().to_owned()));
            message.rest.extend(extra.into_iter().map(owned));
            self.push(role(&shape, "system"), message);
        }
        true
    }

    fn user(&mut self, message: &'f FittedMessage<'f>) {
        // Other dialects have results in user messages; here they come first.
        let (results, rest): (Vec<&FittedBlock<'_>>, Vec<&FittedBlock<'_>>) =
            message.content.iter().partition(|block| block.block.as_tool_result().is_some());
        for block in &results {
            self.result(block);
        }
        self.flush_moved();
        if rest.is_empty() && !results.is_empty() {
            return;
        }
        let data = &message.message.provider_data;
        let shape = if results.is_empty() { self.shape(data) } else { Fields::NONE };
        let mut wire = self.plain(rest, shape);
        wire::add(&mut wire, notes::extra(data, Side::Request).as_rest());
        self.push_user(wire);
    }

    /// Adds a user message; some APIs refuse one directly after a tool's.
    fn push_user(&mut self, message: Message<'f>) {
        if self.after_tool && self.is_ours() && self.fitted.target.quirks.chat.no_user_after_tool {
            let content = Content::Text("I have the results.".into());
            self.push("assistant", Message { content, ..Message::default() });
            let why =
                "this provider refuses a user message after a tool's; a short assistant message is put between them";
            self.losses.push(Loss::info(LossCode::Changed, "messages", "messages", why));
        }
        self.push("user", message);
    }

    /// Writes instructions in the middle of a conversation.
    fn instructions(&mut self, message: &'f FittedMessage<'f>) {
        let data = &message.message.provider_data;
        let shape = self.shape(data);
        let mut wire = self.plain(&message.content, shape);
        wire::add(&mut wire, notes::extra(data, Side::Request).as_rest());
        self.push(role(shape, self.system_role()), wire);
    }

    /// Makes a message that has only content.
    fn plain(&mut self, blocks: impl IntoIterator<Item = &'f FittedBlock<'f>>, shape: &Fields) -> Message<'f> {
        let parts = blocks.into_iter().filter_map(|block| self.part(&block.block, block.place, block.state)).collect();
        shaped(parts, shape)
    }

    fn results(&mut self, message: &'f FittedMessage<'f>) {
        for block in &message.content {
            if block.block.as_tool_result().is_some() {
                self.result(block);
            } else {
                let moved = self.part(&block.block, block.place, block.state);
                self.moved.extend(moved);
            }
        }
    }

    /// Writes a result, which is one message.
    fn result(&mut self, block: &'f FittedBlock<'f>) {
        let Block::ToolResult(result) = block.block.as_ref() else { return };
        let shape = self.shape(&result.provider_data);
        let mut wire = if self.is_ours() || result.is_error {
            let content = Content::Text(self.result_text(result, block.place).into());
            Message { content, ..Message::default() }
        } else {
            let inner = result.content.iter().enumerate();
            let parts = inner.filter_map(|(index, inner)| self.part(inner, block.place.inner(index), block.state));
            shaped(parts.collect(), shape)
        };
        if !shape.flag(shape::NO_ID) {
            wire.tool_call_id = Some(result.tool_call_id.as_str().into());
        }
        wire::add(&mut wire, notes::extra(&result.provider_data, Side::Request).as_rest());
        self.push(role(shape, "tool"), wire);
    }

    /// Returns a result's text. Pictures and documents move after the results.
    fn result_text(&mut self, result: &'f ToolResult, place: Place) -> String {
        let mut texts: Vec<Cow<'f, str>> = Vec::new();
        let before = self.moved.len();
        for (index, block) in result.content.iter().enumerate() {
            let place = place.inner(index);
            match self.part(block, place, StateUse::Own) {
                Some(Item::Fits(Part { text: Some(text), .. })) => texts.push(text.0),
                Some(part) => {
                    let why = "a tool message accepts only text; it moved into a user message after the results";
                    self.lose(LossCode::Media, block.kind().as_str(), place, why);
                    self.moved.push(part);
                }
                None => {}
            }
        }
        if texts.is_empty() && self.moved.len() > before {
            texts.push("(see attached image)".into());
        }
        let mut text = texts.join(GAP);
        if result.is_error {
            let says_so = text.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("error"));
            if !says_so {
                text.insert_str(0, "Error: ");
            }
            let why = "this API has no mark for a failed tool; the text says so";
            self.lose(LossCode::NotInDialect, "is_error", format!("{place}.is_error"), why);
        }
        text
    }

    fn flush_moved(&mut self) {
        if !self.moved.is_empty() {
            let content = Content::List(std::mem::take(&mut self.moved));
            self.push_user(Message { content, ..Message::default() });
        }
    }

    /// Writes an earlier assistant message in the form that the target expects.
    fn assistant(&mut self, message: &'f FittedMessage<'f>) {
        let data = &message.message.provider_data;
        let quirks = self.fitted.target.quirks;
        let mut saying = Saying::new(Side::Request, self.fitted.spelling, Cow::Borrowed(self.shape(data)));
        let mut text_after_call = false;
        for block in &message.content {
            let field = match block.block.as_ref() {
                Block::Thinking(thinking) => self.reasoning_field(thinking, message),
                _ => Cow::Borrowed(""),
            };
            if matches!(*block.block, Block::Text(_)) && saying.has_calls() && !text_after_call {
                text_after_call = true;
                let why = "text comes before the calls here; that it came after one is lost";
                self.lose(LossCode::Changed, "text", block.place, why);
            }
            if !saying.say(&block.block, block.state, &field) {
                let (code, why) = match block.block.as_ref() {
                    Block::ToolResult(_) => {
                        (LossCode::NotInDialect, "the assistant gives no results of tools; left out")
                    }
                    _ => (LossCode::Media, "the assistant cannot show it here; left out"),
                };
                self.lose(code, block.block.kind().as_str(), block.place, why);
            }
        }
        let (is_silent, has_calls) = (saying.is_silent(), saying.has_calls());
        let mut wire = saying.into_message();
        if message.state == StateUse::Own {
            let state = data.part(DIALECT, DataPart::State);
            wire.extra_content = state.get(EXTRA_CONTENT).map(Raw::from);
            wire.opaque = Words(state.str(REASONING_OPAQUE).map(Text));
        }
        let extra = notes::extra(data, Side::Request).as_rest();
        if !self.is_ours() {
            wire::add(&mut wire, extra);
            return self.push("assistant", wire);
        }
        // Reasoning is sent back in the target's form, not as received.
        let is_reasoning =
            |name: &str| REASONING_FIELDS.contains(&name) || [REASONING_DETAILS, THINKING_BLOCKS].contains(&name);
        wire::add(&mut wire, extra.into_iter().filter(|(name, _)| !is_reasoning(name)).collect());
        let told = [&wire.reasoning_content, &wire.reasoning, &wire.reasoning_text];
        let is_sealed = !wire.details.is_empty() || !wire.thinking_blocks.is_empty() || !wire.opaque.is_absent();
        let has_reasoning = is_sealed || !told.iter().all(|words| words.is_absent());
        // The `content: null` of an empty message does not count.
        if is_silent && !has_reasoning && wire.extra_content.is_none() && wire.rest.len() < 2 {
            let why = "this API cannot express anything in this message; left out";
            let place = Place::Message(message.index).to_string();
            return self.losses.push(Loss::info(LossCode::Changed, "messages", place, why));
        }
        if wire.content.is_absent() && (quirks.chat.no_null_content || !has_calls) {
            wire::take(&mut wire.rest, "content");
            wire.content = Content::Text("".into());
        }
        // Some require the field on every turn of a thinking conversation, even if it is empty.
        let is_due = self.fitted.thinking.thinks
            && quirks.chat.reasoning_field == ReasoningField::ReasoningContent
            && quirks.chat.replay_reasoning == ReplayReasoning::Always;
        if is_due && !has_reasoning && !is_silent {
            wire::put(&mut wire.rest, "reasoning_content", "");
        }
        self.push("assistant", wire);
    }

    /// Returns the field that thinking is sent back in: the original one for its own provider, otherwise the usual one.
    fn reasoning_field(&self, thinking: &'f ThinkingBlock, message: &FittedMessage<'_>) -> Cow<'f, str> {
        let usual = match self.fitted.target.quirks.chat.reasoning_field {
            ReasoningField::Nothing | ReasoningField::ReasoningContent => "reasoning_content",
            ReasoningField::Reasoning => "reasoning",
            ReasoningField::ContentPart => FIELD_CONTENT,
        };
        let own = field_of(thinking);
        if !self.is_ours() {
            return own.unwrap_or(Cow::Borrowed(usual));
        }
        let is_issuer = message.message.provider.as_deref() == Some(self.fitted.target.provider);
        let details = details_of(&thinking.provider_data);
        // Encrypted ones may come with a text of their own.
        let in_details = || details.iter().filter_map(detail_text).collect::<String>() == thinking.text;
        match own.filter(|_| is_issuer) {
            Some(own) if own == FIELD_CONTENT => own,
            // Complete details contain everything.
            _ if !details.is_empty() && usual != FIELD_CONTENT && in_details() => Cow::Borrowed(REASONING_DETAILS),
            Some(own) if own != REASONING_DETAILS => own,
            Some(_) | None => Cow::Borrowed(usual),
        }
    }
}

/// Makes a message of these parts in their original shape, or otherwise as short as possible.
fn shaped<'a>(mut parts: Vec<Item<'a, Part<'a>>>, shape: &Fields) -> Message<'a> {
    let mut message = Message::default();
    message.content = match (ContentShape::read(shape), parts.as_mut_slice()) {
        (Some(ContentShape::Absent), []) => Content::Absent,
        (Some(ContentShape::Null), []) => {
            wire::put(&mut message.rest, "content", &());
            Content::Absent
        }
        (Some(ContentShape::Parts), _) => Content::List(parts),
        (_, []) => Content::Text("".into()),
        // The text alone if there is nothing else.
        (_, [Item::Fits(Part { text: Some(text), rest, .. })]) if rest.is_empty() => {
            Content::Text(std::mem::take(text))
        }
        (_, _) => Content::List(parts),
    };
    message
}

/// Returns the role of a message, if it was not the usual one.
fn role(shape: &Fields, usual: &'static str) -> &'static str {
    match shape.str(shape::ROLE).as_deref() {
        Some("developer") => "developer",
        Some("function") => "function",
        _ => usual,
    }
}
