//! A provider's answer to ours.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{ABSENT, CHOICE, CHOICE_AT, CHOICES, CREATED, FINISH_REASON, Holds, MESSAGE, finish};
use crate::dialect::openai_chat::notes::{DIALECT, Side};
use crate::dialect::openai_chat::wire::{self, Answer, Choice, Message};
use crate::dialect::openai_chat::{assistant, usage};
use crate::dialect::openai_error;
use crate::json::loose::{self, Item, Loose as _};
use crate::json::wire::{Raw, Rest, Text};
use crate::wire::Ids;
use crate::{Error, ErrorKind, Fields, FinishReason, Json, Part, Response, Usage};

/// Reads an answer.
///
/// Only the choice with index 0 is read; others are kept as they are.
pub(crate) fn decode_response(body: &[u8], ids: &mut Ids) -> Result<Response, Error> {
    let text =
        std::str::from_utf8(body).map_err(|fault| Error::protocol(format!("the answer is not UTF-8: {fault}")))?;
    let mut answer = Answer::default();
    let odd = loose::read(text, &mut answer).map_err(|fault| unreadable(text, &fault))?;
    if odd.is_some() {
        return Err(Error::protocol(format!("the answer is not a JSON object; it begins: {}", excerpt(text))));
    }
    if let Some(error) = failure(text, &answer) {
        return Err(error);
    }
    decode(answer, ids)
}

fn unreadable(text: &str, fault: &serde_json::Error) -> Error {
    Error::protocol(format!("the answer cannot be read ({fault}); it begins: {}", excerpt(text)))
}

pub(in crate::dialect::openai_chat) fn excerpt(text: &str) -> String {
    text.chars().take(200).collect()
}

/// The failure that came in place of an answer.
pub(in crate::dialect::openai_chat) fn failure(text: &str, answer: &Answer<'_>) -> Option<Error> {
    let says_so = answer.choices.0.is_none()
        || wire::find(&answer.rest, "error").is_some_and(|error| error.get() != "null")
        || answer.object.as_ref().is_some_and(|object| object.as_str() == "error");
    let body = says_so.then(|| serde_json::from_str(text).ok()).flatten()?;
    openai_error::find(DIALECT, &body)
}

