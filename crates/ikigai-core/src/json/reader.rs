//! Reads JSON text into wire structs.
//!
//! It reads what serde_json reads, to the same values, and is quicker where wire documents are large: long texts with
//! escapes are read once and copied once, and how deep a document is nested is checked on the way. What it refuses is
//! handed to serde_json, whose errors are worth reading; so it may refuse too much, but never too little.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use super::RAW;
use super::text::{add_escape, next_special};

/// How deep structs and values may be nested, as in serde_json: reading those takes stack. Raw text takes none.
const TYPED_LEVELS: usize = 128;

/// Texts with escapes are mostly shorter than this.
const LONG: usize = 2048;

/// Reads a document that is nested at most `most` levels deep.
pub(super) fn read<'de, T: Deserialize<'de>>(text: &'de str, most: usize) -> Result<T, Refused> {
    let mut reader = Reader { text, at: 0, level: 0, most, open: Vec::new(), unescaped: String::new() };
    let value = T::deserialize(&mut reader)?;
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

struct Reader<'de> {
    text: &'de str,
    at: usize,
    /// How many objects and lists are being read around this place.
    level: usize,
    most: usize,
    /// What ends the objects and lists around this place that are passed over.
    open: Vec<u8>,
    /// A text that is read is put together here.
    unescaped: String,
}

impl<'de> Reader<'de> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
    }

    /// The next byte that is no blank.
    fn peek(&mut self) -> Result<u8, Refused> {
        match self.byte() {
            Some(byte) if byte > b' ' => Ok(byte),
            _ => {
                self.skip_blanks();
                self.byte().ok_or(Refused)
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Refused> {
        if self.peek()? != byte {
            return Err(Refused);
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Refused> {
        if !self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            return Err(Refused);
        }
        self.at += word.len();
        Ok(())
    }

    /// Goes to the next byte of a string that is not just text: a quotation mark, a backslash.
    fn next_special(&mut self) -> Result<u8, Refused> {
        self.at = next_special(self.text.as_bytes(), self.at);
        match self.byte() {
            Some(byte @ (b'"' | b'\\')) => Ok(byte),
            // A control character, or the end.
            _ => Err(Refused),
        }
    }

    /// Passes over a string whose quotation mark has been read.
    fn skip_string(&mut self) -> Result<(), Refused> {
        while self.next_special()? == b'\\' {
            self.at += match self.text.as_bytes().get(self.at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                Some(b'u') => {
                    let digits = self.text.as_bytes().get(self.at + 2..self.at + 6).ok_or(Refused)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return Err(Refused);
                    }
                    6
                }
                _ => return Err(Refused),
            };
        }
        self.at += 1;
        Ok(())
    }

    /// The text of a string whose quotation mark has been read.
    fn string(&mut self) -> Result<Cow<'de, str>, Refused> {
        let mut begin = self.at;
        if self.next_special()? == b'"' {
            self.at += 1;
            return self.text.get(begin..self.at - 1).map(Cow::Borrowed).ok_or(Refused);
        }
        self.unescaped.clear();
        self.unescaped.reserve(LONG.min(self.text.len() - begin));
        loop {
            self.unescaped.push_str(self.text.get(begin..self.at).ok_or(Refused)?);
            match self.text.as_bytes().get(self.at + 1) {
                // It stands for itself, and goes with the text behind it.
                Some(b'"' | b'\\') => {
                    begin = self.at + 1;
                    self.at += 2;
                }
                Some(b'n') => {
                    self.unescaped.push('\n');
                    self.at += 2;
                    begin = self.at;
                }
                // Half of a surrogate pair is no text, and would not come back as it was.
                _ => (begin, self.at) = add_escape(&mut self.unescaped, self.text, self.at, None).ok_or(Refused)?,
            }
            if self.next_special()? == b'"' {
                self.unescaped.push_str(self.text.get(begin..self.at).ok_or(Refused)?);
                self.at += 1;
                return Ok(Cow::Owned(self.unescaped.clone()));
            }
        }
    }

    fn skip_digits(&mut self) -> Result<(), Refused> {
        let begin = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > begin { Ok(()) } else { Err(Refused) }
    }

    /// Passes over a number.
    fn number(&mut self) -> Result<&'de str, Refused> {
        let begin = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        match self.byte() {
            Some(b'0') => self.at += 1,
            _ => self.skip_digits()?,
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        self.text.get(begin..self.at).ok_or(Refused)
    }

    /// Passes over a key and its colon.
    fn skip_key(&mut self) -> Result<(), Refused> {
        self.expect(b'"')?;
        self.skip_string()?;
        self.expect(b':')
    }

    /// Begins an object or list that is passed over; true if it is empty and has ended.
    fn open(&mut self, end: u8) -> Result<bool, Refused> {
        self.at += 1;
        if self.level + self.open.len() >= self.most {
            return Err(Refused);
        }
        if self.peek()? == end {
            self.at += 1;
            return Ok(true);
        }
        self.open.push(end);
        Ok(false)
    }

    /// Passes over a value.
    fn skip_value(&mut self) -> Result<(), Refused> {
        let outside = self.open.len();
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    self.skip_string()?;
                }
                b'{' => {
                    if !self.open(b'}')? {
                        self.skip_key()?;
                        continue;
                    }
                }
                b'[' => {
                    if !self.open(b']')? {
                        continue;
                    }
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => drop(self.number()?),
            }
            // A value has ended, and perhaps what is around it.
            while let Some(end) = self.open.get(outside..).and_then(<[u8]>::last).copied() {
                match self.peek()? {
                    b',' => {
                        self.at += 1;
                        if end == b'}' {
                            self.skip_key()?;
                        }
                        break;
                    }
                    byte if byte == end => {
                        self.at += 1;
                        self.open.pop();
                    }
                    _ => return Err(Refused),
                }
            }
            if self.open.len() == outside {
                return Ok(());
            }
        }
    }

    /// The raw text of a value.
    fn raw(&mut self) -> Result<&'de str, Refused> {
        self.peek()?;
        let begin = self.at;
        self.skip_value()?;
        self.text.get(begin..self.at).ok_or(Refused)
    }

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
            RAW => visitor.visit_map(RawText(self.raw()?)),
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
#[path = "reader_tests.rs"]
mod tests;
