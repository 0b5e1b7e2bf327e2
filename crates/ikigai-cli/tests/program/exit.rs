//! Exit codes, and output that cannot be written.

use std::io::Read as _;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;

use crate::support::{Said, ikigai, said};

#[test]
fn an_unknown_command_is_a_usage_error() {
    let Said { code, stdout, stderr } = said(&mut ikigai(&["moddels"]));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(stderr, @r"
    error: unknown command `moddels`
      Did you mean `ikigai models`?

    For more information, try --help.
    ");
}

#[test]
fn a_command_without_its_subcommand_is_a_usage_error() {
    let Said { code, stdout, stderr } = said(&mut ikigai(&["wire"]));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("Usage: ikigai wire"), "{stderr}");
}

/// Starts the program, reads a few bytes of its output, and closes the pipe.
fn read_a_little(arguments: &[&str]) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ikigai"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 10]).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    // More output than a pipe holds, so that the program is still writing when the reader disappears.
    assert_eq!(read_a_little(&["models", "list"]), (Some(141), String::new()));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ikigai")).args(["wire", "schema"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("error: cannot write the output: "), "{stderr}");
}
