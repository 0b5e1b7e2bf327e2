//! Help, version, completions, man page.

use insta::assert_snapshot;

use crate::support::{ikigai, printed, said};

/// Every command, as it is typed.
const COMMANDS: [&[&str]; 36] = [
    &[],
    &["chat"],
    &["ask"],
    &["models"],
    &["models", "list"],
    &["models", "show"],
    &["models", "thinking"],
    &["wire"],
    &["wire", "decode"],
    &["wire", "encode"],
    &["wire", "translate"],
    &["sim"],
    &["keys"],
    &["keys", "set"],
    &["keys", "list"],
    &["keys", "remove"],
    &["keys", "check"],
    &["config"],
    &["config", "path"],
    &["config", "show"],
    &["config", "get"],
    &["config", "set"],
    &["config", "unset"],
    &["config", "edit"],
    &["config", "check"],
    &["doctor"],
    &["history"],
    &["history", "list"],
    &["history", "show"],
    &["history", "search"],
    &["history", "export"],
    &["history", "import"],
    &["history", "delete"],
    &["licenses"],
    &["completions"],
    &["man"],
];

#[test]
fn without_a_terminal_there_is_no_chat_but_a_way_out() {
    let said = said(&mut ikigai(&[]));
    let stderr = "error: a chat needs a terminal\n  For pipes and scripts: ikigai ask \"…\"\n\nFor more information, try --help.\n";
    assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (Some(2), "", stderr));
}

#[test]
fn short_help() {
    assert_snapshot!(printed(&["-h"]));
}

#[test]
fn long_help() {
    assert_snapshot!(printed(&["--help"]));
}

#[test]
fn help_on_a_narrow_terminal() {
    assert_snapshot!(said(ikigai(&["--help"]).env("COLUMNS", "40")).stdout);
}

#[test]
fn every_command_has_help_with_an_example() {
    for command in COMMANDS {
        let mut words = command.to_vec();
        words.push("--help");
        let help = printed(&words);
        assert!(help.contains("Usage: ikigai"), "{words:?}");
        assert!(help.contains("Examples:"), "{words:?} shows no example");
    }
}

#[test]
fn the_version_names_the_release_and_in_a_checkout_the_commit() {
    let version = printed(&["--version"]);
    let rest = version.strip_prefix(concat!("ikigai ", env!("CARGO_PKG_VERSION"))).unwrap().trim_end();
    let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    match commit {
        Some(commit) => assert!(commit.len() >= 10 && commit.chars().all(|digit| digit.is_ascii_hexdigit()), "{rest}"),
        None => assert_eq!(rest, ""),
    }
    assert_eq!(printed(&["-V"]), version);
}

#[test]
fn completions_for_every_shell_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(&["completions", shell]);
        for word in ["models", "thinking", "wire", "schema", "--color"] {
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn the_man_page_is_roff_with_the_exit_codes() {
    let page = printed(&["man"]);
    assert!(page.contains(".TH ikigai 1"), "{page}");
    assert!(page.contains("Exit codes:"), "{page}");
}

#[test]
fn man_pages_can_be_written_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert_eq!(printed(&["man", "--dir", pages.to_str().unwrap()]), "");
    for name in ["ikigai.1", "ikigai-wire.1", "ikigai-wire-schema.1"] {
        assert!(pages.join(name).is_file(), "{name}");
    }
    let file = pages.join("ikigai.1");
    let said = said(&mut ikigai(&["man", "--dir", file.to_str().unwrap()]));
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.starts_with("error: cannot write the man pages to "), "{}", said.stderr);
}
