//! Our messages to the wire.

mod history;
mod media;

use serde_json::{Map, Value, json};

use super::call_ids::{CallIds, Form};
use super::mark;
use crate::dialect::Target;
use crate::dialect::openai_chat::marks::{self, DIALECT, EXTRA, Shape, Side, put_back};
use crate::dialect::openai_chat::part;
use crate::{Block, Loss, Message, Request, Role, StateScope, SystemRole, ToolResult, rules_for};

/// Between texts that were blocks of their own.
const GAP: &str = "\n\n";

/// Who issued the state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Issuer {
    /// The target itself, and its model can read it.
    Target,
    /// Nobody says; then it is taken for the target's.
    Unknown,
    /// Another provider, or a model whose state this one cannot read.
    Another,
}

/// Writes the messages of one request.
pub(super) struct Writer<'a> {
    request: &'a Request,
    target: &'a Target<'a>,
    losses: &'a mut Vec<Loss>,
    /// Does the request go out as it came?
    faithful: bool,
    /// Will the model think?
    thinks: bool,
    ids: CallIds,
    out: Vec<Value>,
    /// Pictures and documents of tool results, which only a user can show here.
    moved: Vec<Value>,
    /// Instructions for a model that has no system prompt.
    for_first_user: Option<String>,
    breakpoints: usize,
    dropped_hint: bool,
}

/// Does a block carry a hint for the cache, itself or inside a result?
fn has_hint(block: &Block) -> bool {
    let inside =
        block.as_tool_result().is_some_and(|result| result.content.iter().any(|block| block.cache().is_some()));
    inside || block.cache().is_some()
}

impl<'a> Writer<'a> {
    /// A request of this dialect, for the model that it was written for.
    pub(super) fn as_it_came(request: &'a Request, target: &'a Target<'a>, losses: &'a mut Vec<Loss>) -> Self {
        Writer::new(request, target, CallIds::default(), losses)
    }

    /// A request from elsewhere.
    pub(super) fn fitted(
        request: &'a Request,
        target: &'a Target<'a>,
        thinks: bool,
        losses: &'a mut Vec<Loss>,
    ) -> Self {
        let form = if target.quirks.chat.tool_ids_of_nine { Form::Nine } else { Form::Plain };
        let ids = CallIds::new(request, form);
        if ids.len() > 0 {
            let why = format!("{} ids are not of the form that this provider takes; others are sent", ids.len());
            losses.push(Loss::info("tool_call", "messages", why));
        }
        Writer { faithful: false, thinks, ..Writer::new(request, target, ids, losses) }
    }

    fn new(request: &'a Request, target: &'a Target<'a>, ids: CallIds, losses: &'a mut Vec<Loss>) -> Self {
        Writer {
            request,
            target,
            losses,
            faithful: true,
            thinks: false,
            ids,
            out: Vec::new(),
            moved: Vec::new(),
            for_first_user: None,
            breakpoints: 0,
            dropped_hint: false,
        }
    }

    /// All messages; `note` is said in the system prompt.
    pub(super) fn all(mut self, note: Option<&str>) -> Vec<Value> {
        self.system(note);
        let request = self.request;
        for (index, message) in request.messages.iter().enumerate() {
            if message.role != Role::Tool {
                self.flush_moved();
            }
            self.foreign_leftovers(index, message);
            match message.role {
                Role::User => self.user(index, message),
                Role::System => self.instructions(index, message),
                Role::Assistant => self.assistant(index, message),
                Role::Tool => self.results(index, message),
            }
        }
        self.flush_moved();
        if let Some(text) = self.for_first_user.take() {
            self.push_user(json!({"role": "user", "content": text}));
        }
        if self.dropped_hint {
            let why = "this API caches by itself and has no marks for it; the hints are left out";
            let in_system = request.system.iter().any(|block| block.cache().is_some());
            let in_messages = request.messages.iter().flat_map(|message| &message.content).any(has_hint);
            let places = [("system", in_system), ("messages", in_messages)];
            let hinted = places.into_iter().filter(|(_, hinted)| *hinted);
            self.losses.extend(hinted.map(|(place, _)| Loss::info("cache", place, why)));
        }
        self.out
    }

