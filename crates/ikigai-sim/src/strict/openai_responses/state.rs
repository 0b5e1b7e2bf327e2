//! What is stored between requests: responses, sealed reasoning.

use super::items::kind;
use super::{Refusal, Wire, invalid};
use crate::seals::Purpose;
use crate::strict::word;

pub(super) fn previous(wire: &Wire<'_>) -> Result<(), Refusal> {
    match wire.text("previous_response_id") {
        Some(id) if wire.memory.stored(id).is_none() => Err(Refusal {
            code: Some("previous_response_not_found"),
            param: Some("previous_response_id".to_owned()),
            ..invalid(format!("Previous response with id '{id}' not found."))
        }),
        _ => Ok(()),
    }
}

pub(super) fn references(wire: &Wire<'_>) -> Result<(), Refusal> {
    for item in wire.list("input").iter().filter(|item| kind(item) == "item_reference") {
        let id = word(item, "id");
        if !wire.memory.has_item(id) {
            let message = format!(
                "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
            );
            return Err(Refusal { status: 404, param: Some("input".to_owned()), ..invalid(message) });
        }
    }
    Ok(())
}

/// Only what we sealed can be read again.
pub(super) fn encrypted(wire: &Wire<'_>) -> Result<(), Refusal> {
    for item in wire.list("input").iter().filter(|item| kind(item) == "reasoning") {
        let sealed = word(item, "encrypted_content");
        if !sealed.is_empty() && wire.memory.seals.open(Purpose::Reasoning, &[], sealed).is_none() {
            let message = format!(
                "The encrypted content for item {} could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
                word(item, "id")
            );
            return Err(Refusal { code: Some("invalid_encrypted_content"), ..invalid(message) });
        }
    }
    Ok(())
}

/// A reasoning item comes before what it led to.
pub(super) fn followed(wire: &Wire<'_>) -> Result<(), Refusal> {
    let items = wire.list("input");
    for (n, item) in items.iter().enumerate().filter(|(_, item)| kind(item) == "reasoning") {
        let next = items.get(n + 1);
        let leads = next.is_some_and(|next| match kind(next) {
            "message" => word(next, "role") == "assistant",
            "function_call_output" => false,
            _ => true,
        });
        if !leads {
            let id = word(item, "id");
            let message = format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
            return Err(invalid(message).at("input", None));
        }
    }
    Ok(())
}
