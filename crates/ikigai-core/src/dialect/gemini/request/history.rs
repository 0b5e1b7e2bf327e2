//! The conversation: messages to contents.
//!
//! The rules of the API: two roles; all results to one turn of the model in one content, in the order of its calls and
//! without anything else; no empty contents; a signature on the first call of every step of the current turn where the
//! model asks for that.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::part::{self, GENERATED, SIGNATURE};
use super::super::{fields, response, result, state};
use super::decode::{PARTS, ROLE, refuse, role, usual_role};
use crate::{
    Block, Dialect, Error, Loss, Message, Other, ProviderData, Request, Role, Source, StateScope, Target, ToolCall,
    ToolResult, rules_for,
};

/// Writes the contents.
pub(super) fn encode(
    request: &Request,
    target: &Target<'_>,
    faithful: bool,
    losses: &mut Vec<Loss>,
) -> Result<Vec<Value>, Error> {
    let mut writer = Writer { target, model: &request.model, faithful, losses, calls: HashMap::new() };
    if faithful {
        return request.messages.iter().enumerate().map(|(index, message)| writer.content(index, message)).collect();
    }
    let mut turns = writer.turns(request)?;
    if target.rules.signatures_required {
        writer.sign_current_turn(&mut turns);
    }
    Ok(turns.into_iter().map(Turn::content).collect())
}

struct Writer<'a> {
    target: &'a Target<'a>,
    model: &'a str,
    faithful: bool,
    losses: &'a mut Vec<Loss>,
    /// The calls so far, by id.
    calls: HashMap<&'a str, Called<'a>>,
}

#[derive(Clone, Copy)]
struct Called<'a> {
    name: &'a str,
    /// Its id is on the wire.
    named: bool,
    /// Its place among all calls.
    order: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Model,
    User,
    Results,
}

/// A content in the making.
struct Turn {
    kind: Kind,
    /// The first message in it.
    message: usize,
    parts: Vec<Answer>,
}

impl Turn {
    fn content(mut self) -> Value {
        let role = if self.kind == Kind::Model { "model" } else { "user" };
        self.parts.sort_by_key(|(order, _)| *order);
        content_of(Some(role.into()), self.parts.into_iter().map(|(_, part)| Value::Object(part)).collect())
    }
}

fn content_of(role: Option<Value>, parts: Vec<Value>) -> Value {
    let mut content = Map::new();
    if let Some(role) = role {
        content.insert("role".to_owned(), role);
    }
    content.insert("parts".to_owned(), parts.into());
    Value::Object(content)
}

/// A part, with the order of the call that it answers where it answers one.
type Answer = (usize, Map<String, Value>);

impl<'a> Writer<'a> {
    /// One content for one message, as a client of this dialect wrote it.
    fn content(&mut self, index: usize, message: &'a Message) -> Result<Value, Error> {
        let mut parts = Vec::with_capacity(message.content.len());
        for (place, block) in message.content.iter().enumerate() {
            let place = format!("messages[{index}].content[{place}]");
            match block {
                Block::ToolResult(result) => {
                    let (_, part) = self.result(result, &place, &mut Vec::new())?;
                    parts.push(Value::Object(part));
                }
                block => parts.extend(self.parts(block, message, &place).into_iter().map(Value::Object)),
            }
        }
        self.message_losses(index, message);
        let data = &message.provider_data;
        let written = data.value(Dialect::Gemini, ROLE);
        let role = match written {
            Some(written) if role(written.as_str(), &message.content) == Some(message.role) => {
                Some(written.clone()).filter(|written| !written.is_null())
            }
            _ => Some(usual_role(message.role).into()),
        };
        let mut content = match (data.str(Dialect::Gemini, PARTS), parts.len()) {
            (Some("flat"), 1) => match parts.pop() {
                Some(Value::Object(mut content)) => {
                    content.extend(role.map(|role| ("role".to_owned(), role)));
                    content
                }
                _ => Map::new(),
            },
            (Some("one"), 1) => {
                let mut content: Map<String, Value> = role.map(|role| ("role".to_owned(), role)).into_iter().collect();
                content.extend(parts.pop().map(|part| ("parts".to_owned(), part)));
                content
            }
            (Some("absent"), 0) => role.map(|role| ("role".to_owned(), role)).into_iter().collect(),
            _ => match content_of(role, parts) {
                Value::Object(content) => content,
                _ => Map::new(),
            },
        };
        part::dress(&mut content, data, true);
        Ok(Value::Object(content))
    }

