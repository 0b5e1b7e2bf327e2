//! Which rules hold for which model: the rows of `data/families.toml`, and how an id finds its row.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use toml::{Table, Value};

use super::Rules;

static FAMILIES: LazyLock<Families> = LazyLock::new(|| {
    // A broken file cannot be shipped: a test reads it. Were it broken all the same, every model would be an unknown one.
    Families::parse(include_str!("../../data/families.toml")).unwrap_or_default()
});

/// What the family of a model takes on the wire.
///
/// The id may be dated, carry a vendor (`anthropic/claude-…`, `us.anthropic.claude-…-v1:0`, `models/gemini-…`) and
/// have dots or dashes in its version. A model that no row knows gets [`Rules::default`].
///
/// ```
/// use ikigai_core::{ThinkingKind, rules_for};
///
/// assert_eq!(rules_for("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), rules_for("anthropic/claude-sonnet-4.5"));
/// assert_eq!(rules_for("a-model-of-my-own").thinking.kind, ThinkingKind::None);
/// ```
pub fn rules_for(model: &str) -> &'static Rules {
    let families: &'static Families = &FAMILIES;
    families.find(model).unwrap_or(&families.unknown)
}

#[derive(Debug, Default)]
struct Families {
    rows: Vec<Row>,
    unknown: Rules,
}

#[derive(Debug)]
struct Row {
    patterns: Vec<Pattern>,
    rules: Rules,
}

/// The file as it is written.
#[derive(Deserialize)]
struct File {
    like: BTreeMap<String, Table>,
    family: Vec<Table>,
}

impl Families {
    fn parse(text: &str) -> Result<Families, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let rows = file
            .family
            .into_iter()
            .map(|mut row| {
                let patterns: Vec<String> = row
                    .remove("match")
                    .ok_or("a row without `match`")?
                    .try_into()
                    .map_err(|error| format!("match: {error}"))?;
                let rules = Value::Table(inherit(row, &file.like, 0)?)
                    .try_into::<Rules>()
                    .map_err(|error| format!("{patterns:?}: {error}"))?;
                Ok(Row { patterns: patterns.iter().map(|text| Pattern::new(text)).collect(), rules })
            })
            .collect::<Result<Vec<Row>, String>>()?;
        Ok(Families { rows, unknown: Rules::default() })
    }

    fn find(&self, model: &str) -> Option<&Rules> {
        let id = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let mut id = id.strip_prefix("ft:").unwrap_or(&id);
        loop {
            let dashed = id.replace('.', "-");
            let row = self
                .rows
                .iter()
                .flat_map(|row| row.patterns.iter().map(move |pattern| (pattern, row)))
                .filter(|(pattern, _)| pattern.matches(&dashed))
                .max_by_key(|(pattern, _)| pattern.weight());
            if let Some((_, row)) = row {
                return Some(&row.rules);
            }
            // `us.anthropic.claude-…`: a region, a vendor, the model.
            match id.split_once('.') {
                Some((vendor, rest)) if vendor.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-') => id = rest,
                _ => return None,
            }
        }
    }
}

/// The fields of a table over those of the table that it is like.
fn inherit(mut own: Table, like: &BTreeMap<String, Table>, depth: usize) -> Result<Table, String> {
    let Some(name) = own.remove("like") else { return Ok(own) };
    let name = name.as_str().unwrap_or_default().to_owned();
    if depth > like.len() {
        return Err(format!("`{name}` is like itself"));
    }
    let base = like.get(&name).ok_or_else(|| format!("no table is called like.{name}"))?;
    let mut base = inherit(base.clone(), like, depth + 1)?;
    lay_over(&mut base, own);
    Ok(base)
}

fn lay_over(base: &mut Table, own: Table) {
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            // `means` is a table too, but is replaced as a whole like every other value.
            (Some(Value::Table(below)), Value::Table(above)) if key == "thinking" => lay_over(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// The beginning of model ids.
#[derive(Debug)]
struct Pattern {
    start: String,
    /// What must come later on, after a `*`.
    later: Option<String>,
    /// The version, of which this is the least.
    at_least: Option<u32>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let (text, at_least) = match text.strip_suffix('+') {
            None => (text, None),
            Some(open) => {
                let start = open.trim_end_matches(|c: char| c.is_ascii_digit());
                (start, open.strip_prefix(start).and_then(|digits| digits.parse().ok()))
            }
        };
        match text.split_once('*') {
            None => Pattern { start: text.to_owned(), later: None, at_least },
            Some((start, later)) => Pattern { start: start.to_owned(), later: Some(later.to_owned()), at_least },
        }
    }

    /// Patterns with a later part go first; then the one that spells out the most; then the one for newer versions.
    fn weight(&self) -> (bool, usize, Option<u32>) {
        (self.later.is_some(), self.start.len() + self.later.as_ref().map_or(0, String::len), self.at_least)
    }

    fn matches(&self, id: &str) -> bool {
        let Some(rest) = id.strip_prefix(self.start.as_str()) else { return false };
        match &self.later {
            None => self.may_end(&self.start, rest),
            Some(later) => rest
                .match_indices(later.as_str())
                .filter_map(|(at, found)| rest.get(at + found.len()..))
                .any(|rest| self.may_end(later, rest)),
        }
    }

    /// May a match end here, with `spelt` before and `rest` behind?
    fn may_end(&self, spelt: &str, rest: &str) -> bool {
        match self.at_least {
            Some(least) => version(rest).is_some_and(|version| version >= least),
            None if rest.starts_with(|c: char| c.is_ascii_alphanumeric()) => false,
            // A short number behind a number is a version of its own; a long one is a date.
            None => {
                !(spelt.ends_with(|c: char| c.is_ascii_digit()) && rest.strip_prefix('-').and_then(version).is_some())
            }
        }
    }
}

/// The version number that a text begins with: one or two digits, and then no more of the word.
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
