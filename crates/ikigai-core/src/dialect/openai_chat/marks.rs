//! What this dialect leaves in `provider_data`, and how it is found again.
//!
//! Two kinds. *State* belongs to the block for good and goes back to its provider: where reasoning came in, its
//! details, a thought signature. *Leftovers* only serve to write the same document again; those of a request stand
//! beside the state, those of an answer below the key `response`, because an answer that became a message of the next
//! request must not bring them along.

use serde_json::{Map, Value};

use crate::{Dialect, ProviderData};

pub(super) const DIALECT: Dialect = Dialect::OpenaiChat;

/// Wire fields that have no place of their own, to be put back as they were.
pub(super) const EXTRA: &str = "extra";
/// The leftovers of an answer.
pub(super) const RESPONSE: &str = "response";
/// How content was written where that does not follow from the blocks: one of [`Shape`]'s words.
pub(super) const CONTENT: &str = "content";
/// State: the field that reasoning came in.
pub(super) const REASONING_FIELD: &str = "reasoning_field";
/// State: the second field that said the same.
pub(super) const REASONING_ALSO: &str = "reasoning_also";
/// State: `reasoning_details`, whole.
pub(super) const REASONING_DETAILS: &str = "reasoning_details";
/// State: Google's slot for thought signatures, on a call or a message.
pub(super) const EXTRA_CONTENT: &str = "extra_content";
/// State: the text is a refusal.
pub(super) const REFUSAL: &str = "refusal";
/// State: the call had no id, this one is ours.
pub(super) const ID_GENERATED: &str = "id_generated";
/// State: further fields of a `thinking` part.
pub(super) const PART: &str = "part";

/// Whose document is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Request,
    Response,
}

/// The leftovers on something, for one side.
pub(super) fn leftovers(data: &ProviderData, side: Side) -> Option<&Map<String, Value>> {
    match side {
        Side::Request => data.get(DIALECT),
        Side::Response => data.value(DIALECT, RESPONSE)?.as_object(),
    }
}

/// The wire fields to put back, for one side.
pub(super) fn extra(data: &ProviderData, side: Side) -> Option<&Map<String, Value>> {
    leftovers(data, side)?.get(EXTRA)?.as_object()
}

/// Is a mark set, for one side?
pub(super) fn marked(data: &ProviderData, side: Side, mark: &str) -> bool {
    leftovers(data, side).and_then(|own| own.get(mark)).and_then(Value::as_bool).unwrap_or(false)
}

/// Keeps leftovers for one side.
pub(super) fn keep(data: &mut ProviderData, side: Side, kept: Map<String, Value>) {
    if kept.is_empty() {
        return;
    }
    match side {
        Side::Request => data.extend(DIALECT, kept),
        Side::Response => data.set(DIALECT, RESPONSE, kept),
    }
}

/// Adds wire fields to leftovers, if there are any.
pub(super) fn keep_extra(kept: &mut Map<String, Value>, fields: Map<String, Value>) {
    if !fields.is_empty() {
        kept.insert(EXTRA.to_owned(), Value::Object(fields));
    }
}

/// Sets a mark.
pub(super) fn mark(kept: &mut Map<String, Value>, name: &str) {
    kept.insert(name.to_owned(), Value::Bool(true));
}

/// How `content` was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A list of parts, where a text would have done.
    Parts,
    /// `null`.
    Null,
    /// Not at all.
    Absent,
    /// An empty text.
    Empty,
}

impl Shape {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Shape::Parts => "parts",
            Shape::Null => "null",
            Shape::Absent => "absent",
            Shape::Empty => "empty",
        }
    }

    /// The shape that leftovers name.
    pub(super) fn read(kept: Option<&Map<String, Value>>) -> Option<Self> {
        match kept?.get(CONTENT)?.as_str()? {
            "parts" => Some(Shape::Parts),
            "null" => Some(Shape::Null),
            "absent" => Some(Shape::Absent),
            "empty" => Some(Shape::Empty),
            _ => None,
        }
    }

    /// Notes the shape in leftovers.
    pub(super) fn note(self, kept: &mut Map<String, Value>) {
        kept.insert(CONTENT.to_owned(), self.as_str().into());
    }
}

/// Takes a text out of an object, if it is one.
pub(super) fn take_text(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    if !fields.get(key)?.is_string() {
        return None;
    }
    match fields.shift_remove(key)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Takes an object out of an object, if it is one.
pub(super) fn take_object(fields: &mut Map<String, Value>, key: &str) -> Option<Map<String, Value>> {
    if !fields.get(key)?.is_object() {
        return None;
    }
    match fields.shift_remove(key)? {
        Value::Object(inner) => Some(inner),
        _ => None,
    }
}

/// Takes a list out of an object, if it is one.
pub(super) fn take_list(fields: &mut Map<String, Value>, key: &str) -> Option<Vec<Value>> {
    if !fields.get(key)?.is_array() {
        return None;
    }
    match fields.shift_remove(key)? {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

/// Puts fields back beside those that are there; what is there stays.
pub(super) fn put_back(into: &mut Map<String, Value>, fields: Option<&Map<String, Value>>) {
    for (key, value) in fields.into_iter().flatten() {
        if !into.contains_key(key) {
            into.insert(key.clone(), value.clone());
        }
    }
}
