//! `[roles.NAME]` and `[templates.NAME]`: named prompts.

use std::collections::BTreeMap;

use ikigai::Level;
use ikigai_core::near;
use serde::{Deserialize, Serialize};

use super::Settings;
use crate::exit::Failure;
use crate::names::with_level;

/// The keys of a role, and of a template.
pub(super) const ROLE_KEYS: [&str; 4] = ["prompt", "model", "thinking", "tools"];
pub(super) const TEMPLATE_KEYS: [&str; 1] = ["text"];
/// The placeholder for everything that is not a named value.
const INPUT: &str = "input";

/// A named system prompt, and the model that answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Role {
    /// The system prompt.
    pub(crate) prompt: String,
    /// The model, if not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The thinking level, if the model's name has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<Level>,
    /// Whether the model may use tools, if not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<bool>,
}

impl Role {
    /// Returns the model with its level.
    pub(crate) fn model(&self) -> Option<String> {
        let model = self.model.as_deref()?;
        Some(match (with_level(model), self.thinking) {
            ((_, None), Some(level)) => format!("{model}/{}", level.as_str()),
            _ => model.to_owned(),
        })
    }
}

/// A named question with placeholders: `{{input}}`, `{{language}}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Template {
    /// The text with its placeholders.
    pub(crate) text: String,
}

impl Template {
    /// Returns the names of its placeholders, each once.
    pub(crate) fn placeholders(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for (_, name) in pieces(&self.text) {
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names
    }

    /// Whether it has `{{input}}`, but none of the words is left for it.
    pub(crate) fn lacks_input(&self, words: &[String]) -> bool {
        let placeholders = self.placeholders();
        placeholders.contains(&INPUT) && words.iter().all(|word| value(word, &placeholders).is_some())
    }

    /// Fills the text with values: leading words like `language=French`, and the rest as `{{input}}`. If the text has
    /// no `{{input}}`, the input is added at the end.
    pub(crate) fn fill(&self, template: &str, words: &[String]) -> Result<String, Failure> {
        let placeholders = self.placeholders();
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        let mut rest = words;
        while let [word, after @ ..] = rest
            && let Some((name, text)) = value(word, &placeholders)
        {
            values.insert(name, text);
            rest = after;
        }
        let input = rest.join(" ");
        let has_input = !input.trim().is_empty();
        if has_input {
            values.insert(INPUT, &input);
        }
        let missing = |name: &&&str| !values.contains_key(**name);
        if let Some(name) = placeholders.iter().find(missing) {
            let failure = Failure::usage(format!("template `{template}` needs a value for `{{{{{name}}}}}`"));
            return Err(match *name {
                INPUT => failure.hint(format!("Write it after the name: {template} …")),
                name => failure.hint(format!("For example: {template} {name}=…")),
            });
        }
        let mut text = String::new();
        for (before, name) in pieces(&self.text) {
            text.push_str(before);
            text.push_str(name.and_then(|name| values.get(name)).unwrap_or(&""));
        }
        if has_input && !placeholders.contains(&INPUT) {
            text = format!("{}\n\n{input}", text.trim_end());
        }
        Ok(text)
    }
}

/// Splits a word like `language=French` into its placeholder and value.
fn value<'a>(word: &'a str, placeholders: &[&str]) -> Option<(&'a str, &'a str)> {
    word.split_once('=').filter(|(name, _)| *name != INPUT && placeholders.contains(name))
}

/// Splits the text into pieces: the text before a placeholder, and its name. The last piece has no name.
fn pieces(text: &str) -> Vec<(&str, Option<&str>)> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let (mut pieces, mut start, mut from) = (Vec::new(), 0, 0);
    while let Some(open) = text.get(from..).and_then(|rest| rest.find("{{")).map(|at| from + at) {
        let inner = text.get(open + 2..).unwrap_or_default();
        match inner.split_once("}}").map(|(name, _)| name) {
            Some(name) if is_name(name.trim()) => {
                pieces.push((text.get(start..open).unwrap_or_default(), Some(name.trim())));
                start = open + 2 + name.len() + 2;
                from = start;
            }
            // Literal braces.
            _ => from = open + 1,
        }
    }
    pieces.push((text.get(start..).unwrap_or_default(), None));
    pieces
}

