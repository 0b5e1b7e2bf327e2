//! Thought signatures, and what travels in their place.
//!
//! `thoughtSignature` sits on the part that it belongs to. It goes back on that part, byte for byte. Two other things
//! may stand there: a documented dummy, which means that there is no signature; and, towards clients that we serve,
//! the sealed state of another provider.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::part::SIGNATURE;
use crate::dialect::seal::Sealed;
use crate::{Block, Dialect, Message, Other, ProviderData, Reply, Role};

/// What stands for the signature of a call that has none; the API lets it pass.
pub(super) const DUMMY: &str = "skip_thought_signature_validator";
const DUMMIES: [&str; 2] = [DUMMY, "context_engineering_is_the_way_to_go"];
/// The dummy that a client sent, as it was written.
pub(super) const DUMMY_KEPT: &str = "dummy";
/// How our sealed records begin in base64, so that other signatures need not be decoded.
const SEALED: &str = "aWtnMS";
/// In a sealed record: how many bytes of text went before it, in parts of their own.
const TEXT_BEFORE: &str = "text_before";
/// In a sealed record: the state is a whole block of another dialect.
const WHOLE_BLOCK: &str = "block";

/// Is it a dummy, as text or (clients take it for bytes) in base64?
fn is_dummy(signature: &str) -> bool {
    let plain = signature.trim_end_matches('=').replace('+', "-").replace('/', "_");
    DUMMIES.iter().any(|dummy| *dummy == signature || URL_SAFE_NO_PAD.encode(dummy) == plain)
}

/// Turns what clients sent as signatures into what they are: nothing for a dummy, the state of its provider for a
/// sealed record; the rest are Gemini's own.
pub(super) fn restore(messages: &mut Vec<Message>) {
    let mut sealed = false;
    for message in messages.iter_mut() {
        for data in message.content.iter_mut().filter_map(Block::provider_data_mut) {
            let Some(signature) = data.str(Dialect::Gemini, SIGNATURE) else { continue };
            if signature.starts_with(SEALED) && Sealed::from_base64(signature).is_some() {
                sealed = true;
            } else if is_dummy(signature)
                && let Some(dummy) = data.remove(Dialect::Gemini, SIGNATURE)
            {
                data.set(Dialect::Gemini, DUMMY_KEPT, dummy);
            }
        }
    }
    if sealed {
        join_turns(messages);
        messages.iter_mut().filter(|message| message.role == Role::Assistant).for_each(unseal);
    }
}

/// Clients keep each piece of a stream as a content of its own. A record that closes a block needs the text before it.
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
        let record =
            block.provider_data().and_then(|data| data.str(Dialect::Gemini, SIGNATURE)).and_then(Sealed::from_base64);
        let Some(mut record) = record else {
            content.push(block);
            continue;
        };
        message.provider = record.provider.or(message.provider.take());
        message.model = record.model.or(message.model.take());
        let before = record.data.remove(Dialect::Gemini, TEXT_BEFORE).and_then(|bytes| bytes.as_u64());
        if let Some(other) = whole_block(&mut record.data) {
            content.push(other);
            continue;
        }
        if let Some(data) = block.provider_data_mut() {
            data.remove(Dialect::Gemini, SIGNATURE);
            data.merge(record.data);
        }
        if let Some(bytes) = before {
            take_text_before(&mut content, &mut block, bytes);
        }
        content.push(block);
    }
    message.content = content;
}

fn whole_block(data: &mut ProviderData) -> Option<Block> {
    Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::Gemini).find_map(|dialect| {
        let data = data.remove(dialect, WHOLE_BLOCK)?;
        Some(Block::Other(Other { dialect, data: data.into() }))
    })
}

/// Moves the text that went before into the block that it belongs to, if exactly that much is there.
fn take_text_before(content: &mut Vec<Block>, block: &mut Block, bytes: u64) {
    let kind = block.kind();
    let mut length = 0_u64;
    let mut first = content.len();
    for (place, earlier) in content.iter().enumerate().rev() {
        let (Block::Text(crate::Text { text, .. }) | Block::Thinking(crate::ThinkingBlock { text, .. })) = earlier
        else {
            break;
        };
        if earlier.kind() != kind || length >= bytes {
            break;
        }
        length += text.len() as u64;
        first = place;
    }
    if length != bytes {
        return;
    }
    let mut before = String::new();
    for earlier in content.drain(first..) {
        if let Block::Text(crate::Text { text, .. }) | Block::Thinking(crate::ThinkingBlock { text, .. }) = earlier {
            before.push_str(&text);
        }
    }
    if let Block::Text(crate::Text { text, .. }) | Block::Thinking(crate::ThinkingBlock { text, .. }) = block {
        text.insert_str(0, &before);
    }
}

/// Seals the state of other dialects for a client of this one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sealer<'a> {
    reply: &'a Reply,
    model: Option<&'a str>,
}

impl<'a> Sealer<'a> {
    /// `model` is the one that answered, where known.
    pub(super) fn new(reply: &'a Reply, model: Option<&'a str>) -> Self {
        Sealer { reply, model: model.filter(|model| !model.is_empty()).or(reply.model.as_deref()) }
    }

    /// The signature of a block: its own, or the state of another dialect, sealed.
    pub(super) fn signature(&self, data: &ProviderData) -> Option<String> {
        match data.str(Dialect::Gemini, SIGNATURE) {
            Some(own) => Some(own.to_owned()),
            None => Some(self.record(foreign(data)?)),
        }
    }

    /// The same for a block whose text went before, in parts of their own.
    pub(super) fn signature_behind(&self, data: &ProviderData, text_before: usize) -> Option<String> {
        match data.str(Dialect::Gemini, SIGNATURE) {
            Some(own) => Some(own.to_owned()),
            None => {
                let mut state = foreign(data)?;
                state.set(Dialect::Gemini, TEXT_BEFORE, text_before);
                Some(self.record(state))
            }
        }
    }

    /// A whole block of another dialect.
    pub(super) fn block(&self, other: &Other) -> String {
        let mut state = ProviderData::default();
        state.set(other.dialect, WHOLE_BLOCK, other.data.clone());
        self.record(state)
    }

    fn record(&self, data: ProviderData) -> String {
        Sealed { provider: self.reply.provider.clone(), model: self.model.map(str::to_owned), data }.to_base64()
    }
}

/// What other dialects left.
fn foreign(data: &ProviderData) -> Option<ProviderData> {
    let mut state = ProviderData::default();
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::Gemini) {
        if let Some(fields) = data.get(dialect) {
            state.extend(dialect, fields.clone());
        }
    }
    (!state.is_empty()).then_some(state)
}

/// Takes the signature off a part that is kept whole. Was there one?
pub(super) fn strip(part: &mut Value) -> bool {
    let Some(part) = part.as_object_mut() else { return false };
    let [camel, snake] = ["thoughtSignature", "thought_signature"].map(|key| part.shift_remove(key));
    camel.or(snake).is_some()
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE;

    use super::*;

    #[test]
    fn dummies_are_known_as_text_and_as_bytes() {
        for dummy in [DUMMY, "context_engineering_is_the_way_to_go", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="] {
            assert!(is_dummy(dummy), "{dummy}");
        }
        assert!(is_dummy(&URL_SAFE.encode("context_engineering_is_the_way_to_go")));
        assert!(!is_dummy("EqoB") && !is_dummy(""));
    }
}
