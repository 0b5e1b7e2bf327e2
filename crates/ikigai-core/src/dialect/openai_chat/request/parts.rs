//! Writes the blocks of a message as parts, and handles those without one.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::history::History;
use super::tools::cache_control;
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::content::{self, is_cache_field};
use crate::dialect::openai_chat::notes::Side;
use crate::dialect::openai_chat::wire::{self, Part};
use crate::fit::{FittedBlock, Place, StateUse};
use crate::json::loose::Item;
use crate::{Block, Document, Loss, LossCode, Source};

impl<'f> History<'f> {
    /// Writes a block as a part, if there is one for it.
    pub(super) fn part(&mut self, block: &'f Block, place: Place, state: StateUse) -> Option<Item<'f, Part<'f>>> {
        let kind = block.kind().as_str();
        let why = match block {
            Block::Document(document) if self.is_ours() => return self.document(document, block, place),
            Block::Thinking(_) if self.is_ours() => Some("only the assistant thinks; left out"),
            Block::ToolCall(_) => Some("only the assistant calls tools; left out"),
            Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => {
                Some("a result cannot contain another; left out")
            }
            // Those of other dialects have already been noted.
            Block::Other(other) if other.dialect != DIALECT => return None,
            Block::Text(_)
            | Block::Image(_)
            | Block::Audio(_)
            | Block::Document(_)
            | Block::Thinking(_)
            | Block::Other(_) => None,
        };
        if let Some(why) = why {
            self.lose(LossCode::NotInDialect, kind, place, why);
            return None;
        }
        let Some(mut part) = content::encode(block, Side::Request, state) else {
            let why = "this API accepts it only as data inside the message; left out";
            self.lose(LossCode::Media, kind, place, why);
            return None;
        };
        self.mark(&mut part, block, place);
        Some(part)
    }

    /// Writes a text part, for system prompts.
    pub(super) fn text_part(&mut self, block: &'f FittedBlock<'f>) -> Option<Item<'f, Part<'f>>> {
        let part = self.part(&block.block, block.place, block.state)?;
        if matches!(&part, Item::Fits(part) if part.text.is_none()) {
            let why = "a system prompt is text; left out";
            self.lose(LossCode::NotInDialect, block.block.kind().as_str(), block.place, why);
            return None;
        }
        Some(part)
    }

    /// Writes a document: PDFs and files unchanged, text as text, and a URL only as a mention.
    fn document(&mut self, document: &'f Document, block: &'f Block, place: Place) -> Option<Item<'f, Part<'f>>> {
        let name = document.name.as_deref();
        let text = match &document.source {
            Source::Text { text, .. } => Some(text.clone()),
            Source::Base64 { media_type, data } if media_type.starts_with("text/") => {
                STANDARD.decode(data).ok().and_then(|bytes| String::from_utf8(bytes).ok())
            }
            Source::Base64 { .. } | Source::Url { .. } | Source::File { .. } => None,
        };
        let mut part = if let Some(text) = text {
            let why = "this API accepts no text documents; it is sent as text, below its name";
            self.losses.push(Loss::info(LossCode::Changed, "document", place.to_string(), why));
            let titled = name.map_or_else(|| text.clone(), |name| format!("{name}\n\n{text}"));
            Item::Fits(Part { kind: Some("text".into()), text: Some(titled.into()), ..Part::default() })
        } else if let Some(mut part) = content::encode(block, Side::Request, StateUse::Own) {
            if let Source::Base64 { media_type, .. } = &document.source {
                if media_type != "application/pdf" && !media_type.is_empty() {
                    let why = format!("this API accepts no documents of type {media_type}; left out");
                    self.lose(LossCode::Media, "document", place, &why);
                    return None;
                }
                if let (None, Item::Fits(Part { file: Some(file), .. })) = (name, &mut part) {
                    file.filename = Some("document.pdf".into());
                }
            }
            part
        } else if let Source::Url { url, .. } = &document.source {
            let why = "this API fetches no documents; the model is only told the address";
            self.lose(LossCode::Media, "document", place, why);
            let told = name.map_or_else(|| url.clone(), |name| format!("{name}: {url}"));
            return Some(Item::Fits(Part { kind: Some("text".into()), text: Some(told.into()), ..Part::default() }));
        } else {
            let why = "this API accepts it only as data inside the message; left out";
            self.lose(LossCode::Media, "document", place, why);
            return None;
        };
        self.mark(&mut part, block, place);
        Some(part)
    }

    /// Puts a cache mark on a part if one is to be sent, and removes any other.
    fn mark(&mut self, part: &mut Item<'f, Part<'f>>, block: &Block, place: Place) {
        let Item::Fits(part) = part else { return };
        let Some(hint) = self.fitted.marks.at(place, block.cache()) else {
            part.rest.retain(|(name, _)| !is_cache_field(name));
            return;
        };
        let quirk = self.fitted.target.quirks.chat.cache_control;
        if !self.is_ours() && part.rest.iter().any(|(name, _)| is_cache_field(name)) {
            return;
        }
        part.rest.retain(|(name, _)| !is_cache_field(name));
        if quirk {
            part.rest.push((Cow::Borrowed("cache_control"), cache_control(hint).0));
        } else if self.is_ours() {
            wire::put(&mut part.rest, "prompt_cache_breakpoint", &serde_json::json!({"mode": "explicit"}));
        } else {
            let why = "this API caches automatically and has no cache marks; left out";
            self.losses.push(Loss::info(LossCode::NotInDialect, "cache", place.to_string(), why));
        }
    }
}
