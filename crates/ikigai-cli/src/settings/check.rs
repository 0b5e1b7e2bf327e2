//! Checks the user's files.

use std::path::{Path, PathBuf};

use ikigai::Registry;
use ikigai::config::Credentials;

use super::load_from;
use crate::places::{self, Places};

/// A file and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) file: PathBuf,
    pub(crate) state: State,
}

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// It does not exist, and need not.
    Missing,
    Good,
    /// It can be used, but something in it has no meaning.
    Odd(Vec<String>),
    /// It cannot be used.
    Broken(String),
}

/// Checks all files.
pub(crate) fn all(places: &Places) -> Vec<Checked> {
    let mut registry = Registry::default();
    let providers = rows(places.providers(), |file, text| {
        registry.providers.with_toml(file, text).map(|table| registry.providers = table)
    });
    let models = rows(places.models(), |file, text| registry.catalog.with_toml(file, text).map(drop));
    vec![settings(places), credentials(places, &registry), providers, models]
}

/// Checks the settings file.
pub(crate) fn settings(places: &Places) -> Checked {
    let file = places.settings();
    let state = match load_from(places) {
        Err(failure) => State::Broken(failure.what),
        Ok((_, warnings)) if !warnings.is_empty() => State::Odd(warnings.iter().map(ToString::to_string).collect()),
        Ok(_) if file.exists() => State::Good,
        Ok(_) => State::Missing,
    };
    Checked { file, state }
}

fn credentials(places: &Places, registry: &Registry) -> Checked {
    let file = places.credentials();
    let loaded = match Credentials::load(&places.config) {
        // The other credentials file may be the broken one.
        Err(error) => return Checked { file: error.file.clone(), state: State::Broken(error.to_string()) },
        Ok(loaded) => loaded,
    };
    let unknown: Vec<String> = loaded
        .providers()
        .filter(|name| registry.providers.find(name).is_none())
        .map(|name| match registry.providers.nearest(name) {
            Some(nearest) => format!("{}: unknown provider `{name}`; did you mean `{nearest}`?", file.display()),
            None => format!("{}: unknown provider `{name}`", file.display()),
        })
        .collect();
    let state = match (unknown.is_empty(), loaded.providers().next()) {
        (false, _) => State::Odd(unknown),
        (true, Some(_)) => State::Good,
        (true, None) if file.exists() => State::Good,
        (true, None) => State::Missing,
    };
    Checked { file, state }
}

fn rows<E: ToString>(file: PathBuf, mut read: impl FnMut(&str, &str) -> Result<(), E>) -> Checked {
    let state = match places::read(Path::new(&file)) {
        Ok(None) => State::Missing,
        Err(problem) => State::Broken(problem),
        Ok(Some(text)) => match read(&file.display().to_string(), &text) {
            Ok(()) => State::Good,
            Err(error) => State::Broken(error.to_string()),
        },
    };
    Checked { file, state }
}
