//! One chunk of a stream, borrowed from its text.
//!
//! Written by hand, because what comes in is loose: any field may be `null`, missing or of another type, and none of
//! that may break a stream. A field that does not fit reads as absent. Nothing is allocated but what has escapes.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A chunk.
#[derive(Debug, Default)]
pub(super) struct Chunk<'a> {
    pub(super) id: Str<'a>,
    pub(super) model: Str<'a>,
    /// None when there is no list of choices at all.
    pub(super) choices: Option<Few<Choice<'a>>>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
}

/// One choice of a chunk.
#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    pub(super) index: Number,
    pub(super) delta: Delta<'a>,
    pub(super) finish_reason: Str<'a>,
    pub(super) logprobs: Option<&'a RawValue>,
    /// A field that only some chunks have: the chunk is worth a second look.
    pub(super) more: bool,
    /// There is a message and no delta: this is no chunk, but a whole answer.
    pub(super) is_whole: bool,
}

/// What a choice adds.
#[derive(Debug, Default)]
pub(super) struct Delta<'a> {
    pub(super) content: Content<'a>,
    pub(super) reasoning_content: Str<'a>,
    pub(super) reasoning: Str<'a>,
    pub(super) details: Few<Detail<'a>>,
    pub(super) refusal: Str<'a>,
    pub(super) tool_calls: Few<Call<'a>>,
    pub(super) function_call: Option<Function<'a>>,
    pub(super) audio: Option<&'a RawValue>,
    /// Whatever else there is, nulls apart.
    pub(super) rest: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// Text, or a list of parts.
#[derive(Debug, Default)]
pub(super) enum Content<'a> {
    #[default]
    None,
    Text(Cow<'a, str>),
    Parts(Vec<Value>),
}

/// A piece of one item of `reasoning_details`.
#[derive(Debug, Default)]
pub(super) struct Detail<'a> {
    pub(super) kind: Str<'a>,
    pub(super) index: Number,
    pub(super) text: Str<'a>,
    pub(super) summary: Str<'a>,
    pub(super) data: Str<'a>,
    pub(super) id: Option<&'a RawValue>,
    pub(super) format: Option<&'a RawValue>,
    pub(super) signature: Option<&'a RawValue>,
    /// The other fields, nulls included.
    pub(super) rest: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// A piece of one tool call.
#[derive(Debug, Default)]
pub(super) struct Call<'a> {
    pub(super) index: Number,
    pub(super) id: Str<'a>,
    pub(super) kind: Str<'a>,
    pub(super) function: Option<Function<'a>>,
    pub(super) custom: Option<Function<'a>>,
    pub(super) extra_content: Option<&'a RawValue>,
}

/// A piece of what is called.
#[derive(Debug, Default)]
pub(super) struct Function<'a> {
    pub(super) name: Str<'a>,
    pub(super) arguments: Arguments<'a>,
}

/// Arguments as text, or as the object that some send.
#[derive(Debug, Default)]
pub(super) enum Arguments<'a> {
    #[default]
    None,
    Text(Cow<'a, str>),
    Object(Map<String, Value>),
}

/// A text, or nothing that is one.
#[derive(Debug, Default)]
pub(super) struct Str<'a>(pub(super) Option<Cow<'a, str>>);

impl<'a> Str<'a> {
    /// The text, unless it is empty.
    pub(super) fn some(self) -> Option<Cow<'a, str>> {
        self.0.filter(|text| !text.is_empty())
    }

    /// The same, left where it is.
    pub(super) fn as_some(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

/// A whole number, or nothing that is one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(pub(super) Option<u64>);

/// A list that mostly has one element, which then costs nothing.
#[derive(Debug)]
pub(super) struct Few<T> {
    first: Option<T>,
    others: Vec<T>,
}

impl<T> Few<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.others)
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few { first: None, others: Vec::new() }
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.others)
    }
}

/// Something that reads from any JSON value; what does not fit gives the default.
pub(super) trait Loose<'de>: Default {
    fn string(_: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn number(_: u64) -> Self {
        Self::default()
    }

    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// A loose type, as serde reads it.
pub(super) struct Any<T>(pub(super) T);

impl<'de, T: Loose<'de>> Deserialize<'de> for Any<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor(PhantomData)).map(Any)
    }
}

struct AnyVisitor<T>(PhantomData<T>);

impl<'de, T: Loose<'de>> Visitor<'de> for AnyVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::string(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::string(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::number(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }
}

/// The next value of a map, read loosely.
fn value<'de, T: Loose<'de>, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    map.next_value::<Any<T>>().map(|any| any.0)
}

/// The next key of a map.
fn key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_key::<Any<Str<'de>>>()?.map(|key| key.0.0.unwrap_or_default()))
}

