//! `/model`, `/models`, `/thinking`, `/system`.

use anstyle::AnsiColor;

use super::super::complete;
use super::super::session::Choice;
use super::super::{Talk, painted};
use crate::exit::Failure;
use crate::levels::switch_banner;
use crate::screen::notice;

/// So many names are shown at once.
const MOST_MODELS: usize = 60;
const BUDGET: &str = "--thinking-budget";

impl Talk {
    /// Another model from the next message on; without a name, which one it is.
    pub(super) async fn model(&mut self, words: &[String]) -> Result<(), Failure> {
        let (name, budget) = arguments(words)?;
        let Some(name) = name else {
            return match self.session.choice.clone() {
                Some(choice) => {
                    let words = format!("{}:{} answers.", choice.name.provider, choice.short());
                    self.print(&notice::info(&words, self.look))?;
                    self.session.prefill = Some("/model ".to_owned());
                    self.print(&notice::info("Another one: /model NAME/LEVEL; Tab shows the names.", self.look))
                }
                None => Err(self.session.no_model()),
            };
        };
        let choice = Choice { budget, ..self.session.parse(&name)? };
        let banner = self.banner(&choice, typed(&name, &choice))?;
        self.session.switch(choice).await?;
        self.print(&self.styled(&banner))
    }

    /// What a person sees when the model is switched, by the name that they gave it.
    fn banner(&self, choice: &Choice, name: &str) -> Result<String, Failure> {
        let route = self.session.access.registry().route(&choice.name).map_err(ikigai::Error::from)?;
        Ok(switch_banner(&route, name, choice.thinking().as_ref()))
    }

    /// A banner in the colours of the screen: its words are what they are, so nothing is wrapped.
    fn styled(&self, banner: &str) -> String {
        let mut text = String::new();
        for line in banner.lines() {
            let line = match line.trim_start().chars().next() {
                Some('✓') => painted(self.look, AnsiColor::Green.on_default(), line),
                Some('⚠') => painted(self.look, AnsiColor::Yellow.on_default(), line),
                _ => line.to_owned(),
            };
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// Models whose names hold a word.
    pub(super) fn models(&mut self, word: &str) -> Result<(), Failure> {
        let registry = self.session.access.registry();
        let names = complete::models(registry).into_iter().filter(|name| name.contains(word));
        let names: Vec<String> = names.take(MOST_MODELS).collect();
        if names.is_empty() {
            return Err(Failure::new(format!("no model's name holds `{word}`")).hint("`ikigai models list` has all."));
        }
        self.print(&notice::info(&names.join("  "), self.look))
    }

    pub(super) fn thinking(&mut self, word: &str) -> Result<(), Failure> {
        match word {
            "show" => self.session.show_thinking = true,
            "hide" => self.session.show_thinking = false,
            "last" | "" => return self.show_last_thinking(),
            other => {
                return Err(Failure::new(format!("`{other}` is none of show, hide, last")));
            }
        }
        let words = if self.session.show_thinking { "Thinking is shown in full." } else { "Thinking is one line." };
        self.print(&notice::success(words, &[], self.look))
    }

    pub(super) async fn system(&mut self, text: &str) -> Result<(), Failure> {
        match text {
            "" => {
                let words = self.session.system.as_deref().unwrap_or("There is no system prompt.");
                self.print(&notice::info(words, self.look))
            }
            "clear" => {
                self.session.set_system(None).await?;
                self.print(&notice::success("No system prompt from now on.", &[], self.look))
            }
            text => {
                self.session.set_system(Some(text.to_owned())).await?;
                self.print(&notice::success("System prompt set.", &[], self.look))
            }
        }
    }
}

/// The model's name as a person wrote it, without provider and level.
fn typed<'a>(name: &'a str, choice: &Choice) -> &'a str {
    let name = match name.split_once(':') {
        Some((provider, rest)) if !choice.name.id.starts_with(provider) => rest,
        _ => name,
    };
    match (choice.name.level, name.rsplit_once('/')) {
        (Some(_), Some((model, _))) => model,
        _ => name,
    }
}

/// The name and the budget, in either order.
fn arguments(words: &[String]) -> Result<(Option<String>, Option<i64>), Failure> {
    let (mut name, mut budget) = (None, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix(BUDGET) {
            Some("") => Some(words.next().map(String::as_str).unwrap_or_default()),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        match value {
            Some(value) => {
                let tokens = value.replace(['_', ','], "").parse::<i64>().ok().filter(|tokens| *tokens >= 0);
                budget = Some(tokens.ok_or_else(|| {
                    Failure::new(format!("`{value}` is no number of tokens")).hint(format!("{BUDGET}=50000"))
                })?);
            }
            None if word.starts_with("--") => {
                return Err(Failure::new(format!("/model has no option {word}")).hint(format!("It has {BUDGET}=N.")));
            }
            None if name.is_none() => name = Some(word.clone()),
            None => return Err(Failure::new(format!("one model at a time: `{word}` is too much"))),
        }
    }
    Ok((name, budget))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(line: &str) -> Result<(Option<String>, Option<i64>), String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        arguments(&words).map_err(|failure| failure.what)
    }

    #[test]
    fn a_budget_stands_before_or_behind_the_name() {
        let both = Ok((Some("claude-sonnet-4-5/med".to_owned()), Some(50_000)));
        assert_eq!(read("claude-sonnet-4-5/med --thinking-budget=50000"), both);
        assert_eq!(read("--thinking-budget 50,000 claude-sonnet-4-5/med"), both);
        assert_eq!(read("o3"), Ok((Some("o3".to_owned()), None)));
        assert_eq!(read(""), Ok((None, None)));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        assert_eq!(read("o3 --thinking-budget=many"), Err("`many` is no number of tokens".to_owned()));
        assert_eq!(read("o3 --thinking-budget=-1"), Err("`-1` is no number of tokens".to_owned()));
        assert_eq!(read("o3 --thinking-budget"), Err("`` is no number of tokens".to_owned()));
        assert_eq!(read("o3 --loud"), Err("/model has no option --loud".to_owned()));
        assert_eq!(read("o3 o4-mini"), Err("one model at a time: `o4-mini` is too much".to_owned()));
    }
}