impl Settings {
    /// Finds a role by name.
    pub(crate) fn role(&self, name: &str) -> Result<&Role, Failure> {
        self.roles.get(name).ok_or_else(|| unknown("role", "prompt", name, self.roles.keys()))
    }

    /// Finds a template by name.
    pub(crate) fn template(&self, name: &str) -> Result<&Template, Failure> {
        self.templates.get(name).ok_or_else(|| unknown("template", "text", name, self.templates.keys()))
    }
}

fn unknown<'a>(what: &str, key: &str, name: &str, known: impl Iterator<Item = &'a String>) -> Failure {
    let known: Vec<&str> = known.map(String::as_str).collect();
    let failure = Failure::usage(format!("unknown {what} `{name}`"));
    match (near::close(name, known.iter().copied()), known.is_empty()) {
        (Some(close), _) => failure.hint(format!("Did you mean `{close}`?")),
        (None, false) => failure.hint(format!("The {what}s are {}.", known.join(", "))),
        (None, true) => failure.hint(format!("Add it with: ikigai config set {what}s.{name}.{key} \"…\"")),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn fill(text: &str, words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Template { text: text.to_owned() }.fill("t", &words).map_err(|failure| failure.what)
    }

    #[test]
    fn a_template_is_filled_with_values_and_input() {
        let text = "Into {{ language }}, {{tone}}:\n\n{{input}}\n({{language}})";
        let filled = fill(text, &["tone=formal", "language=French", "a=b", "is an equation"]);
        assert_eq!(filled, Ok("Into French, formal:\n\na=b is an equation\n(French)".to_owned()));
        assert_eq!(fill(text, &["tone=formal", "Hi"]), Err("template `t` needs a value for `{{language}}`".to_owned()));
        assert_eq!(fill("Say {{input}}", &[]), Err("template `t` needs a value for `{{input}}`".to_owned()));
        assert_eq!(fill("Review this.", &["fn main() {}"]), Ok("Review this.\n\nfn main() {}".to_owned()));
        assert_eq!(fill("Only this", &[]), Ok("Only this".to_owned()));
        // Values are inserted as they are, and other braces stay.
        assert_eq!(fill("{{{x}}} {{ }} {{a b}} {{", &["x={{input}}"]), Ok("{{{input}}} {{ }} {{a b}} {{".to_owned()));
    }

    #[test]
    fn the_level_of_a_role_goes_with_its_model() {
        let role = |model: &str, thinking| Role { model: Some(model.to_owned()), thinking, ..Role::default() };
        assert_eq!(role("opus", Some(Level::High)).model().as_deref(), Some("opus/high"));
        assert_eq!(role("opus/low", Some(Level::High)).model().as_deref(), Some("opus/low"));
        assert_eq!(role("opus", None).model().as_deref(), Some("opus"));
        assert_eq!(Role { thinking: Some(Level::High), ..Role::default() }.model(), None);
    }

    #[test]
    fn unknown_names_are_told_with_the_nearest() {
        let roles = BTreeMap::from([("reviewer".to_owned(), Role::default())]);
        let settings = Settings { roles, ..Settings::default() };
        let told = |name: &str| settings.role(name).map(drop).map_err(|failure| (failure.what, failure.hint.unwrap()));
        assert_eq!(told("reviewer"), Ok(()));
        assert_eq!(
            told("reviever"),
            Err(("unknown role `reviever`".to_owned(), "Did you mean `reviewer`?".to_owned()))
        );
        assert_eq!(told("x"), Err(("unknown role `x`".to_owned(), "The roles are reviewer.".to_owned())));
        let hint = "Add it with: ikigai config set templates.x.text \"…\"".to_owned();
        assert_eq!(settings.template("x").unwrap_err().hint, Some(hint));
    }
}
