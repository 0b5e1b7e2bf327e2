//! What the user has allowed the tools in a folder. It is stored in one of the user's own files, outside conversations:
//! imported or shared conversations carry no approvals.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::prefix::Prefix;
use crate::exit::Failure;
use crate::files::Mode;
use crate::places;

/// The scope of an "always".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Commands that begin like this one.
    Command(Prefix),
    /// A tool as it is currently defined: if its definition changes, the user is asked again.
    Tool {
        /// Its name.
        name: String,
        /// A digest of its definition.
        definition: String,
    },
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Command(prefix) => write!(f, "`{prefix}`"),
            Rule::Tool { name, .. } => write!(f, "{name}"),
        }
    }
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Run it.
    Run,
    /// Refuse it, and tell the model why.
    Refuse(String),
    /// Ask the user, and offer this rule as "always", if there is one.
    Ask(Option<Rule>),
}

/// The rules for one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Folder {
    /// Whether the folder's own files are followed; absent until that is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    trusted: Option<bool>,
    /// A digest of the folder's settings that were trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<String>,
    /// Commands that run without asking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<Prefix>,
    /// Tools that run without asking, with a digest of the definition that was allowed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tools: BTreeMap<String, String>,
    /// Tools that are refused.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    never: BTreeSet<String>,
}

/// The whole file: the rules for each folder.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Folders {
    #[serde(default)]
    folders: BTreeMap<String, Folder>,
}

/// The rules for the current folder.
#[derive(Debug, Clone)]
pub(crate) struct Permissions {
    /// Absent if there is no place for a file: the rules then last until the program ends.
    file: Option<PathBuf>,
    root: PathBuf,
    here: Folder,
}

impl Permissions {
    /// Reads the rules for a folder, whose path contains no links.
    pub(crate) fn open(file: Option<PathBuf>, root: &Path) -> Result<Self, Failure> {
        let mut folders = file.as_deref().map(read).transpose()?.unwrap_or_default();
        let here = folders.folders.remove(&key(root)).unwrap_or_default();
        Ok(Permissions { file, root: root.to_owned(), here })
    }

    /// Returns the folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether the folder's own files are followed, if that was decided.
    pub(crate) fn trusted(&self) -> Option<bool> {
        self.here.trusted
    }

    /// Sets whether they are followed, and with which settings.
    pub(crate) fn trust(&mut self, trusted: bool, settings: Option<String>) -> Result<(), Failure> {
        self.change(|here| (here.trusted, here.settings) = (Some(trusted), settings))
    }

    /// Whether these settings of the folder have been decided about.
    pub(crate) fn knows(&self, settings: Option<&str>) -> bool {
        settings.is_none() || self.here.settings.as_deref() == settings
    }

    /// Whether this tool is refused.
    pub(crate) fn refuses(&self, tool: &str) -> bool {
        self.here.never.contains(tool)
    }

    /// Whether this tool, as currently defined, is allowed.
    pub(crate) fn allows(&self, tool: &str, definition: &str) -> bool {
        self.here.tools.get(tool).is_some_and(|allowed| allowed == definition)
    }

    /// Whether this command is allowed.
    pub(crate) fn allows_command(&self, command: &str, within: impl Fn(&str) -> bool) -> bool {
        self.here.commands.iter().any(|prefix| prefix.covers(command, &within))
    }

    /// Returns the allowed commands, in words.
    pub(crate) fn commands(&self) -> Vec<String> {
        self.here.commands.iter().map(Prefix::to_string).collect()
    }

    /// Allows calls according to a rule from now on in this folder.
    pub(crate) fn always(&mut self, rule: Rule) -> Result<(), Failure> {
        self.change(move |here| match rule {
            Rule::Command(prefix) => {
                here.never.remove("shell");
                if !here.commands.contains(&prefix) {
                    here.commands.push(prefix);
                }
            }
            Rule::Tool { name, definition } => {
                here.never.remove(&name);
                here.tools.insert(name, definition);
            }
        })
    }

