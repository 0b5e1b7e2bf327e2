//! One request to one model: encoded, sent, decoded.

use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use ikigai_core::wire::{StreamDecoder, ToolNames};
use ikigai_core::{Event, Loss, ModelName, Request, Response};

use crate::client::Client;
use crate::error::{Attempt, Error};
use crate::settings::Settings;
use crate::transport::{Body, Patience, TransportError, too_late};
use crate::upstream::{Exchange, Head, Upstream, Wanted, header_map};

/// The maximum number of events before the first with content, because a stream might never get to any.
const MOST_BEFORE_WORDS: usize = 10_000;

/// An encoded and addressed request.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) upstream: Upstream,
    pub(crate) losses: Vec<Loss>,
    /// The original names of tools that were respelled.
    names: ToolNames,
    pub(crate) request: http::Request<Bytes>,
}

/// What an answer is read as. There is a type for each, so that programs that never stream contain no code for it.
pub(crate) trait Opened: Sized + Send {
    /// What the request has to ask for.
    const WANTED: Wanted;

    fn read(prepared: &Prepared, exchange: Exchange) -> impl Future<Output = Result<Self, Error>> + Send;
}

/// A complete answer.
pub(crate) struct Whole {
    pub(crate) response: Response,
    pub(crate) head: Head,
}

/// An answer that is still being written.
pub(crate) struct Live {
    pub(crate) head: Head,
    body: Body,
    decoder: StreamDecoder,
    /// The model to report if the answer names none.
    model: String,
    /// The original names of tools that were respelled.
    names: ToolNames,
    /// Decoded events that are waiting to be read, the next one last.
    pub(crate) ready: Vec<Event>,
    /// How long the next event may take. Bytes that complete no event do not count.
    patience: Patience,
    between_events: Duration,
    /// Whether any event has arrived.
    has_begun: bool,
}

impl Client {
    /// Encodes a request for a model and resolves its destination. Its model, thinking and stream must be set.
    pub(crate) fn prepare(&self, name: &ModelName, request: &Request, settings: &Settings) -> Result<Prepared, Error> {
        let upstream = Upstream::find(self, name, settings)?;
        let encoded = upstream.codec().encode_request(request, &upstream.route())?;
        let encoded = if settings.strict { encoded.strictly(upstream.dialect())? } else { encoded };
        let wanted = if request.stream == Some(true) { Wanted::Stream } else { Wanted::Whole };
        let (headers, body) = (header_map(&encoded.headers)?, encoded.body.into());
        let request = upstream.request(Method::POST, &encoded.path, &headers, body, wanted)?;
        Ok(Prepared { upstream, losses: encoded.losses, names: encoded.names, request })
    }
}

impl Prepared {
    /// Sends the request, and retries where that may help. Every failed attempt is added to `attempts`.
    pub(crate) async fn open<O: Opened>(&self, attempts: &mut Vec<Attempt>) -> Result<O, Error> {
        self.upstream.attempt(&self.request, O::WANTED, attempts, |exchange| O::read(self, exchange)).await
    }
}

impl Opened for Box<Whole> {
    const WANTED: Wanted = Wanted::Whole;

    async fn read(prepared: &Prepared, exchange: Exchange) -> Result<Self, Error> {
        let (head, body) = exchange.into_parts();
        let bytes = body.read(head.longest).await?;
        let response = prepared.upstream.codec().decode_response(&bytes, &head.secrets);
        let mut response = response.map_err(|error| head.failure(error))?;
        if response.model.is_empty() {
            response.model.clone_from(&prepared.upstream.model().id);
        }
        prepared.names.restore(&mut response);
        Ok(Box::new(Whole { response, head }))
    }
}

impl Opened for Box<Live> {
    const WANTED: Wanted = Wanted::Stream;

