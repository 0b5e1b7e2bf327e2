//! What a translation could not carry, or changed.

use serde::{Deserialize, Serialize};

/// How much a [`Loss`] matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Severity {
    /// Everything was carried; the caller may still want to know. Never an error.
    Info,
    /// Something was left out or changed. In strict mode: an error.
    #[default]
    Loss,
}

/// What happened to the subject of a [`Loss`], for programs to act on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LossCode {
    /// The wire format has no field for it; it was left out.
    NotInDialect,
    /// The provider does not accept it, although its dialect has a field for it; it was left out or changed.
    RefusedByProvider,
    /// The model does not accept it; it was left out or changed.
    RefusedByModel,
    /// The model accepts it, but it has no effect or is advised against.
    Discouraged,
    /// Two settings exclude each other; one of them was dropped.
    Conflict,
    /// A value was moved into its range.
    OutOfRange,
    /// It was expressed in another way that means nearly the same.
    Changed,
    /// Sealed state that only its issuer can read; it was left out.
    ForeignState,
    /// A block, tool or field that only another dialect has; it was left out.
    ForeignContent,
    /// An image, document or sound that cannot be sent here.
    Media,
    /// A name or id was changed.
    Renamed,
    /// Counts that do not add up.
    Inconsistent,
    /// A field of the canonical JSON that is not part of the format.
    UnknownField,
    /// None of the others.
    #[default]
    Other,
}

/// One thing that a translation left out or changed: what, where, why.
///
/// ```
/// use ikigai_core::{Loss, LossCode};
///
/// let loss = Loss::new(LossCode::NotInDialect, "top_k", "top_k", "this API has no such parameter");
/// assert_eq!(loss.to_string(), "top_k at top_k: this API has no such parameter");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Loss {
    /// How much it matters; absent in JSON: a loss.
    #[serde(default, skip_serializing_if = "is_loss")]
    pub severity: Severity,
    /// What happened, for programs.
    #[serde(default)]
    pub code: LossCode,
    /// The name of the subject in the format: `thinking`, `top_k`, `image`.
    pub what: String,
    /// Its place in the canonical request or response: `messages[3].content[0]`.
    #[serde(rename = "where")]
    pub place: String,
    /// The reason, and what was done instead.
    pub why: String,
}

impl Loss {
    /// Creates the report of something that was left out or changed.
    pub fn new(code: LossCode, what: impl Into<String>, place: impl Into<String>, why: impl Into<String>) -> Self {
        Loss { severity: Severity::Loss, code, what: what.into(), place: place.into(), why: why.into() }
    }

    /// Creates the report of something worth knowing that lost nothing.
    pub fn info(code: LossCode, what: impl Into<String>, place: impl Into<String>, why: impl Into<String>) -> Self {
        Loss { severity: Severity::Info, ..Loss::new(code, what, place, why) }
    }
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}: {}", self.what, self.place, self.why)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_loss(severity: &Severity) -> bool {
    *severity == Severity::Loss
}
