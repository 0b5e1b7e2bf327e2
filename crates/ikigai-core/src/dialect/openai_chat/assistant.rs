//! The assistant's messages, in answers and in the history of requests.

use std::borrow::Cow;

use super::DIALECT;
use super::calls::{self, write_call, write_older_form};
use super::content::{self, sniffed};
use super::notes::{
    self, ContentShape, EXTRA_CONTENT, ID, Notes, REASONING_ALSO, REASONING_DETAILS, REASONING_FIELD, REASONING_OPAQUE,
    REFUSAL, Side, THINKING_BLOCKS, shape,
};
use super::reasoning::FIELD_CONTENT;
use super::wire::{self, Content, Detail, Message, Signed, Speech};
use crate::fit::{Spelling, StateUse};
use crate::json::loose::{Item, Loose as _, Words, raw, read_raw};
use crate::json::wire::{Raw, Text as WireText};
use crate::wire::Ids;
use crate::{Audio, Block, Fields, Json, Part as DataPart, ProviderData, Source, Text, ThinkingBlock};

/// Shape: the picture was in `images`.
const IMAGES: &str = "images";
/// Shape: the speech was in `audio`.
const AUDIO: &str = "audio";
/// The fields that hold reasoning as plain text, in order of preference.
pub(super) const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// Reads a message's fields except for its role: the blocks, and the notes about the message itself.
pub(super) fn decode(mut message: Message<'_>, side: Side, ids: &mut Ids) -> (Vec<Block>, Notes) {
    let mut notes = Notes::default();
    let mut blocks: Vec<Block> = reasoning(&mut message).into_iter().collect();
    let before = blocks.len();
    let shape = read_content(&mut message, side, &mut blocks);
    blocks.extend(message.refusal.take().map(|text| refusal(text.into_owned())));
    blocks.extend(pictures(&mut message, side));
    if let Some(block) = message.audio.as_ref().and_then(|audio| speech(read_raw(&audio.0)?, side)) {
        message.audio = None;
        blocks.push(block);
    }
    let before_calls = blocks.len();
    calls::decode(&mut message, side, ids, &mut blocks, &mut notes);
    let has_calls = blocks.len() > before_calls;
    match shape {
        // That is how it is written anyway.
        Some(ContentShape::Null) if has_calls && before == before_calls => {}
        Some(shape) => shape.note(&mut notes.shape),
        None => {}
    }
    if let Some(state) = message.extra_content.take() {
        notes.state.set(EXTRA_CONTENT, state.to_json());
    }
    if let Some(opaque) = message.opaque.take() {
        notes.state.set(REASONING_OPAQUE, &*opaque);
    }
    notes.extra = message.leftovers();
    (blocks, notes)
}

/// Reads the reasoning fields as a thinking block, if they contain anything.
fn reasoning(message: &mut Message<'_>) -> Option<Block> {
    let mut notes = Notes::default();
    let mut text = None;
    let fields = [&mut message.reasoning_content, &mut message.reasoning, &mut message.reasoning_text];
    for (name, words) in REASONING_FIELDS.iter().zip(fields) {
        if text.is_none() {
            text = words.take().map(Cow::into_owned);
            text.iter().for_each(|_| notes.shape.set(REASONING_FIELD, *name));
        } else if words.as_deref() == text.as_deref() {
            words.take();
            notes.shape.set(REASONING_ALSO, *name);
        }
    }
    if !message.details.is_empty() {
        let details = std::mem::take(&mut message.details);
        if text.is_none() {
            text = Some(details.iter().filter_map(detail_text).collect());
            notes.shape.set(REASONING_FIELD, REASONING_DETAILS);
        }
        notes.state.set(REASONING_DETAILS, Json::of(&details).unwrap_or_default());
    }
    if !message.thinking_blocks.is_empty() {
        let blocks = std::mem::take(&mut message.thinking_blocks);
        if text.is_none() {
            text = Some(blocks.iter().filter_map(signed_text).collect());
            notes.shape.set(REASONING_FIELD, THINKING_BLOCKS);
        }
        notes.state.set(THINKING_BLOCKS, Json::of(&blocks).unwrap_or_default());
    }
    let provider_data = notes.into_data(Side::Request);
    Some(Block::Thinking(ThinkingBlock { text: text?, provider_data }))
}