    /// The system prompt, in the messages that it came in, else as one.
    fn system(&mut self, note: Option<&str>) {
        if self.faithful && self.system_as_it_came() {
            return;
        }
        let request = self.request;
        let mut parts = Vec::new();
        for (index, block) in request.system.iter().enumerate() {
            parts.extend(self.text_part(block, &format!("system[{index}]")));
        }
        parts.extend(note.map(part::text_part));
        if parts.is_empty() {
            return;
        }
        let marked = parts.iter().any(is_marked_for_cache);
        let content = if marked { Value::Array(parts) } else { joined(&parts).into() };
        if !self.faithful && !self.target.rules.system_prompt {
            let why = "this model has no system prompt; it stands at the beginning of the first user message";
            self.losses.push(Loss::new("system", "system", why));
            self.for_first_user = content.as_str().map(str::to_owned);
            return;
        }
        let role = self.system_role();
        self.out.push(json!({"role": role, "content": content}));
    }

    fn system_role(&self) -> &'static str {
        match self.target.quirks.chat.system_role {
            SystemRole::System => "system",
            SystemRole::Developer => "developer",
        }
    }

    /// Cuts the system prompt as it was cut, if it still has as many blocks.
    fn system_as_it_came(&mut self) -> bool {
        let request = self.request;
        let shapes = request.provider_data.value(DIALECT, mark::SYSTEM).and_then(Value::as_array);
        let Some(shapes) = shapes.filter(|shapes| !shapes.is_empty()) else { return false };
        let count = |shape: &Value| shape.get("blocks").and_then(Value::as_u64).unwrap_or(0);
        let total: u64 = shapes.iter().map(count).fold(0, u64::saturating_add);
        if usize::try_from(total) != Ok(request.system.len()) {
            return false;
        }
        let mut start = 0;
        for shape in shapes {
            let end = start + usize::try_from(count(shape)).unwrap_or(0);
            let blocks = request.system.get(start..end).unwrap_or_default();
            let role = shape.get("role").and_then(Value::as_str).unwrap_or("system");
            let mut fields = Map::new();
            fields.insert("role".to_owned(), role.into());
            let kept = shape.as_object();
            self.put_content(&mut fields, blocks, kept, &|place| format!("system[{}]", start + place));
            put_back(&mut fields, shape.get(EXTRA).and_then(Value::as_object));
            self.out.push(Value::Object(fields));
            start = end;
        }
        true
    }

    fn user(&mut self, index: usize, message: &Message) {
        // Other dialects have results in user messages; here they come first.
        let results: Vec<(usize, &ToolResult)> = results_in(message);
        for (place, result) in &results {
            self.result(index, *place, result);
        }
        if !results.is_empty() {
            self.flush_moved();
        }
        let rest: Vec<(usize, &Block)> =
            message.content.iter().enumerate().filter(|(_, block)| block.as_tool_result().is_none()).collect();
        if rest.is_empty() && !results.is_empty() {
            return;
        }
        let mut fields = Map::new();
        fields.insert("role".to_owned(), "user".into());
        if results.is_empty() {
            let place = |place: usize| format!("messages[{index}].content[{place}]");
            self.put_content(&mut fields, &message.content, message.provider_data.get(DIALECT), &place);
        } else {
            let parts: Vec<Value> = rest
                .iter()
                .flat_map(|(place, block)| self.part(block, &format!("messages[{index}].content[{place}]")))
                .collect();
            fields.insert("content".to_owned(), shortest(parts));
        }
        if let Some(text) = self.for_first_user.take() {
            prepend(&mut fields, &text);
        }
        put_back(&mut fields, marks::extra(&message.provider_data, Side::Request));
        self.push_user(Value::Object(fields));
    }

    /// A user message; some refuse one directly after a tool's.
    fn push_user(&mut self, message: Value) {
        let after_tool = self.out.last().and_then(|last| last.get("role")).is_some_and(|role| role == "tool");
        if after_tool && !self.faithful && self.target.quirks.chat.no_user_after_tool {
            self.out.push(json!({"role": "assistant", "content": "I have the results."}));
            let why = "this provider refuses a user message after a tool's; a short assistant message stands between";
            self.losses.push(Loss::info("messages", "messages", why));
        }
        self.out.push(message);
    }

    /// Instructions in the middle of a conversation.
    fn instructions(&mut self, index: usize, message: &Message) {
        let own_role = message.provider_data.str(DIALECT, mark::ROLE);
        let role = if self.faithful {
            own_role.unwrap_or("system")
        } else if self.target.rules.system_messages {
            self.system_role()
        } else {
            let why = "this model takes no system messages in the middle; it is sent as the user's";
            self.losses.push(Loss::new("messages", format!("messages[{index}]"), why));
            "user"
        };
        let mut fields = Map::new();
        fields.insert("role".to_owned(), role.into());
        let place = |place: usize| format!("messages[{index}].content[{place}]");
        self.put_content(&mut fields, &message.content, message.provider_data.get(DIALECT), &place);
        put_back(&mut fields, marks::extra(&message.provider_data, Side::Request));
        self.out.push(Value::Object(fields));
    }

    /// `content` in the shape that it had, else as short as it can be.
    fn put_content(
        &mut self,
        fields: &mut Map<String, Value>,
        blocks: &[Block],
        kept: Option<&Map<String, Value>>,
        place: &dyn Fn(usize) -> String,
    ) {
        let shape = Shape::read(kept);
        let mut parts = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            parts.extend(self.part(block, &place(index)));
        }
        let content = match (shape, parts.is_empty()) {
            (Some(Shape::Parts), _) => Value::Array(parts),
            (Some(Shape::Null), true) => Value::Null,
            (Some(Shape::Absent), true) => return,
            _ => shortest(parts),
        };
        fields.insert("content".to_owned(), content);
    }

    fn results(&mut self, index: usize, message: &Message) {
        for (place, block) in message.content.iter().enumerate() {
            match block {
                Block::ToolResult(result) => self.result(index, place, result),
                Block::Text(_)
                | Block::Image(_)
                | Block::Document(_)
                | Block::Audio(_)
                | Block::ToolCall(_)
                | Block::Thinking(_)
                | Block::Other(_) => {
                    let moved = self.part(block, &format!("messages[{index}].content[{place}]"));
                    self.moved.extend(moved);
                }
            }
        }
    }

    /// One result is one message.
    fn result(&mut self, index: usize, place: usize, result: &ToolResult) {
        let at = format!("messages[{index}].content[{place}]");
        let data = &result.provider_data;
        let mut fields = Map::new();
        let role = data.str(DIALECT, mark::ROLE).filter(|_| self.faithful).unwrap_or("tool");
        fields.insert("role".to_owned(), role.into());
        if !(self.faithful && data.flag(DIALECT, mark::NO_ID)) {
            fields.insert("tool_call_id".to_owned(), self.ids.get(&result.tool_call_id).into());
        }
        if self.faithful && !result.is_error {
            let place = |inner: usize| format!("{at}.content[{inner}]");
            self.put_content(&mut fields, &result.content, data.get(DIALECT), &place);
        } else {
            let text = self.result_text(result, &at);
            fields.insert("content".to_owned(), text.into());
        }
        if result.cache.is_some() {
            self.dropped_hint = true;
        }
        put_back(&mut fields, marks::extra(data, Side::Request));
        self.out.push(Value::Object(fields));
    }

    /// A result's text. Pictures and documents move behind the results.
    fn result_text(&mut self, result: &ToolResult, at: &str) -> String {
        let mut texts = Vec::new();
        let mut moved = Vec::new();
        for (inner, block) in result.content.iter().enumerate() {
            let place = format!("{at}.content[{inner}]");
            if let Some(part) = self.part(block, &place) {
                match part.get("text").and_then(Value::as_str) {
                    Some(text) => texts.push(text.to_owned()),
                    None => {
                        let why = "a tool's message takes text alone; it moved into a user message behind the results";
                        self.losses.push(Loss::new(block.kind().as_str(), place.clone(), why));
                        moved.push(part);
                    }
                }
            }
        }
        if texts.is_empty() && !moved.is_empty() {
            texts.push("(see attached image)".to_owned());
        }
        self.moved.extend(moved);
        let mut text = texts.join(GAP);
        if result.is_error {
            let says_so = text.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("error"));
            if !says_so {
                text.insert_str(0, "Error: ");
            }
            let why = "this API has no mark for a failed tool; the text says so";
            self.losses.push(Loss::new("is_error", format!("{at}.is_error"), why));
        }
        text
    }

    fn flush_moved(&mut self) {
        if !self.moved.is_empty() {
            let parts = std::mem::take(&mut self.moved);
            self.push_user(json!({"role": "user", "content": parts}));
        }
    }

    /// Who issued the state of this message?
    fn issuer(&self, message: &Message) -> Issuer {
        match message.provider.as_deref() {
            Some(provider) if provider != self.target.provider => return Issuer::Another,
            Some(_) | None => {}
        }
        let asked = self.request.model.as_str();
        let readable = message.model.as_deref().is_none_or(|model| match self.target.rules.bound_state {
            StateScope::Provider => true,
            StateScope::Family => rules_for(model).family == self.target.rules.family,
            // Relays answer with another spelling of the same model, which the same row of rules knows.
            StateScope::Model => {
                without_date(model) == without_date(asked) || std::ptr::eq(rules_for(model), rules_for(asked))
            }
        });
        match &message.provider {
            _ if !readable => Issuer::Another,
            Some(_) => Issuer::Target,
            None => Issuer::Unknown,
        }
    }

    /// What other dialects keep on a message has no meaning here.
    fn foreign_leftovers(&mut self, index: usize, message: &Message) {
        for (name, own) in message.provider_data.iter().filter(|(name, _)| *name != DIALECT.as_str()) {
            if let Some(extra) = own.get(EXTRA).and_then(Value::as_object).filter(|extra| !extra.is_empty()) {
                let keys: Vec<&str> = extra.keys().map(String::as_str).collect();
                let why = format!("only {name} knows {}; left out", keys.join(", "));
                self.losses.push(Loss::new("provider_data", format!("messages[{index}]"), why));
            }
        }
    }
}

