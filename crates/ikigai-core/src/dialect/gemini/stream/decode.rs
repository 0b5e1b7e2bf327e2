//! Frames to events.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use super::super::response::{FINISH, finish, is_blocked, keep_candidate, keep_names, usage_name};
use super::super::usage::UsageMetadata;
use super::super::wire::{Answer, Candidate, FunctionCall, OneOrMany, Part};
use super::super::{DIALECT, content, error, usage};
use super::alike::{self, Slot};
use super::args::PartialArgs;
use crate::dialect::weight::Weigh as _;
use crate::dialect::{Fault, ReadFrames, Seen};
use crate::json::wire::{Names, Raw, Text, read, read_str};
use crate::server::alike::{Alike, words};
use crate::stream::block_events;
use crate::wire::Ids;
use crate::{
    Arguments, Block, BlockKind, Event, Fields, FinishReason, Json, Limits, Part as DataPart, ProviderData, ToolCall,
};

/// The most different fields of one object in a stream: later ones replace earlier ones by name.
const MOST_FIELDS: usize = 64;

/// The reader of a stream's frames.
///
/// The answer ends only with the bytes: a frame after the one with the finish reason may have counts or a signature,
/// and a stream in which code ran has several finish reasons, of which the last one counts.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    ids: Ids,
    limits: Limits,
    started: bool,
    /// The current block: its index and kind. Text and thinking stay open until something else comes.
    open: Option<(usize, BlockKind)>,
    /// The call whose arguments are still arriving.
    partial: Option<(usize, PartialArgs)>,
    /// How many blocks have been opened.
    blocks: usize,
    calls: usize,
    finish: Option<String>,
    counts: usage::Counts,
    /// The counts reported last.
    told: usage::Counts,
    /// The frames' other fields, later ones replacing earlier ones: in `usageMetadata`, in the answer, in the
    /// candidate.
    details: Fields,
    top: Fields,
    candidate: Fields,
    /// The names in snake_case: in the answer and its candidate, and in its counts.
    names: Vec<String>,
    usage_names: Vec<String>,
    /// The form of the last frame, if it contained only text and counts.
    alike: Alike<Slot>,
    alike_counts: usage::Counts,
}

/// Keeps fields by name. A field missing from a later frame stays, and `null` counts as missing.
fn keep<'a>(
    kept: &mut Fields,
    fields: impl IntoIterator<Item = (Cow<'a, str>, Cow<'a, RawValue>)>,
) -> Result<(), Fault> {
    for (name, value) in fields {
        match kept.get(&name) {
            // Usually it is repeated.
            Some(known) if known.text() == value.get() => {}
            _ if value.get() == "null" => {}
            None if kept.len() >= MOST_FIELDS => {
                return Err(Fault::Broken(format!("more than {MOST_FIELDS} unknown fields")));
            }
            _ => kept.set(name, Json::copy(&value)),
        }
    }
    Ok(())
}

