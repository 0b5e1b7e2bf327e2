//! The system prompt and the messages to the list of items.

use serde_json::Value;

use super::call_ids::CallIds;
use crate::dialect::Target;
use crate::dialect::openai_responses::fields::{
    foreign, has_foreign_state, note_foreign_fields, object, own, own_object, put_back,
};
use crate::dialect::openai_responses::items::{self, Keep, OpenMessage};
use crate::dialect::openai_responses::{ME, Object, parts};
use crate::{
    Block, BoundState, CacheHint, Loss, Message, Other, ProviderData, Request, Role, Text, ThinkingBlock, ToolResult,
    rules_for,
};

/// Marks for the cache that one request may have.
const MOST_BREAKPOINTS: usize = 4;

/// Writes items.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    request: &'a Request,
    target: &'a Target<'a>,
    /// The request was read for this very model: it is written as it was.
    faithful: bool,
    /// The caller keeps the conversation on the server.
    stored: bool,
    calls: CallIds,
    items: Vec<Item>,
    /// The model's message that more parts may join.
    open: Option<OpenMessage>,
    /// Cache hints that are too early to be among the last ones.
    hints_to_skip: usize,
    pub(super) breakpoints: usize,
    pub(super) losses: Vec<Loss>,
}

#[derive(Debug)]
struct Item {
    wire: Object,
    of_model: bool,
    /// Where a reasoning item came from.
    reasoning: Option<String>,
}

