//! Building blocks of wire structs: texts and raw values that borrow, and the macro that defines the structs.
//!
//! Serde's own `flatten`, `untagged` and tagged enums buffer what they read, which costs more than reading it and loses
//! the raw text. A wire struct is therefore one struct with all fields that an object in its place may have, each
//! optional, and a `rest` for the others.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, Visitor};
use serde::ser::{SerializeMap, SerializeStruct as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::text::escape;
use super::{Fields, Json, RAW, Writes, reader};
use crate::{Error, Limits};

/// The fields of a wire object that its struct does not have, in order, and those that it has but that are `null`.
pub(crate) type Rest<'a> = Vec<(Cow<'a, str>, Cow<'a, RawValue>)>;

/// The names in a wire object that are not the usual ones, for fields that have several.
pub(crate) type Names<'a> = Vec<Cow<'a, str>>;

/// Moves a field of a wire struct that has no meaning to the unknown ones.
pub(crate) fn leave(rest: &mut Rest<'_>, name: &'static str, value: &dyn Writes) {
    rest.push((Cow::Borrowed(name), Cow::Owned(super::raw_of(value))));
}

/// Writes the key of an entry. A separate function, because structs have many.
#[inline(never)]
pub(crate) fn write_key<M: SerializeMap>(map: &mut M, key: &str) -> Result<(), M::Error> {
    map.serialize_key(key)
}

/// Returns the unknown fields of a wire object in a form that can be kept.
pub(crate) fn keep(rest: Rest<'_>) -> Fields {
    rest.into_iter().map(|(name, raw)| (name.into_owned(), Json::copy(&raw))).collect()
}

/// A string, borrowed if nothing in it is escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl Text<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text(Cow::Owned(text))
    }
}

/// Strings of these lengths are escaped here, which is faster than serde_json's byte-by-byte method. Longer ones would
/// need a second copy in memory.
const LONG: Range<usize> = 48..1 << 20;

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !LONG.contains(&self.0.len()) {
            return serializer.serialize_str(&self.0);
        }
        // Serialized like raw text.
        let mut raw = serializer.serialize_struct(RAW, 1)?;
        raw.serialize_field(RAW, &escape(&self.0))?;
        raw.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
                Ok(Cow::Owned(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Cow<'de, str>, E> {
                Ok(Cow::Owned(text))
            }
        }
        deserializer.deserialize_str(Borrowing).map(Text)
    }
}

/// Any value, as raw text: for numbers, whose digits must survive, for schemas and arguments, and for values that may
/// have several forms.
#[derive(Debug, Clone)]
pub(crate) struct Raw<'a>(pub(crate) Cow<'a, RawValue>);

impl<'a> Raw<'a> {
    /// Returns the raw form of anything that has one.
    pub(crate) fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        Raw(Cow::Owned(super::raw_of(&value)))
    }

    /// Returns a JSON string with this text.
    pub(crate) fn string(text: &str) -> Self {
        Raw(Cow::Owned(reader::known(escape(text))))
    }

    pub(crate) fn text(&self) -> &str {
        self.0.get()
    }

    /// Reads the value as a type, if it has that type's form.
    pub(crate) fn to<'b, T: Deserialize<'b>>(&'b self) -> Option<T> {
        read_str(self.text()).ok()
    }

    pub(crate) fn to_json(&self) -> Json {
        Json::copy(&self.0)
    }

    pub(crate) fn into_json(self) -> Json {
        match self.0 {
            Cow::Borrowed(raw) => Json::copy(raw),
            Cow::Owned(raw) => Json::from(raw),
        }
    }

    /// Returns the text of a JSON string; `None` for any other value.
    pub(crate) fn as_str(&self) -> Option<Cow<'_, str>> {
        super::text::unescape(self.text())
    }
}

impl<'a> From<&'a Json> for Raw<'a> {
    fn from(json: &'a Json) -> Self {
        Raw(Cow::Borrowed(json.raw()))
    }
}

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'de RawValue>::deserialize(deserializer).map(|raw| Raw(Cow::Borrowed(raw)))
    }
}

/// Reads JSON text that is known to be nested no deeper than the limits allow.
pub(crate) fn read_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    reader::read(text, usize::MAX).map_err(|refused| refused.explain(text))
}

/// Reads a wire document whose depth has been checked. An error names its place: `messages[3].content: …`.
pub(crate) fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    // Validating all of it at once is faster than string by string.
    let read = match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => read_str(text),
        // Some string in it cannot be read; the parser knows which.
        Err(_) => Err(reader::not_utf8(bytes)),
    };
    read.map_err(|fault| {
        let path = super::place::path_at(bytes, fault.line(), fault.column());
        if path.is_empty() { fault.to_string() } else { format!("{path}: {fault}") }
    })
}

/// Reads a request that a client sent.
pub(crate) fn read_request<'a, T: Deserialize<'a>>(bytes: &'a [u8], limits: &Limits) -> Result<T, Error> {
    // Most requests can be read, so their depth is not checked in advance.
    if let Some(read) = simdutf8::basic::from_utf8(bytes).ok().and_then(|text| reader::read(text, limits.depth).ok()) {
        return Ok(read);
    }
    limits.check_request_depth(bytes)?;
    if bytes.trim_ascii_start().first().is_some_and(|byte| *byte != b'{') {
        return Err(Error::invalid_request("the request body is not a JSON object"));
    }
    read(bytes).map_err(|fault| Error::invalid_request(format!("the request body cannot be read: {fault}")))
}

/// The number of bytes quoted from an answer that cannot be read.
const EXCERPT: usize = 200;

