//! The user's messages: text, and files after `@`.

use std::path::Path;

use ikigai::{Attach as _, Block, BlockKind, Message, Role};

use super::Talk;
use super::commands::Next;
use super::meter::tokens_of;
use super::session::Choice;
use crate::exit::Failure;
use crate::record;
use crate::screen::notice;

impl Talk {
    /// Adds a message to the conversation; the model is asked next.
    pub(crate) async fn say(&mut self, text: &str) -> Result<Next, Failure> {
        if self.session.choice.is_none() {
            // Keeps the typed text.
            self.session.prefill = Some(text.to_owned());
            return Err(self.session.no_model());
        }
        let files = mentioned(text, &self.session.folder);
        let message = match self.compose(text, &files).await {
            Ok(message) => message,
            Err(failure) => {
                self.session.prefill = Some(text.to_owned());
                return Err(failure);
            }
        };
        if let Err(failure) = self.session.check_cost(&self.session.history_with(message.clone())) {
            self.session.prefill = Some(text.to_owned());
            return Err(failure);
        }
        if !self.fits(text, &message)? {
            return Ok(Next::Prompt);
        }
        for file in &files {
            let size = std::fs::metadata(self.session.folder.join(file)).map(|file| file.len()).unwrap_or_default();
            self.print(&notice::info(&format!("attached {file} ({})", notice::size(size)), self.look))?;
        }
        for word in missing(text, &self.session.folder) {
            self.print(&notice::warning(&format!("There is no file `{word}`; nothing was attached."), self.look))?;
        }
        let mut pictures = std::mem::take(&mut self.session.pictures);
        pictures.extend(files.iter().filter(|file| is_picture(&self.session.folder.join(file))).cloned());
        self.session.say(record::with_pictures(message.into(), pictures)).await?;
        self.session.attached.clear();
        Ok(Next::Ask)
    }

    /// Composes the message: earlier attachments, the text, and the files that it names with `@`.
    async fn compose(&self, text: &str, files: &[String]) -> Result<Message, Failure> {
        let mut message = Message::new(Role::User, self.session.attached.clone());
        message.content.push(Block::text(text));
        for path in files {
            message = message.attach_file(self.session.folder.join(path)).await?;
        }
        Ok(message)
    }

    /// Warns before sending if the conversation has hardly any room left.
    pub(crate) fn warn_when_long(&self) -> Result<(), Failure> {
        let Some((used, window)) = self.session.context_used() else { return Ok(()) };
        if used.saturating_mul(10) < window.saturating_mul(9) {
            return Ok(());
        }
        let words = format!(
            "The conversation takes about {} of {} tokens. /compact makes room.",
            notice::count(used),
            notice::count(window)
        );
        self.print(&notice::warning(&words, self.look))
    }

    /// Whether a message fits into the model's window. One that does not is sent only on a second attempt.
    fn fits(&mut self, text: &str, message: &Message) -> Result<bool, Failure> {
        let Some(window) = self.session.window() else { return Ok(true) };
        let new = tokens_of(message);
        let used = self.session.context_used().map_or(0, |(used, _)| used);
        if used.saturating_add(new) <= window || self.session.insisted.take().as_deref() == Some(text) {
            return Ok(true);
        }
        let so_far = if used == 0 { String::new() } else { format!(" after {} so far", notice::count(used)) };
        let words = format!(
            "This message takes about {}{so_far}; {} has room for {}. Press Enter to send it all the same.",
            notice::tokens(new),
            self.session.choice.as_ref().map(Choice::short).unwrap_or_default(),
            notice::count(window)
        );
        self.print(&notice::warning(&words, self.look))?;
        self.session.insisted = Some(text.to_owned());
        self.session.prefill = Some(text.to_owned());
        Ok(false)
    }
}

/// Returns the names after an `@` at the beginning of a word, in quotes if they contain blanks.
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

/// Whether this file would be attached as a picture.
pub(super) fn is_picture(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut start));
    let start = start.get(..read.unwrap_or_default()).unwrap_or_default();
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    Block::file(start, &name).kind() == BlockKind::Image
}

/// Removes punctuation at the end of a sentence from a name.
fn bare(name: &str) -> &str {
    name.trim_end_matches(['.', ',', ';', ':', '!', '?', ')'])
}

/// Returns the files that a text names with `@`, if they exist: an e-mail address in a text is not a file.
fn mentioned(text: &str, folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in named(text) {
        let file = [name, bare(name)].into_iter().find(|name| !name.is_empty() && folder.join(name).is_file());
        found.extend(file.map(str::to_owned).filter(|file| !found.contains(file)));
    }
    found
}

/// Returns names after `@` that look like files but do not exist.
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