/// Returns the visible text of an item of `thinking_blocks`.
pub(super) fn signed_text(block: &Raw<'_>) -> Option<String> {
    let block: Signed<'_> = read_raw(&block.0)?;
    block.thinking.map(WireText::into_string)
}

/// Returns the visible text of an item of `reasoning_details`.
pub(super) fn detail_text(detail: &Raw<'_>) -> Option<String> {
    let detail: Detail<'_> = read_raw(&detail.0)?;
    detail.text.or(detail.summary).map(WireText::into_string)
}

/// Reads `content`, and returns how it was written if the blocks do not show it.
pub(super) fn read_content(message: &mut Message<'_>, side: Side, blocks: &mut Vec<Block>) -> Option<ContentShape> {
    match std::mem::take(&mut message.content) {
        Content::Absent if wire::find(&message.rest, "content").is_some_and(|raw| raw.get() == "null") => {
            wire::take(&mut message.rest, "content");
            Some(ContentShape::Null)
        }
        Content::Absent => Some(ContentShape::Absent),
        Content::Text(text) if text.as_str().is_empty() => Some(ContentShape::Empty),
        Content::Text(text) => {
            blocks.push(Block::text(text.into_string()));
            None
        }
        Content::List(parts) => {
            blocks.extend(parts.into_iter().map(|part| content::decode(part, side)));
            Some(ContentShape::Parts)
        }
    }
}

pub(super) fn refusal(text: String) -> Block {
    let mut block = Text { text, ..Text::default() };
    block.provider_data.set_part(DIALECT, DataPart::Shape, REFUSAL, true);
    Block::Text(block)
}

/// Reads pictures made by the model, which some send next to the text. If one cannot be read, all stay where they are.
pub(super) fn pictures(message: &mut Message<'_>, side: Side) -> Vec<Block> {
    let mut blocks: Vec<Block> = message.images.iter().map(|image| content::decode(image.clone(), side)).collect();
    if !blocks.iter().all(|block| matches!(block, Block::Image(_))) {
        return Vec::new();
    }
    message.images.clear();
    for data in blocks.iter_mut().filter_map(Block::provider_data_mut) {
        data.set_part(DIALECT, DataPart::Shape, IMAGES, true);
    }
    blocks
}

/// Reads speech made by the model. The transcript stays with it: it is not text of the answer.
fn speech(mut speech: Speech<'_>, side: Side) -> Option<Block> {
    let data = speech.data.take()?.into_owned();
    Some(speech_block(data, speech, side))
}

/// Makes a block of speech; `id` identifies it in the next request, so it is state, and the rest is not.
pub(super) fn speech_block(data: String, mut speech: Speech<'_>, side: Side) -> Block {
    let mut notes = Notes::default();
    notes.mark(AUDIO);
    if let Some(id) = speech.id.take() {
        notes.state.set(ID, id.as_str());
    }
    notes.extra = speech.leftovers();
    let media_type = speech_type(&data).to_owned();
    let source = Source::Base64 { media_type, data };
    Block::Audio(Audio { source, cache: None, provider_data: notes.into_data(side) })
}

/// Returns the media type of speech, which an answer does not name: what its bytes show, or else plain samples.
pub(super) fn speech_type(data: &str) -> &'static str {
    sniffed(data).unwrap_or("audio/pcm")
}

/// Whether a picture or speech was in a field of its own next to `content`.
pub(super) fn has_own_field(block: &Block) -> bool {
    block.provider_data().is_some_and(|data| shape(data).flag(IMAGES) || shape(data).flag(AUDIO))
}

/// Returns the items of `reasoning_details` that a thinking block keeps.
pub(super) fn details_of(data: &ProviderData) -> Vec<Raw<'_>> {
    items_of(data, REASONING_DETAILS)
}

