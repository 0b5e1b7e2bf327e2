//! One frame, read in one pass and without copies.
//!
//! The fields that every text delta brings are read straight into place. Counts go directly into the running state, and
//! what stands beside them is only looked at closely when it differs from the frame before: it mostly does not.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::super::usage::Counts;
use super::values::{Count, Mark};

/// What the frames so far say beside the content, later ones over earlier ones.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) counts: Counts,
    /// What else stands in `usageMetadata`.
    pub(super) usage: Kept,
    /// What else stands in the answer.
    pub(super) top: Kept,
    /// Something in this frame's `usageMetadata` is not kept yet.
    news: bool,
}

/// So many fields of one object are kept at most.
const MOST_FIELDS: usize = 64;

/// Fields as JSON text, by name. A field that a later frame leaves out stays.
#[derive(Debug, Default)]
pub(super) struct Kept(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    name: String,
    text: String,
    /// The mark of what the text says, where one was taken.
    mark: u64,
}

impl Kept {
    fn find(&mut self, name: &str) -> Option<&mut Entry> {
        self.0.iter_mut().find(|entry| entry.name == name)
    }

    pub(super) fn keep(&mut self, name: &str, value: &RawValue) {
        match self.find(name) {
            // Mostly the same again.
            Some(entry) if entry.text == value.get() => {}
            Some(entry) => {
                entry.text.clear();
                entry.text.push_str(value.get());
            }
            None => self.set(name, value.get().to_owned()),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|entry| entry.name == name)
    }

    pub(super) fn set(&mut self, name: &str, text: String) {
        // Nobody has so many fields, unless to make us hold them.
        if self.0.len() >= MOST_FIELDS {
            return;
        }
        self.0.push(Entry { name: name.to_owned(), text, mark: 0 });
    }

    /// The fields, parsed.
    pub(super) fn parsed(&self) -> impl Iterator<Item = (String, serde_json::Value)> {
        self.0.iter().filter_map(|entry| Some((entry.name.clone(), serde_json::from_str(&entry.text).ok()?)))
    }
}

/// One frame.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    /// The candidate with index 0; what others say is passed over.
    pub(super) candidate: Option<Candidate<'a>>,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) error: bool,
}

/// A candidate.
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
    let mut top = Top { frame: Frame::default(), totals };
    parse(data, &mut top)?;
    let frame = top.frame;
    if std::mem::take(&mut totals.news) {
        parse(data, &mut News(totals))?;
    }
    Ok(frame)
}

fn parse<'a>(data: &'a str, object: &mut impl Fields<'a>) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(data);
    Fill(object).deserialize(&mut deserializer)?;
    deserializer.end()
}

/// An object that takes its fields one by one.
trait Fields<'de> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error>;
}

/// Fills an object in place; `null` leaves it as it is.
struct Fill<'t, T>(&'t mut T);

impl<'de, T: Fields<'de>> DeserializeSeed<'de> for Fill<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Fields<'de>> Visitor<'de> for Fill<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            self.0.field(name, &mut map)?;
        }
        Ok(())
    }
}

/// A field's name, borrowed where it has no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(TextVisitor)? {
            Some(name) => Ok(Name(name)),
            None => Ok(Name(Cow::Borrowed(""))),
        }
    }
}

/// A text, borrowed where it has no escapes; none for `null`.
struct Text<'a>(Option<Cow<'a, str>>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    map.next_value::<Text<'de>>().map(|Text(text)| text)
}

/// A field that is kept; `null` is as good as absent.
fn raw<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<&'de RawValue>, A::Error> {
    let raw = map.next_value::<&'de RawValue>()?;
    Ok((raw.get() != "null").then_some(raw))
}

struct Top<'t, 'a> {
    frame: Frame<'a>,
    totals: &'t mut Totals,
}

impl<'de> Fields<'de> for Top<'_, 'de> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*name {
            "candidates" => map.next_value_seed(Candidates(&mut self.frame.candidate))?,
            "usageMetadata" => map.next_value_seed(Fill(&mut Usage(self.totals)))?,
            "modelVersion" => self.frame.model = text(map)?,
            "responseId" => self.frame.id = text(map)?,
            "error" => self.frame.error = raw(map)?.is_some(),
            _ => {
                if let Some(value) = raw(map)? {
                    self.totals.top.keep(&name, value);
                }
            }
        }
        Ok(())
    }
}

struct Usage<'t>(&'t mut Totals);

impl<'de> Fields<'de> for Usage<'_> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        if let Some(slot) = self.0.counts.slot(&name) {
            let Count(count) = map.next_value()?;
            *slot = count.or(*slot);
            return Ok(());
        }
        let Mark(mark) = map.next_value()?;
        let known = self.0.usage.find(&name).is_some_and(|entry| entry.mark == mark);
        self.0.news |= !known && mark != 0;
        Ok(())
    }
}

/// The second look at a frame whose `usageMetadata` says something new.
struct News<'t>(&'t mut Totals);

impl<'de> Fields<'de> for News<'_> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        if name == "usageMetadata" {
            return map.next_value_seed(Fill(&mut Details(&mut self.0.usage)));
        }
        map.next_value::<IgnoredAny>().map(drop)
    }
}

struct Details<'t>(&'t mut Kept);

impl<'de> Fields<'de> for Details<'_> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        let Some(value) = raw(map)? else { return Ok(()) };
        if Counts::default().slot(&name).is_none() {
            self.0.keep(&name, value);
            let mark = serde_json::from_str::<Mark>(value.get()).map_or(0, |Mark(mark)| mark);
            if let Some(entry) = self.0.find(&name) {
                entry.mark = mark;
            }
        }
        Ok(())
    }
}

impl<'de> Fields<'de> for Candidate<'de> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*name {
            "content" => map.next_value_seed(Fill(&mut Content(&mut self.parts)))?,
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
struct Content<'t, 'a>(&'t mut Few<Part<'a>>);

impl<'de> Fields<'de> for Content<'_, 'de> {
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        if name == "parts" {
            return map.next_value_seed(Parts(self.0));
        }
        map.next_value::<IgnoredAny>().map(drop)
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

struct Parts<'t, 'a>(&'t mut Few<Part<'a>>);

impl<'de> DeserializeSeed<'de> for Parts<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Parts<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of parts")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        // The first is filled where it stays.
        let first = self.0.first.insert(Part::default());
        if seq.next_element_seed(Fill(first))?.is_none() {
            self.0.first = None;
            return Ok(());
        }
        loop {
            let mut part = Part::default();
            if seq.next_element_seed(Fill(&mut part))?.is_none() {
                return Ok(());
            }
            self.0.more.push(part);
        }
    }
}

struct Candidates<'t, 'a>(&'t mut Option<Candidate<'a>>);

impl<'de> DeserializeSeed<'de> for Candidates<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Candidates<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of candidates")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        loop {
            let candidate = self.0.insert(Candidate::default());
            if seq.next_element_seed(Fill(candidate))?.is_none() {
                *self.0 = None;
                return Ok(());
            }
            if candidate.index.unwrap_or_default() == 0 {
                break;
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}
