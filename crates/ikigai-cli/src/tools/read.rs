//! `read_file` and `list_dir`.

use std::fs::Metadata;
use std::io::{BufRead as _, BufReader, Read as _};

use ikigai::schemars::{self, JsonSchema};
use ikigai::{Block, tools::Output};
use serde::Deserialize;

use super::scope::{Scope, plain};
use super::text::{is_text, next_line};
use super::{LIMIT, Stop};

/// The maximum number of lines read, unless the model says otherwise.
const LINES: usize = 2000;
/// The maximum length of one line, in bytes.
const LINE: usize = 4000;
/// The largest picture, in bytes: providers accept no larger one.
const PICTURE: u64 = 5 << 20;
/// The maximum number of entries of a folder that are listed.
const ENTRIES: usize = 1000;

/// Reads a file: text as it is, pictures (png, jpeg, gif, webp) as pictures. At most 2000 lines and 30,000 characters come
/// at once; the result says how to read on.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ReadFile {
    /// The file, from the working folder.
    pub(super) path: String,
    /// The line to begin with, from 1.
    pub(super) offset: Option<usize>,
    /// How many lines.
    pub(super) limit: Option<usize>,
}

/// Lists a folder: names, folders with a slash behind, files with their size in bytes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListDir {
    /// The folder, from the working folder; that one itself when it is left out.
    pub(super) path: Option<String>,
}

pub(super) fn read_file(scope: &Scope, arguments: &ReadFile, stop: &Stop) -> Result<Output, String> {
    let path = scope.resolve(&arguments.path)?;
    let shown = scope.shown(&path);
    let file = scope.open(&path)?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let broken = |error: std::io::Error| format!("{shown}: {}", plain(&error));
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let beginning = reader.fill_buf().map_err(broken)?;
    if beginning.is_empty() {
        return Ok(Output::new("[the file is empty]"));
    }
    if let Some(kind) = picture(beginning) {
        if length > PICTURE {
            return Err(format!(
                "{shown} is a picture of {length} bytes, and {PICTURE} is the most; make it smaller first"
            ));
        }
        let mut bytes = Vec::new();
        reader.take(PICTURE).read_to_end(&mut bytes).map_err(broken)?;
        return Ok(Output::new(vec![
            Block::text(format!("{shown}, {kind}, {length} bytes:")),
            Block::file(&bytes, &shown),
        ]));
    }
    if !is_text(beginning) {
        return Err(format!("{shown} is not a text file: {length} bytes of something else"));
    }
    let first = arguments.offset.unwrap_or(1).max(1);
    let most = arguments.limit.unwrap_or(LINES).max(1);
    let mut text = String::new();
    let (mut number, mut characters, mut taken) = (0, 0, 0);
    while let Some(line) = next_line(&mut reader, LINE).map_err(broken)? {
        number += 1;
        if stop.is_set() {
            return Err("stopped".to_owned());
        }
        if number < first {
            continue;
        }
        let line = line.text();
        let long = line.chars().count();
        if taken == most || (characters + long > LIMIT && taken > 0) {
            let last = number - 1;
            text.push_str(&format!("\n[lines {first} to {last}; the file continues: read on with offset {number}]"));
            return Ok(Output::new(text));
        }
        text.push_str(&line);
        characters += long;
        taken += 1;
    }
    if taken == 0 {
        return Err(format!("{shown} has {number} lines; offset {first} is past its end"));
    }
    Ok(Output::new(text))
}

/// Returns what kind of picture the bytes are.
fn picture(beginning: &[u8]) -> Option<&'static str> {
    let is_webp = beginning.starts_with(b"RIFF") && beginning.get(8..12) == Some(b"WEBP");
    match beginning {
        bytes if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => Some("png"),
        bytes if bytes.starts_with(b"\xff\xd8\xff") => Some("jpeg"),
        bytes if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") => Some("gif"),
        _ if is_webp => Some("webp"),
        _ => None,
    }
}

pub(super) fn list_dir(scope: &Scope, arguments: &ListDir) -> Result<String, String> {
    let path = scope.resolve(arguments.path.as_deref().unwrap_or("."))?;
    let shown = scope.shown(&path);
    let entries = std::fs::read_dir(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotADirectory => format!("{shown} is a file; read_file reads it"),
        _ => format!("{shown}: {}", plain(&error)),
    })?;
    // A folder has no order of its own, so all names are read; details only of those that are shown.
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    if entries.is_empty() {
        return Ok("[the folder is empty]".to_owned());
    }
    let mut text = String::new();
    let mut characters = 0;
    for (place, entry) in entries.iter().enumerate() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let line = match entry.metadata() {
            Ok(metadata) => described(&name, &metadata, std::fs::read_link(entry.path()).ok()),
            Err(_) => name,
        };
        characters += line.chars().count() + 1;
        if place == ENTRIES || characters > LIMIT {
            let more = entries.len() - place;
            text.push_str(&format!("[{more} more; find the ones you want with glob]\n"));
            break;
        }
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

fn described(name: &str, metadata: &Metadata, link: Option<std::path::PathBuf>) -> String {
    match link {
        Some(target) => format!("{name} -> {}", target.display()),
        None if metadata.is_dir() => format!("{name}/"),
        None if metadata.is_file() => format!("{name}  {}", metadata.len()),
        None => format!("{name}  (not a regular file)"),
    }
}
