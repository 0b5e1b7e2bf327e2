//! An ordered list of named JSON values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::Json;
use super::wire::Rest;

/// Named JSON values in order; a name may appear twice, as in JSON.
///
/// The order is kept because prompt caches see it, but it is not significant when fields are compared.
///
/// ```
/// use ikigai_core::Fields;
///
/// let mut fields = Fields::default();
/// fields.set("logit_bias", serde_json::json!({"50256": -100}));
/// assert_eq!(serde_json::to_string(&fields).unwrap(), r#"{"logit_bias":{"50256":-100}}"#);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(String, Json)>);

impl Fields {
    /// No fields.
    pub(crate) const NONE: &'static Fields = &Fields(Vec::new());

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the value of a name; the last one if the name appears twice.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Returns the text of a name, if its value is a JSON string.
    pub fn str(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name)?.as_str()
    }

    /// Returns whether a name is set to `true`.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Json::as_bool).unwrap_or(false)
    }

    /// Sets a name, in its existing place or else at the end.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Json>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => *own = value,
            None => self.0.push((name, value)),
        }
    }

    /// Adds a field at the end, even if its name already exists.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<Json>) {
        self.0.push((name.into(), value.into()));
    }

    /// Removes a field; the last one if its name appears twice.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        let place = self.0.iter().rposition(|(own, _)| own == name)?;
        Some(self.0.remove(place).1)
    }

    /// Keeps the fields for which `keep` returns `true`.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Json) -> bool) {
        self.0.retain(|(name, value)| keep(name, value));
    }

    /// Sets all fields of `other`.
    pub fn merge(&mut self, other: Fields) {
        if other.len() > FEW {
            let mut setting = Setting { fields: std::mem::take(self), places: HashMap::new() };
            setting.merge(other);
            *self = setting.done();
        } else if self.0.is_empty() {
            *self = other;
        } else {
            other.0.into_iter().for_each(|(name, value)| self.set(name, value));
        }
    }

    /// Iterates over the fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Iterates over the names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the same fields, borrowed as the unknown fields of a wire struct.
    pub(crate) fn as_rest(&self) -> Rest<'_> {
        self.iter().map(|(name, value)| (Cow::Borrowed(name), Cow::Borrowed(value.raw()))).collect()
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        fn by_name(fields: &Fields) -> Vec<&(String, Json)> {
            let mut fields: Vec<&(String, Json)> = fields.0.iter().collect();
            // Values of the same name stay in order, because the last one counts.
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            fields
        }
        self.0 == other.0 || (self.len() == other.len() && by_name(self) == by_name(other))
    }
}

impl FromIterator<(String, Json)> for Fields {
    fn from_iter<T: IntoIterator<Item = (String, Json)>>(fields: T) -> Self {
        Fields(fields.into_iter().collect())
    }
}

impl IntoIterator for Fields {
    type Item = (String, Json);
    type IntoIter = std::vec::IntoIter<(String, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for Fields {
    fn from(object: serde_json::Map<String, serde_json::Value>) -> Self {
        object.into_iter().map(|(name, value)| (name, Json::from(value))).collect()
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Fields::read_few(deserializer, usize::MAX)?.unwrap_or_default())
    }
}

impl Fields {
    /// Reads an object; `None` if it has more fields than this. Further fields are not kept.
    pub(crate) fn read_few<'de, D: Deserializer<'de>>(deserializer: D, most: usize) -> Result<Option<Self>, D::Error> {
        struct Entries(usize);
        impl<'de> Visitor<'de> for Entries {
            type Value = Option<Fields>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Fields>, A::Error> {
                let mut fields = Fields::default();
                while let Some((name, value)) = map.next_entry::<String, Json>()? {
                    fields.push(name, value);
                    if fields.len() > self.0 {
                        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                        return Ok(None);
                    }
                }
                Ok(Some(fields))
            }
        }
        deserializer.deserialize_map(Entries(most))
    }
}

/// The number of fields up to which they are searched one by one: beyond it, there is an index.
const FEW: usize = 32;

/// Fields that are being set. An untrusted source may have written very many of them; each takes the same time, however
/// many there are.
#[derive(Debug, Default)]
pub(crate) struct Setting {
    fields: Fields,
    /// The first place of each name, once there are more than a few.
    places: HashMap<String, usize>,
}

impl Setting {
    /// Same as [`Fields::set`].
    pub(crate) fn set(&mut self, name: String, value: Json) {
        if self.fields.len() < FEW {
            return self.fields.set(name, value);
        }
        if self.places.is_empty() {
            for (place, (name, _)) in self.fields.0.iter().enumerate() {
                self.places.entry(name.clone()).or_insert(place);
            }
        }
        match self.places.get(&name).and_then(|place| self.fields.0.get_mut(*place)) {
            Some((_, own)) => *own = value,
            None => {
                self.places.insert(name.clone(), self.fields.len());
                self.fields.push(name, value);
            }
        }
    }

    /// Same as [`Fields::merge`].
    pub(crate) fn merge(&mut self, other: Fields) {
        if self.fields.is_empty() {
            self.fields = other;
        } else {
            other.0.into_iter().for_each(|(name, value)| self.set(name, value));
        }
    }

    pub(crate) fn done(self) -> Fields {
        self.fields
    }
}
