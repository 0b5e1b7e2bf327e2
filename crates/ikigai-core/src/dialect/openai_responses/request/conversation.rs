//! The system prompt and the messages to the list of items.

use serde_json::Value;

use super::call_ids::CallIds;
use crate::dialect::Target;
use crate::dialect::openai_responses::fields::{note_foreign_fields, object, own, own_object, put_back};
use crate::dialect::openai_responses::items::OpenMessage;
use crate::dialect::openai_responses::{ME, Object, parts};
use crate::{Block, CacheHint, Loss, Message, Other, ProviderData, Request, Role, ToolResult};

/// Marks for the cache that one request may have.
const MOST_BREAKPOINTS: usize = 4;

/// Writes items.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    pub(super) request: &'a Request,
    pub(super) target: &'a Target<'a>,
    /// The request was read for this very model: it is written as it was.
    pub(super) faithful: bool,
    /// The caller keeps the conversation on the server.
    pub(super) stored: bool,
    pub(super) calls: CallIds,
    pub(super) items: Vec<Item>,
    /// The model's message that more parts may join.
    pub(super) open: Option<OpenMessage>,
    /// Cache hints that are too early to be among the last ones.
    hints_to_skip: usize,
    pub(super) breakpoints: usize,
    pub(super) losses: Vec<Loss>,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) wire: Object,
    pub(super) of_model: bool,
    /// Where a reasoning item came from.
    pub(super) reasoning: Option<String>,
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
        let hints = hints(&request.system) + request.messages.iter().map(hints_of).sum::<usize>();
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
            self.losses.push(Loss::uncoded("system", place, why));
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
            self.losses.push(Loss::uncoded("system", "system", why));
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
                    self.items.extend(other.data.value().as_object().map(|item| Item::of_client(item.clone())));
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
                    self.losses.push(Loss::uncoded("image", place, why));
                    return None;
                }
            },
            Block::Document(document) => {
                let part = parts::encode_file(document, self.faithful);
                if document.name.is_some() && !part.contains_key("filename") {
                    let why = "a file that is not sent along has no name here";
                    self.losses.push(Loss::uncoded_info("document.name", place, why));
                }
                (part, &document.cache, &document.provider_data)
            }
            Block::Other(other) if other.dialect == ME => return Some(other.data.clone().into()),
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
        self.losses.push(Loss::uncoded(what, place, why));
        None
    }

    pub(super) fn note_foreign_block(&mut self, other: &Other, place: &str) {
        let why = format!("a block of {} that this API does not have; it was left out", other.dialect);
        self.losses.push(Loss::uncoded("other", place, why));
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
            self.losses.push(Loss::uncoded_info("cache", place, why));
            return;
        }
        if hint.ttl.is_some() {
            let why = "how long a single part is cached cannot be said here";
            self.losses.push(Loss::uncoded_info("cache", format!("{place}.cache.ttl"), why));
        }
        self.breakpoints += 1;
        part.insert("prompt_cache_breakpoint".into(), parts::encode_breakpoint(data));
    }

    pub(super) fn note_cache_hint(&mut self, place: &str) {
        self.losses.push(Loss::uncoded_info("cache", place, "prompts are cached by themselves here; no mark is sent"));
    }

    /// The result of a call. There is no flag for failures, so the text says it.
    pub(super) fn result(&mut self, result: &ToolResult, place: &str) {
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
            self.losses.push(Loss::uncoded_info("is_error", place, why));
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
}

impl Item {
    pub(super) fn of_model(wire: Object) -> Self {
        Item { wire, of_model: true, reasoning: None }
    }

    pub(super) fn of_client(wire: Object) -> Self {
        Item { wire, of_model: false, reasoning: None }
    }
}

/// The cache hints in a message that can become marks: on the client's parts, and on those of results.
fn hints_of(message: &Message) -> usize {
    if message.role == Role::Assistant {
        return 0;
    }
    let of_results = message.content.iter().filter_map(Block::as_tool_result).map(|result| hints(&result.content));
    hints(&message.content) + of_results.sum::<usize>()
}

fn hints(blocks: &[Block]) -> usize {
    let marked = |block: &&Block| matches!(block, Block::Text(_) | Block::Image(_) | Block::Document(_));
    blocks.iter().filter(marked).filter(|block| block.cache().is_some()).count()
}

/// Is this an item of its own, and no part of the message that it is in? When the message was read, that is marked.
fn is_item(other: &Other, message: &Message) -> bool {
    let kind = other.data.value().get("type").and_then(Value::as_str).unwrap_or_default();
    other.dialect == ME && !kind.starts_with("input_") && !message.provider_data.flag(ME, "parts")
}

/// A text part with nothing else to say.
fn is_bare_text(part: &Object) -> bool {
    part.len() == 2
        && part.get("type").is_some_and(|kind| kind == "input_text")
        && part.get("text").is_some_and(Value::is_string)
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
