//! `/role` and `/template`: named prompts.

use super::super::Talk;
use super::super::picker::{self, Picker};
use super::super::session::Choice;
use super::Next;
use crate::exit::Failure;
use crate::screen::{Region, notice};

/// How much of a question made from a template is shown.
const SHOWN: notice::Lines = notice::Lines(6);

impl Talk {
    /// Uses a role from the next message on; without a name, lets the user choose one.
    pub(super) async fn role(&mut self, name: &str) -> Result<(), Failure> {
        let rows = self.session.settings.roles.iter().map(|(name, role)| (name.clone(), role.prompt.clone())).collect();
        let Some(name) = self.named(name, "Role", rows).await? else { return Ok(()) };
        let role = self.session.settings.role(&name)?.clone();
        let choice = match (role.model(), &self.session.choice, role.thinking) {
            (Some(model), ..) => Some(self.session.parse(&model)?),
            (None, Some(choice), Some(level)) if choice.name.level != Some(level) => {
                let mut choice = Choice::from(choice.name.clone());
                choice.name.level = Some(level);
                Some(choice)
            }
            _ => None,
        };
        if let Some(choice) = choice.filter(|choice| self.session.choice.as_ref() != Some(choice)) {
            self.switch(choice).await?;
        }
        self.session.set_system(Some(role.prompt)).await?;
        let mut more = Vec::new();
        if let Some(on) = role.tools.filter(|on| *on != self.session.tooling.is_on()) {
            self.session.tooling.turn(on);
            more.push(if on { "Tools are on." } else { "Tools are off." });
        }
        self.print(&notice::success(&format!("Role {name}. /system shows its prompt."), &more, self.look))
    }

    /// Asks a question from a template; without a name, lets the user choose one.
    pub(super) async fn template(&mut self, words: &[String]) -> Result<Next, Failure> {
        let (name, values) = match words {
            [] => ("", [].as_slice()),
            [name, values @ ..] => (name.as_str(), values),
        };
        let rows: Vec<(String, String)> =
            self.session.settings.templates.iter().map(|(name, kept)| (name.clone(), kept.text.clone())).collect();
        let Some(chosen) = self.named(name, "Template", rows).await? else { return Ok(Next::Prompt) };
        let template = self.session.settings.template(&chosen)?;
        if name.is_empty() && !template.placeholders().is_empty() {
            // The values still have to be typed.
            let values = template.placeholders().into_iter().filter(|name| *name != "input");
            let values: String = values.map(|name| format!("{name}= ")).collect();
            self.session.prefill = Some(format!("/template {chosen} {values}"));
            return Ok(Next::Prompt);
        }
        let text = template.fill(&chosen, values)?;
        self.print(&notice::folded(&text, SHOWN, self.look))?;
        self.say(&text).await
    }

    /// Returns the given name, or the one the user picks. `None` if the user picks none.
    async fn named(
        &mut self,
        name: &str,
        title: &'static str,
        rows: Vec<(String, String)>,
    ) -> Result<Option<String>, Failure> {
        // For an unknown name, the error lists the known ones.
        if !name.is_empty() || rows.is_empty() {
            let none = format!("there are no {}s yet", title.to_lowercase());
            let hint = "`ikigai config edit` opens the settings; docs/terminal.md shows the format.";
            return if name.is_empty() { Err(Failure::new(none).hint(hint)) } else { Ok(Some(name.to_owned())) };
        }
        if self.region == Region::Plain {
            let lines =
                rows.iter().map(|(name, text)| notice::info(&format!("{name}: {}", first_line(text)), self.look));
            self.print(&lines.collect::<String>())?;
            return Ok(None);
        }
        let row = |(name, text): &(String, String)| picker::Choice {
            columns: vec![name.clone(), first_line(text).to_owned()],
            words: format!("{name} {text}"),
            is_dim: false,
        };
        let picked = self.pick(Picker::new(title, rows.iter().map(row).collect(), ""), |_, _, _| Vec::new()).await?;
        Ok(picked.and_then(|picked| rows.into_iter().nth(picked.place)).map(|(name, _)| name))
    }
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}
