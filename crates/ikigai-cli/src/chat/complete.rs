//! Completion with Tab: commands, models with their levels, files.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ikigai::Registry;
use reedline::{Completer, CompletionResult, Span, Suggestion};

use super::commands::COMMANDS;
use super::typed_names::ModelNames;
use crate::settings::Settings;

/// How many completions are offered at once.
const MOST: usize = 40;
/// Commands that open the picker.
const PICK_MODEL: [&str; 2] = ["/model", "/m"];
/// Commands whose argument is a model.
const TAKE_MODEL: [&str; 4] = ["/model", "/retry", "/r", "/fork"];
/// Commands whose arguments are files.
const TAKE_FILE: [&str; 2] = ["/attach", "/export"];

/// Everything that can be completed.
#[derive(Debug, Clone)]
pub(crate) struct Completion {
    models: ModelNames,
    /// The names of roles and templates, by the command that takes them.
    names: Vec<(&'static str, Vec<String>)>,
    /// The working folder.
    folder: PathBuf,
    /// Set if a model is to be chosen: the picker is better at that.
    pick: Arc<AtomicBool>,
}

/// A completion, and a word about it.
pub(super) type Offer = (String, Option<String>);

impl Completion {
    pub(crate) fn new(registry: Registry, settings: &Settings, folder: PathBuf, pick: Arc<AtomicBool>) -> Self {
        let roles = settings.roles.keys().cloned().collect();
        let templates: Vec<String> = settings.templates.keys().cloned().collect();
        let names = vec![("/role", roles), ("/template", templates.clone()), ("/t", templates)];
        Completion { models: ModelNames::new(registry), names, folder, pick }
    }

    /// Returns the working folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the completions for the word at the end of a line, and where that word begins.
    fn offers(&self, line: &str) -> (usize, Vec<Offer>) {
        let start =
            line.rfind(char::is_whitespace).map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
        let word = line.get(start..).unwrap_or_default();
        let command = line.split_whitespace().next().unwrap_or_default();
        let offers = if start == 0 && word.starts_with('/') {
            commands(word)
        } else if PICK_MODEL.contains(&command) && start > 0 && !word.starts_with('-') && !self.models.is_level(word) {
            self.pick.store(true, Ordering::Relaxed);
            // The word itself: a single completion is accepted at once, and no list stays open.
            vec![(word.to_owned(), None)]
        } else if TAKE_MODEL.contains(&command) && !word.starts_with('-') && start > 0 {
            self.models.offers(word, MOST)
        } else if let Some(path) = word.strip_prefix('@') {
            let quoted = |path: String| if path.contains(' ') { format!("@\"{path}\"") } else { format!("@{path}") };
            self.files(path).into_iter().map(|(path, about)| (quoted(path), about)).collect()
        } else if let Some((_, names)) = self.names.iter().find(|(taker, _)| *taker == command)
            && line.get(..start).is_some_and(|before| before.trim() == command)
        {
            names.iter().filter(|name| name.starts_with(word)).map(|name| (name.clone(), None)).collect()
        } else if TAKE_FILE.contains(&command) && start > 0 {
            self.files(word)
        } else {
            Vec::new()
        };
        (start, offers)
    }

    /// Returns files and folders whose path begins like this, hidden ones only if requested.
    fn files(&self, path: &str) -> Vec<Offer> {
        let (folder, start) = match path.rfind(['/', MAIN_SEPARATOR]) {
            Some(at) => path.split_at(at + 1),
            None => ("", path),
        };
        let Ok(entries) = std::fs::read_dir(self.folder.join(Path::new(folder))) else { return Vec::new() };
        let mut found: Vec<Offer> = entries
            .flatten()
            .filter_map(|entry| {
                // A name with control characters, which a terminal would obey, cannot be shown and so is not offered.
                let name = entry.file_name().into_string().ok().filter(|name| !name.contains(char::is_control))?;
                let wanted = name.starts_with(start) && (!name.starts_with('.') || start.starts_with('.'));
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                wanted.then(|| (format!("{folder}{name}{}", if is_folder { "/" } else { "" }), None))
            })
            .collect();
        found.sort();
        found.truncate(MOST);
        found
    }
}

fn commands(word: &str) -> Vec<Offer> {
    let known = COMMANDS.iter().filter(|known| format!("/{}", known.name).starts_with(word));
    known.map(|known| (format!("/{}", known.name), Some(known.help.to_owned()))).collect()
}

impl Completer for Completion {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let line = line.get(..position).unwrap_or(line);
        let (start, offers) = self.offers(line);
        let suggestion = |(value, description): Offer| Suggestion {
            // Folders continue, and so does what the picker completes.
            append_whitespace: !value.ends_with('/') && !self.pick.load(Ordering::Relaxed),
            value,
            description,
            span: Span { start, end: line.len() },
            ..Suggestion::default()
        };
        CompletionResult::fresh(offers.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn offers(line: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/main.rs"), "").unwrap();
        std::fs::write(folder.path().join("setup.md"), "").unwrap();
        std::fs::write(folder.path().join(".secret"), "").unwrap();
        let models = ["claude-sonnet-4-5", "gemini-2.5-pro", "gemini-2.5-flash"].map(str::to_owned).to_vec();
        let registry = Registry::default();
        let pick = Arc::new(AtomicBool::new(false));
        let folder = folder.path().to_owned();
        let names = vec![("/role", vec!["critic".to_owned(), "reviewer".to_owned()])];
        let models = ModelNames::known(registry, models);
        let completion = Completion { models, names, folder, pick: Arc::clone(&pick) };
        let offers = completion.offers(line).1.into_iter().map(|(value, _)| value);
        let picks = pick.load(Ordering::Relaxed).then(|| "(picker)".to_owned());
        offers.chain(picks).collect()
    }

    #[test]
    fn commands_models_levels_and_files_are_offered() {
        assert_eq!(offers("/mo"), ["/model", "/models"]);
        assert_eq!(offers("/model gem"), ["gem", "(picker)"]);
        assert_eq!(offers("/m "), ["", "(picker)"]);
        assert_eq!(offers("/retry gem"), ["gemini-2.5-pro", "gemini-2.5-flash"]);
        assert_eq!(offers("/retry flash"), ["gemini-2.5-flash"]);
        assert_eq!(offers("/model claude-sonnet-4-5/m"), ["claude-sonnet-4-5/med"], "only the levels that it has");
        assert_eq!(offers("/fork --model gemini-2.5-p"), ["gemini-2.5-pro"]);
        assert_eq!(offers("look at @s"), ["@setup.md", "@src/"]);
        assert_eq!(offers("look at @src/"), ["@src/main.rs"]);
        assert_eq!(offers("/attach .s"), [".secret"]);
        assert_eq!(offers("/role rev"), ["reviewer"]);
        assert_eq!(offers("/role reviewer c"), Vec::<String>::new());
        assert_eq!(offers("hello wor"), Vec::<String>::new());
        assert_eq!(offers("ü /mo"), Vec::<String>::new());
    }
}
