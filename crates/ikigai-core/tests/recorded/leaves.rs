//! Nothing is lost silently: every value of every recorded answer is in what a client of another dialect gets, inside a
//! seal, or named by a loss.
//!
//! Excluded are echoes of the request, counts, and everything that is only the frame of a document: types, roles,
//! positions, ids of its parts, times, padding, and the reason why an answer ended, which is translated; in a stream,
//! also what a later event replaces, and what the last event repeats in other words.

use crate::support::findings::Findings;
use crate::support::recordings::exchanges;
use crate::support::seals::unsealed;
use crate::support::wire::{OfValues as _, collect, decode, reply};
use ikigai_core::wire::StreamEncoder;
use ikigai_core::{Block, Dialect, Event, Loss, LossCode, Response, Severity};
use serde_json::Value;

/// Names whose values are the frame of a document, not its content.
const FRAME: &[&str] = &[
    "type",
    "object",
    "role",
    "index",
    "created",
    "created_at",
    "completed_at",
    "ts_us",
    "status",
    "finish_reason",
    "finishReason",
    "stop_reason",
    "native_finish_reason",
    "sequence_number",
    "output_index",
    "content_index",
    "summary_index",
    "item_id",
    "obfuscation",
    // Gemini: the flag that makes a part a thought, and the places of arguments that arrive in pieces.
    "thought",
    "willContinue",
    "jsonPath",
    // Padding, so that the length of events reveals nothing.
    "p",
    "annotation_index",
    // Positions of citations in the text, which other dialects count in other units or express by where blocks end.
    "start_index",
    "end_index",
    "startIndex",
    "endIndex",
    "groundingChunkIndices",
];

/// Events of the Responses API whose content a later one replaces.
const EARLY: &[&str] = &["response.created", "response.in_progress", "response.queued", "response.output_item.added"];

/// Names under which there are counts.
const COUNTS: &[&str] = &["usage", "usageMetadata", "usage_metadata", "x_groq", "timings", "time_info"];

/// Fields of the request that the Responses API repeats.
const ECHOES: &[&str] = &[
    "background",
    "conversation",
    "frequency_penalty",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "moderation",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "tool_usage",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Lists of alternatives. The first one is the answer; a loss that reports the others names the list.
const ALTERNATIVES: &[&str] = &["candidates", "choices"];

/// One value, and the names that lead to it.
struct Leaf<'a> {
    names: Vec<&'a str>,
    /// The `type` of each object that contains it.
    types: Vec<&'a str>,
    /// The list of alternatives that contains it, unless it is in the first one, which is the answer.
    beside: Option<&'a str>,
    value: &'a Value,
}

/// Returns the leaves of a document.
fn leaves(document: &Value) -> Vec<Leaf<'_>> {
    let mut walk = Walk::default();
    walk.visit(document);
    walk.found
}

/// The path to a value, and the leaves found on it.
#[derive(Default)]
struct Walk<'a> {
    names: Vec<&'a str>,
    types: Vec<&'a str>,
    beside: Option<&'a str>,
    found: Vec<Leaf<'a>>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, value: &'a Value) {
        match value {
            Value::Object(fields) => {
                let kind = fields.get("type").and_then(Value::as_str);
                self.types.extend(kind);
                for (name, inner) in fields {
                    self.names.push(name);
                    self.visit(inner);
                    self.names.pop();
                }
                if kind.is_some() {
                    self.types.pop();
                }
            }
            Value::Array(items) => {
                let list = self.names.last().copied().filter(|name| ALTERNATIVES.contains(name));
                for (place, item) in items.iter().enumerate() {
                    let number = item["index"].as_u64().unwrap_or(place as u64);
                    let before = self.beside;
                    self.beside = before.or(list.filter(|_| number > 0));
                    self.visit(item);
                    self.beside = before;
                }
            }
            // An absent value means the same.
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::String(_) | Value::Bool(_) | Value::Number(_) => {
                let (names, types) = (self.names.clone(), self.types.clone());
                self.found.push(Leaf { names, types, beside: self.beside, value });
            }
        }
    }
}

