//! Thought signatures, and what travels in their place.
//!
//! `thoughtSignature` is on the part that it belongs to. It is sent back on that part, byte for byte. Two other things
//! may be in its place: a documented dummy, which means that there is no signature; and, for clients that we serve,
//! another provider's sealed state.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::DIALECT;
use super::content::{self, SIGNATURE};
use super::wire;
use crate::dialect::seal::{Answerer, Sealed};
use crate::json::wire::Text;
use crate::{Block, BlockKind, Message, Part, ProviderData, Role, ThinkingBlock};

/// The placeholder for a call's missing signature; the API accepts it.
pub(super) const DUMMY: &str = "skip_thought_signature_validator";
const DUMMIES: [&str; 2] = [DUMMY, "context_engineering_is_the_way_to_go"];
/// In the shape: a client's dummy, in its original spelling.
pub(super) const DUMMY_KEPT: &str = "dummy";
/// The beginning of our sealed records in base64, so that other signatures need not be decoded.
const SEALED: &str = "aWtnMS";
/// In a sealed record: how many bytes of text came before it, in separate parts.
const TEXT_BEFORE: &str = "text_before";
/// In a sealed record: it belongs to thinking without a text, which came right before this part.
const THINKING_BEFORE: &str = "thinking_before";

/// Whether this is a dummy, as text or in base64 (clients treat it as bytes).
fn is_dummy(signature: &str) -> bool {
    // Real signatures are longer.
    if signature.len() > 64 {
        return false;
    }
    let plain = signature.trim_end_matches('=').replace('+', "-").replace('/', "_");
    DUMMIES.iter().any(|dummy| *dummy == signature || URL_SAFE_NO_PAD.encode(dummy) == plain)
}

/// Returns this dialect's own signature on a block.
pub(super) fn own_signature(data: &ProviderData) -> Option<Cow<'_, str>> {
    data.part_str(DIALECT, Part::State, SIGNATURE)
}

/// Interprets the signatures that clients sent: a dummy is removed, a sealed record becomes its provider's state, any
/// other is Gemini's own.
pub(super) fn restore(messages: &mut Vec<Message>) {
    let mut sealed = false;
    for message in messages.iter_mut() {
        for data in message.content.iter_mut().filter_map(Block::provider_data_mut) {
            let Some(signature) = own_signature(data) else { continue };
            if signature.starts_with(SEALED) {
                sealed = true;
            } else if is_dummy(&signature)
                && let Some(dummy) = data.remove_part(DIALECT, Part::State, SIGNATURE)
            {
                data.set_part(DIALECT, Part::Shape, DUMMY_KEPT, dummy);
            }
        }
    }
    if sealed {
        join_turns(messages);
        messages.iter_mut().filter(|message| message.role == Role::Assistant).for_each(unseal);
    }
}

/// Joins what clients keep as separate contents of a stream. A record that closes a block needs the text before it.
fn join_turns(messages: &mut Vec<Message>) {
    let mut joined: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages.drain(..) {
        match joined.last_mut() {
            Some(last) if last.role == Role::Assistant && message.role == Role::Assistant => {
                last.content.extend(message.content);
            }
            _ => joined.push(message),
        }
    }
    *messages = joined;
}

fn unseal(message: &mut Message) {
    let mut content: Vec<Block> = Vec::with_capacity(message.content.len());
    for mut block in std::mem::take(&mut message.content) {
        let record = block.provider_data().and_then(own_signature).and_then(|text| Sealed::from_base64(&text));
        let Some(record) = record else {
            content.push(block);
            continue;
        };
        message.provider = record.provider.or(message.provider.take());
        message.model = record.model.or(message.model.take());
        if record.note.flag(THINKING_BEFORE) {
            if let Some(data) = block.provider_data_mut() {
                data.remove_part(DIALECT, Part::State, SIGNATURE);
            }
            let thinking = ThinkingBlock { text: String::new(), provider_data: record.data };
            content.extend([Block::Thinking(thinking), block]);
            continue;
        }
        let before = record.note.get(TEXT_BEFORE).and_then(|bytes| bytes.to().ok());
        if let Some(data) = block.provider_data_mut() {
            data.remove_part(DIALECT, Part::State, SIGNATURE);
            data.merge(record.data);
        }
        if let Some(bytes) = before {
            take_text_before(&mut content, &mut block, bytes);
        }
        content.push(block);
    }
    message.content = content;
}

