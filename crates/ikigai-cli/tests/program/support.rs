//! The program, run in a clean house.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use assert_cmd::Command;

/// What the program said.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program without any settings of the person who runs the tests.
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

/// What it prints when all is well.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let said = said(&mut ikigai(arguments));
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    said.stdout
}

/// What it says to an input.
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

    /// With a file.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    /// With a variable.
    pub(crate) fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// The variables, for a program that is started by hand.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        self.variables.clone()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program in this home; its working folder is empty.
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

    /// What the program says; the home is called HOME in it.
    pub(crate) fn said(&self, arguments: &[&str]) -> Said {
        self.plain(said(&mut self.command(arguments)))
    }

    /// What the program says to an input.
    pub(crate) fn piped(&self, arguments: &[&str], input: &str) -> Said {
        self.plain(said(self.command(arguments).write_stdin(input)))
    }

    fn plain(&self, said: Said) -> Said {
        let home = self.folder.path().to_str().unwrap();
        Said { code: said.code, stdout: said.stdout.replace(home, "HOME"), stderr: said.stderr.replace(home, "HOME") }
    }
}

/// A running simulator, which ends with this.
pub(crate) struct Simulator {
    child: Child,
    url: String,
}

impl Simulator {
    /// One that accepts this key and no other.
    pub(crate) fn start(key: &str) -> Self {
        Simulator::with(&["--key", key])
    }

    /// One with these arguments.
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
