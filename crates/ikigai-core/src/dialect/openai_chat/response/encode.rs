//! Converts a canonical answer for a client.

use std::borrow::Cow;

use super::{
    ABSENT, CHOICE, CHOICE_AT, CHOICES, CREATED, ERROR, FINISH_REASON, Holds, MESSAGE, failed, finish, word_of,
};
use crate::dialect::losses::{block_loss, note_answer, note_block, note_foreign, note_usage};
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::assistant::{Saying, field_of, speech_type};
use crate::dialect::openai_chat::calls::{self, FUNCTION_CALL};
use crate::dialect::openai_chat::notes::{self, EXTRA_CONTENT, REASONING_OPAQUE, Side, bound_shape, extra, shape};
use crate::dialect::openai_chat::wire::{self, Answer, Choice, Message};
use crate::dialect::openai_chat::{sealed, usage};
use crate::dialect::seal::Answerer;
use crate::dialect::{Reply, WireResponse, openai_error};
use crate::fit::{Spelling, StateUse};
use crate::json::loose::{Item, Loose as _, Words};
use crate::json::wire::{Raw, Rest, Text, write};
use crate::{Audio, Block, Fields, FinishReason, Image, Json, Loss, LossCode, Part, ProviderData, Response, Source};

/// Encodes an answer for a client.
///
/// An answer that came in this dialect is written as received. Other dialects' state is sealed into
/// `reasoning_details`; whatever else they left has no place here and is a loss.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> WireResponse {
    let mut losses = Vec::new();
    let data = &response.provider_data;
    let answerer = Answerer::new(reply, Some(&response.model));
    let shape = bound_shape(data, Side::Response);
    let own = extra(data, Side::Response);
    let absent: Vec<String> = shape.get(ABSENT).and_then(|names| names.to().ok()).unwrap_or_default();
    // A field must be supplied if it is not in the rest, unless the original answer did not have it.
    let is_due =
        |rest: &Rest<'_>, name: &str| wire::find(rest, name).is_none() && !absent.iter().any(|own| own == name);

    let mut message = encode_message(response, &answerer, &mut losses);
    if reply.older_calls {
        calls::use_older_form(&mut message, &mut losses);
    }
    if is_due(&message.rest, "role") {
        message.role = Some("assistant".into());
    }
    let mut choice = Choice { rest: notes::inner(own, CHOICE), ..Choice::default() };
    choice.index = is_due(&choice.rest, "index").then_some(0);
    choice.message = is_due(&choice.rest, "message").then(|| Box::new(message));
    choice.finish_reason = match response.finish_reason {
        FinishReason::ToolUse if reply.older_calls => Some(Text(FUNCTION_CALL.into())),
        _ => finish_word(response).map(Text),
    };

    let says_error = |word: &Text<'_>| finish(Some(word.as_str()), Holds::default()) == FinishReason::Error;
    // Any other failure is in the answer's own `error`.
    let is_alone = response.error.is_none() || is_own(data);
    if response.finish_reason == FinishReason::Error
        && is_alone
        && !has_failed(response)
        && !choice.finish_reason.as_ref().is_some_and(says_error)
    {
        wire::put(&mut choice.rest, ERROR, &failed(response.error.as_deref()));
    }

    let mut body = Answer { rest: notes::around(own, CHOICE), ..Answer::default() };
    body.rest.retain(|(name, _)| name != CHOICES && !name.starts_with("message."));
    for (name, is_there) in [("id", response.id.is_some()), ("model", !response.model.is_empty())] {
        // A stream may end with another id or model than it began with.
        if let Some(place) = body.rest.iter().position(|(own, _)| own == name).filter(|_| is_there) {
            let why = format!("an answer has one; the last, {}, is left out", body.rest.remove(place).1.get());
            losses.push(Loss::new(LossCode::NotInDialect, name, name, why));
        }
    }
    body.choices = with_others(choice, own, &shape);
    body.id = match &response.id {
        Some(id) => Words(Some(id.as_str().into())),
        None if is_due(&body.rest, "id") => Words(Some(format!("chatcmpl-{}", reply.ids.clone().next_id()).into())),
        None => Words(None),
    };
    body.object = is_due(&body.rest, "object").then(|| "chat.completion".into());
    body.created =
        is_due(&body.rest, "created").then(|| shape.get(CREATED).map_or_else(|| Raw::of(&reply.created), Raw::from));
    body.model = is_due(&body.rest, "model").then(|| answerer.model.as_deref().unwrap_or_default().into());
    body.usage = response.usage.as_ref().and_then(usage::encode);
    if !is_own(data) {
        // A failure that did not come in this dialect.
        if let Some(error) = response.error.as_deref() {
            wire::put(&mut body.rest, "error", &openai_error::object(error));
        }
        if let Some(tier) = service_tier(data) {
            wire::put(&mut body.rest, "service_tier", tier);
        }
    }
    note_answer(data, DIALECT, &mut losses);
    note_usage(response.usage.as_ref(), DIALECT, &mut losses);
    WireResponse { body: write(&body), losses }
}

