//! Converts a provider's answer to a canonical one.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{ABSENT, CHOICE, CHOICE_AT, CHOICES, CREATED, ERROR, FINISH_REASON, Holds, MESSAGE, finish};
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::notes::{Notes, Side};
use crate::dialect::openai_chat::wire::{self, Answer, Choice, Message};
use crate::dialect::openai_chat::{assistant, usage};
use crate::dialect::openai_error;
use crate::json::loose::{self, Item, Loose as _};
use crate::json::wire::{Raw, Text};
use crate::wire::Ids;
use crate::{Error, ErrorKind, Fields, FinishReason, Json, Part, ProviderData, Response, Usage};

/// Decodes an answer.
///
/// Only the choice with index 0 is read, or the first if there is none; the others are kept as received.
pub(crate) fn decode_response(body: &[u8], ids: &mut Ids) -> Result<Response, Error> {
    let text =
        std::str::from_utf8(body).map_err(|fault| Error::protocol(format!("the answer is not UTF-8: {fault}")))?;
    let mut answer = Answer::default();
    let odd = loose::read(text, &mut answer).map_err(|fault| unreadable(text, &fault))?;
    if odd.is_some() {
        if let Some(error) = listed_failure(text) {
            return Err(error);
        }
        return Err(Error::protocol(format!("the answer is not a JSON object; it begins: {}", excerpt(text))));
    }
    if let Some(error) = failure(text, &answer) {
        return Err(error);
    }
    decode(answer, text, ids)
}

fn unreadable(text: &str, fault: &serde_json::Error) -> Error {
    Error::protocol(format!("the answer cannot be read ({fault}); it begins: {}", excerpt(text)))
}

