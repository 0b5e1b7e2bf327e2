//! Decoded, and encoded in the same dialect: nothing is lost, nothing is misread.

use crate::support::findings::{Findings, first_difference};
use crate::support::recordings::{Answered, Exchange, Expected, exchanges, expected, failed, recordings};
use crate::support::summary::summary;
use crate::support::wire::{OfValues as _, collect, decode, decode_pieces, encode, reply, target};
use ikigai_core::catalog::rules_for;
use ikigai_core::validate::EventChecker;
use ikigai_core::wire::{Ids, StreamEncoder};
use ikigai_core::{Block, Dialect, Event, FinishReason, Limits, Part, ProviderData, Request, Response};
use serde_json::{Map, Value};

/// Returns what an answer decodes to. A failure is a response with the finish reason `error`.
fn answer(dialect: Dialect, answered: &Answered) -> Response {
    if let Some(sse) = &answered.sse {
        return collect(decode(dialect, sse.as_bytes()));
    }
    if answered.status >= 400 {
        return failed(dialect.decode_error(Some(answered.status), &answered.headers(), answered.body_text()));
    }
    dialect.read_response(&answered.body().unwrap()).unwrap_or_else(failed)
}

/// Expected lines that are wrong, field by field, with the proof.
const WRONG: [(&str, &str, &str); 1] = [(
    "openrouter-openrouter-cache-instructions-gemini-real-api-cd439807",
    "usage",
    "4322 tokens read from the cache and written to it are more than the 2168 of the prompt, so they are no part of it",
)];

fn compare(id: &str, response: &Response, expected: &Expected, findings: &mut Findings) {
    let certain = |field: &str| {
        !expected.uncertain.iter().any(|name| name == field)
            && !WRONG.iter().any(|(wrong, name, _)| (*wrong, *name) == (id, field))
    };
    let found = summary(response);
    if certain("text") {
        findings.same(id, "text", &found.text, &expected.text);
    }
    if certain("thinking") {
        findings.same(id, "thinking", &found.thinking, &expected.thinking);
    }
    if certain("tool_calls") {
        let wanted: Vec<(String, Value)> = expected
            .tool_calls
            .iter()
            .map(|call| {
                let raw = call.arguments_raw.as_ref().map(|raw| Value::from(raw.as_str()));
                (call.name.clone(), raw.unwrap_or_else(|| call.arguments.clone()))
            })
            .collect();
        findings.same(id, "tool calls", &found.calls, &wanted);
    }
    if certain("finish") {
        let finish = serde_json::to_value(response.finish_reason).unwrap();
        findings.same(id, "finish", &finish, &Value::from(expected.finish.as_str()));
    }
    if certain("usage") {
        let wanted = expected.usage.as_ref().map(|usage| {
            // If caching was not reported, ours is not compared.
            let cached = usage.cached.or(response.usage.as_ref().map(|usage| usage.cached_tokens()));
            [usage.input, usage.output, usage.thinking, cached.unwrap_or(0)]
        });
        let found = response
            .usage
            .as_ref()
            .map(|usage| [usage.prompt_tokens(), usage.output_tokens, usage.thinking_tokens, usage.cached_tokens()]);
        findings.same(id, "usage (prompt, output, thinking, cached)", &found, &wanted);
    }
}

fn answers_are_read_as_they_were_meant(dialect: Dialect) {
    let exchanges = exchanges(dialect);
    let expected = expected();
    let mut findings = Findings::default();
    // A fixture is a request or an answer; a recording is both.
    for exchange in exchanges.iter().filter(|exchange| exchange.response.status != 0) {
        findings.case();
        match expected.get(&exchange.id) {
            Some(expected) => {
                compare(&exchange.id, &answer(dialect, &exchange.response), expected, &mut findings);
            }
            None => findings.add(&exchange.id, "has no expected line"),
        }
    }
    findings.report();
}

