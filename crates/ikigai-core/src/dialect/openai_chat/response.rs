//! Answers, whole.

use std::borrow::Cow;

use super::assistant::{self, Join, Saying, field_of};
use super::notes::{ANSWER, DIALECT, EXTRA_CONTENT, Side, bound_shape, extra, shape};
use super::wire::{self, Answer, Choice, Choices, Message};
use super::{sealed, usage};
use crate::dialect::{Reply, WireResponse, foreign, openai_error};
use crate::fit::{Spelling, StateUse};
use crate::json::loose::{self, Item, Loose as _, Words};
use crate::json::wire::{Raw, Text, write};
use crate::{
    Block, Error, ErrorKind, Fields, FinishReason, Ids, Json, Loss, LossCode, Part, ProviderData, Response, Usage,
};

/// The provider's own word for the end, among the fields of the answer.
pub(super) const FINISH_REASON: &str = "finish_reason";
/// Before the names of fields that stood in the choice, or in the message; those of the body have nothing before them.
pub(super) const CHOICE: &str = "choice.";
pub(super) const MESSAGE: &str = "message.";
/// The other choices.
pub(super) const CHOICES: &str = "choices";
/// Shape: the place of our choice among them, where it is not the first.
const CHOICE_AT: &str = "choice_at";
/// Shape: fields that everybody has, but not this answer.
const ABSENT: &str = "absent";

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

pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(200).collect()
}

/// The failure that came in place of an answer.
pub(super) fn failure(text: &str, answer: &Answer<'_>) -> Option<Error> {
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

    if let Some(word) = word {
        notes.extra.set(FINISH_REASON, word);
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
    Ok(response)
}

/// Takes a field that always says the same; notes it if it is not there.
fn take_expected<'n>(
    field: &mut Option<Text<'_>>,
    rest: &crate::json::wire::Rest<'_>,
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
pub(super) fn usage_elsewhere<'a>(answer: &Answer<'a>, choice: &Choice<'a>) -> Option<Raw<'a>> {
    let inside = |raw: &serde_json::value::RawValue| {
        let fields: Fields = serde_json::from_str(raw.get()).ok()?;
        fields.get("usage").map(|usage| Raw(Cow::Owned(usage.raw().to_owned())))
    };
    let beside = |raw: &serde_json::value::RawValue| Raw(Cow::Owned(raw.to_owned()));
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
/// `reasoning_details`; what else they have of their own has no place here and is a loss.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> WireResponse {
    let mut losses = Vec::new();
    let model = if response.model.is_empty() { reply.model.as_deref().unwrap_or_default() } else { &response.model };
    let shape = bound_shape(&response.provider_data, Side::Response);
    let own = extra(&response.provider_data, Side::Response);
    let absent: Vec<String> = shape.get(ABSENT).and_then(|names| names.to().ok()).unwrap_or_default();
    let fields = OwnFields { fields: own, absent };

    let message = encode_message(response, reply, model, &fields, &mut losses);
    let choice = encode_choice(response, message, &fields);
    let mut choices: Vec<Item<'_, Choice<'_>>> = vec![Item::Fits(choice)];
    let others: Option<Vec<Raw<'_>>> = own.get(CHOICES).and_then(|others| serde_json::from_str(others.text()).ok());
    choices.extend(others.unwrap_or_default().into_iter().map(|other| Item::Odd(other.0)));
    let at = shape.get(CHOICE_AT).and_then(|at| at.to::<usize>().ok()).unwrap_or(0);
    let at = at.min(choices.len().saturating_sub(1));
    choices.get_mut(..=at).into_iter().for_each(|before| before.rotate_left(1));

    let mut body = Answer { choices: Choices(Some(choices)), rest: fields.of(""), ..Answer::default() };
    body.rest.retain(|(name, _)| !matches!(name.as_ref(), FINISH_REASON | CHOICES));
    match &response.id {
        Some(id) => body.id = Words(Some(id.as_str().into())),
        None if fields.lack("id") => {
            body.id = Words(Some(format!("chatcmpl-{}", reply.ids.clone().next_id()).into()));
        }
        None => {}
    }
    if fields.lack("object") {
        body.object = Some("chat.completion".into());
    }
    if fields.lack("created") {
        body.created = Some(Raw::of(&reply.created));
    }
    if fields.lack("model") {
        body.model = Some(model.into());
    }
    body.usage = response.usage.as_ref().and_then(usage::encode);
    let is_own = is_own(&response.provider_data);
    // A failure that this dialect did not bring along itself.
    if let Some(error) = response.error.as_deref().filter(|_| !is_own) {
        wire::put(&mut body.rest, "error", &openai_error::object(error));
    }
    if !is_own && let Some(tier) = service_tier(&response.provider_data) {
        body.rest.push((Cow::Borrowed("service_tier"), Cow::Borrowed(tier.raw())));
    }
    foreign_fields(&response.provider_data, response.usage.as_ref(), &mut losses);
    WireResponse { body: write(&body), losses }
}

/// Whether the answer came in this dialect.
fn is_own(data: &ProviderData) -> bool {
    !data.part(DIALECT, Part::Answer).is_empty() || shape(data).get(ANSWER).is_some()
}

/// The tier that answered, which other dialects name too.
pub(super) fn service_tier(data: &ProviderData) -> Option<&Json> {
    let tiers = data.parts(Part::Answer).filter_map(|(_, fields)| fields.get("service_tier"));
    tiers.into_iter().find(|tier| !tier.is_null())
}

/// Notes what other dialects say about an answer and its counts.
pub(super) fn foreign_fields(data: &ProviderData, usage: Option<&Usage>, losses: &mut Vec<Loss>) {
    foreign::note_fields(data, DIALECT, "provider_data", &["service_tier"], losses);
    if let Some(usage) = usage {
        foreign::note_fields(&usage.provider_data, DIALECT, "usage.provider_data", &[], losses);
    }
}

/// The fields that this dialect keeps of an answer, by the object that they stood in.
struct OwnFields<'a> {
    fields: &'a Fields,
    /// Fields that the answer did not have.
    absent: Vec<String>,
}

