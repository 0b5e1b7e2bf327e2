//! Messages to store.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::catalog::Money;
use ikigai_core::{
    Block, CacheHint, Dialect, Document, Event, FinishReason, Level, Message, Other, Part, Role, Source, Text,
    ThinkingBlock, Usage,
};
use ikigai_store::{Entry, State};
use serde_json::{Value, json};

pub(crate) fn user(text: &str) -> Entry {
    Message::new(Role::User, text).into()
}

pub(crate) fn assistant(text: &str) -> Entry {
    let mut message = Message::new(Role::Assistant, text);
    (message.provider, message.model) = (Some("anthropic".into()), Some("claude-sonnet-4-5".into()));
    message.into()
}

/// A picture of this many bytes.
pub(crate) fn picture(fill: u8, size: usize) -> Block {
    let source = Source::Base64 { media_type: "image/png".into(), data: STANDARD.encode(vec![fill; size]) };
    Block::image(source)
}

pub(crate) fn document(name: &str, text: &str) -> Block {
    let source = Source::Text { media_type: "text/plain".into(), text: text.to_owned() };
    let mut document = Document::new(source);
    document.name = Some(name.into());
    document.cache = Some(CacheHint::ttl("1h"));
    Block::Document(document)
}

fn object(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// A value nested this many levels deep.
pub(crate) fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }))
}

/// An answer with everything that an answer can have.
pub(crate) fn rich() -> Entry {
    let mut thinking = ThinkingBlock::new("Hm…\u{0}\n");
    thinking.provider_data.set_part(Dialect::Anthropic, Part::State, "signature", "EqoBCkYIBxgCKkA+/=");
    let arguments = ikigai_core::Arguments::from_text("{\"path\": \"/etc/hosts\", \"a\": 1.0, \"b\": 1e400}");
    let mut order = Text::new("\"quoted\" \\ \u{1F642} \u{2028}\0 ' ; DROP TABLE messages; --");
    order.provider_data.set_part(
        Dialect::Gemini,
        Part::Extra,
        "z",
        json!({"b": 1, "a": [0.1, 1e-7, 123_456_789_012_345_678_u64]}),
    );
    let seen = [Block::text("127.0.0.1"), picture(9, 5000), document("hosts", &"localhost ".repeat(600))];
    let other = Other::new(Dialect::OpenaiResponses, json!({"type": "web_search_call", "id": "ws_1"}));
    let mut message = Message::new(
        Role::Assistant,
        vec![
            Block::Thinking(thinking),
            Block::Text(order),
            Block::tool_call("toolu_01", "read_file", arguments),
            Block::tool_call("toolu_02", "deep", object(nested(127))),
            Block::tool_error("toolu_01", seen),
            Block::Other(other),
            picture(9, 5000),
            picture(1, 10),
        ],
    );
    message.provider = Some("anthropic\0".into());
    message.model = Some("claude-sonnet-4-5-20250929".into());
    message.thinking = Some(Level::Xhigh);
    message.provider_data.set_part(Dialect::Anthropic, Part::Extra, "stop_sequence", Value::Null);
    let mut usage = Usage::new(50, 100);
    usage.thinking_tokens = 20;
    usage.cache_read_tokens = 10;
    usage.cache_write_tokens = u64::MAX;
    usage.provider_data.set_part(Dialect::Anthropic, Part::Answer, "service_tier", "standard");
    Entry {
        message,
        state: State::Cut,
        usage: Some(usage),
        cost: Some(Money::from_pico(170_000_000_000_000_000_000_000_001)),
        finish_reason: Some(FinishReason::ToolUse),
        metadata: object(json!({"ttft_ms": 312, "note\0": "a \" quote"})),
    }
}

/// The events that stream a text, one word at a time.
pub(crate) fn stream(words: &[&str]) -> Vec<Event> {
    let mut events = vec![
        Event::Start { id: Some("msg_1".into()), model: Some("m-1".into()), provider_data: Default::default() },
        Event::BlockStart { index: 0, block: Block::text("") },
    ];
    events.extend(words.iter().map(|word| Event::TextDelta { index: 0, text: (*word).to_owned() }));
    events.extend([
        Event::BlockDone { index: 0, provider_data: Default::default() },
        Event::Usage { usage: Usage::new(7, words.len() as u64) },
        Event::Done { finish_reason: FinishReason::Stop, provider_data: Default::default() },
    ]);
    events
}
