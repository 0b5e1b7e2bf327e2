//! Decides who may read sealed state, once, for all dialects.

use crate::Message;
use crate::catalog::rules_for;
use crate::catalog::{Rules, StateScope};
use crate::wire::Target;

/// The issuer of a message's state, from the target's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Issuer {
    /// The target itself, and its model can read the state.
    Target,
    /// Not known; the state is then assumed to be the target's.
    Unknown,
    /// A model of the same provider whose state this one cannot read.
    OtherModel,
    OtherProvider,
}

impl Issuer {
    pub(super) fn of(message: &Message, target: &Target<'_>, rules: &Rules, model: &str) -> Issuer {
        let known = match message.provider.as_deref() {
            Some(provider) if provider != target.provider => return Issuer::OtherProvider,
            Some(_) => Issuer::Target,
            None => Issuer::Unknown,
        };
        let readable = message.model.as_deref().is_none_or(|issuer| match rules.bound_state {
            StateScope::Provider => true,
            StateScope::Family => rules_for(issuer).family == rules.family || same_model(issuer, model),
            StateScope::Model => same_model(issuer, model),
        });
        if readable { known } else { Issuer::OtherModel }
    }

    /// Returns whether the target may read it.
    pub(super) fn is_own(self) -> bool {
        matches!(self, Issuer::Target | Issuer::Unknown)
    }
}

/// Returns whether two ids name one model. A provider may answer with a dated id; clouds and relays decorate theirs.
pub(super) fn same_model(one: &str, other: &str) -> bool {
    let (one, other) = (bare(one), bare(other));
    let dashed = |c: u8| if c == b'.' { b'-' } else { c.to_ascii_lowercase() };
    one.len() == other.len() && one.bytes().map(dashed).eq(other.bytes().map(dashed))
}

/// Returns `claude-opus-4` for `us.anthropic.claude-opus-4-20250514-v1:0`, `claude-opus-4@20250514`, `claude-opus-4-0`.
fn bare(id: &str) -> &str {
    let id = id.rsplit('/').next().unwrap_or(id);
    let id = id.split('@').next().unwrap_or(id);
    // Amazon's `us.anthropic.`: words without digits before the last dot. The id ends with a version.
    let is_word = |byte: u8| byte.is_ascii_alphabetic() || byte == b'.' || byte == b'-';
    let id = match id.rsplit_once('.') {
        Some((vendor, id)) if vendor.bytes().all(is_word) => match id.rsplit_once("-v") {
            Some((id, version)) if is_version(version) => id,
            _ => id,
        },
        _ => id,
    };
    let id = without_date(id.strip_suffix("-latest").unwrap_or(id));
    id.strip_suffix("-0").unwrap_or(id)
}

fn is_version(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once(':') {
        Some((major, minor)) => digits(major) && digits(minor),
        None => digits(text),
    }
}

/// Returns a model's id without the date after it: `-20250929`, `-2025-09-29`, `-09-2025`, `-05-06`.
fn without_date(id: &str) -> &str {
    let head = id.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let tail = id.get(head.len()..).unwrap_or_default();
    // A version before the date is kept: `claude-opus-4-1-20250805` ends with `-4-1-20250805`.
    for shape in ["-dddd-dd-dd", "-dddddddd", "-dd-dddd", "-dd-dd"] {
        let fits = |text: &str| {
            text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(|(c, s)| (c == b'-') == (s == b'-'))
        };
        if let Some(at) = tail.len().checked_sub(shape.len())
            && tail.get(at..).is_some_and(fits)
        {
            return id.get(..head.len() + at).unwrap_or(id);
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_goes_by_many_ids() {
        let same = [
            "claude-opus-4",
            "claude-opus-4-0",
            "claude-opus-4-20250514",
            "claude-opus-4@20250514",
            "us.anthropic.claude-opus-4-20250514-v1:0",
            "anthropic/claude-opus-4",
            "Claude-Opus-4-latest",
        ];
        for id in same {
            assert!(same_model(id, "claude-opus-4-20250514"), "{id}");
        }
        for other in ["claude-opus-4-1", "claude-opus-4-5-20251101", "claude-sonnet-4-0", "gpt-4.1"] {
            assert!(!same_model(other, "claude-opus-4"), "{other}");
        }
    }

    #[test]
    fn dates_have_several_forms_and_versions_are_no_dates() {
        for (one, other) in [
            ("gpt-5-2025-08-07", "gpt-5"),
            ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro-preview"),
            ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash-preview"),
            ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
            ("claude-opus-4-1-20250805", "claude-opus-4-1"),
            ("gemma3:4b", "gemma3:4b"),
        ] {
            assert!(same_model(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("gpt-5", "gpt-5.1"),
            ("gemini-2.5-pro", "gemini-3-pro"),
            ("gemma3:4b", "gemma3:12b"),
            ("grok-4", "grok-4-fast"),
            ("deepseek-v3", "deepseek-v4"),
        ] {
            assert!(!same_model(one, other), "{one} {other}");
        }
    }
}