    /// The contents for a conversation from anywhere.
    fn turns(&mut self, request: &'a Request) -> Result<Vec<Turn>, Error> {
        let mut turns: Vec<Turn> = Vec::new();
        // What came out of results and follows them, once all results to a turn are there.
        let mut moved = Vec::new();
        for (index, message) in request.messages.iter().enumerate() {
            self.message_losses(index, message);
            let (mut answers, mut parts): (Vec<Answer>, Vec<Answer>) = Default::default();
            for (place, block) in message.content.iter().enumerate() {
                let place = format!("messages[{index}].content[{place}]");
                match block {
                    Block::ToolResult(result) => answers.push(self.result(result, &place, &mut moved)?),
                    block => parts.extend(self.parts(block, message, &place).into_iter().map(|part| (0, part))),
                }
            }
            let kind = match message.role {
                Role::Assistant => Kind::Model,
                Role::User | Role::Tool => Kind::User,
                Role::System => {
                    let why = "the API has no system messages inside a conversation; it was sent as the user's";
                    self.losses.push(Loss::uncoded("system", format!("messages[{index}]"), why));
                    Kind::User
                }
            };
            add(&mut turns, Kind::Results, index, answers);
            if !parts.is_empty() {
                add(&mut turns, Kind::User, index, moved.drain(..).map(|part| (0, part)).collect());
            }
            add(&mut turns, kind, index, parts);
        }
        add(&mut turns, Kind::User, request.messages.len(), moved.into_iter().map(|part| (0, part)).collect());
        Ok(turns)
    }

    fn message_losses(&mut self, index: usize, message: &Message) {
        let place = format!("messages[{index}]");
        foreign_leftovers(&message.provider_data, &place, self.losses);
        let own = fields::extra(&message.provider_data).into_iter().flatten().find(|(_, value)| !value.is_null());
        if let Some((name, _)) = own.filter(|_| !self.faithful) {
            let why = format!("the content was written anew for this model, without its field {name}");
            self.losses.push(Loss::uncoded("provider_data", place, why));
        }
    }

    /// The parts of a block that is no result.
    fn parts(&mut self, block: &'a Block, message: &Message, place: &str) -> Vec<Map<String, Value>> {
        let mut parts = match block {
            Block::Text(text) => response::texts(&text.text, false, &text.provider_data),
            Block::Thinking(thinking) => response::texts(&thinking.text, true, &thinking.provider_data),
            Block::Image(image) => self.media(&image.source, None, &image.provider_data, "image", place),
            Block::Audio(audio) => self.media(&audio.source, None, &audio.provider_data, "audio", place),
            Block::Document(document) => {
                self.media(&document.source, document.name.as_deref(), &document.provider_data, "document", place)
            }
            Block::ToolCall(call) => vec![self.call(call, place)],
            // Results go their own way.
            Block::ToolResult(_) => Vec::new(),
            Block::Other(other) => return self.other(other, message, place),
        };
        let Some(data) = block.provider_data() else { return parts };
        let signature = self.signature(data, message, block, place);
        if self.is_left_out(block, signature.is_some(), place) {
            return Vec::new();
        }
        let Some(last) = parts.last_mut() else { return parts };
        if let Some(signature) = signature {
            part::sign(last, &signature);
        }
        part::dress(last, data, self.faithful);
        parts
    }

    /// Empty text says nothing, and thoughts are of no use to the API, unless they are signed.
    fn is_left_out(&mut self, block: &Block, signed: bool, place: &str) -> bool {
        if self.faithful || signed {
            return false;
        }
        match block {
            Block::Text(text) => text.text.is_empty(),
            Block::Thinking(thinking) => {
                let told = self.losses.last().is_some_and(|loss| loss.place == place);
                if !thinking.text.is_empty() && !told {
                    let why = "the API takes no notice of thoughts that come back without a signature; left out";
                    self.losses.push(Loss::uncoded_info("thinking", place, why));
                }
                true
            }
            _ => false,
        }
    }

    /// The signature that goes with a block. What belongs to somebody else stays behind, and is told once.
    fn signature(&mut self, data: &ProviderData, message: &Message, block: &Block, place: &str) -> Option<String> {
        let own = data.str(Dialect::Gemini, SIGNATURE);
        if own.is_some() && !self.owns(message) {
            let why = "the thought signature belongs to another provider or model and was left off";
            self.losses.push(Loss::uncoded("thinking", place, why));
            return None;
        }
        match block {
            Block::Thinking(_) => {
                if let Some((dialect, _)) = data.iter().find(|(name, _)| *name != Dialect::Gemini.as_str()) {
                    let why = format!("thinking state of another provider ({dialect}) was left off");
                    self.losses.push(Loss::uncoded("thinking", place, why));
                }
            }
            _ => {
                foreign_leftovers(data, place, self.losses);
                if let Some(dialect) = foreign_state(data) {
                    let why = format!("thinking state of another provider ({dialect}) was left off");
                    self.losses.push(Loss::uncoded("thinking", place, why));
                }
            }
        }
        let dummy = || data.str(Dialect::Gemini, state::DUMMY_KEPT).filter(|_| self.faithful);
        own.or_else(dummy).map(str::to_owned)
    }

