//! The objects of this dialect as they stand on the wire.
//!
//! All of them are loose: what has an unexpected form stays in `rest` and goes out again as it came. A message of a
//! request, the message of an answer and the delta of a chunk are one struct, because the family mixes their fields.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::{MapAccess, SeqAccess};
use serde::ser::Serializer;
use serde_json::value::RawValue;

use crate::json::loose::{Item, Loose, Odd, Words, raw, raw_object};
use crate::json::wire::{Raw, Rest, Text};

loose! {
    /// The body of a request. Its other fields are read by name.
    pub(super) struct Asked<'a> {
        model "model": Words<'a>,
        messages "messages": Messages<'a>,
        tools "tools": Vec<Item<'a, Tool<'a>>>,
        functions "functions": Vec<Item<'a, Function<'a>>>,
    }

    /// An answer, whole, or one chunk of it.
    pub(super) struct Answer<'a> {
        id "id": Words<'a>,
        object "object": Option<Text<'a>>,
        created "created": Option<Raw<'a>>,
        model "model": Option<Text<'a>>,
        choices "choices": Choices<'a>,
        usage "usage": Option<Raw<'a>>,
    }

    /// One choice of an answer.
    pub(super) struct Choice<'a> {
        index "index": Option<u64>,
        message "message": Option<Box<Message<'a>>>,
        delta "delta": Option<Box<Message<'a>>>,
        logprobs "logprobs": Option<Raw<'a>>,
        finish_reason "finish_reason": Option<Text<'a>>,
    }

    /// What somebody says, or a piece of it.
    pub(super) struct Message<'a> {
        role "role": Option<Text<'a>>,
        tool_call_id "tool_call_id": Option<Text<'a>>,
        content "content": Content<'a>,
        refusal "refusal": Words<'a>,
        reasoning_content "reasoning_content": Words<'a>,
        reasoning "reasoning": Words<'a>,
        details "reasoning_details": Vec<Raw<'a>>,
        audio "audio": Option<Raw<'a>>,
        images "images": Vec<Item<'a, Part<'a>>>,
        function_call "function_call": Option<Box<Function<'a>>>,
        tool_calls "tool_calls": Vec<Item<'a, Call<'a>>>,
        extra_content "extra_content": Option<Raw<'a>>,
    }

    /// One part of a message's content.
    pub(super) struct Part<'a> {
        kind "type": Option<Text<'a>>,
        text "text": Option<Text<'a>>,
        refusal "refusal": Option<Text<'a>>,
        /// A text, or a list of texts.
        thinking "thinking": Option<Raw<'a>>,
        image_url "image_url": Inner<'a>,
        input_audio "input_audio": Inner<'a>,
        file "file": Inner<'a>,
        document_url "document_url": Option<Text<'a>>,
        document_name "document_name": Option<Text<'a>>,
    }

    /// The inner object of a part with a medium.
    pub(super) struct Medium<'a> {
        url "url": Option<Text<'a>>,
        data "data": Option<Text<'a>>,
        format "format": Option<Text<'a>>,
        filename "filename": Option<Text<'a>>,
        file_data "file_data": Option<Text<'a>>,
        file_id "file_id": Option<Text<'a>>,
    }

    /// Speech that the model made.
    pub(super) struct Speech<'a> {
        id "id": Option<Text<'a>>,
        data "data": Words<'a>,
        transcript "transcript": Option<Text<'a>>,
    }

    /// One item of `reasoning_details`, or a piece of it.
    pub(super) struct Detail<'a> {
        kind "type": Option<Text<'a>>,
        index "index": Option<u64>,
        text "text": Option<Text<'a>>,
        summary "summary": Option<Text<'a>>,
        data "data": Option<Text<'a>>,
        id "id": Option<Text<'a>>,
    }

    /// One tool call, or a piece of it.
    pub(super) struct Call<'a> {
        index "index": Option<u64>,
        id "id": Words<'a>,
        kind "type": Option<Text<'a>>,
        function "function": Option<Box<Function<'a>>>,
        custom "custom": Option<Box<Function<'a>>>,
        extra_content "extra_content": Option<Raw<'a>>,
    }

    /// A tool that is offered.
    pub(super) struct Tool<'a> {
        kind "type": Option<Text<'a>>,
        function "function": Option<Box<Function<'a>>>,
    }

    /// A function that is offered or called; or a custom tool that is called with any text.
    pub(super) struct Function<'a> {
        name "name": Option<Text<'a>>,
        description "description": Option<Text<'a>>,
        parameters "parameters": Option<Raw<'a>>,
        strict "strict": Option<bool>,
        arguments "arguments": Written<'a>,
        input "input": Option<Text<'a>>,
    }
}

