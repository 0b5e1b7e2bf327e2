//! Chunks to events.
//!
//! One block is open at a time, as the pieces come: reasoning, then text, then calls. A block closes when something
//! else begins; a call, when the next one begins and its arguments are whole, or else at the end. The end itself is only
//! known at `[DONE]`, because counts come after the finish reason.

mod alike;
mod blocks;
mod calls;
mod details;
mod kept;
mod others;
mod speech;

use serde_json::value::RawValue;

use crate::dialect::openai_chat::notes::Side;
use crate::dialect::openai_chat::response::{Holds, broken, decode_response, failure, finish};
use crate::dialect::openai_chat::wire::{Answer, Call, Choice, Content, Function, Message};
use crate::dialect::openai_chat::{assistant, usage};
use crate::dialect::{Fault, ReadFrames, Seen};
use crate::json::loose::{self, Item};
use crate::json::wire::Text;
use crate::wire::Ids;
use crate::{Error, Event, FinishReason, ProviderData};

use alike::{Alike, only_text};
use blocks::Blocks;
use calls::Calls;
use kept::Kept;
use others::Others;
use speech::Speech;

/// Reads the chunks of one answer.
#[derive(Debug)]
pub(crate) struct Decoder {
    ids: Ids,
    /// What the last chunk was like that brought only text.
    alike: Alike,
    state: State,
    id: Option<String>,
    model: Option<String>,
    blocks: Blocks,
    calls: Calls,
    speech: Option<Speech>,
    finish: Option<String>,
    usage: String,
    kept: Kept,
    others: Others,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was said yet.
    Waiting,
    Started,
}

impl Decoder {
    pub(crate) fn new(ids: Ids) -> Self {
        Decoder {
            ids,
            alike: Alike::default(),
            state: State::Waiting,
            id: None,
            model: None,
            blocks: Blocks::default(),
            calls: Calls::default(),
            speech: None,
            finish: None,
            usage: String::new(),
            kept: Kept::default(),
            others: Others::default(),
        }
    }

    fn chunk(&mut self, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        if let Some(text) = self.alike.read(data) {
            self.blocks.text(text.into_owned(), out);
            return Ok(Seen::Known);
        }
        let mut chunk = Answer::default();
        if loose::read(data, &mut chunk)?.is_some() {
            return Err(Fault::Broken("it is not an object".to_owned()));
        }
        if let Some(error) = failure(data, &chunk) {
            return Err(error.into());
        }
        if let Some(raw) = &chunk.usage {
            raw.text().clone_into(&mut self.usage);
        }
        if self.state != State::Waiting
            && let Some(text) = only_text(data, &chunk)
        {
            self.alike.learn(data, text);
        }
        let mut choices = chunk.choices.0.take().unwrap_or_default();
        if self.state == State::Waiting && choices.iter().any(is_whole) {
            return self.whole(data, out);
        }
        let own = choices.iter().find_map(own_choice);
        let is_special = self.state == State::Waiting
            || choices.is_empty()
            || own.is_some_and(|choice| choice.finish_reason.is_some() || has_usage(choice));
        if is_special
            && let Some(counts) = self.kept.chunk(&chunk, own)
            && (self.usage.is_empty() || own.is_some_and(has_usage))
        {
            self.usage = counts;
        }
        if self.state == State::Waiting {
            self.id = self.id.take().or_else(|| chunk.id.take().map(Into::into));
            let model = chunk.model.take().map(Text::into_string).filter(|model| !model.is_empty());
            self.model = self.model.take().or(model);
            if choices.is_empty() {
                // Some begin with a chunk about the prompt that names neither answer nor model.
                return Ok(Seen::Known);
            }
            self.start(out);
        }
        for item in &mut choices {
            let Item::Fits(choice) = item else { continue };
            match choice.index {
                None | Some(0) => self.choice(choice, out),
                Some(index) => self.others.choice(index, choice),
            }
        }
        Ok(Seen::Known)
    }

    /// The answer in one piece, though a stream was asked for.
    fn whole(&mut self, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        out.extend(crate::events(&decode_response(data.as_bytes(), &mut self.ids)?));
        Ok(Seen::Known)
    }

    fn start(&mut self, out: &mut Vec<Event>) {
        self.state = State::Started;
        out.push(Event::Start { id: self.id.take(), model: self.model.take(), provider_data: ProviderData::default() });
    }

    fn choice(&mut self, choice: &mut Choice<'_>, out: &mut Vec<Event>) {
        if let Some(raw) = &choice.logprobs {
            self.kept.logprobs(&raw.0);
        }
        if let Some(delta) = choice.delta.take() {
            self.delta(*delta, out);
        }
        if let Some(word) = choice.finish_reason.take().filter(|word| !word.as_str().is_empty()) {
            self.finish = Some(word.into_string());
        }
    }