    /// Reads a stream up to its first content. If it fails before, nobody has seen any of it, so another model can be
    /// asked.
    async fn read(prepared: &Prepared, exchange: Exchange) -> Result<Self, Error> {
        let (head, body) = exchange.into_parts();
        let decoder = prepared.upstream.codec().stream_decoder();
        let (model, names) = (prepared.upstream.model().id.clone(), prepared.names.clone());
        let timeouts = prepared.upstream.timeouts();
        let patience = Patience::new(prepared.upstream.clock(), timeouts.first_event, head.sent);
        let between_events = timeouts.between_events;
        let has_begun = false;
        let mut live =
            Live { head, body, decoder, model, names, ready: Vec::new(), patience, between_events, has_begun };
        let mut ready = Vec::new();
        let mut seen = 0;
        loop {
            match std::future::poll_fn(|cx| live.poll_bytes(cx)).await {
                Some(bytes) => live.decode(&bytes?, &mut ready),
                None => live.end(&mut ready),
            }
            if ready.iter().skip(seen).any(says_something) || live.decoder.is_done() {
                break;
            }
            seen = ready.len();
            if seen > MOST_BEFORE_WORDS {
                let told = format!("more than {MOST_BEFORE_WORDS} events arrived before the first words");
                return Err(live.head.failure(ikigai_core::Error::protocol(told)));
            }
        }
        let fault = ready.iter().position(|event| matches!(event, Event::Error { .. }));
        if let Some(place) = fault
            && !ready.iter().take(place).any(says_something)
            && let Event::Error { error } = ready.swap_remove(place)
        {
            return Err(live.head.failure(*error));
        }
        ready.reverse();
        live.ready = ready;
        Ok(Box::new(live))
    }
}

impl Live {
    /// Returns the next bytes when they are available.
    pub(crate) fn poll_bytes(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<Bytes, TransportError>>> {
        self.patience.resume();
        // Checked before the bytes: comments and pings are bytes too, and may continue forever.
        if !self.patience.is_over() {
            let next = self.body.poll_next(cx);
            if next.is_ready() {
                self.patience.pause();
                return next;
            }
            std::task::ready!(self.patience.poll(cx));
        }
        let what = if self.has_begun { "no further event arrived" } else { "no event arrived" };
        Poll::Ready(Some(Err(too_late(what, self.patience.limit()))))
    }

    /// Decodes the events in some bytes.
    pub(crate) fn decode(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        let before = events.len();
        self.decoder.feed(bytes, events);
        if events.len() > before {
            self.patience.set(self.between_events);
            self.has_begun = true;
        }
        self.name(events, before);
    }

    /// Adds the events that are due at the end of the bytes.
    pub(crate) fn end(&mut self, events: &mut Vec<Event>) {
        let before = events.len();
        self.decoder.end(events);
        self.name(events, before);
    }

    /// Restores the tools' original names, and fills in the requested model if the answer names none.
    fn name(&self, events: &mut [Event], from: usize) {
        for event in events.iter_mut().skip(from) {
            self.names.restore_event(event);
            if let Event::Start { model, .. } = event
                && model.as_deref().is_none_or(str::is_empty)
            {
                *model = Some(self.model.clone());
            }
        }
    }

    /// Returns the head and the rest of the body.
    pub(crate) fn into_parts(self) -> (Head, Body) {
        (self.head, self.body)
    }
}

/// Whether the event contains something that a caller would miss.
fn says_something(event: &Event) -> bool {
    match event {
        Event::Start { .. } | Event::Usage { .. } | Event::Other { .. } => false,
        Event::BlockStart { .. }
        | Event::TextDelta { .. }
        | Event::ThinkingDelta { .. }
        | Event::ToolCallStart { .. }
        | Event::ToolCallDelta { .. }
        | Event::ToolCallDone { .. }
        | Event::BlockDone { .. }
        | Event::Done { .. }
        | Event::Error { .. } => true,
        // An event of a newer kind is better shown than dropped.
        _ => true,
    }
}
