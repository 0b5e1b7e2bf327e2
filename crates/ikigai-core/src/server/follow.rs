//! Splits bytes into frames for a watcher: the same framing as for decoders, without copying or checking the content.

use memchr::memchr2;

use super::pick::{Fed, Picker};
use super::watcher::{Rest, Watcher};
use super::{Delivery, Seen};

/// The maximum size held of an unfinished line, and of a frame that may turn out to be an error.
const HELD: usize = 16 << 10;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// The longest event name that is compared with anything.
const LONGEST_NAME: usize = 128;

/// Drives one watcher.
#[derive(Debug)]
pub(super) struct Follower {
    watcher: Watcher,
    picker: Picker<Watcher>,
    delivery: Delivery,
    /// The start of an unfinished line.
    line: Vec<u8>,
    /// The open JSON, in case it is an error.
    json: Vec<u8>,
    /// It exceeds what is held.
    json_lost: bool,
    name: String,
    event: Event,
    mode: Mode,
    /// The last byte was a CR: an LF right after it belongs to it.
    after_cr: bool,
    at_start: bool,
    /// The watcher needs no more of the open JSON.
    has_enough: bool,
    /// The bytes make no sense from some place on.
    broken: bool,
}

/// What is known about the open event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// No data yet.
    Empty,
    /// Its data is being read.
    Open,
    /// An object in it has been read completely.
    Read,
    /// The rest of it does not matter.
    Ignored,
}

/// The kind of the current line, if it is too long to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Its start is held; perhaps nothing of it has arrived yet.
    Held,
    Data,
    Json,
    Ignored,
}

impl Follower {
    pub(super) fn new(watcher: Watcher, delivery: Delivery) -> Self {
        Follower {
            watcher,
            picker: Picker::new(),
            delivery,
            line: Vec::new(),
            json: Vec::new(),
            json_lost: false,
            name: String::new(),
            event: Event::Empty,
            mode: Mode::Held,
            after_cr: false,
            at_start: true,
            has_enough: false,
            broken: false,
        }
    }

    pub(super) fn seen(&self) -> &Seen {
        self.watcher.seen()
    }

    /// Whether the provider reported a failure, or sent something that cannot be read.
    pub(super) fn has_failed(&self) -> bool {
        self.broken || self.watcher.seen().error.is_some()
    }

