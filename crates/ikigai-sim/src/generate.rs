//! Answers to generation requests: checked, understood, answered, written in the client's dialect.

use std::hash::{Hash as _, Hasher as _};

use ikigai_core::server::{Endpoint, Framing, Verb};
use ikigai_core::wire::{Ids, Incoming, Reply, StreamEncoder, WireError};
use ikigai_core::{
    Block, Dialect, Error, ErrorKind, Event, FinishReason, Json, Limits, Part, Request, Response, Usage, events,
};
use serde_json::Value;

use crate::as_sent::as_sent;
use crate::deliver::Answer;
use crate::fault::Fault;
use crate::media::Wish;
use crate::memory::Memory;
use crate::order::{Order, signed_at_the_end};
use crate::script::Scripted;
use crate::service::{Call, refuse};
use crate::stored;
use crate::strict::{self, Wire};
use crate::talk::{self, Talk};

/// The time that every answer claims to be from: the simulator has no clock.
pub(crate) const CREATED: u64 = 1_760_000_000;

/// The number of characters in a text piece of a stream.
const PIECE: usize = 12;

/// The answer, and the fault that a script wants for it.
pub(crate) fn answer(memory: &Memory, endpoint: &Endpoint, call: &Call) -> (Answer, Option<Fault>) {
    let dialect = endpoint.dialect;
    match attempt(memory, endpoint, call) {
        Ok((answer, fault)) => (request_id(answer, dialect, call), fault),
        Err(refusal) => (request_id(refusal.into(), dialect, call), None),
    }
}

fn attempt(memory: &Memory, endpoint: &Endpoint, call: &Call) -> Result<(Answer, Option<Fault>), WireError> {
    let dialect = endpoint.dialect;
    let body: Value = serde_json::from_slice(&call.body).map_err(|error| not_json(dialect, &error))?;
    let target = call.target();
    strict::check(dialect, &Wire { path: &target, headers: &call.headers, body: &body, memory })?;
    let wish = Wish::of(dialect, &body);
    let kept = stored::wanted(dialect, &body);
    // The Responses API then drops the beginning of a conversation that is too long.
    let truncates = dialect == Dialect::OpenaiResponses && body.get("truncation").is_some_and(|wish| wish == "auto");
    let body = stored::with_history(memory, dialect, body);
    let input = if kept { stored::input(&body) } else { Vec::new() };
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let (request, mut reply) = dialect
        .decode_request(Incoming::new(&body).at(&target), &Limits::server())
        .map_err(|error| dialect.encode_error(&error))?;
    if !truncates {
        strict::fits_window(dialect, &call.headers, &request)?;
    }
    let seed = fingerprint(&call.body) ^ memory.config.seed;
    let talk = Talk { dialect, seed, memory };
    let (mut response, order, fault) = match memory.scripted(dialect, &request, &call.headers) {
        Some(scripted) => (from_script(&scripted, &request, &talk), scripted.order(), scripted.fault),
        None => {
            let made = wish.map(|wish| wish.response(&request, &talk));
            (made.unwrap_or_else(|| talk::answer(&request, &talk)), Order::OneByOne, None)
        }
    };
    if response.model.is_empty() {
        response.model.clone_from(&request.model);
    }
    (reply.ids, reply.created) = (Ids::seeded(seed), CREATED);
    reply.provider = Some("sim".to_owned());
    reply.json_array = endpoint.verb == Verb::Stream(Framing::JsonArray);
    if kept {
        let body = dialect.encode_response(&response, &reply).body;
        stored::keep(memory, serde_json::from_slice(&body).unwrap_or_default(), input);
    }
    if request.stream == Some(true) {
        return Ok((streamed(dialect, &response, order, reply), fault));
    }
    Ok((Answer::bytes(dialect.encode_response(&response, &reply).body), fault))
}

/// Converts a scripted answer to a response, with sealed state if the dialect's answers carry it.
fn from_script(scripted: &Scripted, request: &Request, talk: &Talk<'_>) -> Response {
    if let Some(response) = &scripted.response {
        return response.clone();
    }
    let mut ids = Ids::seeded(talk.seed);
    let mut draft = match scripted.told() {
        Some(told) => talk::hosted::scripted(told, request, talk),
        None => Response::new(scripted.text.iter().map(Block::text).collect::<Vec<_>>(), FinishReason::Stop),
    };
    draft.content.splice(0..0, scripted.thinking.iter().map(Block::thinking));
    draft.content.extend(scripted.calls(|| talk.call_id(&mut ids)));
    if scripted.finish_reason.is_some() || !scripted.tool_calls.is_empty() {
        draft.finish_reason = scripted.finish_reason.unwrap_or(FinishReason::ToolUse);
        draft.provider_data = Default::default();
    }
    let mut response = talk::complete(draft, request, talk);
    if let Some(usage) = &scripted.usage {
        response.usage = Some(usage.clone());
    }
    response
}

