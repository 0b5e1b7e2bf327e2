//! The credentials files in the settings folder.

use std::path::{Path, PathBuf};

use ikigai_core::provider::Provider;

use super::{CredentialsError, Key};

/// The possible names of a credentials file, in order of precedence.
const NAMES: [&str; 2] = ["credentials.toml", "credentials.json"];

/// More than anyone has keys for; a larger file is something else.
const LIMIT: u64 = 1 << 20;

/// The keys in a settings folder.
///
/// `credentials.toml` has a line for each provider, or a table with an `api_key`; `credentials.json` has the same as
/// JSON:
///
/// ```toml
/// anthropic = "sk-ant-…"
///
/// [openai]
/// api_key = "sk-…"
/// ```
///
/// Only the owner may have access to the files: mode 600.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    provider: String,
    key: Key,
    file: PathBuf,
}

impl Credentials {
    /// Reads the keys in a folder. The result is empty if there is no such file.
    ///
    /// # Errors
    /// Returns an error if a file is invalid, or if anyone but its owner can read it.
    pub fn load(folder: &Path) -> Result<Self, CredentialsError> {
        let mut credentials = Credentials::default();
        for name in NAMES {
            let file = folder.join(name);
            if let Some(text) = read(&file)? {
                let entries = if name.ends_with(".toml") { from_toml(&text) } else { from_json(&text) };
                let entries =
                    entries.map_err(|(line, message)| CredentialsError { file: file.clone(), line, message })?;
                credentials.entries.extend(entries.into_iter().map(|(provider, key)| Entry {
                    provider,
                    key,
                    file: file.clone(),
                }));
            }
        }
        Ok(credentials)
    }

    /// Returns the file in which keys are stored in a folder.
    pub fn file(folder: &Path) -> PathBuf {
        folder.join(NAMES[0])
    }

    /// Finds a provider's key by the provider's id or an alias, and returns it with the file it is in.
    pub fn find(&self, provider: &Provider) -> Option<(&Key, &Path)> {
        let is_called = |name: &str| {
            std::iter::once(&provider.id).chain(provider.aliases.iter()).any(|own| own.eq_ignore_ascii_case(name))
        };
        let entry = self.entries.iter().find(|entry| is_called(&entry.provider))?;
        Some((&entry.key, &entry.file))
    }

    /// Returns the providers that have a key, spelled as in the file.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.provider.as_str())
    }
}

/// Reads a file that only its owner may read; `None` if it does not exist.
fn read(file: &Path) -> Result<Option<String>, CredentialsError> {
    let broken = |message: String| CredentialsError { file: file.to_owned(), line: None, message };
    let metadata = match std::fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(broken(error.to_string())),
    };
    if let Some(mode) = open_to_others(&metadata) {
        let path = file.display();
        return Err(broken(format!("others may read this file (mode {mode:o}); run: chmod 600 {path}")));
    }
    if metadata.len() > LIMIT {
        return Err(broken(format!("the file is larger than {LIMIT} bytes")));
    }
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// Returns the file's mode if anyone but its owner has any access to it.
#[cfg(unix)]
fn open_to_others(metadata: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = metadata.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Elsewhere, the permissions of the folder have to suffice.
#[cfg(not(unix))]
fn open_to_others(_: &std::fs::Metadata) -> Option<u32> {
    None
}

/// Providers and their keys, or an error with its line.
type Entries = Result<Vec<(String, Key)>, (Option<usize>, String)>;

/// Uses the parser's messages without the excerpts that it adds, because those show keys.
fn from_toml(text: &str) -> Entries {
    let line = |at: usize| text.get(..at).map(|before| before.matches('\n').count() + 1);
    let broken = |error: toml::de::Error| (error.span().and_then(|span| line(span.start)), error.message().to_owned());
    let table = toml::de::DeTable::parse(text).map_err(broken)?;
    let mut entries = Vec::new();
    for (name, value) in table.get_ref() {
        let at = line(name.span().start);
        let key = match value.get_ref() {
            toml::de::DeValue::String(key) => Some(key.as_ref()),
            toml::de::DeValue::Table(fields) => {
                fields.iter().find(|(name, _)| is_key_field(name.get_ref())).and_then(|(_, key)| key.get_ref().as_str())
            }
            _ => None,
        };
        entries.push((name.get_ref().to_string(), checked(key).map_err(|fault| (at, fault(name.get_ref())))?));
    }
    Ok(entries)
}

fn from_json(text: &str) -> Entries {
    let table: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).map_err(|error| {
        let told = error.to_string();
        // The message ends with the place, and for a value of the wrong kind it also contains the value.
        let told = match error.classify() {
            serde_json::error::Category::Data => "the file must be an object with a key for each provider",
            _ => told.rsplit_once(" at line ").map_or(told.as_str(), |(message, _)| message),
        };
        (Some(error.line().max(1)), told.to_owned())
    })?;
    let mut entries = Vec::new();
    for (name, value) in table {
        let key = match &value {
            serde_json::Value::String(key) => Some(key.as_str()),
            serde_json::Value::Object(fields) => {
                fields.iter().find(|(name, _)| is_key_field(name)).and_then(|(_, key)| key.as_str())
            }
            _ => None,
        };
        let line = text.find(&format!("\"{name}\"")).and_then(|at| text.get(..at)).map(|t| t.matches('\n').count() + 1);
        let key = checked(key).map_err(|fault| (line, fault(&name)))?;
        entries.push((name, key));
    }
    Ok(entries)
}

fn is_key_field(name: &str) -> bool {
    matches!(name, "api_key" | "key")
}

fn checked(key: Option<&str>) -> Result<Key, fn(&str) -> String> {
    match key.map(Key::from) {
        Some(key) if !key.is_empty() => Ok(key),
        Some(_) => Err(|name| format!("the key of `{name}` is empty")),
        None => Err(|name| format!("`{name}` must be a key in quotes, or a table with an `api_key`")),
    }
}
