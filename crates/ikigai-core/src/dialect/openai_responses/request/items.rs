//! Converts the system prompt and the messages to the list of items.

use std::borrow::Cow;

use crate::dialect::openai_responses::DIALECT;
use crate::dialect::openai_responses::content::{self, INPUT, Keep, OUTPUT};
use crate::dialect::openai_responses::items::{self, said, text_or_parts};
use crate::dialect::openai_responses::message::{self, OpenMessage};
use crate::dialect::openai_responses::wire::{self, Entry, Item, Items, Many, Parts, kind_of};
use crate::fit::{Fitted, FittedBlock, FittedMessage, Place, Spelling, StateUse};
use crate::json::wire::Rest;
use crate::{Block, Fields, Loss, LossCode, Other, Part, ProviderData, Role, Source, Text, ThinkingBlock, ToolResult};

/// The writer of items.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    fitted: &'a Fitted<'a>,
    /// Whether the server keeps the conversation.
    stored: bool,
    lines: Vec<Line<'a>>,
    /// The model's message that further parts may join.
    open: Option<OpenMessage<'a>>,
    pub(super) losses: Vec<Loss>,
}

/// An item and its origin.
#[derive(Debug)]
struct Line<'a> {
    item: Entry<'a, Item<'a>>,
    origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Client,
    Model,
    /// Reasoning of the model, which must come before what it led to.
    Reasoning(Place),
}

impl<'a> Writer<'a> {
    pub(super) fn new(fitted: &'a Fitted<'a>) -> Self {
        let stored = fitted.request.provider_data.part(DIALECT, Part::Extra).flag("store");
        let lines = Vec::with_capacity(fitted.messages.len());
        Writer { fitted, stored, lines, open: None, losses: Vec::new() }
    }

    /// Writes everything, and returns the instructions and the items.
    pub(super) fn write(&mut self) -> (Option<String>, Items<'a>) {
        let fitted = self.fitted;
        let instructions = self.system();
        for message in &fitted.messages {
            match message.role {
                Role::Assistant => self.of_model(message),
                Role::User | Role::Tool => self.of_client(message, "user"),
                Role::System => self.of_client(message, system_role(&message.message.provider_data)),
            }
        }
        if fitted.spelling == Spelling::Ours {
            self.drop_reasoning_that_led_nowhere();
        }
        (instructions, self.lines.drain(..).map(|line| line.item).collect())
    }

    fn keep(&self, state: StateUse) -> Keep {
        match (state, self.fitted.spelling) {
            (StateUse::Foreign, _) => Keep::Nothing,
            (StateUse::Own, Spelling::AsItCame) => Keep::Everything,
            (StateUse::Own, Spelling::Ours) => Keep::Fields,
        }
    }

    fn push(&mut self, item: Item<'a>, origin: Origin) {
        self.lines.push(Line { item: Entry::Fits(item), origin });
    }

    fn lose(&mut self, code: LossCode, what: &str, place: Place, why: &str) {
        self.losses.push(Loss::new(code, what, place.to_string(), why));
    }

    /// Writes the system prompt: `instructions`, and the messages that it was read from.
    fn system(&mut self) -> Option<String> {
        let mut plain: Vec<&'a FittedBlock<'a>> = Vec::new();
        let mut leads: Vec<(&'a ProviderData, Parts<'a>)> = Vec::new();
        for block in &self.fitted.system {
            let Some(data) = block.block.provider_data().filter(|data| shape(data).get("role").is_some()) else {
                plain.push(block);
                continue;
            };
            if leads.is_empty() || shape(data).get("item").is_some() {
                leads.push((data, Vec::new()));
            }
            let part = self.part(block.block.as_ref(), block.place, self.keep(block.state));
            if let Some((_, parts)) = leads.last_mut() {
                parts.extend(part);
            }
        }
        let instructions = self.instructions(&plain);
        for (data, parts) in leads {
            let of_item = message::is_of_item(data);
            let mut rest = data.part(DIALECT, Part::Extra).as_rest();
            rest.retain(|(name, _)| of_item(name));
            self.message(system_role(data), shape(data), parts, rest);
        }
        instructions
    }

    /// Writes the part of the system prompt that did not come in message items. It goes into `instructions`, unless
    /// only a message can hold it.
    fn instructions(&mut self, blocks: &[&'a FittedBlock<'a>]) -> Option<String> {
        if blocks.is_empty() {
            return None;
        }
        let marked = |block: &FittedBlock<'_>| self.fitted.marks.at(block.place, block.block.cache()).is_some();
        let texts: Option<Vec<&str>> =
            blocks.iter().map(|block| block.block.as_text().filter(|_| !marked(block))).collect();
        if let Some(texts) = texts {
            return Some(texts.join("\n\n"));
        }
        let parts = blocks.iter().filter_map(|block| {
            let keep = self.keep(block.state);
            self.part(block.block.as_ref(), block.place, keep)
        });
        let parts = parts.collect();
        self.message("developer", Fields::NONE, parts, Rest::new());
        None
    }