impl<'de> Loose<'de> for Str<'de> {
    fn string(text: Cow<'de, str>) -> Self {
        Str(Some(text))
    }
}

impl<'de> Loose<'de> for Number {
    fn number(number: u64) -> Self {
        Number(Some(number))
    }
}

impl<'de, T: Loose<'de>> Loose<'de> for Few<T> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut few = Few::default();
        few.first = list.next_element::<Any<T>>()?.map(|any| any.0);
        while let Some(Any(item)) = list.next_element::<Any<T>>()? {
            few.others.push(item);
        }
        Ok(few)
    }
}

/// A list, where it matters whether there is one.
impl<'de, T: Loose<'de>> Loose<'de> for Option<Few<T>> {
    fn list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Few::list(list).map(Some)
    }
}

/// An object, where it matters whether there is one.
impl<'de> Loose<'de> for Option<Function<'de>> {
    fn map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        Function::map(map).map(Some)
    }
}

impl<'de> Loose<'de> for Chunk<'de> {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut chunk = Chunk::default();
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "id" => chunk.id = value(&mut map)?,
                "model" => chunk.model = value(&mut map)?,
                "choices" => chunk.choices = value(&mut map)?,
                "usage" => chunk.usage = map.next_value()?,
                "error" => chunk.error = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(chunk)
    }
}

impl<'de> Loose<'de> for Choice<'de> {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut choice = Choice::default();
        let (mut has_delta, mut has_message) = (false, false);
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "index" => choice.index = value(&mut map)?,
                "delta" => {
                    has_delta = true;
                    choice.delta = value(&mut map)?;
                }
                "message" => {
                    has_message = true;
                    map.next_value::<IgnoredAny>()?;
                }
                "finish_reason" => choice.finish_reason = value(&mut map)?,
                "logprobs" => choice.logprobs = map.next_value()?,
                "usage" => choice.more |= map.next_value::<Option<IgnoredAny>>()?.is_some(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        choice.is_whole = has_message && !has_delta;
        Ok(choice)
    }
}

impl<'de> Loose<'de> for Delta<'de> {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut delta = Delta::default();
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "content" => delta.content = value(&mut map)?,
                "reasoning_content" => delta.reasoning_content = value(&mut map)?,
                "reasoning" => delta.reasoning = value(&mut map)?,
                "reasoning_details" => delta.details = value(&mut map)?,
                "refusal" => delta.refusal = value(&mut map)?,
                "tool_calls" => delta.tool_calls = value(&mut map)?,
                "function_call" => delta.function_call = value(&mut map)?,
                "audio" => delta.audio = map.next_value()?,
                // The one is always the same; the other names the kind of the text that stands beside it.
                "role" | "channel" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    if let Some(raw) = map.next_value::<Option<&RawValue>>()? {
                        delta.rest.push((key, raw));
                    }
                }
            }
        }
        Ok(delta)
    }
}

impl<'de> Loose<'de> for Content<'de> {
    fn string(text: Cow<'de, str>) -> Self {
        Content::Text(text)
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        Ok(Content::Parts(parts))
    }
}

impl<'de> Loose<'de> for Detail<'de> {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut detail = Detail::default();
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "type" => detail.kind = value(&mut map)?,
                "index" => detail.index = value(&mut map)?,
                "text" => detail.text = value(&mut map)?,
                "summary" => detail.summary = value(&mut map)?,
                "data" => detail.data = value(&mut map)?,
                "id" => detail.id = Some(map.next_value()?),
                "format" => detail.format = Some(map.next_value()?),
                "signature" => detail.signature = Some(map.next_value()?),
                _ => detail.rest.push((key, map.next_value()?)),
            }
        }
        Ok(detail)
    }
}

impl<'de> Loose<'de> for Call<'de> {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut call = Call::default();
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "index" => call.index = value(&mut map)?,
                "id" => call.id = value(&mut map)?,
                "type" => call.kind = value(&mut map)?,
                "function" => call.function = value(&mut map)?,
                "custom" => call.custom = value(&mut map)?,
                "extra_content" => call.extra_content = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(call)
    }
}

impl<'de> Loose<'de> for Function<'de> {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut function = Function::default();
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "name" => function.name = value(&mut map)?,
                // A custom tool's input is free text in the same place.
                "arguments" | "input" => function.arguments = value(&mut map)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(function)
    }
}

impl<'de> Loose<'de> for Arguments<'de> {
    fn string(text: Cow<'de, str>) -> Self {
        Arguments::Text(text)
    }

    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = map.next_entry()? {
            object.insert(key, value);
        }
        Ok(Arguments::Object(object))
    }
}
