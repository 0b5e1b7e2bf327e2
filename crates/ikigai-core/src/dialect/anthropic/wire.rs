//! This API's objects as they are on the wire.
//!
//! Fields that a struct does not name are in its `rest`.

use std::borrow::Cow;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, SeqAccess};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::json::loose::{Loose, Odd};
use crate::json::tagged::{Object, Tagged};
use crate::json::wire::{Raw, Text, read_str};
use crate::{CacheHint, Json};

wire! {
    /// The body of a request.
    pub(super) struct Request<'a> {
        model "model": Text<'a>,
        max_tokens "max_tokens": Raw<'a>,
        system "system": Content<'a>,
        messages "messages": Vec<Message<'a>>,
        tools "tools": Vec<Item<'a>>,
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

    /// The fields written for a content block, its source, or a tool.
    pub(super) struct Written<'a> {
        kind "type": Text<'a>,
        id "id": Text<'a>,
        name "name": Text<'a>,
        description "description": Text<'a>,
        input_schema "input_schema": Raw<'a>,
        strict "strict": bool,
        input "input": Raw<'a>,
        tool_use_id "tool_use_id": Text<'a>,
        text "text": Text<'a>,
        thinking "thinking": Text<'a>,
        signature "signature": Text<'a>,
        source "source": Item<'a>,
        media_type "media_type": Text<'a>,
        data "data": Text<'a>,
        url "url": Text<'a>,
        file_id "file_id": Text<'a>,
        title "title": Text<'a>,
        content "content": Content<'a>,
        is_error "is_error": bool,
        cache_control "cache_control": Raw<'a>,
    }

    /// A cache request.
    pub(super) struct CacheControl<'a> {
        kind "type": Text<'a>,
        ttl "ttl": Text<'a>,
    }

    /// The tool to use.
    pub(super) struct ToolChoice<'a> {
        kind "type": Text<'a>,
        name "name": Text<'a>,
        disable_parallel "disable_parallel_tool_use": bool,
    }

    /// The thinking settings.
    pub(super) struct Thinking<'a> {
        kind "type": Text<'a>,
        budget_tokens "budget_tokens": Raw<'a>,
        display "display": Text<'a>,
    }

    /// The settings of the answer.
    pub(super) struct OutputConfig<'a> {
        effort "effort": Raw<'a>,
        format "format": Raw<'a>,
    }

    /// The format of the answer.
    pub(super) struct Format<'a> {
        kind "type": Text<'a>,
        schema "schema": Raw<'a>,
    }

    /// A whole answer, or the start of a stream.
    pub(super) struct Answer<'a> {
        id "id": Text<'a>,
        kind "type": Text<'a>,
        role "role": Text<'a>,
        model "model": Text<'a>,
        content "content": Vec<Item<'a>>,
        stop_reason "stop_reason": Raw<'a>,
        stop_sequence "stop_sequence": Raw<'a>,
        stop_details "stop_details": Raw<'a>,
        usage "usage": Raw<'a>,
        error "error": Raw<'a>,
    }
}

/// A content block, the source of one, or a tool.
///
/// Which fields are valid depends on the type, and fields without a meaning there may hold anything. It is therefore
/// read as the list of its fields, in order.
#[derive(Debug, Clone)]
pub(super) enum Item<'a> {
    Read(Object<'a>),
    /// To be written, or one of the API's own kinds, which is sent as it was kept.
    Sent(Tagged<'a, Box<Written<'a>>>),
}

impl<'a> Item<'a> {
    /// Returns the fields of an item that was read.
    pub(super) fn into_fields(self) -> Object<'a> {
        match self {
            Item::Read(fields) => fields,
            Item::Sent(_) => Object::default(),
        }
    }

    /// Returns the fields of an item that is to be written, unless it is sent as it was kept.
    pub(super) fn as_written(&self) -> Option<&Written<'a>> {
        match self {
            Item::Sent(Tagged::Known(written)) => Some(written),
            Item::Sent(Tagged::Whole(_)) | Item::Read(_) => None,
        }
    }
}

impl<'a> From<Written<'a>> for Item<'a> {
    fn from(written: Written<'a>) -> Self {
        Item::Sent(Tagged::Known(Box::new(written)))
    }
}

impl<'a> From<&'a Json> for Item<'a> {
    fn from(whole: &'a Json) -> Self {
        Item::Sent(Tagged::Whole(Raw::from(whole)))
    }
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Item::Read(fields) => fields.serialize(serializer),
            Item::Sent(sent) => sent.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Item<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Object::deserialize(deserializer).map(Item::Read)
    }
}

/// Content that may be a string or a list of blocks.
#[derive(Debug, Clone)]
pub(super) enum Content<'a> {
    Text(Text<'a>),
    Blocks(Vec<Item<'a>>),
    /// Neither; ignored.
    Odd,
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Content::Text(text) => text.serialize(serializer),
            Content::Blocks(blocks) => blocks.serialize(serializer),
            Content::Odd => serializer.serialize_unit(),
        }
    }
}

impl<'a> Loose<'a> for Content<'a> {
    fn string(&mut self, text: Cow<'a, str>) -> Odd<'a> {
        *self = Content::Text(Text(text));
        None
    }

    fn list<A: SeqAccess<'a>>(&mut self, list: A) -> Result<Odd<'a>, A::Error> {
        *self = Content::Blocks(Vec::deserialize(SeqAccessDeserializer::new(list))?);
        Ok(None)
    }

    fn is_absent(&self) -> bool {
        matches!(self, Content::Odd)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut content = Content::Odd;
        content.fill(deserializer)?;
        Ok(content)
    }
}

/// Reads a `cache_control` as a hint, if it says no more than a hint can.
pub(super) fn read_cache(json: &str) -> Option<CacheHint> {
    let control: CacheControl<'_> = read_str(json).ok()?;
    let plain = control.rest.is_empty() && control.kind.is_some_and(|kind| kind.as_str() == "ephemeral");
    plain.then(|| CacheHint { ttl: control.ttl.map(Text::into_string) })
}

/// Writes a hint as `cache_control`.
pub(super) fn write_cache(hint: &CacheHint) -> Raw<'static> {
    let ttl = hint.ttl.as_deref().map(Text::from);
    Raw::of(&CacheControl { kind: Some("ephemeral".into()), ttl, ..CacheControl::default() })
}
