//! The settings file, `config.toml`: what it may contain, and how errors in it are reported.

mod check;
mod command;
mod edit;
mod options;
mod read;
mod roles;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) use self::check::{Checked, State, all as check_files};
pub(crate) use self::command::{Config, run};
pub(crate) use self::edit::{replace, set};
pub(crate) use self::options::ModelOptions;
pub(crate) use self::read::Warning;
pub(crate) use self::roles::{Role, Template};
use crate::exit::Failure;
use crate::places::{self, Places};
use crate::redact;

/// The user's settings. Everything has a default, so a file may be empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// The model to begin with: `[provider:]model[/level]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<String>,
    /// Whether the model's thinking is shown.
    pub(crate) thinking_display: ThinkingDisplay,
    /// The keys of the line editor.
    pub(crate) keys: EditKeys,
    /// Whether the model may use tools.
    pub(crate) tools: bool,
    /// Where conversations are saved: a file, or the URL of a PostgreSQL database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) database: Option<String>,
    /// Whether conversations are saved.
    pub(crate) save: bool,
    /// Whether the terminal's bell rings after a long answer.
    pub(crate) bell: bool,
    /// The user's own names for models.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) aliases: BTreeMap<String, String>,
    /// Named system prompts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) roles: BTreeMap<String, Role>,
    /// Named questions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) templates: BTreeMap<String, Template>,
    /// Options for requests, by patterns of models.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) models: BTreeMap<String, ModelOptions>,
    /// MCP servers, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) mcp: BTreeMap<String, McpServer>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            model: None,
            system: None,
            thinking_display: ThinkingDisplay::default(),
            keys: EditKeys::default(),
            tools: true,
            database: None,
            save: true,
            bell: true,
            aliases: BTreeMap::new(),
            roles: BTreeMap::new(),
            templates: BTreeMap::new(),
            models: BTreeMap::new(),
            mcp: BTreeMap::new(),
        }
    }
}

/// Whether the model's thinking is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ThinkingDisplay {
    /// Folded to one line.
    #[default]
    Hide,
    /// In full.
    Show,
}

/// The keys of the line editor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EditKeys {
    #[default]
    Emacs,
    Vi,
}

/// An MCP server: a program to start, or a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct McpServer {
    /// The program and its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) command: Vec<String>,
    /// Variables for the program, in addition to the usual ones.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
    /// The URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// Headers for each request to the URL.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
}

/// Where conversations are saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// An SQLite file.
    File(PathBuf),
    /// The URL of a PostgreSQL database. It may contain a password: show [`Database::shown`] to people.
    Postgres(String),
}

impl Settings {
    /// Returns the options for requests to a model, unless overridden.
    pub(crate) fn options(&self, name: &ikigai::ModelName) -> ModelOptions {
        ModelOptions::of(&self.models, name)
    }

    /// Returns where conversations are saved: according to `IKIGAI_DATABASE`, or the settings, or else in the data
    /// folder. A path is relative to the settings folder; `~` is the home folder.
    pub(crate) fn database(&self, places: &Places) -> Database {
        let variable = std::env::var("IKIGAI_DATABASE").ok().filter(|text| !text.trim().is_empty());
        self.database_or(variable.as_deref(), places)
    }

    fn database_or(&self, variable: Option<&str>, places: &Places) -> Database {
        match variable.or(self.database.as_deref()).map(str::trim).filter(|text| !text.is_empty()) {
            None => Database::File(places.database()),
            Some(url) if is_postgres(url) => Database::Postgres(url.to_owned()),
            Some(path) => Database::File(places.config.join(at_home(path))),
        }
    }
}

impl Database {
    /// Formats it for people, without the password.
    pub(crate) fn shown(&self) -> String {
        match self {
            Database::File(path) => path.display().to_string(),
            Database::Postgres(url) => redact::address(url),
        }
    }
}

fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

fn at_home(path: &str) -> PathBuf {
    let rest = path.strip_prefix("~/").or_else(|| path.strip_prefix("~\\"));
    match (rest, etcetera::home_dir()) {
        (Some(rest), Ok(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Loads this user's settings, and warnings about what has no meaning in them. Without a file, the defaults apply.
///
/// If the file cannot be read, the error names the place.
pub(crate) fn load() -> Result<(Settings, Vec<Warning>), Failure> {
    match Places::find() {
        Some(places) => load_from(&places),
        None => Ok((Settings::default(), Vec::new())),
    }
}

/// Parses settings from another source than the user's file.
pub(crate) fn parse(file: &str, text: &str) -> Result<(Settings, Vec<Warning>), Failure> {
    read::read(file, text)
}

/// Like [`load`], from these folders.
pub(crate) fn load_from(places: &Places) -> Result<(Settings, Vec<Warning>), Failure> {
    let file = places.settings();
    match places::read(&file) {
        Ok(None) => Ok((Settings::default(), Vec::new())),
        Ok(Some(text)) => read::read(&file.display().to_string(), &text),
        Err(problem) => Err(Failure::new(problem)),
    }
    .map_err(|failure| match failure.hint {
        Some(_) => failure,
        None => failure.hint("Fix it with: ikigai config edit"),
    })
}

#[cfg(test)]
mod settings_tests;
