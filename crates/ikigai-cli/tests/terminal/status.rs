//! The screen while something runs, and the keys at the prompt.

use crate::support::House;

const SCRIPT: &str = r#"
[[reply]]
when = { text = "stall" }
text = "one two three four"
fault = "stall"
"#;

fn stall(columns: u16) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠋");
    settings.add_filter(r"\d+ s ·", "[t] s ·");
    let _filters = settings.bind_to_scope();
    let house = House::new(SCRIPT);
    let terminal = house.open(columns, 20, "-m claude-sonnet-4-5/low --no-tools");
    terminal.line("please stall");
    terminal.wait("nothing for 5 s");
    // Queued lines can be taken back.
    terminal.text("and then");
    terminal.key("Enter");
    terminal.wait("queued: and then");
    insta::assert_snapshot!(format!("stall-{columns}"), terminal.screen());
    terminal.key("Up");
    terminal.wait("› and then");
    assert!(!terminal.screen().contains("queued"), "{}", terminal.screen());
    terminal.key("Escape");
    let screen = terminal.settled("Stopped.");
    // The line that was taken back is on the prompt.
    assert!(screen.ends_with("› and then"), "{screen}");
}

#[test]
fn a_stall_is_seen_at_80_columns() {
    stall(80);
}

#[test]
fn a_stall_is_seen_at_120_columns() {
    stall(120);
}

#[test]
fn the_status_never_touches_what_is_typed() {
    let house = House::new("");
    let terminal = house.open(80, 20, "-m claude-sonnet-4-5 --no-tools");
    terminal.wait("/help");
    let long = "word ".repeat(30);
    terminal.text(long.trim_end());
    terminal.wait("d word word word word word word word word word word word word word word");
    let screen = terminal.screen();
    assert!(screen.contains("claude-sonnet-4-5\n› word"), "{screen}");
    assert_eq!(screen.replace('\n', "").matches("word").count(), 30, "{screen}");
    terminal.key("Enter");
    // Next to what was sent there is nothing.
    let screen = terminal.settled("(30 words)");
    let line = screen.lines().find(|line| line.starts_with("› word")).unwrap_or_default();
    assert!(!line.contains("claude"), "{screen}");
    terminal.press("C-d");
}

#[test]
fn ctrl_c_puts_a_draft_aside_and_leaves_only_on_an_empty_line() {
    let house = House::new("");
    let terminal = house.open(80, 20, "-m claude-sonnet-4-5 --no-tools");
    terminal.wait("/help");
    for draft in ["one", "two", "three"] {
        terminal.press("C-u");
        terminal.text(draft);
        terminal.wait(&format!("› {draft}"));
        terminal.key("C-c");
        terminal.settled("claude-sonnet-4-5\n›");
    }
    terminal.press("C-c");
    terminal.wait("Press Ctrl-C again to leave");
    terminal.press("x");
    terminal.wait("› x");
    terminal.key("C-c");
    terminal.settled("claude-sonnet-4-5\n›");
    // Up brings back what was set aside.
    terminal.press("Up");
    terminal.wait("› x");
    terminal.key("Up");
    terminal.wait("› three");
    terminal.key("C-c");
    terminal.settled("claude-sonnet-4-5\n›");
    terminal.press("C-c");
    terminal.settled("claude-sonnet-4-5\n›");
    terminal.key("C-c");
    terminal.wait("ended with 0");
}

#[test]
fn ctrl_z_sleeps_and_the_line_is_there_again() {
    let house = House::new(SCRIPT);
    let terminal = house.shell(80, 30);
    terminal.in_shell("PS1='shell> '; ikigai -m claude-sonnet-4-5 --no-tools");
    terminal.wait("/help lists");
    terminal.text("a draft");
    terminal.wait("› a draft");
    terminal.key("C-z");
    terminal.wait("Stopped");
    terminal.in_shell("clear; echo $((40+2)); fg");
    terminal.wait("42");
    terminal.settled("› a draft");
    terminal.key("C-c");
    // During an answer, too.
    terminal.line("count slowly");
    terminal.wait("two");
    terminal.key("C-z");
    // What is typed before the shell is back is lost.
    terminal.wait("shell>");
    terminal.in_shell("echo $((50+5)); fg");
    terminal.wait("55");
    terminal.wait("seventeen");
    terminal.settled("first text after");
}
