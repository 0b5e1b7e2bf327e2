//! `glob` and `grep`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use ikigai::schemars::{self, JsonSchema};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::scope::{Scope, plain};
use super::text::{is_text, next_line};
use super::{LIMIT, Stop};

/// The maximum number of files listed.
const FILES: usize = 1000;
/// The maximum number of lines shown, unless the model says otherwise.
const MATCHES: usize = 200;
/// How much of a line is searched, in bytes.
const LOOKED: usize = 64 << 10;
/// How much of a line is shown, in characters.
const SHOWN: usize = 300;
/// The maximum size of a compiled pattern, in bytes.
const PATTERN: usize = 10 << 20;

/// Finds files by their names, such as `**/*.rs` or `src/**/test_*.py`; a pattern without a slash finds names at any depth.
/// What .gitignore leaves out is left out.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Glob {
    /// The pattern, from the folder that is searched.
    pub(super) pattern: String,
    /// The folder to search, from the working folder; that one itself when it is left out.
    pub(super) path: Option<String>,
}

/// Finds lines in files by a regular expression (Rust's: no look-around, no back-references). Each line comes as
/// `path:number:line`. What .gitignore leaves out and what is no text is left out.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Grep {
    /// The regular expression.
    pub(super) pattern: String,
    /// The file or folder to search, from the working folder; that one itself when it is left out.
    pub(super) path: Option<String>,
    /// Only files whose names match, such as `*.rs`.
    pub(super) glob: Option<String>,
    /// Whether large and small letters are the same.
    pub(super) ignore_case: Option<bool>,
    /// The most lines to show: 200 unless said otherwise.
    pub(super) max_matches: Option<usize>,
}

pub(super) fn glob(scope: &Scope, arguments: &Glob, stop: &Stop) -> Result<String, String> {
    let below = scope.resolve(arguments.path.as_deref().unwrap_or("."))?;
    if !below.is_dir() {
        return Err(format!("{} is not a folder", scope.shown(&below)));
    }
    let pattern = matcher(&arguments.pattern)?;
    let (mut text, mut count, mut more) = (String::new(), 0_usize, 0_usize);
    let mut characters = 0;
    walk(&below, stop, |path| {
        if pattern.is_match(path.strip_prefix(&below).unwrap_or(path)) {
            let line = scope.shown(path);
            characters += line.chars().count() + 1;
            if count == FILES || characters > LIMIT {
                more += 1;
            } else {
                count += 1;
                text.push_str(&line);
                text.push('\n');
            }
        }
        true
    })?;
    match (count, more) {
        (0, 0) => Ok("[no matching files]".to_owned()),
        (_, 0) => Ok(text),
        _ => Ok(format!("{text}[{more} more; narrow the pattern, or search a folder below]\n")),
    }
}

pub(super) fn grep(scope: &Scope, arguments: &Grep, stop: &Stop) -> Result<String, String> {
    let below = scope.resolve(arguments.path.as_deref().unwrap_or("."))?;
    let pattern = RegexBuilder::new(&arguments.pattern)
        .case_insensitive(arguments.ignore_case.unwrap_or(false))
        .size_limit(PATTERN)
        .build()
        .map_err(|error| format!("the pattern cannot be used: {error}"))?;
    let names = arguments.glob.as_deref().map(matcher).transpose()?;
    let most = arguments.max_matches.unwrap_or(MATCHES).max(1);
    let mut found = Found { text: String::new(), count: 0, characters: 0, most, is_full: false };
    if !below.exists() {
        return Err(format!("{}: there is no such file or folder", scope.shown(&below)));
    }
    walk(&below, stop, |path| {
        let name = path.strip_prefix(&below).ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path);
        if names.as_ref().is_none_or(|names| names.is_match(name)) {
            // A file that cannot be read is skipped: the search may be for others.
            let _ = search(scope, path, &pattern, &mut found, stop);
        }
        !found.is_full
    })?;
    match (found.count, found.is_full) {
        (0, _) => Ok("[no matching lines]".to_owned()),
        (_, false) => Ok(found.text),
        (count, true) => Ok(format!("{}[more than these {count}; narrow the pattern or the path]\n", found.text)),
    }
}

struct Found {
    text: String,
    count: usize,
    characters: usize,
    most: usize,
    is_full: bool,
}

fn search(scope: &Scope, path: &Path, pattern: &Regex, found: &mut Found, stop: &Stop) -> Result<(), String> {
    let broken = |error: std::io::Error| plain(&error);
    let mut reader = BufReader::with_capacity(64 << 10, scope.open(path)?);
    if !is_text(reader.fill_buf().map_err(broken)?) {
        return Ok(());
    }
    let mut number = 0_u64;
    while let Some(line) = next_line(&mut reader, LOOKED).map_err(broken)? {
        number += 1;
        if stop.is_set() {
            return Ok(());
        }
        if !pattern.is_match(line.bytes()) {
            continue;
        }
        let text = String::from_utf8_lossy(line.bytes());
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        let shown = format!("{}:{number}:{shown}\n", scope.shown(path));
        let long = shown.chars().count();
        if found.count == found.most || found.characters + long > LIMIT {
            found.is_full = true;
            return Ok(());
        }
        found.count += 1;
        found.characters += long;
        found.text.push_str(&shown);
    }
    Ok(())
}

/// Visits a file, or the files below a folder in order of name, until the visitor has enough. Does not follow links.
fn walk(below: &Path, stop: &Stop, mut visit: impl FnMut(&Path) -> bool) -> Result<(), String> {
    let walk = WalkBuilder::new(below)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp)
        .build();
    for entry in walk.flatten() {
        if stop.is_set() {
            return Err("stopped".to_owned());
        }
        if entry.file_type().is_some_and(|kind| kind.is_file()) && !visit(&entry.into_path()) {
            break;
        }
    }
    Ok(())
}

/// Compiles a pattern for names; without a slash it matches names at any depth.
fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let pattern = pattern.trim_start_matches("./");
    if PathBuf::from(pattern).is_absolute() || pattern.split(['/', '\\']).any(|part| part == "..") {
        return Err(format!("the pattern `{pattern}` leads out of the folder; give the folder as `path` instead"));
    }
    let deep = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(&deep).literal_separator(true).build();
    Ok(glob.map_err(|error| format!("the pattern cannot be used: {}", error.kind()))?.compile_matcher())
}
