//! Another dialect on the other side: through the canonical form.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use ikigai::transport::TransportError;
use ikigai::{Collector, Event, Exchange, ModelName, Request, Thinking, Wanted};
use ikigai_core::server::Seen;
use ikigai_core::wire::{Ids, Reply, StreamDecoder, StreamEncoder, ToolNames, WireRequest};
use ikigai_core::{Error, Limits, Loss};

use crate::generate::{Answer, Asked, Call, Failure, Noted, Rest, apart, is_strict};
use crate::live::{Begun, End, Flow};
use crate::log::{Entry, Outcome};
use crate::memory::Memory;
use crate::pass::cut_off;
use crate::plan::{Plan, Way};
use crate::reply;

/// A request in the canonical form, and what an answer to it has to be like.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    pub(crate) request: Request,
    pub(crate) reply: Reply,
}

/// Asks a model in its own dialect, and gives its answer in the client's.
pub(crate) async fn translate(
    call: &Call,
    decoded: Decoded,
    asked: &Asked,
    way: &Way,
    plan: &Plan,
) -> Result<Answer, Failure> {
    let Decoded { request, reply } = decoded;
    let wire = encode(call, request, asked, way, plan).await?;
    let headers = reply::header_map(&wire.headers);
    let wanted = if asked.streams { Wanted::Stream } else { Wanted::Whole };
    let exchange = way.upstream.send(&wire.path, &headers, wire.body.into(), wanted).await?;
    let client = call.endpoint.dialect;
    let answering = Answering {
        names: wire.names,
        losses: wire.losses,
        model: plan.as_asked.then(|| asked.model.clone()),
        reply: Reply {
            ids: Ids::seeded(rand::random()),
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
            model: Some(if plan.as_asked { asked.model.clone() } else { way.upstream.model().id.clone() }),
            provider: Some(way.upstream.provider().id.to_string()),
            ..reply
        },
        keeps: (!client.carries_state()).then(|| Keeps {
            memory: call.memory.clone(),
            client: call.client.clone(),
            from: way.upstream.model().clone(),
        }),
    };
    if asked.streams {
        answering.stream(exchange, call, way).await
    } else {
        answering.whole(exchange, call, way, plan).await
    }
}

async fn encode(
    call: &Call,
    mut request: Request,
    asked: &Asked,
    way: &Way,
    plan: &Plan,
) -> Result<WireRequest, Error> {
    let upstream = way.upstream.clone();
    request.model.clone_from(&upstream.model().id);
    request.stream = asked.streams.then_some(true);
    // The client's own wish goes before the level in the target's name.
    if let (Some(level), None) = (upstream.model().level, &request.thinking) {
        request.thinking = Some(Thinking::from(level));
    }
    let strict = is_strict(call, plan);
    let work = move || {
        let wire = upstream.dialect().encode_request(&request, &upstream.target(), &Limits::server())?;
        if strict { wire.strictly(upstream.dialect()) } else { Ok(wire) }
    };
    apart(call.length, work).await
}

/// What it takes to give an answer in the client's dialect.
struct Answering {
    names: ToolNames,
    losses: Vec<Loss>,
    /// The model that the answer names, where it is not the one that answers.
    model: Option<String>,
    reply: Reply,
    keeps: Option<Keeps>,
}

/// Where the state of an answer is kept for a client that cannot.
struct Keeps {
    memory: Memory,
    client: String,
    from: ModelName,
}

impl Answering {
    async fn whole(mut self, exchange: Exchange, call: &Call, way: &Way, plan: &Plan) -> Result<Answer, Failure> {
        let (tries, id) = (exchange.attempts.len(), exchange.request_id.clone());
        let body = exchange.bytes().await?;
        let length = body.len();
        let (client, provider) = (call.endpoint.dialect, way.upstream.dialect());
        let strict = is_strict(call, plan);
        let work = move || -> Result<_, Error> {
            let mut ids = Ids::seeded(rand::random());
            let mut response = provider.decode_response(&body, &mut ids, &Limits::client())?;
            self.names.restore(&mut response);
            if let Some(model) = self.model {
                response.model = model;
            }
            if let Some(keeps) = &self.keeps {
                keeps.memory.keep(&keeps.client, &response, &keeps.from);
            }
            let mut wire = client.encode_response(&response, &self.reply);
            if strict {
                wire = wire.strictly(client)?;
            }
            self.losses.append(&mut wire.losses);
            let mut seen = Seen::default();
            seen.usage = response.usage;
            seen.finish_reason = Some(response.finish_reason);
            Ok((wire.body, self.losses, seen))
        };
        let (body, losses, seen) = apart(length, work).await?;
        let noted = Noted { seen, failed_tries: tries, upstream_id: id, losses };
        Ok(Answer { status: StatusCode::OK, headers: HeaderMap::new(), rest: Rest::Whole(body.into()), noted })
    }