    /// May the message's sealed state go to this provider and model?
    fn owns(&self, message: &Message) -> bool {
        if message.provider.as_deref().is_some_and(|provider| provider != self.target.provider) {
            return false;
        }
        let Some(model) = message.model.as_deref() else { return true };
        match self.target.rules.bound_state {
            StateScope::Provider => true,
            StateScope::Family => rules_for(model).family == self.target.rules.family,
            StateScope::Model => without_date(self.model) == without_date(model),
        }
    }

    fn call(&mut self, call: &'a ToolCall, place: &str) -> Map<String, Value> {
        if !call.is_complete() {
            let why = "the arguments are no JSON object (the call was cut off); none were sent";
            self.losses.push(Loss::uncoded("arguments", place, why));
        }
        let generated = call.provider_data.flag(Dialect::Gemini, GENERATED);
        let named = !call.id.is_empty() && !generated && self.takes_ids();
        let order = self.calls.len();
        self.calls.insert(&call.id, Called { name: &call.name, named, order });
        part::call(call, named.then_some(call.id.as_str()))
    }

    fn takes_ids(&self) -> bool {
        self.faithful || (self.target.rules.call_ids && !self.target.quirks.gemini.no_call_ids)
    }

    /// A result as a part. Pictures and documents go inside where the model takes that, else into `moved`.
    fn result(
        &mut self,
        result: &'a ToolResult,
        place: &str,
        moved: &mut Vec<Map<String, Value>>,
    ) -> Result<Answer, Error> {
        let called = self.calls.get(result.tool_call_id.as_str()).copied();
        let data = &result.provider_data;
        let kept = data.str(Dialect::Gemini, result::NAME);
        let found = called.map(|called| called.name);
        let name = if self.faithful { kept.or(found) } else { found.or(kept) };
        let Some(name) = name else {
            let id = &result.tool_call_id;
            let fault =
                format!("no call with the id `{id}` stands before this result, and the API wants the tool's name");
            return Err(refuse(place, &fault));
        };
        let generated = data.flag(Dialect::Gemini, GENERATED);
        let named = match called {
            // In the client's own writing each of the two says for itself.
            Some(called) if !self.faithful => called.named,
            _ => !generated && self.takes_ids(),
        };
        let mut media = Vec::new();
        let mut texts = 0;
        for (index, block) in result.content.iter().enumerate() {
            let place = format!("{place}.content[{index}]");
            let parts = match block {
                Block::Text(_) => {
                    texts += 1;
                    continue;
                }
                Block::Image(image) => self.media(&image.source, None, &image.provider_data, "image", &place),
                Block::Audio(audio) => self.media(&audio.source, None, &audio.provider_data, "audio", &place),
                Block::Document(document) => {
                    self.media(&document.source, document.name.as_deref(), &document.provider_data, "document", &place)
                }
                Block::Other(Other { dialect: Dialect::Gemini, data }) => {
                    data.value().as_object().cloned().into_iter().collect()
                }
                Block::Other(_) | Block::ToolCall(_) | Block::ToolResult(_) | Block::Thinking(_) => {
                    self.losses.push(Loss::uncoded("tool_result", place, "a result cannot hold this; it was left out"));
                    continue;
                }
            };
            for mut part in parts {
                if let Some(data) = block.provider_data() {
                    part::dress(&mut part, data, self.faithful);
                }
                if self.faithful || (self.target.rules.media_in_results && fits_in_result(&part)) {
                    media.push(Value::Object(part));
                } else {
                    let why = "this model does not take it inside a result; it follows the results as the user's";
                    self.losses.push(Loss::uncoded("tool_result", place.clone(), why));
                    moved.push(part);
                }
            }
        }
        if texts > 1 {
            let why = "the API has one value for a result; its texts were joined by blank lines";
            self.losses.push(Loss::uncoded_info("tool_result", place, why));
        }
        let id = Some(result.tool_call_id.as_str()).filter(|id| named && !id.is_empty());
        let mut part = result::encode(result, Some(name), id, media);
        foreign_leftovers(data, place, self.losses);
        if let Some(signature) = data.str(Dialect::Gemini, SIGNATURE) {
            part::sign(&mut part, signature);
        }
        part::dress(&mut part, data, self.faithful);
        Ok((called.map_or(usize::MAX, |called| called.order), part))
    }

