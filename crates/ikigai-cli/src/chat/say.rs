//! What a person says: text, files after `@`, the output of `!command`.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use ikigai::{Attach as _, Block, Message, Role};

use super::Talk;
use super::commands::Next;
use super::meter::BYTES_A_TOKEN;
use crate::exit::Failure;
use crate::screen::notice;
use crate::tools::Shell;

/// A command of the person's own may take this long.
const SHELL_LIMIT: Duration = Duration::from_secs(600);

impl Talk {
    /// Takes a message into the conversation; the model is asked next.
    pub(crate) async fn say(&mut self, text: &str) -> Result<Next, Failure> {
        if self.session.choice.is_none() {
            // What was typed is not lost.
            self.session.prefill = Some(text.to_owned());
            return Err(self.session.no_model());
        }
        let files = mentioned(text, &self.session.folder);
        let message = match self.compose(text, &files) {
            Ok(message) => message,
            Err(failure) => {
                self.session.prefill = Some(text.to_owned());
                return Err(failure);
            }
        };
        let mut history = self.session.history();
        history.push(message.clone());
        if let Err(failure) = self.session.check_cost(self.session.choice.as_slice(), &history) {
            self.session.prefill = Some(text.to_owned());
            return Err(failure);
        }
        for file in &files {
            let size = std::fs::metadata(self.session.folder.join(file)).map(|file| file.len()).unwrap_or_default();
            self.print(&notice::info(&format!("attached {file} ({})", notice::size(size)), self.look))?;
        }
        for word in missing(text, &self.session.folder) {
            self.print(&notice::warning(
                &format!("There is no file `{word}`; nothing is attached for it."),
                self.look,
            ))?;
        }
        self.session.say(message).await?;
        self.session.attached.clear();
        Ok(Next::Ask)
    }

    /// The message: what was attached before, the text, and the files that it names with `@`.
    fn compose(&self, text: &str, files: &[String]) -> Result<Message, Failure> {
        let mut message = Message::new(Role::User, self.session.attached.clone());
        message.content.push(Block::text(text));
        for path in files {
            message = message.attach(self.session.folder.join(path))?;
        }
        Ok(message)
    }

    /// Runs a command of the person's own, and puts its output in front of the model with the next message.
    pub(crate) async fn shell(&mut self, command: &str) -> Result<Next, Failure> {
        let look = self.look;
        let shell = Shell::new(self.session.tooling.scope().root()).timeout(SHELL_LIMIT).with_all_variables();
        // What it says is shown as it comes.
        let shell = shell.watched(move |text| {
            let _ = std::io::stdout().write_all(notice::info(text, look).as_bytes());
        });
        let running = shell.run(command);
        let output = tokio::select! {
            output = running => output.map_err(|error| Failure::new(format!("cannot run it: {error}")))?,
            _ = tokio::signal::ctrl_c() => return Err(Failure::new("stopped")),
        };
        if !output.ended.is_ok() {
            self.print(&notice::warning(&output.ended.to_string(), self.look))?;
        }
        let said = format!("I ran `{command}`:\n\n```\n{}\n```", output.for_model());
        self.session.attached.push(Block::text(said));
        self.print(&notice::info("The output goes with your next message.", self.look))?;
        Ok(Next::Prompt)
    }

    /// Says before sending that the conversation has hardly any room left.
    pub(crate) fn warn_when_long(&self) -> Result<(), Failure> {
        let Some((used, window)) = self.session.context_used() else { return Ok(()) };
        let new: usize = match self.session.thread.last() {
            Some(stored) => stored.entry.message.content.iter().filter_map(Block::as_text).map(str::len).sum(),
            None => 0,
        };
        let expected = used.saturating_add(new as u64 / BYTES_A_TOKEN);
        if expected.saturating_mul(10) < window.saturating_mul(9) {
            return Ok(());
        }
        let words = format!(
            "The conversation takes about {} of {} tokens. /compact makes room.",
            notice::count(expected),
            notice::count(window)
        );
        self.print(&notice::warning(&words, self.look))
    }
}

/// The names after an `@` at the beginning of a word; in quotes where they hold blanks.
fn named(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let begins = rest.get(..at).is_none_or(|before| before.is_empty() || before.ends_with(char::is_whitespace));
        rest = rest.get(at + 1..).unwrap_or_default();
        let name = match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some((quoted, _)) => quoted,
            None => rest.split(char::is_whitespace).next().unwrap_or_default(),
        };
        names.extend((begins && !name.is_empty()).then_some(name));
    }
    names
}

/// A name without what ends a sentence.
fn bare(name: &str) -> &str {
    name.trim_end_matches(['.', ',', ';', ':', '!', '?', ')'])
}

/// The files that a text names with `@`, as far as they exist: an address in a text is no file.
fn mentioned(text: &str, folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in named(text) {
        let file = [name, bare(name)].into_iter().find(|name| !name.is_empty() && folder.join(name).is_file());
        found.extend(file.map(str::to_owned).filter(|file| !found.contains(file)));
    }
    found
}

/// Names after `@` that look like files, and are none.
fn missing<'a>(text: &'a str, folder: &Path) -> Vec<&'a str> {
    let is_there = |name: &str| [name, bare(name)].iter().any(|name| folder.join(name).exists());
    named(text).into_iter().filter(|name| bare(name).contains(['.', '/']) && !is_there(name)).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn files_are_named_with_an_at_sign() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "a").unwrap();
        std::fs::write(folder.path().join("b.md"), "b").unwrap();
        let text = "compare @a.txt with @b.md, not with me@a.txt or @nowhere or @a.txt again";
        assert_eq!(mentioned(text, folder.path()), ["a.txt", "b.md"]);
        std::fs::write(folder.path().join("a file.txt"), "c").unwrap();
        assert_eq!(mentioned("see @\"a file.txt\".", folder.path()), ["a file.txt"]);
        assert_eq!(missing("see @none.txt, @a.txt and @somebody, or me@b.org", folder.path()), ["none.txt,"]);
    }
}