/// Inserts the choice at its place among those that were only kept.
fn with_others<'a>(choice: Choice<'a>, own: &'a Fields, shape: &Fields) -> Vec<Item<'a, Choice<'a>>> {
    let others: Option<Vec<Raw<'_>>> = own.get(CHOICES).and_then(|others| serde_json::from_str(others.text()).ok());
    let mut choices: Vec<Item<'_, Choice<'_>>> =
        others.unwrap_or_default().into_iter().map(|other| Item::Odd(other.0)).collect();
    let at = shape.get(CHOICE_AT).and_then(|at| at.to::<usize>().ok()).unwrap_or(0);
    choices.insert(at.min(choices.len()), Item::Fits(choice));
    choices
}

/// Whether the answer came in this dialect.
fn is_own(data: &ProviderData) -> bool {
    !data.part(DIALECT, Part::Answer).is_empty() || !shape(data).is_empty()
}

/// Returns the tier that served the answer, which other dialects report too.
pub(in crate::dialect::openai_chat) fn service_tier(data: &ProviderData) -> Option<&Json> {
    let tiers = data.parts(Part::Answer).filter_map(|(_, fields)| fields.get("service_tier"));
    tiers.into_iter().find(|tier| !tier.is_null())
}

fn encode_message<'a>(response: &'a Response, answerer: &Answerer, losses: &mut Vec<Loss>) -> Message<'a> {
    let data = &response.provider_data;
    let mut saying = Saying::new(Side::Response, Spelling::AsItCame, bound_shape(data, Side::Response));
    let mut items = Vec::new();
    for (index, block) in response.content.iter().enumerate() {
        let field = match block {
            Block::Thinking(thinking) => field_of(thinking),
            _ => None,
        };
        if let Some(data) = block.provider_data() {
            note_block(data, DIALECT, index, losses);
        }
        if !saying.say(block, StateUse::Own, field.as_deref().unwrap_or("reasoning_content")) {
            losses.push(unsaid(block, index));
        } else {
            note_media(block, index, losses);
        }
        items.extend(sealed::seal(index, block, answerer));
    }
    let mut message = saying.into_message();
    message.rest.extend(notes::inner(extra(data, Side::Response), MESSAGE));
    if !is_own(data) && message.refusal.is_absent() {
        // Clients read it without checking that it is there.
        wire::put(&mut message.rest, "refusal", &());
    }
    let state = data.part(DIALECT, Part::State);
    message.extra_content = state.get(EXTRA_CONTENT).map(Raw::from);
    message.opaque = Words(state.str(REASONING_OPAQUE).map(Text));
    message.details.extend(items.iter().map(Raw::of));
    message
}

/// Notes what a picture or speech of another dialect loses although it has a place: state, which only thinking, text and
/// calls can bring back, and the format of speech, which an answer does not name.
pub(in crate::dialect::openai_chat) fn note_media(block: &Block, index: usize, losses: &mut Vec<Loss>) {
    let (Block::Image(Image { provider_data, .. }) | Block::Audio(Audio { provider_data, .. })) = block else { return };
    note_foreign(provider_data, DIALECT, &[Part::State], &format!("content[{index}]."), losses);
    if let Block::Audio(Audio { source: Source::Base64 { media_type, data }, .. }) = block
        && *media_type != speech_type(data)
    {
        let why = format!("an answer does not say here that it is {media_type}");
        losses.push(Loss::new(LossCode::Media, "audio", format!("content[{index}].source.media_type"), why));
    }
}

/// The loss for a block that has no place in an answer.
pub(in crate::dialect::openai_chat) fn unsaid(block: &Block, index: usize) -> Loss {
    let place = format!("content[{index}]");
    let (code, why) = match block {
        Block::Other(other) => return block_loss(other, place),
        Block::Image(_) | Block::Audio(_) | Block::Document(_) => {
            (LossCode::Media, "an answer has no place for it here; left out")
        }
        Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => {
            (LossCode::NotInDialect, "an answer has no tool results here; left out")
        }
        Block::Text(_) | Block::Thinking(_) | Block::ToolCall(_) => (LossCode::NotInDialect, "it is left out"),
    };
    Loss::new(code, block.kind().as_str(), place, why)
}

/// Returns the finish reason: the provider's own while it still means the same, otherwise ours. `None` for an answer of
/// this dialect that gave no reason; its own fields may contain a null.
fn finish_word(response: &Response) -> Option<Cow<'_, str>> {
    let own = response.provider_data.part_str(DIALECT, Part::Shape, FINISH_REASON);
    let holds = Holds::of(&response.content);
    let is_as_it_came = |word: &str| finish(Some(word), holds) == response.finish_reason;
    if has_failed(response) || own.as_deref().is_some_and(is_as_it_came) {
        return own;
    }
    let said_nothing = own.is_none() && finish(None, holds) == response.finish_reason;
    match word_of(response.finish_reason) {
        Some(word) if !(said_nothing && is_own(&response.provider_data)) => Some(Cow::Borrowed(word)),
        _ if is_own(&response.provider_data) => None,
        _ => Some(Cow::Borrowed("stop")),
    }
}

/// Whether this is an answer of this dialect that told of its failure next to the content.
fn has_failed(response: &Response) -> bool {
    let told = extra(&response.provider_data, Side::Response).get("choice.error");
    response.finish_reason == FinishReason::Error && told.is_some_and(|error| !error.is_null())
}