/// Reads an answer that a provider sent.
pub(crate) fn read_answer<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Error> {
    read(bytes).map_err(|fault| {
        let beginning = String::from_utf8_lossy(bytes.get(..EXCERPT).unwrap_or(bytes));
        Error::protocol(format!("the answer cannot be read: {fault}; it begins: {}", beginning.trim()))
    })
}

/// A wire struct whose meaningful fields have been taken out.
pub(crate) trait Leftovers {
    /// Returns the fields that are still there: unknown ones, and known ones that have no meaning in this object.
    fn leftovers(self) -> Fields;
}

/// Writes a wire document.
pub(crate) fn write<T: Serialize>(document: &T) -> Vec<u8> {
    write_within(document, 256)
}

/// Writes a wire document of about this many bytes.
pub(crate) fn write_within<T: Serialize>(document: &T, bytes: usize) -> Vec<u8> {
    let mut written = Vec::with_capacity(bytes);
    append(document, &mut written);
    written
}

/// Appends a wire document.
pub(crate) fn append<T: Serialize + ?Sized>(document: &T, out: &mut Vec<u8>) {
    let before = out.len();
    // Wire structs consist of strings, raw JSON and lists of them, which always have a JSON form.
    if serde_json::to_writer(&mut *out, document).is_err() {
        out.truncate(before);
    }
}

/// Defines the struct of a wire object: every field is optional, and unknown ones are kept in `rest`.
///
/// ```text
/// wire! {
///     /// A message.
///     pub(super) struct Message<'a> {
///         role "role": Text<'a>,
///         tool_calls "tool_calls" | "toolCalls": Vec<Call<'a>>,
///     }
/// }
/// ```
///
/// The name on the wire is in quotation marks; the names after a bar are also read, but never written. A field that is
/// `null` reads as absent and stays in `rest`, so that it is written back. A field that appears twice is an error.
/// Writing outputs the fields that are present, in the struct's order, and then `rest` without those.
///
/// `struct Message<'a> [names] {…}` records in a field `names` which of the names after a bar were read, and writes
/// those again.
macro_rules! wire {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$lt:lifetime> $([$names:ident])? {
            $( $(#[$about:meta])* $field:ident $wire:literal $(| $alias:literal)* : $kind:ty ),* $(,)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default)]
        $vis struct $name<$lt> {
            $( $(#[$about])* $vis $field: Option<$kind>, )*
            $( /// The fields that are not written by their usual name.
            $vis $names: $crate::json::wire::Names<$lt>, )?
            /// The other fields, and those that are `null`.
            $vis rest: $crate::json::wire::Rest<$lt>,
        }

        impl<$lt> $name<$lt> {
            /// Reads all fields in place, which saves copies for structs that are large and read often.
            $vis fn fill<'de: $lt, A: serde::de::MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
                // Both are unused in a struct without fields.
                let _ = ($name::read_as, $name::written_as);
                while let Some(key) = map.next_key::<$crate::json::wire::Text<$lt>>()? {
                    match key.as_str() {
                        $( $wire $(| $alias)* => {
                            if self.$field.is_some() {
                                return Err(serde::de::Error::duplicate_field($wire));
                            }
                            self.$field = map.next_value()?;
                            if self.$field.is_none() {
                                let null = std::borrow::Cow::Borrowed(serde_json::value::RawValue::NULL);
                                self.rest.push((key.0, null));
                            } else {
                                self.read_as(key.0, $wire);
                            }
                        } )*
                        _ => {
                            let raw: &'de serde_json::value::RawValue = map.next_value()?;
                            self.rest.push((key.0, std::borrow::Cow::Borrowed(raw)));
                        }
                    }
                }
                Ok(())
            }

            /// Records a name that is not the usual one.
            fn read_as(&mut self, name: std::borrow::Cow<$lt, str>, usual: &str) {
                let _ = (&name, usual);
                $( if name != usual {
                    self.$names.push(name);
                } )?
            }

            /// Returns the name under which to write a field.
            fn written_as<'n>(&self, usual: &'n str, others: &[&'n str]) -> &'n str {
                let _ = others;
                $( if let Some(other) = others.iter().find(|other| self.$names.iter().any(|name| name == **other)) {
                    return other;
                } )?
                usual
            }
        }

        impl<'de: $lt, $lt> serde::Deserialize<'de> for $name<$lt> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Object<$lt>(std::marker::PhantomData<&$lt ()>);
                impl<'de: $lt, $lt> serde::de::Visitor<'de> for Object<$lt> {
                    type Value = $name<$lt>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut object = $name::default();
                        object.fill(&mut map)?;
                        Ok(object)
                    }
                }
                deserializer.deserialize_map(Object(std::marker::PhantomData))
            }
        }

        impl $crate::json::wire::Leftovers for $name<'_> {
            fn leftovers(self) -> $crate::Fields {
                let mut rest = self.rest;
                // In a struct without fields nothing else would change it.
                let _ = &mut rest;
                $( if let Some(value) = &self.$field {
                    $crate::json::wire::leave(&mut rest, $wire, &value);
                } )*
                $crate::json::wire::keep(rest)
            }
        }

        impl serde::Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $( if let Some(value) = &self.$field {
                    $crate::json::wire::write_key(&mut map, self.written_as($wire, &[$($alias),*]))?;
                    map.serialize_value(value)?;
                } )*
                for (name, raw) in &self.rest {
                    let written = match name.as_ref() {
                        $( $wire $(| $alias)* => self.$field.is_some(), )*
                        _ => false,
                    };
                    if !written {
                        $crate::json::wire::write_key(&mut map, name)?;
                        map.serialize_value(raw)?;
                    }
                }
                map.end()
            }
        }
    )*};
}