/// Everything that a client gets: all texts of a document, the contents of its seals, and JSON inside its texts.
#[derive(Default)]
struct Pool {
    text: String,
    /// The same text without blanks.
    packed: String,
}

fn packed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

impl Pool {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                // This one gives the type of its picture without the part that all pictures share.
                if fields.get("type").is_some_and(|kind| kind == "image_generation_call")
                    && let Some(format) = fields.get("output_format").and_then(Value::as_str)
                {
                    self.push(&format!("image/{format}"));
                }
                for (name, inner) in fields {
                    self.text.push_str(name);
                    self.text.push('\n');
                    self.add(inner);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::String(text) => {
                self.push(text);
                if let Some(record) = unsealed(text) {
                    self.push(&record.to_string());
                    self.add(&record);
                }
                if text.trim_start().starts_with(['{', '['])
                    && let Ok(inner) = serde_json::from_str::<Value>(text)
                {
                    self.add(&inner);
                }
            }
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) => self.push(&value.to_string()),
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
        self.packed.push_str(&packed(text));
    }

    fn holds(&self, value: &Value) -> bool {
        match value {
            // Several models write this for "no arguments".
            Value::String(text) if text == "null" => true,
            Value::String(text) => {
                self.text.contains(text.as_str())
                    // Pieces of arguments, which are printed again if the wire wants an object.
                    || self.packed.contains(&packed(text))
                    || serde_json::from_str::<Value>(text).is_ok_and(|inner| {
                        (inner.is_object() || inner.is_array())
                            && leaves(&inner).iter().all(|leaf| self.holds(leaf.value))
                    })
            }
            other => self.text.contains(&format!("{other}\n")),
        }
    }
}

/// Names that are everywhere and therefore identify nothing.
const COMMON: &[&str] = &[
    "candidates",
    "choices",
    "content",
    "data",
    "delta",
    "id",
    "input",
    "item",
    "message",
    "name",
    "output",
    "part",
    "parts",
    "response",
    "text",
];

fn is_named(leaf: &Leaf<'_>, losses: &[Loss]) -> bool {
    let media =
        ["inlineData", "inline_data", "images", "image_url", "audio", "fileData", "result", "image_generation_call"];
    let notes = |loss: &&Loss| loss.severity == Severity::Info && loss.what == "citations";
    losses.iter().filter(|loss| !notes(loss)).any(|loss| {
        let told = format!("{} {} {}", loss.what, loss.place, loss.why);
        let names = leaf.names.iter().chain(&leaf.types).filter(|name| !COMMON.contains(name));
        names.clone().chain(&leaf.beside).any(|name| told.contains(name))
            // An id or a model that differs from the one with which the answer began.
            || matches!(leaf.names.as_slice(), [name] if loss.place.starts_with("provider_data.") && says(&loss.why, name))
            || loss.code == LossCode::Media && names.clone().any(|name| media.contains(name))
    })
}

/// Returns whether a text contains this word.
fn says(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|other| other == word)
}

fn is_content(leaf: &Leaf<'_>, from: Dialect) -> bool {
    let last = leaf.names.last().copied().unwrap_or_default();
    let response = if leaf.names.first() == Some(&"response") { 1 } else { 0 };
    let echo = from == Dialect::OpenaiResponses
        && leaf.names.get(response).is_some_and(|name| ECHOES.contains(name))
        && leaf.names.len() > response;
    let of_part = matches!(leaf.names.as_slice(), [.., "item" | "output" | "response", "id"]);
    let reason = leaf.names.ends_with(&["incomplete_details", "reason"]);
    let counts = leaf.names.iter().any(|name| COUNTS.contains(name));
    !(FRAME.contains(&last) || counts || echo || of_part || reason)
}

