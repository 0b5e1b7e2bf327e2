//! Runs the program in a clean environment.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use assert_cmd::Command;

/// The program's output and exit code.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns a command for the program, without any settings of the person who runs the tests.
pub(crate) fn ikigai(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ikigai"));
    command.env_clear().args(arguments);
    // A home without any files in it.
    command.env("IKIGAI_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-such-home"));
    command
}

/// Runs it.
pub(crate) fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns the output of a command that succeeds.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let said = said(&mut ikigai(arguments));
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    said.stdout
}

/// Runs it with an input.
pub(crate) fn piped(arguments: &[&str], input: &str) -> Said {
    said(ikigai(arguments).write_stdin(input))
}

/// A home with files in it, for a program that runs several times.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Home { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    /// Adds a file.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    /// Adds a variable.
    pub(crate) fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Returns the variables, for a program that is started separately.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        self.variables.clone()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns a command for the program in this home; its working folder is empty.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let work = self.path("work");
        std::fs::create_dir_all(&work).unwrap();
        let mut command = ikigai(arguments);
        command.env("IKIGAI_HOME", self.folder.path()).current_dir(work);
        self.variables.iter().for_each(|(name, value)| {
            command.env(name, value);
        });
        command
    }

    /// Runs the program; in its output, the home is called HOME.
    pub(crate) fn said(&self, arguments: &[&str]) -> Said {
        self.plain(said(&mut self.command(arguments)))
    }

    /// Runs the program with an input.
    pub(crate) fn piped(&self, arguments: &[&str], input: &str) -> Said {
        self.plain(said(self.command(arguments).write_stdin(input)))
    }

    fn plain(&self, said: Said) -> Said {
        let home = self.folder.path().to_str().unwrap();
        Said { code: said.code, stdout: said.stdout.replace(home, "HOME"), stderr: said.stderr.replace(home, "HOME") }
    }
}

/// A running simulator, which is stopped when this is dropped.
pub(crate) struct Simulator {
    child: Child,
    url: String,
}

impl Simulator {
    /// Starts one that accepts only this key.
    pub(crate) fn start(key: &str) -> Self {
        Simulator::with(&["--key", key])
    }

    /// Starts one with these arguments.
    pub(crate) fn with(arguments: &[&str]) -> Self {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_ikigai"))
            .args(["sim", "--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        Simulator { child, url: url.trim().to_owned() }
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