/// Checks requests that are encoded again. Every document must be the same; there are no normalisations.
fn requests_round_trip(dialect: Dialect) {
    let exchanges = exchanges(dialect);
    let mut findings = Findings::default();
    for (id, asked) in exchanges.iter().filter_map(|exchange| Some((&exchange.id, exchange.request.as_ref()?))) {
        findings.case();
        let body = asked.body();
        let request = match dialect.read_request(Some(&asked.path), &body) {
            Ok(request) => request,
            Err(error) => {
                findings.add(id, format!("is not read: {error}"));
                continue;
            }
        };
        // The format is stored as JSON: nothing may depend on what JSON does not keep.
        let stored: Request = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
        findings.same(id, "stored", &stored, &request);
        for rules in [target(dialect).rules, rules_for(&request.model)] {
            let mut target = target(dialect);
            target.rules = rules;
            match dialect.write_request(&stored, &target) {
                Ok(wire) => {
                    for difference in differences(&wire.body, &body) {
                        findings.add(id, difference);
                    }
                    if !wire.losses.is_empty() {
                        findings.add(id, format!("loses {:?}", wire.losses));
                    }
                    if let Some(path) = path(dialect, &asked.path) {
                        findings.same(id, "path", &wire.path, &path);
                    }
                }
                Err(error) => findings.add(id, format!("is not written: {error}")),
            }
        }
    }
    findings.report();
}

/// Returns the relevant part of the path of an encoded request; the part before it is the provider's.
fn path(dialect: Dialect, asked: &str) -> Option<String> {
    match dialect {
        Dialect::Anthropic => asked.find("/v1/").and_then(|at| asked.get(at..)).map(str::to_owned),
        Dialect::Gemini => {
            let method = asked.split_once("/models/")?.1;
            let events = if method.ends_with(":streamGenerateContent") { "?alt=sse" } else { "" };
            Some(format!("/models/{method}{events}"))
        }
        _ => None,
    }
}

/// Checks failures as a server would forward them: the same kind, and the same document if it has only one spelling.
fn failures_round_trip(dialect: Dialect) {
    let exchanges = exchanges(dialect);
    let mut findings = Findings::default();
    for Exchange { id, response, .. } in exchanges.iter().filter(|exchange| exchange.response.status >= 400) {
        findings.case();
        let status = Some(response.status);
        let error = dialect.decode_error(status, &response.headers(), response.body_text());
        if error.message.is_empty() {
            findings.add(id, "says nothing");
        }
        let wire = dialect.encode_error(&error);
        let body = String::from_utf8(wire.body).unwrap();
        let again = dialect.decode_error(Some(wire.status), &wire.headers, &body);
        findings.same(id, "kind", &again.kind, &error.kind);
        if let Some(came) = response.body().filter(|_| matches!(dialect, Dialect::Anthropic | Dialect::Gemini)) {
            for difference in differences(&serde_json::from_str(&body).unwrap(), &came) {
                findings.add(id, difference);
            }
            findings.same(id, "status", &wire.status, &response.status);
        }
    }
    findings.report();
}

/// Checks answers as a server would forward them. Every document must be the same; there are no normalisations.
fn responses_round_trip(dialect: Dialect) {
    let exchanges = exchanges(dialect);
    let mut findings = Findings::default();
    for Exchange { id, response, .. } in exchanges.iter().filter(|exchange| exchange.response.status < 400) {
        let Some(body) = response.body() else { continue };
        // An error object in a success has no response to forward.
        let Ok(decoded) = dialect.read_response(&body) else { continue };
        findings.case();
        let wire = dialect.encode_response(&decoded, &reply(dialect));
        for difference in differences(&serde_json::from_slice(&wire.body).unwrap(), &body) {
            findings.add(id, difference);
        }
        if !wire.losses.is_empty() {
            findings.add(id, format!("loses {:?}", wire.losses));
        }
    }
    findings.report();
}

fn each_stream(dialect: Dialect, mut check: impl FnMut(&str, &[u8], Vec<Event>, &mut Findings)) {
    let exchanges = exchanges(dialect);
    let mut findings = Findings::default();
    for exchange in &exchanges {
        if let Some(sse) = &exchange.response.sse {
            findings.case();
            check(&exchange.id, sse.as_bytes(), decode(dialect, sse.as_bytes()), &mut findings);
        }
    }
    findings.report();
}

