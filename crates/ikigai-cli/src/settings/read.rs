//! Reads the settings: errors name the place, and unknown keys cause warnings that suggest the nearest one.

use std::fmt;

use ikigai_core::near;
use toml::de::{DeTable, DeValue};

use super::Settings;
use super::options::MODEL_KEYS;
use super::roles::{ROLE_KEYS, TEMPLATE_KEYS};
use crate::exit::Failure;

/// The keys of the file, which `config set` and `config get` accept too.
pub(super) const KEYS: [&str; 13] = [
    "model",
    "system",
    "thinking_display",
    "keys",
    "tools",
    "database",
    "save",
    "bell",
    "aliases",
    "roles",
    "templates",
    "models",
    "mcp",
];
/// The tables that contain tables, and the keys of the latter.
pub(super) const TABLES: [(&str, &[&str]); 4] =
    [("roles", &ROLE_KEYS), ("templates", &TEMPLATE_KEYS), ("models", &MODEL_KEYS), ("mcp", &SERVER_KEYS)];
/// The keys of an MCP server.
pub(super) const SERVER_KEYS: [&str; 4] = ["command", "env", "url", "headers"];

/// Something in the file that has no meaning. The rest of it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning {
    /// Where.
    pub(crate) place: Place,
    /// What is wrong, and how to fix it.
    pub(crate) message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: usize,
    /// In characters, from 1.
    pub(crate) column: usize,
}

impl Place {
    /// Returns the place of a byte.
    pub(crate) fn at(file: &str, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Reads the text of a settings file. `file` is only used in messages.
pub(super) fn read(file: &str, text: &str) -> Result<(Settings, Vec<Warning>), Failure> {
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let broken = |offset: usize, message: String| Failure::new(format!("{}: {message}", Place::at(file, text, offset)));
    let document =
        toml::Deserializer::parse(text).map_err(|error| broken(start(&error), error.message().to_owned()))?;
    let settings: Settings = serde_path_to_error::deserialize(document).map_err(|error| {
        let key = error.path().to_string();
        let error = error.into_inner();
        broken(start(&error), format!("{key}: {}", plain(error.message())))
    })?;
    let table = DeTable::parse(text).map_err(|error| broken(start(&error), error.message().to_owned()))?;
    let warnings = unknown_keys(file, text, table.get_ref());
    for pattern in settings.models.keys() {
        if let Err(error) = globset::Glob::new(pattern) {
            let at = place_of(table.get_ref(), "models", pattern);
            return Err(broken(at, format!("models: invalid pattern `{pattern}`: {}", error.kind())));
        }
    }
    for (name, server) in &settings.mcp {
        let at = place_of(table.get_ref(), "mcp", name);
        match (server.command.is_empty(), &server.url) {
            (true, None) => {
                return Err(broken(at, format!("mcp.{name}: it needs a `command`, as a list of words, or a `url`")));
            }
            (false, Some(_)) => {
                return Err(broken(at, format!("mcp.{name}: it has both a `command` and a `url`; remove one")));
            }
            (false, None) | (true, Some(_)) => {}
        }
    }
    Ok((settings, warnings))
}

fn unknown_keys(file: &str, text: &str, table: &DeTable<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut check = |above: &str, table: &DeTable<'_>, known: &[&'static str]| {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let word = key.get_ref();
            let way_out = match near::close(word, known.iter().copied()) {
                Some(close) => format!("; did you mean `{close}`?"),
                None => format!("; known keys: {}", known.join(", ")),
            };
            let place = Place::at(file, text, key.span().start);
            warnings.push(Warning { place, message: format!("{above}{word}: unknown key `{word}`{way_out}") });
        }
    };
    check("", table, &KEYS);
    for (key, known) in TABLES {
        let Some(DeValue::Table(rows)) = table.get(key).map(|rows| rows.get_ref()) else { continue };
        for (name, row) in rows {
            if let DeValue::Table(fields) = row.get_ref() {
                check(&format!("{key}.{}.", name.get_ref()), fields, known);
            }
        }
    }
    // Tables sort their keys by name; people read from top to bottom.
    warnings.sort_by_key(|warning| (warning.place.line, warning.place.column));
    warnings
}

fn place_of(table: &DeTable<'_>, key: &str, name: &str) -> usize {
    let Some(DeValue::Table(rows)) = table.get(key).map(|rows| rows.get_ref()) else { return 0 };
    rows.keys().find(|key| key.get_ref() == name).map_or(0, |key| key.span().start)
}

/// Returns the parser's message, shortened to the valid values if it lists them.
fn plain(message: &str) -> String {
    let Some((word, known)) = message.strip_prefix("unknown variant `").and_then(|rest| rest.split_once('`')) else {
        return message.to_owned();
    };
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    format!("unknown value `{word}`; use {}", known.join(" or "))
}
