//! Objects whose `type` names their kind, and objects of any kind.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::text::unescape;
use super::wire::{Raw, Rest, Text};

/// An object whose fields are kept as written, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object<'a>(pub(crate) Rest<'a>);

impl<'a> Object<'a> {
    /// Returns the first field with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, raw)| raw.as_ref())
    }

    /// Returns the first field with this name, if it is a string.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        unescape(self.get(name)?.get())
    }

    /// Removes and returns the first field with this name, if its raw text passes the test.
    pub(crate) fn take_if(&mut self, name: &str, is_meant: impl FnOnce(&str) -> bool) -> Option<Raw<'a>> {
        let place = self.0.iter().position(|(own, _)| own == name)?;
        self.0.get(place).filter(|(_, raw)| is_meant(raw.get()))?;
        Some(Raw(self.0.remove(place).1))
    }

    /// Removes and returns a field, unless it is `null`.
    pub(crate) fn take(&mut self, name: &str) -> Option<Raw<'a>> {
        self.take_if(name, |raw| raw != "null")
    }

    /// Removes and returns a field that is a string.
    pub(crate) fn take_text(&mut self, name: &str) -> Option<String> {
        let text = self.text(name)?.into_owned();
        self.take(name);
        Some(text)
    }

    /// Returns the first of these names that appears twice.
    pub(crate) fn twice<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        // Few objects have many fields, and with few it is faster to look for any name that appears twice.
        let fields = self.0.iter().enumerate();
        let is_twice = |(place, (name, _)): (usize, &(Cow<'a, str>, _))| {
            self.0.iter().take(place).any(|(before, _)| before == name)
        };
        if self.0.len() < 2 || self.0.len() <= 8 && !fields.into_iter().any(is_twice) {
            return None;
        }
        names.iter().copied().find(|name| self.0.iter().filter(|(own, _)| own == name).nth(1).is_some())
    }

    /// Adds a field at the end.
    pub(crate) fn push(&mut self, name: &'static str, value: Raw<'a>) {
        self.0.push((Cow::Borrowed(name), value.0));
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, raw)| (name, raw)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut object = Object::default();
                while let Some((name, raw)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    object.0.push((name.0, Cow::Borrowed(raw)));
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// An object of a known type, as a struct; or any other object, complete, with its fields in order.
#[derive(Debug, Clone)]
pub(crate) enum Tagged<'a, T> {
    /// An object of a known type.
    Known(T),
    /// An object of another type, or without one.
    Whole(Raw<'a>),
}

impl<T: Serialize> Serialize for Tagged<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Tagged::Known(fields) => fields.serialize(serializer),
            Tagged::Whole(raw) => raw.serialize(serializer),
        }
    }
}