fn streams_keep_the_grammar(dialect: Dialect) {
    each_stream(dialect, |id, _, events, findings| {
        if let Some(fault) = EventChecker::check(&events).err() {
            findings.add(id, fault);
        }
    });
}

/// A stream that is forwarded in its own dialect and read again is the same answer. These need not be the same:
///
/// - The envelope of each chunk around the answer: times, fingerprints, prices. They are the server's own.
/// - Ids of items in streams whose relay gave an item a different id with every event. A server may not do that.
/// - An end without a reason, or an answer without an id: clients wait for both, so a server sends something.
/// - The field for thinking, if it was one that the official clients cannot assemble.
/// - A provider's own error object: a client gets it in the dialect's terms.
fn streams_round_trip(dialect: Dialect) {
    each_stream(dialect, |id, _, events, findings| {
        let bytes = encode(dialect, dialect, &events);
        let again = decode(dialect, &bytes);
        if let Err(fault) = EventChecker::check(&again) {
            findings.add(id, format!("sent on: {fault}"));
        }
        let (mut found, mut wanted) = (collect(again), collect(events));
        if wanted.provider_data.part_str(dialect, Part::Shape, "finish_reason").is_none() {
            found.provider_data.remove_part(dialect, Part::Shape, "finish_reason");
        }
        if wanted.finish_reason == FinishReason::Unknown && dialect == Dialect::OpenaiChat {
            wanted.finish_reason = FinishReason::Stop;
        }
        found.id = found.id.filter(|_| wanted.id.is_some());
        let (found, wanted) = (as_sent_on(found, dialect), as_sent_on(wanted, dialect));
        for difference in differences(&found, &wanted) {
            findings.add(id, difference);
        }
    });
}

/// A complete answer that is forwarded as a stream is the same answer, and so is the reverse. A complete answer of Chat
/// Completions has no order of texts and calls, so a streamed one is not the same there.
fn the_other_delivery_round_trips(dialect: Dialect) {
    let exchanges = exchanges(dialect);
    let mut findings = Findings::default();
    for Exchange { id, response, .. } in exchanges.iter().filter(|exchange| exchange.response.status < 400) {
        let (mut sent, found) = if let Some(sse) = &response.sse {
            let sent = collect(decode(dialect, sse.as_bytes()));
            let wire = dialect.encode_response(&sent, &reply(dialect));
            let again = dialect.decode_response(&wire.body, &mut Ids::seeded(7), &Limits::default());
            (sent, again.ok())
        } else {
            let Some(Ok(mut sent)) = response.body().map(|body| dialect.read_response(&body)) else { continue };
            let mut encoder = StreamEncoder::new(dialect, reply(dialect));
            let mut bytes = Vec::new();
            ikigai_core::events(&sent).iter().for_each(|event| encoder.push(event, &mut bytes));
            let told = |place: &str| encoder.losses().iter().any(|loss| loss.place == place);
            for (at, data) in sent.content.iter_mut().map(Block::provider_data_mut).enumerate() {
                if told(&format!("content[{at}].provider_data.{dialect}")) {
                    data.unwrap().take_part(dialect, Part::Extra);
                }
            }
            (sent, Some(collect(decode(dialect, &bytes))))
        };
        // A failure is an error instead of an answer.
        if sent.error.is_some() || (dialect == Dialect::OpenaiChat && response.sse.is_some()) {
            continue;
        }
        findings.case();
        let Some(mut found) = found else {
            findings.add(id, "cannot be read again");
            continue;
        };
        found.id = found.id.filter(|_| sent.id.is_some());
        for (found, sent) in found.content.iter_mut().zip(&mut sent.content) {
            // An id of ours is the client's id of that call.
            if let (Block::ToolCall(found), Block::ToolCall(sent)) = (found, sent)
                && ["generated_id", "id_generated"]
                    .iter()
                    .any(|mark| sent.provider_data.part(dialect, Part::Shape).flag(mark))
            {
                found.id.clear();
                sent.id.clear();
            }
        }
        for difference in differences(&delivered(found, dialect), &delivered(sent, dialect)) {
            findings.add(id, difference);
        }
    }
    findings.report();
}

