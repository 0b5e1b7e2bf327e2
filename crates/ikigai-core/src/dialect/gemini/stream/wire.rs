//! One frame, read in one pass and without copies.
//!
//! The fields that every text delta brings are read straight into place; counts go directly into the running state,
//! since each frame repeats them. Everything else is kept as the text that it is.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::super::usage::Counts;

/// What the frames so far say beside the content, later ones over earlier ones.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) counts: Counts,
    /// What else stands in `usageMetadata`.
    pub(super) usage: Kept,
    /// What else stands in the answer.
    pub(super) top: Kept,
}

/// Fields as JSON text, by name. A field that a later frame leaves out stays.
#[derive(Debug, Default)]
pub(super) struct Kept(Vec<(String, String)>);

impl Kept {
    pub(super) fn keep(&mut self, name: &str, value: &RawValue) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            // Mostly the same again.
            Some((_, text)) if text == value.get() => {}
            Some((_, text)) => {
                text.clear();
                text.push_str(value.get());
            }
            None => self.0.push((name.to_owned(), value.get().to_owned())),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    pub(super) fn set(&mut self, name: &str, text: String) {
        self.0.push((name.to_owned(), text));
    }

    /// The fields, parsed.
    pub(super) fn parsed(&self) -> impl Iterator<Item = (String, serde_json::Value)> {
        self.0.iter().filter_map(|(name, text)| Some((name.clone(), serde_json::from_str(text).ok()?)))
    }
}

/// One frame.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    pub(super) candidate: Option<Candidate<'a>>,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) error: Option<&'a RawValue>,
}

/// The candidate with index 0.
#[derive(Debug, Default)]
pub(super) struct Candidate<'a> {
    pub(super) parts: Few<Part<'a>>,
    pub(super) finish: Option<Cow<'a, str>>,
    pub(super) index: Option<u64>,
    /// What else stands in the candidate.
    pub(super) rest: Few<Field<'a>>,
}

/// One part.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    pub(super) text: Option<Cow<'a, str>>,
    pub(super) thought: bool,
    pub(super) signature: Option<Cow<'a, str>>,
    /// What else stands in the part.
    pub(super) rest: Few<Field<'a>>,
}

/// A field as JSON text.
pub(super) type Field<'a> = (Cow<'a, str>, &'a RawValue);

/// A list that mostly has one entry: that one needs no memory of its own.
#[derive(Debug)]
pub(super) struct Few<T> {
    first: Option<T>,
    more: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few { first: None, more: Vec::new() }
    }
}

impl<T> Few<T> {
    fn push(&mut self, entry: T) {
        if self.first.is_none() {
            self.first = Some(entry);
        } else {
            self.more.push(entry);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.more)
    }
}

/// Reads a frame, with the counts into `totals`.
pub(super) fn read<'a>(data: &'a str, totals: &mut Totals) -> Result<Frame<'a>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(data);
    let frame = FrameSeed(totals).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(frame)
}

/// A text, borrowed where it has no escapes.
struct Str<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Str<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrVisitor;
        impl<'de> Visitor<'de> for StrVisitor {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(StrVisitor)
    }
}

fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_value::<Option<Str<'de>>>()?.map(|Str(text)| text))
}

/// A field that is kept; `null` is as good as absent.
fn raw<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<&'de RawValue>, A::Error> {
    let raw = map.next_value::<&'de RawValue>()?;
    Ok((raw.get() != "null").then_some(raw))
}

struct FrameSeed<'t>(&'t mut Totals);

impl<'de> DeserializeSeed<'de> for FrameSeed<'_> {
    type Value = Frame<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Frame<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FrameSeed<'_> {
    type Value = Frame<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Frame<'de>, A::Error> {
        let mut frame = Frame::default();
        while let Some(Str(name)) = map.next_key()? {
            match &*name {
                "candidates" => frame.candidate = map.next_value::<Option<Candidates<'de>>>()?.and_then(|all| all.0),
                "usageMetadata" => {
                    map.next_value_seed(Nullable(UsageSeed(self.0)))?;
                }
                "modelVersion" => frame.model = text(&mut map)?,
                "responseId" => frame.id = text(&mut map)?,
                "error" => frame.error = raw(&mut map)?,
                _ => {
                    if let Some(value) = raw(&mut map)? {
                        self.0.top.keep(&name, value);
                    }
                }
            }
        }
        Ok(frame)
    }
}