    fn media(
        &mut self,
        source: &Source,
        name: Option<&str>,
        data: &ProviderData,
        what: &str,
        place: &str,
    ) -> Vec<Map<String, Value>> {
        if name.is_some() && !self.faithful {
            let why = "the API takes no names of documents; it went without";
            self.losses.push(Loss::uncoded("name", place, why));
        }
        match part::media(source, name.filter(|_| self.faithful), data, !self.faithful) {
            Ok(part) => vec![part],
            Err(why) => {
                self.losses.push(Loss::uncoded(what, place, format!("{why}; it was left out")));
                Vec::new()
            }
        }
    }

    fn other(&mut self, other: &Other, message: &Message, place: &str) -> Vec<Map<String, Value>> {
        if other.dialect != Dialect::Gemini {
            let why = format!("it is a block of {} alone and was left out", other.dialect);
            self.losses.push(Loss::uncoded("other", place, why));
            return Vec::new();
        }
        let mut data = other.data.value().clone();
        if !self.owns(message) && state::strip(&mut data) {
            let why = "the thought signature belongs to another provider or model and was left off";
            self.losses.push(Loss::uncoded("thinking", place, why));
        }
        match data {
            Value::Object(part) => vec![part],
            _ => Vec::new(),
        }
    }

    /// Puts the documented dummy on the first call of each step of the current turn that has no signature. The turn
    /// began with the last thing that the user said.
    fn sign_current_turn(&mut self, turns: &mut [Turn]) {
        let start = turns.iter().rposition(|turn| turn.kind == Kind::User).map_or(0, |place| place + 1);
        for turn in turns.iter_mut().skip(start).filter(|turn| turn.kind == Kind::Model) {
            let mut parts = turn.parts.iter_mut().map(|(_, part)| part);
            let first = parts.find(|part| part.contains_key("functionCall"));
            if let Some(first) = first.filter(|part| !part.contains_key("thoughtSignature")) {
                part::sign(first, state::DUMMY);
                let why = "the model wants a thought signature here; the documented dummy was sent in its place";
                self.losses.push(Loss::uncoded_info("thinking", format!("messages[{}]", turn.message), why));
            }
        }
    }
}

/// Does the API take media of this type inside a result? Where the type is not known it is worth a try.
fn fits_in_result(part: &Map<String, Value>) -> bool {
    let mime = part.values().find_map(|data| data.get("mimeType")?.as_str());
    mime.is_none_or(|mime| ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"].contains(&mime))
}

/// Adds parts to the conversation. The model's messages in a row are one turn, and so are results.
fn add(turns: &mut Vec<Turn>, kind: Kind, message: usize, parts: Vec<Answer>) {
    if parts.is_empty() {
        return;
    }
    match turns.last_mut() {
        Some(last) if last.kind == kind && kind != Kind::User => last.parts.extend(parts),
        _ => turns.push(Turn { kind, message, parts }),
    }
}

/// Tells which left-over fields of other dialects stay behind.
pub(super) fn foreign_leftovers(data: &ProviderData, place: &str, losses: &mut Vec<Loss>) {
    for (dialect, own) in data.iter().filter(|(name, _)| *name != Dialect::Gemini.as_str()) {
        let extra = own.get("extra").and_then(Value::as_object);
        let names: Vec<&str> =
            extra.into_iter().flatten().filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            let why = format!("{} of {dialect} has no place here and was left out", names.join(", "));
            losses.push(Loss::uncoded("provider_data", place, why));
        }
    }
}

/// The dialect that left sealed state here; it is told by its name.
fn foreign_state(data: &ProviderData) -> Option<&str> {
    let is_state = |name: &String| {
        name.ends_with("signature")
            || name.starts_with("encrypted")
            || name.starts_with("redacted")
            || name == "reasoning_details"
    };
    let mut foreign = data.iter().filter(|(name, _)| *name != Dialect::Gemini.as_str());
    foreign.find(|(_, own)| own.keys().any(is_state)).map(|(name, _)| name)
}

/// A model's name without the date at its end: `-20250929`, `-2025-09-29`, `-09-2025`, `-05-06`.
fn without_date(model: &str) -> &str {
    let end = model.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let tail = model.get(end.len()..).unwrap_or_default();
    // A version is short; a date has at least a month and a day.
    if tail.starts_with('-') && tail.len() >= 6 { end } else { model }
}