/// Returns an answer without what only one of the two deliveries shows: how a complete answer was spelled.
fn delivered(mut response: Response, dialect: Dialect) -> Value {
    response.warnings.clear();
    response.provider_data.take_part(dialect, Part::Shape);
    if response.finish_reason == FinishReason::Unknown {
        response.finish_reason = FinishReason::Stop;
    }
    if let Some(usage) = &mut response.usage {
        usage.provider_data = ProviderData::default();
    }
    for data in response.content.iter_mut().filter_map(Block::provider_data_mut) {
        data.take_part(dialect, Part::Answer);
        data.take_part(dialect, Part::Shape);
    }
    as_sent_on(response, dialect)
}

/// Gemini's clients may ask for one JSON array instead of events.
#[test]
fn a_stream_of_gemini_in_an_array_is_the_same() {
    each_stream(Dialect::Gemini, |id, _, events, findings| {
        let mut reply = reply(Dialect::Gemini);
        reply.json_array = true;
        let mut encoder = StreamEncoder::new(Dialect::Gemini, reply);
        let mut bytes = Vec::new();
        events.iter().for_each(|event| encoder.push(event, &mut bytes));
        if serde_json::from_slice::<Vec<Value>>(&bytes).is_err() {
            findings.add(id, "is not an array");
        }
        let (mut found, wanted) = (collect(decode(Dialect::Gemini, &bytes)), collect(events));
        found.id = found.id.filter(|_| wanted.id.is_some());
        let (found, wanted) = (as_sent_on(found, Dialect::Gemini), as_sent_on(wanted, Dialect::Gemini));
        for difference in differences(&found, &wanted) {
            findings.add(id, difference);
        }
    });
}

/// Returns an answer without the data that a forwarding server creates anew.
fn as_sent_on(mut response: Response, dialect: Dialect) -> Value {
    response.provider_data.take_part(dialect, Part::Answer);
    // The spelling of a complete answer, which a stream does not show.
    response.provider_data.remove_part(dialect, Part::Shape, "answer");
    if let Some(error) = &mut response.error {
        (error.provider_data, error.code, error.error_type) = (ProviderData::default(), None, None);
    }
    for data in response.content.iter_mut().filter_map(Block::provider_data_mut) {
        if data.part_str(Dialect::OpenaiChat, Part::Shape, "reasoning_field").as_deref() == Some("content") {
            data.set_part(Dialect::OpenaiChat, Part::Shape, "reasoning_field", "reasoning_content");
        }
    }
    let mut value = serde_json::to_value(response).unwrap();
    if dialect == Dialect::OpenaiResponses {
        for block in value["content"].as_array_mut().unwrap() {
            if let Some(own) = block.pointer_mut("/provider_data/openai-responses").and_then(Value::as_object_mut) {
                own.shift_remove("id");
            }
            let shape = block.pointer_mut("/provider_data/openai-responses/shape").and_then(Value::as_object_mut);
            if let Some(shape) = shape {
                shape.shift_remove("id");
                shape.shift_remove("logprobs");
                shape.get_mut("item").and_then(Value::as_object_mut).and_then(|item| item.shift_remove("id"));
            }
        }
    }
    value
}

