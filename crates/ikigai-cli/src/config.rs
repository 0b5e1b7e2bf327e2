//! Where the user's own files are, and how they are read.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use ikigai_core::{FileError, Registry};

use crate::output::Out;

/// More than anyone writes by hand; a file that is larger is something else.
const LIMIT: u64 = 16 << 20;

/// The folder of the user's own files: `IKIGAI_HOME`, else `ikigai` in the system's place for settings.
///
/// None where the system has no such place, as for a user without a home.
fn folder() -> Option<PathBuf> {
    match std::env::var_os("IKIGAI_HOME") {
        Some(home) if !home.is_empty() => Some(PathBuf::from(home)),
        _ => etcetera::choose_base_strategy().ok().map(|places| places.config_dir().join("ikigai")),
    }
}

/// The text of a user's file; none when there is no such file.
fn read(path: &Path) -> Result<Option<String>, String> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        // A folder that is a file, or a link to nowhere, is as good as absent.
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

/// The providers and models that the program knows, with the user's own over them.
///
/// A file that is broken is left out, with a warning that names the place: the program still runs.
pub(crate) fn registry(out: &mut Out) -> Registry {
    let mut registry = Registry::default();
    let Some(folder) = folder() else { return registry };
    let mut overlay = |name: &str, apply: &mut dyn FnMut(&str, &str) -> Result<(), FileError>| {
        let path = folder.join(name);
        let outcome = match read(&path) {
            Ok(None) => return,
            Ok(Some(text)) => apply(&path.display().to_string(), &text).map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        if let Err(problem) = outcome {
            out.warning(&format!("{problem}\n  This file is left out; what is built in is used."));
        }
    };
    let Registry { providers, catalog } = &mut registry;
    overlay("providers.toml", &mut |file, text| providers.with_toml(file, text).map(|table| *providers = table));
    overlay("models.toml", &mut |file, text| catalog.with_toml(file, text).map(|table| *catalog = table));
    registry
}
