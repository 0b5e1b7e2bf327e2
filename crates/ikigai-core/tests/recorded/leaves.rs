//! Nothing is lost in silence: every value of every recorded answer is in what a client of another dialect gets, inside a
//! seal, or named by a loss.
//!
//! Left out are echoes of the request and counts, and what is only the frame of a document: types, roles, numbers of
//! places, ids of its parts, times, padding, and the words for why an answer ended, which are translated; and of a stream
//! what a later event replaces. What is known to be missing is listed in [`KNOWN`].

use crate::support::findings::Findings;
use crate::support::recordings::exchanges;
use crate::support::wire::{OfValues as _, collect, decode, reply};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use ikigai_core::wire::StreamEncoder;
use ikigai_core::{Dialect, Event, Loss, LossCode, Response};
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
    // Gemini: what makes a part a thought, and the places of arguments that come in pieces.
    "thought",
    "willContinue",
    "jsonPath",
    // Padding against guesses from the length of events.
    "p",
    "annotation_index",
];

/// Values that are lost without a word: where, or in which recording.
const KNOWN: &[&str] = &[
    // An answer that is a failure is an error object for the client, which has no room for the rest.
    "vertex-multimodal-tool-return-matrix-direct-url-force-download-audio-go-3a2345b3",
    // The id of a call and of a sound that have ids of another form there.
    "choices.message.tool_calls.id",
    "choices.message.audio.id",
    // The last event repeats the answer with its reasoning encrypted anew; that of the item goes on.
    "response.output.encrypted_content",
    // Events of one stream with different ids; the first goes on.
    "perplexity-prompt-caching-streaming-probe-628d70b3",
    "perplexity-streaming-streaming-smoke-a6b1802b",
];

/// Events of the Responses API that hold what a later one replaces.
const EARLY: &[&str] = &["response.created", "response.in_progress", "response.queued", "response.output_item.added"];

/// Names below which there are counts.
const COUNTS: &[&str] = &["usage", "usageMetadata", "usage_metadata", "x_groq", "timings", "time_info"];

/// What the Responses API repeats of the request.
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

/// One value, and the names that lead to it.
struct Leaf<'a> {
    names: Vec<&'a str>,
    /// The `type` of each object that it stands in.
    types: Vec<&'a str>,
    value: &'a Value,
}

fn leaves<'a>(value: &'a Value, names: &mut Vec<&'a str>, types: &mut Vec<&'a str>, found: &mut Vec<Leaf<'a>>) {
    match value {
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str);
            types.extend(kind);
            for (name, inner) in fields {
                names.push(name);
                leaves(inner, names, types, found);
                names.pop();
            }
            if kind.is_some() {
                types.pop();
            }
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(item, names, types, found)),
        // An absent value says as much.
        Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::String(_) | Value::Bool(_) | Value::Number(_) => {
            found.push(Leaf { names: names.clone(), types: types.clone(), value });
        }
    }
}

/// Everything that a client gets: all texts of a document, what is inside its seals, and JSON inside its texts.
#[derive(Default)]
struct Pool {
    text: String,
    /// The same without blanks.
    packed: String,
}

fn packed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

impl Pool {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, inner) in fields {
                    self.text.push_str(name);
                    self.text.push('\n');
                    self.add(inner);
                    // An `image_generation_call` says the type of its picture without what all pictures have in common.
                    if let Some(format) = inner.as_str().filter(|_| name == "output_format") {
                        self.push(&format!("image/{format}"));
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::String(text) => {
                self.push(text);
                if let Some(inside) = unsealed(text) {
                    self.push(&inside);
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
            // How several models write "no arguments".
            Value::String(text) if text == "null" => true,
            Value::String(text) => {
                self.text.contains(text.as_str())
                    // Pieces of arguments, which are printed anew where the wire wants an object.
                    || self.packed.contains(&packed(text))
                    || serde_json::from_str::<Value>(text).is_ok_and(|inner| {
                        let mut found = Vec::new();
                        leaves(&inner, &mut Vec::new(), &mut Vec::new(), &mut found);
                        (inner.is_object() || inner.is_array()) && found.iter().all(|leaf| self.holds(leaf.value))
                    })
            }
            other => self.text.contains(&format!("{other}\n")),
        }
    }
}

/// What is inside one of our seals.
fn unsealed(text: &str) -> Option<String> {
    let plain = |text: &str| {
        let record = URL_SAFE_NO_PAD.decode(text.strip_prefix("ikg1.")?).ok()?;
        String::from_utf8(record).ok()
    };
    plain(text).or_else(|| plain(&String::from_utf8(STANDARD_NO_PAD.decode(text.trim_end_matches('=')).ok()?).ok()?))
}

/// Names that stand everywhere and therefore name nothing.
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
    losses.iter().any(|loss| {
        let told = format!("{} {} {}", loss.what, loss.place, loss.why);
        let names = leaf.names.iter().chain(&leaf.types).filter(|name| !COMMON.contains(name));
        names.clone().any(|name| told.contains(name))
            || loss.code == LossCode::Media && names.clone().any(|name| media.contains(name))
    })
}