impl<'a> OwnFields<'a> {
    /// Those of one object: the choice, the message, or (with an empty prefix) the body.
    fn of(&self, prefix: &str) -> crate::json::wire::Rest<'a> {
        let inside = |name: &'a str| match prefix {
            "" => (!name.starts_with(CHOICE) && !name.starts_with(MESSAGE)).then_some(name),
            _ => name.strip_prefix(prefix),
        };
        let named = self.fields.iter().filter_map(|(name, value)| Some((inside(name)?, value)));
        named.map(|(name, value)| (Cow::Borrowed(name), Cow::Borrowed(value.raw()))).collect()
    }

    /// Whether a field has to be made up: the answer neither kept it nor lacked it on the wire.
    fn lack(&self, name: &str) -> bool {
        self.fields.get(name).is_none() && !self.lacked(name)
    }

    fn lacked(&self, name: &str) -> bool {
        self.absent.iter().any(|absent| absent == name)
    }
}

fn encode_message<'a>(
    response: &'a Response,
    reply: &Reply,
    model: &str,
    fields: &OwnFields<'a>,
    losses: &mut Vec<Loss>,
) -> Message<'a> {
    let shape = bound_shape(&response.provider_data, Side::Response);
    let mut saying = Saying::new(Side::Response, Join::Nothing, Spelling::AsItCame, shape);
    let mut items = Vec::new();
    for (index, block) in response.content.iter().enumerate() {
        let field = match block {
            Block::Thinking(thinking) => field_of(thinking),
            _ => None,
        };
        let said = saying.say(block, StateUse::Own, field.as_deref().unwrap_or("reasoning_content"));
        note_block(block, index, said, losses);
        items.extend(sealed::seal(index, block, reply, model));
    }
    let mut message = saying.into_message();
    message.rest.extend(fields.of(MESSAGE));
    if wire::find(&message.rest, "role").is_none() && !fields.lacked("role") {
        message.role = Some("assistant".into());
    }
    if !is_own(&response.provider_data) && message.refusal.is_absent() {
        // Clients read it without asking whether it is there.
        wire::put(&mut message.rest, "refusal", &());
    }
    message.extra_content = response.provider_data.part(DIALECT, Part::State).get(EXTRA_CONTENT).map(Raw::from);
    message.details.extend(items.iter().map(Raw::of));
    message
}

/// Notes what cannot be said of a block of an answer.
pub(super) fn note_block(block: &Block, index: usize, said: bool, losses: &mut Vec<Loss>) {
    let place = format!("content[{index}]");
    if let Some(data) = block.provider_data() {
        foreign::note_fields(data, DIALECT, &format!("{place}.provider_data"), &[], losses);
    }
    if said {
        return;
    }
    let (code, why) = match block {
        Block::Other(other) => {
            let why = format!("a block that only {} has; it is left out", other.dialect);
            return losses.push(Loss::new(LossCode::ForeignContent, "other", place, why));
        }
        Block::Image(_) | Block::Audio(_) | Block::Document(_) => {
            (LossCode::Media, "an answer has no place for it here; it is left out")
        }
        Block::ToolResult(_) => (LossCode::NotInDialect, "an answer has no tool results here; it is left out"),
        Block::Text(_) | Block::Thinking(_) | Block::ToolCall(_) => (LossCode::NotInDialect, "it is left out"),
    };
    losses.push(Loss::new(code, block.kind().as_str(), place, why));
}

fn encode_choice<'a>(response: &Response, message: Message<'a>, fields: &OwnFields<'a>) -> Choice<'a> {
    let mut choice = Choice { rest: fields.of(CHOICE), ..Choice::default() };
    if !fields.lacked("index") && wire::find(&choice.rest, "index").is_none() {
        choice.index = Some(0);
    }
    if !fields.lacked("message") {
        choice.message = Some(Box::new(message));
    }
    choice.finish_reason = match finish_word(response) {
        Some(word) => Some(Text(Cow::Owned(word.into_owned()))),
        // An answer of this dialect that gave no reason; its own fields may hold a null.
        None if is_own(&response.provider_data) => None,
        None => Some("stop".into()),
    };
    choice
}

/// A choice of an answer that has several, as it stands in their list.
pub(super) fn encode_other_choice(response: &Response, index: u64, reply: &Reply) -> Json {
    let fields = OwnFields { fields: extra(&response.provider_data, Side::Response), absent: Vec::new() };
    let message = encode_message(response, reply, "", &fields, &mut Vec::new());
    let choice = Choice { index: Some(index), ..encode_choice(response, message, &fields) };
    Json::of(&choice).unwrap_or_default()
}

/// The word for the end: the provider's own while it still means the same, else ours. `None` where nothing was said.
fn finish_word(response: &Response) -> Option<Cow<'_, str>> {
    let own = response.provider_data.part_str(DIALECT, Part::Answer, FINISH_REASON);
    let holds = Holds::of(&response.content);
    if own.as_deref().is_some_and(|word| finish(Some(word), holds) == response.finish_reason) {
        return own;
    }
    let said_nothing = own.is_none() && finish(None, holds) == response.finish_reason;
    if said_nothing && is_own(&response.provider_data) {
        return None;
    }
    word_of(response.finish_reason).map(Cow::Borrowed)
}

/// This dialect's word for each reason; `None` for an unknown reason.
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
