//! Limits which files the tools may touch.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::change::Promise;
use super::secrets::{self, Own};

/// The working folder, and what else the user has allowed.
#[derive(Debug)]
pub(crate) struct Scope {
    /// A path without links.
    root: PathBuf,
    allowed: Vec<PathBuf>,
    own: Own,
    /// Changes that the user approved and that have not been made yet. Every change of a file holds the lock, because
    /// calls run concurrently, and two edits of one file must both be in it at the end.
    pub(super) promises: Mutex<Vec<Promise>>,
}

impl Scope {
    /// Creates a scope of a folder and everything below it.
    ///
    /// # Errors
    /// Returns an error if there is no such folder.
    pub(crate) fn new(root: &Path) -> io::Result<Self> {
        let root = std::fs::canonicalize(root)?;
        if !root.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let own = Own::find(&root);
        Ok(Scope { root, own, allowed: Vec::new(), promises: Mutex::new(Vec::new()) })
    }

    /// Adds another folder or file, which need not exist yet.
    #[must_use]
    pub(crate) fn allow(mut self, path: &Path) -> Self {
        if let Ok(path) = follow(&self.root, path) {
            self.allowed.push(path);
        }
        self
    }

    /// Records that the user approved a change: it is made as shown, or not at all.
    pub(crate) fn promise(&self, promise: Promise) {
        self.promises.lock().unwrap_or_else(PoisonError::into_inner).push(promise);
    }

    /// Whether there are approved changes that have not been made yet.
    pub(crate) fn is_changing(&self) -> bool {
        !self.promises.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Forgets all earlier approvals.
    pub(crate) fn forget_promises(&self) {
        self.promises.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Whether this path is in the working folder, and not only in another allowed path.
    pub(crate) fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }

    /// Returns the working folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the file or folder that a model means, with every link on the way followed; it need not exist. Anything
    /// outside is refused, however the path is spelled.
    pub(crate) fn resolve(&self, given: &str) -> Result<PathBuf, String> {
        if given.trim().is_empty() {
            return Err("the path is empty".to_owned());
        }
        let path = match (given.strip_prefix("~/"), etcetera::home_dir()) {
            (Some(rest), Ok(home)) => home.join(rest),
            _ => PathBuf::from(given),
        };
        let found = follow(&self.root, &path).map_err(|error| format!("`{given}`: {error}"))?;
        if self.holds(&found) {
            self.open_to_tools(&found)?;
            return Ok(found);
        }
        let root = self.root.display();
        let links = if path.is_relative() && !given.contains("..") { " (a link leads there)" } else { "" };
        Err(format!(
            "`{given}` is outside the working folder {root}{links}, and the tools are confined to it; the user can allow \
             it by starting with --allow-path"
        ))
    }

    /// Checks that the tools may touch this path. Paths that hold secrets are closed unless the user names them.
    fn open_to_tools(&self, path: &Path) -> Result<(), String> {
        let Some(why) = secrets::secret(path, &self.own) else { return Ok(()) };
        let named = |allowed: &PathBuf| path.starts_with(allowed) && secrets::secret(allowed, &self.own).is_some();
        if self.allowed.iter().any(named) {
            return Ok(());
        }
        let shown = self.shown(path);
        Err(format!("`{shown}` {why}, and the tools leave it alone; the user can allow it with --allow-path {shown}"))
    }

    fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.root) || self.allowed.iter().any(|allowed| path.starts_with(allowed))
    }

    /// Returns a path for people and models, relative to the working folder if it is inside.
    pub(crate) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => rest.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }

    /// Opens a regular file for reading. The path comes from [`resolve`](Scope::resolve); a link that has been put in its
    /// way since is detected.
    pub(crate) fn open(&self, path: &Path) -> Result<File, String> {
        let shown = self.shown(path);
        let broken = |error: &io::Error| format!("{shown}: {}", plain(error));
        self.open_to_tools(path)?;
        let metadata = std::fs::symlink_metadata(path).map_err(|error| broken(&error))?;
        if metadata.is_dir() {
            return Err(format!("{shown} is a folder; list_dir lists it"));
        }
        if !metadata.is_file() {
            // Reading a pipe or a device may never end.
            return Err(format!("{shown} is not a regular file"));
        }
        let mut options = File::options();
        options.read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
            options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
        }
        let file = options.open(path).map_err(|error| broken(&error))?;
        self.still(path)?;
        if !file.metadata().map_err(|error| broken(&error))?.is_file() {
            return Err(format!("{shown} is not a regular file"));
        }
        Ok(file)
    }

    /// Checks that a path still leads where it led, because a link may have been put in its way since it was examined.
    pub(crate) fn still(&self, path: &Path) -> Result<(), String> {
        match follow(&self.root, path) {
            Ok(now) if now == path && self.holds(&now) => Ok(()),
            Ok(_) | Err(_) => Err(format!("{} changed while it was being read; call again", self.shown(path))),
        }
    }
}

/// Returns where a path leads, starting at a folder: every link is followed, `..` goes up from where a link leads, and
/// names that do not exist yet are kept as spelled.
fn follow(from: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut found = from.to_owned();
    let mut missing: Vec<OsString> = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(prefix) => found = PathBuf::from(prefix.as_os_str()),
            Component::RootDir => {
                found.push(std::path::MAIN_SEPARATOR_STR);
                missing.clear();
            }
            Component::CurDir => {}
            Component::ParentDir => {
                if missing.pop().is_none() {
                    found.pop();
                }
            }
            Component::Normal(name) if missing.is_empty() => {
                let next = found.join(name);
                match std::fs::symlink_metadata(&next) {
                    // A broken link is an error here: what is written to it would land wherever it points.
                    Ok(_) => found = std::fs::canonicalize(&next)?,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(name.to_owned()),
                    Err(error) => return Err(error),
                }
            }
            Component::Normal(name) => missing.push(name.to_owned()),
        }
    }
    found.extend(missing);
    Ok(found)
}

/// Returns the system's message without its number.
pub(super) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "scope_tests.rs"]
mod tests;
