//! Secrets by reference: `env:NAME`, `file:PATH`.

use std::io::{Error, Read as _};

use ikigai::config::Environment;

/// The longest secret, in bytes. Some files never end.
const LONGEST: u64 = 64 << 10;

/// A secret, and how it was given.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) value: String,
    pub(super) given: Given,
}

/// How a secret was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    ByReference,
    /// In the file itself.
    Inline,
}

/// Resolves a reference.
pub(super) fn resolve(reference: &str, environment: &Environment) -> Result<Secret, String> {
    let by_reference = |value: String| Secret { value, given: Given::ByReference };
    if let Some(name) = reference.strip_prefix("env:") {
        let value = environment.variable(name.trim());
        return value.map(by_reference).ok_or_else(|| format!("the variable {} is not set", name.trim()));
    }
    if let Some(path) = reference.strip_prefix("file:") {
        let text = read(path.trim()).map_err(|error| format!("cannot read {path}: {error}"))?;
        let value = text.trim();
        return if value.is_empty() { Err(format!("{path} is empty")) } else { Ok(by_reference(value.to_owned())) };
    }
    if reference.trim().is_empty() {
        return Err("is empty; use `env:NAME` or `file:PATH`".to_owned());
    }
    Ok(Secret { value: reference.to_owned(), given: Given::Inline })
}

fn read(path: &str) -> Result<String, Error> {
    let mut text = String::new();
    if std::fs::File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)? as u64 > LONGEST {
        return Err(Error::other(format!("it has more than {LONGEST} bytes")));
    }
    Ok(text)
}
