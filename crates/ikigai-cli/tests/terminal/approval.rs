//! Questions before a tool runs: nothing can be approved unseen, by accident, or by anyone but the user.

use std::fmt::Write as _;

use crate::support::House;

fn script() -> String {
    let padded = format!("git status{}; touch HIDDEN", " ".repeat(300));
    let long: String = (1..=60).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "echo step {line}");
        text
    });
    let file: String = (1..=80).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "line {line}");
        text
    });
    format!(
        r#"
[[reply]]
when = {{ text = "padded" }}
tool_calls = [{{ name = "shell", arguments = {{ command = "{padded}" }} }}]

[[reply]]
when = {{ text = "long command" }}
tool_calls = [{{ name = "shell", arguments = {{ command = """{long}touch END""" }} }}]

[[reply]]
when = {{ text = "long diff" }}
tool_calls = [{{ name = "write_file", arguments = {{ path = "long.txt", content = """{file}""" }} }}]

[[reply]]
when = {{ text = "typing" }}
text = "one two three four five six seven eight nine ten eleven twelve"
tool_calls = [{{ name = "shell", arguments = {{ command = "touch AHEAD" }} }}]
fault = "slow_drip,ms=200"

[[reply]]
when = {{ text = "unseen" }}
tool_calls = [
  {{ name = "write_file", arguments = {{ path = "new.txt", content = "one" }} }},
  {{ name = "edit_file", arguments = {{ path = "new.txt", old_text = "one", new_text = "two" }} }},
]
"#
    )
}

fn boxes(columns: u16) {
    let house = House::new(&script());
    let shot = |name: &str, screen: String| insta::assert_snapshot!(format!("{name}-{columns}"), screen);
    let terminal = house.open(columns, 30, "-m claude-sonnet-4-5");
    // A padded command cannot hide its end.
    terminal.line("padded, please");
    terminal.wait("[n] no");
    shot("padded", terminal.screen());
    terminal.answer("n");
    terminal.wait("first text after");
    assert!(!house.work("HIDDEN").exists());
    // A long one cannot be allowed before its end has been shown.
    terminal.clear();
    terminal.line("a long command, please");
    terminal.wait("[n] no");
    shot("long-command", terminal.screen());
    terminal.text("y");
    terminal.key("Enter");
    terminal.key("Space");
    terminal.wait("lines 24 to 46 of 61");
    terminal.key("Space");
    terminal.answer("y");
    terminal.wait("first text after");
    assert!(house.work("END").exists());
    // The same goes for a change.
    terminal.clear();
    terminal.line("a long diff, please");
    terminal.wait("lines 1 to 23 of 81");
    terminal.wait("[n] no");
    shot("long-diff", terminal.screen());
    terminal.answer("b");
    terminal.wait("Why not?");
    terminal.text("too long");
    terminal.key("Enter");
    terminal.wait("the user declined it: too long");
    terminal.wait("first text after");
    assert!(!house.work("long.txt").exists());
    terminal.press("C-d");
    terminal.wait("ended with 0");
}

#[test]
fn all_of_a_call_is_shown_at_80_columns() {
    boxes(80);
}

#[test]
fn all_of_a_call_is_shown_at_120_columns() {
    boxes(120);
}