fn results_in(message: &Message) -> Vec<(usize, &ToolResult)> {
    message.content.iter().enumerate().filter_map(|(place, block)| Some((place, block.as_tool_result()?))).collect()
}

/// Parts as they are, or the text alone where there is nothing else to say.
fn shortest(mut parts: Vec<Value>) -> Value {
    match parts.as_mut_slice() {
        [] => "".into(),
        [Value::Object(only)]
            if only.len() == 2
                && only.get("type").is_some_and(|kind| kind == "text")
                && only.get("text").is_some_and(Value::is_string) =>
        {
            only.shift_remove("text").unwrap_or_default()
        }
        _ => Value::Array(parts),
    }
}

/// The texts of parts, with a gap between.
fn joined(parts: &[Value]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    texts.join(GAP)
}

fn is_marked_for_cache(part: &Value) -> bool {
    part.get("cache_control").is_some() || part.get("prompt_cache_breakpoint").is_some()
}

/// Puts instructions before what a user message says.
fn prepend(fields: &mut Map<String, Value>, text: &str) {
    let content = match fields.shift_remove("content") {
        Some(Value::String(said)) => format!("{text}{GAP}{said}").into(),
        Some(Value::Array(mut parts)) => {
            parts.insert(0, part::text_part(text));
            Value::Array(parts)
        }
        _ => text.into(),
    };
    fields.insert("content".to_owned(), content);
}

/// A model's id without the date at its end: `-20250929` or `-2025-09-29`.
fn without_date(model: &str) -> &str {
    let is_date = |tail: &str| {
        let digits = tail.bytes().filter(u8::is_ascii_digit).count();
        digits == 8 && tail.bytes().all(|c| c.is_ascii_digit() || c == b'-')
    };
    for length in [9, 11] {
        if let Some((head, tail)) = model.len().checked_sub(length).and_then(|at| model.split_at_checked(at))
            && tail.starts_with('-')
            && is_date(tail)
        {
            return head;
        }
    }
    model
}
