//! Data of single dialects that the format has no field for.

mod legacy;

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use self::legacy::Reading;
use crate::{Dialect, Fields, Json};

/// The maximum number of dialect names in one document: each is searched for among the others.
const MOST_DIALECTS: usize = 64;

/// The names of state in all dialects. They are directly under the dialect's name, so a name that is missing here is no
/// longer state when it is read again, from the format's JSON or from what a client sent back.
const STATE: [&str; 11] = [
    "signature",
    "redacted_data",
    "reasoning_details",
    "reasoning_opaque",
    "thinking_blocks",
    "extra_content",
    "encrypted_content",
    "id",
    "thought_signature",
    "wire",
    "half",
];

/// Data of single dialects that the format has no field for, kept in its place and sent back unchanged.
///
/// It is keyed by dialect name, so that one dialect's data never reaches another, and divided into [`Part`]s:
///
/// ```
/// use ikigai_core::{Dialect, Part, ProviderData};
///
/// let mut data = ProviderData::default();
/// data.set_part(Dialect::Anthropic, Part::State, "signature", "EqoB…");
/// assert_eq!(data.part_str(Dialect::Anthropic, Part::State, "signature").as_deref(), Some("EqoB…"));
/// assert_eq!(data.part_str(Dialect::Gemini, Part::State, "signature"), None);
/// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"anthropic":{"signature":"EqoB…"}}"#);
/// ```
///
/// In JSON, state is directly under the dialect's name, and the other parts are under `extra`, `response` and `shape`.
/// Any other name that is not a known name of state is read as part of `extra`, so that a caller can write
/// `{"openai-chat": {"logit_bias": {…}}}`. The order of dialects and names is kept, but ignored when comparing.
#[derive(Debug, Clone, Default)]
pub struct ProviderData {
    // Most blocks have none, and the rest have one: a list is faster than a map.
    entries: Vec<Entry>,
}

/// The purpose of a piece of [`ProviderData`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// Must go back to its issuer, byte for byte: signatures, encrypted reasoning, thought signatures, ids of stored
    /// items.
    State,
    /// Fields of the wire object that the format does not know. They are sent with a request in their dialect.
    Extra,
    /// Fields of an answer that mean nothing in a request. They are dropped when the answer becomes a message.
    Answer,
    /// How the document was written (a string or a list, which of two names), needed only to write the same document
    /// again.
    Shape,
}

/// The data of one dialect.
#[derive(Debug, Clone, Default, PartialEq)]
struct Entry {
    dialect: Cow<'static, str>,
    state: Fields,
    extra: Fields,
    answer: Fields,
    shape: Fields,
}

impl Entry {
    fn parts(&self) -> [&Fields; 4] {
        [&self.state, &self.extra, &self.answer, &self.shape]
    }

    fn part(&self, part: Part) -> &Fields {
        match part {
            Part::State => &self.state,
            Part::Extra => &self.extra,
            Part::Answer => &self.answer,
            Part::Shape => &self.shape,
        }
    }

    fn part_mut(&mut self, part: Part) -> &mut Fields {
        match part {
            Part::State => &mut self.state,
            Part::Extra => &mut self.extra,
            Part::Answer => &mut self.answer,
            Part::Shape => &mut self.shape,
        }
    }

    fn is_empty(&self) -> bool {
        self.parts().iter().all(|part| part.is_empty())
    }
}

impl ProviderData {
    /// No data.
    pub(crate) const NONE: ProviderData = ProviderData { entries: Vec::new() };

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all parts of all dialects.
    pub(crate) fn all_parts(&self) -> impl Iterator<Item = &Fields> {
        self.entries.iter().flat_map(Entry::parts)
    }

    /// Returns whether a dialect left anything here.
    pub fn is_of(&self, dialect: Dialect) -> bool {
        self.entry(dialect.as_str()).is_some()
    }

    /// Returns one part of a dialect's data.
    pub fn part(&self, dialect: Dialect, part: Part) -> &Fields {
        self.entry(dialect.as_str()).map_or(Fields::NONE, |entry| entry.part(part))
    }