    fn delta(&mut self, mut delta: Message<'_>, out: &mut Vec<Event>) {
        self.blocks.reasoning(&mut delta, out);
        match std::mem::take(&mut delta.content) {
            Content::Absent => {}
            Content::Text(text) => self.blocks.text(text.into_string(), out),
            Content::Parts(parts) => {
                self.kept.in_parts = true;
                parts.into_iter().for_each(|part| self.blocks.part(part, out));
            }
        }
        if let Some(text) = delta.refusal.take() {
            self.blocks.refuse(text.into_owned(), out);
        }
        if !delta.tool_calls.is_empty() || delta.function_call.is_some() {
            self.calls(delta.tool_calls, delta.function_call, out);
        }
        if let Some(raw) = &delta.audio {
            self.speech.get_or_insert_default().add(&raw.0);
        }
        if !delta.images.is_empty() && delta.images.iter().all(assistant::is_picture) {
            for image in std::mem::take(&mut delta.images) {
                self.blocks.flush_held(out);
                self.blocks.whole(assistant::picture(image, Side::Response), out);
            }
        }
        if let Some(state) = delta.extra_content.take() {
            self.kept.extra_content(state.to_json());
        }
        for (name, value) in &delta.rest {
            if value.get() != "null" && !is_said_elsewhere(name) {
                self.kept.field(name, value);
            }
        }
    }

    fn calls(&mut self, pieces: Vec<Item<'_, Call<'_>>>, older: Option<Box<Function<'_>>>, out: &mut Vec<Event>) {
        self.blocks.flush_held(out);
        self.blocks.close(out);
        self.blocks.settle_details(out);
        for item in pieces {
            if let Item::Fits(piece) = item {
                self.calls.piece(piece, &mut self.blocks.next, &mut self.ids, out);
            }
        }
        if let Some(function) = older {
            self.calls.older_form(*function, &mut self.blocks.next, &mut self.ids, out);
        }
    }

    /// Closes everything and ends the stream as the answer ended.
    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        if self.state == State::Waiting {
            self.start(out);
        }
        self.blocks.flush_held(out);
        self.blocks.close(out);
        self.blocks.settle_details(out);
        let calls = self.calls.finish(out);
        if let Some(speech) = self.speech.take() {
            self.blocks.whole(speech.into_block(), out);
        }
        self.usage(out);
        if let Some(fault) = calls.fault {
            return Err(Error::protocol(fault).into());
        }
        let holds = Holds { calls: calls.any, broken_call: calls.broken, refusal: self.blocks.refused };
        let word = self.finish.take();
        let finish_reason = finish(word.as_deref(), holds);
        if finish_reason == FinishReason::Error {
            return Err(broken(word.as_deref()).into());
        }
        let others = std::mem::take(&mut self.others).into_choices();
        let provider_data = std::mem::take(&mut self.kept).into_data(word.as_deref(), &others);
        out.push(Event::Done { finish_reason, provider_data });
        Ok(())
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
    fn frame(&mut self, _name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        if data.trim() == "[DONE]" {
            // The end, whether or not a reason came: counts are given only for an answer that is whole.
            let is_whole = self.finish.is_some() || (self.state == State::Started && !self.usage.is_empty());
            return if is_whole { self.finish(out).map(|()| Seen::Known) } else { Err(Fault::CutOff) };
        }
        self.chunk(data, out)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        if self.finish.is_some() { self.finish(out) } else { Err(Fault::CutOff) }
    }

    fn flush(&mut self, out: &mut Vec<Event>) {
        self.blocks.flush_held(out);
        self.usage(out);
    }
}

/// Fields of a delta that say nothing new: the role is always the same, `channel` names the kind of the text beside it,
/// and the others are here because they are empty.
fn is_said_elsewhere(name: &str) -> bool {
    let empty = ["content", "refusal", "reasoning", "reasoning_content", "reasoning_details", "tool_calls", "images"];
    name == "role" || name == "channel" || name == "function_call" || empty.contains(&name)
}

/// Whether this is a message and no delta: not a piece, but a whole answer.
fn is_whole(item: &Item<'_, Choice<'_>>) -> bool {
    matches!(item, Item::Fits(choice) if choice.message.is_some() && choice.delta.is_none())
}

fn own_choice<'c, 'a>(item: &'c Item<'a, Choice<'a>>) -> Option<&'c Choice<'a>> {
    match item {
        Item::Fits(choice) if choice.index.is_none_or(|index| index == 0) => Some(choice),
        Item::Fits(_) | Item::Odd(_) => None,
    }
}

/// Whether the counts stand in the choice.
fn has_usage(choice: &Choice<'_>) -> bool {
    choice.rest.iter().any(|(name, value)| name == "usage" && value.get() != "null")
}
