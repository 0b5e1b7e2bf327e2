//! `write_file` and `edit_file`.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use ikigai::schemars::{self, JsonSchema};
use ikigai_core::near;
use memchr::memmem;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::Stop;
use super::scope::{Scope, plain};
use crate::files::{self, Mode};
use crate::screen::{notice, one_line};

/// The largest file that can be edited, in bytes.
const LARGEST: u64 = 16 << 20;
/// How many lines are compared with a line that was not found.
const COMPARED: usize = 20_000;

/// Writes a whole file, new or not, and the folders that it needs. For a small change of a file that exists, edit_file is the
/// better one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub(super) struct WriteFile {
    /// The file, from the working folder.
    pub(super) path: String,
    /// All of its text.
    pub(super) content: String,
}

/// Replaces a piece of text in a file. The old text must stand there exactly as given, blanks and all, and only once: give
/// enough of its surroundings, or set replace_all.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub(super) struct EditFile {
    /// The file, from the working folder.
    pub(super) path: String,
    /// The text that is there now.
    pub(super) old_text: String,
    /// The text to be there in its place; empty to take it out.
    pub(super) new_text: String,
    /// Whether each place is changed, where there are several.
    pub(super) replace_all: Option<bool>,
}

/// A change as requested by the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Write(WriteFile),
    Edit(EditFile),
}

/// A change that the user approved: it is made to the file as they saw it, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promise {
    change: Change,
    path: PathBuf,
    /// A digest of the file's bytes; `None` for a file that did not exist.
    before: Option<[u8; 32]>,
}

impl Promise {
    pub(super) fn new(change: Change, path: PathBuf, before: Option<&[u8]>) -> Self {
        Promise { change, path, before: before.map(digest) }
    }

    /// Returns the file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Checks that the file is still as the user saw it. If nobody was asked, there is nothing to compare.
fn kept(
    promises: &mut Vec<Promise>,
    change: Change,
    path: &Path,
    before: Option<&[u8]>,
    shown: &str,
) -> Result<(), String> {
    let Some(place) = promises.iter().position(|promise| promise.change == change) else { return Ok(()) };
    let promise = promises.swap_remove(place);
    if promise.path == path && promise.before == before.map(digest) {
        Ok(())
    } else {
        Err(format!("{shown} changed after the user was asked; nothing was written, read it again"))
    }
}

pub(super) fn write_file(scope: &Scope, arguments: &WriteFile, stop: &Stop) -> Result<String, String> {
    let path = scope.resolve(&arguments.path)?;
    let shown = scope.shown(&path);
    let mut promises = scope.promises.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = writable(scope, &path)?;
    let before = if is_new { None } else { Some(whole(scope, &path)?) };
    kept(&mut promises, Change::Write(arguments.clone()), &path, before.as_deref(), &shown)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {}", scope.shown(folder), plain(&error)))?;
    }
    put(scope, &path, arguments.content.as_bytes(), stop)?;
    let word = if is_new { "wrote the new file" } else { "wrote" };
    let lines = notice::several(arguments.content.lines().count() as u64, "line");
    Ok(format!("{word} {shown}: {lines}, {}", notice::several(arguments.content.len() as u64, "byte")))
}

pub(super) fn edit_file(scope: &Scope, arguments: &EditFile, stop: &Stop) -> Result<String, String> {
    let path = scope.resolve(&arguments.path)?;
    let mut promises = scope.promises.lock().unwrap_or_else(PoisonError::into_inner);
    let before = whole(scope, &path)?;
    kept(&mut promises, Change::Edit(arguments.clone()), &path, Some(&before), &scope.shown(&path))?;
    let edited = edited(&before, arguments).map_err(|why| format!("{}: {why}", scope.shown(&path)))?;
    writable(scope, &path)?;
    // Another program may be changing the file too, and its work must not be lost.
    if whole(scope, &path)? != before {
        return Err(format!("{} changed meanwhile; read it again", scope.shown(&path)));
    }
    put(scope, &path, &edited.bytes, stop)?;
    let places = match edited.places {
        1 => "one place".to_owned(),
        more => format!("{more} places"),
    };
    Ok(format!("changed {places} in {}", scope.shown(&path)))
}