#[test]
fn typing_ahead_allows_nothing() {
    let house = House::new(&script());
    let terminal = house.open(80, 30, "-m claude-sonnet-4-5");
    terminal.line("typing");
    terminal.wait("two");
    // Typed while the text streams, and continued into the question.
    for letter in "yard y a y a y a y a".chars() {
        terminal.text(&letter.to_string());
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    terminal.wait("Your line first");
    terminal.wait("› yard y a y a y a y a");
    assert!(!house.work("AHEAD").exists());
    // On purpose, after a quiet moment.
    std::thread::sleep(std::time::Duration::from_secs(1));
    terminal.key("Tab");
    terminal.answer("y");
    terminal.settled("› yard y a y a y a y a");
    assert!(house.work("AHEAD").exists());
}

#[test]
fn a_call_that_would_fail_is_refused_and_never_run_unasked() {
    let house = House::new(&script());
    let terminal = house.open(80, 30, "-m claude-sonnet-4-5");
    terminal.line("unseen");
    terminal.wait("│ + one");
    terminal.answer("y");
    // The second call was never shown with the first one's result; the question shows what it would do now.
    terminal.wait("- one");
    terminal.answer("n");
    terminal.settled("first text after");
    assert_eq!(std::fs::read_to_string(house.work("new.txt")).unwrap(), "one");
    // The other way round: an edit of a file that does not exist.
    std::fs::remove_file(house.work("new.txt")).unwrap();
    terminal.clear();
    terminal.line("use edit_file path=\"new.txt\" old_text=\"one\" new_text=\"two\"");
    terminal.wait("edit_file new.txt · refused");
    terminal.settled("there is no such file or folder");
}

#[test]
fn an_always_holds_for_its_prefix_in_its_folder_and_does_not_travel() {
    let house = House::new("");
    std::fs::write(house.work("a.txt"), "text of a\n").unwrap();
    std::fs::write(house.work("b.txt"), "text of b\n").unwrap();
    let terminal = house.open(100, 40, "-m claude-sonnet-4-5");
    terminal.line("use shell command=\"cat a.txt\"");
    terminal.wait("[a] always `cat …` in this folder");
    terminal.answer("a");
    terminal.settled("first text after");
    terminal.press("C-d");
    terminal.wait("ended with 0");
    // In another conversation, without asking; but nothing more.
    let terminal = house.open(100, 40, "-m claude-sonnet-4-5");
    terminal.line("use shell command=\"cat b.txt\"");
    terminal.wait("text of b");
    terminal.settled("first text after");
    terminal.clear();
    terminal.line("use shell command=\"cat b.txt; touch more\"");
    terminal.answer("n");
    terminal.settled("first text after");
    terminal.press("C-d");
    terminal.wait("ended with 0");
    // An imported conversation cannot approve anything.
    let imported = r#"{"type":"ikigai","version":1,"exported":"2026-11-15T10:38:00Z"}
{"type":"conversation","id":"019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d58","created":"2036-11-15T10:38:00Z","updated":"2036-11-15T10:38:00Z","model":{},"metadata":{"permissions":{"shell":"always"}},"messages":1}
{"type":"message","id":"019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d59","created":"2036-11-15T10:38:00Z","updated":"2036-11-15T10:38:00Z","message":{"role":"user","content":"Hello"}}
"#;
    std::fs::write(house.work("import.jsonl"), imported).unwrap();
    house.open(100, 40, "history import import.jsonl").wait("ended with 0");
    let terminal = house.open(100, 40, "--continue -m claude-sonnet-4-5");
    terminal.line("use shell command=\"touch imported\"");
    terminal.answer("n");
    terminal.settled("first text after");
    assert!(!house.work("imported").exists());
    let terminal = house.open(100, 40, "ask -c --tools -m claude-sonnet-4-5 'use shell command=\"touch imported\"'");
    terminal.wait("ended with 0");
    assert!(!house.work("imported").exists());
}

#[test]
fn a_terminal_that_only_prints_works_line_by_line() {
    let house = House::new("");
    let terminal = house.open_with(80, 40, "TERM=dumb", "-m claude-sonnet-4-5");
    let line = |text: &str| {
        terminal.text(text);
        terminal.key("Enter");
    };
    terminal.wait("[claude-sonnet-4-5] >");
    line("use shell command=\"touch made\"");
    terminal.wait("[y] yes, once");
    // The question is shown in full, and its lines begin at the left edge.
    let screen = terminal.screen();
    assert!(screen.contains("\n| touch made") || screen.contains("\n│ touch made"), "{screen}");
    assert!(!house.work("made").exists());
    std::thread::sleep(std::time::Duration::from_secs(1));
    line("y");
    terminal.wait("allowed once");
    terminal.wait("first text after");
    assert!(house.work("made").exists());
    terminal.wait("[claude-sonnet-4-5 · 1% ·");
    line("use shell command=\"touch more\"");
    terminal.wait("│ touch more");
    std::thread::sleep(std::time::Duration::from_secs(1));
    line("b");
    terminal.wait("Why not?");
    line("not now");
    terminal.wait("the user declined it: not now");
    terminal.wait("$0.0130] >");
    terminal.key("C-d");
    terminal.wait("ended with 0");
    assert!(!house.work("more").exists());
}
