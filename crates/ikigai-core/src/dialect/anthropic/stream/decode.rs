//! Frames to events.

use serde::Deserialize;

use crate::dialect::weight::Weigh as _;
use crate::dialect::{Fault, Ids, ReadFrames, Seen};
use crate::json::tagged::Object;
use crate::json::wire::Text;
use crate::limits::limit_reached;
use crate::{Event, Fields, Json, Limits, Part, ProviderData};

use super::super::response::{finish, read_rest};
use super::super::wire::Answer;
use super::super::{DIALECT, error, usage};
use super::blocks::OpenBlock;
use super::pieces::read_piece;

/// The most fields that the end of an answer may have.
const MOST_FIELDS: usize = 1000;

/// The reader of a stream.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(super) ids: Ids,
    pub(super) limits: Limits,
    has_begun: bool,
    /// The id in the answer's first frame.
    id: Option<String>,
    /// How many blocks have been opened so far: the index of the next one.
    pub(super) opened: usize,
    pub(super) open: Vec<OpenBlock>,
    /// How many calls there have been so far.
    pub(super) calls: usize,
    usage: Fields,
    /// Fields of the answer that the format does not have.
    kept: Fields,
}

impl ReadFrames for Decoder {
    fn glance(&mut self, data: &str, out: &mut Vec<Event>) -> Option<()> {
        self.piece(read_piece(data)?, out)
    }

    fn frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        // Spaces after the JSON are not part of it; serde_json accepts them.
        let frame: Object<'_> = serde_json::from_str(data)?;
        let kind = frame.text("type");
        match kind.as_deref().or(name).unwrap_or_default() {
            "content_block_delta" => return self.delta(&frame, out),
            "content_block_start" => {
                let block = required(&frame, "content_block")?;
                self.begin(out);
                let number = field(&frame, "index")?.unwrap_or(self.opened as u64);
                self.block_start(number, block, out)?;
            }
            "content_block_stop" => self.block_stop(field(&frame, "index")?, out),
            "message_start" => self.message_start(required(&frame, "message")?, out)?,
            "message_delta" => self.message_delta(&frame, out)?,
            "message_stop" => {
                self.begin(out);
                if let Some(data) = Json::of(&frame).ok().filter(|_| frame.0.len() > 1) {
                    out.push(Event::Other { index: None, dialect: DIALECT, data });
                }
                self.finish(out);
            }
            // Most consist of their type alone.
            "ping" if frame.0.len() <= 1 => {}
            "message" if kind.is_some() => return Ok(Seen::Whole),
            "error" => return Err(self.failed(data)),
            _ if frame.get("error").is_some_and(|error| error.get() != "null") => return Err(self.failed(data)),
            _ => return Ok(self.unknown(field(&frame, "index").unwrap_or_default())),
        }
        Ok(Seen::Known)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        if self.kept.str("stop_reason").is_none() {
            return Err(Fault::CutOff);
        }
        self.finish(out);
        if let Some(Event::Done { provider_data, .. }) = out.last_mut() {
            provider_data.set_part(DIALECT, Part::Shape, "without_message_stop", true);
        }
        Ok(())
    }

    fn held(&self) -> usize {
        self.open.weight() + self.usage.weight() + self.kept.weight()
    }
}

fn answer_data(kept: Fields) -> ProviderData {
    let mut data = ProviderData::default();
    data.extend_part(DIALECT, Part::Answer, kept);
    data
}

/// Reads a field of a frame, if it is present and not `null`.
pub(super) fn field<'a, T: Deserialize<'a>>(frame: &'a Object<'_>, name: &str) -> Result<Option<T>, serde_json::Error> {
    frame.get(name).map_or(Ok(None), |raw| serde_json::from_str(raw.get()))
}

/// Reads a field that frames of this type must have.
pub(super) fn required<'a, T: Deserialize<'a>>(frame: &'a Object<'_>, name: &str) -> Result<T, Fault> {
    field(frame, name)?.ok_or_else(|| Fault::Broken(format!("it has no `{name}`")))
}