/// Returns the items of a list in a thinking block's state.
pub(super) fn items_of<'a>(data: &'a ProviderData, name: &str) -> Vec<Raw<'a>> {
    let details = data.part(DIALECT, DataPart::State).get(name);
    let items: Option<Vec<Raw<'_>>> = details.and_then(|details| serde_json::from_str(details.text()).ok());
    items.unwrap_or_default()
}

/// Returns the field that a thinking block came from.
pub(super) fn field_of(thinking: &ThinkingBlock) -> Option<Cow<'_, str>> {
    shape(&thinking.provider_data).str(REASONING_FIELD)
}

/// The separator between texts that were separate blocks.
pub(super) const GAP: &str = "\n\n";

/// An assistant message being assembled.
#[derive(Debug)]
pub(super) struct Saying<'a> {
    side: Side,
    spelling: Spelling,
    /// How the message was spelled, if that is to be followed.
    shape: Cow<'a, Fields>,
    /// The blocks for `content`.
    inside: Vec<(&'a Block, StateUse)>,
    /// Everything else.
    message: Message<'a>,
}

impl<'a> Saying<'a> {
    pub(super) fn new(side: Side, spelling: Spelling, shape: Cow<'a, Fields>) -> Self {
        Saying { side, spelling, shape, inside: Vec::new(), message: Message::default() }
    }

    /// Adds a block. Returns `false` if it has no place here. Thinking goes into `field`: the one it came from, or else
    /// the usual one.
    pub(super) fn say(&mut self, block: &'a Block, state: StateUse, field: &str) -> bool {
        let in_parts = ContentShape::read(&self.shape) == Some(ContentShape::Parts);
        match block {
            Block::Text(text) if content::is_refusal_field(text) => add(&mut self.message.refusal, &text.text),
            Block::Text(_) => self.inside.push((block, state)),
            Block::Thinking(_) if field == FIELD_CONTENT => self.inside.push((block, state)),
            Block::Thinking(thinking) => self.think(thinking, state, field),
            Block::ToolCall(call) => match write_older_form(call, self.side, self.spelling) {
                Some(function) => self.message.function_call = Some(Box::new(function)),
                None => {
                    self.message.tool_calls.push(Item::Fits(write_call(call, self.side, self.spelling, state)));
                }
            },
            Block::Other(other) if other.dialect == DIALECT => self.inside.push((block, state)),
            Block::Image(_) | Block::Audio(_) | Block::Document(_) if in_parts && !has_own_field(block) => {
                self.inside.push((block, state));
            }
            Block::Image(_) => {
                // In an answer, foreign pictures go there too.
                let has_place = self.side == Side::Response || (has_own_field(block) && state == StateUse::Own);
                let Some(part) = content::encode(block, self.side, state).filter(|_| has_place) else { return false };
                self.message.images.push(part);
            }
            Block::Audio(audio) => match write_speech(audio, self.side, state) {
                Some(speech) => self.message.audio = Some(speech),
                None => return false,
            },
            Block::Document(_)
            | Block::ToolResult(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_)
            | Block::Other(_) => return false,
        }
        true
    }

    fn think(&mut self, thinking: &'a ThinkingBlock, state: StateUse, field: &str) {
        if state == StateUse::Own {
            self.message.details.extend(details_of(&thinking.provider_data));
            self.message.thinking_blocks.extend(items_of(&thinking.provider_data, THINKING_BLOCKS));
        }
        let also = shape(&thinking.provider_data).str(REASONING_ALSO).filter(|_| self.spelling == Spelling::AsItCame);
        let message = &mut self.message;
        let fields = [&mut message.reasoning_content, &mut message.reasoning, &mut message.reasoning_text];
        for (name, words) in REASONING_FIELDS.iter().zip(fields) {
            if field == *name || also.as_deref() == Some(name) {
                add(words, &thinking.text);
            }
        }
    }