fn check(id: &str, document: &Value, from: Dialect, pool: &Pool, losses: &[Loss], findings: &mut Findings) {
    let kind = document.get("type").and_then(Value::as_str).unwrap_or_default();
    if EARLY.contains(&kind) || kind.ends_with("partial_image") {
        return;
    }
    for leaf in leaves(document).iter().filter(|leaf| is_content(leaf, from)) {
        if !pool.holds(leaf.value) && !is_named(leaf, losses) {
            let value: String = leaf.value.to_string().chars().take(60).collect();
            findings.add(id, format!("{} = {value}", leaf.names.join(".")));
        }
    }
}

/// Checks complete answers.
fn answers(from: Dialect, to: Dialect) {
    let exchanges = exchanges(from);
    let mut findings = Findings::default();
    for exchange in exchanges.iter().filter(|exchange| exchange.response.status < 400) {
        let Some(body) = exchange.response.body() else { continue };
        let Ok(sent) = from.read_response(&body) else { continue };
        findings.case();
        let wire = to.encode_response(&sent, &reply(from));
        let mut pool = Pool::default();
        let written = serde_json::from_slice(&wire.body).unwrap();
        pool.add(&written);
        // A text is split into several blocks if citations apply to whole blocks.
        whole(&to.read_response(&written).unwrap_or_default(), &mut pool);
        told(&sent, &wire.losses, &mut pool);
        check(&exchange.id, &body, from, &pool, &wire.losses, &mut findings);
    }
    findings.report();
}

/// Checks streams.
fn streams(from: Dialect, to: Dialect) {
    let exchanges = exchanges(from);
    let mut findings = Findings::default();
    for exchange in &exchanges {
        let Some(sse) = &exchange.response.sse else { continue };
        let events: Vec<Event> = decode(from, sse.as_bytes());
        findings.case();
        let mut encoder = StreamEncoder::new(to, reply(from));
        let mut bytes = Vec::new();
        events.iter().for_each(|event| encoder.push(event, &mut bytes));
        let mut pool = Pool::default();
        frames(&String::from_utf8_lossy(&bytes)).iter().for_each(|frame| pool.add(frame));
        whole(&collect(decode(to, &bytes)), &mut pool);
        told(&collect(events.clone()), encoder.losses(), &mut pool);
        told_events(&events, encoder.losses(), &mut pool);
        let mut frames = frames(sse);
        drop_what_is_said_anew(&mut frames);
        for frame in frames {
            check(&exchange.id, &frame, from, &pool, encoder.losses(), &mut findings);
        }
    }
    findings.report();
}

/// The terminal event of the Responses API repeats the completed items, with some texts changed: encrypted ones are
/// encrypted again, under the same key. The test looks for the texts of the completed items, not for the repeated ones.
fn drop_what_is_said_anew(frames: &mut [Value]) {
    let done = frames.iter().filter(|frame| frame["type"] == "response.output_item.done");
    let done: Vec<Value> = done.map(|frame| frame["item"].clone()).collect();
    for frame in frames {
        let output = frame.pointer_mut("/response/output").and_then(Value::as_array_mut);
        for (place, item) in output.into_iter().flatten().enumerate() {
            // Some relays change the ids.
            let same_place = done.get(place).filter(|first| first["type"] == item["type"]);
            let Some(first) = done.iter().find(|first| first["id"] == item["id"]).or(same_place) else { continue };
            let fields = item.as_object_mut().into_iter().flatten();
            for (_, text) in fields
                .filter(|(name, text)| text.is_string() && first[*name].as_str().is_some_and(|first| !first.is_empty()))
            {
                *text = Value::Null;
            }
        }
    }
}

/// Adds the texts of an answer in one piece, so that the pieces of a stream can be found in them.
fn whole(response: &Response, pool: &mut Pool) {
    pool.push(&response.text());
    pool.push(&response.refusal().unwrap_or_default());
    pool.push(&response.thinking());
    response.tool_calls().for_each(|call| pool.push(call.arguments.text()));
    // The input of a server's tool arrives in pieces of its JSON.
    let own = response.content.iter().filter(|block| matches!(block, Block::Other(_)) || block.is_provider_run());
    own.for_each(|block| pool.push(&serde_json::to_string(block).unwrap()));
}

