//! Files in a folder that are meant for models: `AGENTS.md` and `.ikigai.toml`. Used once the user trusts the folder.

use std::path::Path;

use crate::digest;
use crate::exit::Failure;
use crate::places;
use crate::redact;
use crate::screen::{notice, one_line};
use crate::settings::{self, Settings};

/// Instructions to models in this folder.
const INSTRUCTIONS: &str = "AGENTS.md";
/// The settings of this folder.
const SETTINGS: &str = ".ikigai.toml";
/// The largest file of instructions, in bytes: it is sent with every conversation.
const LARGEST: usize = 64 << 10;

/// A folder's files.
#[derive(Debug, Default)]
pub(crate) struct Project {
    instructions: Option<String>,
    settings: Option<(String, Settings)>,
}

/// Returns the names of the files that a folder has.
pub(crate) fn present(folder: &Path) -> Vec<&'static str> {
    [INSTRUCTIONS, SETTINGS].into_iter().filter(|name| folder.join(name).is_file()).collect()
}

impl Project {
    /// Reads them. An error names the place that is broken.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        // Anyone may have put them there. Opening a pipe would wait for its other end, perhaps forever.
        let text = |name: &str| match folder.join(name) {
            file if file.is_file() => places::read(&file).map_err(Failure::new),
            _ => Ok(None),
        };
        let instructions = text(INSTRUCTIONS)?.filter(|text| !text.trim().is_empty());
        if instructions.as_ref().is_some_and(|text| text.len() > LARGEST) {
            return Err(Failure::new(format!("{INSTRUCTIONS} is larger than {LARGEST} bytes")).hint("Make it shorter."));
        }
        let settings = match text(SETTINGS)? {
            Some(text) => {
                let (settings, _) = settings::parse(SETTINGS, &text)?;
                Some((text, settings))
            }
            None => None,
        };
        Ok(Project { instructions, settings })
    }

    /// Describes what was found, for the user who decides about it: each program that would be run is spelled out.
    pub(crate) fn found(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(text) = &self.instructions {
            found.push(format!("{INSTRUCTIONS} ({})", notice::size(text.len() as u64)));
        }
        if let Some((_, settings)) = &self.settings {
            let mut parts = Vec::new();
            parts.extend(settings.model.as_ref().map(|model| format!("model {model}")));
            parts.extend(settings.system.as_ref().map(|_| "a system prompt".to_owned()));
            parts.extend((!settings.tools).then(|| "no tools".to_owned()));
            parts.extend(settings.aliases.keys().map(|name| format!("alias {name}")));
            parts.extend(settings.roles.keys().map(|name| format!("role {name}")));
            parts.extend(settings.templates.keys().map(|name| format!("template {name}")));
            parts.extend(settings.models.keys().map(|name| format!("options of {name}")));
            for (name, server) in &settings.mcp {
                let what = match &server.url {
                    Some(url) => redact::address(url),
                    None => format!("runs {}", server.command.join(" ")),
                };
                parts.push(format!("MCP server {name}: {what}"));
            }
            found.push(format!("{SETTINGS} ({})", parts.join("; ")));
        }
        found.iter().map(|line| one_line(line, usize::MAX)).collect()
    }

    /// Returns a digest of the settings, which may run programs: if it changes, the user is asked again.
    pub(crate) fn digest(&self) -> Option<String> {
        let (text, _) = self.settings.as_ref()?;
        Some(digest::sha256(text.as_bytes()))
    }

    /// Puts the folder's settings over the user's. Only the user can set where conversations are saved.
    pub(crate) fn over(self, mut settings: Settings) -> Settings {
        if let Some((_, own)) = self.settings {
            settings.model = own.model.or(settings.model);
            settings.system = own.system.or(settings.system);
            settings.tools &= own.tools;
            settings.aliases.extend(own.aliases);
            settings.roles.extend(own.roles);
            settings.templates.extend(own.templates);
            settings.models.extend(own.models);
            settings.mcp.extend(own.mcp);
        }
        if let Some(text) = self.instructions {
            let told = format!("The {INSTRUCTIONS} of the working folder says:\n\n{}", text.trim());
            settings.system = Some(settings.system.map_or(told.clone(), |system| format!("{system}\n\n{told}")));
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        for name in [INSTRUCTIONS, SETTINGS] {
            let made = std::process::Command::new("mkfifo").arg(folder.path().join(name)).status().unwrap();
            assert!(made.success());
        }
        let path = folder.path().to_owned();
        let (sender, read) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(Project::read(&path).map(|project| project.found())));
        let found = read.recv_timeout(std::time::Duration::from_secs(20)).expect("it does not wait");
        assert_eq!(found.unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_folder_adds_to_the_settings_and_cannot_move_the_conversations() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("AGENTS.md"), "Use tabs.\n").unwrap();
        let text =
            "model = \"o3\"\ndatabase = \"/evil.db\"\nsave = false\n[mcp.x]\ncommand = [\"run\", \"me\u{202e}\"]\n";
        std::fs::write(folder.path().join(".ikigai.toml"), text).unwrap();
        let project = Project::read(folder.path()).unwrap();
        assert_eq!(project.found(), ["AGENTS.md (10 B)", ".ikigai.toml (model o3; MCP server x: runs run me<U+202E>)"]);
        let mine = Settings { system: Some("Be brief.".to_owned()), ..Settings::default() };
        let settings = project.over(mine.clone());
        let system = "Be brief.\n\nThe AGENTS.md of the working folder says:\n\nUse tabs.";
        let expected = Settings {
            model: Some("o3".to_owned()),
            system: Some(system.to_owned()),
            mcp: settings.mcp.clone(),
            ..mine
        };
        assert_eq!(settings, expected);
        assert_eq!(Project::read(&folder.path().join("none")).unwrap().found(), Vec::<String>::new());
    }
}
