//! Reasoning state for clients that cannot carry it.
//!
//! A Chat client sends back what a model said and called, and nothing of what it thought. If the model's provider wants
//! its signed thinking back, the gateway keeps it for a while, and only for the client that received it. It is found by
//! the message's first call, or by its text if it called nothing.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ikigai::{Block, Dialect, Message, ModelName, Request, Response, Role, ToolCall};
use ikigai_core::Part;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::kept::{Kept, Key};

/// The most bytes of messages that are kept.
const MOST: usize = 64 << 20;

/// The kept messages.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    messages: Arc<Mutex<Kept>>,
}

impl Memory {
    /// Creates a memory that keeps each message for this long.
    pub(crate) fn new(time: Duration) -> Self {
        Memory { messages: Arc::new(Mutex::new(Kept::new(time, MOST))) }
    }

    fn messages(&self) -> MutexGuard<'_, Kept> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an answer if it contains state.
    pub(crate) fn keep(&self, client: &str, response: &Response, from: &ModelName) {
        if !response.content.iter().any(has_state) {
            return;
        }
        let mut message = Message::new(Role::Assistant, response.content.clone());
        message.provider = Some(from.provider.clone());
        message.model = Some(from.id.clone());
        let (key, weight) = (key_of(&message), weight(&message));
        self.messages().insert(client, key, message, weight);
    }

    /// Restores the state of messages that the client sent back without it. Some clients change the thinking that they
    /// send back, which makes the state next to it useless: OpenAI's client for Node keeps only the last piece that was
    /// streamed.
    ///
    /// Each kept message is used once, for the last of the messages that say the same. Otherwise a request of many
    /// short messages could grow by the same long thinking for each of them.
    pub(crate) fn restore(&self, client: &str, request: &mut Request) {
        let mut given = HashSet::new();
        for message in request.messages.iter_mut().rev().filter(|message| message.role == Role::Assistant) {
            if message.content.iter().any(has_state) {
                continue;
            }
            let kept = self.messages().get(client, &key_of(message));
            let fits = |kept: &Arc<Message>| says_the_same(kept, message) && may_be_from(message, kept);
            if let Some(kept) = kept.filter(fits).filter(|kept| given.insert(Arc::as_ptr(kept))) {
                message.content = kept.content.clone();
                message.provider.clone_from(&kept.provider);
                message.model.clone_from(&kept.model);
            }
        }
    }
}

fn has_state(block: &Block) -> bool {
    let data = block.provider_data();
    data.is_some_and(|data| Dialect::PROVIDERS.iter().any(|dialect| !data.part(*dialect, Part::State).is_empty()))
}

/// The key of a message: its first call, or its text. One call is enough, since whole messages are compared afterwards.
fn key_of(message: &Message) -> Key {
    match calls(message).next() {
        Some(call) => key("call", &call.id),
        None => key("text", &said(message)),
    }
}

/// How many bytes at each end of a long text go into its key. The whole text is compared once it is found.
const ENDS: usize = 1024;

fn key(kind: &str, value: &str) -> Key {
    let mut hash = Sha256::new();
    hash.update((value.len() as u64).to_le_bytes());
    hash.update(kind);
    match (value.as_bytes().first_chunk::<ENDS>(), value.as_bytes().last_chunk::<ENDS>()) {
        (Some(first), Some(last)) => {
            hash.update(first);
            hash.update(last);
        }
        _ => hash.update(value),
    }
    hash.finalize().into()
}

/// Whether two messages say and call the same.
fn says_the_same(kept: &Message, sent: &Message) -> bool {
    let visible = |block: &Block| matches!(block, Block::Text(_) | Block::ToolCall(_) | Block::Thinking(_));
    sent.content.iter().all(visible) && said(kept) == said(sent) && have_same_calls(kept, sent)
}

/// Whether the sent message may be the kept one, if it still says which provider it is from.
fn may_be_from(sent: &Message, kept: &Message) -> bool {
    sent.provider.is_none() || sent.provider == kept.provider
}

fn said(message: &Message) -> Cow<'_, str> {
    let mut texts = message.content.iter().filter_map(Block::as_text);
    let first = texts.next().unwrap_or_default();
    texts.fold(Cow::Borrowed(first), |said, text| said + text)
}

fn calls(message: &Message) -> impl Iterator<Item = &ToolCall> {
    message.content.iter().filter_map(Block::as_tool_call)
}

fn have_same_calls(kept: &Message, sent: &Message) -> bool {
    calls(kept).count() == calls(sent).count()
        && calls(kept).zip(calls(sent)).all(|(kept, sent)| is_same_call(kept, sent))
}

/// How many times as long as the kept arguments a client may spell them, with blanks and escapes.
const LONGER: usize = 8;

/// Whether two calls are the same, although a client may spell the arguments differently.
fn is_same_call(kept: &ToolCall, sent: &ToolCall) -> bool {
    let (kept_text, sent_text) = (kept.arguments.text(), sent.arguments.text());
    let is_same = || {
        // Parsed, arguments take many times their size, so that is done only if they may be the same.
        let object = |text| serde_json::from_str::<Map<String, Value>>(text).ok();
        sent_text.len() <= LONGER * kept_text.len()
            && object(kept_text).is_some_and(|kept| Some(kept) == object(sent_text))
    };
    kept.id == sent.id && kept.name == sent.name && (kept_text == sent_text || is_same())
}