impl Decoder {
    /// Creates a reader; `ids` is for tool calls without an id.
    pub(crate) fn new(ids: Ids, limits: &Limits) -> Self {
        Decoder {
            ids,
            limits: *limits,
            has_begun: false,
            id: None,
            opened: 0,
            open: Vec::new(),
            calls: 0,
            usage: Fields::default(),
            kept: Fields::default(),
        }
    }

    fn message_start(&mut self, mut message: Answer<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        let id = message.id.take().map(Text::into_string);
        if self.has_begun {
            // A proxy repeats itself, or has put a retry into the stream.
            if id == self.id {
                return Ok(());
            }
            if self.opened > 0 || !self.open.is_empty() {
                return Err(Fault::Broken("a second answer begins before the first has ended".to_owned()));
            }
            (self.usage, self.kept) = (Fields::default(), Fields::default());
        }
        let model = message.model.take().map(Text::into_string);
        let content = message.content.take();
        self.read_rest(message);
        if !self.has_begun {
            self.has_begun = true;
            self.id.clone_from(&id);
            out.push(Event::Start { id, model, provider_data: answer_data(self.kept.clone()) });
        }
        self.report_usage(out);
        for block in content.into_iter().flatten() {
            let number = self.opened as u64;
            self.block_start(number, block.into_fields(), out)?;
            self.block_stop(Some(number), out);
        }
        Ok(())
    }

    /// Adopts the fields next to the content: at the start all of them, at the end those that changed.
    fn read_rest(&mut self, answer: Answer<'_>) {
        let (kept, counts) = read_rest(answer);
        self.kept.merge(kept);
        // Totals, not increments: new values replace old ones.
        self.usage.merge(counts.unwrap_or_default());
    }

    fn report_usage(&self, out: &mut Vec<Event>) {
        if !self.usage.is_empty() {
            out.push(Event::Usage { usage: usage::decode(self.usage.clone()) });
        }
    }

    fn message_delta(&mut self, frame: &Object<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        self.begin(out);
        if let Some(delta) = field::<Answer<'_>>(frame, "delta")? {
            self.read_rest(Answer { id: None, model: None, content: None, ..delta });
        }
        let counts: Option<Fields> = field(frame, "usage").unwrap_or_default();
        for (name, raw) in &frame.0 {
            match name.as_ref() {
                "type" | "delta" => {}
                "usage" if counts.is_some() => {}
                name => self.kept.set(name, Json::copy(raw)),
            }
        }
        self.usage.merge(counts.unwrap_or_default());
        // Each new name is searched for among them, and the counts are reported anew each time.
        if self.kept.len() > MOST_FIELDS || self.usage.len() > MOST_FIELDS {
            return Err(limit_reached(format!("the end of the answer has more than {MOST_FIELDS} fields")).into());
        }
        self.report_usage(out);
        Ok(())
    }

    /// Starts the answer if a proxy dropped its start.
    pub(super) fn begin(&mut self, out: &mut Vec<Event>) {
        if !self.has_begun {
            self.has_begun = true;
            out.push(Event::Start { id: None, model: None, provider_data: ProviderData::default() });
        }
    }

    fn finish(&mut self, out: &mut Vec<Event>) {
        self.begin(out);
        for open in std::mem::take(&mut self.open) {
            self.close(open, out);
        }
        let finish_reason = finish(self.kept.str("stop_reason").as_deref(), self.calls);
        out.push(Event::Done { finish_reason, provider_data: answer_data(std::mem::take(&mut self.kept)) });
    }

    /// Reads the provider's own failure. As the very first event it replaces a failed HTTP answer.
    fn failed(&self, data: &str) -> Fault {
        let mut failure = error::from_body(data.as_bytes());
        if !self.has_begun {
            failure.status = Some(error::status_of(failure.kind));
        }
        failure.into()
    }

    /// Classifies something unknown, for the block that it names.
    pub(super) fn unknown(&self, number: Option<u64>) -> Seen {
        let open = self.open.iter().find(|open| Some(open.number) == number);
        Seen::Unknown(open.and_then(|open| open.index))
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
