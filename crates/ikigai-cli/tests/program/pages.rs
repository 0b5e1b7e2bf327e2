//! Checks the documentation: every `console` block in it is run, and must print what it shows.

use std::path::Path;
use std::process::Command;

use pretty_assertions::assert_eq;

#[test]
#[cfg(unix)]
fn every_example_on_the_pages_prints_what_it_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in ["README.md", "docs/wire.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let examples = examples(&text);
        assert!(!examples.is_empty(), "{page} shows no example");
        for Example { line, command, shown } in examples {
            assert_eq!(run(&command), shown, "{page}, line {line}: {command}");
        }
    }
}

#[derive(Debug, Default, PartialEq)]
struct Example {
    line: usize,
    command: String,
    shown: String,
}

/// Returns the commands in the `console` blocks of a page: `$ ` begins one, `> ` continues it, the rest is its output.
fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        if !inside {
            inside = line == "```console";
        } else if line == "```" {
            inside = false;
        } else if let Some(command) = line.strip_prefix("$ ") {
            examples.push(Example { line: number + 1, command: command.to_owned(), shown: String::new() });
        } else {
            let example = examples.last_mut().expect("a console block begins with a command");
            match line.strip_prefix("> ") {
                Some(more) if example.shown.is_empty() => example.command.push_str(&format!("\n{more}")),
                _ => example.shown.push_str(&format!("{line}\n")),
            }
        }
    }
    examples
}

/// Returns what a shell shows for a command, including standard error.
fn run(command: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_ikigai")).parent().unwrap();
    // The README starts the program from a checkout with `cargo run --`; here it is already built.
    let command = command.replace("cargo run -- ", "ikigai ");
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .env_clear()
        .env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default()))
        .env("IKIGAI_HOME", "/nonexistent")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_and_what_they_print_are_told_apart() {
    let page = "text\n```console\n$ one \\\n> two\nprinted\n> quoted\n$ three\n```\n```\n$ no\n```\n";
    let example = |line, command: &str, shown: &str| Example { line, command: command.into(), shown: shown.into() };
    assert_eq!(examples(page), [example(3, "one \\\ntwo", "printed\n> quoted\n"), example(7, "three", "")]);
}
