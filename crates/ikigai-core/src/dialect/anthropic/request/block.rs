//! Blocks of a request on their way to the wire.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::catalog::rules_for;
use crate::{
    Block, Document, Image, Message, Other, Role, Source, StateScope, Text, ThinkingBlock, ToolCall, ToolResult,
};

use super::super::DIALECT;
use super::super::block::{self, has_foreign_state};
use super::super::names::same_model;
use super::super::place::Place;
use super::encode::Writer;
use super::messages::short;

type Fields = Map<String, Value>;

/// Who a block comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    role: Role,
    /// The same provider issued it, or nobody says who did.
    same_provider: bool,
    /// And the model can read it.
    readable: bool,
    /// The provider is known to be the same.
    surely_same: bool,
}

impl Origin {
    /// The caller's own system prompt.
    pub(super) fn system() -> Self {
        Origin { role: Role::System, same_provider: true, readable: true, surely_same: false }
    }

    pub(super) fn message(message: &Message, writer: &Writer<'_>) -> Self {
        let same_provider = message.provider.as_deref().is_none_or(|provider| provider == writer.target.provider);
        let same_model = match (writer.target.rules.bound_state, &message.model) {
            (StateScope::Provider, _) | (_, None) => true,
            (StateScope::Model, Some(model)) => same_model(model, &writer.request.model),
            (StateScope::Family, Some(model)) => {
                same_model(model, &writer.request.model) || rules_for(model).family == writer.target.rules.family
            }
        };
        let surely_same = message.provider.as_deref() == Some(writer.target.provider);
        Origin { role: message.role, same_provider, readable: same_provider && same_model, surely_same }
    }
}

