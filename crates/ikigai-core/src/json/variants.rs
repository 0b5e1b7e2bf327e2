//! Reads enums whose objects name their variant in `type`, without a copy in between.
//!
//! Serde first reads such an object into its own buffer, where raw JSON loses its spelling: `1.0e2` becomes `100.0`,
//! and an integer of forty digits becomes an approximation. Here the variant is read from the object itself. Only the
//! fields before the type are held, as the text in which they are written.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};

use super::Json;

/// An enum that is read according to its `type`.
pub(crate) trait Variants<'de>: Sized {
    /// What it is, for the error message about something else.
    const WHAT: &'static str;

    /// The names of its variants.
    const WORDS: &'static [&'static str];

    /// Reads the variant with one of those names.
    fn read<A: MapAccess<'de>>(word: &str, fields: MapAccessDeserializer<A>) -> Result<Self, A::Error>;
}

/// Reads an object of such an enum.
pub(crate) fn read_variant<'de, D: Deserializer<'de>, T: Variants<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);
    impl<'de, T: Variants<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::WHAT)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let mut held = Vec::new();
            while let Some(name) = map.next_key_seed(Name)? {
                let Some(name) = name else {
                    let word = map.next_value_seed(Word(T::WORDS))?;
                    let fields = HeldFirst { held: held.into_iter(), value: None, map };
                    return T::read(word, MapAccessDeserializer::new(fields));
                };
                held.push((name, map.next_value()?));
            }
            Err(A::Error::missing_field("type"))
        }
    }
    deserializer.deserialize_map(Object(PhantomData))
}

/// The name of a field; `None` for `type`.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Option<String>, E> {
        Ok((name != "type").then(|| name.to_owned()))
    }
}

/// The value of `type`, which must be one of these.
struct Word(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Word {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Word {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word for what it is")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<&'static str, E> {
        self.0.iter().find(|own| **own == word).copied().ok_or_else(|| E::unknown_variant(word, self.0))
    }
}

/// The fields before the type, then those after it.
struct HeldFirst<A> {
    held: std::vec::IntoIter<(String, Json)>,
    /// The value of the held field whose name was returned last.
    value: Option<Json>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for HeldFirst<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.held.next() {
            Some((name, value)) => {
                self.value = Some(value);
                seed.deserialize(name.into_deserializer()).map(Some)
            }
            None => self.map.next_key_seed(NotType(seed)),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        let Some(value) = self.value.take() else { return self.map.next_value_seed(seed) };
        let mut text = serde_json::Deserializer::from_reader(value.text().as_bytes());
        seed.deserialize(&mut text).map_err(A::Error::custom)
    }
}

/// A name other than `type`, which must not appear again.
struct NotType<K>(K);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for NotType<K> {
    type Value = K::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for NotType<K> {
    type Value = K::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<K::Value, E> {
        if name == "type" { Err(E::duplicate_field("type")) } else { self.0.deserialize(name.into_deserializer()) }
    }
}
