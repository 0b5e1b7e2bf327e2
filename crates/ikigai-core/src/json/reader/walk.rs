//! Walks through JSON text: over blanks, keywords and numbers, over strings and whole values.

use std::borrow::Cow;

use super::super::text::{add_escape, next_special};
use super::Refused;

/// Strings with escapes are usually shorter than this.
const LONG: usize = 2048;

/// A place in a JSON text, with the state around it.
pub(super) struct Reader<'de> {
    pub(super) text: &'de str,
    pub(super) at: usize,
    /// The number of objects and lists being read around this place.
    pub(super) level: usize,
    pub(super) most: usize,
    /// The closing brackets of the objects and lists around this place that are being skipped.
    open: Vec<u8>,
    /// A buffer for unescaping a string.
    unescaped: String,
}

/// A number, in the first of these forms that fits.
pub(super) enum Numeral {
    Whole(u64),
    Negative(i64),
    Float(f64),
}

impl<'de> Reader<'de> {
    pub(super) fn new(text: &'de str, most: usize) -> Self {
        Reader { text, at: 0, level: 0, most, open: Vec::new(), unescaped: String::new() }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
    }

    /// Returns the next byte that is not blank.
    pub(super) fn peek(&mut self) -> Result<u8, Refused> {
        match self.byte() {
            Some(byte) if byte > b' ' => Ok(byte),
            _ => {
                self.skip_blanks();
                self.byte().ok_or(Refused::SYNTAX)
            }
        }
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Refused> {
        if self.peek()? != byte {
            return Err(Refused::SYNTAX);
        }
        self.at += 1;
        Ok(())
    }

    pub(super) fn word(&mut self, word: &str) -> Result<(), Refused> {
        if !self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            return Err(Refused::SYNTAX);
        }
        self.at += word.len();
        Ok(())
    }

    /// Moves to the next special byte of a string: a quotation mark or a backslash.
    fn next_special(&mut self) -> Result<u8, Refused> {
        self.at = next_special(self.text.as_bytes(), self.at);
        match self.byte() {
            Some(byte @ (b'"' | b'\\')) => Ok(byte),
            // A control character, or the end.
            _ => Err(Refused::SYNTAX),
        }
    }

    /// Skips a string whose opening quotation mark has been read.
    fn skip_string(&mut self) -> Result<(), Refused> {
        while self.next_special()? == b'\\' {
            self.at += match self.text.as_bytes().get(self.at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                Some(b'u') => {
                    let digits = self.text.as_bytes().get(self.at + 2..self.at + 6).ok_or(Refused::SYNTAX)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return Err(Refused::SYNTAX);
                    }
                    6
                }
                _ => return Err(Refused::SYNTAX),
            };
        }
        self.at += 1;
        Ok(())
    }

    /// Returns the text of a string whose opening quotation mark has been read.
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>, Refused> {
        let mut begin = self.at;
        if self.next_special()? == b'"' {
            self.at += 1;
            return self.text.get(begin..self.at - 1).map(Cow::Borrowed).ok_or(Refused::SYNTAX);
        }
        self.unescaped.clear();
        self.unescaped.reserve(LONG.min(self.text.len() - begin));
        loop {
            self.unescaped.push_str(self.text.get(begin..self.at).ok_or(Refused::SYNTAX)?);
            match self.text.as_bytes().get(self.at + 1) {
                // It stands for itself, and is copied with the text after it.
                Some(b'"' | b'\\') => {
                    begin = self.at + 1;
                    self.at += 2;
                }
                Some(b'n') => {
                    self.unescaped.push('\n');
                    self.at += 2;
                    begin = self.at;
                }
                // Half of a surrogate pair is not text, and could not be written back unchanged.
                _ => {
                    (begin, self.at) =
                        add_escape(&mut self.unescaped, self.text, self.at, None).ok_or(Refused::SYNTAX)?
                }
            }
            if self.next_special()? == b'"' {
                self.unescaped.push_str(self.text.get(begin..self.at).ok_or(Refused::SYNTAX)?);
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
        if self.at > begin { Ok(()) } else { Err(Refused::SYNTAX) }
    }

    /// Skips a number and returns it.
    pub(super) fn number(&mut self) -> Result<&'de str, Refused> {
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
        self.text.get(begin..self.at).ok_or(Refused::SYNTAX)
    }

    /// Reads `true` or `false`.
    #[inline(never)]
    pub(super) fn flag(&mut self) -> Result<bool, Refused> {
        let flag = self.byte() == Some(b't');
        self.word(if flag { "true" } else { "false" })?;
        Ok(flag)
    }

    /// Reads a number as serde_json does.
    #[inline(never)]
    pub(super) fn numeral(&mut self) -> Result<Numeral, Refused> {
        let number: serde_json::Number = self.number()?.parse().map_err(|_| Refused::SYNTAX)?;
        let whole = number.as_u64().map(Numeral::Whole).or_else(|| number.as_i64().map(Numeral::Negative));
        whole.or_else(|| number.as_f64().map(Numeral::Float)).ok_or(Refused::SYNTAX)
    }

    /// Reads a whole number of up to 128 bits. Returns `None`, and skips nothing, for any other value.
    pub(super) fn large<N: std::str::FromStr>(&mut self) -> Result<Option<N>, Refused> {
        if !matches!(self.peek()?, b'-' | b'0'..=b'9') {
            return Ok(None);
        }
        let begin = self.at;
        let number = self.number()?.parse().ok();
        if number.is_none() {
            self.at = begin;
        }
        Ok(number)
    }

    /// Skips a key and its colon.
    fn skip_key(&mut self) -> Result<(), Refused> {
        self.expect(b'"')?;
        self.skip_string()?;
        self.expect(b':')
    }

    /// Begins an object or list that is being skipped. Returns whether it is empty and has ended.
    fn open(&mut self, end: u8) -> Result<bool, Refused> {
        self.at += 1;
        if self.level + self.open.len() >= self.most {
            return Err(Refused::SYNTAX);
        }
        if self.peek()? == end {
            self.at += 1;
            return Ok(true);
        }
        self.open.push(end);
        Ok(false)
    }

    /// Skips a value.
    pub(super) fn skip_value(&mut self) -> Result<(), Refused> {
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
            // A value has ended, and perhaps the object or list around it.
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
                    _ => return Err(Refused::SYNTAX),
                }
            }
            if self.open.len() == outside {
                return Ok(());
            }
        }
    }

    /// Returns the raw text of a value.
    pub(super) fn raw(&mut self) -> Result<&'de str, Refused> {
        self.peek()?;
        let begin = self.at;
        self.skip_value()?;
        self.text.get(begin..self.at).ok_or(Refused::SYNTAX)
    }
}