/// A block that a loss names counts as reported with all its content, and so do the answer's id and model.
fn told(response: &Response, losses: &[Loss], pool: &mut Pool) {
    let named = [("id", response.id.as_deref().unwrap_or_default()), ("model", &response.model)];
    for (_, text) in named.iter().filter(|(name, _)| losses.iter().any(|loss| loss.place == *name)) {
        pool.push(text);
    }
    for (place, block) in response.content.iter().enumerate() {
        // A mere note is not enough for what a provider's tool did, nor for citations.
        let is_cited = matches!(block, Block::Text(text) if !text.citations.is_empty());
        let counts = |loss: &&Loss| loss.severity == Severity::Loss || !(block.is_provider_run() || is_cited);
        if losses.iter().filter(counts).any(|loss| loss.place.starts_with(&format!("content[{place}]"))) {
            pool.add(&serde_json::to_value(block).unwrap());
            // The input of a server's tool arrives in pieces of its JSON.
            pool.push(&serde_json::to_string(block).unwrap());
        }
        // Those pieces contain no more than their values, wherever these went.
        if let Block::ProviderCall(call) = block
            && let Ok(arguments) = serde_json::from_str(call.arguments.text())
            && leaves(&arguments).iter().all(|leaf| pool.holds(leaf.value))
        {
            pool.push(call.arguments.text());
        }
    }
}

/// An event that a loss names counts as reported with all its content.
fn told_events(events: &[Event], losses: &[Loss], pool: &mut Pool) {
    for event in events {
        if let Event::Other { data, .. } = event
            && let names = data.value().as_object().into_iter().flat_map(serde_json::Map::keys)
            && losses.iter().any(|loss| loss.what == "event" && names.clone().all(|name| says(&loss.why, name)))
        {
            pool.add(data.value());
        }
    }
}

fn frames(sse: &str) -> Vec<Value> {
    sse.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter_map(|data| serde_json::from_str(data.trim()).ok())
        .collect()
}

macro_rules! pairs {
    ($($name:ident: $from:ident to $to:ident;)*) => {
        const TESTED: &[(Dialect, Dialect)] = &[$((Dialect::$from, Dialect::$to)),*];

        $(mod $name {
            use ikigai_core::Dialect;

            #[test]
            fn answers() {
                super::answers(Dialect::$from, Dialect::$to);
            }

            #[test]
            fn streams() {
                super::streams(Dialect::$from, Dialect::$to);
            }
        })*
    };
}

pairs! {
    anthropic_to_openai_chat: Anthropic to OpenaiChat;
    anthropic_to_openai_responses: Anthropic to OpenaiResponses;
    anthropic_to_gemini: Anthropic to Gemini;
    openai_chat_to_anthropic: OpenaiChat to Anthropic;
    openai_chat_to_openai_responses: OpenaiChat to OpenaiResponses;
    openai_chat_to_gemini: OpenaiChat to Gemini;
    openai_responses_to_anthropic: OpenaiResponses to Anthropic;
    openai_responses_to_openai_chat: OpenaiResponses to OpenaiChat;
    openai_responses_to_gemini: OpenaiResponses to Gemini;
    anthropic_to_itself: Anthropic to Anthropic;
    openai_chat_to_itself: OpenaiChat to OpenaiChat;
    openai_responses_to_itself: OpenaiResponses to OpenaiResponses;
    gemini_to_itself: Gemini to Gemini;
    gemini_to_anthropic: Gemini to Anthropic;
    gemini_to_openai_chat: Gemini to OpenaiChat;
    gemini_to_openai_responses: Gemini to OpenaiResponses;
}

#[test]
fn every_pair_is_tested() {
    let mut tested = TESTED.to_vec();
    tested.sort_unstable();
    let pairs = Dialect::ALL.into_iter().flat_map(|from| Dialect::ALL.map(|to| (from, to)));
    assert_eq!(tested, pairs.collect::<Vec<_>>());
}
