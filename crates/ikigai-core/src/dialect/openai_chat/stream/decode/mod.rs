//! Chunks to events.
//!
//! Text and reasoning blocks are open one at a time, as pieces arrive: reasoning, then text, then calls. A block closes
//! when something else begins; a call closes when the next one begins and its arguments are complete, or else at the
//! end. The end itself is only known at `[DONE]`, because counts come after the finish reason.

mod alike;
mod blocks;
mod calls;
mod choices;
mod merge;
mod signed;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use crate::dialect::openai_chat::notes::{ContentShape, EXTRA_CONTENT, MESSAGE_STATE, Notes, REASONING_OPAQUE, Side};
use crate::dialect::openai_chat::response::{
    Around, ERROR, Holds, broken, failure, failure_of, finish, listed_failure, usage_elsewhere,
};
use crate::dialect::openai_chat::wire::{Answer, Choice, Content, Message, Speech};
use crate::dialect::openai_chat::{DIALECT, assistant, usage};
use crate::dialect::{Fault, ReadFrames, Seen};
use crate::json::loose::{self, Item, read_raw};
use crate::json::wire::{Raw, Rest, Text};
use crate::server::alike::{Alike, words};
use crate::wire::Ids;
use crate::{Error, Event, Fields, FinishReason, Json, Part, ProviderData};

use super::around::{write_around, write_head};
use alike::{Field, Slot};
use blocks::Blocks;
use calls::Calls;
use choices::{as_whole, has_usage, is_padding, is_whole, own_choice};
use merge::{Items, Merged};

/// The reader of one answer's chunks.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    ids: Ids,
    /// The form of the last chunk, if it contained only text.
    alike: Alike<Slot>,
    /// Whether the answer has started.
    started: bool,
    id: Option<String>,
    model: Option<String>,
    blocks: Blocks,
    calls: Calls,
    finish: Option<String>,
    /// The failure that a choice told of.
    failure: Option<Error>,
    /// The most recent counts; empty if there are none.
    usage: String,
    /// The time of the last chunk, and the last id that is not the first; empty if the body already has them.
    created: String,
    other_id: String,
    /// The other fields: in the body, in the choice and in the message.
    body: Merged,
    choice: Merged,
    message: Merged,
    /// The bytes of speech. Its pieces are encoded separately, so their bytes are joined, not their base64.
    speech: Vec<u8>,
    /// Whether content came as a list of parts.
    in_parts: bool,
    /// The other choices: assembled, but only kept, as in a whole answer.
    others: Items,
}

impl Decoder {
    pub(crate) fn new(ids: Ids) -> Self {
        Decoder { ids, ..Decoder::default() }
    }

    fn chunk(&mut self, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        let mut chunk = Answer::default();
        if loose::read(data, &mut chunk)?.is_some() {
            let broken = || Fault::Broken("it is not an object".to_owned());
            return Err(listed_failure(data).map_or_else(broken, Fault::from));
        }
        if let Some(error) = failure(data, &chunk) {
            if self.started {
                self.counts(&chunk);
            }
            return Err(error.into());
        }
        if !self.started && chunk.choices.iter().any(is_whole) {
            return Ok(Seen::Whole);
        }
        match alike::parts(&chunk).filter(|_| self.started) {
            Some(parts) => self.alike.learn_parts(data, parts),
            // The fields around its text may differ.
            None => self.alike.forget(),
        }
        self.counts(&chunk);
        self.body(&chunk);
        if !self.started {
            self.id = self.id.take().or_else(|| chunk.id.take().map(Into::into));
            let model = chunk.model.take().map(Text::into_string).filter(|model| !model.is_empty());
            self.model = self.model.take().or(model);
            if chunk.choices.is_empty() {
                // Some start with a chunk about the prompt that has neither the answer's id nor the model.
                return Ok(Seen::Known);
            }
            self.start(out);
        } else {
            self.renamed(&chunk);
        }
        for item in chunk.choices {
            let Item::Fits(choice) = item else { continue };
            match choice.index {
                None | Some(0) => self.choice(choice, out),
                Some(index) => self.other_choice(index, choice),
            }
        }
        Ok(Seen::Known)
    }

    fn start(&mut self, out: &mut Vec<Event>) {
        self.started = true;
        let (id, model) = (self.id.clone(), self.model.clone());
        out.push(Event::Start { id, model, provider_data: ProviderData::default() });
    }

    /// Keeps an id or model that differs from the one at the start, as some have in their last chunk.
    fn renamed(&mut self, chunk: &Answer<'_>) {
        if let Some(id) = chunk.id.0.as_ref().map(Text::as_str).filter(|id| differs(id, self.id.as_deref())) {
            self.body.set("id", &Raw::of(id).0);
        }
        if let Some(model) =
            chunk.model.as_ref().map(Text::as_str).filter(|model| differs(model, self.model.as_deref()))
        {
            self.body.set("model", &Raw::of(model).0);
        }
    }

