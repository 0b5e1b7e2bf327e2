//! Answers, whole.

use serde_json::{Map, Value, json};

use super::assistant;
use super::marks::{DIALECT, EXTRA, EXTRA_CONTENT, RESPONSE, Side, put_back, take_list, take_object, take_text};
use super::usage;
use crate::dialect::{Reply, openai_error};
use crate::{Block, Error, ErrorKind, FinishReason, Ids, Response};

/// The provider's own word for the end.
pub(super) const FINISH_REASON: &str = "finish_reason";
/// Leftovers of the answer, by the object that they stood in; those of the body itself are [`EXTRA`].
pub(super) const CHOICE: &str = "choice";
pub(super) const MESSAGE: &str = "message";
/// The other choices, and the place of ours among them where it is not the first.
const CHOICES: &str = "choices";
const CHOICE_AT: &str = "choice_at";
/// Fields that everybody has, but not this answer.
const ABSENT: &str = "absent";

/// Reads an answer.
///
/// Only the choice with index 0 is read; others are kept as they are.
pub(crate) fn decode_response(body: Value, ids: &mut Ids) -> Result<Response, Error> {
    if let Some(error) = openai_error::find(DIALECT, &body) {
        return Err(error);
    }
    let Value::Object(mut body) = body else {
        return Err(Error::protocol("the answer is no JSON object"));
    };
    let mut choices = match take_list(&mut body, "choices") {
        Some(choices) if !choices.is_empty() => choices,
        _ => return Err(Error::protocol("the answer has no choices")),
    };
    let at = choices.iter().position(|choice| choice.get("index").is_some_and(|index| index == 0)).unwrap_or(0);
    let Value::Object(mut choice) = choices.remove(at) else {
        return Err(Error::protocol("the answer's first choice is no JSON object"));
    };
    let mut kept = Map::new();
    let mut absent = Vec::new();

    let mut message = take_object(&mut choice, "message").unwrap_or_else(|| {
        absent.push("message");
        Map::new()
    });
    take_expected(&mut message, "role", "assistant", &mut absent);
    let said = assistant::decode(message, Side::Response, ids);
    let mut response = Response { content: said.content, ..Response::default() };
    if let Some(state) = said.extra_content {
        response.provider_data.set(DIALECT, EXTRA_CONTENT, state);
    }
    if !said.kept.is_empty() {
        kept.insert(MESSAGE.to_owned(), Value::Object(said.kept));
    }

    let word = match choice.get("finish_reason") {
        Some(Value::String(_)) => take_text(&mut choice, "finish_reason"),
        _ => None,
    };
    response.finish_reason = finish(word.as_deref(), Holds::of(&response.content));
    if response.finish_reason == FinishReason::Error {
        response.error = Some(Box::new(choice_error(&choice, word.as_deref())));
    }
    if let Some(word) = word {
        response.provider_data.set(DIALECT, FINISH_REASON, word);
    }
    match choice.get("index") {
        Some(index) if index == 0 => {
            choice.shift_remove("index");
        }
        Some(_) => {}
        None => absent.push("index"),
    }

    response.id = take_text(&mut body, "id").filter(|id| {
        if id.is_empty() {
            body.insert("id".to_owned(), "".into());
        }
        !id.is_empty()
    });
    if response.id.is_none() && !body.contains_key("id") {
        absent.push("id");
    }
    match take_text(&mut body, "model") {
        Some(model) => response.model = model,
        None if !body.contains_key("model") => absent.push("model"),
        None => {}
    }
    take_expected(&mut body, "object", "chat.completion", &mut absent);
    if !body.contains_key("created") {
        absent.push("created");
    }
    response.usage = match take_object(&mut body, "usage") {
        Some(raw) => Some(usage::decode(Value::Object(raw))),
        None => usage_elsewhere(&body, &choice).map(usage::decode_elsewhere),
    };

    if !body.is_empty() {
        kept.insert(EXTRA.to_owned(), Value::Object(body));
    }
    if !choice.is_empty() {
        kept.insert(CHOICE.to_owned(), Value::Object(choice));
    }
    if !choices.is_empty() {
        kept.insert(CHOICES.to_owned(), Value::Array(choices));
        if at > 0 {
            kept.insert(CHOICE_AT.to_owned(), at.into());
        }
    }
    if !absent.is_empty() {
        kept.insert(ABSENT.to_owned(), absent.into());
    }
    response.provider_data.set(DIALECT, RESPONSE, kept);
    Ok(response)
}