fn is_content(leaf: &Leaf<'_>, from: Dialect) -> bool {
    let last = leaf.names.last().copied().unwrap_or_default();
    let response = if leaf.names.first() == Some(&"response") { 1 } else { 0 };
    let echo = from == Dialect::OpenaiResponses
        && leaf.names.get(response).is_some_and(|name| ECHOES.contains(name))
        && leaf.names.len() > response;
    let of_part = matches!(leaf.names.as_slice(), [.., "item" | "output" | "response", "id"]);
    let reason = leaf.names.ends_with(&["incomplete_details", "reason"]);
    let known = KNOWN.iter().any(|known| leaf.names.join(".").starts_with(known));
    let counts = leaf.names.iter().any(|name| COUNTS.contains(name));
    !(FRAME.contains(&last) || counts || echo || of_part || reason || known)
}

fn check(id: &str, document: &Value, from: Dialect, pool: &Pool, losses: &[Loss], findings: &mut Findings) {
    let kind = document.get("type").and_then(Value::as_str).unwrap_or_default();
    if KNOWN.contains(&id) || EARLY.contains(&kind) || kind.ends_with("partial_image") {
        return;
    }
    let document = without_told_choices(document.clone(), losses);
    let mut found = Vec::new();
    leaves(&document, &mut Vec::new(), &mut Vec::new(), &mut found);
    for leaf in found.iter().filter(|leaf| is_content(leaf, from)) {
        if !pool.holds(leaf.value) && !is_named(leaf, losses) {
            let value: String = leaf.value.to_string().chars().take(60).collect();
            findings.add(id, format!("{} = {value}", leaf.names.join(".")));
        }
    }
}

/// Choices that are not the first are told as a whole, by a loss that names the list.
fn without_told_choices(mut document: Value, losses: &[Loss]) -> Value {
    let told = losses.iter().any(|loss| loss.code == LossCode::ForeignContent && loss.why.contains(" choices"));
    if let Some(choices) = document.get_mut("choices").and_then(Value::as_array_mut).filter(|_| told) {
        choices.retain(|choice| choice["index"] == 0);
    }
    document
}

/// Whole answers.
fn answers(from: Dialect, to: Dialect) {
    let exchanges = exchanges(from);
    let mut findings = Findings::default();
    for exchange in exchanges.iter().filter(|exchange| exchange.response.status < 400) {
        let Some(body) = exchange.response.body() else { continue };
        let Ok(sent) = from.read_response(&body) else { continue };
        findings.case();
        let wire = to.encode_response(&sent, &reply(from));
        let mut pool = Pool::default();
        pool.add(&serde_json::from_slice(&wire.body).unwrap());
        told(&sent, &wire.losses, &mut pool);
        check(&exchange.id, &body, from, &pool, &wire.losses, &mut findings);
    }
    findings.report();
}

/// Streams.
fn streams(from: Dialect, to: Dialect) {
    let exchanges = exchanges(from);
    let mut findings = Findings::default();
    for exchange in &exchanges {
        let Some(sse) = &exchange.response.sse else { continue };
        let events: Vec<Event> = decode(from, sse.as_bytes());
        if events.iter().any(|event| matches!(event, Event::Error { .. })) {
            continue;
        }
        findings.case();
        let mut encoder = StreamEncoder::new(to, reply(from));
        let mut bytes = Vec::new();
        events.iter().for_each(|event| encoder.push(event, &mut bytes));
        let mut pool = Pool::default();
        frames(&String::from_utf8_lossy(&bytes)).iter().for_each(|frame| pool.add(frame));
        whole(&collect(decode(to, &bytes)), &mut pool);
        told(&collect(events.clone()), encoder.losses(), &mut pool);
        for frame in frames(sse) {
            check(&exchange.id, &frame, from, &pool, encoder.losses(), &mut findings);
        }
    }
    findings.report();
}

/// The texts of an answer in one piece, for the pieces of a stream to be found in.
fn whole(response: &Response, pool: &mut Pool) {
    pool.push(&response.text());
    pool.push(&response.refusal().unwrap_or_default());
    pool.push(&response.thinking());
    response.tool_calls().for_each(|call| pool.push(call.arguments.text()));
}

/// A block that a loss names is told with everything in it.
fn told(response: &Response, losses: &[Loss], pool: &mut Pool) {
    for (place, block) in response.content.iter().enumerate() {
        if losses.iter().any(|loss| loss.place.starts_with(&format!("content[{place}]"))) {
            pool.add(&serde_json::to_value(block).unwrap());
            // The input of a server's tool comes in pieces of its JSON.
            pool.push(&serde_json::to_string(block).unwrap());
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
    ($($name:ident: $from:ident to $to:ident;)*) => {$(
        mod $name {
            use ikigai_core::Dialect;

            #[test]
            fn answers() {
                super::answers(Dialect::$from, Dialect::$to);
            }

            #[test]
            fn streams() {
                super::streams(Dialect::$from, Dialect::$to);
            }
        }
    )*};
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
    gemini_to_anthropic: Gemini to Anthropic;
    gemini_to_openai_chat: Gemini to OpenaiChat;
    gemini_to_openai_responses: Gemini to OpenaiResponses;
}