    /// Reads the counts, wherever they are; the chunk of a failure may have them too.
    fn counts(&mut self, chunk: &Answer<'_>) {
        let nothing = Choice::default();
        let own = chunk.choices.iter().find_map(own_choice).unwrap_or(&nothing);
        if let Some(raw) = &chunk.usage {
            raw.text().clone_into(&mut self.usage);
        }
        if let Some(counts) = usage_elsewhere(chunk, own)
            && (self.usage.is_empty() || has_usage(own))
        {
            counts.text().clone_into(&mut self.usage);
        }
    }

    /// Reads the fields around a chunk's choices.
    fn body(&mut self, chunk: &Answer<'_>) {
        self.settle();
        if let Some(created) = &chunk.created {
            self.body.set("created", &created.0);
        }
        for (name, value) in &chunk.rest {
            let is_known = matches!(name.as_ref(), "id" | "object" | "model" | "usage" | "error" | "choices");
            if !is_known && !is_padding(name) {
                self.body.set(name, value);
            }
        }
    }

    /// Adds to the body what was read from chunks that were not parsed.
    fn settle(&mut self) {
        if let Ok(created) = serde_json::from_str::<&RawValue>(&self.created) {
            self.body.set("created", created);
            self.created.clear();
        }
        if !self.other_id.is_empty() {
            self.body.set("id", &Raw::string(&self.other_id).0);
            self.other_id.clear();
        }
    }

    fn choice(&mut self, mut choice: Choice<'_>, out: &mut Vec<Event>) {
        if let Some(raw) = &choice.logprobs {
            self.choice.grow("logprobs", &raw.0);
        }
        if let Some(delta) = choice.delta.take() {
            self.delta(*delta, out);
        }
        if let Some(whole) = &choice.message {
            // It comes last and repeats what was said.
            self.beside(&whole.rest, Merged::set);
        }
        if let Some(word) = choice.finish_reason.take().filter(|word| !word.as_str().is_empty()) {
            self.finish = Some(word.into_string());
        }
        for (name, value) in &choice.rest {
            if name == ERROR {
                self.failure = failure_of(value).or(self.failure.take());
            }
            let is_count = name == "usage" && value.get().starts_with('{');
            if !(is_count || matches!(name.as_ref(), "index" | "delta" | "finish_reason" | "logprobs" | "message")) {
                self.choice.grow(name, value);
            }
        }
    }

    fn other_choice(&mut self, index: u64, mut choice: Choice<'_>) {
        let frame = serde_json::json!({"index": index, "message": {"role": "assistant", "content": null}});
        choice.message = choice.delta.take();
        for piece in [Raw::of(&frame), Raw::of(&choice)] {
            self.others.push(&piece.0);
        }
    }

    fn delta(&mut self, mut delta: Message<'_>, out: &mut Vec<Event>) {
        self.blocks.reasoning(&mut delta, out);
        match std::mem::take(&mut delta.content) {
            Content::Absent => {}
            Content::Text(text) => self.blocks.text(text.into_string(), out),
            Content::List(parts) => {
                self.in_parts = true;
                parts.into_iter().for_each(|part| self.blocks.part(part, out));
            }
        }
        if let Some(text) = delta.refusal.take() {
            self.blocks.refuse(text.into_owned(), out);
        }
        if !delta.tool_calls.is_empty() || delta.function_call.is_some() {
            self.blocks.close(out);
            self.calls.take(&mut delta, &mut self.blocks.next, &mut self.ids, out);
        }
        if let Some(mut piece) = delta.audio.as_ref().and_then(|raw| read_raw::<Speech<'_>>(&raw.0)) {
            if let Some(data) = piece.data.take() {
                self.speech.extend(STANDARD.decode(data.as_ref()).unwrap_or_default());
            }
            self.message.grow("audio", &Raw::of(&piece).0);
        }
        for picture in assistant::pictures(&mut delta, Side::Response) {
            self.blocks.whole(picture, out);
        }
        if !delta.images.is_empty() {
            self.message.grow("images", &Raw::of(&delta.images).0);
        }
        if let Some(state) = &delta.extra_content {
            self.message.grow(EXTRA_CONTENT, &state.0);
        }
        if let Some(opaque) = delta.opaque.take() {
            self.message.set(REASONING_OPAQUE, &Raw::of(&opaque).0);
        }
        self.beside(&delta.rest, Merged::grow);
    }

    fn beside(&mut self, fields: &Rest<'_>, keep: fn(&mut Merged, &str, &RawValue)) {
        for (name, value) in fields {
            if name != "role" && !matches!(value.get(), "null" | "\"\"" | "[]" | "{}") {
                keep(&mut self.message, name, value);
            }
        }
    }

    /// Whether the provider said how the answer ended.
    fn has_ended(&self) -> bool {
        self.finish.is_some() || self.failure.is_some()
    }

