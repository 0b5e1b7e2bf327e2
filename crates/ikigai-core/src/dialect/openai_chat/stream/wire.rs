//! One chunk of a stream, borrowed from its text.
//!
//! Written by hand, because what comes in is loose: any field may be `null`, missing or of another type, and none of
//! that may break a stream. A field that does not fit reads as absent. Nothing is allocated but what has escapes, and
//! each value is read straight into its place: moving it there, layer by layer, costs more than reading it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
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
    pub(super) details: Vec<Detail<'a>>,
    pub(super) refusal: Str<'a>,
    pub(super) tool_calls: Vec<Call<'a>>,
    pub(super) function_call: Option<Box<Function<'a>>>,
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
    /// Takes the text out, unless it is empty.
    pub(super) fn take(&mut self) -> Option<Cow<'a, str>> {
        self.0.take().filter(|text| !text.is_empty())
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

    /// Each element in its place, to take out of it what is needed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(&mut self.others)
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few { first: None, others: Vec::new() }
    }
}

/// Reads a chunk into its place.
pub(super) fn read<'a>(data: &'a str, chunk: &mut Chunk<'a>) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(data);
    Fill(chunk).deserialize(&mut reader)?;
    reader.end()
}

/// Something that is filled from any JSON value; what does not fit changes nothing.
trait Loose<'de> {
    fn string(&mut self, _: Cow<'de, str>) {}

    fn number(&mut self, _: u64) {}

    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// The place that is filled.
struct Fill<'p, T>(&'p mut T);

impl<'de, T: Loose<'de>> DeserializeSeed<'de> for Fill<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Loose<'de>> Visitor<'de> for Fill<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        self.0.string(Cow::Borrowed(text));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.string(Cow::Owned(text.to_owned()));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.0.number(number);
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.list(list)
    }
}

/// The next key of a map.
fn key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    let mut key = Str::default();
    Ok(map.next_key_seed(Fill(&mut key))?.map(|()| key.0.unwrap_or_default()))
}

/// Passes over the next value of a map.
fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

impl<'de> Loose<'de> for Str<'de> {
    fn string(&mut self, text: Cow<'de, str>) {
        self.0 = Some(text);
    }
}

impl<'de> Loose<'de> for Number {
    fn number(&mut self, number: u64) {
        self.0 = Some(number);
    }
}

impl<'de, T: Loose<'de> + Default> Loose<'de> for Vec<T> {
    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        loop {
            let mut item = T::default();
            if list.next_element_seed(Fill(&mut item))?.is_none() {
                return Ok(());
            }
            self.push(item);
        }
    }
}

/// A list, where it matters whether there is one. Its first element is read in its place.
impl<'de, T: Loose<'de> + Default> Loose<'de> for Option<Few<T>> {
    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        let few = self.get_or_insert_default();
        let first = few.first.get_or_insert_default();
        if list.next_element_seed(Fill(first))?.is_none() {
            few.first = None;
            return Ok(());
        }
        few.others.list(list)
    }
}

/// An object, where it matters whether there is one.
impl<'de> Loose<'de> for Option<Box<Function<'de>>> {
    fn map<A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        self.get_or_insert_default().map(map)
    }
}

impl<'de> Loose<'de> for Option<Function<'de>> {
    fn map<A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        self.get_or_insert_default().map(map)
    }
}

impl<'de> Loose<'de> for Chunk<'de> {
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "id" => map.next_value_seed(Fill(&mut self.id))?,
                "model" => map.next_value_seed(Fill(&mut self.model))?,
                "choices" => map.next_value_seed(Fill(&mut self.choices))?,
                "usage" => self.usage = map.next_value()?,
                "error" => self.error = map.next_value()?,
                _ => skip(&mut map)?,
            }
        }
        Ok(())
    }
}

impl<'de> Loose<'de> for Choice<'de> {
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let (mut has_delta, mut has_message) = (false, false);
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "index" => map.next_value_seed(Fill(&mut self.index))?,
                "delta" => {
                    has_delta = true;
                    map.next_value_seed(Fill(&mut self.delta))?;
                }
                "message" => {
                    has_message = true;
                    skip(&mut map)?;
                }
                "finish_reason" => map.next_value_seed(Fill(&mut self.finish_reason))?,
                "logprobs" => self.logprobs = map.next_value()?,
                "usage" => self.more |= map.next_value::<Option<IgnoredAny>>()?.is_some(),
                _ => skip(&mut map)?,
            }
        }
        self.is_whole = has_message && !has_delta;
        Ok(())
    }
}

impl<'de> Loose<'de> for Delta<'de> {
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "content" => map.next_value_seed(Fill(&mut self.content))?,
                "reasoning_content" => map.next_value_seed(Fill(&mut self.reasoning_content))?,
                "reasoning" => map.next_value_seed(Fill(&mut self.reasoning))?,
                "reasoning_details" => map.next_value_seed(Fill(&mut self.details))?,
                "refusal" => map.next_value_seed(Fill(&mut self.refusal))?,
                "tool_calls" => map.next_value_seed(Fill(&mut self.tool_calls))?,
                "function_call" => map.next_value_seed(Fill(&mut self.function_call))?,
                "audio" => self.audio = map.next_value()?,
                // The one is always the same; the other names the kind of the text that stands beside it.
                "role" | "channel" => skip(&mut map)?,
                _ => {
                    if let Some(raw) = map.next_value::<Option<&RawValue>>()? {
                        self.rest.push((key, raw));
                    }
                }
            }
        }
        Ok(())
    }
}

impl<'de> Loose<'de> for Content<'de> {
    fn string(&mut self, text: Cow<'de, str>) {
        *self = Content::Text(text);
    }

    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        *self = Content::Parts(parts);
        Ok(())
    }
}

impl<'de> Loose<'de> for Detail<'de> {
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "type" => map.next_value_seed(Fill(&mut self.kind))?,
                "index" => map.next_value_seed(Fill(&mut self.index))?,
                "text" => map.next_value_seed(Fill(&mut self.text))?,
                "summary" => map.next_value_seed(Fill(&mut self.summary))?,
                "data" => map.next_value_seed(Fill(&mut self.data))?,
                "id" => self.id = Some(map.next_value()?),
                "format" => self.format = Some(map.next_value()?),
                "signature" => self.signature = Some(map.next_value()?),
                _ => self.rest.push((key, map.next_value()?)),
            }
        }
        Ok(())
    }
}

impl<'de> Loose<'de> for Call<'de> {
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "index" => map.next_value_seed(Fill(&mut self.index))?,
                "id" => map.next_value_seed(Fill(&mut self.id))?,
                "type" => map.next_value_seed(Fill(&mut self.kind))?,
                "function" => map.next_value_seed(Fill(&mut self.function))?,
                "custom" => map.next_value_seed(Fill(&mut self.custom))?,
                "extra_content" => self.extra_content = map.next_value()?,
                _ => skip(&mut map)?,
            }
        }
        Ok(())
    }
}

impl<'de> Loose<'de> for Function<'de> {
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = key(&mut map)? {
            match key.as_ref() {
                "name" => map.next_value_seed(Fill(&mut self.name))?,
                // A custom tool's input is free text in the same place.
                "arguments" | "input" => map.next_value_seed(Fill(&mut self.arguments))?,
                _ => skip(&mut map)?,
            }
        }
        Ok(())
    }
}

impl<'de> Loose<'de> for Arguments<'de> {
    fn string(&mut self, text: Cow<'de, str>) {
        *self = Arguments::Text(text);
    }

    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = map.next_entry()? {
            object.insert(key, value);
        }
        *self = Arguments::Object(object);
        Ok(())
    }
}
