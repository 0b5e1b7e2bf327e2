//! `ikigai history`.

use std::process::{Command, Stdio};

use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Home, Said};

/// A conversation, and a fork of it whose answer was cut off.
const SAMPLE: &str = include_str!("samples/two-conversations.jsonl");
const FIRST: &str = "01900000-0000-7000-8000-0000000000a1";
const FORK: &str = "01900000-0000-7000-8000-0000000000a2";

fn said(code: i32, stdout: &str, stderr: &str) -> Said {
    Said { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

/// Returns a home with two conversations in it.
fn filled() -> Home {
    let home = Home::new().file("sample.jsonl", SAMPLE).variable("TZ", "UTC").variable("LANG", "C.UTF-8");
    let file = home.path("sample.jsonl");
    let imported = home.said(&["history", "import", file.to_str().unwrap()]);
    assert_eq!(imported, said(0, "Imported 2 conversations with 3 messages\n", ""));
    home
}

/// Returns the output of a command that succeeds.
fn printed(home: &Home, arguments: &[&str]) -> String {
    let said = home.said(arguments);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    said.stdout
}

fn json(home: &Home, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(home, arguments)).unwrap()
}

/// Returns the lines of an export without the header, which contains the time.
fn lines(export: &str) -> Vec<Value> {
    export.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_newest_conversation_is_listed_first_and_a_fork_is_marked() {
    assert_snapshot!(printed(&filled(), &["history", "list"]), @r"
    ID        TITLE                   WHEN        MODEL                  MESSAGES
    000000a2  ↳ Why is the sky blue?  2026-01-04  gpt-5                         2
    000000a1  Why is the sky blue?    2026-01-03  claude-sonnet-4-5/med         2
    ");
}

#[test]
fn a_narrow_terminal_gets_a_shorter_title_and_then_fewer_columns() {
    assert_snapshot!(printed(&filled().variable("COLUMNS", "75"), &["history", "list"]), @r"
    ID        TITLE                 WHEN        MODEL                  MESSAGES
    000000a2  ↳ Why is the sky bl…  2026-01-04  gpt-5                         2
    000000a1  Why is the sky blue?  2026-01-03  claude-sonnet-4-5/med         2
    ");
    assert_snapshot!(printed(&filled().variable("COLUMNS", "70"), &["history", "list"]), @r"
    ID        TITLE             WHEN        MODEL
    000000a2  ↳ Why is the sk…  2026-01-04  gpt-5
    000000a1  Why is the sky…   2026-01-03  claude-sonnet-4-5/med
    ");
}

#[test]
fn a_message_that_cannot_be_read_is_named_and_the_others_are_exported() {
    let home = filled();
    let whole = lines(&printed(&home, &["history", "export", "--all"]));
    let file = home.path("ikigai.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // The text of the first question begins with a quote; without it, the message is no longer JSON.
    let body = b"\"text\":\"Why is the sky blue?";
    let place = bytes.windows(body.len()).position(|window| window == body).unwrap();
    bytes[place + 7] = b' ';
    std::fs::write(&file, bytes).unwrap();
    let said = home.said(&["history", "export", "--all"]);
    assert_eq!(said.code, Some(1));
    assert_eq!(lines(&said.stdout).len(), whole.len() - 1);
    assert!(said.stderr.contains(&format!("conversation {FIRST}: message ")), "{}", said.stderr);
    assert!(said.stderr.contains("1 item could not be exported"), "{}", said.stderr);
}

#[test]
fn a_list_goes_on_page_by_page() {
    let home = filled();
    let Said { code, stdout, stderr } = home.said(&["history", "list", "-n", "1"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("000000a2") && !stdout.contains("000000a1"), "{stdout}");
    let next = stderr.strip_prefix("There are more: ikigai history list -n 1 --after ").unwrap().trim();
    let page = json(&home, &["history", "list", "-n", "1", "--json", "--after", next]);
    assert_eq!(
        page,
        json!({
            "conversations": [{
                "id": FIRST,
                "title": "Why is the sky blue?",
                "created": "2026-01-03T12:00:00Z",
                "updated": "2026-01-03T12:01:00Z",
                "model": {
                    "provider": "anthropic",
                    "model": "claude-sonnet-4-5",
                    "thinking": {"level": "med", "include_summary": true},
                },
                "parent": null,
                "message_count": 2,
            }],
            "next": null,
        })
    );
    let first = json(&home, &["history", "list", "-n", "1", "--json"]);
    assert_eq!((&first["conversations"][0]["id"], &first["next"]), (&json!(FORK), &json!(next)));
    assert_eq!(home.said(&["history", "list", "--after", "yesterday"]).code, Some(2));
    assert_eq!(home.said(&["history", "list", "-n", "0"]).code, Some(2));
}

#[test]
fn looking_at_a_database_that_is_not_there_does_not_make_it() {
    let home = Home::new();
    let none = "There are no conversations yet. Start one with `ikigai` or `ikigai ask`.\n";
    assert_eq!(home.said(&["history", "list"]), said(0, "", none));
    assert_eq!(json(&home, &["history", "list", "--json"]), json!({"conversations": [], "next": null}));
    assert_eq!(
        home.said(&["history", "show"]),
        said(1, "", "error: there are no conversations yet\n  Start one with `ikigai` or `ikigai ask`.\n")
    );
    assert_eq!(home.said(&["history", "search", "sky"]), said(0, "", "No matches.\n"));
    assert_eq!(home.said(&["history", "delete", "--all", "--yes"]), said(0, "Nothing to delete.\n", ""));
    assert!(!home.path("ikigai.db").exists());
}

#[test]
fn what_was_kept_is_there_although_nothing_new_is_kept() {
    let home = filled().file("config.toml", "save = false\n");
    assert!(printed(&home, &["history", "list"]).contains("000000a1"));
}

#[test]
fn a_conversation_is_markdown_in_a_pipe() {
    assert_snapshot!(printed(&filled(), &["history", "show"]), @r"
    # Why is the sky blue?

    *2026-01-04T12:00:00Z · 01900000-0000-7000-8000-0000000000a2*

    ## You

    Why is the sky blue?

    ## gpt-5 (openai)

    Because the

    *(cut off)*
    ");
}

#[test]
fn as_text_thinking_is_one_line_unless_it_is_asked_for() {
    let home = filled();
    assert_snapshot!(printed(&home, &["history", "show", "a1", "--format", "text"]), @r"
    Why is the sky blue?
    2026-01-03 12:01 · 2 messages · 000000a1
    System: Be brief.

    › Why is the sky blue?

    ▸ Thought · 30 tokens
    Rayleigh scattering:

    • short waves scatter more
    claude-sonnet-4-5/med · 39 tokens
    ");
    let open = printed(&home, &["history", "show", "a1", "--format", "text", "--thinking"]);
    assert!(open.contains("▾ Thought · 30 tokens\n  Light scatters.\n"), "{open}");
    let cut = printed(&home, &["history", "show", "last", "--format", "text"]);
    assert!(cut.contains("Because the\n(cut off)\ngpt-5\n"), "{cut}");
}

#[test]
fn colours_that_are_asked_for_are_there_in_a_pipe_too() {
    let drawn = printed(&filled(), &["--color", "always", "history", "show", "a1"]);
    assert!(drawn.contains("\x1b[1mRayleigh\x1b[0m"), "{drawn:?}");
}

#[test]
fn as_json_a_conversation_has_everything() {
    let home = filled();
    let shown = json(&home, &["history", "show", FORK, "--json"]);
    assert_eq!(shown, json(&home, &["history", "show", "--format", "json"]));
    assert_eq!(
        (&shown["id"], &shown["system"], &shown["parent"]["conversation"]),
        (&json!(FORK), &json!([]), &json!(FIRST))
    );
    assert_eq!(
        shown["messages"][1],
        json!({
            "id": "01900000-0000-7000-8000-0000000000b3",
            "position": 2,
            "created": "2026-01-04T12:00:01Z",
            "updated": "2026-01-04T12:01:00Z",
            "state": "cut",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "Because the"}],
                "provider": "openai",
                "model": "gpt-5",
            },
        })
    );
}

#[test]
fn a_conversation_that_is_not_there_or_not_one_is_told_with_the_way_out() {
    let home = filled();
    let missing = "error: no conversation matches `nope`\n  `ikigai history list` lists them.\n";
    for arguments in
        [&["show", "nope"][..], &["export", "nope"], &["export", "last", "nope"], &["delete", "nope", "-y"]]
    {
        let arguments = [&["history"], arguments].concat();
        assert_eq!(home.said(&arguments), said(1, "", missing), "{arguments:?}");
    }
    let several = home.said(&["history", "show", "0190"]);
    assert_eq!(several.code, Some(1));
    assert_snapshot!(several.stderr, @r"
    error: `0190` matches several conversations
      These match:
      000000a2 ↳ Why is the sky blue? · gpt-5 · 2 messages
      000000a1 Why is the sky blue? · claude-sonnet-4-5 · 2 messages
    ");
}

#[test]
fn words_are_found_and_marked() {
    let home = filled();
    assert_snapshot!(printed(&home, &["history", "search", "scatter"]), @r"
    000000a1  Why is the sky blue?  answer · 2026-01-03
              **Rayleigh** scattering: - short waves scatter more
    ");
    let marked = printed(&home, &["--color", "always", "history", "search", "WAVES", "scatter"]);
    assert!(marked.contains("short \x1b[1mwaves\x1b[0m \x1b[1mscatter\x1b[0m more"), "{marked:?}");
    let hits = json(&home, &["history", "search", "-n", "1", "--json", "\"short waves\""]);
    assert_eq!(
        hits,
        json!([{
            "conversation": FIRST,
            "title": "Why is the sky blue?",
            "message": "01900000-0000-7000-8000-0000000000b2",
            "place": "answer",
            "created": "2026-01-03T12:00:01Z",
            "text": "**Rayleigh** scattering: - short waves scatter more",
            "marks": [[27, 38]],
        }])
    );
    let newest = json(&home, &["history", "search", "--newest", "--json", "sky"]);
    assert_eq!(newest[0]["conversation"], json!(FORK));
    assert_eq!(json(&home, &["history", "search", "--json", "--", "scatter", "-waves"]), json!([]));
    assert_eq!(home.said(&["history", "search"]).code, Some(2));
}

#[test]
fn what_is_exported_comes_in_again_the_same() {
    let home = filled();
    let export = printed(&home, &["history", "export", "--all"]);
    let other = Home::new();
    assert_eq!(
        other.piped(&["history", "import", "-"], &export),
        said(0, "Imported 2 conversations with 3 messages\n", "")
    );
    assert_eq!(
        other.piped(&["history", "import", "-"], &export),
        said(0, "Nothing new: 2 conversations already existed\n", "")
    );
    assert_eq!(lines(&printed(&other, &["history", "export", "--all"])), lines(&export));
}

#[test]
fn chosen_conversations_stand_alone_under_one_header() {
    let home = filled();
    let export = printed(&home, &["history", "export", "a2", "a1", "last"]);
    let kinds: Vec<String> = lines(&export).iter().map(|line| line["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["conversation", "message", "message", "conversation", "message", "message"]);
    let imported = Home::new().piped(&["history", "import", "-"], &export);
    assert_eq!(imported, said(0, "Imported 2 conversations with 4 messages\n", ""));
}

#[test]
fn a_file_is_written_whole_and_not_overwritten_unless_that_is_said() {
    let home = filled();
    let file = home.path("out.md");
    let arguments = ["history", "export", "--all", "-o", file.to_str().unwrap()];
    assert_eq!(home.said(&arguments), said(0, "Exported 2 conversations with 4 messages to HOME/out.md\n", ""));
    let text = home.text("out.md");
    assert!(text.starts_with("# Why is the sky blue?\n") && text.contains("\n\n# Why is the sky blue?\n"), "{text}");
    std::fs::write(&file, "mine").unwrap();
    assert_eq!(
        home.said(&arguments),
        said(1, "", "error: HOME/out.md already exists\n  Choose another name, or replace it with --force.\n")
    );
    assert_eq!(home.text("out.md"), "mine");
    let forced = home.said(&[&arguments[..], &["--force", "--format", "jsonl"]].concat());
    assert_eq!(forced, said(0, "Exported 2 conversations with 3 messages to HOME/out.md\n", ""));
    assert!(home.text("out.md").starts_with("{\"type\":\"ikigai\""));
    let nowhere = home.path("nowhere/out.md");
    assert_eq!(home.said(&["history", "export", "last", "-o", nowhere.to_str().unwrap()]).code, Some(1));
    assert_eq!(home.said(&["history", "export"]).code, Some(2));
    assert_eq!(home.said(&["history", "export", "last", "--all"]).code, Some(2));
}

#[test]
fn a_line_that_cannot_be_read_is_named() {
    let home = Home::new();
    let broken = SAMPLE.replace("\"Because the\"", "7");
    let Said { code, stdout, stderr } = home.piped(&["history", "import", "-"], &broken);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.starts_with("error: standard input: line 6 of the import: "), "{stderr}");
    assert!(stderr.contains("\n  The conversations before that line were imported."), "{stderr}");
    let list = json(&home, &["history", "list", "--json"]);
    assert_eq!(list["conversations"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        home.piped(&["history", "import", "-"], SAMPLE),
        said(0, "Imported 1 conversation with 1 message; 1 already existed\n", "")
    );
    let missing = home.said(&["history", "import", "nowhere.jsonl"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.starts_with("error: cannot read nowhere.jsonl: "), "{}", missing.stderr);
}

#[test]
fn what_is_deleted_is_gone_and_its_fork_stays_whole() {
    let home = filled();
    // In a pipe there is nobody to ask.
    let Said { code, stderr, .. } = home.piped(&["history", "delete", "a1"], "y\n");
    assert_eq!((code, stderr.contains("Add --yes")), (Some(2), true), "{stderr}");
    assert_eq!(home.said(&["history", "delete", "--all"]).code, Some(2));
    assert_eq!(home.said(&["history", "delete"]).code, Some(2));
    assert!(printed(&home, &["history", "list"]).contains("000000a1"));

    assert_eq!(
        home.said(&["history", "delete", "a1", "a1", "--yes"]),
        said(0, "Deleted 1 conversation permanently.\n", "")
    );
    assert_eq!(home.said(&["history", "show", "a1"]).code, Some(1));
    assert!(printed(&home, &["history", "show", "a2"]).contains("## You\n\nWhy is the sky blue?\n"));
    let bytes = std::fs::read(home.path("ikigai.db")).unwrap();
    assert!(!bytes.windows(8).any(|window| window == b"Rayleigh"), "the answer is still in the file");
    assert_eq!(
        home.said(&["history", "delete", "--all", "--yes"]),
        said(0, "Deleted 1 conversation permanently.\n", "")
    );
    assert_eq!(json(&home, &["history", "list", "--json"]), json!({"conversations": [], "next": null}));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = filled();
    // More than a pipe holds.
    let long = SAMPLE.replace("Light scatters.", &"Light scatters. ".repeat(20_000));
    let long = long.replace("01900000-0000-7000-8000-0000000000", "01900000-0000-7000-8000-0000000001");
    assert_eq!(home.piped(&["history", "import", "-"], &long).code, Some(0));
    for arguments in [&["history", "export", "--all"][..], &["history", "export", "1a1"], &["history", "show", "1a1"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ikigai"))
            .args(arguments)
            .env("IKIGAI_HOME", home.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr), (Some(141), Vec::new()), "{arguments:?}");
    }
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    let home = Home::new().file("ikigai.db", "no database at all, but a text that somebody keeps here");
    let before = home.text("ikigai.db");
    let Said { code, stdout, stderr } = home.said(&["history", "list"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.starts_with("error: HOME/ikigai.db: "), "{stderr}");
    assert_eq!(home.text("ikigai.db"), before);
}

#[test]
fn the_licences_of_what_others_made_are_in_the_program() {
    let licences = printed(&Home::new(), &["licenses"]);
    assert!(licences.contains("Permission is hereby granted"), "{licences}");
}