/// A list that may be empty.
macro_rules! lists {
    ($( $(#[$meta:meta])* $name:ident: $item:ident; )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, Serialize)]
        #[serde(transparent)]
        pub(super) struct $name<'a>(pub(super) Option<Vec<Item<'a, $item<'a>>>>);

        impl<'a> Loose<'a> for $name<'a> {
            fn list<A: SeqAccess<'a>>(&mut self, list: A) -> Result<Odd<'a>, A::Error> {
                self.0.get_or_insert_with(|| Vec::with_capacity(1)).list(list).map(|_| None)
            }

            fn is_absent(&self) -> bool {
                self.0.is_none()
            }
        }
    )*};
}

lists! {
    /// The messages of a request.
    Messages: Message;
    /// The choices of an answer.
    Choices: Choice;
}

/// What a message says: a text, or a list of parts.
#[derive(Debug, Clone, Default)]
pub(super) enum Content<'a> {
    #[default]
    Absent,
    Text(Text<'a>),
    Parts(Vec<Item<'a, Part<'a>>>),
}

impl<'a> Loose<'a> for Content<'a> {
    fn string(&mut self, text: Cow<'a, str>) -> Odd<'a> {
        *self = Content::Text(Text(text));
        None
    }

    fn list<A: SeqAccess<'a>>(&mut self, list: A) -> Result<Odd<'a>, A::Error> {
        let mut parts = Vec::new();
        parts.list(list)?;
        *self = Content::Parts(parts);
        Ok(None)
    }

    fn is_absent(&self) -> bool {
        matches!(self, Content::Absent)
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Content::Absent => serializer.serialize_unit(),
            Content::Text(text) => text.serialize(serializer),
            Content::Parts(parts) => parts.serialize(serializer),
        }
    }
}

/// A medium: mostly an object, for some a plain address.
#[derive(Debug, Clone, Default)]
pub(super) enum Inner<'a> {
    #[default]
    Absent,
    Plain(Text<'a>),
    Object(Box<Medium<'a>>),
}

impl<'a> Loose<'a> for Inner<'a> {
    fn string(&mut self, text: Cow<'a, str>) -> Odd<'a> {
        *self = Inner::Plain(Text(text));
        None
    }

    fn object<A: MapAccess<'a>>(&mut self, map: A) -> Result<Odd<'a>, A::Error> {
        let mut medium = Box::<Medium<'a>>::default();
        medium.object(map)?;
        *self = Inner::Object(medium);
        Ok(None)
    }

    fn is_absent(&self) -> bool {
        matches!(self, Inner::Absent)
    }
}

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Inner::Absent => serializer.serialize_unit(),
            Inner::Plain(text) => text.serialize(serializer),
            Inner::Object(medium) => medium.serialize(serializer),
        }
    }
}

/// Arguments as text, or as the object that some send.
#[derive(Debug, Clone, Default)]
pub(super) enum Written<'a> {
    #[default]
    Absent,
    Text(Text<'a>),
    Object(Cow<'a, RawValue>),
}

impl<'a> Loose<'a> for Written<'a> {
    fn string(&mut self, text: Cow<'a, str>) -> Odd<'a> {
        *self = Written::Text(Text(text));
        None
    }

    fn object<A: MapAccess<'a>>(&mut self, map: A) -> Result<Odd<'a>, A::Error> {
        *self = Written::Object(raw_object(map)?);
        Ok(None)
    }

    fn is_absent(&self) -> bool {
        matches!(self, Written::Absent)
    }
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Written::Absent => serializer.serialize_unit(),
            Written::Text(text) => text.serialize(serializer),
            Written::Object(raw) => raw.serialize(serializer),
        }
    }
}

/// The value of a name in `rest`, the last one if there are several.
pub(super) fn find<'r>(rest: &'r Rest<'_>, name: &str) -> Option<&'r RawValue> {
    rest.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_ref())
}

/// Takes a name out of `rest`.
pub(super) fn take<'a>(rest: &mut Rest<'a>, name: &str) -> Option<Cow<'a, RawValue>> {
    let place = rest.iter().rposition(|(own, _)| own == name)?;
    Some(rest.remove(place).1)
}

/// Adds a field to `rest`.
pub(super) fn put<T: Serialize + ?Sized>(rest: &mut Rest<'_>, name: &'static str, value: &T) {
    rest.push((Cow::Borrowed(name), raw(value)));
}
