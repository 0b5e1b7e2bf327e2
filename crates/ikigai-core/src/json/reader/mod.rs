//! Reads JSON text into wire structs.
//!
//! It reads what serde_json reads, to the same values, and is faster where wire documents are large: long strings with
//! escapes are read once and copied once, and nesting is checked while reading. It reports a value that does not fit in
//! the words of serde_json and at the same place. Only text that is not JSON at all is passed to serde_json for the
//! report: passing it the typed reading as well would mean compiling every wire struct twice.

mod refused;
mod tagged;
mod walk;

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use super::RAW;
use super::text_or_raw::TEXT_OR_RAW;
pub(super) use refused::{Refused, not_utf8};
use walk::{Numeral, Reader};

/// The maximum nesting of structs and values, as in serde_json: reading those takes stack. Raw text takes none.
const TYPED_LEVELS: usize = 128;

/// Reads a document that is nested at most `most` levels deep.
pub(super) fn read<'de, T: Deserialize<'de>>(text: &'de str, most: usize) -> Result<T, Refused> {
    read_seed(PhantomData, text, most)
}

/// Like [`read`], but a seed determines what is read and where it goes.
pub(super) fn read_seed<'de, S: DeserializeSeed<'de>>(
    seed: S,
    text: &'de str,
    most: usize,
) -> Result<S::Value, Refused> {
    let mut reader = Reader::new(text, most);
    let value = seed.deserialize(&mut reader)?;
    reader.skip_blanks();
    if reader.at == text.len() { Ok(value) } else { Err(Refused::SYNTAX) }
}

impl<'de> Reader<'de> {
    /// Reads the inside of an object or list up to its end.
    fn inside<T>(&mut self, end: u8, read: impl FnOnce(Inside<'_, 'de>) -> Result<T, Refused>) -> Result<T, Refused> {
        self.at += 1;
        self.level += 1;
        if self.level > self.most.min(TYPED_LEVELS) {
            return Err(Refused::SYNTAX);
        }
        let begin = self.at;
        match read(Inside { reader: &mut *self, end, is_first: true }) {
            Ok(value) => {
                self.level -= 1;
                self.expect(end)?;
                Ok(value)
            }
            Err(refused) => Err(refused.inside(self, begin, end)),
        }
    }
}

/// Methods that do the same as another one.
macro_rules! same {
    ($($same:ident: $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            self.$same(visitor)
        }
    )*)*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        let read = match self.peek()? {
            b'"' => {
                self.at += 1;
                match self.string()? {
                    Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                    Cow::Owned(text) => visitor.visit_string(text),
                }
            }
            b'{' => self.inside(b'}', |entries| visitor.visit_map(entries)),
            b'[' => self.inside(b']', |items| visitor.visit_seq(items)),
            b't' | b'f' => visitor.visit_bool(self.flag()?),
            b'n' => {
                self.word("null")?;
                visitor.visit_unit()
            }
            b'-' | b'0'..=b'9' => return self.deserialize_u64(visitor),
            _ => return Err(Refused::SYNTAX),
        };
        read.map_err(|refused| refused.at(self.at))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.peek()? != b'"' {
            return Err(self.unfit(&visitor));
        }
        self.at += 1;
        let read = match self.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        };
        read.map_err(|refused: Refused| refused.at(self.at))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.peek()? != b'{' {
            return Err(self.unfit(&visitor));
        }
        self.inside(b'}', |entries| visitor.visit_map(entries))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.peek()? != b'[' {
            return Err(self.unfit(&visitor));
        }
        self.inside(b']', |items| visitor.visit_seq(items))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match self.peek()? {
            b'[' => self.deserialize_seq(visitor),
            _ => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.peek()? {
            b't' | b'f' => visitor.visit_bool(self.flag()?).map_err(|refused: Refused| refused.at(self.at)),
            _ => Err(self.unfit(&visitor)),
        }
    }

    /// Reads any number: the visitor reports one that is too large for its place.
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if !matches!(self.peek()?, b'-' | b'0'..=b'9') {
            return Err(self.unfit(&visitor));
        }
        let read = match self.numeral()? {
            Numeral::Whole(number) => visitor.visit_u64(number),
            Numeral::Negative(number) => visitor.visit_i64(number),
            Numeral::Float(number) => visitor.visit_f64(number),
        };
        read.map_err(|refused: Refused| refused.at(self.at))
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
            TEXT_OR_RAW if self.peek()? == b'"' => self.deserialize_str(visitor),
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
        let read = match self.peek()? {
            b'"' => {
                self.at += 1;
                let name = self.string()?;
                visitor.visit_enum(name.as_ref().into_deserializer())
            }
            b'{' => self.inside(b'}', |entry| visitor.visit_enum(tagged::Variant(entry))),
            _ => Err(Refused::new("expected value").at(self.at + 1)),
        };
        read.map_err(|refused| refused.at(self.at))
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.large()? {
            Some(number) => visitor.visit_i128(number).map_err(|refused: Refused| refused.at(self.at)),
            None => self.deserialize_u64(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.large()? {
            Some(number) => visitor.visit_u128(number).map_err(|refused: Refused| refused.at(self.at)),
            None => self.deserialize_u64(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.skip_value()?;
        visitor.visit_unit()
    }

    same! {
        deserialize_u64: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_f32 deserialize_f64;
        deserialize_str: deserialize_string deserialize_char deserialize_identifier;
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_seq(visitor)
    }

    forward_to_deserialize_any! { bytes byte_buf unit unit_struct }
}

/// The inside of an object or list.
struct Inside<'a, 'de> {
    reader: &'a mut Reader<'de>,
    end: u8,
    is_first: bool,
}

impl Inside<'_, '_> {
    /// Moves to the next entry, if there is one.
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
        seed.deserialize(tagged::Key(self.reader.string()?)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refused> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// Passes on raw text in the same way as serde_json's own deserializer.
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

/// Returns the raw value of text that is known to be JSON.
pub(super) fn known(json: String) -> Box<RawValue> {
    Box::<RawValue>::deserialize(Known(json)).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Text that is known to be JSON, to be turned into a raw value.
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
