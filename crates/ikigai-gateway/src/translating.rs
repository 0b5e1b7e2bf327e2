//! A stream that is translated from one dialect to another.

use bytes::Bytes;
use ikigai::transport::{Body, TransportError};
use ikigai::{Collector, Dialect, Event, Redactor, Response, Usage};
use ikigai_core::pause::{GIVEN_UP, given_up};
use ikigai_core::server::Seen;
use ikigai_core::wire::{Ids, StreamDecoder, StreamEncoder, ToolNames};
use ikigai_core::{Error, Limits, Loss};

use crate::generate::Failure;
use crate::live::{End, Flow};
use crate::log::{Entry, Outcome};
use crate::pass::cut_off;
use crate::pause::{Pauses, Resumed, Resuming};
use crate::translate::{Keeps, add_losses};

pub(crate) struct Translating {
    pub(crate) decoder: StreamDecoder,
    pub(crate) encoder: StreamEncoder,
    /// For failures in the stream: a provider may quote the key in them.
    pub(crate) redactor: Redactor,
    pub(crate) events: Vec<Event>,
    pub(crate) names: ToolNames,
    pub(crate) model: Option<String>,
    /// The whole answer, for clients whose state is kept, and for turns that may be paused.
    pub(crate) collector: Option<Collector>,
    pub(crate) keeps: Option<Keeps>,
    pub(crate) seen: Seen,
    pub(crate) dialect: Dialect,
    pub(crate) provider: Dialect,
    /// What came before the last pause.
    pub(crate) earlier: Earlier,
    pub(crate) pauses: Option<Pauses>,
    /// The answer so far, if the provider paused.
    pub(crate) paused: Option<Response>,
    /// Why the rest did not arrive.
    pub(crate) broken: Option<Error>,
    /// What was lost in the requests for the rest.
    pub(crate) losses: Vec<Loss>,
}

/// The part of an answer that came before a pause.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    /// The number of its blocks.
    blocks: usize,
    usage: Option<Usage>,
    /// Whether there was a pause at all.
    has_begun: bool,
}

impl Translating {
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.decoder.feed(bytes, &mut self.events);
        self.push(out);
    }

    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        self.decoder.end(&mut self.events);
        self.push(out);
    }

    fn fail(&mut self, error: Error, out: &mut Vec<u8>) {
        self.seen.error = Some(error.clone());
        self.encoder.push(&Event::Error { error: Box::new(error) }, out);
    }

    fn push(&mut self, out: &mut Vec<u8>) {
        let mut events = std::mem::take(&mut self.events);
        for mut event in events.drain(..) {
            self.names.restore_event(&mut event);
            self.follow(&mut event);
            if matches!(event, Event::Start { .. }) && self.earlier.has_begun {
                continue;
            }
            if self.is_pause(&mut event) {
                break;
            }
            self.look_at(&mut event);
            self.encoder.push(&event, out);
            if let Some(collector) = &mut self.collector {
                collector.push(event);
            }
        }
        self.events = events;
        self.events.clear();
    }

    /// Makes an event follow what came before a pause.
    fn follow(&mut self, event: &mut Event) {
        if !self.earlier.has_begun {
            return;
        }
        match event {
            Event::Usage { usage } => {
                if let Some(earlier) = &self.earlier.usage {
                    *usage = earlier.and(usage);
                }
            }
            _ => {
                if let Some(index) = event.index_mut() {
                    *index += self.earlier.blocks;
                }
            }
        }
    }

    /// Whether this ends a part that will be continued. The last pause, which will not be, becomes a real end.
    fn is_pause(&mut self, event: &mut Event) -> bool {
        let (Some(pauses), Some(collector)) = (&self.pauses, &self.collector) else { return false };
        if !event.is_pause() {
            return false;
        }
        if pauses.is_used_up() {
            self.losses.push(given_up());
            if let Event::Done { finish_reason, .. } = event {
                *finish_reason = GIVEN_UP;
            }
            return false;
        }
        let mut so_far = collector.clone();
        so_far.push(event.clone());
        self.paused = Some(so_far.finish());
        true
    }

    fn look_at(&mut self, event: &mut Event) {
        match event {
            Event::Start { model, .. } if self.model.is_some() => model.clone_from(&self.model),
            Event::TextDelta { .. } | Event::ThinkingDelta { .. } | Event::ToolCallStart { .. } => {
                self.seen.has_output = true;
            }
            Event::Usage { usage, .. } => self.seen.usage = Some(usage.clone()),
            Event::Done { finish_reason, .. } => {
                self.seen.finish_reason = Some(*finish_reason);
                self.seen.ended = true;
            }
            Event::Error { error } => {
                **error = self.redactor.error((**error).clone());
                self.seen.error = Some((**error).clone());
            }
            _ => {}
        }
    }
}

impl Flow for Translating {
    fn bytes(&mut self, bytes: Bytes) -> Bytes {
        let mut out = Vec::with_capacity(bytes.len() + 64);
        self.feed(&bytes, &mut out);
        out.into()
    }

    fn go_on(&mut self) -> Option<Resuming> {
        let so_far = self.paused.take()?;
        self.earlier = Earlier { blocks: so_far.content.len(), usage: so_far.usage.clone(), has_begun: true };
        self.pauses.as_mut()?.go_on(so_far)
    }

    fn resume(&mut self, outcome: Result<Resumed, Failure>) -> Option<Body> {
        match outcome {
            Ok(Resumed { exchange, names, losses }) => {
                self.names = names;
                self.redactor = exchange.redactor();
                add_losses(&mut self.losses, losses);
                self.decoder = StreamDecoder::new(self.provider, Ids::seeded(rand::random()), &Limits::client());
                Some(exchange.body)
            }
            Err(failure) => {
                self.broken = Some(failure.canonical());
                None
            }
        }
    }

    fn end(&mut self, broken: Option<TransportError>, entry: &mut Entry) -> End {
        let mut out = Vec::new();
        if !self.is_over() {
            match (self.broken.take(), broken) {
                (Some(error), _) => self.fail(error, &mut out),
                (None, Some(error)) => self.fail(cut_off(Some(error)), &mut out),
                (None, None) => self.finish(&mut out),
            }
        }
        add_losses(&mut entry.losses, std::mem::take(&mut self.losses));
        entry.losses.extend_from_slice(self.encoder.losses());
        if let (Some(keeps), Some(collector), true) = (&self.keeps, self.collector.take(), self.seen.ended) {
            keeps.memory.keep(&keeps.client, &collector.finish(), &keeps.from);
        }
        let outcome = if self.seen.ended { Outcome::Complete } else { Outcome::Broken };
        entry.saw(std::mem::take(&mut self.seen));
        End::Told(outcome, out.into())
    }

    fn is_over(&self) -> bool {
        self.seen.ended || self.seen.error.is_some() || self.paused.is_some()
    }

    fn sign_of_life(&self) -> &'static [u8] {
        self.dialect.keep_alive()
    }
}
