//! Shortcuts through the codecs, from the point of view of a provider's client and of a server.

use ikigai_core::catalog::Rules;
use ikigai_core::provider::{Providers, Quirks};
use ikigai_core::wire::{Ids, Incoming, Reply, StreamDecoder, StreamEncoder, Target};
use ikigai_core::{Collector, Dialect, Error, Event, Limits, Loss, Request, Response};
use serde_json::Value;

/// An encoded document, as JSON.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Written {
    pub(crate) path: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) losses: Vec<Loss>,
}

/// The codecs for documents that are JSON values in the test.
pub(crate) trait OfValues {
    fn read_request(self, path: Option<&str>, body: &Value) -> Result<Request, Error>;
    fn write_request(self, request: &Request, target: &Target<'_>) -> Result<Written, Error>;
    fn read_response(self, body: &Value) -> Result<Response, Error>;
    fn write_response(self, response: &Response, reply: &Reply) -> Value;
}

impl OfValues for Dialect {
    fn read_request(self, path: Option<&str>, body: &Value) -> Result<Request, Error> {
        let body = serde_json::to_vec(body).unwrap();
        let mut incoming = Incoming::new(&body);
        incoming.path = path;
        self.decode_request(incoming, &Limits::default()).map(|(request, _)| request)
    }

    fn write_request(self, request: &Request, target: &Target<'_>) -> Result<Written, Error> {
        let wire = self.encode_request(request, target, &Limits::default())?;
        let body = serde_json::from_slice(&wire.body).unwrap();
        Ok(Written { path: wire.path, headers: wire.headers, body, losses: wire.losses })
    }

    fn read_response(self, body: &Value) -> Result<Response, Error> {
        let body = serde_json::to_vec(body).unwrap();
        self.decode_response(&body, &mut Ids::seeded(7), &Limits::default())
    }

    fn write_response(self, response: &Response, reply: &Reply) -> Value {
        serde_json::from_slice(&self.encode_response(response, reply).body).unwrap()
    }
}

/// Returns the dialect's own provider, and a model about which nothing is known.
pub(crate) fn target(dialect: Dialect) -> Target<'static> {
    static QUIRKS: std::sync::LazyLock<Quirks> = std::sync::LazyLock::new(Quirks::default);
    static RULES: std::sync::LazyLock<Rules> = std::sync::LazyLock::new(Rules::default);
    Target::new(provider(dialect), &QUIRKS, &RULES)
}

/// Returns the inventor of the dialect.
pub(crate) fn provider(dialect: Dialect) -> &'static str {
    &Providers::shared().of_dialect(dialect).id
}

/// Returns what a server knows when it answers for `from`'s provider.
pub(crate) fn reply(from: Dialect) -> Reply {
    let mut reply = Reply::default();
    (reply.ids, reply.created) = (Ids::seeded(1), 1_700_000_000);
    reply.stream_usage = true;
    reply.provider = Some(provider(from).to_owned());
    reply
}

/// Returns the events of a stream that arrives in pieces.
pub(crate) fn decode_pieces<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = StreamDecoder::new(dialect, Ids::seeded(7), &Limits::default());
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut events);
    }
    decoder.end(&mut events);
    events
}

/// Returns the events of a stream that arrives at once.
pub(crate) fn decode(dialect: Dialect, bytes: &[u8]) -> Vec<Event> {
    decode_pieces(dialect, [bytes])
}

/// Returns the bytes that a server of a dialect sends for events of `from`'s provider.
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
