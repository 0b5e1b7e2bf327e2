//! What a dialect has to say that the format has no field for.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Dialect;

/// Opaque data of single dialects, kept in its place and handed back untouched.
///
/// Keyed by dialect name, so that one dialect's state never reaches another:
///
/// ```
/// use ikigai_core::{Dialect, ProviderData};
///
/// let mut data = ProviderData::default();
/// data.set(Dialect::Anthropic, "signature", "EqoB…");
/// assert_eq!(data.str(Dialect::Anthropic, "signature"), Some("EqoB…"));
/// assert_eq!(data.str(Dialect::Gemini, "signature"), None);
/// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"anthropic":{"signature":"EqoB…"}}"#);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProviderData {
    // Most blocks have none, and the rest have one: a list is quicker than a map.
    entries: Vec<Entry>,
}

/// A dialect's name and its fields.
type Entry = (String, Map<String, Value>);

impl ProviderData {
    /// Is there nothing at all?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Everything that one dialect left here.
    pub fn get(&self, dialect: Dialect) -> Option<&Map<String, Value>> {
        self.iter().find(|(name, _)| *name == dialect.as_str()).map(|(_, own)| own)
    }

    /// One value that a dialect left here.
    pub fn value(&self, dialect: Dialect, key: &str) -> Option<&Value> {
        self.get(dialect)?.get(key)
    }

    /// One text that a dialect left here.
    pub fn str(&self, dialect: Dialect, key: &str) -> Option<&str> {
        self.value(dialect, key)?.as_str()
    }

    /// Is the flag set?
    pub fn flag(&self, dialect: Dialect, key: &str) -> bool {
        self.value(dialect, key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Keeps one value for a dialect; a value already there under that key is replaced.
    pub fn set(&mut self, dialect: Dialect, key: impl Into<String>, value: impl Into<Value>) {
        self.own(dialect.as_str()).insert(key.into(), value.into());
    }

    /// Takes one value of a dialect out.
    pub fn remove(&mut self, dialect: Dialect, key: &str) -> Option<Value> {
        let own = self.entries.iter_mut().find(|(name, _)| name == dialect.as_str())?;
        let value = own.1.shift_remove(key);
        self.entries.retain(|(_, own)| !own.is_empty());
        value
    }

    /// Keeps everything in `fields` for a dialect, beside what is there; nothing happens when it is empty.
    pub fn extend(&mut self, dialect: Dialect, fields: Map<String, Value>) {
        if !fields.is_empty() {
            self.own(dialect.as_str()).extend(fields);
        }
    }

    /// Adds what `other` holds; on a clash `other` wins.
    pub fn merge(&mut self, other: ProviderData) {
        if self.is_empty() {
            *self = other;
            return;
        }
        for (name, fields) in other.entries {
            self.own(&name).extend(fields);
        }
    }

    /// Every entry, with the dialect's name as it is written in JSON.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        self.entries.iter().map(|(name, own)| (name.as_str(), own))
    }

    /// The fields of one dialect, made when there are none yet.
    fn own(&mut self, name: &str) -> &mut Map<String, Value> {
        let entries = &mut self.entries;
        let place = entries.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            entries.push((name.to_owned(), Map::new()));
            entries.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was found or made just above")]
        &mut entries[place].1
    }
}

impl Serialize for ProviderData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, own) in self.iter() {
            map.serialize_entry(name, own)?;
        }
        map.end()
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
                let mut data = ProviderData::default();
                while let Some((name, fields)) = map.next_entry::<String, Map<String, Value>>()? {
                    data.own(&name).extend(fields);
                }
                Ok(data)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ProviderData {
    fn schema_name() -> std::borrow::Cow<'static, str> {
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