    /// Writes a message of the user or of the system, or tool results.
    fn of_client(&mut self, message: &'a FittedMessage<'a>, role: &'static str) {
        let data = &message.message.provider_data;
        let mut parts = Vec::new();
        for block in &message.content {
            match block.block.as_ref() {
                Block::ToolResult(result) => {
                    self.flush(role, message, &mut parts);
                    self.result(result, block.place, block.state);
                }
                Block::Other(other) if is_item(other) && !shape(data).flag("parts") => {
                    self.flush(role, message, &mut parts);
                    self.whole(other, Origin::Client);
                }
                inner => parts.extend(self.part(inner, block.place, self.keep(block.state))),
            }
        }
        if message.content.is_empty() && message.role != Role::Tool {
            self.message_of(role, message, parts);
        } else {
            self.flush(role, message, &mut parts);
        }
    }

    fn flush(&mut self, role: &'static str, message: &'a FittedMessage<'a>, parts: &mut Parts<'a>) {
        if !parts.is_empty() {
            self.message_of(role, message, std::mem::take(parts));
        }
    }

    fn message_of(&mut self, role: &'static str, message: &'a FittedMessage<'a>, parts: Parts<'a>) {
        let (keep, data) = (self.keep(message.state), &message.message.provider_data);
        self.message(role, keep.shape(data), parts, keep.extra(data));
    }

    fn message(&mut self, role: &'static str, shape: &Fields, parts: Parts<'a>, rest: Rest<'a>) {
        let content = if shape.flag("string") { text_or_parts(parts, INPUT) } else { Many::List(parts) };
        let mut item = Item { role: Some(role.into()), content, rest, ..Item::default() };
        message::encode_head(&mut item, shape);
        self.push(item, Origin::Client);
    }

    /// Writes an item that only this dialect has.
    fn whole(&mut self, other: &'a Other, origin: Origin) {
        self.lines.push(Line { item: Entry::Odd(Cow::Borrowed(other.data.raw())), origin });
    }

    /// Writes one part of a message of the client's side, or of a result.
    fn part(&mut self, block: &'a Block, place: Place, keep: Keep) -> Option<Entry<'a, wire::Part<'a>>> {
        let part = match block {
            Block::Text(text) => Some(content::encode_text(text, INPUT, keep)),
            Block::Image(image) => content::encode_image(image, keep),
            Block::Document(document) => {
                let part = content::encode_file(document, keep);
                let linked = matches!(document.source, Source::Url { .. } | Source::File { .. });
                if document.name.is_some() && linked && part.filename.is_none() {
                    let why = "a file that is not sent along has no name here";
                    self.losses.push(Loss::info(LossCode::NotInDialect, "document.name", place.to_string(), why));
                }
                Some(part)
            }
            Block::Other(other) => {
                // One of another dialect has already been noted.
                return (other.dialect == DIALECT).then(|| Entry::Odd(Cow::Borrowed(other.data.raw())));
            }
            Block::Audio(_)
            | Block::Thinking(_)
            | Block::ToolCall(_)
            | Block::ToolResult(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_) => None,
        };
        let Some(mut part) = part else {
            let (code, why) = match block {
                Block::Image(_) => (LossCode::Media, "a text is not a picture; left out"),
                Block::Audio(_) => (LossCode::Media, "this API accepts no audio; left out"),
                _ => (LossCode::NotInDialect, "it is not allowed in this place; left out"),
            };
            self.lose(code, block.kind().as_str(), place, why);
            return None;
        };
        if let Some(data) = block.provider_data()
            && self.fitted.marks.at(place, block.cache()).is_some()
        {
            part.prompt_cache_breakpoint = Some(content::encode_breakpoint(data, keep));
        }
        Some(Entry::Fits(part))
    }

    /// Writes a call's result. There is no flag for failures, so the text says so.
    fn result(&mut self, result: &'a ToolResult, place: Place, state: StateUse) {
        self.close();
        let keep = self.keep(state);
        let shape = keep.shape(&result.provider_data);
        let blocks = result.content.iter().enumerate();
        let mut parts: Parts<'a> =
            blocks.filter_map(|(index, block)| self.part(block, place.inner(index), keep)).collect();
        if result.is_error {
            say_error(&mut parts);
            let why = "results have no flag for failures here; the text begins with `Error: `";
            self.losses.push(Loss::info(LossCode::Changed, "is_error", place.to_string(), why));
        }
        let output = match shape.get("output") {
            Some(_) => Many::List(parts),
            None if parts.is_empty() => Many::Text("".into()),
            None => text_or_parts(parts, INPUT),
        };
        let item = Item {
            kind: Some("function_call_output".into()),
            id: said(shape, "id"),
            status: said(shape, "status"),
            call_id: Some(result.tool_call_id.as_str().into()),
            output,
            rest: keep.extra(&result.provider_data),
            ..Item::default()
        };
        self.push(item, Origin::Client);
    }

