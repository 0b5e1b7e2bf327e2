//! Describes what a call is about to do, for the user who is asked.

use std::fmt::Write as _;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::change::{self, Change, EditFile, Promise, WriteFile};
use super::find::{Glob, Grep};
use super::read::{ListDir, ReadFile};
use super::scope::Scope;
use super::secrets;
use super::shell::ShellArguments;
use crate::screen::{Content, notice, one_line};

/// The maximum length of the line, in characters.
const LINE: usize = 300;

/// What a call is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Described {
    /// In one line, which may be cut: `edit_file src/main.rs`. It is safe to print, but not what the user approves.
    pub(crate) line: String,
    /// In full.
    pub(crate) content: Content,
    /// What deserves a second look, however often the tool was allowed before.
    pub(crate) warnings: Vec<String>,
    /// Why it cannot be run: it is refused with this message.
    pub(crate) fails: Option<String>,
    /// Makes sure that the change is the one that was shown.
    pub(crate) promise: Option<Promise>,
}

impl Described {
    fn new(line: String, content: Content) -> Self {
        Described { line, content, warnings: Vec::new(), fails: None, promise: None }
    }

    fn line(line: String) -> Self {
        Described::new(line.clone(), Content::Text(line))
    }

    fn changing(mut self, promise: Promise) -> Self {
        self.warnings.extend(secrets::runs_later(promise.path()).map(str::to_owned));
        self.promise = Some(promise);
        self
    }

    fn failing(line: String, why: String) -> Self {
        Described { fails: Some(why), ..Described::line(line) }
    }
}

/// Describes what a call is about to do. It may read files, but changes nothing.
pub(crate) fn describe(scope: &Scope, name: &str, arguments: &Map<String, Value>) -> Described {
    let told = match name {
        "read_file" => with(arguments, |call: ReadFile| read_file(scope, &call)),
        "list_dir" => with(arguments, |call: ListDir| {
            let path = call.path.as_deref().unwrap_or(".");
            reading(path.to_owned(), scope, path)
        }),
        "glob" => with(arguments, |call: Glob| {
            let path = call.path.as_deref().unwrap_or(".");
            reading(format!("{}{}", call.pattern, in_folder(path)), scope, path)
        }),
        "grep" => with(arguments, |call: Grep| {
            let path = call.path.as_deref().unwrap_or(".");
            let names = call.glob.map(|names| format!(" ({names})")).unwrap_or_default();
            reading(format!("\"{}\"{}{names}", call.pattern, in_folder(path)), scope, path)
        }),
        "write_file" => with(arguments, |call: WriteFile| write_file(scope, call)),
        "edit_file" => with(arguments, |call: EditFile| edit_file(scope, call)),
        "shell" => with(arguments, |call: ShellArguments| {
            let mut text = call.command.clone();
            if let Some(seconds) = call.timeout_seconds {
                let _ = write!(text, "\n(for at most {seconds} s)");
            }
            Described::new(call.command, Content::Text(text))
        }),
        _ => foreign(arguments),
    };
    Described { line: one_line(&format!("{name} {}", told.line), LINE), ..told }
}

/// Describes a call to an MCP server's tool: its arguments, as they will be sent.
fn foreign(arguments: &Map<String, Value>) -> Described {
    if arguments.is_empty() {
        return Described::new(String::new(), Content::Text("(no arguments)".to_owned()));
    }
    let value = Value::Object(arguments.clone());
    Described::new(value.to_string(), Content::Text(format!("{value:#}")))
}

/// Describes a call to one of our tools, with arguments that it accepts; the tool refuses any others.
fn with<A: DeserializeOwned>(arguments: &Map<String, Value>, describe: impl FnOnce(A) -> Described) -> Described {
    let value = Value::Object(arguments.clone());
    let text = value.to_string();
    match serde_json::from_value(value) {
        Ok(call) => describe(call),
        Err(error) => Described::failing(text, format!("the arguments do not match: {error}")),
    }
}

fn reading(line: String, scope: &Scope, path: &str) -> Described {
    Described { fails: scope.resolve(path).err(), ..Described::line(line) }
}

fn in_folder(path: &str) -> String {
    if path == "." { String::new() } else { format!(" in {path}") }
}

fn read_file(scope: &Scope, call: &ReadFile) -> Described {
    let lines = match (call.offset, call.limit) {
        (None, None) => String::new(),
        (from, None) => format!(" (from line {})", from.unwrap_or(1)),
        (from, Some(count)) => {
            let first = from.unwrap_or(1).max(1);
            format!(" (lines {first} to {})", first.saturating_add(count.max(1) - 1))
        }
    };
    reading(format!("{}{lines}", call.path), scope, &call.path)
}

fn write_file(scope: &Scope, call: WriteFile) -> Described {
    let seen = scope.resolve(&call.path).and_then(|path| {
        // What is too large to be shown cannot be approved.
        let old = if change::writable(scope, &path)? { None } else { Some(change::whole(scope, &path)?) };
        Ok((path, old))
    });
    let (path, old) = match seen {
        Ok(seen) => seen,
        Err(why) => return Described::failing(call.path, why),
    };
    let word = if old.is_none() { "new, " } else { "" };
    let lines = notice::several(call.content.lines().count() as u64, "line");
    let line = format!("{} ({word}{lines})", call.path);
    let content = Content::Diff {
        path: scope.shown(&path),
        old: readable(old.as_deref().unwrap_or_default()),
        new: call.content.clone(),
    };
    let promise = Promise::new(Change::Write(call), path, old.as_deref());
    Described::new(line, content).changing(promise)
}

fn edit_file(scope: &Scope, call: EditFile) -> Described {
    let seen = scope.resolve(&call.path).and_then(|path| {
        let old = change::whole(scope, &path)?;
        change::writable(scope, &path)?;
        let edited = change::edited(&old, &call).map_err(|why| format!("{}: {why}", scope.shown(&path)))?;
        Ok((path, old, edited))
    });
    match seen {
        Ok((path, old, edited)) => {
            let content = Content::Diff { path: scope.shown(&path), old: readable(&old), new: readable(&edited.bytes) };
            let line = call.path.clone();
            let promise = Promise::new(Change::Edit(call), path, Some(&old));
            Described::new(line, content).changing(promise)
        }
        Err(why) => Described::failing(call.path, why),
    }
}

/// Converts bytes to text; those that are not UTF-8 are spelled out, so that none looks like another.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "<{byte:02X}>");
        }
    }
    text
}