/// Reads a file's bytes.
pub(super) fn whole(scope: &Scope, path: &Path) -> Result<Vec<u8>, String> {
    let file = scope.open(path)?;
    let mut bytes = Vec::new();
    let shown = scope.shown(path);
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| format!("{shown}: {}", plain(&error)))?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= LARGEST => Ok(bytes),
        _ => Err(format!("{shown} is larger than {LARGEST} bytes")),
    }
}

/// Checks that a file may be written. Returns whether it is new.
pub(super) fn writable(scope: &Scope, path: &Path) -> Result<bool, String> {
    let shown = scope.shown(path);
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(format!("{shown} is a folder")),
        Ok(metadata) if !metadata.is_file() => Err(format!("{shown} is not a regular file")),
        Ok(metadata) if metadata.permissions().readonly() => Err(format!("{shown} may only be read")),
        Ok(_) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(format!("{shown}: {}", plain(&error))),
    }
}

fn put(scope: &Scope, path: &Path, bytes: &[u8], stop: &Stop) -> Result<(), String> {
    if stop.is_set() {
        return Err("stopped".to_owned());
    }
    scope.still(path)?;
    files::replace(path, bytes, Mode::Kept).map_err(|error| format!("{}: {}", scope.shown(path), plain(&error)))
}

/// A file after an edit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edited {
    pub(super) bytes: Vec<u8>,
    pub(super) places: usize,
}

/// Applies an edit to a file's bytes. Unchanged parts need not be UTF-8.
pub(super) fn edited(before: &[u8], arguments: &EditFile) -> Result<Edited, String> {
    let EditFile { old_text: old, new_text: new, .. } = arguments;
    if old.is_empty() {
        return Err("old_text is empty; write_file writes whole files".to_owned());
    }
    if old == new {
        return Err("old_text and new_text are the same".to_owned());
    }
    let (old, new) = match memmem::find(before, old.as_bytes()) {
        Some(_) => (old.clone(), new.clone()),
        // Models write line breaks in one way, but files use two.
        None if memmem::find(before, b"\r\n").is_some() => (windows_lines(old), windows_lines(new)),
        None => return Err(not_found(before, old)),
    };
    let places: Vec<usize> = memmem::find_iter(before, old.as_bytes()).collect();
    match places.as_slice() {
        [] => Err(not_found(before, &arguments.old_text)),
        [_, _, ..] if arguments.replace_all != Some(true) => {
            let lines: Vec<String> = places.iter().take(10).map(|place| line_of(before, *place).to_string()).collect();
            Err(format!(
                "old_text occurs {} times (lines {}{}); include more of the surrounding text, or set replace_all",
                places.len(),
                lines.join(", "),
                if places.len() > 10 { ", …" } else { "" },
            ))
        }
        found => {
            let mut bytes = Vec::with_capacity(before.len());
            let mut end = 0;
            for place in found {
                bytes.extend_from_slice(before.get(end..*place).unwrap_or_default());
                bytes.extend_from_slice(new.as_bytes());
                end = place + old.len();
            }
            bytes.extend_from_slice(before.get(end..).unwrap_or_default());
            Ok(Edited { bytes, places: found.len() })
        }
    }
}

fn windows_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn line_of(bytes: &[u8], place: usize) -> usize {
    memchr::memchr_iter(b'\n', bytes.get(..place).unwrap_or(bytes)).count() + 1
}

/// Explains why a text was not found, with the nearest line in the file.
fn not_found(before: &[u8], old: &str) -> String {
    let text = String::from_utf8_lossy(before);
    let Some(first) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return "old_text was not found; it is only whitespace".to_owned();
    };
    let lines = || text.lines().take(COMPARED).enumerate();
    let same = lines().find(|(_, line)| line.trim() == first);
    let near = || {
        let close = near::close(first, text.lines().take(COMPARED).map(str::trim))?;
        lines().find(|(_, line)| line.trim() == close)
    };
    let shown = |line: &str| one_line(line, 200);
    match (same, near) {
        (Some((place, line)), _) => format!(
            "old_text was not found exactly. Line {} matches its first line but for whitespace, or is followed by something \
             else: `{}`; read the file again",
            place + 1,
            shown(line)
        ),
        (None, near) => match near() {
            Some((place, line)) => {
                format!(
                    "old_text was not found. The nearest to its first line is line {}: `{}`",
                    place + 1,
                    shown(line)
                )
            }
            None => "old_text was not found, nor anything like its first line; read the file again".to_owned(),
        },
    }
}