/// Lets `null` stand for what a seed reads.
struct Nullable<S>(S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Nullable<S> {
    type Value = Option<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Nullable<S> {
    type Value = Option<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or null")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        self.0.deserialize(deserializer).map(Some)
    }
}

struct UsageSeed<'t>(&'t mut Totals);

impl<'de> DeserializeSeed<'de> for UsageSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for UsageSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("token counts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Str(name)) = map.next_key()? {
            match self.0.counts.slot(&name) {
                Some(slot) => {
                    let Count(count) = map.next_value()?;
                    *slot = count.or(*slot);
                }
                None => {
                    if let Some(value) = raw(&mut map)? {
                        self.0.usage.keep(&name, value);
                    }
                }
            }
        }
        Ok(())
    }
}

/// A count: a number, or a text of digits. Anything else counts nothing.
struct Count(Option<u64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl<'de> Visitor<'de> for CountVisitor {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }

            fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
                Ok(Count(Some(count)))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Count, E> {
                Ok(Count(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Count, E> {
                Ok(Count(None))
            }

            fn visit_str<E>(self, text: &str) -> Result<Count, E> {
                Ok(Count(text.parse().ok()))
            }

            fn visit_unit<E>(self) -> Result<Count, E> {
                Ok(Count(None))
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}

/// An object that reads its fields one by one.
trait Fields<'de>: Default {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error>;
}

struct Object<T>(T);

impl<'de, T: Fields<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Fields<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<T>, A::Error> {
                let mut object = T::default();
                while let Some(Str(name)) = map.next_key()? {
                    object.field(name, &mut map)?;
                }
                Ok(Object(object))
            }
        }
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

impl<'de> Fields<'de> for Candidate<'de> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*name {
            "content" => {
                if let Some(Object(Content(parts))) = map.next_value::<Option<Object<Content<'de>>>>()? {
                    self.parts = parts;
                }
            }
            "finishReason" => self.finish = text(map)?,
            "index" => self.index = map.next_value::<Option<u64>>()?,
            _ => {
                if let Some(value) = raw(map)? {
                    self.rest.push((name, value));
                }
            }
        }
        Ok(())
    }
}

/// The parts of a content; its role is always the model's.
#[derive(Default)]
struct Content<'a>(Few<Part<'a>>);

impl<'de> Fields<'de> for Content<'de> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        if name == "parts" {
            if let Some(Parts(parts)) = map.next_value()? {
                self.0 = parts;
            }
        } else {
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

impl<'de> Fields<'de> for Part<'de> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*name {
            "text" => self.text = text(map)?,
            "thought" => self.thought = map.next_value::<Option<bool>>()?.unwrap_or_default(),
            "thoughtSignature" => self.signature = text(map)?.filter(|signature| !signature.is_empty()),
            _ => {
                if let Some(value) = raw(map)? {
                    self.rest.push((name, value));
                }
            }
        }
        Ok(())
    }
}

struct Parts<'a>(Few<Part<'a>>);

impl<'de> Deserialize<'de> for Parts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartsVisitor;
        impl<'de> Visitor<'de> for PartsVisitor {
            type Value = Parts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of parts")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Parts<'de>, A::Error> {
                let mut parts = Few::default();
                while let Some(Object(part)) = seq.next_element()? {
                    parts.push(part);
                }
                Ok(Parts(parts))
            }
        }
        deserializer.deserialize_seq(PartsVisitor)
    }
}

/// The candidate with index 0 among all; the others are passed over.
struct Candidates<'a>(Option<Candidate<'a>>);

impl<'de> Deserialize<'de> for Candidates<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CandidatesVisitor;
        impl<'de> Visitor<'de> for CandidatesVisitor {
            type Value = Candidates<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of candidates")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Candidates<'de>, A::Error> {
                let mut chosen = None;
                while let Some(Object(candidate)) = seq.next_element::<Object<Candidate<'de>>>()? {
                    if chosen.is_none() && candidate.index.unwrap_or_default() == 0 {
                        chosen = Some(candidate);
                    }
                }
                Ok(Candidates(chosen))
            }
        }
        deserializer.deserialize_seq(CandidatesVisitor)
    }
}