/// The approximate size of a message in bytes.
fn weight(message: &Message) -> usize {
    message.content.iter().map(|block| serde_json::to_vec(block).map_or(1024, |json| json.len()) + 128).sum()
}

#[cfg(test)]
mod tests {
    use ikigai::{FinishReason, ThinkingBlock};
    use pretty_assertions::assert_eq;

    use super::*;

    fn thought() -> Block {
        let mut thinking = ThinkingBlock::new("Hm.");
        thinking.provider_data.set_part(Dialect::ALL[0], Part::State, "signature", "sealed");
        Block::Thinking(thinking)
    }

    fn call(id: &str, arguments: serde_json::Value) -> Block {
        Block::tool_call(id, "add", ikigai_core::Arguments::from_text(arguments.to_string()))
    }

    fn sent(content: Vec<Block>) -> Request {
        Request::default().message(Message::new(Role::Assistant, content))
    }

    fn restored(memory: &Memory, client: &str, content: Vec<Block>) -> Vec<Block> {
        let mut request = sent(content);
        memory.restore(client, &mut request);
        request.messages.remove(0).content.into_iter().collect()
    }

    #[test]
    fn state_comes_back_to_the_client_that_it_was_for() {
        let memory = Memory::new(Duration::from_secs(60));
        let arguments = serde_json::json!({"a": 1, "b": 2});
        let whole = vec![thought(), call("c1", arguments.clone()), call("c2", arguments.clone())];
        let response = Response::new(whole.clone(), FinishReason::ToolUse);
        memory.keep("one", &response, &ModelName::new("anthropic", "m"));
        let calls = || vec![call("c1", arguments.clone()), call("c2", arguments.clone())];
        assert_eq!(restored(&memory, "one", calls()), whole);
        // Another client, another order or other arguments: it is not that message.
        assert_eq!(restored(&memory, "two", calls()), calls());
        let mut turned = calls();
        turned.reverse();
        assert_eq!(restored(&memory, "one", turned.clone()), turned);
        let changed = vec![call("c1", serde_json::json!({"a": 3})), call("c2", arguments.clone())];
        assert_eq!(restored(&memory, "one", changed.clone()), changed);
    }

    #[test]
    fn arguments_may_be_spelled_differently() {
        let memory = Memory::new(Duration::from_secs(60));
        let spelled = |text: &str| Block::tool_call("c1", "add", ikigai_core::Arguments::from_text(text));
        let whole = vec![thought(), spelled(r#"{"a":1,"b":"é"}"#)];
        memory.keep("one", &Response::new(whole.clone(), FinishReason::ToolUse), &ModelName::new("anthropic", "m"));
        for (text, is_same) in [
            (r#"{"a":1,"b":"é"}"#.to_owned(), true),
            (r#"{ "b": "\u00e9", "a": 1 }"#.to_owned(), true),
            (r#"{"a":1,"b":"e"}"#.to_owned(), false),
            ("not JSON".to_owned(), false),
            // Nobody spells it like this, and reading it would cost many times its size.
            (format!(r#"{{"a":1,"b":"é"{}}}"#, " ".repeat(1000)), false),
        ] {
            let sent = vec![spelled(&text)];
            assert_eq!(restored(&memory, "one", sent.clone()), if is_same { whole.clone() } else { sent }, "{text}");
        }
    }

    #[test]
    fn what_was_kept_once_is_given_back_once() {
        let memory = Memory::new(Duration::from_secs(60));
        let whole = vec![thought(), Block::text("Done.")];
        memory.keep("one", &Response::new(whole.clone(), FinishReason::Stop), &ModelName::new("anthropic", "m"));
        let said = || Message::new(Role::Assistant, vec![Block::text("Done.")]);
        let mut request = (0..3).fold(Request::default(), |request, _| request.message(said()).user("Go on."));
        memory.restore("one", &mut request);
        let thoughts =
            request.messages.iter().map(|message| message.content.iter().filter(|block| has_state(block)).count());
        assert_eq!(thoughts.collect::<Vec<_>>(), [0, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn thinking_that_came_back_changed_is_as_it_was() {
        let memory = Memory::new(Duration::from_secs(60));
        let whole = vec![thought(), call("c1", serde_json::json!({}))];
        let response = Response::new(whole.clone(), FinishReason::ToolUse);
        memory.keep("one", &response, &ModelName::new("anthropic", "m"));
        let changed = vec![Block::thinking("m."), call("c1", serde_json::json!({}))];
        for (issuer, expected) in [(None, &whole), (Some("anthropic"), &whole), (Some("google"), &changed)] {
            let mut request = sent(changed.clone());
            for message in &mut request.messages {
                message.provider = issuer.map(str::to_owned);
            }
            memory.restore("one", &mut request);
            assert_eq!(&Vec::from_iter(request.messages.remove(0).content), expected, "{issuer:?}");
        }
    }

    #[test]
    fn a_message_without_calls_is_found_by_its_text() {
        let memory = Memory::new(Duration::from_secs(60));
        let text = || Block::text("Hello.");
        let response = Response::new([thought(), text()], FinishReason::Stop);
        memory.keep("one", &response, &ModelName::new("anthropic", "m"));
        assert_eq!(restored(&memory, "one", vec![text()]), vec![thought(), text()]);
        // An answer without state is not kept.
        let plain = Response::new(text(), FinishReason::Stop);
        let empty = Memory::new(Duration::from_secs(60));
        empty.keep("one", &plain, &ModelName::new("anthropic", "m"));
        assert_eq!(restored(&empty, "one", vec![text()]), vec![text()]);
    }
}