/// Any split of the bytes gives the same events. A short stream is split at every byte; a long one at a thousand
/// places. The places are spread over several runs, so that the pieces between them are long enough to matter; another
/// run passes every byte separately.
fn cuts_do_not_matter(dialect: Dialect) {
    each_stream(dialect, |id, bytes, whole, findings| {
        let mut runs: Vec<Vec<usize>> = vec![(0..bytes.len()).collect()];
        if bytes.len() <= 4096 {
            runs.extend((0..16).map(|first| (first..bytes.len()).step_by(16).collect()));
        } else {
            let mut numbers = Numbers(bytes.len() as u64);
            runs.extend((0..5).map(|_| {
                let mut cuts: Vec<usize> = (0..200).map(|_| numbers.below(bytes.len())).collect();
                cuts.sort_unstable();
                cuts
            }));
        }
        for cuts in runs {
            let ends = cuts.iter().copied().skip(1).chain([bytes.len()]);
            let first = cuts.first().copied().unwrap_or(0);
            let pieces =
                std::iter::once(&bytes[..first]).chain(cuts.iter().zip(ends).map(|(at, end)| &bytes[*at..end]));
            let events = decode_pieces(dialect, pieces);
            if events != whole {
                let (found, wanted) = (format!("{events:?}"), format!("{whole:?}"));
                findings.add(id, format!("cut at {:?}…: {}", &cuts[..1], first_difference(&found, &wanted)));
                break;
            }
        }
    });
}

/// SplitMix64: the same splits in every run of the tests.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 27)) % count as u64) as usize
    }
}

/// Returns the differences between two documents: each place with both values, and the places where an object that a
/// model reads has its keys in another order.
fn differences(found: &Value, wanted: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    differ(found, wanted, "", false, &mut differences);
    differences
}

fn differ(found: &Value, wanted: &Value, place: &str, ordered: bool, out: &mut Vec<String>) {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            if ordered && found.len() == wanted.len() && !found.keys().eq(wanted.keys()) {
                out.push(format!("{place} has its keys in another order"));
            }
            for (key, value) in wanted {
                match found.get(key) {
                    Some(other) => {
                        let ordered = ordered || is_read_by_models(key, wanted);
                        differ(other, value, &format!("{place}.{key}"), ordered, out);
                    }
                    None => out.push(format!("{place}.{key} is missing: {}", short(value))),
                }
            }
            for (key, value) in found.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                out.push(format!("{place}.{key} was added: {}", short(value)));
            }
        }
        (Value::Array(found), Value::Array(wanted)) if found.len() == wanted.len() => {
            for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                differ(found, wanted, &format!("{place}[{at}]"), ordered, out);
            }
        }
        _ if found == wanted => {}
        _ => out.push(format!("{place} is {} but was {}", short(found), short(wanted))),
    }
}

/// Returns whether the value of this key is a schema, arguments, or a result, which the model reads as written.
fn is_read_by_models(key: &str, parent: &Map<String, Value>) -> bool {
    match key {
        "args"
        | "arguments"
        | "input_schema"
        | "parameters"
        | "parametersJsonSchema"
        | "parameters_json_schema"
        | "schema"
        | "responseSchema"
        | "responseJsonSchema" => true,
        "input" => parent.contains_key("name"),
        "response" => parent.contains_key("name"),
        _ => false,
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 120 { text } else { text.chars().take(117).chain("...".chars()).collect() }
}

macro_rules! laws {
    ($($dialect:ident = $name:ident),*) => {
        const TESTED: &[Dialect] = &[$(Dialect::$dialect),*];

        $(mod $name {
            use super::*;

            laws!(@ $dialect answers_are_read_as_they_were_meant requests_round_trip responses_round_trip
                failures_round_trip streams_keep_the_grammar streams_round_trip the_other_delivery_round_trips
                cuts_do_not_matter);
        })*
    };
    (@ $dialect:ident $($law:ident)*) => {$(
        #[test]
        fn $law() {
            super::$law(Dialect::$dialect);
        }
    )*};
}

laws!(Anthropic = anthropic, OpenaiChat = openai_chat, OpenaiResponses = openai_responses, Gemini = gemini);

/// The tests above use our own fixtures, and more than two thousand recorded exchanges if they are available.
#[test]
fn there_is_something_to_look_at() {
    assert_eq!(TESTED, Dialect::ALL);
    let least = if recordings().is_some() { 100 } else { 5 };
    let counts: Vec<usize> = Dialect::ALL.iter().map(|dialect| exchanges(*dialect).len()).collect();
    assert!(counts.iter().all(|count| *count > least), "{counts:?}");
}
