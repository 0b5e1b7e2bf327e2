//! Server-sent events: from bytes to frames, and back.
//!
//! A push parser: it takes bytes as they arrive, split anywhere, and returns complete frames. It follows the standard
//! (LF, CRLF and CR line ends, comments, several `data:` lines, a byte order mark) and goes beyond it where providers
//! do: if a body is not an event stream but one JSON document, several in a row, or an array of them, each object
//! becomes a frame, and so does a raw JSON object between events.

mod json;

use memchr::memchr2;
use serde::Serialize;

use json::Objects;

/// The default limit on the size of one event.
const DEFAULT_LIMIT: usize = 64 << 20;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Why bytes are not an event stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// One event is larger than the limit.
    #[error("an event is larger than the limit of {limit} bytes (in the line at byte {at} of the stream)")]
    TooLarge {
        /// The limit.
        limit: usize,
        /// The start of the line where that was noticed.
        at: u64,
    },
    /// The bytes are not UTF-8.
    #[error("an event is not UTF-8 (look at the line that begins at byte {at} of the stream)")]
    NotUtf8 {
        /// The start of the line where that was noticed.
        at: u64,
    },
}

/// One event: its name, if it has one, and its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame<'a> {
    /// The `event:` field.
    pub name: Option<&'a str>,
    /// The `data:` lines, joined by line feeds.
    pub data: &'a str,
}

/// A push parser for server-sent events.
///
/// ```
/// use ikigai_core::wire::Sse;
///
/// let mut sse = Sse::default();
/// let mut seen = Vec::new();
/// for piece in ["data: {\"a\"", ":1}\r", "\n\r\n: a comment\n\n"] {
///     sse.feed(piece.as_bytes(), |frame| seen.push(frame.data.to_owned())).unwrap();
/// }
/// assert_eq!(seen, [r#"{"a":1}"#]);
/// ```
#[derive(Debug)]
pub struct Sse {
    /// The start of an unfinished line.
    line: Vec<u8>,
    /// The data of the open event, if it could not be passed on directly from the input.
    data: Vec<u8>,
    has_data: bool,
    /// The start of the line where the open event's data begins.
    data_at: u64,
    name: String,
    has_name: bool,
    /// The last byte was a CR: an LF right after it belongs to it.
    after_cr: bool,
    at_start: bool,
    objects: Objects,
    /// The first text that was neither a field nor JSON, for an error message.
    stray: String,
    limit: usize,
    /// The start of the current line; it does not depend on how the bytes were split.
    at: u64,
}

impl Default for Sse {
    fn default() -> Self {
        Sse::with_limit(DEFAULT_LIMIT)
    }
}

