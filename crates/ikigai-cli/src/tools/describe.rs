//! What a call is about to do, for the person who is asked.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::change::{self, EditFile, WriteFile};
use super::find::{Glob, Grep};
use super::read::{ListDir, ReadFile};
use super::scope::Scope;
use super::shell::ShellArguments;
use super::text::{one_line, safe};

/// The most characters of the line.
const LINE: usize = 300;

/// What a call is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Described {
    /// In one line: `edit_file src/main.rs`. It is safe to print.
    pub(crate) line: String,
    /// In full, where there is more to it.
    pub(crate) preview: Option<Preview>,
    /// Why it will come to nothing, where that can be said beforehand: there is no need to ask about it.
    pub(crate) fails: Option<String>,
}

/// What a call is about to do, in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Preview {
    /// A file as it is and as it will be; nothing before when it is new.
    Diff {
        /// The file, from the working folder.
        path: String,
        /// As it is.
        old: String,
        /// As it will be.
        new: String,
    },
    /// A command. It is safe to print: control characters are shown as what they are.
    Command(String),
}

/// What a call is about to do. Files are read for it, and nothing is changed.
pub(crate) fn describe(scope: &Scope, name: &str, arguments: &Map<String, Value>) -> Described {
    let known = match name {
        "read_file" => with(arguments, |call: ReadFile| read_file(scope, &call)),
        "list_dir" => with(arguments, |call: ListDir| {
            let path = call.path.as_deref().unwrap_or(".");
            line(path.to_owned(), scope.resolve(path).err())
        }),
        "glob" => with(arguments, |call: Glob| {
            let path = call.path.as_deref().unwrap_or(".");
            line(format!("{}{}", call.pattern, in_folder(path)), scope.resolve(path).err())
        }),
        "grep" => with(arguments, |call: Grep| {
            let path = call.path.as_deref().unwrap_or(".");
            let names = call.glob.map(|names| format!(" ({names})")).unwrap_or_default();
            line(format!("\"{}\"{}{names}", call.pattern, in_folder(path)), scope.resolve(path).err())
        }),
        "write_file" => with(arguments, |call: WriteFile| write_file(scope, &call)),
        "edit_file" => with(arguments, |call: EditFile| edit_file(scope, &call)),
        "shell" => with(arguments, |call: ShellArguments| Described {
            preview: Some(Preview::Command(safe(&call.command))),
            ..line(call.command, None)
        }),
        _ => None,
    };
    // Not ours, or with arguments that the tool will refuse: as they are.
    let told = known.unwrap_or_else(|| {
        let text = if arguments.is_empty() { String::new() } else { Value::Object(arguments.clone()).to_string() };
        line(text, None)
    });
    Described { line: one_line(&format!("{name} {}", told.line), LINE), ..told }
}

fn with<A: DeserializeOwned>(
    arguments: &Map<String, Value>,
    describe: impl FnOnce(A) -> Described,
) -> Option<Described> {
    serde_json::from_value(Value::Object(arguments.clone())).ok().map(describe)
}

fn line(line: String, fails: Option<String>) -> Described {
    Described { line, preview: None, fails }
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
    line(format!("{}{lines}", call.path), scope.resolve(&call.path).err())
}

fn write_file(scope: &Scope, call: &WriteFile) -> Described {
    let lines = call.content.lines().count();
    let seen = scope.resolve(&call.path).and_then(|path| Ok((change::writable(scope, &path)?, path)));
    let (is_new, path) = match seen {
        Ok(seen) => seen,
        Err(why) => return line(call.path.clone(), Some(why)),
    };
    let word = if is_new { "new, " } else { "" };
    let text = format!("{} ({word}{lines} lines)", call.path);
    // A file too large to be shown is replaced without showing it.
    let old = if is_new { Ok(Vec::new()) } else { change::whole(scope, &path) };
    let preview = old.ok().map(|old| Preview::Diff {
        path: scope.shown(&path),
        old: String::from_utf8_lossy(&old).into_owned(),
        new: call.content.clone(),
    });
    Described { preview, ..line(text, None) }
}

fn edit_file(scope: &Scope, call: &EditFile) -> Described {
    let seen = scope.resolve(&call.path).and_then(|path| {
        let old = change::whole(scope, &path)?;
        change::writable(scope, &path)?;
        let edited = change::edited(&old, call)?;
        Ok((path, old, edited))
    });
    match seen {
        Ok((path, old, edited)) => Described {
            preview: Some(Preview::Diff {
                path: scope.shown(&path),
                old: String::from_utf8_lossy(&old).into_owned(),
                new: String::from_utf8_lossy(&edited.bytes).into_owned(),
            }),
            ..line(call.path.clone(), None)
        },
        Err(why) => line(call.path.clone(), Some(why)),
    }
}