/// Takes a field that always says the same; says so when it is not there.
fn take_expected<'a>(fields: &mut Map<String, Value>, key: &'a str, word: &str, absent: &mut Vec<&'a str>) {
    match fields.get(key) {
        Some(value) if value == word => {
            fields.shift_remove(key);
        }
        Some(_) => {}
        None => absent.push(key),
    }
}

/// Counts that some give in other places.
pub(super) fn usage_elsewhere<'a>(body: &'a Map<String, Value>, choice: &'a Map<String, Value>) -> Option<&'a Value> {
    body.get("x_groq")
        .and_then(|own| own.get("usage"))
        .or_else(|| choice.get("usage"))
        .filter(|usage| usage.is_object())
}

/// What broke an answer that ended with an error: the choice may say it.
fn choice_error(choice: &Map<String, Value>, word: Option<&str>) -> Error {
    let said = choice.get("error").map(|error| json!({"error": error}));
    said.and_then(|said| openai_error::find(DIALECT, &said)).unwrap_or_else(|| broken(word))
}

/// An answer that ended with a word for failure and nothing else.
pub(super) fn broken(word: Option<&str>) -> Error {
    let word = word.unwrap_or_default();
    let kind = if word == "insufficient_system_resource" { ErrorKind::Overloaded } else { ErrorKind::Server };
    let mut error = Error::new(kind, format!("the provider ended the answer with `{word}`"));
    error.code = Some(word.to_owned());
    error
}

/// What an answer holds, as far as its end depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Holds {
    pub(super) calls: bool,
    /// A call whose arguments are cut off.
    pub(super) broken_call: bool,
    pub(super) refusal: bool,
}

impl Holds {
    fn of(content: &[Block]) -> Self {
        let mut holds = Holds::default();
        for block in content {
            match block {
                Block::ToolCall(call) => {
                    holds.calls = true;
                    holds.broken_call |= !call.is_complete();
                }
                Block::Text(text) => holds.refusal |= text.is_refusal(),
                Block::Image(_)
                | Block::Document(_)
                | Block::Audio(_)
                | Block::ToolResult(_)
                | Block::Thinking(_)
                | Block::Other(_) => {}
            }
        }
        holds
    }
}

/// Why the answer ended, by the provider's word and by what it holds.
///
/// Several servers say `stop` beside tool calls, or nothing: calls that are whole are there to be run.
pub(super) fn finish(word: Option<&str>, holds: Holds) -> FinishReason {
    match word.unwrap_or_default() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "tool_calls" | "tool_use" | "function_call" => {
            if holds.calls {
                FinishReason::ToolUse
            } else if holds.refusal {
                FinishReason::ContentFilter
            } else {
                FinishReason::Stop
            }
        }
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "refusal" | "safety" => FinishReason::ContentFilter,
        "error" | "insufficient_system_resource" => FinishReason::Error,
        "" if holds.calls && !holds.broken_call => FinishReason::ToolUse,
        _ => FinishReason::Unknown,
    }
}

/// Writes an answer for a client.
///
/// An answer that came in this dialect is written as it came. State of other dialects is sealed into
/// `reasoning_details`; their own blocks (a hosted tool's call and result) have no place here and are left out.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> Value {
    let own = response.provider_data.value(DIALECT, RESPONSE).and_then(Value::as_object);
    let part = |key: &str| own.and_then(|own| own.get(key)).and_then(Value::as_object);
    let absent: Vec<&str> = own
        .and_then(|own| own.get(ABSENT)?.as_array())
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let is_absent = |key: &str| absent.contains(&key);
    let body_extra = part(EXTRA);
    let has_extra = |key: &str| body_extra.is_some_and(|extra| extra.contains_key(key));

    let mut body = Map::new();
    match &response.id {
        Some(id) => {
            body.insert("id".to_owned(), id.as_str().into());
        }
        None if !is_absent("id") && !has_extra("id") => {
            let id = format!("chatcmpl-{}", reply.ids.clone().next_id());
            body.insert("id".to_owned(), id.into());
        }
        None => {}
    }
    if !is_absent("object") && !has_extra("object") {
        body.insert("object".to_owned(), "chat.completion".into());
    }
    if !is_absent("created") && !has_extra("created") {
        body.insert("created".to_owned(), reply.created.into());
    }
    let named = if response.model.is_empty() { reply.model.as_deref().unwrap_or_default() } else { &response.model };
    if !is_absent("model") && !has_extra("model") {
        body.insert("model".to_owned(), named.into());
    }

    let choice = encode_choice(response, reply, part(CHOICE), part(MESSAGE), &is_absent);
    let mut choices = own.and_then(|own| own.get(CHOICES)?.as_array()).cloned().unwrap_or_default();
    let at = own.and_then(|own| own.get(CHOICE_AT)?.as_u64()).and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
    choices.insert(at.min(choices.len()), Value::Object(choice));
    body.insert("choices".to_owned(), Value::Array(choices));

    if let Some(usage) = response.usage.as_ref().and_then(usage::encode) {
        body.insert("usage".to_owned(), usage);
    }
    // A failure that this dialect did not bring along itself.
    if let Some(error) = response.error.as_deref().filter(|_| own.is_none()) {
        body.insert("error".to_owned(), openai_error::object(error));
    }
    put_back(&mut body, body_extra);
    Value::Object(body)
}

