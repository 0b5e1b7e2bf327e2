//! The objects of this wire. Each struct has the fields of all kinds of objects that its place may hold.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::json::wire::{Raw, Text};
use crate::{Fields, Json};

/// A value that may have several forms, read in one pass: a text, a list, an object, or anything else as it is.
#[derive(Debug, Clone)]
pub(super) enum Any<'a, L, O> {
    Text(Text<'a>),
    List(Vec<L>),
    Object(O),
    Other(Box<Json>),
}

/// A text, where anything else may stand in its place.
pub(super) type Loose<'a> = Any<'a, Json, Fields>;
/// An object, where anything else may stand in its place.
pub(super) type Object<'a, T> = Any<'a, Json, T>;
/// What a message or a result holds: a text or a list of parts.
pub(super) type Content<'a> = Any<'a, Object<'a, Part<'a>>, Fields>;
/// Items, or one text in their place.
pub(super) type Items<'a> = Any<'a, Object<'a, Item<'a>>, Fields>;

wire! {
    /// A request.
    pub(super) struct Request<'a> {
        model "model": Loose<'a>,
        instructions "instructions": Loose<'a>,
        input "input": Items<'a>,
        tools "tools": Vec<Object<'a, Tool<'a>>>,
        tool_choice "tool_choice": Raw<'a>,
        parallel_tool_calls "parallel_tool_calls": Raw<'a>,
        reasoning "reasoning": Raw<'a>,
        text "text": Raw<'a>,
        max_output_tokens "max_output_tokens": Raw<'a>,
        temperature "temperature": Raw<'a>,
        top_p "top_p": Raw<'a>,
        prompt_cache_key "prompt_cache_key": Loose<'a>,
        metadata "metadata": Raw<'a>,
        stream "stream": Raw<'a>,
    }

    /// An item of a conversation or of an answer.
    pub(super) struct Item<'a> {
        id "id": Loose<'a>,
        kind "type": Loose<'a>,
        status "status": Loose<'a>,
        role "role": Loose<'a>,
        call_id "call_id": Loose<'a>,
        name "name": Loose<'a>,
        arguments "arguments": Loose<'a>,
        output "output": Content<'a>,
        summary "summary": Content<'a>,
        content "content": Content<'a>,
        encrypted_content "encrypted_content": Loose<'a>,
    }

    /// A part of a message, of a result or of reasoning.
    pub(super) struct Part<'a> {
        kind "type": Loose<'a>,
        text "text": Loose<'a>,
        refusal "refusal": Loose<'a>,
        annotations "annotations": Raw<'a>,
        logprobs "logprobs": Raw<'a>,
        image_url "image_url": Loose<'a>,
        file_data "file_data": Loose<'a>,
        file_url "file_url": Loose<'a>,
        file_id "file_id": Loose<'a>,
        filename "filename": Loose<'a>,
        prompt_cache_breakpoint "prompt_cache_breakpoint": Raw<'a>,
    }

    /// A tool.
    pub(super) struct Tool<'a> {
        kind "type": Loose<'a>,
        name "name": Loose<'a>,
        description "description": Loose<'a>,
        parameters "parameters": Raw<'a>,
        strict "strict": Raw<'a>,
        function "function": Raw<'a>,
    }

    /// The form of an answer's text.
    pub(super) struct Format<'a> {
        kind "type": Loose<'a>,
        name "name": Loose<'a>,
        description "description": Loose<'a>,
        schema "schema": Raw<'a>,
        strict "strict": Raw<'a>,
    }

    /// An answer.
    pub(super) struct Response<'a> {
        id "id": Loose<'a>,
        object "object": Loose<'a>,
        status "status": Loose<'a>,
        error "error": Raw<'a>,
        incomplete_details "incomplete_details": Raw<'a>,
        model "model": Loose<'a>,
        output "output": Items<'a>,
        output_text "output_text": Loose<'a>,
        usage "usage": Raw<'a>,
    }
}

impl<'a> Part<'a> {
    /// A part with a text.
    pub(super) fn text(kind: &'a str, text: &'a str) -> Self {
        Part { kind: Some(Any::text(kind)), text: Some(Any::text(text)), ..Part::default() }
    }
}

impl<'a, L, O> Any<'a, L, O> {
    pub(super) fn text(text: impl Into<Text<'a>>) -> Self {
        Any::Text(text.into())
    }

    pub(super) fn other(value: Json) -> Self {
        Any::Other(Box::new(value))
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Any::Text(text) => Some(text.as_str()),
            Any::List(_) | Any::Object(_) | Any::Other(_) => None,
        }
    }

    pub(super) fn as_list(&self) -> Option<&[L]> {
        match self {
            Any::List(list) => Some(list),
            Any::Text(_) | Any::Object(_) | Any::Other(_) => None,
        }
    }

    pub(super) fn as_object(&self) -> Option<&O> {
        match self {
            Any::Object(object) => Some(object),
            Any::Text(_) | Any::List(_) | Any::Other(_) => None,
        }
    }
}

/// Takes a value out if it is a text; anything else stays where it is.
pub(super) fn take_text<L, O>(value: &mut Option<Any<'_, L, O>>) -> Option<String> {
    match value.take_if(|value| value.as_str().is_some())? {
        Any::Text(text) => Some(text.into_string()),
        Any::List(_) | Any::Object(_) | Any::Other(_) => None,
    }
}

/// Whether a value is there and a text.
pub(super) fn has_text(value: &Option<Loose<'_>>) -> bool {
    value.as_ref().is_some_and(|value| value.as_str().is_some())
}

/// Takes a raw value out if it has a type's form; anything else stays where it is.
pub(super) fn take<T: for<'b> Deserialize<'b>>(value: &mut Option<Raw<'_>>) -> Option<T> {
    let read = value.as_ref()?.to()?;
    *value = None;
    Some(read)
}

/// Whether a value is this word.
pub(super) fn is(value: &Option<Loose<'_>>, word: &str) -> bool {
    value.as_ref().and_then(Any::as_str) == Some(word)
}

impl<L: Serialize, O: Serialize> Serialize for Any<'_, L, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Any::Text(text) => text.serialize(serializer),
            Any::List(list) => list.serialize(serializer),
            Any::Object(object) => object.serialize(serializer),
            Any::Other(other) => other.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a, L: Deserialize<'de>, O: Deserialize<'de>> Deserialize<'de> for Any<'a, L, O> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor(PhantomData))
    }
}

struct AnyVisitor<'a, L, O>(PhantomData<(&'a (), L, O)>);

impl<'de: 'a, 'a, L: Deserialize<'de>, O: Deserialize<'de>> Visitor<'de> for AnyVisitor<'a, L, O> {
    type Value = Any<'a, L, O>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Any::text(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Any::text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Any::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        O::deserialize(MapAccessDeserializer::new(map)).map(Any::Object)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Any::other(Json::null()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Any::other(value.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Any::other(serde_json::Value::from(number).into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Any::other(serde_json::Value::from(number).into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Any::other(serde_json::Value::from(number).into()))
    }
}
