//! Reads JSON text into wire structs.
//!
//! It reads what serde_json reads, to the same values, and is quicker where wire documents are large: long texts with
//! escapes are read once and copied once, and how deep a document is nested is checked on the way. What it refuses is
//! handed to serde_json, whose errors are worth reading; so it may refuse too much, but never too little.

mod walk;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use super::RAW;
use super::text_or_raw::TEXT_OR_RAW;
use walk::Reader;

/// How deep structs and values may be nested, as in serde_json: reading those takes stack. Raw text takes none.
const TYPED_LEVELS: usize = 128;

/// Reads a document that is nested at most `most` levels deep.
pub(super) fn read<'de, T: Deserialize<'de>>(text: &'de str, most: usize) -> Result<T, Refused> {
    read_seed(PhantomData, text, most)
}

/// As [`read`], but a seed says what is read and where it goes.
pub(super) fn read_seed<'de, S: DeserializeSeed<'de>>(
    seed: S,
    text: &'de str,
    most: usize,
) -> Result<S::Value, Refused> {
    let mut reader = Reader::new(text, most);
    let value = seed.deserialize(&mut reader)?;
    reader.skip_blanks();
    if reader.at == text.len() { Ok(value) } else { Err(Refused) }
}

/// The text cannot be read here. Why, serde_json tells.
#[derive(Debug)]
pub(super) struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the JSON that was expected")
    }
}

impl std::error::Error for Refused {}

impl serde::de::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Refused
    }
}

impl<'de> Reader<'de> {
    /// Reads the inside of an object or list up to its end.
    fn inside<T>(&mut self, end: u8, read: impl FnOnce(Inside<'_, 'de>) -> Result<T, Refused>) -> Result<T, Refused> {
        self.at += 1;
        self.level += 1;
        if self.level > self.most.min(TYPED_LEVELS) {
            return Err(Refused);
        }
        let value = read(Inside { reader: &mut *self, end, is_first: true })?;
        self.level -= 1;
        self.expect(end)?;
        Ok(value)
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                match self.string()? {
                    Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                    Cow::Owned(text) => visitor.visit_string(text),
                }
            }
            b'{' => self.inside(b'}', |entries| visitor.visit_map(entries)),
            b'[' => self.inside(b']', |items| visitor.visit_seq(items)),
            b't' => {
                self.word("true")?;
                visitor.visit_bool(true)
            }
            b'f' => {
                self.word("false")?;
                visitor.visit_bool(false)
            }
            b'n' => {
                self.word("null")?;
                visitor.visit_unit()
            }
            _ => {
                let number: serde_json::Number = self.number()?.parse().map_err(|_| Refused)?;
                number.deserialize_any(visitor).map_err(|_| Refused)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.peek()? == b'n' {
            self.word("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Refused> {
        match name {
            TEXT_OR_RAW if self.peek()? == b'"' => self.deserialize_any(visitor),
            TEXT_OR_RAW | RAW => visitor.visit_map(RawText(self.raw()?)),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        // Wire structs have no other enums than names.
        self.expect(b'"')?;
        let name = self.string()?;
        visitor.visit_enum(name.as_ref().into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.skip_value()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// The inside of an object or list.
struct Inside<'a, 'de> {
    reader: &'a mut Reader<'de>,
    end: u8,
    is_first: bool,
}

impl Inside<'_, '_> {
    /// Goes to the next entry, if there is one.
    fn has_next(&mut self) -> Result<bool, Refused> {
        let byte = self.reader.peek()?;
        if byte == self.end {
            return Ok(false);
        }
        if !std::mem::take(&mut self.is_first) {
            self.reader.expect(b',')?;
        }
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Inside<'_, 'de> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        if !self.has_next()? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

impl<'de> MapAccess<'de> for Inside<'_, 'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        if !self.has_next()? {
            return Ok(None);
        }
        self.reader.expect(b'"')?;
        match self.reader.string()? {
            Cow::Borrowed(key) => seed.deserialize(BorrowedStrDeserializer::new(key)),
            Cow::Owned(key) => seed.deserialize(key.into_deserializer()),
        }
        .map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refused> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// How raw text is handed over: the way serde_json's own deserializer does.
struct RawText<'de>(&'de str);

impl<'de> MapAccess<'de> for RawText<'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        seed.deserialize(StrDeserializer::new(RAW)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refused> {
        seed.deserialize(BorrowedStrDeserializer::new(self.0))
    }
}

/// The raw value of text that is known to be JSON.
pub(super) fn known(json: String) -> Box<RawValue> {
    Box::<RawValue>::deserialize(Known(json)).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Text that is known to be JSON, to be made a raw value.
struct Known(String);

impl<'de> Deserializer<'de> for Known {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_map(MapDeserializer::new(std::iter::once((RAW, self.0))))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier option newtype_struct enum ignored_any
    }
}

#[cfg(test)]
mod tests;