/// What became of the system prompt and the messages.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) instructions: Option<String>,
    pub(super) items: Vec<Value>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(request: &'a Request, target: &'a Target<'a>, faithful: bool, stored: bool) -> Self {
        let mut losses = Vec::new();
        let calls = if faithful { CallIds::default() } else { CallIds::of(&request.messages, &mut losses) };
        let hints = request.system.iter().chain(request.messages.iter().flat_map(|message| &message.content));
        let hints = hints.filter(|block| block.cache().is_some()).count();
        Writer {
            request,
            target,
            faithful,
            stored,
            calls,
            items: Vec::with_capacity(request.messages.len()),
            open: None,
            hints_to_skip: hints.saturating_sub(MOST_BREAKPOINTS),
            breakpoints: 0,
            losses,
        }
    }

    pub(super) fn write(&mut self) -> Written {
        let instructions = self.system();
        for (index, message) in self.request.messages.iter().enumerate() {
            let place = format!("messages[{index}]");
            note_foreign_fields(&message.provider_data, &place, &mut self.losses);
            match message.role {
                Role::Assistant => self.of_model(message, &place),
                Role::User | Role::Tool => self.of_client(message, "user", &place),
                Role::System => {
                    let role = self.system_role(message, &place);
                    self.of_client(message, role, &place);
                }
            }
        }
        if !self.faithful {
            self.drop_reasoning_that_led_nowhere();
        }
        let items = std::mem::take(&mut self.items);
        Written { instructions, items: items.into_iter().map(|item| Value::Object(item.wire)).collect() }
    }

    fn system_role(&mut self, message: &'a Message, place: &str) -> &'a str {
        if !self.faithful && !self.target.rules.system_messages {
            let why = "this model takes no system messages in a conversation; it is sent as the user's";
            self.losses.push(Loss::new("system", place, why));
            return "user";
        }
        message.provider_data.str(ME, "role").unwrap_or("developer")
    }

    /// The system prompt: `instructions`, and the messages that it was read from.
    fn system(&mut self) -> Option<String> {
        let mut plain: Vec<(usize, &Block)> = Vec::new();
        let mut lead: Option<(&str, Option<&ProviderData>, Vec<Value>)> = None;
        let mut leads = Vec::new();
        for (index, block) in self.request.system.iter().enumerate() {
            let data = block.provider_data();
            let Some(role) = data.and_then(|data| data.str(ME, "role")) else {
                plain.push((index, block));
                continue;
            };
            if lead.is_none() || data.and_then(own).is_some_and(|own| own.contains_key("item")) {
                leads.extend(lead.replace((role, data, Vec::new())));
            }
            let part = self.part(block, &format!("system[{index}]"));
            if let Some((_, _, parts)) = &mut lead {
                parts.extend(part);
            }
        }
        leads.extend(lead);
        let instructions = self.instructions(&plain);
        for (role, data, parts) in leads {
            self.push_message(role, data, parts);
        }
        instructions
    }

    /// The part of the system prompt that no message item held. It goes into `instructions`, unless only a message can
    /// hold it.
    fn instructions(&mut self, blocks: &[(usize, &Block)]) -> Option<String> {
        if blocks.is_empty() {
            return None;
        }
        let refused = !self.faithful && !self.target.rules.system_prompt;
        let is_plain =
            |block: &Block| matches!(block, Block::Text(_)) && !(self.marks_cache() && block.cache().is_some());
        if !refused && blocks.iter().all(|(_, block)| is_plain(block)) {
            for (index, block) in blocks {
                self.note_text(block, &format!("system[{index}]"));
            }
            let texts: Vec<&str> = blocks.iter().filter_map(|(_, block)| block.as_text()).collect();
            return Some(texts.join("\n\n"));
        }
        if refused {
            let why = "this model takes no system prompt; it is sent as the user's first message";
            self.losses.push(Loss::new("system", "system", why));
        }
        let parts = blocks.iter().filter_map(|(index, block)| self.part(block, &format!("system[{index}]"))).collect();
        self.push_message(if refused { "user" } else { "developer" }, None, parts);
        None
    }

    /// A text that goes where nothing but text can go: what it leaves behind.
    fn note_text(&mut self, block: &Block, place: &str) {
        if let Some(data) = block.provider_data() {
            note_foreign_fields(data, place, &mut self.losses);
        }
        if block.cache().is_some() {
            self.note_cache_hint(place);
        }
    }

    /// A message of the user or of the system, or the results of tools.
    fn of_client(&mut self, message: &'a Message, role: &str, place: &str) {
        self.close();
        let data = &message.provider_data;
        let mut parts = Vec::new();
        for (index, block) in message.content.iter().enumerate() {
            let place = format!("{place}.content[{index}]");
            match block {
                Block::ToolResult(result) => {
                    self.flush(role, data, &mut parts);
                    self.result(result, &place);
                }
                Block::Other(other) if is_item(other, message) => {
                    self.flush(role, data, &mut parts);
                    self.items.extend(other.data.as_object().map(|item| Item::of_client(item.clone())));
                }
                _ => parts.extend(self.part(block, &place)),
            }
        }
        if !parts.is_empty() || message.content.is_empty() && message.role != Role::Tool {
            self.push_message(role, Some(data), parts);
        }
    }

    fn flush(&mut self, role: &str, data: &ProviderData, parts: &mut Vec<Value>) {
        if !parts.is_empty() {
            let parts = std::mem::take(parts);
            self.push_message(role, Some(data), parts);
        }
    }

    fn push_message(&mut self, role: &str, data: Option<&ProviderData>, parts: Vec<Value>) {
        let marked = |key: &str| data.is_some_and(|data| data.flag(ME, key));
        let mut item = Object::new();
        if !marked("easy") {
            item.insert("type".into(), "message".into());
        }
        item.insert("role".into(), role.into());
        let content = match parts.as_slice() {
            [Value::Object(part)] if marked("string") && is_bare_text(part) => {
                part.get("text").cloned().unwrap_or_default()
            }
            _ => Value::Array(parts),
        };
        item.insert("content".into(), content);
        put_back(&mut item, data.and_then(|data| own_object(data, "item")));
        self.items.push(Item::of_client(item));
    }

    /// One part of a message of the client's side, or of a result.
    fn part(&mut self, block: &Block, place: &str) -> Option<Value> {
        if let Some(data) = block.provider_data() {
            note_foreign_fields(data, place, &mut self.losses);
        }
        let (mut part, cache, data) = match block {
            Block::Text(text) => (parts::encode_text(text), &text.cache, &text.provider_data),
            Block::Image(image) => match parts::encode_image(image) {
                Ok(part) => (part, &image.cache, &image.provider_data),
                Err(why) => {
                    self.losses.push(Loss::new("image", place, why));
                    return None;
                }
            },
            Block::Document(document) => {
                let part = parts::encode_file(document, self.faithful);
                if document.name.is_some() && !part.contains_key("filename") {
                    let why = "a file that is not sent along has no name here";
                    self.losses.push(Loss::info("document.name", place, why));
                }
                (part, &document.cache, &document.provider_data)
            }
            Block::Other(other) if other.dialect == ME => return Some(other.data.clone()),
            Block::Other(other) => {
                self.note_foreign_block(other, place);
                return None;
            }
            Block::Audio(_) => return self.lost("audio", place, "this API takes no sound; it was left out"),
            Block::Thinking(_) => return self.lost("thinking", place, "only a model's message can hold thinking"),
            Block::ToolCall(_) => return self.lost("tool_call", place, "only a model's message can hold a call"),
            Block::ToolResult(_) => {
                return self.lost("tool_result", place, "a result inside a result was left out");
            }
        };
        self.mark_cache(&mut part, cache.as_ref(), data, place);
        Some(Value::Object(part))
    }

    fn lost(&mut self, what: &str, place: &str, why: &str) -> Option<Value> {
        self.losses.push(Loss::new(what, place, why));
        None
    }

    fn note_foreign_block(&mut self, other: &Other, place: &str) {
        let why = format!("a block of {} that this API does not have; it was left out", other.dialect);
        self.losses.push(Loss::new("other", place, why));
    }

    fn marks_cache(&self) -> bool {
        self.faithful || self.target.rules.cache_breakpoints
    }

    /// Marks a part for the cache: the last few hints of a request, where the model takes marks.
    fn mark_cache(&mut self, part: &mut Object, hint: Option<&CacheHint>, data: &ProviderData, place: &str) {
        let Some(hint) = hint else { return };
        if !self.marks_cache() {
            return self.note_cache_hint(place);
        }
        if !self.faithful && self.hints_to_skip > 0 {
            self.hints_to_skip -= 1;
            let why = format!("a request has at most {MOST_BREAKPOINTS} marks for the cache; the later ones are sent");
            self.losses.push(Loss::info("cache", place, why));
            return;
        }
        if hint.ttl.is_some() {
            let why = "how long a single part is cached cannot be said here";
            self.losses.push(Loss::info("cache", format!("{place}.cache.ttl"), why));
        }
        self.breakpoints += 1;
        part.insert("prompt_cache_breakpoint".into(), parts::encode_breakpoint(data));
    }

    fn note_cache_hint(&mut self, place: &str) {
        self.hints_to_skip = self.hints_to_skip.saturating_sub(1);
        self.losses.push(Loss::info("cache", place, "prompts are cached by themselves here; no mark is sent"));
    }

    /// The result of a call. There is no flag for failures, so the text says it.
    fn result(&mut self, result: &ToolResult, place: &str) {
        let data = &result.provider_data;
        note_foreign_fields(data, place, &mut self.losses);
        if result.cache.is_some() {
            self.note_cache_hint(place);
        }
        let mut parts: Vec<Value> = Vec::with_capacity(result.content.len());
        for (index, block) in result.content.iter().enumerate() {
            parts.extend(self.part(block, &format!("{place}.content[{index}]")));
        }
        if result.is_error {
            say_error(&mut parts);
            let why = "results have no flag for failures here; the text begins with `Error: `";
            self.losses.push(Loss::info("is_error", place, why));
        }
        let as_parts = data.str(ME, "output") == Some("parts");
        let output = match parts.as_slice() {
            [] if !as_parts => "".into(),
            [Value::Object(part)] if !as_parts && is_bare_text(part) => part.get("text").cloned().unwrap_or_default(),
            _ => Value::Array(parts),
        };
        let mut item = object([
            ("type", "function_call_output".into()),
            ("call_id", self.calls.get(&result.tool_call_id).into()),
            ("output", output),
        ]);
        put_back(&mut item, own_object(data, "extra"));
        if !self.faithful {
            item.shift_remove("id");
            item.shift_remove("status");
        }
        self.items.push(Item::of_client(item));
    }

    /// A message of the model: one item or several.
    fn of_model(&mut self, message: &'a Message, place: &str) {
        let keep = match (self.reads_state_of(message), self.faithful) {
            (true, true) => Keep::Everything,
            (true, false) => Keep::History,
            (false, _) => Keep::Nothing,
        };
        self.close();
        for (index, block) in message.content.iter().enumerate() {
            let place = format!("{place}.content[{index}]");
            if let Block::Text(text) = block {
                self.text_of_model(text, keep, &place);
                continue;
            }
            self.close();
            match block {
                Block::Thinking(thinking) => self.thinking(thinking, message, keep, &place),
                Block::ToolCall(call) => {
                    self.note_state(&call.provider_data, &place);
                    if call.cache.is_some() {
                        self.note_cache_hint(&place);
                    }
                    self.items.push(Item::of_model(items::call(call, self.calls.get(&call.id), keep)));
                }
                Block::ToolResult(result) => self.result(result, &place),
                Block::Other(other) => self.item_of_model(other, keep, &place),
                Block::Image(_) | Block::Document(_) | Block::Audio(_) => {
                    let why = "the model's own messages hold text alone here; it was left out";
                    let what = match block {
                        Block::Image(_) => "image",
                        Block::Document(_) => "document",
                        _ => "audio",
                    };
                    self.losses.push(Loss::new(what, place, why));
                }
                Block::Text(_) => {}
            }
        }
        self.close();
    }

    fn text_of_model(&mut self, text: &Text, keep: Keep, place: &str) {
        self.note_state(&text.provider_data, place);
        if text.cache.is_some() {
            self.note_cache_hint(place);
        }
        if items::begins_item(text) {
            self.close();
        }
        let message = self.open.get_or_insert_with(|| OpenMessage::new(text, keep));
        message.push(items::output_part(text, keep));
    }

    fn close(&mut self) {
        if let Some(message) = self.open.take() {
            self.items.push(Item::of_model(message.close()));
        }
    }

    fn item_of_model(&mut self, other: &Other, keep: Keep, place: &str) {
        if other.dialect != ME {
            return self.note_foreign_block(other, place);
        }
        if keep == Keep::Nothing {
            let why = "an item that another provider or model made; it was left out";
            self.losses.push(Loss::new("other", place, why));
            return;
        }
        self.items.extend(other.data.as_object().map(|item| Item::of_model(item.clone())));
    }

    /// Signatures of other dialects on texts and calls.
    fn note_state(&mut self, data: &ProviderData, place: &str) {
        note_foreign_fields(data, place, &mut self.losses);
        if has_foreign_state(data) {
            self.losses.push(Loss::new("thinking", place, "thinking state of another provider; it stays behind"));
        }
    }

    fn thinking(&mut self, block: &ThinkingBlock, message: &Message, keep: Keep, place: &str) {
        let data = &block.provider_data;
        if foreign(data).next().is_some() {
            self.losses.push(Loss::new("thinking", place, "thinking state of another provider; it stays behind"));
            return;
        }
        if own(data).is_some() && keep == Keep::Nothing {
            let by = [message.provider.as_deref(), message.model.as_deref()];
            let by: Vec<&str> = by.into_iter().flatten().collect();
            let why = format!("its state was issued by {} and can be read only there; it stays behind", by.join(" "));
            self.losses.push(Loss::new("thinking", place, why));
            return;
        }
        let sealed = data.value(ME, "encrypted_content").is_some();
        let by_id = data.value(ME, "id").is_some() && (self.faithful || self.stored);
        // Open models take their reasoning back as they gave it.
        let in_words = data.value(ME, "content").is_some() && (self.faithful || self.target.quirks.no_store);
        let as_read = self.faithful && own(data).is_some();
        if sealed || by_id || in_words || as_read {
            let reasoning = Some(place.to_owned());
            self.items.push(Item { wire: items::reasoning(block), of_model: true, reasoning });
        } else {
            let why = "reasoning goes back only as the provider encrypted it, and this has none; it was left out";
            self.losses.push(Loss::new("thinking", place, why));
        }
    }

    /// Can the target read the state in a message?
    fn reads_state_of(&self, message: &Message) -> bool {
        let rules = self.target.rules;
        let provider = message.provider.as_deref().is_none_or(|provider| provider == self.target.provider);
        let Some(model) = message.model.as_deref().filter(|_| provider) else { return provider };
        match rules.bound_state {
            BoundState::Provider => true,
            BoundState::Family => rules_for(model).family == rules.family,
            BoundState::Model => without_date(model) == without_date(&self.request.model),
        }
    }

    /// Reasoning must stand before what it led to. Where that never came, as in an answer that was cut off, it is refused.
    fn drop_reasoning_that_led_nowhere(&mut self) {
        let mut led = false;
        let mut kept: Vec<Item> = Vec::with_capacity(self.items.len());
        for mut item in std::mem::take(&mut self.items).into_iter().rev() {
            match item.reasoning.take_if(|_| !led) {
                Some(place) => {
                    let why = "reasoning without the item that it led to is refused; it was left out";
                    self.losses.push(Loss::new("thinking", place, why));
                }
                None => {
                    led = item.of_model;
                    kept.push(item);
                }
            }
        }
        kept.reverse();
        self.items = kept;
    }
}

