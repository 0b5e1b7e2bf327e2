//! Values that are a string or anything else.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::text::unescape;
use super::wire::{Raw, Text};

/// A string; or any other value, as raw text.
#[derive(Debug, Clone)]
pub(crate) enum TextOrRaw<'a> {
    Text(Text<'a>),
    Raw(Raw<'a>),
}

/// The name that tells our reader to return a string as such, and anything else as raw text.
pub(super) const TEXT_OR_RAW: &str = "text or raw";

impl<'a> TextOrRaw<'a> {
    pub(crate) fn into_raw(self) -> Raw<'a> {
        match self {
            TextOrRaw::Text(text) => Raw::string(text.as_str()),
            TextOrRaw::Raw(raw) => raw,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TextOrRaw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = TextOrRaw<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<TextOrRaw<'de>, E> {
                Ok(TextOrRaw::Text(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<TextOrRaw<'de>, E> {
                Ok(TextOrRaw::Text(text.to_owned().into()))
            }

            fn visit_string<E>(self, text: String) -> Result<TextOrRaw<'de>, E> {
                Ok(TextOrRaw::Text(text.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TextOrRaw<'de>, A::Error> {
                Raw::deserialize(MapAccessDeserializer::new(map)).map(TextOrRaw::Raw)
            }

            // Any other reader offers only raw text.
            fn visit_newtype_struct<D: Deserializer<'de>>(self, reader: D) -> Result<TextOrRaw<'de>, D::Error> {
                let raw = <&'de RawValue>::deserialize(reader)?;
                Ok(match unescape(raw.get()) {
                    Some(text) => TextOrRaw::Text(Text(text)),
                    None => TextOrRaw::Raw(Raw(Cow::Borrowed(raw))),
                })
            }
        }
        deserializer.deserialize_newtype_struct(TEXT_OR_RAW, Either)
    }
}
