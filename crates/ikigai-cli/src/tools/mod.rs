//! The built-in tools of the chat: files and a shell, for a model to use in a working folder.
//!
//! Each is bounded: in what it may touch ([`Scope`]; the shell only by the user's approval), in what it returns
//! ([`LIMIT`]), and in how long it takes. Errors are reported to the model in words that it can act on.

mod capture;
mod change;
mod describe;
mod find;
mod permissions;
mod prefix;
mod read;
mod scope;
mod secrets;
mod shell;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ikigai::Callable;

pub(crate) use self::describe::{Described, describe};
pub(crate) use self::permissions::{Decision, Permissions, Rule};
pub(crate) use self::prefix::Prefix;
pub(crate) use self::scope::Scope;
pub(crate) use self::shell::Shell;

/// The maximum number of characters that a tool returns, not counting a line or two around them.
pub(crate) const LIMIT: usize = 30_000;

/// How long a tool that only reads or changes files may take.
const FILES_TIMEOUT: Duration = Duration::from_secs(60);

/// The names of the tools.
#[cfg(test)]
const NAMES: [&str; 7] = ["read_file", "list_dir", "glob", "grep", "write_file", "edit_file", "shell"];

/// The effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It only reads.
    Reads,
    /// It changes files.
    Changes,
    /// It runs a program, which may do anything.
    Runs,
}

/// Returns the effect of a tool. One that is not ours may do anything.
pub(crate) fn kind(name: &str) -> Kind {
    match name {
        "read_file" | "list_dir" | "glob" | "grep" => Kind::Reads,
        "write_file" | "edit_file" => Kind::Changes,
        _ => Kind::Runs,
    }
}

/// Prevents other programs of the same user, such as those that a model runs, from reading our variables and memory.
/// Only Linux allows that, and only there can it be prevented; administrators still can.
pub(crate) fn close_memory() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Returns all tools, for a working folder.
pub(crate) fn all(scope: &Arc<Scope>) -> Vec<Callable> {
    let read = scope.clone();
    let list = scope.clone();
    let glob = scope.clone();
    let grep = scope.clone();
    let write = scope.clone();
    let edit = scope.clone();
    let shell = scope.clone();
    let tools = [
        ikigai::tool(move |arguments: read::ReadFile| {
            let scope = read.clone();
            blocking(move |stop| read::read_file(&scope, &arguments, stop))
        })
        .timeout(FILES_TIMEOUT),
        ikigai::tool(move |arguments: read::ListDir| {
            let scope = list.clone();
            blocking(move |_| read::list_dir(&scope, &arguments))
        })
        .timeout(FILES_TIMEOUT),
        ikigai::tool(move |arguments: find::Glob| {
            let scope = glob.clone();
            blocking(move |stop| find::glob(&scope, &arguments, stop))
        })
        .timeout(FILES_TIMEOUT),
        ikigai::tool(move |arguments: find::Grep| {
            let scope = grep.clone();
            blocking(move |stop| find::grep(&scope, &arguments, stop))
        })
        .timeout(FILES_TIMEOUT),
        ikigai::tool(move |arguments: change::WriteFile| {
            let scope = write.clone();
            blocking(move |stop| change::write_file(&scope, &arguments, stop))
        })
        .timeout(FILES_TIMEOUT),
        ikigai::tool(move |arguments: change::EditFile| {
            let scope = edit.clone();
            blocking(move |stop| change::edit_file(&scope, &arguments, stop))
        })
        .timeout(FILES_TIMEOUT),
        // It has its own limit, which the model may set.
        ikigai::tool(move |arguments: shell::ShellArguments| shell::run(shell.clone(), arguments))
            .named("shell")
            .no_timeout(),
    ];
    // Optional arguments are not part of what providers call strict.
    tools.into_iter().map(Callable::lenient).collect()
}

/// Whether work should stop, because the caller no longer waits for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs file work on a blocking thread. If nobody waits for it any longer, it is asked to stop.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    struct OnDrop(Stop);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = Stop::default();
    let waiting = OnDrop(stop.clone());
    let outcome = tokio::task::spawn_blocking(move || work(&stop)).await;
    drop(waiting);
    outcome.unwrap_or_else(|_| Err("the tool crashed".to_owned()))
}

#[cfg(test)]
mod tools_tests;
