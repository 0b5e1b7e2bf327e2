//! Where the user's own files are, and how they are read. No other module knows these folders.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use ikigai_core::catalog::FileError;
use ikigai_core::provider::Registry;

use crate::exit::Failure;
use crate::files::{self, Mode};
use crate::output::Out;

/// More than anyone writes by hand; a larger file is something else.
const LIMIT: u64 = 16 << 20;

/// The folders of the user's own files. They need not exist.
///
/// With `IKIGAI_HOME`, all of them are that folder or inside it. Otherwise each is `ikigai` in the system's folder for
/// such things: `$XDG_CONFIG_HOME`, `$XDG_DATA_HOME`, `$XDG_STATE_HOME` and `$XDG_CACHE_HOME` on systems with XDG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// Settings, keys, and the user's own providers and models.
    pub(crate) config: PathBuf,
    /// The database.
    pub(crate) data: PathBuf,
    /// Things that the program remembers and nobody would miss much.
    pub(crate) state: PathBuf,
    /// Things that can be generated again.
    pub(crate) cache: PathBuf,
}

impl Places {
    /// Returns this user's folders; `None` if the system has no such places, for example for a user without a home.
    pub(crate) fn find() -> Option<Self> {
        if let Some(home) = std::env::var_os("IKIGAI_HOME").filter(|home| !home.is_empty()) {
            return Some(Places::below(&PathBuf::from(home)));
        }
        let system = etcetera::choose_base_strategy().ok()?;
        Some(Places {
            config: system.config_dir().join("ikigai"),
            data: system.data_dir().join("ikigai"),
            // Windows has no such folder.
            state: system.state_dir().unwrap_or_else(|| system.data_dir()).join("ikigai"),
            cache: system.cache_dir().join("ikigai"),
        })
    }

    /// Like [`find`](Places::find), for a command that requires them.
    pub(crate) fn required() -> Result<Self, Failure> {
        Places::find().ok_or_else(|| {
            Failure::new("there is no settings folder: this user has no home folder").hint("Set IKIGAI_HOME.")
        })
    }

    /// Puts everything in one folder.
    pub(crate) fn below(home: &Path) -> Self {
        Places { config: home.into(), data: home.into(), state: home.into(), cache: home.join("cache") }
    }

    /// Returns the settings file.
    pub(crate) fn settings(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Returns the keys file.
    pub(crate) fn credentials(&self) -> PathBuf {
        ikigai::config::Credentials::file(&self.config)
    }

    /// Returns the file of the user's own providers.
    pub(crate) fn providers(&self) -> PathBuf {
        self.config.join("providers.toml")
    }

    /// Returns the file of the user's own models.
    pub(crate) fn models(&self) -> PathBuf {
        self.config.join("models.toml")
    }

    /// Returns the file that records what tools were allowed, by folder.
    pub(crate) fn approvals(&self) -> PathBuf {
        self.state.join("approvals.toml")
    }

    /// Returns the file of fingerprints of the keys that the gateway's clients have.
    pub(crate) fn client_keys(&self) -> PathBuf {
        self.config.join("gateway_keys.toml")
    }

    /// Returns the database of conversations, unless the settings specify another.
    pub(crate) fn database(&self) -> PathBuf {
        self.data.join("ikigai.db")
    }
}

/// Reads a user's file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, String> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        // A folder that is a file, or a broken link, counts as absent.
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let mut text = String::new();
    match file.take(LIMIT + 1).read_to_string(&mut text) {
        Err(error) => Err(format!("{}: {error}", path.display())),
        Ok(length) if length as u64 > LIMIT => Err(format!("{}: larger than {LIMIT} bytes", path.display())),
        Ok(_) => Ok(Some(text)),
    }
}

/// Writes a user's file, creating its folder if necessary. A link stays a link.
pub(crate) fn write(path: &Path, text: &str, mode: Mode) -> Result<(), Failure> {
    // Follows links, because people keep their settings elsewhere and link to them.
    let file = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = file.parent() {
        create(folder)?;
    }
    files::replace(&file, text.as_bytes(), mode).map_err(|error| Failure::file("write", path, &error))
}

/// Creates a folder that only its owner may enter, and its parents.
pub(crate) fn create(folder: &Path) -> Result<(), Failure> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| Failure::file("make the folder", folder, &error))
}

/// Returns the known providers and models, including the user's own.
///
/// A broken file is ignored, with a warning that names the place: the program still runs.
pub(crate) fn registry(out: &mut Out) -> Registry {
    let (registry, problems) = registry_and_problems(Places::find().as_ref());
    for problem in problems {
        out.warning(&format!("{problem}\n  This file is ignored; the built-in data is used."));
    }
    registry
}

/// Like `registry`, but returns the problems with the files.
pub(crate) fn registry_and_problems(places: Option<&Places>) -> (Registry, Vec<String>) {
    let mut registry = Registry::default();
    let mut problems = Vec::new();
    let Some(places) = places else { return (registry, problems) };
    let mut overlay = |path: PathBuf, apply: &mut dyn FnMut(&str, &str) -> Result<(), FileError>| {
        let outcome = match read(&path) {
            Ok(None) => return,
            Ok(Some(text)) => apply(&path.display().to_string(), &text).map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        problems.extend(outcome.err());
    };
    let Registry { providers, catalog, .. } = &mut registry;
    overlay(places.providers(), &mut |file, text| providers.with_toml(file, text).map(|table| *providers = table));
    overlay(places.models(), &mut |file, text| catalog.with_toml(file, text).map(|table| *catalog = table));
    (registry, problems)
}