    /// Closes everything and ends the stream as the answer ended.
    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        if !self.started {
            self.start(out);
        }
        self.blocks.close(out);
        let calls = self.calls.finish(out);
        let mut message = std::mem::take(&mut self.message).into_fields();
        let audio = message.remove("audio");
        if let Some(speech) = audio.as_ref().and_then(|audio| read_raw(audio.raw())) {
            let data = STANDARD.encode(&self.speech);
            self.blocks.whole(assistant::speech_block(data, speech, Side::Response), out);
        }
        self.usage(out);
        let holds = Holds { refusal: self.blocks.refused, ..calls.map_err(Error::protocol)? };
        let word = self.finish.take();
        let finish_reason = finish(word.as_deref(), holds);
        let broken = (finish_reason == FinishReason::Error).then(|| broken(word.as_deref()));
        if let Some(failure) = self.failure.take().or(broken) {
            // The failure is in it, and is said by now.
            self.choice = Merged::default();
            return Err(failure.into());
        }
        let mut notes = Notes::default();
        for name in MESSAGE_STATE {
            if let Some(state) = message.remove(name) {
                notes.state.set(name, state);
            }
        }
        if self.in_parts {
            ContentShape::Parts.note(&mut notes.shape);
        }
        out.push(Event::Done { finish_reason, provider_data: self.around(message).into_data(notes, word.as_deref()) });
        Ok(())
    }

    /// Returns the fields around the answer, given those of its message.
    fn around(&mut self, message: Fields) -> Around {
        self.settle();
        let others: Vec<Json> = self.others.take().iter().map(as_whole).collect();
        Around {
            body: std::mem::take(&mut self.body).into_fields(),
            choice: std::mem::take(&mut self.choice).into_fields(),
            message,
            others: if others.is_empty() { None } else { Json::of(&others).ok() },
        }
    }

    fn usage(&mut self, out: &mut Vec<Event>) {
        if let Ok(raw) = serde_json::from_str::<&RawValue>(&self.usage)
            && raw.get().starts_with('{')
        {
            out.push(Event::Usage { usage: usage::decode(raw) });
        }
    }
}

impl ReadFrames for Decoder {
    fn held(&self) -> usize {
        let around = [&self.body, &self.choice, &self.message].map(Merged::held).into_iter().sum::<usize>();
        // It is copied at the end.
        2 * (around + self.others.held() + self.speech.len()) + self.blocks.held() + self.calls.held()
    }

    fn glance(&mut self, data: &str, out: &mut Vec<Event>) -> Option<()> {
        let (mut said, mut id, mut created, mut usage, mut logprobs) = (None, None, None, None, None);
        self.alike.read(data.as_bytes(), |slot, place| match slot {
            Slot::Id => id = Some(place),
            Slot::Created => created = Some(place),
            Slot::Usage => usage = Some(place),
            Slot::Logprobs => logprobs = Some(place),
            Slot::Said(field) => said = Some((field, place)),
        })?;
        let (field, place) = said?;
        let text = words(data.get(place)?)?.into_owned();
        if let Some(place) = logprobs {
            self.choice.grow("logprobs", serde_json::from_str(data.get(place)?).ok()?);
        }
        if let Some(id) = id.and_then(|place| data.get(place)).filter(|id| differs(id, self.id.as_deref())) {
            id.clone_into(&mut self.other_id);
        }
        // If a chunk has none, it is the learned one, which is in the body.
        self.created.clear();
        if let Some(place) = created {
            self.created.push_str(data.get(place)?);
        }
        if let Some(usage) = usage.and_then(|place| data.get(place)) {
            usage.clone_into(&mut self.usage);
        }
        match field {
            Field::Content => self.blocks.text(text, out),
            Field::Reasoning(name) => self.blocks.think_aloud(name, text, out),
        }
        Some(())
    }

    fn frame(&mut self, _name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        if data.trim() == "[DONE]" {
            // The end, with or without a finish reason: only complete answers have counts.
            let is_whole = self.has_ended() || (self.started && !self.usage.is_empty());
            return if is_whole { self.finish(out).map(|()| Seen::Known) } else { Err(Fault::CutOff) };
        }
        self.chunk(data, out)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        if self.has_ended() { self.finish(out) } else { Err(Fault::CutOff) }
    }

    fn flush(&mut self, out: &mut Vec<Event>) {
        self.blocks.flush_held(out);
        self.usage(out);
        // What would have come with the end is passed on as a chunk.
        let message = std::mem::take(&mut self.message).into_fields();
        let mut around = self.around(message);
        let created = around.body.remove("created").unwrap_or_default();
        let own = around.into_data(Notes::default(), None).take_part(DIALECT, Part::Answer);
        if own.is_empty() {
            return;
        }
        let id = own.get("id").cloned().or_else(|| self.id.as_deref().map(Json::from)).unwrap_or_default();
        let mut chunk = Vec::new();
        write_head(&id, &created, self.model.as_deref().unwrap_or_default(), &mut chunk);
        write_around(own, Fields::NONE, None, &mut chunk);
        if let Ok(data) = serde_json::from_slice(&chunk) {
            out.push(Event::Other { index: None, dialect: DIALECT, data });
        }
    }
}

/// Whether a name differs from the first one.
fn differs(name: &str, first: Option<&str>) -> bool {
    !name.is_empty() && first != Some(name)
}
