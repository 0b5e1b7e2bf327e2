//! The unknown fields of an object, and how it was spelled.
//!
//! Unknown fields go to [`Part::Extra`], those of an inner object under its name. Fields that say nothing (`null`,
//! `false`, an empty list) are only spelling, and so are snake_case names: both go to [`Part::Shape`].

use std::borrow::Cow;

use super::DIALECT;
use crate::fit::Spelling;
use crate::json::tagged::Object;
use crate::json::wire::{Names, Rest, read_str};
use crate::{Fields, Json, Part, ProviderData};

/// The key for fields that say nothing.
const DEFAULTS: &str = "defaults";
/// The key for unusual names.
pub(super) const NAMES: &str = "names";

/// The leftovers of an object being read.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    extra: Fields,
    defaults: Fields,
    names: Vec<String>,
}

impl Leftovers {
    /// Adds the remaining fields of the object itself.
    pub(super) fn take(&mut self, fields: Fields) {
        if fields.is_empty() {
            return;
        }
        let (extra, defaults) = split(fields);
        self.extra.merge(extra);
        self.defaults.merge(defaults);
    }

    /// Adds the remaining fields of an inner object.
    pub(super) fn take_inner(&mut self, member: &str, fields: Fields) {
        if fields.is_empty() {
            return;
        }
        let (extra, defaults) = split(fields);
        if !extra.is_empty() {
            self.extra.push(member, extra);
        }
        if !defaults.is_empty() {
            self.defaults.push(member, defaults);
        }
    }

    /// Notes unusual names.
    pub(super) fn spelled(&mut self, names: Names<'_>) {
        self.names.extend(names.into_iter().map(Cow::into_owned));
    }

    /// Stores everything in its place.
    pub(super) fn keep(self, data: &mut ProviderData) {
        data.extend_part(DIALECT, Part::Extra, self.extra);
        if !self.defaults.is_empty() {
            data.set_part(DIALECT, Part::Shape, DEFAULTS, self.defaults);
        }
        if !self.names.is_empty() {
            data.set_part(DIALECT, Part::Shape, NAMES, Json::of(&self.names).unwrap_or_default());
        }
    }
}

/// Splits the fields into those that say something, and those that do not.
fn split(fields: Fields) -> (Fields, Fields) {
    let (defaults, extra): (Vec<_>, Vec<_>) =
        fields.into_iter().partition(|(name, value)| says_nothing(name, value.text()));
    (extra.into_iter().collect(), defaults.into_iter().collect())
}

/// Whether a field says no more than its absence would.
fn says_nothing(name: &str, value: &str) -> bool {
    let of_its_own = match name {
        "candidateCount" | "candidate_count" => value == "1",
        "responseModalities" | "response_modalities" => value == r#"["TEXT"]"#,
        // Only a system prompt can have this field left over, and the API ignores it there.
        "role" => true,
        _ => false,
    };
    of_its_own || matches!(value, "null" | "false" | "[]" | "{}")
}

/// The leftovers to be written back into an object.
#[derive(Debug, Default)]
pub(super) struct Kept<'a> {
    fields: Rest<'a>,
    names: Names<'a>,
}

impl<'a> Kept<'a> {
    pub(super) fn of(data: &'a ProviderData, spelling: Spelling) -> Self {
        let mut kept = Kept { fields: data.part(DIALECT, Part::Extra).as_rest(), names: Names::default() };
        let shape = data.part(DIALECT, Part::Shape);
        if spelling == Spelling::AsItCame && !shape.is_empty() {
            let defaults: Option<Object<'a>> = shape.get(DEFAULTS).and_then(|fields| fields.to().ok());
            kept.fields.extend(defaults.unwrap_or_default().0);
            kept.names = shape.get(NAMES).and_then(|names| names.to().ok()).unwrap_or_default();
        }
        kept
    }

    /// Returns the unusual names.
    pub(super) fn names(&self) -> Names<'a> {
        self.names.clone()
    }

    /// Returns the object's own fields, without those of inner objects.
    pub(super) fn rest(&self, inside: &[&str]) -> Rest<'a> {
        let is_object = |value: &str| value.starts_with('{') && value != "{}";
        let own = self.fields.iter().filter(|(name, raw)| !inside.contains(&name.as_ref()) || !is_object(raw.get()));
        own.cloned().collect()
    }

    /// Returns the fields of an inner object.
    pub(super) fn inner(&self, member: &str) -> Rest<'a> {
        let objects = self.fields.iter().filter(|(name, _)| name == member).filter_map(|(_, raw)| match raw {
            Cow::Borrowed(raw) => read_str::<Object<'a>>(raw.get()).ok(),
            Cow::Owned(_) => None,
        });
        objects.flat_map(|Object(fields)| fields).collect()
    }
}