pub(in crate::dialect::openai_chat) fn excerpt(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Returns the failure received in place of an answer.
pub(in crate::dialect::openai_chat) fn failure(text: &str, answer: &Answer<'_>) -> Option<Error> {
    let has_choices = !answer.choices.is_empty() || wire::is_empty_list(&answer.rest, "choices");
    let says_so = !has_choices
        || wire::find(&answer.rest, "error").is_some_and(|error| error.get() != "null")
        || answer.object.as_ref().is_some_and(|object| object.as_str() == "error");
    let body = says_so.then(|| serde_json::from_str(text).ok()).flatten()?;
    openai_error::find(DIALECT, &body)
}

/// The longest failure, in bytes. A longer list is not read: as values it takes many times its length.
const LONGEST_FAILURE: usize = 64 << 10;

/// Returns the failure in a list, as Google's compatible endpoint sends it.
pub(in crate::dialect::openai_chat) fn listed_failure(text: &str) -> Option<Error> {
    let list = (text.len() <= LONGEST_FAILURE).then_some(text)?;
    openai_error::find(DIALECT, &serde_json::from_str(list).ok()?)
}

fn decode(mut answer: Answer<'_>, text: &str, ids: &mut Ids) -> Result<Response, Error> {
    let mut choices = std::mem::take(&mut answer.choices);
    if choices.is_empty() {
        return Err(Error::protocol(format!("the answer has no choices; it begins: {}", excerpt(text))));
    }
    let is_first = |item: &Item<'_, Choice<'_>>| matches!(item, Item::Fits(choice) if choice.index == Some(0));
    let at = choices.iter().position(is_first).unwrap_or(0);
    let Item::Fits(mut choice) = choices.remove(at) else {
        return Err(Error::protocol("the answer's first choice is not a JSON object"));
    };
    let absent = absent(&answer, &choice);
    let mut message = choice.message.take().map(|message| *message).unwrap_or_default();
    choice.index.take_if(|index| *index == 0);
    message.role.take_if(|role| role.as_str() == "assistant");
    answer.object.take_if(|object| object.as_str() == "chat.completion");
    let (content, mut notes) = assistant::decode(message, Side::Response, ids);
    let message = std::mem::take(&mut notes.extra);
    let mut response = Response { content, ..Response::default() };
    response.id = answer.id.take().map(Cow::into_owned);
    response.model = answer.model.take().map(Text::into_string).unwrap_or_default();
    let word = choice.finish_reason.take();
    let word = word.as_ref().map(Text::as_str);
    response.finish_reason = finish(word, Holds::of(&response.content));
    let told = wire::find(&choice.rest, ERROR).and_then(failure_of);
    if told.is_some() || response.finish_reason == FinishReason::Error {
        response.finish_reason = FinishReason::Error;
        response.error = Some(Box::new(told.unwrap_or_else(|| broken(word))));
    }
    response.usage = match answer.usage.take() {
        Some(raw) if raw.text().starts_with('{') => Some(usage::decode(&raw.0)),
        odd => {
            answer.usage = odd;
            usage_elsewhere(&answer, &choice).map(|raw| usage::decode_elsewhere(&raw.0))
        }
    };
    response.warnings.extend(response.usage.as_ref().and_then(Usage::inconsistency));

    let body = answer.leftovers();
    if !choices.is_empty() && at > 0 {
        notes.shape.set(CHOICE_AT, Json::of(&at).unwrap_or_default());
    }
    if !absent.is_empty() {
        notes.shape.set(ABSENT, Json::of(&absent).unwrap_or_default());
    }
    let others = if choices.is_empty() { None } else { Json::of(&choices).ok() };
    let around = Around { body, choice: choice.leftovers(), message, others };
    response.provider_data = around.into_data(notes, word);
    Ok(response)
}

/// The fields around an answer's content.
pub(in crate::dialect::openai_chat) struct Around {
    pub(in crate::dialect::openai_chat) body: Fields,
    pub(in crate::dialect::openai_chat) choice: Fields,
    pub(in crate::dialect::openai_chat) message: Fields,
    /// The choices that are kept but not read.
    pub(in crate::dialect::openai_chat) others: Option<Json>,
}

impl Around {
    /// Converts everything to the answer's own data, with the provider's finish reason.
    pub(in crate::dialect::openai_chat) fn into_data(mut self, mut notes: Notes, word: Option<&str>) -> ProviderData {
        if let Some(created) = self.body.remove(CREATED) {
            notes.shape.set(CREATED, created);
        }
        notes.extra = self.body;
        notes.keep_inner(CHOICE, self.choice);
        notes.keep_inner(MESSAGE, self.message);
        if let Some(others) = self.others {
            notes.extra.set(CHOICES, others);
        }
        let mut data = notes.into_bound_data(Side::Response);
        if let Some(word) = word {
            data.set_part(DIALECT, Part::Shape, FINISH_REASON, word);
        }
        data
    }
}

/// Returns the names of standard fields that this answer does not have.
fn absent(answer: &Answer<'_>, choice: &Choice<'_>) -> Vec<&'static str> {
    let nothing = Message::default();
    let message = choice.message.as_deref().unwrap_or(&nothing);
    let names = [
        ("message", choice.message.is_some(), &choice.rest),
        ("role", message.role.is_some(), &message.rest),
        ("index", choice.index.is_some(), &choice.rest),
        ("id", !answer.id.is_absent(), &answer.rest),
        ("model", answer.model.is_some(), &answer.rest),
        ("object", answer.object.is_some(), &answer.rest),
        ("created", answer.created.is_some(), &answer.rest),
    ];
    let gone = names.iter().filter(|(name, fits, rest)| !fits && wire::find(rest, name).is_none());
    gone.map(|(name, ..)| *name).collect()
}

/// Returns counts that some APIs put elsewhere.
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

/// Returns the failure in a choice's `error`.
pub(in crate::dialect::openai_chat) fn failure_of(error: &RawValue) -> Option<Error> {
    let error: serde_json::Value = serde_json::from_str(error.get()).ok()?;
    openai_error::find(DIALECT, &serde_json::json!({"error": error}))
}

/// Makes the error for an answer that ended with only a finish reason for failures.
pub(in crate::dialect::openai_chat) fn broken(word: Option<&str>) -> Error {
    let word = word.unwrap_or_default();
    let kind = if word == "insufficient_system_resource" { ErrorKind::Overloaded } else { ErrorKind::Server };
    let mut error = Error::new(kind, format!("the provider ended the answer with `{word}`"));
    error.code = Some(word.to_owned());
    error
}