fn encode_choice(
    response: &Response,
    reply: &Reply,
    kept: Option<&Map<String, Value>>,
    kept_message: Option<&Map<String, Value>>,
    is_absent: &dyn Fn(&str) -> bool,
) -> Map<String, Value> {
    let is_own = response.provider_data.value(DIALECT, RESPONSE).is_some();
    let mut message = Map::new();
    let other_role = kept_message.and_then(|kept| kept.get(EXTRA)?.get("role"));
    if !is_absent("role") && other_role.is_none() {
        message.insert("role".to_owned(), "assistant".into());
    }
    message.extend(assistant::encode(&response.content, kept_message, Side::Response, "reasoning_content"));
    if !is_own && !message.contains_key("refusal") {
        // Clients read it without asking whether it is there.
        message.insert("refusal".to_owned(), Value::Null);
    }
    if let Some(state) = response.provider_data.value(DIALECT, EXTRA_CONTENT) {
        message.insert("extra_content".to_owned(), state.clone());
    }
    put_sealed(&mut message, response, reply);

    let mut choice = Map::new();
    if !is_absent("index") && !kept.is_some_and(|kept| kept.contains_key("index")) {
        choice.insert("index".to_owned(), 0.into());
    }
    if !is_absent("message") {
        choice.insert("message".to_owned(), Value::Object(message));
    }
    match finish_word(response) {
        Some(word) => {
            choice.insert("finish_reason".to_owned(), word.into());
        }
        // An answer of this dialect that gave no reason; the leftovers may hold a null.
        None if is_own => {}
        None => {
            choice.insert("finish_reason".to_owned(), "stop".into());
        }
    }
    put_back(&mut choice, kept);
    choice
}

fn put_sealed(message: &mut Map<String, Value>, response: &Response, reply: &Reply) {
    let named = if response.model.is_empty() { reply.model.as_deref().unwrap_or_default() } else { &response.model };
    let items =
        response.content.iter().enumerate().filter_map(|(index, block)| assistant::seal(index, block, reply, named));
    let items: Vec<Value> = items.collect();
    if items.is_empty() {
        return;
    }
    match message.get_mut("reasoning_details") {
        Some(Value::Array(details)) => details.extend(items),
        _ => {
            message.insert("reasoning_details".to_owned(), Value::Array(items));
        }
    }
}

/// The word for the end: the provider's own while it still means the same, else ours. None where nothing was said.
fn finish_word(response: &Response) -> Option<&str> {
    let own = response.provider_data.str(DIALECT, FINISH_REASON);
    let holds = Holds::of(&response.content);
    if let Some(word) = own.filter(|word| finish(Some(word), holds) == response.finish_reason) {
        return Some(word);
    }
    let said_nothing = own.is_none() && finish(None, holds) == response.finish_reason;
    if said_nothing && response.provider_data.value(DIALECT, RESPONSE).is_some() {
        return None;
    }
    word_of(response.finish_reason)
}

/// This dialect's word for each reason; none for a reason that nobody knows.
pub(super) fn word_of(reason: FinishReason) -> Option<&'static str> {
    match reason {
        FinishReason::Stop => Some("stop"),
        FinishReason::Length => Some("length"),
        FinishReason::ToolUse => Some("tool_calls"),
        FinishReason::ContentFilter => Some("content_filter"),
        FinishReason::Error => Some("error"),
        FinishReason::Unknown => None,
    }
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
