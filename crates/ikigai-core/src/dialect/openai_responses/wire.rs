//! The objects of this wire. Each struct has the fields of all kinds of objects that its place may hold; what has an
//! unexpected form stays in `rest` and goes out again as it came.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::json::loose::{self, Loose, Odd};
use crate::json::wire::{Raw, Rest, Text};

/// An object in a list, where anything else may stand in its place.
pub(super) type Entry<'a, T> = loose::Item<'a, T>;
pub(super) type Parts<'a> = Vec<Entry<'a, Part<'a>>>;
pub(super) type Items<'a> = Vec<Entry<'a, Item<'a>>>;
/// What a message or a result holds.
pub(super) type Content<'a> = Many<'a, Part<'a>>;

loose! {
    /// A request.
    pub(super) struct Request<'a> {
        model "model": Option<Text<'a>>,
        instructions "instructions": Option<Text<'a>>,
        input "input": Many<'a, Item<'a>>,
        tools "tools": Vec<Entry<'a, Tool<'a>>>,
        tool_choice "tool_choice": Option<Raw<'a>>,
        parallel_tool_calls "parallel_tool_calls": Option<bool>,
        reasoning "reasoning": Option<Raw<'a>>,
        text "text": Option<Raw<'a>>,
        max_output_tokens "max_output_tokens": Option<Raw<'a>>,
        temperature "temperature": Option<Raw<'a>>,
        top_p "top_p": Option<Raw<'a>>,
        prompt_cache_key "prompt_cache_key": Option<Text<'a>>,
        metadata "metadata": Option<Raw<'a>>,
        stream "stream": Option<bool>,
    }

    /// An item of a conversation or of an answer.
    pub(super) struct Item<'a> {
        id "id": Option<Text<'a>>,
        kind "type": Option<Text<'a>>,
        status "status": Option<Text<'a>>,
        role "role": Option<Text<'a>>,
        call_id "call_id": Option<Text<'a>>,
        name "name": Option<Text<'a>>,
        arguments "arguments": Option<Text<'a>>,
        output "output": Content<'a>,
        summary "summary": Content<'a>,
        content "content": Content<'a>,
        encrypted_content "encrypted_content": Option<Text<'a>>,
    }

    /// A part of a message, of a result or of reasoning.
    pub(super) struct Part<'a> {
        kind "type": Option<Text<'a>>,
        text "text": Option<Text<'a>>,
        refusal "refusal": Option<Text<'a>>,
        annotations "annotations": Option<Raw<'a>>,
        logprobs "logprobs": Option<Raw<'a>>,
        image_url "image_url": Option<Text<'a>>,
        file_data "file_data": Option<Text<'a>>,
        file_url "file_url": Option<Text<'a>>,
        file_id "file_id": Option<Text<'a>>,
        filename "filename": Option<Text<'a>>,
        prompt_cache_breakpoint "prompt_cache_breakpoint": Option<Raw<'a>>,
    }

    /// A tool.
    pub(super) struct Tool<'a> {
        kind "type": Option<Text<'a>>,
        name "name": Option<Text<'a>>,
        description "description": Option<Text<'a>>,
        parameters "parameters": Option<Raw<'a>>,
        strict "strict": Option<bool>,
        function "function": Option<Box<Tool<'a>>>,
    }

    /// The form of an answer's text.
    pub(super) struct Format<'a> {
        kind "type": Option<Text<'a>>,
        name "name": Option<Text<'a>>,
        description "description": Option<Text<'a>>,
        schema "schema": Option<Raw<'a>>,
        strict "strict": Option<bool>,
    }

    /// What is said about reasoning.
    pub(super) struct Reasoning<'a> {
        effort "effort": Option<Text<'a>>,
        summary "summary": Option<Text<'a>>,
        generate_summary "generate_summary": Option<Text<'a>>,
    }

    /// An answer.
    pub(super) struct Response<'a> {
        id "id": Option<Text<'a>>,
        object "object": Option<Text<'a>>,
        status "status": Option<Text<'a>>,
        error "error": Option<Raw<'a>>,
        incomplete_details "incomplete_details": Option<Raw<'a>>,
        model "model": Option<Text<'a>>,
        output "output": Many<'a, Item<'a>>,
        output_text "output_text": Option<Text<'a>>,
        usage "usage": Option<Raw<'a>>,
    }
}

impl<'a> Part<'a> {
    /// A part with a text.
    pub(super) fn text(kind: &'a str, text: &'a str) -> Self {
        Part { kind: Some(kind.into()), text: Some(text.into()), ..Part::default() }
    }
}

/// A word of an object; empty if it is not there.
pub(super) fn word<'t>(value: &'t Option<Text<'_>>) -> &'t str {
    value.as_ref().map_or("", Text::as_str)
}

/// A field that the struct does not know, or whose form it did not expect.
pub(super) fn find<'r>(rest: &'r Rest<'_>, name: &str) -> Option<&'r RawValue> {
    rest.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_ref())
}

/// Sets a field that the struct does not know.
pub(super) fn put<T: Serialize + ?Sized>(rest: &mut Rest<'_>, name: &'static str, value: &T) {
    rest.retain(|(own, _)| own != name);
    rest.push((Cow::Borrowed(name), loose::raw(value)));
}

/// The `type` of an object that is kept whole.
pub(super) fn kind_of(object: &RawValue) -> Option<String> {
    loose::read_raw::<Tool<'_>>(object)?.kind.map(Text::into_string)
}

/// A text, or a list of objects.
#[derive(Debug, Clone, Default)]
pub(super) enum Many<'a, T> {
    #[default]
    Absent,
    Text(Text<'a>),
    List(Vec<Entry<'a, T>>),
}

impl<'a, T> Many<'a, T> {
    /// The objects of the list, if it is one.
    pub(super) fn objects(&self) -> impl Iterator<Item = &T> {
        let list = if let Many::List(list) = self { list.as_slice() } else { &[] };
        list.iter().filter_map(|entry| match entry {
            Entry::Fits(object) => Some(object),
            Entry::Odd(_) => None,
        })
    }
}

impl<'a, T: Loose<'a> + Default> Loose<'a> for Many<'a, T> {
    fn string(&mut self, text: Cow<'a, str>) -> Odd<'a> {
        *self = Many::Text(Text(text));
        None
    }

    fn list<A: SeqAccess<'a>>(&mut self, list: A) -> Result<Odd<'a>, A::Error> {
        let mut entries = Vec::new();
        entries.list(list)?;
        *self = Many::List(entries);
        Ok(None)
    }

    fn is_absent(&self) -> bool {
        matches!(self, Many::Absent)
    }
}

impl<T: Serialize> Serialize for Many<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Many::Absent => serializer.serialize_unit(),
            Many::Text(text) => text.serialize(serializer),
            Many::List(list) => list.serialize(serializer),
        }
    }
}

/// A whole document, which has to be an object.
#[derive(Debug)]
pub(super) struct Document<T>(pub(super) T);

impl<'de, T: Loose<'de> + Default> Deserialize<'de> for Document<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Loose<'de> + Default> Visitor<'de> for Fields<T> {
            type Value = Document<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Document<T>, A::Error> {
                let mut document = T::default();
                document.object(map)?;
                Ok(Document(document))
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}