/// Moves the preceding text into the block that it belongs to, if its length matches.
fn take_text_before(content: &mut Vec<Block>, block: &mut Block, bytes: usize) {
    let kind = block.kind();
    let (mut length, mut first) = (0, content.len());
    for (place, earlier) in content.iter_mut().enumerate().rev() {
        // Parts with any data are separate blocks, which also bounds the search.
        let plain = earlier.kind() == kind && earlier.provider_data().is_none_or(ProviderData::is_empty);
        let Some(text) = text_of(earlier).filter(|_| plain && length < bytes) else { break };
        length += text.len();
        first = place;
    }
    if length != bytes {
        return;
    }
    let mut before: String = content.drain(first..).filter_map(|mut earlier| text_of(&mut earlier).cloned()).collect();
    if let Some(text) = text_of(block) {
        before.push_str(text);
        *text = before;
    }
}

/// Returns the text of a text or thinking block.
pub(super) fn text_of(block: &mut Block) -> Option<&mut String> {
    match block {
        Block::Text(text) => Some(&mut text.text),
        Block::Thinking(thinking) => Some(&mut thinking.text),
        Block::Image(_)
        | Block::Document(_)
        | Block::Audio(_)
        | Block::ToolCall(_)
        | Block::ToolResult(_)
        | Block::ProviderCall(_)
        | Block::ProviderResult(_)
        | Block::Other(_) => None,
    }
}

/// Returns a block's signature for a client: its own, or another dialect's state, sealed. `text_before` counts the
/// preceding text in separate parts.
pub(super) fn signature(
    data: &ProviderData,
    kind: BlockKind,
    text_before: usize,
    answerer: &Answerer,
) -> Option<String> {
    if let Some(own) = own_signature(data) {
        return Some(own.into_owned());
    }
    let mut sealed = Sealed::of(data, kind, DIALECT, answerer)?;
    if text_before > 0 {
        sealed.note.set(TEXT_BEFORE, crate::Json::of(&text_before).unwrap_or_default());
    }
    Some(sealed.to_base64())
}

/// Another dialect's state from thinking without a text, until there is a part that it can be on.
///
/// Many clients cannot read a thought without a text, and some leave thoughts out of the next request. A part with
/// content keeps its signature in all of them.
#[derive(Debug, Default)]
pub(super) struct Waiting(Option<Sealed>);

impl Waiting {
    /// Returns the state of a block that is thinking with nothing but such state.
    pub(super) fn of(block: &Block, answerer: &Answerer) -> Self {
        let Block::Thinking(thinking) = block else { return Waiting(None) };
        let data = &thinking.provider_data;
        let own = [Part::State, Part::Extra, Part::Shape];
        let is_foreign = own.into_iter().all(|part| data.part(DIALECT, part).is_empty());
        let alone = thinking.text.is_empty() && is_foreign;
        Waiting(alone.then(|| Sealed::of(data, BlockKind::Thinking, DIALECT, answerer)).flatten())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Puts the state on the part that comes next. Returns a part to be written before it if that has no place.
    pub(super) fn put_on(&mut self, part: &mut wire::Part<'_>) -> Option<wire::Part<'static>> {
        let has_content = part.call.is_some() || part.text.as_ref().is_some_and(|text| !text.as_str().is_empty());
        if part.signature.is_some() || !has_content {
            return self.alone();
        }
        let mut sealed = self.0.take()?;
        sealed.note.set(THINKING_BEFORE, true);
        part.signature = Some(sealed.to_base64().into());
        None
    }

    /// Returns the state as a part of its own.
    pub(super) fn alone(&mut self) -> Option<wire::Part<'static>> {
        let sealed = self.0.take()?;
        let signature = Some(Text::from(sealed.to_base64()));
        Some(wire::Part { signature, ..content::text("", BlockKind::Thinking) })
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