    async fn stream(self, mut exchange: Exchange, call: &Call, way: &Way) -> Result<Answer, Failure> {
        let media_type = if self.reply.json_array { "application/json" } else { "text/event-stream; charset=utf-8" };
        let mut flow = Translating {
            decoder: StreamDecoder::new(way.upstream.dialect(), Ids::seeded(rand::random()), &Limits::client()),
            encoder: StreamEncoder::new(call.endpoint.dialect, self.reply),
            events: Vec::new(),
            names: self.names,
            model: self.model,
            collector: self.keeps.is_some().then(Collector::default),
            keeps: self.keeps,
            seen: Seen::default(),
            dialect: call.endpoint.dialect,
        };
        // Until something goes out, another model may be asked.
        let mut first = Vec::new();
        while first.is_empty() && !flow.is_over() {
            let before = flow.seen.has_output;
            match exchange.body.next().await {
                Some(bytes) => flow.feed(&bytes?, &mut first),
                None => flow.finish(&mut first),
            }
            if let (Some(error), false) = (&flow.seen.error, before || flow.seen.has_output) {
                return Err(error.clone().into());
            }
        }
        let noted = Noted {
            failed_tries: exchange.attempts.len(),
            upstream_id: exchange.request_id.clone(),
            losses: self.losses,
            ..Noted::default()
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        let begun = Begun { first: first.into(), provider: exchange.body, flow: Box::new(flow) };
        Ok(Answer { status: StatusCode::OK, headers, rest: Rest::Live(begun), noted })
    }
}

/// A stream on its way from one dialect to another.
struct Translating {
    decoder: StreamDecoder,
    encoder: StreamEncoder,
    events: Vec<Event>,
    names: ToolNames,
    model: Option<String>,
    /// The whole answer, for clients whose state is kept.
    collector: Option<Collector>,
    keeps: Option<Keeps>,
    seen: Seen,
    dialect: ikigai::Dialect,
}

impl Translating {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.decoder.feed(bytes, &mut self.events);
        self.push(out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.decoder.end(&mut self.events);
        self.push(out);
    }

    fn fail(&mut self, error: Error, out: &mut Vec<u8>) {
        self.events.push(Event::Error { error: Box::new(error) });
        self.push(out);
    }

    fn push(&mut self, out: &mut Vec<u8>) {
        let mut events = std::mem::take(&mut self.events);
        for event in &mut events {
            self.look_at(event);
            self.encoder.push(event, out);
        }
        if let Some(collector) = &mut self.collector {
            collector.extend(events.drain(..));
        }
        events.clear();
        self.events = events;
    }

    fn look_at(&mut self, event: &mut Event) {
        self.names.restore_event(event);
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

    fn end(&mut self, broken: Option<TransportError>, entry: &mut Entry) -> End {
        let mut out = Vec::new();
        if !self.is_over() {
            match broken {
                Some(error) => self.fail(cut_off(Some(error)), &mut out),
                None => self.finish(&mut out),
            }
        }
        entry.losses.extend_from_slice(self.encoder.losses());
        if let (Some(keeps), Some(collector), true) = (&self.keeps, self.collector.take(), self.seen.ended) {
            keeps.memory.keep(&keeps.client, &collector.finish(), &keeps.from);
        }
        let outcome = if self.seen.ended { Outcome::Complete } else { Outcome::Broken };
        entry.saw(std::mem::take(&mut self.seen));
        End::Told(outcome, out.into())
    }

    fn is_over(&self) -> bool {
        self.seen.ended || self.seen.error.is_some()
    }

    fn sign_of_life(&self) -> &'static [u8] {
        self.dialect.keep_alive()
    }
}
