//! The commands that an "always" covers: never the whole shell, but a program's subcommand, or one exact command.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Programs with subcommands whose further arguments name files, tests or revisions, and these subcommands.
const SUBCOMMANDS: [(&str, &[&str]); 8] = [
    (
        "git",
        &[
            "add",
            "blame",
            "describe",
            "diff",
            "fetch",
            "grep",
            "log",
            "ls-files",
            "rev-parse",
            "shortlog",
            "show",
            "status",
        ],
    ),
    ("cargo", &["bench", "build", "check", "clippy", "doc", "fmt", "metadata", "nextest", "test", "tree"]),
    ("go", &["build", "doc", "fmt", "list", "test", "vet"]),
    ("npm", &["audit", "ls", "outdated", "test"]),
    ("pnpm", &["audit", "ls", "outdated", "test"]),
    ("yarn", &["audit", "outdated", "test"]),
    ("pip", &["check", "freeze", "list", "show"]),
    ("dotnet", &["build", "format", "test"]),
];

/// Programs that read or check the files they are given.
const READERS: [&str; 22] = [
    "cat", "diff", "du", "eslint", "file", "grep", "head", "ls", "mypy", "nl", "pwd", "pyright", "pytest", "rg",
    "ruff", "stat", "tail", "tree", "tsc", "uniq", "wc", "which",
];

/// Programs that run whatever they are told, or run it as somebody else: the user is asked every time.
const RUNNERS: [&str; 62] = [
    "ash",
    "awk",
    "bash",
    "builtin",
    "bun",
    "bunx",
    "busybox",
    "chroot",
    "cmd",
    "command",
    "csh",
    "dash",
    "deno",
    "doas",
    "docker",
    "ed",
    "env",
    "eval",
    "exec",
    "ex",
    "expect",
    "fish",
    "gawk",
    "gdb",
    "ionice",
    "ksh",
    "kubectl",
    "lua",
    "make",
    "mawk",
    "nice",
    "node",
    "nohup",
    "npx",
    "nsenter",
    "osascript",
    "parallel",
    "perl",
    "php",
    "pipx",
    "pkexec",
    "podman",
    "powershell",
    "pwsh",
    "python",
    "ruby",
    "sed",
    "setsid",
    "sh",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "tclsh",
    "time",
    "timeout",
    "tmux",
    "unshare",
    "watch",
    "xargs",
];

/// Commands that run without asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prefix {
    /// The first words; all of them if `exact`.
    words: Vec<String>,
    /// The options that may follow, as written.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    options: BTreeSet<String>,
    /// Whether nothing may follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    exact: bool,
}

impl Prefix {
    /// Returns what an "always" would cover, as narrow as is useful; `None` for a command that runs other commands, or
    /// is more than one plain command.
    pub(crate) fn of(command: &str) -> Option<Self> {
        let words = plain(command)?;
        let (program, rest) = words.split_first()?;
        let name =
            program.rsplit('/').next().unwrap_or(program).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if program.contains('=') || program.starts_with('-') || RUNNERS.contains(&name) || program == "." {
            return None;
        }
        let subcommands = SUBCOMMANDS.iter().find(|(name, _)| name == program).map(|(_, subcommands)| *subcommands);
        let first = match (subcommands, rest.first()) {
            (Some(known), Some(word)) if known.contains(&word.as_str()) => 2,
            _ if READERS.contains(&program.as_str()) => 1,
            _ => return Some(Prefix { words, options: BTreeSet::new(), exact: true }),
        };
        let options = words.iter().skip(first).filter(|word| is_option(word)).cloned().collect();
        Some(Prefix { words: words.into_iter().take(first).collect(), options, exact: false })
    }

