//! Reports why a text cannot be read, and where.

use std::fmt;

use serde::de::{Error as _, Expected, IgnoredAny, Unexpected};

use super::walk::{Numeral, Reader};

impl Reader<'_> {
    /// Reports that the next value does not have the form that its place requires.
    #[cold]
    pub(super) fn unfit(&mut self, expected: &dyn Expected) -> Refused {
        match self.next_form(expected) {
            Ok(refused) => refused.at(self.at),
            Err(refused) => refused,
        }
    }

    fn next_form(&mut self, expected: &dyn Expected) -> Result<Refused, Refused> {
        let is = |form: Unexpected<'_>| Refused::invalid_type(form, expected);
        Ok(match self.peek()? {
            b'"' => {
                self.at += 1;
                is(Unexpected::Str(&self.string()?))
            }
            // serde_json stops before these.
            b'{' => is(Unexpected::Map),
            b'[' => is(Unexpected::Seq),
            b't' => {
                self.word("true")?;
                is(Unexpected::Bool(true))
            }
            b'f' => {
                self.word("false")?;
                is(Unexpected::Bool(false))
            }
            b'n' => {
                self.word("null")?;
                is(Unexpected::Unit)
            }
            b'-' | b'0'..=b'9' => is(match self.numeral()? {
                Numeral::Whole(number) => Unexpected::Unsigned(number),
                Numeral::Negative(number) => Unexpected::Signed(number),
                Numeral::Float(number) => Unexpected::Float(number),
            }),
            _ => Refused::SYNTAX,
        })
    }
}

/// The error that a text cannot be read.
#[derive(Debug)]
pub(in crate::json) struct Refused(Option<Box<Fault>>);

/// A value that does not fit its place.
#[derive(Debug)]
struct Fault {
    said: String,
    /// How far the text had been read.
    at: Option<usize>,
}

impl Refused {
    /// It is not JSON, or exceeds a limit.
    pub(super) const SYNTAX: Refused = Refused(None);

    #[cold]
    pub(super) fn new(said: impl Into<String>) -> Self {
        Refused(Some(Box::new(Fault { said: said.into(), at: None })))
    }

    #[cold]
    pub(super) fn of(fault: serde_json::Error) -> Self {
        Refused::new(fault.to_string())
    }

    /// Adds the place, unless it is already known.
    #[cold]
    pub(super) fn at(mut self, at: usize) -> Self {
        if let Some(fault) = &mut self.0 {
            fault.at.get_or_insert(at);
        }
        self
    }

    /// Adds the place where the inside of an object or list, which begins at `begin`, was refused as a whole.
    #[cold]
    pub(super) fn inside(self, reader: &mut Reader<'_>, begin: usize, end: u8) -> Self {
        let is_untouched = reader.at == begin;
        match reader.peek() {
            // Like serde_json, which looks for the end anyway.
            Ok(byte) if byte == end => self.at(reader.at + 1),
            // The inside was not read.
            _ if is_untouched => self.at(begin.saturating_sub(1)),
            _ => self.at(reader.at),
        }
    }

    /// Returns the error that serde_json would have given.
    #[cold]
    pub(in crate::json) fn explain(self, text: &str) -> serde_json::Error {
        if let Some(Fault { said, at }) = self.0.map(|fault| *fault) {
            let before = text.as_bytes().get(..at.unwrap_or(text.len())).unwrap_or(text.as_bytes());
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
            // serde_json extracts the place from the message again.
            return serde_json::Error::custom(format!("{said} at line {line} column {column}"));
        }
        let place = |fault: &serde_json::Error| (fault.line(), fault.column());
        let not_json = serde_json::from_str::<IgnoredAny>(text).err();
        // Also finds half a surrogate pair, a number that is too large, or too many levels: faults in a parsed value.
        let not_readable = serde_json::from_str::<serde_json::Value>(text).err();
        match (not_json, not_readable) {
            // The same fault, better described.
            (Some(fault), Some(told)) if place(&fault) == place(&told) => told,
            (Some(fault), _) | (None, Some(fault)) => fault,
            (None, None) => serde_json::Error::custom("the JSON cannot be read"),
        }
    }
}

/// Returns the error for a text that is not UTF-8, unless it is broken before that place.
#[cold]
pub(in crate::json) fn not_utf8(bytes: &[u8]) -> serde_json::Error {
    let valid = bytes.utf8_chunks().next().map(|chunk| chunk.valid()).unwrap_or_default();
    match serde_json::from_str::<IgnoredAny>(valid) {
        Err(fault) if !fault.is_eof() => fault,
        _ => Refused::new("invalid unicode code point").at(valid.len()).explain(valid),
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_ref().map_or("not JSON", |fault| &fault.said))
    }
}

impl std::error::Error for Refused {}

impl serde::de::Error for Refused {
    #[cold]
    fn custom<T: fmt::Display>(said: T) -> Self {
        Refused::new(said.to_string())
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Refused::of(serde_json::Error::invalid_type(found, expected))
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Refused::of(serde_json::Error::invalid_value(found, expected))
    }
}
