//! What this dialect leaves in `provider_data`, and how it is found there.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::DIALECT;
use crate::json::wire::Rest;
use crate::{Fields, Json, Part, ProviderData};

/// Shape: how `content` was written, if the blocks do not show it: one of [`ContentShape`]'s values.
const CONTENT: &str = "content";
/// Shape: the field that reasoning came from.
pub(super) const REASONING_FIELD: &str = "reasoning_field";
/// Shape: the second field with the same reasoning.
pub(super) const REASONING_ALSO: &str = "reasoning_also";
/// State: all of `reasoning_details`.
pub(super) const REASONING_DETAILS: &str = "reasoning_details";
/// State: all of `thinking_blocks`, as LiteLLM sends signed thinking.
pub(super) const THINKING_BLOCKS: &str = "thinking_blocks";
/// State: Copilot's sealed reasoning, on a message.
pub(super) const REASONING_OPAQUE: &str = "reasoning_opaque";
/// State: Google's slot for thought signatures, on a call or a message.
pub(super) const EXTRA_CONTENT: &str = "extra_content";
/// The state of a message as a whole.
pub(super) const MESSAGE_STATE: [&str; 2] = [EXTRA_CONTENT, REASONING_OPAQUE];
/// State: the signature of a `thinking` or `reasoning` part.
pub(super) const SIGNATURE: &str = "signature";
/// State: the id by which the next request refers to the model's speech.
pub(super) const ID: &str = "id";
/// Shape: the text is a refusal.
pub(super) const REFUSAL: &str = "refusal";
/// Shape: the call had no id; this one is ours.
pub(super) const ID_GENERATED: &str = "id_generated";
/// Shape: notes on a message from when it was an answer. They are not followed when it is sent in a request.
pub(super) const ANSWER: &str = "answer";

/// The kind of document being read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Request,
    Response,
}

impl Side {
    /// Returns the part for fields of this side that the format does not have.
    pub(super) fn unknown(self) -> Part {
        match self {
            Side::Request => Part::Extra,
            Side::Response => Part::Answer,
        }
    }
}

/// Notes about one object while it is being read.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) state: Fields,
    pub(super) shape: Fields,
    pub(super) extra: Fields,
}

impl Notes {
    /// Sets a flag about the spelling.
    pub(super) fn mark(&mut self, name: &str) {
        self.shape.set(name, true);
    }

    /// Keeps unknown fields of an inner object, prefixed with its name: `image_url.detail`.
    pub(super) fn keep_inner(&mut self, object: &str, fields: Fields) {
        fields.into_iter().for_each(|(name, value)| self.extra.push(format!("{object}.{name}"), value));
    }

    pub(super) fn into_data(self, side: Side) -> ProviderData {
        let mut data = ProviderData::default();
        data.extend_part(DIALECT, Part::State, self.state);
        data.extend_part(DIALECT, side.unknown(), self.extra);
        data.extend_part(DIALECT, Part::Shape, self.shape);
        data
    }

    /// Like [`into_data`](Notes::into_data), for spelling that applies only to the kind of document it was found in: an
    /// answer's is not followed in a request.
    pub(super) fn into_bound_data(mut self, side: Side) -> ProviderData {
        if side == Side::Response && !self.shape.is_empty() {
            let shape = std::mem::take(&mut self.shape);
            self.shape.set(ANSWER, Json::from(shape));
        }
        self.into_data(side)
    }
}

/// Returns how something was spelled.
pub(super) fn shape(data: &ProviderData) -> &Fields {
    data.part(DIALECT, Part::Shape)
}

/// Returns how something was spelled in one side's documents, for spelling that is bound to a side.
pub(super) fn bound_shape(data: &ProviderData, side: Side) -> Cow<'_, Fields> {
    let shape = shape(data);
    match side {
        Side::Request => Cow::Borrowed(shape),
        Side::Response => Cow::Owned(shape.get(ANSWER).and_then(|notes| notes.to().ok()).unwrap_or_default()),
    }
}

/// Returns the unknown fields to write back.
pub(super) fn extra(data: &ProviderData, side: Side) -> &Fields {
    data.part(DIALECT, side.unknown())
}

/// Returns the unknown fields of an inner object to write back.
pub(super) fn inner<'a>(extra: &'a Fields, object: &str) -> Rest<'a> {
    let own = extra.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix(object)?.strip_prefix('.')?;
        Some((Cow::Borrowed(name), Cow::Borrowed(value.raw())))
    });
    own.collect()
}

/// Returns the unknown fields around an inner object.
pub(super) fn around<'a>(extra: &'a Fields, object: &str) -> Rest<'a> {
    let is_inside = |name: &str| name.strip_prefix(object).is_some_and(|rest| rest.starts_with('.'));
    let own = extra.iter().filter(|(name, _)| !is_inside(name));
    own.map(|(name, value)| (Cow::Borrowed(name), Cow::Borrowed(value.raw()))).collect()
}

/// Inserts items at their places among the others; the places are in ascending order.
pub(super) fn put_in_places<T>(items: &mut Vec<T>, placed: impl IntoIterator<Item = (usize, T)>) {
    let mut others = std::mem::take(items).into_iter();
    for (place, item) in placed {
        items.extend(others.by_ref().take(place.saturating_sub(items.len())));
        items.push(item);
    }
    items.extend(others);
}

/// How `content` was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ContentShape {
    /// A list of parts where a string would have done.
    Parts,
    /// `null`.
    Null,
    /// Missing.
    Absent,
    /// An empty string.
    Empty,
}

impl ContentShape {
    /// Reads the shape from the notes.
    pub(super) fn read(shape: &Fields) -> Option<Self> {
        shape.get(CONTENT)?.to().ok()
    }

    /// Notes the shape.
    pub(super) fn note(self, shape: &mut Fields) {
        shape.set(CONTENT, Json::of(&self).unwrap_or_default());
    }
}
