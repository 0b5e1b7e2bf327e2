//! Reads what version 0.1.0 kept of Converse's answers.
//!
//! It treated Converse as a variant of another dialect, and kept its state under that dialect's name. In messages that
//! the target itself issued, such data is read as this dialect's own, so that stored conversations can continue.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::wire::Target;
use crate::{Block, Dialect, Fields, Json, Message, Other, Part, ProviderData, Request};

use super::DIALECT;

/// The dialect whose name it used.
const FORMER: Dialect = Dialect::Anthropic;
/// The prefix of redacted thinking that is not text.
const BYTES: &str = "base64:";
/// The type of a block that only Converse has.
const OWN: &str = "converse";

/// Converts what version 0.1.0 kept of the target's own answers to this dialect's form.
pub(crate) fn from_former<'a>(request: &'a Request, target: &Target<'_>) -> Cow<'a, Request> {
    let mut request = Cow::Borrowed(request);
    for index in 0..request.messages.len() {
        if request.messages.get(index).is_some_and(|message| is_former(message, target))
            && let Some(message) = request.to_mut().messages.get_mut(index)
        {
            message.content.iter_mut().for_each(rename);
            move_over(&mut message.provider_data);
        }
    }
    request
}

/// Whether a message is the target's own and has data under the former name.
fn is_former(message: &Message, target: &Target<'_>) -> bool {
    // Some models of the same provider do use the other dialect, and their state belongs to it.
    let model = message.model.as_deref().unwrap_or_default();
    message.provider.as_deref() == Some(target.provider)
        && target.quirks.anthropic.leaves_out(model)
        && (holds(&message.provider_data)
            || message.content.iter().any(|block| match block {
                Block::Other(other) => other.dialect == FORMER,
                block => block.provider_data().is_some_and(holds),
            }))
}

fn holds(data: &ProviderData) -> bool {
    [Part::State, Part::Extra, Part::Answer, Part::Shape].into_iter().any(|part| !data.part(FORMER, part).is_empty())
}

fn rename(block: &mut Block) {
    if let Block::Other(other) = block {
        if let Some(data) = own_block(other) {
            *other = Other { dialect: DIALECT, data };
        }
    } else if let Some(data) = block.provider_data_mut() {
        move_over(data);
    }
}

fn move_over(data: &mut ProviderData) {
    // Citations with a type are the other dialect's own.
    if data.part(FORMER, Part::Extra).get("citations").is_some_and(|list| list.text().contains("\"type\"")) {
        return;
    }
    for part in [Part::State, Part::Extra, Part::Answer, Part::Shape] {
        let fields = data.take_part(FORMER, part);
        data.extend_part(DIALECT, part, fields);
    }
    if let Some(redacted) = data.part_str(DIALECT, Part::State, "redacted_data") {
        let base64 = redacted.strip_prefix(BYTES).map_or_else(|| STANDARD.encode(redacted.as_ref()), str::to_owned);
        data.set_part(DIALECT, Part::State, "redacted_data", base64);
    }
}

/// Returns a block that only Converse has, in its own form.
fn own_block(other: &Other) -> Option<Json> {
    let mut fields: Fields = Some(other).filter(|other| other.dialect == FORMER)?.data.to().ok()?;
    match fields.str("type")?.as_ref() {
        OWN => Some(fields.remove("block").unwrap_or_else(|| {
            fields.remove("type");
            fields.into()
        })),
        "server_tool_use" => {
            let mut call = Fields::default();
            for (former, name) in [("id", "toolUseId"), ("name", "name"), ("input", "input"), ("type", "type")] {
                if let Some(value) = fields.remove(former) {
                    call.push(name, value);
                }
            }
            let mut block = Fields::default();
            block.push("toolUse", Json::from(call));
            Some(block.into())
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "former_tests.rs"]
mod tests;