    /// Returns a string value of a part.
    pub fn part_str(&self, dialect: Dialect, part: Part, name: &str) -> Option<Cow<'_, str>> {
        self.part(dialect, part).str(name)
    }

    /// Sets one value of a part.
    pub fn set_part(&mut self, dialect: Dialect, part: Part, name: impl Into<String>, value: impl Into<Json>) {
        self.own(dialect.as_str()).part_mut(part).set(name, value);
    }

    /// Adds fields to a part. Does nothing if there are none.
    pub fn extend_part(&mut self, dialect: Dialect, part: Part, fields: Fields) {
        if !fields.is_empty() {
            self.own(dialect.as_str()).part_mut(part).merge(fields);
        }
    }

    /// Adds fields that a caller wrote under a dialect's name: known names of state become state; the rest is sent.
    pub(crate) fn extend_as_written(&mut self, dialect: Dialect, fields: Fields) {
        for (name, value) in fields {
            let part = if STATE.contains(&name.as_str()) { Part::State } else { Part::Extra };
            self.set_part(dialect, part, name, value);
        }
    }

    /// Removes a value from a part and returns it.
    pub fn remove_part(&mut self, dialect: Dialect, part: Part, name: &str) -> Option<Json> {
        let entry = self.entries.iter_mut().find(|entry| entry.dialect == dialect.as_str())?;
        let value = entry.part_mut(part).remove(name);
        self.entries.retain(|entry| !entry.is_empty());
        value
    }

    /// Removes a whole part of a dialect's data and returns it.
    pub fn take_part(&mut self, dialect: Dialect, part: Part) -> Fields {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.dialect == dialect.as_str()) else {
            return Fields::default();
        };
        let fields = std::mem::take(entry.part_mut(part));
        self.entries.retain(|entry| !entry.is_empty());
        fields
    }

    /// Returns one part of each dialect's data, with the dialect's name as in JSON; dialects without that part are
    /// omitted.
    pub fn parts(&self, part: Part) -> impl Iterator<Item = (&str, &Fields)> {
        let named = self.entries.iter().map(move |entry| (entry.dialect.as_ref(), entry.part(part)));
        named.filter(|(_, fields)| !fields.is_empty())
    }

    /// Drops one part of all dialects.
    pub(crate) fn without(&mut self, part: Part) {
        for entry in &mut self.entries {
            *entry.part_mut(part) = Fields::default();
        }
        self.entries.retain(|entry| !entry.is_empty());
    }

    /// Merges `other` into this; its values win.
    pub fn merge(&mut self, other: ProviderData) {
        if self.is_empty() {
            *self = other;
            return;
        }
        for entry in other.entries {
            let own = self.own(entry.dialect);
            own.part_mut(Part::State).merge(entry.state);
            own.part_mut(Part::Extra).merge(entry.extra);
            own.part_mut(Part::Answer).merge(entry.answer);
            own.part_mut(Part::Shape).merge(entry.shape);
        }
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.dialect == name)
    }

    /// Returns the entry of a dialect, creating it if necessary.
    fn own(&mut self, dialect: impl Into<Cow<'static, str>>) -> &mut Entry {
        let (entries, dialect) = (&mut self.entries, dialect.into());
        let place = entries.iter().position(|entry| entry.dialect == dialect).unwrap_or_else(|| {
            entries.push(Entry { dialect, ..Entry::default() });
            entries.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was found or made just above")]
        &mut entries[place]
    }
}

impl PartialEq for ProviderData {
    fn eq(&self, other: &Self) -> bool {
        let is_there = |entry: &Entry| other.entry(&entry.dialect) == Some(entry);
        self.entries.len() == other.entries.len() && self.entries.iter().all(is_there)
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.state.iter() {
            map.serialize_entry(name, value)?;
        }
        for (name, part) in [("extra", &self.extra), ("response", &self.answer), ("shape", &self.shape)] {
            if !part.is_empty() {
                map.serialize_entry(name, part)?;
            }
        }
        map.end()
    }
}

impl Serialize for ProviderData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.entries.len()))?;
        for entry in &self.entries {
            map.serialize_entry(entry.dialect.as_ref(), entry)?;
        }
        map.end()
    }
}

impl ProviderData {
    /// Reads the state of known dialects and nothing else. The data may come from an untrusted source, so anything that
    /// is not state is not kept even temporarily.
    pub(crate) fn read_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct States;
        struct State<'d>(Dialect, &'d mut ProviderData);
        impl<'de> Visitor<'de> for States {
            type Value = ProviderData;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object with one object for each dialect")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ProviderData, A::Error> {
                let mut data = ProviderData::default();
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    match name.parse() {
                        Ok(dialect) => map.next_value_seed(State(dialect, &mut data))?,
                        Err(_) => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(data)
            }
        }
        impl<'de> DeserializeSeed<'de> for State<'_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.deserialize_map(self)
            }
        }
        impl<'de> Visitor<'de> for State<'_> {
            type Value = ();

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    match STATE.contains(&name.as_ref()) {
                        true => self.1.set_part(self.0, Part::State, name, map.next_value::<Json>()?),
                        false => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(())
            }
        }
        deserializer.deserialize_map(States)
    }
}

impl<'de> Deserialize<'de> for ProviderData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = ProviderData;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object with one object for each dialect")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ProviderData, A::Error> {
                let mut readings: Vec<Reading> = Vec::new();
                while let Some((name, fields)) = map.next_entry::<String, Fields>()? {
                    let known = name.parse().map(Dialect::as_str);
                    let dialect = known.map_or(Cow::Owned(name), Cow::Borrowed);
                    let place = readings.iter().position(|reading| reading.dialect == dialect);
                    if place.is_none() && readings.len() == MOST_DIALECTS {
                        return Err(A::Error::custom(format!("there are not more than {MOST_DIALECTS} dialects")));
                    }
                    let mut reading = match place {
                        Some(place) => readings.remove(place),
                        None => Reading::new(dialect),
                    };
                    fields.into_iter().for_each(|(name, value)| reading.read(name, value));
                    readings.insert(place.unwrap_or(readings.len()), reading);
                }
                let entries = readings.into_iter().map(Reading::done);
                Ok(ProviderData { entries: entries.filter(|entry| !entry.is_empty()).collect() })
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ProviderData {
    fn schema_name() -> Cow<'static, str> {
        "ProviderData".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What single dialects have to say that the format has no field for, keyed by dialect.",
            "type": "object",
            "additionalProperties": {"type": "object"}
        })
    }
}