impl Sse {
    /// Creates a parser that refuses events larger than `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Sse {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            data_at: 0,
            name: String::new(),
            has_name: false,
            after_cr: false,
            at_start: true,
            objects: Objects::default(),
            stray: String::new(),
            limit,
            at: 0,
        }
    }

    /// Takes the next bytes and passes on each frame that they complete.
    ///
    /// # Errors
    /// Returns an error if an event exceeds the limit or is not UTF-8. The parser cannot be used after that.
    pub fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(Frame<'_>)) -> Result<(), SseError> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            if let Some(behind) = rest.strip_prefix(b"\n") {
                self.at += 1;
                rest = behind;
            }
        }
        // Validated as UTF-8 once for all events in it. Invalid or cut bytes are left to the careful path below.
        let mut text = valid_start(rest);
        loop {
            if self.is_between_events()
                && let Some((frame, length)) = whole_event(text)
                && length <= self.limit
            {
                sink(frame);
                self.at += length as u64;
                rest = rest.get(length..).unwrap_or_default();
                text = text.get(length..).unwrap_or_default();
                continue;
            }
            let Some((line, behind)) = self.next_line(rest) else { break };
            let length = rest.len() - behind.len();
            let before = self.line.len() as u64;
            if before == 0 {
                self.take_line(line, behind, &mut sink)?;
            } else {
                self.line.extend_from_slice(line);
                let whole = std::mem::take(&mut self.line);
                let taken = self.take_line(&whole, behind, &mut sink);
                // Keeps the buffer's capacity for the next split line.
                self.line = whole;
                self.line.clear();
                taken?;
            }
            self.at += before + length as u64;
            rest = behind;
            text = text.get(length..).unwrap_or_default();
        }
        self.line.extend_from_slice(rest);
        self.check_line(&self.line)
    }

    /// Ends the input, and passes on the last event even if no blank line followed it.
    ///
    /// # Errors
    /// Same as [`feed`](Sse::feed).
    pub fn end(&mut self, mut sink: impl FnMut(Frame<'_>)) -> Result<(), SseError> {
        if !self.line.is_empty() {
            let last = std::mem::take(&mut self.line);
            self.take_line(&last, &[], &mut sink)?;
        }
        self.dispatch(&mut sink)
    }

    /// Returns the beginning of any input that was neither an event nor JSON, such as a proxy's HTML page; empty if
    /// there was none.
    pub fn stray(&self) -> &str {
        &self.stray
    }

    /// Returns whether nothing of an event, a line or a JSON object is held.
    fn is_between_events(&self) -> bool {
        self.line.is_empty() && !self.has_data && !self.has_name && !self.at_start && !self.objects.is_open()
    }

    /// Splits off the next complete line and sets `after_cr` if its end may continue in the next bytes.
    fn next_line<'a>(&mut self, bytes: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let end = memchr2(b'\n', b'\r', bytes)?;
        let (line, rest) = bytes.split_at_checked(end)?;
        let (terminator, behind) = rest.split_first()?;
        if *terminator == b'\n' {
            return Some((line, behind));
        }
        match behind.split_first() {
            Some((b'\n', behind)) => Some((line, behind)),
            Some(_) => Some((line, behind)),
            None => {
                self.after_cr = true;
                Some((line, behind))
            }
        }
    }

    /// Reads one complete line. `behind` is the input after it: a blank line there lets the data through uncopied.
    fn take_line(&mut self, line: &[u8], behind: &[u8], sink: &mut impl FnMut(Frame<'_>)) -> Result<(), SseError> {
        self.check_line(line)?;
        let mut line = line;
        if self.at_start {
            self.at_start = false;
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if self.objects.is_open() {
            return self.take_json(line, sink);
        }
        if let Some(value) = line.strip_prefix(b"data:") {
            return self.take_data(without_space(value), behind, sink);
        }
        if line.is_empty() {
            return self.dispatch(sink);
        }
        if let Some(value) = line.strip_prefix(b"event:") {
            let at = self.at;
            let name = std::str::from_utf8(without_space(value)).map_err(|_| SseError::NotUtf8 { at })?;
            self.name.clear();
            self.name.push_str(name);
            self.has_name = true;
            return Ok(());
        }
        if let Some(value) = line.strip_prefix(b"error:").map(without_space)
            && value.starts_with(b"{")
        {
            // llama.cpp's server tells of failures in a field of this name.
            self.dispatch(sink)?;
            let data = std::str::from_utf8(value).map_err(|_| SseError::NotUtf8 { at: self.at })?;
            sink(Frame { name: Some("error"), data });
            return Ok(());
        }
        match line.trim_ascii_start().first() {
            Some(b'{' | b'[' | b']' | b',') => self.take_json(line, sink),
            // A comment.
            Some(b':') => Ok(()),
            _ => {
                self.take_other(line);
                Ok(())
            }
        }
    }

    fn take_data(&mut self, value: &[u8], behind: &[u8], sink: &mut impl FnMut(Frame<'_>)) -> Result<(), SseError> {
        if !self.has_data && matches!(behind.first(), Some(b'\n' | b'\r')) {
            // The event is this one line. The blank line that follows will find nothing to pass on.
            let data = std::str::from_utf8(value).map_err(|_| SseError::NotUtf8 { at: self.at })?;
            sink(Frame { name: self.has_name.then_some(self.name.as_str()), data });
            self.has_name = false;
            return Ok(());
        }
        if self.has_data {
            self.data.push(b'\n');
        } else {
            self.data_at = self.at;
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
        self.check_size(self.data.len())
    }

    /// `id:`, `retry:` and a bare `data` are fields with no use here; the first line that is not a field is remembered.
    fn take_other(&mut self, line: &[u8]) {
        let known = [&b"id"[..], b"retry", b"data", b"event"]
            .iter()
            .any(|field| line.strip_prefix(*field).is_some_and(|rest| matches!(rest.first(), None | Some(b':'))));
        if !known && self.stray.len() < 200 {
            self.stray.extend(String::from_utf8_lossy(line).chars().take(200));
            self.stray.push(' ');
        }
    }

    fn take_json(&mut self, line: &[u8], sink: &mut impl FnMut(Frame<'_>)) -> Result<(), SseError> {
        let at = self.at;
        let mut outcome = Ok(());
        self.objects.feed(line, |object| match std::str::from_utf8(object) {
            Ok(data) => sink(Frame { name: None, data }),
            Err(_) => outcome = Err(SseError::NotUtf8 { at }),
        });
        outcome?;
        self.check_size(self.objects.len())
    }

    fn dispatch(&mut self, sink: &mut impl FnMut(Frame<'_>)) -> Result<(), SseError> {
        if self.has_data {
            let data = std::str::from_utf8(&self.data).map_err(|_| SseError::NotUtf8 { at: self.data_at })?;
            sink(Frame { name: self.has_name.then_some(self.name.as_str()), data });
            self.data.clear();
            self.has_data = false;
        }
        self.has_name = false;
        Ok(())
    }

    /// A line may be as long as an event, whether it is complete or still arriving.
    fn check_line(&self, line: &[u8]) -> Result<(), SseError> {
        let line = if self.at_start { line.strip_prefix(BOM).unwrap_or(line) } else { line };
        self.check_size(line.strip_prefix(b"data:").map_or(line, without_space).len())
    }

    fn check_size(&self, size: usize) -> Result<(), SseError> {
        if size > self.limit { Err(SseError::TooLarge { limit: self.limit, at: self.at }) } else { Ok(()) }
    }
}

/// Returns the valid UTF-8 at the start of the bytes.
fn valid_start(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => bytes.get(..error.valid_up_to()).and_then(|start| std::str::from_utf8(start).ok()).unwrap_or(""),
    }
}

/// Returns the usual event and its length: one line of data, perhaps a name before it, and a blank line after it, all
/// of it here. Any other event is read line by line.
#[inline]
fn whole_event(text: &str) -> Option<(Frame<'_>, usize)> {
    let (name, data) = match text.strip_prefix("data: ") {
        Some(data) => (None, data),
        None => {
            let (name, behind) = whole_line(text.strip_prefix("event: ")?)?;
            (Some(name), behind.strip_prefix("data: ")?)
        }
    };
    let (data, behind) = whole_line(data)?;
    let behind = behind.strip_prefix('\n').or_else(|| behind.strip_prefix("\r\n"))?;
    Some((Frame { name, data }, text.len() - behind.len()))
}

/// Returns a line that ends here with LF or CRLF, and what follows it.
fn whole_line(text: &str) -> Option<(&str, &str)> {
    let end = memchr2(b'\n', b'\r', text.as_bytes())?;
    let (line, rest) = text.split_at_checked(end)?;
    let behind = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n"))?;
    Some((line, behind))
}

fn without_space(value: &[u8]) -> &[u8] {
    value.strip_prefix(b" ").unwrap_or(value)
}

/// Writes one frame with JSON data; writes nothing if the data has no JSON form.
pub(crate) fn write_frame(out: &mut Vec<u8>, name: Option<&str>, data: &impl Serialize) {
    let before = out.len();
    begin_frame(out, name);
    match serde_json::to_writer(&mut *out, data) {
        Ok(()) => end_frame(out),
        Err(_) => out.truncate(before),
    }
}

/// Writes the part of a frame before its data.
pub(crate) fn begin_frame(out: &mut Vec<u8>, name: Option<&str>) {
    if let Some(name) = name {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
}

/// Writes the part of a frame after its data.
pub(crate) fn end_frame(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