fn decode(mut answer: Answer<'_>, ids: &mut Ids) -> Result<Response, Error> {
    let mut choices = answer.choices.0.take().unwrap_or_default();
    if choices.is_empty() {
        return Err(Error::protocol("the answer has no choices"));
    }
    let is_first = |item: &Item<'_, Choice<'_>>| matches!(item, Item::Fits(choice) if choice.index == Some(0));
    let at = choices.iter().position(is_first).unwrap_or(0);
    let Item::Fits(mut choice) = choices.remove(at) else {
        return Err(Error::protocol("the answer's first choice is not a JSON object"));
    };
    let mut absent = Vec::new();
    let mut message = match choice.message.take() {
        Some(message) => *message,
        None => {
            absent.push("message");
            Message::default()
        }
    };
    take_expected(&mut message.role, &message.rest, "role", "assistant", &mut absent);
    let (content, mut notes) = assistant::decode(message, Side::Response, ids);
    let message_fields = std::mem::take(&mut notes.extra);
    let mut response = Response { content, ..Response::default() };

    let word = choice.finish_reason.take();
    let word = word.as_ref().map(Text::as_str);
    response.finish_reason = finish(word, Holds::of(&response.content));
    if response.finish_reason == FinishReason::Error {
        response.error = Some(Box::new(choice_error(&choice, word)));
    }
    match choice.index {
        Some(0) => choice.index = None,
        Some(_) => {}
        None if wire::find(&choice.rest, "index").is_some() => {}
        None => absent.push("index"),
    }
    let gone = |name: &str, answer: &Answer<'_>| wire::find(&answer.rest, name).is_none();
    response.id = answer.id.take().map(Cow::into_owned);
    if response.id.is_none() && gone("id", &answer) {
        absent.push("id");
    }
    match answer.model.take() {
        Some(model) => response.model = model.into_string(),
        None if gone("model", &answer) => absent.push("model"),
        None => {}
    }
    take_expected(&mut answer.object, &answer.rest, "object", "chat.completion", &mut absent);
    if answer.created.is_none() && gone("created", &answer) {
        absent.push("created");
    }
    response.usage = match answer.usage.take() {
        Some(raw) if raw.text().starts_with('{') => Some(usage::decode(&raw.0)),
        odd => {
            answer.usage = odd;
            usage_elsewhere(&answer, &choice).map(|raw| usage::decode_elsewhere(&raw.0))
        }
    };
    response.warnings.extend(response.usage.as_ref().and_then(Usage::inconsistency));

    if let Some(created) = answer.created.take() {
        notes.shape.set(CREATED, created.to_json());
    }
    answer.leftovers().into_iter().for_each(|(name, value)| notes.extra.push(name, value));
    let around = [(CHOICE, choice.leftovers()), (MESSAGE, message_fields)];
    for (prefix, fields) in around {
        fields.into_iter().for_each(|(name, value)| notes.extra.push(format!("{prefix}{name}"), value));
    }
    if !choices.is_empty() {
        notes.extra.set(CHOICES, Json::of(&choices).unwrap_or_default());
        if at > 0 {
            notes.shape.set(CHOICE_AT, Json::of(&at).unwrap_or_default());
        }
    }
    if !absent.is_empty() {
        notes.shape.set(ABSENT, Json::of(&absent).unwrap_or_default());
    }
    response.provider_data = notes.into_bound_data(Side::Response);
    if let Some(word) = word {
        response.provider_data.set_part(DIALECT, Part::Shape, FINISH_REASON, word);
    }
    Ok(response)
}

/// Takes a field that always says the same; notes it if it is not there.
fn take_expected<'n>(
    field: &mut Option<Text<'_>>,
    rest: &Rest<'_>,
    name: &'n str,
    word: &str,
    absent: &mut Vec<&'n str>,
) {
    match field {
        Some(text) if text.as_str() == word => *field = None,
        Some(_) => {}
        None if wire::find(rest, name).is_some() => {}
        None => absent.push(name),
    }
}

/// Counts that some give in other places.
pub(in crate::dialect::openai_chat) fn usage_elsewhere<'a>(
    answer: &Answer<'a>,
    choice: &Choice<'a>,
) -> Option<Raw<'a>> {
    let inside = |raw: &RawValue| {
        let fields: Fields = serde_json::from_str(raw.get()).ok()?;
        fields.get("usage").map(|usage| Raw(Cow::Owned(usage.raw().to_owned())))
    };
    let beside = |raw: &RawValue| Raw(Cow::Owned(raw.to_owned()));
    wire::find(&answer.rest, "x_groq")
        .and_then(inside)
        .or_else(|| wire::find(&choice.rest, "usage").map(beside))
        .filter(|usage| usage.text().starts_with('{'))
}

/// What broke an answer that ended with an error: the choice may say it.
fn choice_error(choice: &Choice<'_>, word: Option<&str>) -> Error {
    let said = wire::find(&choice.rest, "error").and_then(|error| serde_json::from_str(error.get()).ok());
    let said = said.map(|error: serde_json::Value| serde_json::json!({"error": error}));
    said.and_then(|said| openai_error::find(DIALECT, &said)).unwrap_or_else(|| broken(word))
}

/// An answer that ended with a word for failure and nothing else.
pub(in crate::dialect::openai_chat) fn broken(word: Option<&str>) -> Error {
    let word = word.unwrap_or_default();
    let kind = if word == "insufficient_system_resource" { ErrorKind::Overloaded } else { ErrorKind::Server };
    let mut error = Error::new(kind, format!("the provider ended the answer with `{word}`"));
    error.code = Some(word.to_owned());
    error
}