impl Writer<'_> {
    /// One block; none when it has no form on this wire, which is then among the losses.
    pub(super) fn block(
        &mut self,
        content: &Block,
        from: &Origin,
        place: Place,
        lost_thinking: &mut bool,
    ) -> Option<Fields> {
        if let Some(data) = content.provider_data() {
            self.note_foreign_fields(data, place);
        }
        match content {
            Block::Text(text) => self.text(text, from, place),
            Block::Image(image) => self.image(image, from, place),
            Block::Document(document) => self.document(document, from, place),
            Block::Audio(_) => {
                self.lose("audio", place, "this API takes no sound; it is left out");
                None
            }
            Block::Thinking(thinking) => {
                let wire = self.thinking_block(thinking, from, place);
                *lost_thinking |= wire.is_none();
                wire
            }
            Block::ToolCall(call) => Some(self.call(call, from, place)),
            Block::ToolResult(result) => Some(self.result(result, from, place, lost_thinking)),
            Block::Other(other) => self.other(other, from, place),
        }
    }

    /// What this dialect left on a block, unless another provider of the same dialect did.
    fn own_of<'b>(&mut self, content: &'b crate::ProviderData, from: &Origin, place: Place) -> Option<&'b Fields> {
        if has_foreign_state(content) {
            self.lose("thinking state", place, "state of another provider stays behind");
        }
        let own = content.get(DIALECT)?;
        if from.same_provider {
            return Some(own);
        }
        let says_something =
            own.get("citations").is_some_and(|citations| !citations.is_null()) || own.contains_key("extra");
        if says_something {
            self.lose("provider_data", place, "what another provider left here stays behind");
        }
        None
    }

    fn text(&mut self, text: &Text, from: &Origin, place: Place) -> Option<Fields> {
        if !self.faithful && text.text.trim().is_empty() && !matches!(place, Place::Inner(..)) {
            self.note("text", place, "this API refuses texts of nothing but blanks; it is left out");
            return None;
        }
        let own = self.own_of(&text.provider_data, from, place);
        let cache = self.hints.at(place, text.cache.as_ref());
        Some(block::text(&text.text, cache, own))
    }

    fn image(&mut self, image: &Image, from: &Origin, place: Place) -> Option<Fields> {
        let own = self.own_of(&image.provider_data, from, place);
        let source = self.source("image", &image.source, own, from, place)?;
        let cache = self.hints.at(place, image.cache.as_ref());
        Some(media("image", source, None, cache, own))
    }

    fn document(&mut self, document: &Document, from: &Origin, place: Place) -> Option<Fields> {
        let own = self.own_of(&document.provider_data, from, place);
        let source = self.source("document", &document.source, own, from, place)?;
        let cache = self.hints.at(place, document.cache.as_ref());
        Some(media("document", source, document.name.as_deref(), cache, own))
    }

    /// A source in a form that the API takes.
    fn source(
        &mut self,
        kind: &str,
        source: &Source,
        own: Option<&Fields>,
        from: &Origin,
        place: Place,
    ) -> Option<Value> {
        if self.faithful {
            return Some(block::source(source, own));
        }
        if matches!(from.role, Role::Assistant | Role::System) {
            self.lose(kind, place, format!("on this API only the user and tools send {kind} blocks; it is left out"));
            return None;
        }
        let fitted = if kind == "image" { picture(source) } else { paper(source) };
        match fitted {
            Ok(fitted) => {
                let told = |source: &Source| source.media_type().map(str::to_owned);
                match source {
                    Source::Text { .. } if told(&fitted) != told(source) => {
                        self.note("media_type", place, "this API takes texts as text/plain");
                    }
                    Source::Url { media_type: Some(_), .. } | Source::File { media_type: Some(_), .. }
                        if told(&fitted) == told(source) =>
                    {
                        self.note("media_type", place, "this API finds out the media type itself");
                    }
                    _ => {}
                }
                Some(block::source(&fitted, own))
            }
            Err(why) => {
                self.lose(kind, place, format!("{why}; it is left out"));
                None
            }
        }
    }

    fn thinking_block(&mut self, thinking: &ThinkingBlock, from: &Origin, place: Place) -> Option<Fields> {
        let data = &thinking.provider_data;
        let own = data.get(DIALECT);
        let signature = data.str(DIALECT, "signature").filter(|signature| self.faithful || !signature.is_empty());
        let redacted = data.value(DIALECT, "redacted_data");
        if from.role != Role::Assistant && !self.faithful {
            self.lose("thinking", place, "only the assistant thinks on this API; it is left out");
            return None;
        }
        if !from.readable && (signature.is_some() || redacted.is_some()) {
            self.lose(
                "thinking",
                place,
                "thinking state of another provider or model stays behind; the block is left out",
            );
            return None;
        }
        if let Some(redacted) = redacted {
            return Some(block::redacted(redacted, own));
        }
        // What came unsigned goes back unsigned to the one who sent it so.
        let back = self.faithful && from.same_provider || from.surely_same && from.readable;
        let unsigned = data.flag(DIALECT, "unsigned") && back;
        if signature.is_some() || unsigned {
            return Some(block::thinking(&thinking.text, signature, own));
        }
        let why = match has_foreign_state(data) || !from.same_provider {
            true => "thinking state of another provider stays behind; the block is left out",
            false => "this API takes thinking only with its signature; the block is left out",
        };
        self.lose("thinking", place, why);
        None
    }

    fn call(&mut self, call: &ToolCall, from: &Origin, place: Place) -> Fields {
        let own = self.own_of(&call.provider_data, from, place);
        let name = self.tool_name(&call.name, place);
        if !self.faithful && !call.is_complete() {
            self.lose("arguments", place, "the call was cut off; it is sent with no arguments");
        }
        let id = match self.faithful {
            true => Cow::Borrowed(call.id.as_str()),
            // An id stands for one call in the whole conversation.
            false if self.called.contains(self.ids.word(&call.id).as_ref()) => Cow::Owned(self.ids.rename(&call.id)),
            false => self.ids.word(&call.id),
        };
        if id != call.id {
            self.note("id", place, format!("sent as `{id}`, in the call and in its result"));
        }
        self.called.insert(id.clone().into_owned());
        let cache = self.hints.at(place, call.cache.as_ref());
        block::tool_use(call, &id, &name, cache, own)
    }

    fn result(&mut self, result: &ToolResult, from: &Origin, place: Place, lost_thinking: &mut bool) -> Fields {
        let own = self.own_of(&result.provider_data, from, place);
        let mut content = Vec::with_capacity(result.content.len());
        for (index, inner) in result.content.iter().enumerate() {
            content.extend(self.inner(inner, from, place.inner(index), lost_thinking));
        }
        if !self.faithful && content.len() > 1 {
            let before = content.len();
            content.retain(|fields: &Fields| fields.get("text").is_none_or(|text| !is_blank(text)));
            if content.len() < before {
                self.note("text", place, "this API refuses texts of nothing but blanks; they are left out");
            }
        }
        let mut fields = Map::new();
        fields.insert("type".to_owned(), "tool_result".into());
        let id = if self.faithful {
            Cow::Borrowed(result.tool_call_id.as_str())
        } else {
            self.ids.word(&result.tool_call_id)
        };
        fields.insert("tool_use_id".to_owned(), id.into_owned().into());
        let as_blocks = own.is_some_and(|own| own.contains_key("blocks"));
        if as_blocks || !content.is_empty() {
            fields.insert("content".to_owned(), short(content, as_blocks));
        }
        if result.is_error {
            fields.insert("is_error".to_owned(), true.into());
        }
        if let Some(cache) = self.hints.at(place, result.cache.as_ref()) {
            fields.insert("cache_control".to_owned(), cache);
        }
        block::put_back(&mut fields, own);
        fields
    }

    /// A block inside a tool's result: text, pictures and documents.
    fn inner(&mut self, content: &Block, from: &Origin, place: Place, lost_thinking: &mut bool) -> Option<Fields> {
        let what = match content {
            Block::Text(_) | Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::Other(_) => {
                // A tool's pictures are a tool's, whoever's message they stand in.
                let from = Origin { role: Role::Tool, ..*from };
                return self.block(content, &from, place, lost_thinking);
            }
            Block::ToolCall(_) | Block::ToolResult(_) | Block::Thinking(_) if self.faithful => {
                return self.block(content, from, place, lost_thinking);
            }
            Block::ToolCall(_) => "tool_call",
            Block::ToolResult(_) => "tool_result",
            Block::Thinking(_) => "thinking",
        };
        self.lose(what, place, "tool results hold text, pictures and documents; it is left out");
        None
    }

    fn other(&mut self, other: &Other, from: &Origin, place: Place) -> Option<Fields> {
        let why = match (&other.data, other.dialect == DIALECT) {
            (Value::Object(fields), true) if from.same_provider => return Some(fields.clone()),
            (Value::Object(_), true) => "a block of another provider stays behind".to_owned(),
            (_, true) => "it is no object, and is left out".to_owned(),
            (_, false) => format!("a block of {} has no meaning here; it is left out", other.dialect),
        };
        self.lose("other", place, why);
        None
    }
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_some_and(|text| text.trim().is_empty())
}

