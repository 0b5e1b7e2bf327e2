//! Single blocks of a message as parts, and what becomes of those that have none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::super::fit::cache_control;
use super::Writer;
use crate::dialect::openai_chat::marks::{DIALECT, Side};
use crate::dialect::openai_chat::part;
use crate::{Block, BlockKind, Document, Loss, Source};

/// Breakpoints in one request.
const MOST_BREAKPOINTS: usize = 4;

impl Writer<'_> {
    /// The part for a block, if any.
    pub(super) fn part(&mut self, block: &Block, place: &str) -> Option<Value> {
        self.foreign_state(block, place);
        if let Block::Document(document) = block
            && !self.faithful
        {
            return self.document(document, block, place);
        }
        let why = match block {
            Block::Text(_) => None,
            Block::Image(image) => match &image.source {
                Source::Base64 { .. } | Source::Url { .. } => None,
                Source::File { .. } => Some("this API takes no files as pictures; it is left out"),
                Source::Text { .. } => Some("a picture cannot be text; it is left out"),
            },
            Block::Audio(_) | Block::Document(_) => None,
            Block::Thinking(thinking) if thinking.provider_data.get(DIALECT).is_some() && self.faithful => None,
            Block::Thinking(_) => Some("only the assistant thinks; it is left out"),
            Block::ToolCall(_) => Some("only the assistant calls tools; it is left out"),
            Block::ToolResult(_) => Some("a result cannot stand inside another; it is left out"),
            Block::Other(other) if other.dialect == DIALECT => None,
            Block::Other(_) => Some("a block that only another API has; it is left out"),
        };
        if let Some(why) = why {
            self.losses.push(Loss::new(block.kind().as_str(), place, why));
            return None;
        }
        let Some(Value::Object(mut part)) = part::encode(block, Side::Request) else {
            return self.unwritable(block, place);
        };
        self.cache(&mut part, block);
        Some(Value::Object(part))
    }

    /// A part of text alone, for system prompts.
    pub(super) fn text_part(&mut self, block: &Block, place: &str) -> Option<Value> {
        match block {
            Block::Text(_) | Block::Document(_) => {
                let part = self.part(block, place)?;
                if part.get("text").is_some() {
                    return Some(part);
                }
                self.losses.push(Loss::new(block.kind().as_str(), place, "a system prompt is text; it is left out"));
                None
            }
            Block::Other(other) if other.dialect == DIALECT => Some(other.data.clone()),
            Block::Image(_)
            | Block::Audio(_)
            | Block::ToolCall(_)
            | Block::ToolResult(_)
            | Block::Thinking(_)
            | Block::Other(_) => {
                self.losses.push(Loss::new(block.kind().as_str(), place, "a system prompt is text; it is left out"));
                None
            }
        }
    }

    /// A block whose source has no form here.
    fn unwritable(&mut self, block: &Block, place: &str) -> Option<Value> {
        match block {
            // A dialect's own block that is no object: it goes out as it is.
            Block::Other(other) => Some(other.data.clone()),
            Block::Text(_)
            | Block::Image(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::ToolCall(_)
            | Block::ToolResult(_)
            | Block::Thinking(_) => {
                let why = "this API takes it only as data inside the message; it is left out";
                self.losses.push(Loss::new(block.kind().as_str(), place, why));
                None
            }
        }
    }

    /// PDFs and files go as they are, text goes as text, and an address can only be told.
    fn document(&mut self, document: &Document, block: &Block, place: &str) -> Option<Value> {
        let name = document.name.as_deref();
        let text = match &document.source {
            Source::Text { text, .. } => Some(text.clone()),
            Source::Base64 { media_type, data } if media_type.starts_with("text/") => {
                STANDARD.decode(data).ok().and_then(|bytes| String::from_utf8(bytes).ok())
            }
            Source::Base64 { .. } | Source::Url { .. } | Source::File { .. } => None,
        };
        if let Some(text) = text {
            let why = "this API takes no text documents; it stands in the message as text, below its name";
            self.losses.push(Loss::info("document", place, why));
            let titled = name.map_or_else(|| text.clone(), |name| format!("{name}\n\n{text}"));
            let mut part = Map::new();
            part.insert("type".to_owned(), "text".into());
            part.insert("text".to_owned(), titled.into());
            self.cache(&mut part, block);
            return Some(Value::Object(part));
        }
        if let Source::Base64 { media_type, .. } = &document.source
            && media_type != "application/pdf"
            && !media_type.is_empty()
        {
            let why = format!("this API takes no documents of type {media_type}; it is left out");
            self.losses.push(Loss::new("document", place, why));
            return None;
        }
        let mut named = document.clone();
        if matches!(document.source, Source::Base64 { .. }) && name.is_none() {
            named.name = Some("document.pdf".to_owned());
        }
        let written = part::encode(&Block::Document(named), Side::Request);
        if let Some(Value::Object(mut part)) = written {
            self.cache(&mut part, block);
            return Some(Value::Object(part));
        }
        let Source::Url { url, .. } = &document.source else { return self.unwritable(block, place) };
        let why = "this API fetches no documents; the model is only told the address";
        self.losses.push(Loss::new("document", place, why));
        Some(part::text_part(&name.map_or_else(|| url.clone(), |name| format!("{name}: {url}"))))
    }

    /// Marks a part for the cache where the target knows marks, and only there.
    fn cache(&mut self, part: &mut Map<String, Value>, block: &Block) {
        if self.faithful && (part.contains_key("cache_control") || part.contains_key("prompt_cache_breakpoint")) {
            return;
        }
        if !self.target.quirks.chat.cache_control {
            part.shift_remove("cache_control");
        }
        if !self.target.rules.cache_breakpoints {
            part.shift_remove("prompt_cache_breakpoint");
        }
        let Some(hint) = block.cache() else { return };
        if self.target.quirks.chat.cache_control {
            part.entry("cache_control").or_insert_with(|| cache_control(hint.ttl.as_deref()));
        } else if self.target.rules.cache_breakpoints && self.breakpoints < MOST_BREAKPOINTS {
            self.breakpoints += 1;
            part.entry("prompt_cache_breakpoint").or_insert_with(|| serde_json::json!({"mode": "explicit"}));
        } else {
            self.dropped_hint = true;
        }
    }

    /// Says what of another dialect stays behind on a block. Thinking has its own words for that.
    pub(super) fn foreign_state(&mut self, block: &Block, place: &str) {
        let Some(data) = block.provider_data() else { return };
        for (name, own) in data.iter().filter(|(name, _)| *name != DIALECT.as_str()) {
            let keys: Vec<&str> =
                own.iter().filter(|(key, value)| matters(key, value)).map(|(key, _)| key.as_str()).collect();
            if keys.is_empty() {
                continue;
            }
            // Without its sealed state, the provider that made it may have to think anew.
            let is_sealed = keys.iter().any(|key| key.contains("signature") || key.contains("encrypted"));
            let of = if is_sealed { "thinking state of another provider: " } else { "" };
            let why = format!("{of}what {name} keeps there ({}) has no place here; it is left out", keys.join(", "));
            self.losses.push(if is_sealed && block.kind() == BlockKind::ToolCall {
                Loss::new("thinking", place, why)
            } else {
                Loss::info("provider_data", place, why)
            });
        }
    }
}

/// Is it more than the identity of a block, or the way that it was spelt?
fn matters(key: &str, value: &Value) -> bool {
    !matches!(key, "id" | "item" | "role" | "status" | "snake")
        && matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_))
}