    /// Returns how much memory is held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.line.capacity() + self.json.capacity() + self.name.capacity() + self.picker.held() + self.watcher.held()
    }

    /// Whether no more bytes are read.
    pub(super) fn is_over(&self) -> bool {
        self.broken || self.watcher.is_over()
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.is_over() {
            return;
        }
        match self.delivery {
            Delivery::Whole => self.document(bytes),
            Delivery::Stream => self.lines(bytes),
        }
    }

    pub(super) fn finish(mut self) -> Seen {
        if !self.is_over() && self.delivery == Delivery::Stream {
            let last = std::mem::take(&mut self.line);
            if !last.is_empty() {
                self.take_line(&last);
            }
            self.dispatch();
        }
        self.watcher.end(if self.broken { Rest::Broken } else { Rest::Whole })
    }

    /// Reads a complete answer: one object, or a list of frames.
    fn document(&mut self, bytes: &[u8]) {
        if self.at_start {
            let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) else { return };
            self.at_start = false;
            if *first == b'[' {
                self.watcher.is_list();
            }
        }
        self.objects(bytes);
    }

    /// Reads JSON that is not an event's data: one object, several in a row, or a list of them.
    fn objects(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_over() {
            let fed = self.picker.feed(bytes, &mut self.watcher);
            let taken = match fed {
                Fed::All => bytes.len(),
                Fed::Closed(taken) | Fed::Enough(taken) => taken,
                Fed::Broken => {
                    self.broken = true;
                    return;
                }
            };
            let (part, rest) = bytes.split_at_checked(taken).unwrap_or((bytes, &[]));
            bytes = rest;
            self.hold_json(part);
            match fed {
                Fed::Enough(_) => self.has_enough = true,
                Fed::Closed(_) if std::mem::take(&mut self.has_enough) => self.forget_json(),
                Fed::Closed(_) => self.close_object(),
                Fed::All | Fed::Broken => {}
            }
        }
    }

    fn hold_json(&mut self, part: &[u8]) {
        let start = if self.json.is_empty() { memchr::memchr(b'{', part) } else { Some(0) };
        let Some(part) = start.filter(|_| !self.json_lost).and_then(|start| part.get(start..)) else { return };
        if self.json.len() + part.len() > HELD {
            self.json_lost = true;
            self.json.clear();
        } else {
            self.json.extend_from_slice(part);
        }
    }

    /// Ends an object: its watcher interprets what was picked from it.
    fn close_object(&mut self) {
        let json = if self.json_lost { None } else { std::str::from_utf8(&self.json).ok() };
        let name = (!self.name.is_empty()).then_some(self.name.as_str());
        self.watcher.frame(name, json);
        self.forget_json();
    }

    fn forget_json(&mut self) {
        // Its memory, too: a stream would hold it as long as it is open.
        self.json = Vec::new();
        self.json_lost = false;
    }

    fn lines(&mut self, mut bytes: &[u8]) {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while !bytes.is_empty() && !self.is_over() {
            if let Some(behind) = self.whole_event(bytes) {
                bytes = behind;
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else { return self.hold_line(bytes) };
            let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
            bytes = match rest.split_first() {
                Some((b'\r', [])) => {
                    self.after_cr = true;
                    &[]
                }
                Some((b'\r', behind)) => behind.strip_prefix(b"\n").unwrap_or(behind),
                Some((_, behind)) => behind,
                None => &[],
            };
            if self.line.is_empty() && self.mode == Mode::Held {
                self.take_line(line);
                continue;
            }
            self.hold_line(line);
            self.end_held_line();
        }
    }

    /// Reads the usual event, for which a glance is enough: a line of data, perhaps a name before it, a blank line
    /// after it, all of it here. Returns what follows it. Any other event is read line by line, with the same result.
    fn whole_event<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let is_between = self.event == Event::Empty
            && self.mode == Mode::Held
            && self.line.is_empty()
            && self.name.is_empty()
            && !self.picker.is_open();
        if !is_between {
            return None;
        }
        let data = match bytes.strip_prefix(b"event: ") {
            Some(named) => whole_line(named)?.1,
            None => bytes,
        };
        let (data, behind) = whole_line(data.strip_prefix(b"data: ")?)?;
        let behind = behind.strip_prefix(b"\n").or_else(|| behind.strip_prefix(b"\r\n"))?;
        if data.len() > HELD / 2 || !self.watcher.glance(data) {
            return None;
        }
        self.at_start = false;
        Some(behind)
    }

    /// Ends a line whose start was held, or was too long to be held.
    fn end_held_line(&mut self) {
        match std::mem::replace(&mut self.mode, Mode::Held) {
            Mode::Held => {
                let mut whole = std::mem::take(&mut self.line);
                self.take_line(&whole);
                // Keeps the buffer's capacity for the next line.
                whole.clear();
                self.line = whole;
            }
            Mode::Json => self.objects(b"\n"),
            Mode::Data => self.end_of_data(),
            Mode::Ignored => {}
        }
    }

    /// Continues an unfinished line. Lines that are too long to be held are read piece by piece.
    fn hold_line(&mut self, part: &[u8]) {
        match self.mode {
            Mode::Json => self.objects(part),
            Mode::Data => self.data(part),
            Mode::Ignored => {}
            Mode::Held => {
                if self.line.is_empty() && !self.at_start && self.is_json(part) {
                    self.mode = Mode::Json;
                    return self.objects(part);
                }
                self.line.extend_from_slice(part);
                if self.line.len() > HELD {
                    let line = std::mem::take(&mut self.line);
                    self.begin_long_line(&line);
                }
            }
        }
    }

    /// Returns whether this line is JSON rather than a field of an event.
    fn is_json(&self, line: &[u8]) -> bool {
        self.event == Event::Empty
            && (self.picker.is_open() || matches!(line.trim_ascii_start().first(), Some(b'{' | b'[' | b']' | b',')))
    }

    fn without_bom<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        if !std::mem::take(&mut self.at_start) {
            return line;
        }
        line.strip_prefix(BOM).unwrap_or(line)
    }

    fn begin_long_line(&mut self, line: &[u8]) {
        let line = self.without_bom(line);
        if self.is_json(line) {
            self.mode = Mode::Json;
            self.objects(line);
        } else if let Some(value) = line.strip_prefix(b"data:") {
            self.mode = Mode::Data;
            self.data(value);
        } else {
            self.mode = Mode::Ignored;
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        if line.len() > HELD {
            self.begin_long_line(line);
            self.end_held_line();
            return;
        }
        let line = self.without_bom(line);
        if self.is_json(line) {
            self.objects(line);
            self.objects(b"\n");
        } else if let Some(value) = line.strip_prefix(b"data:") {
            self.take_data(value.strip_prefix(b" ").unwrap_or(value));
        } else if line.is_empty() {
            self.dispatch();
        } else if let Some(value) = line.strip_prefix(b"event:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            self.name.clear();
            if value.len() <= LONGEST_NAME {
                self.name.push_str(std::str::from_utf8(value).unwrap_or_default());
            }
        }
    }

    /// Reads a complete line of data that is short enough to be held.
    fn take_data(&mut self, data: &[u8]) {
        if self.event == Event::Empty {
            if self.watcher.glance(data) {
                self.event = Event::Ignored;
                return;
            }
            let text = data.trim_ascii();
            if text == b"[DONE]" {
                self.event = Event::Ignored;
                return self.watcher.done();
            }
            if text.is_empty() {
                return;
            }
        }
        self.data(data);
        self.end_of_data();
    }

    /// Reads more of the event's data.
    fn data(&mut self, mut data: &[u8]) {
        if self.event == Event::Empty {
            self.event = Event::Open;
        }
        while !data.is_empty() && !self.is_over() && self.event != Event::Ignored {
            match self.picker.feed(data, &mut self.watcher) {
                Fed::All => {
                    self.hold_json(data);
                    return;
                }
                Fed::Closed(taken) => {
                    let (part, rest) = data.split_at_checked(taken).unwrap_or((data, &[]));
                    self.hold_json(part);
                    self.event = Event::Read;
                    self.close_object();
                    data = rest;
                }
                Fed::Enough(_) => {
                    self.picker.reset();
                    self.forget_json();
                    self.event = Event::Ignored;
                }
                Fed::Broken => self.broken = true,
            }
        }
    }

    /// Joins lines of data with line feeds.
    fn end_of_data(&mut self) {
        if self.event == Event::Open && self.picker.is_open() {
            self.data(b"\n");
        }
    }

    /// Ends the event.
    fn dispatch(&mut self) {
        match self.event {
            // The data ended inside an object, or contained none.
            Event::Open => self.broken = true,
            Event::Read if self.picker.is_open() => self.broken = true,
            Event::Empty | Event::Read | Event::Ignored => {}
        }
        self.event = Event::Empty;
        self.name.clear();
    }
}

/// Returns a line that ends here with LF or CRLF, and what follows it.
fn whole_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (line, rest) = bytes.split_at_checked(memchr2(b'\n', b'\r', bytes)?)?;
    let behind = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b"\r\n"))?;
    Some((line, behind))
}