    /// Writes a message of the model as one or more items.
    fn of_model(&mut self, message: &'a FittedMessage<'a>) {
        for block in &message.content {
            let (place, keep) = (block.place, self.keep(block.state));
            if let Block::Text(text) = block.block.as_ref() {
                if message::begins_item(text) {
                    self.close();
                }
                if self.open.is_none() {
                    let before = self.parts_before(text);
                    self.open = Some(OpenMessage::new(text, before, keep));
                }
                if let Some(message) = &mut self.open {
                    message.text(text, content::encode_text(text, OUTPUT, keep));
                }
                continue;
            }
            if let (Block::Other(other), Some(message)) = (block.block.as_ref(), &mut self.open)
                && message.other(other)
            {
                continue;
            }
            self.close();
            match block.block.as_ref() {
                Block::Thinking(thinking) => self.thinking(thinking, place, keep),
                Block::ToolCall(call) => self.push(items::encode_call(call, keep), Origin::Model),
                Block::ToolResult(result) => self.result(result, place, block.state),
                Block::Other(other) => self.item_of_model(other, place),
                Block::Image(_) | Block::Document(_) | Block::Audio(_) => {
                    let why = "the model's own messages hold text alone here; left out";
                    self.lose(LossCode::Media, block.block.kind().as_str(), place, why);
                }
                // Those of provider-run tools became items when the request was fitted.
                Block::Text(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => {}
            }
        }
        self.close();
    }

    fn close(&mut self) {
        if let Some(message) = self.open.take() {
            self.push(message.close(), Origin::Model);
        }
    }

    /// Takes back the unknown parts before the first text of a message.
    fn parts_before(&mut self, text: &Text) -> Parts<'a> {
        let written = self.lines.iter().rev().map_while(|line| match (&line.item, line.origin) {
            (Entry::Odd(raw), Origin::Model) => Some(raw.as_ref()),
            _ => None,
        });
        let count = message::count_before(text, written);
        let parts = self.lines.drain(self.lines.len().saturating_sub(count)..).filter_map(|line| match line.item {
            Entry::Odd(raw) => Some(Entry::Odd(raw)),
            Entry::Fits(_) => None,
        });
        parts.collect()
    }

    fn item_of_model(&mut self, other: &'a Other, place: Place) {
        let is_reference = || kind_of(other.data.raw()).as_deref() == Some("item_reference");
        if self.fitted.spelling == Spelling::Ours && !self.stored && is_reference() {
            let why = "a reference to an item that the server has not stored is refused; left out";
            return self.lose(LossCode::Conflict, "other", place, why);
        }
        self.whole(other, Origin::Model);
    }

    /// Writes reasoning: in its encrypted form, by its id if it is stored, or as text for models that return text.
    fn thinking(&mut self, block: &'a ThinkingBlock, place: Place, keep: Keep) {
        let data = &block.provider_data;
        let state = data.part(DIALECT, Part::State);
        let goes = keep == Keep::Everything
            || state.get("encrypted_content").is_some()
            || (state.get("id").is_some() && self.stored)
            || (shape(data).get("content").is_some() && !self.fitted.takes.storage);
        if goes {
            self.push(items::encode_reasoning(block, keep), Origin::Reasoning(place));
        } else {
            let why = "reasoning goes back only as the provider encrypted it, and this has none; left out";
            self.lose(LossCode::NotInDialect, "thinking", place, why);
        }
    }

    /// Drops reasoning that is not followed by what it led to, as in an answer that was cut off: the API refuses it.
    fn drop_reasoning_that_led_nowhere(&mut self) {
        let mut led = false;
        let mut kept: Vec<Line<'a>> = Vec::with_capacity(self.lines.len());
        for line in std::mem::take(&mut self.lines).into_iter().rev() {
            match line.origin {
                Origin::Reasoning(place) if !led => {
                    let why = "reasoning without the item that it led to is refused; left out";
                    self.lose(LossCode::Conflict, "thinking", place, why);
                    continue;
                }
                Origin::Reasoning(_) | Origin::Model => led = true,
                Origin::Client => led = false,
            }
            kept.push(line);
        }
        kept.reverse();
        self.lines = kept;
    }
}

/// Returns how something was spelled, however the request is being written.
fn shape(data: &ProviderData) -> &Fields {
    data.part(DIALECT, Part::Shape)
}

/// Returns the role of a system message.
fn system_role(data: &ProviderData) -> &'static str {
    if shape(data).str("role").as_deref() == Some("system") { "system" } else { "developer" }
}

/// Whether this is an item, not a part of the message that it is in. An item has a type.
fn is_item(other: &Other) -> bool {
    kind_of(other.data.raw()).is_some_and(|kind| !kind.is_empty() && !kind.starts_with("input_"))
}

fn say_error(parts: &mut Parts<'_>) {
    const PREFIX: &str = "Error: ";
    let first = parts.iter_mut().find_map(|part| match part {
        Entry::Fits(part) => part.text.as_mut(),
        Entry::Odd(_) => None,
    });
    match first {
        Some(text) if text.as_str().starts_with(PREFIX) => {}
        Some(text) => *text = format!("{PREFIX}{}", text.as_str()).into(),
        None => parts.insert(0, Entry::Fits(wire::Part::text(INPUT, "Error: the tool failed"))),
    }
}