impl Item {
    fn of_model(wire: Object) -> Self {
        Item { wire, of_model: true, reasoning: None }
    }

    fn of_client(wire: Object) -> Self {
        Item { wire, of_model: false, reasoning: None }
    }
}

/// Is this an item of its own, and no part of the message that it is in? When the message was read, that is marked.
fn is_item(other: &Other, message: &Message) -> bool {
    let kind = other.data.get("type").and_then(Value::as_str).unwrap_or_default();
    other.dialect == ME && !kind.starts_with("input_") && !message.provider_data.flag(ME, "parts")
}

/// A text part with nothing else to say.
fn is_bare_text(part: &Object) -> bool {
    part.len() == 2 && part.get("type").is_some_and(|kind| kind == "input_text") && part.contains_key("text")
}

fn say_error(parts: &mut Vec<Value>) {
    const PREFIX: &str = "Error: ";
    let first = parts.iter_mut().find_map(|part| match part.get_mut("text") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    });
    match first {
        Some(text) if text.starts_with(PREFIX) => {}
        Some(text) => text.insert_str(0, PREFIX),
        None => {
            let text = object([("type", "input_text".into()), ("text", "Error: the tool failed".into())]);
            parts.insert(0, Value::Object(text));
        }
    }
}

/// A model's id without the date behind it: `-2025-08-07` or `-20250807`.
fn without_date(model: &str) -> &str {
    let Some((rest, tail)) = model.rsplit_once('-') else { return model };
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|c| c.is_ascii_digit());
    if digits(tail, 8) {
        return rest;
    }
    let Some((rest, month)) = rest.rsplit_once('-') else { return model };
    match rest.rsplit_once('-') {
        Some((rest, year)) if digits(tail, 2) && digits(month, 2) && digits(year, 4) => rest,
        _ => model,
    }
}
