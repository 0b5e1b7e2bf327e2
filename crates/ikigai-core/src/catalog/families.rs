//! The rules for each model: the rows of `data/families.toml`, and how an id finds its row.

use std::borrow::Cow;

use super::{
    ConverseFields, Drawing, ForcedTools, Rules, Sampling, StateScope, ThinkingDetail, ThinkingDisplay, ThinkingKind,
    ThinkingOff, ToolsInChat,
};
use crate::Level;

// `ROWS`: the rules of each row. `PATTERNS`: the prefixes of model ids, in the order in which they are tried.
include!(concat!(env!("OUT_DIR"), "/families.rs"));

static UNKNOWN: Rules = Rules::NONE;

/// Returns the rules of a model's family: what it accepts.
///
/// The id may contain a date, a vendor (`anthropic/claude-…`, `us.anthropic.claude-…-v1:0`, `models/gemini-…`), and
/// dots or dashes in its version. A model that no row matches gets [`Rules::default`].
///
/// ```
/// use ikigai_core::catalog::{ThinkingKind, rules_for};
///
/// assert_eq!(rules_for("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), rules_for("anthropic/claude-sonnet-4.5"));
/// assert_eq!(rules_for("a-model-of-my-own").thinking.kind, ThinkingKind::None);
/// ```
pub fn rules_for(model: &str) -> &'static Rules {
    find(model).unwrap_or(&UNKNOWN)
}

fn find(model: &str) -> Option<&'static Rules> {
    let id = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let mut id = id.strip_prefix("ft:").unwrap_or(&id);
    loop {
        let dashed = id.replace('.', "-");
        if let Some(pattern) = PATTERNS.iter().find(|pattern| pattern.matches(&dashed)) {
            return ROWS.get(usize::from(pattern.row));
        }
        // `us.anthropic.claude-…`: a region, a vendor, the model.
        match id.split_once('.') {
            Some((vendor, rest)) if vendor.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-') => id = rest,
            _ => return None,
        }
    }
}

/// A prefix of model ids.
#[derive(Debug)]
struct Pattern {
    start: &'static str,
    /// The part that must follow later, after a `*`.
    later: Option<&'static str>,
    /// The minimum version.
    at_least: Option<u32>,
    /// The row it belongs to.
    row: u16,
}

impl Pattern {
    fn matches(&self, id: &str) -> bool {
        let Some(rest) = id.strip_prefix(self.start) else { return false };
        match self.later {
            None => self.may_end(self.start, rest),
            Some(later) => rest
                .match_indices(later)
                .filter_map(|(at, found)| rest.get(at + found.len()..))
                .any(|rest| self.may_end(later, rest)),
        }
    }

    /// Returns whether a match can end here, with `spelt` before and `rest` after it.
    fn may_end(&self, spelt: &str, rest: &str) -> bool {
        match self.at_least {
            Some(least) => version(rest).is_some_and(|version| version >= least),
            None if rest.starts_with(|c: char| c.is_ascii_alphanumeric()) => false,
            // A short number after a number is a separate version; a long one is a date.
            None => {
                !(spelt.ends_with(|c: char| c.is_ascii_digit()) && rest.strip_prefix('-').and_then(version).is_some())
            }
        }
    }
}

/// Returns the version number that a text begins with: one or two digits that end a word.
fn version(text: &str) -> Option<u32> {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_suffix(after)?;
    if digits.len() > 2 || after.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
#[path = "families_tests.rs"]
mod tests;
