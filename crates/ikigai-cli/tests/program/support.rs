//! The program, run in a clean house.

use std::path::Path;

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