    /// Whether this command may run. `within` says whether a word leads to something that may be read here.
    pub(crate) fn covers(&self, command: &str, within: impl Fn(&str) -> bool) -> bool {
        let Some(words) = plain(command) else { return false };
        if self.exact {
            return words == self.words;
        }
        let Some(rest) = words.strip_prefix(self.words.as_slice()) else { return false };
        rest.iter().all(|word| if is_option(word) { self.options.contains(word) } else { within(word) })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.words.join(" "))?;
        for option in &self.options {
            write!(f, " {option}")?;
        }
        if self.exact { Ok(()) } else { write!(f, " …") }
    }
}

/// Whether a word changes how a program works, rather than what it works on.
fn is_option(word: &str) -> bool {
    word.starts_with('-') || word.contains('=')
}

/// Splits a command into words if it is one program with its arguments and nothing else: no expansion, no redirection, no
/// second command, nothing with a special meaning to a shell.
fn plain(command: &str) -> Option<Vec<String>> {
    let harmless =
        |c: char| c.is_ascii_alphanumeric() || " -_./:=,@+'\"".contains(c) || !cfg!(windows) && "~^#".contains(c);
    if !command.chars().all(harmless) {
        return None;
    }
    let words = shlex::split(command)?;
    // Special at the beginning of a word: a home folder, a comment.
    let special =
        words.iter().any(|word| word.starts_with(['~', '#', '^']) || word.contains("=~") || word.contains(":~"));
    (!special && !words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn offered(command: &str) -> Option<String> {
        Prefix::of(command).map(|prefix| prefix.to_string())
    }

    #[test]
    fn an_always_is_as_narrow_as_is_of_use() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(offered("git diff HEAD~2 src"), some("git diff …"));
        assert_eq!(offered("cargo test -p core --release"), some("cargo test --release -p …"));
        assert_eq!(offered("ls -la src"), some("ls -la …"));
        assert_eq!(offered("rm -r build"), some("rm -r build"), "exactly this");
        assert_eq!(offered("git push origin main"), some("git push origin main"));
        assert_eq!(offered("git -c core.pager=x log"), some("git -c core.pager=x log"));
        assert_eq!(offered("cargo run"), some("cargo run"));
    }

    #[test]
    fn a_bare_shell_and_more_than_one_command_are_never_always() {
        let commands = [
            "bash -c ls",
            "sh",
            "/bin/sh x",
            "python3 -m pytest",
            "python3.12 x.py",
            "sudo ls",
            "env ls",
            "xargs rm",
            "make",
            "FOO=1 ls",
            "ls; rm x",
            "ls && rm x",
            "ls | sh",
            "ls > x",
            "ls $(x)",
            "ls `x`",
            "ls *",
            "cat ~/x",
            "ls \\\nx",
            "ls\nrm x",
            "echo {a,b}",
            "",
            " ",
            "\u{200b}ls",
            "ls ü",
            ". x",
            "ls 'open",
            "sed -n 1p x",
        ];
        assert_eq!(commands.map(offered), commands.map(|_| None));
    }

    #[test]
    fn other_options_other_programs_and_outside_words_are_asked_for_again() {
        let covers = |approved: &str, command: &str| {
            let prefix = Prefix::of(approved).unwrap();
            prefix.covers(command, |word| !word.starts_with('/') && !word.contains(".."))
        };
        assert!(covers("cargo test -p core", "cargo test -p store some_test"));
        assert!(covers("git diff", "git diff HEAD~3 src/main.rs"));
        assert!(covers("git diff", "git 'diff'"));
        assert!(!covers("git diff", "git diff --output=x"));
        assert!(!covers("git diff", "git diff --ext-diff"));
        assert!(!covers("git diff", "git diff; touch x"));
        assert!(!covers("git diff", "git diff\ntouch x"));
        assert!(!covers("git diff", "git diffx"));
        assert!(!covers("git diff", "git log"));
        assert!(!covers("cat a.txt", "cat /etc/passwd"));
        assert!(!covers("cat a.txt", "cat ../x"));
        assert!(!covers("cat a.txt", "cat ~/.ssh/id_rsa"));
        assert!(covers("rm -r build", "rm -r  build"));
        assert!(!covers("rm -r build", "rm -r build src"));
    }
}
