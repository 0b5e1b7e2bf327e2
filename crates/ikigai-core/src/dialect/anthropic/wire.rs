//! The objects of this API, as they stand on the wire.
//!
//! One struct for each place, with the fields of all kinds of objects that may stand there. Fields that are not named
//! here are in `rest`.

use std::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::CacheHint;
use crate::json::tagged::{Object, Tagged, Typed};
use crate::json::wire::{Raw, Text};

wire! {
    /// The body of a request.
    pub(super) struct Request<'a> {
        model "model": Text<'a>,
        max_tokens "max_tokens": Raw<'a>,
        system "system": Content<'a>,
        messages "messages": Vec<Message<'a>>,
        tools "tools": Vec<Tool<'a>>,
        tool_choice "tool_choice": Raw<'a>,
        thinking "thinking": Raw<'a>,
        output_config "output_config": Raw<'a>,
        output_format "output_format": Raw<'a>,
        temperature "temperature": Raw<'a>,
        top_p "top_p": Raw<'a>,
        top_k "top_k": Raw<'a>,
        stop_sequences "stop_sequences": Vec<Text<'a>>,
        metadata "metadata": Raw<'a>,
        cache_control "cache_control": Raw<'a>,
        stream "stream": bool,
    }

    /// A message of a request.
    pub(super) struct Message<'a> {
        role "role": Text<'a>,
        content "content": Content<'a>,
    }

    /// A content block of a kind that the format knows.
    pub(super) struct BlockFields<'a> {
        kind "type": Text<'a>,
        id "id": Text<'a>,
        name "name": Text<'a>,
        input "input": Raw<'a>,
        tool_use_id "tool_use_id": Text<'a>,
        text "text": Text<'a>,
        thinking "thinking": Text<'a>,
        signature "signature": Text<'a>,
        data "data": Text<'a>,
        source "source": Source<'a>,
        title "title": Text<'a>,
        content "content": Content<'a>,
        is_error "is_error": bool,
        cache_control "cache_control": Raw<'a>,
    }

    /// Where the bytes of a picture or a document are.
    pub(super) struct SourceFields<'a> {
        kind "type": Text<'a>,
        media_type "media_type": Text<'a>,
        data "data": Text<'a>,
        url "url": Text<'a>,
        file_id "file_id": Text<'a>,
        content "content": Content<'a>,
    }

    /// A wish to cache.
    pub(super) struct CacheControl<'a> {
        kind "type": Text<'a>,
        ttl "ttl": Text<'a>,
    }

    /// Which tool to use.
    pub(super) struct ToolChoice<'a> {
        kind "type": Text<'a>,
        name "name": Text<'a>,
        disable_parallel "disable_parallel_tool_use": bool,
    }

    /// What is said about thinking.
    pub(super) struct Thinking<'a> {
        kind "type": Text<'a>,
        budget_tokens "budget_tokens": Raw<'a>,
        display "display": Text<'a>,
    }

    /// What is said about the answer.
    pub(super) struct OutputConfig<'a> {
        effort "effort": Raw<'a>,
        format "format": Raw<'a>,
    }

    /// The form of the answer.
    pub(super) struct Format<'a> {
        kind "type": Text<'a>,
        schema "schema": Raw<'a>,
    }

    /// A whole answer, and what a stream begins with.
    pub(super) struct Answer<'a> {
        id "id": Text<'a>,
        kind "type": Text<'a>,
        role "role": Text<'a>,
        model "model": Text<'a>,
        content "content": Vec<Block<'a>>,
        stop_reason "stop_reason": Raw<'a>,
        stop_sequence "stop_sequence": Raw<'a>,
        stop_details "stop_details": Raw<'a>,
        usage "usage": Raw<'a>,
        error "error": Raw<'a>,
    }

    /// Tokens.
    pub(super) struct Usage<'a> {
        input_tokens "input_tokens": u64,
        cache_write "cache_creation_input_tokens": u64,
        cache_read "cache_read_input_tokens": u64,
        output_tokens "output_tokens": u64,
        details "output_tokens_details": Raw<'a>,
    }
}

/// A content block.
pub(super) type Block<'a> = Tagged<'a, BlockFields<'a>>;

impl<'a> Typed<'a> for BlockFields<'a> {
    fn knows(kind: &str) -> bool {
        matches!(kind, "text" | "image" | "document" | "thinking" | "redacted_thinking" | "tool_use" | "tool_result")
    }

    fn kind(&mut self) -> &mut Option<Text<'a>> {
        &mut self.kind
    }
}

/// A source; boxed, because few blocks have one.
pub(super) type Source<'a> = Box<Tagged<'a, SourceFields<'a>>>;

impl<'a> Typed<'a> for SourceFields<'a> {
    fn knows(kind: &str) -> bool {
        matches!(kind, "base64" | "text" | "url" | "file" | "content")
    }

    fn kind(&mut self) -> &mut Option<Text<'a>> {
        &mut self.kind
    }
}

/// Content that may be one text or a list of blocks.
#[derive(Debug, Clone)]
pub(super) enum Content<'a> {
    Text(Text<'a>),
    Blocks(Vec<Block<'a>>),
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Content::Text(text) => text.serialize(serializer),
            Content::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrBlocks;
        impl<'de> Visitor<'de> for TextOrBlocks {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of blocks")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de>, E> {
                Ok(Content::Text(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Content<'de>, E> {
                Ok(Content::Text(text.to_owned().into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content<'de>, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }
        deserializer.deserialize_any(TextOrBlocks)
    }
}

/// A tool: read as its fields, because one of the API's own kinds is kept as it is.
#[derive(Debug, Clone)]
pub(super) enum Tool<'a> {
    Fields(Object<'a>),
    Whole(Raw<'a>),
}

impl Serialize for Tool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Tool::Fields(fields) => fields.serialize(serializer),
            Tool::Whole(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Tool<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Object::deserialize(deserializer).map(Tool::Fields)
    }
}

/// The hint in a `cache_control` that says no more than a hint can.
pub(super) fn read_cache(raw: &Raw<'_>) -> Option<CacheHint> {
    let control: CacheControl<'_> = raw.to()?;
    let plain = control.rest.is_empty() && control.kind.is_some_and(|kind| kind.as_str() == "ephemeral");
    plain.then(|| CacheHint { ttl: control.ttl.map(Text::into_string) })
}

/// A hint as `cache_control`.
pub(super) fn write_cache(hint: &CacheHint) -> Raw<'static> {
    let ttl = hint.ttl.as_deref().map(Text::from);
    Raw::of(&CacheControl { kind: Some("ephemeral".into()), ttl, ..CacheControl::default() })
}
