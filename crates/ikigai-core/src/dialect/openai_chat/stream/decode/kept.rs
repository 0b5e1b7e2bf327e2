//! What a stream says around its text, kept as a whole answer has it.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::dialect::openai_chat::notes::{CONTENT, ContentShape, EXTRA_CONTENT, Notes, Side};
use crate::dialect::openai_chat::response::{CHOICE, CHOICES, FINISH_REASON, MESSAGE, usage_elsewhere};
use crate::dialect::openai_chat::wire::{Answer, Choice};
use crate::{Fields, Json, ProviderData};

/// Named values, of which the later ones hold.
#[derive(Debug, Default)]
pub(super) struct Later {
    fields: Vec<(String, Grown)>,
    places: HashMap<String, usize>,
}

#[derive(Debug)]
enum Grown {
    Value(Json),
    List(Vec<Json>),
}

impl Later {
    fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// A later value replaces an earlier one; a null only fills a gap.
    pub(super) fn set(&mut self, name: String, value: Json) {
        match self.find(&name) {
            Some(_) if value.is_null() => {}
            Some(known) => *known = Grown::Value(value),
            None => self.push(name, Grown::Value(value)),
        }
    }

    /// As [`set`](Later::set), but a list grows.
    fn grow(&mut self, name: &str, value: Json) {
        let Some(items) = value.text().starts_with('[').then(|| value.to::<Vec<Json>>().ok()).flatten() else {
            return self.set(name.to_owned(), value);
        };
        match self.find(name) {
            Some(Grown::List(list)) => list.extend(items),
            Some(known) => *known = Grown::List(items),
            None => self.push(name.to_owned(), Grown::List(items)),
        }
    }

    fn find(&mut self, name: &str) -> Option<&mut Grown> {
        let place = *self.places.get(name)?;
        self.fields.get_mut(place).map(|(_, value)| value)
    }

    fn push(&mut self, name: String, value: Grown) {
        self.places.insert(name.clone(), self.fields.len());
        self.fields.push((name, value));
    }

    pub(super) fn into_fields(self) -> Fields {
        let value = |grown| match grown {
            Grown::Value(value) => value,
            Grown::List(items) => Json::of(&items).unwrap_or_default(),
        };
        self.fields.into_iter().map(|(name, grown)| (name, value(grown))).collect()
    }
}

/// What was said so far.
#[derive(Debug, Default)]
pub(super) struct Kept {
    body: Later,
    choice: Later,
    message: Later,
    logprobs: Later,
    extra_content: Option<Json>,
    /// Content came as a list of parts.
    pub(super) in_parts: bool,
}

impl Kept {
    /// Takes what a chunk says besides its text. Only the first and the last chunks of a stream say anything. Gives the
    /// counts that stand elsewhere than in `usage`.
    pub(super) fn chunk(&mut self, answer: &Answer<'_>, choice: Option<&Choice<'_>>) -> Option<String> {
        if let Some(created) = &answer.created {
            self.body.set("created".to_owned(), created.to_json());
        }
        for (name, value) in &answer.rest {
            // The last two are padding against guesses by length.
            if !matches!(name.as_ref(), "id" | "object" | "model" | "usage" | "error" | "choices" | "obfuscation" | "p")
            {
                self.body.set(name.clone().into_owned(), Json::copy(value));
            }
        }
        let nothing = Choice::default();
        for (name, value) in &choice.unwrap_or(&nothing).rest {
            let is_count = name == "usage" && value.get().starts_with('{');
            if !(is_count || matches!(name.as_ref(), "index" | "delta" | "finish_reason" | "logprobs" | "message")) {
                self.choice.set(name.clone().into_owned(), Json::copy(value));
            }
        }
        usage_elsewhere(answer, choice.unwrap_or(&nothing)).map(|counts| counts.text().to_owned())
    }

    /// Takes a field of a delta that only some know. Lists grow, the rest is replaced.
    pub(super) fn field(&mut self, name: &str, value: &RawValue) {
        self.message.grow(name, Json::copy(value));
    }

    pub(super) fn extra_content(&mut self, state: Json) {
        self.extra_content = Some(state);
    }

    /// Takes the probabilities of some more tokens.
    pub(super) fn logprobs(&mut self, raw: &RawValue) {
        for (name, value) in serde_json::from_str::<Fields>(raw.get()).unwrap_or_default() {
            self.logprobs.grow(&name, value);
        }
    }

    /// Everything, as the answer's own data, with the provider's word for the end and the other choices.
    pub(super) fn into_data(mut self, word: Option<&str>, others: &[Json]) -> ProviderData {
        let mut notes = Notes::default();
        if let Some(word) = word {
            notes.extra.push(FINISH_REASON, word);
        }
        if let Some(state) = self.extra_content {
            notes.state.set(EXTRA_CONTENT, state);
        }
        if !self.logprobs.is_empty() {
            self.choice.set("logprobs".to_owned(), self.logprobs.into_fields().into());
        }
        for (prefix, fields) in [("", self.body), (CHOICE, self.choice), (MESSAGE, self.message)] {
            for (name, value) in fields.into_fields() {
                notes.extra.push(format!("{prefix}{name}"), value);
            }
        }
        if !others.is_empty() {
            notes.extra.push(CHOICES, Json::of(others).unwrap_or_default());
        }
        if self.in_parts {
            notes.shape.set(CONTENT, ContentShape::Parts.as_str());
        }
        notes.into_bound_data(Side::Response)
    }
}
