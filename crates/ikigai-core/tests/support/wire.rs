//! Short ways through the codecs, as a provider's client and as a server would go.

use ikigai_core::{
    Collector, Dialect, Event, Ids, Quirks, Reply, Response, Rules, StreamDecoder, StreamEncoder, Target,
};

/// The dialect's own provider, and a model that nothing is known about.
pub(crate) fn target(dialect: Dialect) -> Target<'static> {
    static QUIRKS: std::sync::LazyLock<Quirks> = std::sync::LazyLock::new(Quirks::default);
    static RULES: std::sync::LazyLock<Rules> = std::sync::LazyLock::new(Rules::default);
    Target { provider: provider(dialect), quirks: &QUIRKS, rules: &RULES, facts: None }
}

/// Who invented the dialect.
pub(crate) fn provider(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "anthropic",
        Dialect::OpenaiChat | Dialect::OpenaiResponses => "openai",
        Dialect::Gemini => "google",
    }
}

/// What a server knows when it answers for `from`'s provider.
pub(crate) fn reply(from: Dialect) -> Reply {
    Reply {
        ids: Ids::seeded(1),
        created: 1_700_000_000,
        model: None,
        stream_usage: true,
        json_array: false,
        provider: Some(provider(from).to_owned()),
    }
}

/// The events of a stream that arrives in pieces.
pub(crate) fn decode_pieces<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = StreamDecoder::new(dialect, Ids::seeded(7));
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut events);
    }
    decoder.end(&mut events);
    events
}

/// The events of a stream that arrives at once.
pub(crate) fn decode(dialect: Dialect, bytes: &[u8]) -> Vec<Event> {
    decode_pieces(dialect, [bytes])
}

/// The bytes that a server of a dialect sends for events of `from`'s provider.
pub(crate) fn encode(dialect: Dialect, from: Dialect, events: &[Event]) -> Vec<u8> {
    let mut encoder = StreamEncoder::new(dialect, reply(from));
    let mut bytes = Vec::new();
    for event in events {
        encoder.push(event, &mut bytes);
    }
    bytes
}

pub(crate) fn collect(events: Vec<Event>) -> Response {
    let mut collector = Collector::default();
    collector.extend(events);
    collector.finish()
}
