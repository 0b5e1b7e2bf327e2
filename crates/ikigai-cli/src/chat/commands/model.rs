//! `/model`, `/models`, `/thinking`, `/system`.

use anstyle::AnsiColor;
use ikigai::{Message, Role};

use super::super::models;
use super::super::picker::Picker;
use super::super::session::{Choice, Session};
use super::super::typed_names;
use super::super::{Talk, painted};
use crate::exit::Failure;
use crate::levels::switch_banner;
use crate::names::with_level;
use crate::places::Places;
use crate::screen::{Region, notice};
use crate::settings;

/// How many names are shown at once.
const MOST_MODELS: usize = 60;
const BUDGET: &str = "--thinking-budget";
const DEFAULT: &str = "--default";

impl Talk {
    /// Switches to another model from the next message on; without a name, opens the picker.
    pub(super) async fn model(&mut self, words: &[String]) -> Result<(), Failure> {
        let Wanted { name, budget, is_default } = arguments(words)?;
        let Some(name) = name else { return self.pick_model("").await.map(drop) };
        let choice = Choice { budget, ..self.session.parse(&name)? };
        let name = choice.name.to_string();
        self.switch(choice).await?;
        if is_default {
            settings::set(&Places::required()?, "model", &name)?;
            self.print(&notice::success("New chats and `ikigai ask` start with it, too.", &[], self.look))?;
        }
        Ok(())
    }

    /// Switches to another model, and shows what that means for this conversation.
    pub(super) async fn switch(&mut self, choice: Choice) -> Result<(), Failure> {
        self.session.access.check(&choice.name)?;
        // A request that cannot be made is refused here, before the switch is announced. This needs no key.
        let options = self.session.settings.options(&choice.name);
        choice.model(&self.session.client, None, &options).preview(Message::new(Role::User, "Hello"))?;
        let banner = self.banner(&choice)?;
        let costs = self.session.switch_costs(&choice);
        self.session.switch(choice).await?;
        let mut text = self.styled(&banner);
        for (words, shown) in costs {
            text.push_str(&notice::warning(&shown, self.look));
            // Shown now, it need not be shown again with the answer.
            self.session.told.insert(words);
        }
        self.print(&text)
    }

    /// Opens the picker. Returns `false` if nothing was chosen.
    pub(crate) async fn pick_model(&mut self, query: &str) -> Result<bool, Failure> {
        if self.region == Region::Plain {
            let Some(choice) = &self.session.choice else { return Err(self.session.no_model()) };
            let words =
                format!("Current model: {}:{}. Switch with /model NAME/LEVEL", choice.name.provider, choice.short());
            return self.print(&notice::info(&words, self.look)).map(|()| true);
        }
        let rows = models::rows(&self.session).await?;
        let choices = rows.iter().map(|row| row.choice.clone()).collect();
        let detail = |session: &Session, place: usize, query: &str| {
            let Some(row) = rows.get(place) else { return Vec::new() };
            let choice = row.chosen(with_level(query).1);
            match session.access.check(&choice.name) {
                Err(failure) => vec![format!("⚠{}", failure.what)],
                Ok(()) => session.switch_costs(&choice).into_iter().map(|(_, shown)| format!("⚠{shown}")).collect(),
            }
        };
        let picker = Picker::new("Model", choices, query);
        let Some(picked) = self.pick(picker, detail).await? else { return Ok(false) };
        let Some(row) = rows.get(picked.place) else { return Ok(false) };
        let choice = row.chosen(with_level(&picked.query).1);
        self.switch(choice).await.map(|()| true)
    }

    /// Returns the message after switching to a model, with the name that the user typed.
    fn banner(&self, choice: &Choice) -> Result<String, Failure> {
        let route = self.session.access.registry().route(&choice.name).map_err(ikigai::Error::from)?;
        Ok(switch_banner(&route, &choice.name.model, choice.thinking().as_ref()))
    }

    /// Colours a message for the screen. Its lines are fixed, so nothing is wrapped.
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

    /// Lists models whose names contain a word.
    pub(super) fn models(&mut self, word: &str) -> Result<(), Failure> {
        let registry = self.session.access.registry();
        let names = typed_names::models(registry).into_iter().filter(|name| name.contains(word));
        let names: Vec<String> = names.take(MOST_MODELS).collect();
        if names.is_empty() {
            return Err(
                Failure::new(format!("no model name contains `{word}`")).hint("`ikigai models list` lists them all.")
            );
        }
        self.print(&notice::info(&names.join("  "), self.look))
    }

    pub(super) fn thinking(&mut self, word: &str) -> Result<(), Failure> {
        match word {
            "show" => self.session.show_thinking = true,
            "hide" => self.session.show_thinking = false,
            "last" | "" => return self.show_last_thinking(),
            other => {
                return Err(Failure::new(format!("unknown option `{other}`: use show, hide or last")));
            }
        }
        let words =
            if self.session.show_thinking { "Thinking is shown in full." } else { "Thinking is folded to one line." };
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
                self.print(&notice::success("System prompt removed.", &[], self.look))
            }
            text => {
                self.session.set_system(Some(text.to_owned())).await?;
                self.print(&notice::success("System prompt set.", &[], self.look))
            }
        }
    }
}

/// The arguments of `/model`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    name: Option<String>,
    budget: Option<i64>,
    /// Whether it also applies to new chats.
    is_default: bool,
}

/// Parses the name and the options, in any order.
fn arguments(words: &[String]) -> Result<Wanted, Failure> {
    let (mut name, mut budget, mut is_default) = (None, None, false);
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
                    Failure::new(format!("`{value}` is not a number of tokens")).hint(format!("{BUDGET}=50000"))
                })?);
            }
            None if word == DEFAULT => is_default = true,
            None if word.starts_with("--") => {
                let failure = Failure::new(format!("unknown option {word}"));
                return Err(failure.hint(format!("/model takes {BUDGET}=N and {DEFAULT}.")));
            }
            None if name.is_none() => name = Some(word.clone()),
            None => return Err(Failure::new(format!("one model at a time; unexpected `{word}`"))),
        }
    }
    Ok(Wanted { name, budget, is_default })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(line: &str) -> Result<(Option<String>, Option<i64>), String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        arguments(&words).map(|wanted| (wanted.name, wanted.budget)).map_err(|failure| failure.what)
    }

    #[test]
    fn the_default_changes_only_when_that_is_asked_for() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert!(!arguments(&words("o3")).unwrap().is_default);
        assert!(arguments(&words("o3 --default")).unwrap().is_default);
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
        assert_eq!(read("o3 --thinking-budget=many"), Err("`many` is not a number of tokens".to_owned()));
        assert_eq!(read("o3 --thinking-budget=-1"), Err("`-1` is not a number of tokens".to_owned()));
        assert_eq!(read("o3 --thinking-budget"), Err("`` is not a number of tokens".to_owned()));
        assert_eq!(read("o3 --loud"), Err("unknown option --loud".to_owned()));
        assert_eq!(read("o3 o4-mini"), Err("one model at a time; unexpected `o4-mini`".to_owned()));
    }
}