/// Notes unusual names. There are as many as fields that are known.
fn note(noted: &mut Vec<String>, names: &[Cow<'_, str>]) {
    for name in names {
        if !noted.iter().any(|known| known == name) {
            noted.push(name.as_ref().to_owned());
        }
    }
}

impl ReadFrames for Decoder {
    fn glance(&mut self, data: &str, out: &mut Vec<Event>) -> Option<()> {
        let (mut said, mut counts) = (None, self.alike_counts);
        self.alike.read(data.as_bytes(), |slot, place| match slot {
            Slot::Said(kind) => said = Some((kind, place)),
            Slot::Count(number) => counts.read(number, data.get(place).unwrap_or_default()),
        })?;
        let (kind, place) = said?;
        let text = words(data.get(place)?)?.into_owned();
        self.count(counts, out);
        self.plain(text, kind, out);
        Some(())
    }

    fn frame(&mut self, _name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        if !data.trim_ascii_start().starts_with('[') {
            return self.one(data, out);
        }
        // A whole array in one frame: some proxies wrap errors this way.
        for frame in read_str::<Vec<&RawValue>>(data)? {
            if let Seen::Unknown(index) = self.one(frame.get(), out)? {
                out.push(Event::Other { index, dialect: DIALECT, data: Json::copy(frame) });
            }
        }
        Ok(Seen::Known)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        let word = self.finish.take();
        let finish_reason = match &word {
            Some(word) => {
                // A call that was still arriving is complete only if the model says that it is done.
                self.close_partial(if word == "STOP" { Complete::Yes } else { Complete::No }, out);
                finish(Some(word), self.calls)
            }
            None if is_blocked(&self.top) => FinishReason::ContentFilter,
            None => return Err(Fault::CutOff),
        };
        self.close(out);
        let mut kept = std::mem::take(&mut self.top);
        let details = std::mem::take(&mut self.details);
        let usage_names = std::mem::take(&mut self.usage_names);
        let names = std::mem::take(&mut self.names).into_iter().map(Cow::Owned).collect::<Names<'_>>();
        let usage = UsageMetadata::new(self.counts, &details, usage_names.into_iter().map(Cow::Owned).collect());
        match usage::decode(&usage) {
            Some(usage) => out.push(Event::Usage { usage }),
            None if !details.is_empty() => kept.push(usage_name(&names), Raw::of(&usage).to_json()),
            None => {}
        }
        if let Some(word) = word {
            kept.push(FINISH, word);
        }
        let mut provider_data = ProviderData::default();
        provider_data.extend_part(DIALECT, DataPart::Answer, kept);
        keep_candidate(&mut provider_data, std::mem::take(&mut self.candidate));
        keep_names(names, &mut provider_data);
        out.push(Event::Done { finish_reason, provider_data });
        Ok(())
    }

    fn held(&self) -> usize {
        let partial = self.partial.as_ref().map_or(0, |(_, args)| args.weight());
        partial + self.details.weight() + self.top.weight() + self.candidate.weight()
    }
}

/// Whether the arguments of a call are complete.
#[derive(Clone, Copy, PartialEq)]
enum Complete {
    Yes,
    No,
}

impl Decoder {
    pub(crate) fn new(ids: Ids, limits: &Limits) -> Self {
        Decoder { ids, limits: *limits, ..Decoder::default() }
    }

    fn one(&mut self, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        let answer: Answer<'_> = read(data.as_bytes()).map_err(Fault::Broken)?;
        if answer.error.is_some() {
            return Err(error::decode_error(None, &[], data).into());
        }
        match alike::parts(&answer).filter(|_| self.started) {
            Some(parts) => {
                self.alike.learn_parts(data, parts);
                self.alike_counts = answer.usage.as_ref().map(UsageMetadata::counts).unwrap_or_default();
            }
            // Its other fields may differ.
            None => self.alike.forget(),
        }
        self.answer(answer, out)?;
        Ok(Seen::Known)
    }

    fn answer(&mut self, frame: Answer<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        keep(&mut self.top, frame.rest)?;
        let mut counts = usage::Counts::default();
        note(&mut self.names, &frame.names);
        if let Some(usage) = frame.usage {
            counts = usage.counts();
            note(&mut self.usage_names, &usage.names);
            keep(&mut self.details, usage.details())?;
        }
        if !self.started {
            self.started = true;
            let (id, model) = (frame.id.map(Text::into_string), frame.model.map(Text::into_string));
            out.push(Event::Start { id, model, provider_data: ProviderData::default() });
        }
        // Before the content: another dialect may need the prompt's count at its start.
        self.count(counts, out);
        let (mut own, mut others) = (None, Vec::new());
        for candidate in frame.candidates.into_iter().flatten() {
            if own.is_none() && candidate.is_first() {
                own = Some(candidate);
            } else {
                others.push(candidate);
            }
        }
        if !others.is_empty() {
            let others = Answer { candidates: Some(OneOrMany::Many(others)), ..Answer::default() };
            out.push(Event::Other { index: None, dialect: DIALECT, data: Raw::of(&others).into_json() });
        }
        own.map_or(Ok(()), |candidate| self.candidate(candidate, out))
    }

    /// Adds the counts of a frame, and reports them if they have changed.
    fn count(&mut self, counts: usage::Counts, out: &mut Vec<Event>) {
        self.counts = counts.after(self.counts);
        if self.counts != self.told {
            self.told = self.counts;
            out.push(Event::Usage { usage: self.told.usage() });
        }
    }

    fn candidate(&mut self, candidate: Candidate<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        note(&mut self.names, &candidate.names);
        keep(&mut self.candidate, candidate.index.map(|index| (Cow::Borrowed("index"), index.0)))?;
        keep(&mut self.candidate, candidate.rest)?;
        let content = candidate.content.unwrap_or_default();
        keep(&mut self.candidate, content.rest)?;
        // The driver counts blocks too, but only after the frame, which may have very many.
        self.limits.check_answer_blocks(content.parts.as_ref().map_or(0, OneOrMany::len))?;
        for part in content.parts.into_iter().flatten() {
            self.part(part, out)?;
        }
        if let Some(word) = candidate.finish {
            self.finish = Some(word.into_string());
        }
        Ok(())
    }

    fn part(&mut self, mut part: Part<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        if alike::is_plain(&part)
            && let Some(text) = part.text.take()
        {
            self.plain(text.into_string(), alike::said_in(&part), out);
            return Ok(());
        }
        part.rest.retain(|(_, value)| value.get() != "null");
        match &part.call {
            Some(call) if self.is_piece(call) => self.piece(part, out),
            Some(_) | None => {
                // A separate block, complete in this frame.
                let block = content::named(content::decode(part), &mut self.ids);
                self.calls += usize::from(block.kind() == BlockKind::ToolCall);
                block_events(self.next(out), &block, out);
                Ok(())
            }
        }
    }

    /// Adds plain text or thinking.
    fn plain(&mut self, text: String, kind: BlockKind, out: &mut Vec<Event>) {
        if text.is_empty() {
            return;
        }
        let thinking = kind == BlockKind::Thinking;
        let index = match self.open {
            Some((index, open)) if open == kind => index,
            _ => {
                let index = self.next(out);
                let block = if thinking { Block::thinking("") } else { Block::text("") };
                out.push(Event::BlockStart { index, block });
                self.open = Some((index, kind));
                index
            }
        };
        out.push(if thinking { Event::ThinkingDelta { index, text } } else { Event::TextDelta { index, text } });
    }

    /// Whether this is a piece of a call, because it says so or because it continues the one that is arriving.
    fn is_piece(&self, call: &FunctionCall<'_>) -> bool {
        call.will_continue.is_some() || call.partial_args.is_some() || (self.partial.is_some() && call.name.is_none())
    }

    fn piece(&mut self, mut part: Part<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        let (mut pieces, mut goes_on) = (None, None);
        if let Some(call) = &mut part.call {
            (pieces, goes_on) = (call.partial_args.take(), call.will_continue.take());
            // They come later.
            call.args.get_or_insert_with(|| Raw::of(&Fields::default()));
        }
        if let Block::ToolCall(call) = content::named(content::decode(part), &mut self.ids) {
            self.calls += 1;
            let (index, ToolCall { id, name, provider_data, .. }) = (self.next(out), call);
            out.push(Event::ToolCallStart { index, id, name, provider_data });
            self.partial = Some((index, PartialArgs::default()));
        }
        let Some((_, args)) = &mut self.partial else {
            return Err(Fault::Broken("it goes on with a call that never began".to_owned()));
        };
        for piece in pieces.into_iter().flatten() {
            args.push(piece).map_err(Fault::Broken)?;
        }
        if goes_on != Some(true) {
            self.close_partial(Complete::Yes, out);
        }
        Ok(())
    }

    /// Returns the index of the next block, and closes the open one.
    fn next(&mut self, out: &mut Vec<Event>) -> usize {
        self.close(out);
        self.blocks += 1;
        self.blocks - 1
    }

    fn close(&mut self, out: &mut Vec<Event>) {
        if let Some((index, _)) = self.open.take() {
            out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
        }
        self.close_partial(Complete::No, out);
    }

    /// Ends the call that came in pieces. One that was cut short must not be run: its arguments are left as text
    /// without their last brace.
    fn close_partial(&mut self, complete: Complete, out: &mut Vec<Event>) {
        let Some((index, args)) = self.partial.take() else { return };
        let mut text = Value::Object(args.finish()).to_string();
        if complete == Complete::No {
            text.pop();
        }
        let arguments = Arguments::from_text(text);
        out.push(Event::ToolCallDelta { index, arguments: arguments.text().to_owned() });
        out.push(Event::ToolCallDone { index, arguments, provider_data: ProviderData::default() });
    }
}
