//! What a translation could not carry, and what it changed.

use serde::{Deserialize, Serialize};

/// How much a [`Loss`] matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Everything was carried; the caller may still want to know. Never an error.
    Info,
    /// Something was left out or changed. In strict mode: an error.
    #[default]
    Loss,
}

/// One thing that a translation left out or changed: what, where, why.
///
/// ```
/// use ikigai_core::Loss;
///
/// let loss = Loss::new("top_k", "top_k", "this API has no such parameter");
/// assert_eq!(loss.to_string(), "top_k at top_k: this API has no such parameter");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss {
    /// How much it matters; absent in JSON: a loss.
    #[serde(default, skip_serializing_if = "is_loss")]
    pub severity: Severity,
    /// The thing, in the format's words: `thinking`, `top_k`, `image`.
    pub what: String,
    /// Its place in the canonical request or response: `messages[3].content[0]`.
    #[serde(rename = "where")]
    pub place: String,
    /// The reason, and what was done instead.
    pub why: String,
}

impl Loss {
    /// Something that was left out or changed.
    pub fn new(what: impl Into<String>, place: impl Into<String>, why: impl Into<String>) -> Self {
        Loss { severity: Severity::Loss, what: what.into(), place: place.into(), why: why.into() }
    }

    /// Something worth knowing that cost nothing.
    pub fn info(what: impl Into<String>, place: impl Into<String>, why: impl Into<String>) -> Self {
        Loss { severity: Severity::Info, what: what.into(), place: place.into(), why: why.into() }
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