    /// Whether nothing but reasoning was said.
    pub(super) fn is_silent(&self) -> bool {
        self.inside.is_empty()
            && self.message.refusal.is_absent()
            && self.message.images.is_empty()
            && self.message.audio.is_none()
            && !self.has_calls()
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.message.tool_calls.is_empty() || self.message.function_call.is_some()
    }

    /// Returns the whole message. Missing parts are left out, except for `content`, which becomes `null`.
    pub(super) fn into_message(mut self) -> Message<'a> {
        let shape = ContentShape::read(&self.shape);
        let is_text = self.inside.iter().all(|(block, _)| block.as_text().is_some());
        self.message.content = match shape {
            Some(ContentShape::Parts) => self.parts(),
            _ if !is_text => self.parts(),
            _ if !self.inside.is_empty() => Content::Text(self.joined()),
            Some(ContentShape::Empty) => Content::Text("".into()),
            Some(ContentShape::Absent) => Content::Absent,
            Some(ContentShape::Null) | None => {
                wire::put(&mut self.message.rest, "content", &());
                Content::Absent
            }
        };
        calls::put_others(&self.shape, &mut self.message.tool_calls);
        self.message
    }

    fn parts(&self) -> Content<'a> {
        let parts = self.inside.iter().filter_map(|(block, state)| content::encode(block, self.side, *state));
        Content::List(parts.collect())
    }

    /// Joins all texts. In an answer they are one; in a request an empty line separates them, except where a provider
    /// cut a sentence to attach citations to its pieces.
    fn joined(&self) -> WireText<'a> {
        let mut whole = Words::default();
        let mut seam = true;
        for (block, _) in &self.inside {
            let Block::Text(text) = block else { continue };
            let cut = is_cut(text);
            if self.side == Side::Request && !seam && !cut {
                whole.0.get_or_insert_default().0.to_mut().push_str(GAP);
            }
            add(&mut whole, &text.text);
            seam = cut;
        }
        whole.0.unwrap_or_default()
    }
}

/// Appends to a text, which is copied only if it has more than one piece.
fn add<'a>(words: &mut Words<'a>, text: &'a str) {
    match &mut words.0 {
        Some(said) => said.0.to_mut().push_str(text),
        None if text.is_empty() => {}
        None => words.0 = Some(text.into()),
    }
}

/// Whether another dialect attached something to this text, for which it may have cut a sentence.
fn is_cut(text: &Text) -> bool {
    let parts = [DataPart::State, DataPart::Extra, DataPart::Answer, DataPart::Shape];
    !text.citations.is_empty()
        || parts.into_iter().any(|part| text.provider_data.parts(part).any(|(name, _)| name != DIALECT.as_str()))
}

/// Writes speech: only its id in a request, its data in an answer.
pub(super) fn write_speech(audio: &Audio, side: Side, state: StateUse) -> Option<Raw<'_>> {
    let own = audio.provider_data.part(DIALECT, DataPart::State).str(ID).filter(|_| state == StateUse::Own);
    let mut speech = Speech { rest: notes::extra(&audio.provider_data, side).as_rest(), ..Speech::default() };
    match (&audio.source, side) {
        // A request refers to earlier speech by id, and does not repeat it.
        (_, Side::Request) => speech.id = Some(WireText(own?)),
        (Source::Base64 { data, .. }, Side::Response) => {
            speech.id = own.map(WireText);
            speech.data = Words(Some(data.as_str().into()));
            if speech.id.is_none() && !shape(&audio.provider_data).flag(AUDIO) {
                // Strict clients require these. Another API's speech has expired: nothing is stored under the id.
                (speech.id, speech.transcript) = (Some("audio".into()), Some("".into()));
                wire::put(&mut speech.rest, "expires_at", &0);
            }
        }
        (Source::Url { .. } | Source::File { .. } | Source::Text { .. }, Side::Response) => return None,
    }
    Some(Raw(raw(&speech)))
}

#[cfg(test)]
#[path = "assistant_tests.rs"]
mod tests;