fn media(kind: &str, source: Value, title: Option<&str>, cache: Option<Value>, own: Option<&Fields>) -> Fields {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), kind.into());
    fields.insert("source".to_owned(), source);
    if let Some(title) = title {
        fields.insert("title".to_owned(), title.into());
    }
    if let Some(cache) = cache {
        fields.insert("cache_control".to_owned(), cache);
    }
    block::put_back(&mut fields, own);
    fields
}

/// A picture that the API takes, or why it does not.
fn picture(source: &Source) -> Result<Cow<'_, Source>, String> {
    match source {
        Source::Base64 { media_type, data } => {
            let wire_type = match media_type.as_str() {
                "image/jpg" => "image/jpeg",
                "image/jpeg" | "image/png" | "image/gif" | "image/webp" => media_type,
                other => return Err(format!("this API takes JPEG, PNG, GIF and WebP pictures, not {other}")),
            };
            let plain = plain_base64(data);
            if wire_type == media_type && matches!(plain, Cow::Borrowed(_)) {
                return Ok(Cow::Borrowed(source));
            }
            Ok(Cow::Owned(Source::Base64 { media_type: wire_type.to_owned(), data: plain.into_owned() }))
        }
        Source::Url { url, .. } => match data_url(url) {
            Some(inline) => picture(&inline).map(|fitted| Cow::Owned(fitted.into_owned())),
            None => Ok(Cow::Borrowed(source)),
        },
        Source::File { .. } => Ok(Cow::Borrowed(source)),
        Source::Text { media_type, .. } => {
            Err(format!("a text of type {media_type} is no picture that this API takes"))
        }
    }
}

/// A document that the API takes, or why it does not.
fn paper(source: &Source) -> Result<Cow<'_, Source>, String> {
    match source {
        Source::Base64 { media_type, data } if media_type == "application/pdf" => match plain_base64(data) {
            Cow::Borrowed(_) => Ok(Cow::Borrowed(source)),
            Cow::Owned(data) => Ok(Cow::Owned(Source::Base64 { media_type: media_type.clone(), data })),
        },
        Source::Base64 { media_type, data } => {
            let bytes = STANDARD.decode(plain_base64(data).as_bytes()).ok();
            match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(text) => Ok(Cow::Owned(Source::Text { media_type: "text/plain".to_owned(), text })),
                None => Err(format!("this API takes documents as PDF or text, not {media_type}")),
            }
        }
        Source::Text { media_type, .. } if media_type == "text/plain" => Ok(Cow::Borrowed(source)),
        Source::Text { text, .. } => {
            Ok(Cow::Owned(Source::Text { media_type: "text/plain".to_owned(), text: text.clone() }))
        }
        Source::Url { url, .. } => match data_url(url) {
            Some(inline) => paper(&inline).map(|fitted| Cow::Owned(fitted.into_owned())),
            None => Ok(Cow::Borrowed(source)),
        },
        Source::File { .. } => Ok(Cow::Borrowed(source)),
    }
}

/// The bytes inside a `data:` URL.
fn data_url(url: &str) -> Option<Source> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?;
    let media_type = media_type.split(';').next().unwrap_or(media_type);
    Some(Source::Base64 { media_type: media_type.to_owned(), data: data.to_owned() })
}

/// Standard base64 without line breaks, whichever alphabet it came in.
fn plain_base64(data: &str) -> Cow<'_, str> {
    let is_odd = |byte: u8| matches!(byte, b'-' | b'_') || byte.is_ascii_whitespace();
    if !data.bytes().any(is_odd) {
        return Cow::Borrowed(data);
    }
    let plain = data.chars().filter(|c| !c.is_ascii_whitespace()).map(|c| match c {
        '-' => '+',
        '_' => '/',
        other => other,
    });
    Cow::Owned(plain.collect())
}
