//! Help, version, completions, man page.

use insta::assert_snapshot;

use crate::support::{ikigai, printed, said};

/// Every command, as typed.
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
    for shell in ["powershell", "elvish"] {
        let script = printed(&["completions", shell]);
        for word in ["models", "thinking", "wire", "schema", "--color"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    // These shells ask the program.
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        assert!(script.replace('"', "").contains(&format!("IKIGAI_COMPLETE={shell}")), "{script}");
        for (words, known) in [
            (&["ikigai", "mod"][..], "models"),
            (&["ikigai", "models", "th"], "thinking"),
            (&["ikigai", "wire", "sch"], "schema"),
            (&["ikigai", "ask", "--col"], "--color"),
        ] {
            let offered = offered(&crate::support::Home::new(), shell, words);
            assert!(offered.lines().any(|line| line.starts_with(known)), "{shell} does not know {known}: {offered}");
        }
    }
}

/// Returns the program's completions in a shell for the last of these words.
fn offered(home: &crate::support::Home, shell: &str, words: &[&str]) -> String {
    let arguments = [&["--"], words].concat();
    let mut command = home.command(&arguments);
    command
        .env("IKIGAI_COMPLETE", shell)
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("_CLAP_IFS", "\n");
    let said = said(&mut command);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{words:?}");
    said.stdout
}

#[test]
fn models_conversations_roles_and_providers_are_completed() {
    let settings =
        "[aliases]\nclaudine = \"haiku\"\n[roles.reviewer]\nprompt = \"x\"\n[templates.translate]\ntext = \"y\"\n";
    let home = crate::support::Home::new().file("config.toml", settings);
    // Nothing is saved yet, and completion does not create a database.
    assert_eq!(offered(&home, "bash", &["ikigai", "--resume", ""]), "");
    assert!(!home.path("ikigai.db").exists());
    assert_eq!(home.piped(&["ask", "--sim", "Why?"], "").code, Some(0));
    let list = home.said(&["history", "list"]).stdout;
    let id = list.lines().nth(1).and_then(|line| line.split_whitespace().next()).unwrap();
    for words in [&["ikigai", "--resume", ""][..], &["ikigai", "ask", "--cid", ""], &["ikigai", "history", "show", ""]]
    {
        let offered = offered(&home, "fish", words);
        assert_eq!(offered.lines().next(), Some(format!("{id}\tWhy?").as_str()), "{offered}");
    }
    let models = offered(&home, "bash", &["ikigai", "ask", "-m", "claud"]);
    let models: Vec<&str> = models.lines().collect();
    assert!(models.contains(&"claudine") && models.contains(&"claude-haiku-4-5"), "{models:?}");
    assert!(models.iter().all(|model| model.starts_with("claud")), "{models:?}");
    let levels = offered(&home, "bash", &["ikigai", "-m", "claude-haiku-4-5/"]);
    assert_eq!(
        levels.lines().collect::<Vec<_>>(),
        ["none", "low", "med", "high"].map(|level| format!("claude-haiku-4-5/{level}"))
    );
    assert_eq!(offered(&home, "bash", &["ikigai", "ask", "--role", "r"]), "reviewer");
    assert_eq!(offered(&home, "bash", &["ikigai", "ask", "--template", ""]), "translate");
    assert_eq!(offered(&home, "bash", &["ikigai", "keys", "set", "anth"]), "anthropic");
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