    /// Refuses a tool from now on in this folder.
    pub(crate) fn never(&mut self, tool: &str) -> Result<(), Failure> {
        self.change(|here| {
            forget(here, tool);
            here.never.insert(tool.to_owned());
        })
    }

    /// Makes the user be asked again about a tool.
    pub(crate) fn ask_again(&mut self, tool: &str) -> Result<(), Failure> {
        self.change(|here| forget(here, tool))
    }

    /// Changes the rules in the current file, which another chat may have changed meanwhile.
    fn change(&mut self, change: impl FnOnce(&mut Folder)) -> Result<(), Failure> {
        let Some(file) = &self.file else {
            change(&mut self.here);
            return Ok(());
        };
        if let Some(folder) = file.parent() {
            places::create(folder)?;
        }
        let beside = file.with_extension("lock");
        let failed = |error: std::io::Error| Failure::file("lock", &beside, &error);
        let lock = std::fs::File::options().create(true).append(true).open(&beside).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut all = read(file)?;
        let here = all.folders.entry(key(&self.root)).or_default();
        change(here);
        self.here = here.clone();
        all.folders.retain(|_, folder| *folder != Folder::default());
        let text = toml::to_string(&all).map_err(|error| Failure::new(format!("cannot keep the approval: {error}")))?;
        places::write(file, &text, Mode::Private)
    }
}

fn forget(here: &mut Folder, tool: &str) {
    here.never.remove(tool);
    here.tools.remove(tool);
    if tool == "shell" {
        here.commands.clear();
    }
}

fn key(root: &Path) -> String {
    root.to_string_lossy().into_owned()
}

fn read(file: &Path) -> Result<Folders, Failure> {
    let broken = |words: String| Failure::new(words).hint("Fix this file, or delete it: then the tools ask again.");
    let text = places::read(file).map_err(broken)?.unwrap_or_default();
    toml::from_str(&text).map_err(|error| broken(format!("{}: {}", file.display(), error.message())))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn tool(name: &str, definition: &str) -> Rule {
        Rule::Tool { name: name.to_owned(), definition: definition.to_owned() }
    }

    #[test]
    fn answers_hold_for_their_folder_and_for_the_definition_that_was_allowed() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("new").join("approvals.toml");
        let open = |root: &str| Permissions::open(Some(file.clone()), Path::new(root)).unwrap();
        let mut here = open("/work");
        here.always(tool("mcp_find", "1")).unwrap();
        here.always(Rule::Command(Prefix::of("git diff").unwrap())).unwrap();
        here.never("edit_file").unwrap();
        for permissions in [&here, &open("/work")] {
            assert!(permissions.allows("mcp_find", "1"));
            assert!(!permissions.allows("mcp_find", "2"), "another definition");
            assert!(permissions.allows_command("git diff src", |_| true));
            assert!(!permissions.allows_command("git push", |_| true));
            assert!(permissions.refuses("edit_file"));
        }
        let elsewhere = open("/work/below");
        assert!(!elsewhere.allows("mcp_find", "1") && !elsewhere.refuses("edit_file"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn two_chats_keep_what_each_other_allowed() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("approvals.toml");
        let open = |root: &str| Permissions::open(Some(file.clone()), Path::new(root)).unwrap();
        let (mut one, mut two) = (open("/work"), open("/work"));
        one.always(tool("a", "1")).unwrap();
        two.always(tool("b", "1")).unwrap();
        open("/other").never("c").unwrap();
        let now = open("/work");
        assert!(now.allows("a", "1") && now.allows("b", "1"));
        two.ask_again("a").unwrap();
        two.ask_again("b").unwrap();
        assert_eq!(open("/work").here, Folder::default());
        assert!(open("/other").refuses("c"));
    }

    #[test]
    fn a_broken_file_allows_nothing_and_is_told() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("approvals.toml");
        std::fs::write(&file, "folders = 5").unwrap();
        let failure = Permissions::open(Some(file), Path::new("/work")).unwrap_err();
        assert!(failure.what.contains("approvals.toml"), "{failure:?}");
    }
}