fn streamed(dialect: Dialect, response: &Response, order: Order, reply: Reply) -> Answer {
    let content_type = if reply.json_array { "application/json" } else { "text/event-stream; charset=utf-8" };
    let mut broken = StreamEncoder::new(dialect, reply.clone());
    let mut encoder = StreamEncoder::new(dialect, reply);
    let mut frames = Vec::new();
    let events = match dialect {
        Dialect::Gemini => signed_at_the_end(events(response)),
        Dialect::Anthropic => usage_at_the_start(events(response), response),
        _ => events(response),
    };
    for event in order.arrange(events.iter().flat_map(pieces)) {
        let mut frame = Vec::new();
        encoder.push(&event, &mut frame);
        if !frame.is_empty() {
            frames.push(frame.into());
        }
    }
    if rests_on_tools(response) {
        frames = as_sent(dialect, &response.model, frames);
    }
    let mut error = Vec::new();
    let start = Event::Start {
        id: response.id.clone(),
        model: Some(response.model.clone()),
        provider_data: Default::default(),
    };
    broken.push(&start, &mut Vec::new());
    let overloaded = Error::new(ErrorKind::Overloaded, "overloaded in the middle of an answer (simulated)");
    broken.push(&Event::Error { error: Box::new(overloaded) }, &mut error);
    Answer::frames(content_type, frames, error)
}

/// Whether the answer contains anything of the provider's own tools.
fn rests_on_tools(response: &Response) -> bool {
    !response.sources.is_empty()
        || response.content.iter().any(|block| match block {
            Block::Text(text) => !text.citations.is_empty(),
            block => block.is_provider_run(),
        })
}

/// Reports the tokens of the prompt right after the start, as Anthropic does: there they go into the first event.
fn usage_at_the_start(mut events: Vec<Event>, response: &Response) -> Vec<Event> {
    let Some(usage) = &response.usage else { return events };
    if let Some(Event::Start { provider_data, .. }) = events.first_mut() {
        // The encoder waits for the usage if the answer is one of its own dialect, which this shows.
        provider_data.set_part(Dialect::Anthropic, Part::Answer, "stop_sequence", Json::null());
        // What the provider's tools found is read later.
        let input_tokens = usage.input_tokens.saturating_sub(talk::found(&response.content));
        let mut first = Usage::new(input_tokens, 1);
        first.cache_read_tokens = usage.cache_read_tokens;
        first.cache_write_tokens = usage.cache_write_tokens;
        events.insert(1, Event::Usage { usage: first });
    }
    events
}

/// An event in the small pieces of a real stream; at least one cut falls inside most words.
fn pieces(event: &Event) -> Vec<Event> {
    let cut = |text: &str| -> Vec<String> {
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
    };
    match event {
        Event::TextDelta { index, text } => {
            cut(text).into_iter().map(|text| Event::TextDelta { index: *index, text }).collect()
        }
        Event::ThinkingDelta { index, text } => {
            cut(text).into_iter().map(|text| Event::ThinkingDelta { index: *index, text }).collect()
        }
        Event::ToolCallDelta { index, arguments } => {
            cut(arguments).into_iter().map(|arguments| Event::ToolCallDelta { index: *index, arguments }).collect()
        }
        other => vec![other.clone()],
    }
}

fn not_json(dialect: Dialect, error: &serde_json::Error) -> WireError {
    let message = match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            format!("We could not parse the JSON body of your request. ({error})")
        }
        Dialect::Gemini => format!("Invalid JSON payload received. {error}"),
        _ => format!("The request body is not valid JSON: {error}"),
    };
    refuse(dialect, ErrorKind::InvalidRequest, message)
}

/// Adds the header in which each provider names the request.
fn request_id(answer: Answer, dialect: Dialect, call: &Call) -> Answer {
    let id = format!("req_sim_{:06}", call.number);
    match dialect {
        Dialect::Anthropic => answer.header("request-id", id),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => answer.header("x-request-id", id),
        // Google sends none.
        _ => answer,
    }
}

/// A number that is the same for the same bytes, on every machine.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    #[expect(deprecated, reason = "SipHash with fixed keys: stable across runs, which the default hasher is not")]
    let mut hasher = std::hash::SipHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
