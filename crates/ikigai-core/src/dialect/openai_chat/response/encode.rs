//! Our answer for a client.

use std::borrow::Cow;

use super::{ABSENT, CHOICE, CHOICE_AT, CHOICES, CREATED, FINISH_REASON, Holds, MESSAGE, finish, word_of};
use crate::dialect::losses::{block_loss, note_foreign};
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::assistant::{Join, Saying, field_of};
use crate::dialect::openai_chat::notes::{EXTRA_CONTENT, Side, bound_shape, extra, shape};
use crate::dialect::openai_chat::wire::{self, Answer, Choice, Message};
use crate::dialect::openai_chat::{sealed, usage};
use crate::dialect::{Reply, WireResponse, openai_error};
use crate::fit::{Spelling, StateUse};
use crate::json::loose::{Item, Loose as _, Words};
use crate::json::wire::{Raw, Rest, Text, write};
use crate::{Block, Dialect, Fields, Json, Loss, LossCode, Part, ProviderData, Response, Usage};

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

    let mut body = Answer { choices, rest: fields.of(""), ..Answer::default() };
    body.rest.retain(|(name, _)| name != CHOICES);
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
        body.created = Some(shape.get(CREATED).map_or_else(|| Raw::of(&reply.created), Raw::from));
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
    !data.part(DIALECT, Part::Answer).is_empty() || !shape(data).is_empty()
}

/// The tier that answered, which other dialects name too.
pub(in crate::dialect::openai_chat) fn service_tier(data: &ProviderData) -> Option<&Json> {
    let tiers = data.parts(Part::Answer).filter_map(|(_, fields)| fields.get("service_tier"));
    tiers.into_iter().find(|tier| !tier.is_null())
}

/// Notes what other dialects say about an answer and its counts.
pub(in crate::dialect::openai_chat) fn foreign_fields(
    data: &ProviderData,
    usage: Option<&Usage>,
    losses: &mut Vec<Loss>,
) {
    let mut rest = data.clone();
    for dialect in Dialect::ALL {
        rest.remove_part(dialect, Part::Answer, "service_tier");
    }
    note_foreign(&rest, DIALECT, &[Part::Extra, Part::Answer], "", losses);
    if let Some(usage) = usage {
        note_foreign(&usage.provider_data, DIALECT, &[Part::Extra, Part::Answer], "usage.", losses);
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
    fn of(&self, prefix: &str) -> Rest<'a> {
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
pub(in crate::dialect::openai_chat) fn note_block(block: &Block, index: usize, said: bool, losses: &mut Vec<Loss>) {
    let place = format!("content[{index}]");
    if let Some(data) = block.provider_data() {
        note_foreign(data, DIALECT, &[Part::Extra, Part::Answer], &format!("{place}."), losses);
    }
    if said {
        return;
    }
    let (code, why) = match block {
        Block::Other(other) => return losses.push(block_loss(other, place)),
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

/// The word for the end: the provider's own while it still means the same, else ours. `None` where nothing was said.
fn finish_word(response: &Response) -> Option<Cow<'_, str>> {
    let own = response.provider_data.part_str(DIALECT, Part::Shape, FINISH_REASON);
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
