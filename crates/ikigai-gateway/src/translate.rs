//! Different dialects on the two sides: requests and answers go through the canonical form.

use std::time::{SystemTime, UNIX_EPOCH};

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use ikigai::{Collector, Exchange, ModelName, Request, Response, Thinking, Wanted};
use ikigai_core::pause::{GIVEN_UP, given_up};
use ikigai_core::server::Seen;
use ikigai_core::wire::{Ids, Reply, StreamDecoder, StreamEncoder, ToolNames};
use ikigai_core::{Dialect, Error, Limits, Loss};

use crate::generate::{Answer, Asked, Call, Failure, Noted, Rest, apart, is_strict};
use crate::live::{Begun, Flow as _};
use crate::memory::Memory;
use crate::pause::{Asking, Pauses, Resumed, Strictness};
use crate::plan::{Plan, Way};
use crate::translating::{Earlier, Translating};
use crate::turns::Turn;

/// A request in canonical form, and the form that its answer must have.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    pub(crate) request: Request,
    pub(crate) reply: Reply,
}

/// Asks a model in its own dialect, and returns its answer in the client's.
pub(crate) async fn translate(
    call: &Call,
    decoded: Decoded,
    turn: Turn,
    asked: &Asked,
    way: &Way,
    plan: &Plan,
) -> Result<Answer, Failure> {
    let Decoded { request, mut reply } = decoded;
    let request = for_model(request, asked, way);
    let asking = Asking {
        upstream: way.upstream.clone(),
        strictness: if is_strict(call, plan) { Strictness::Strict } else { Strictness::Lenient },
        wanted: if asked.streams { Wanted::Stream } else { Wanted::Whole },
        length: call.length,
    };
    let client = call.endpoint.dialect;
    let pauses = Pauses::of(&request, client, way, &asking);
    let wire = asking.encode(request).await?;
    drop(turn);
    let Resumed { exchange, names, losses } = asking.deliver(wire).await?;
    reply.ids = Ids::seeded(rand::random());
    reply.created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    reply.model = Some(if plan.as_asked { asked.model.clone() } else { way.upstream.model().id.clone() });
    reply.provider = Some(way.upstream.provider().id.to_string());
    let answering = Answering {
        names,
        losses,
        pauses,
        model: plan.as_asked.then(|| asked.model.clone()),
        reply,
        keeps: (!client.carries_state()).then(|| Keeps {
            memory: call.memory.clone(),
            client: call.client.clone(),
            from: way.upstream.model().clone(),
        }),
    };
    // Boxed, so that a request that waits for its provider does not have the memory that its answer needs.
    let answer = if asked.streams {
        Box::pin(answering.stream(exchange, call, way)).await
    } else {
        Box::pin(answering.whole(exchange, call, way, asking.strictness)).await
    };
    answer.map_err(Failure::charged)
}

/// The request that this model gets.
fn for_model(mut request: Request, asked: &Asked, way: &Way) -> Request {
    let model = way.upstream.model();
    request.model.clone_from(&model.id);
    request.stream = asked.streams.then_some(true);
    // The client's own setting takes precedence over the level in the target's name.
    if let (Some(level), None) = (model.level, &request.thinking) {
        request.thinking = Some(Thinking::from(level));
    }
    request
}

/// What is needed to write an answer in the client's dialect.
struct Answering {
    names: ToolNames,
    losses: Vec<Loss>,
    /// Set if the provider may pause and the client does not continue by itself.
    pauses: Option<Pauses>,
    /// The model that the answer names, if it is not the one that answers.
    model: Option<String>,
    reply: Reply,
    keeps: Option<Keeps>,
}

/// Where the state of an answer is kept for a client that cannot.
pub(crate) struct Keeps {
    pub(crate) memory: Memory,
    pub(crate) client: String,
    pub(crate) from: ModelName,
}

/// Reads a provider's whole answer, and returns its length in bytes as well.
async fn read(exchange: Exchange, names: ToolNames, provider: Dialect) -> Result<(Response, usize), Failure> {
    let redactor = exchange.redactor();
    let body = exchange.bytes().await?;
    let length = body.len();
    let work = move || -> Result<Response, Error> {
        let mut ids = Ids::seeded(rand::random());
        // The error quotes what cannot be read.
        let response = provider.decode_response(&body, &mut ids, &Limits::client());
        let mut response = response.map_err(|error| redactor.error(error))?;
        response.error = response.error.map(|error| Box::new(redactor.error(*error)));
        names.restore(&mut response);
        Ok(response)
    };
    Ok((apart(length, work).await?, length))
}

/// Adds losses that are not listed yet: a continued turn loses the same again.
pub(crate) fn add_losses(losses: &mut Vec<Loss>, more: Vec<Loss>) {
    for loss in more {
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    }
}

impl Answering {
    async fn whole(
        mut self,
        exchange: Exchange,
        call: &Call,
        way: &Way,
        strictness: Strictness,
    ) -> Result<Answer, Failure> {
        let (mut tries, id) = (exchange.attempts.len(), exchange.request_id.clone());
        let (client, provider) = (call.endpoint.dialect, way.upstream.dialect());
        let names = std::mem::take(&mut self.names);
        let (mut response, mut length) = read(exchange, names, provider).await?;
        while let Some(pauses) = self.pauses.as_mut().filter(|_| response.is_paused()) {
            let Some(resuming) = pauses.go_on(response.clone()) else {
                response.finish_reason = GIVEN_UP;
                self.losses.push(given_up());
                break;
            };
            let Resumed { exchange, names, losses } = resuming.await?;
            add_losses(&mut self.losses, losses);
            tries += exchange.attempts.len();
            let (later, more) = read(exchange, names, provider).await?;
            response.append(later);
            length += more;
        }
        let work = move || -> Result<_, Error> {
            if let Some(model) = self.model {
                response.model = model;
            }
            if let Some(keeps) = &self.keeps {
                keeps.memory.keep(&keeps.client, &response, &keeps.from);
            }
            let mut wire = client.encode_response(&response, &self.reply);
            if strictness == Strictness::Strict {
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
            redactor: exchange.redactor(),
            events: Vec::new(),
            names: self.names,
            model: self.model,
            collector: (self.keeps.is_some() || self.pauses.is_some()).then(Collector::default),
            keeps: self.keeps,
            seen: Seen::default(),
            dialect: call.endpoint.dialect,
            provider: way.upstream.dialect(),
            earlier: Earlier::default(),
            pauses: self.pauses,
            paused: None,
            broken: None,
            losses: Vec::new(),
        };
        // Until something is sent, another model can be asked.
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
