//! Everyday details: a question that fails, a command, a large file, a look at what was sent.

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::House;

const SCRIPT: &str = r##"
[[reply]]
when = { text = "boom" }
times = 0
fault = "status=400"

[[reply]]
when = { text = "late" }
times = 0
fault = "slow_first_byte,ms=30000"

[[reply]]
when = { text = "show me" }
text = """
# A heading

Some **bold** text and `code`.

```rust
fn main() {}
```
"""
"##;

/// Returns the JSON document on the screen.
fn document(screen: &str) -> Value {
    let start = screen.find("\n{\n").unwrap();
    let end = screen.rfind("\n}\n").unwrap();
    serde_json::from_str(&screen[start..end + 2]).unwrap()
}

#[test]
fn a_question_that_failed_stays_marked_and_is_not_sent_again() {
    let house = House::new(SCRIPT);
    let terminal = house.open(160, 200, "-m claude-sonnet-4-5 --no-tools");
    terminal.line("boom, please");
    terminal.settled("✗");
    terminal.line("good morning");
    terminal.settled("first text after");
    terminal.line("/history");
    let screen = terminal.settled("2. you");
    assert!(screen.contains("1. you\n  boom, please\n⚠ Not answered: "), "{screen}");
    terminal.clear();
    terminal.line("/raw");
    let sent = document(&terminal.settled("\"answer\""));
    let said: Vec<&Value> = sent["wire"]["body"]["messages"].as_array().unwrap().iter().collect();
    assert_eq!(said.len(), 1, "{sent}");
    assert_eq!(sent["request"]["messages"][0]["content"][0]["text"], "good morning");
    assert_eq!(sent["answer"]["finish_reason"], "stop");
    // What was sent does not change when the model does.
    terminal.line("/model o3-mini/low");
    terminal.settled("Switched");
    terminal.clear();
    terminal.line("/raw");
    assert_eq!(document(&terminal.settled("\"answer\"")), sent);
    terminal.press("C-d");
}

#[test]
fn a_question_that_was_stopped_before_anything_came_is_marked_too() {
    let house = House::new(SCRIPT);
    let terminal = house.open(100, 20, "-m claude-sonnet-4-5 --no-tools");
    terminal.line("late, please");
    terminal.wait("waiting");
    terminal.key("Escape");
    terminal.settled("Stopped before an answer came; /retry to ask again.");
    terminal.line("/history");
    terminal.settled("⚠ Not answered: stopped");
    terminal.press("C-d");
}

#[test]
fn a_budget_that_no_request_can_have_is_refused_before_anything_is_promised() {
    let house = House::new(SCRIPT);
    let terminal = house.open(100, 20, "-m claude-sonnet-4-5/low --no-tools");
    terminal.line("/model claude-sonnet-4-5 --thinking-budget=999999999999");
    let screen = terminal.settled("✗");
    assert!(!screen.contains("Switched"), "{screen}");
    assert!(screen.ends_with("claude-sonnet-4-5/low\n›"), "{screen}");
    terminal.press("C-d");
}

#[test]
fn the_output_of_a_command_comes_as_it_is_and_while_it_runs() {
    let house = House::new(SCRIPT);
    let terminal = house.open(80, 20, "-m claude-sonnet-4-5 --no-tools");
    terminal.line("!printf 'name\\tsize\\n  a\\t 1\\n'; sleep 1; printf '    last'; sleep 1");
    terminal.wait("name    size\n  a      1");
    terminal.wait("running printf");
    let screen = terminal.settled("goes with your next message");
    assert!(screen.contains("\nname    size\n  a      1\n    last\nThe output goes"), "{screen}");
    // What was typed meanwhile is on the line; Esc stops the command.
    terminal.line("!sleep 60");
    terminal.wait("running sleep");
    terminal.text("next");
    terminal.key("Escape");
    let screen = terminal.settled("✗ stopped");
    assert!(screen.ends_with("› next"), "{screen}");
    terminal.key("C-c");
    terminal.press("C-d");
}

#[test]
fn what_does_not_fit_and_what_cannot_be_seen_is_told_beforehand() {
    let house = House::new(SCRIPT);
    std::fs::write(house.work("big.txt"), "many words ".repeat(120_000)).unwrap();
    std::fs::write(house.work("p.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    let terminal = house.open(120, 30, "-m claude-sonnet-4-5 --no-tools");
    terminal.line("sum up @big.txt ");
    let screen = terminal.settled("has room for 200,000");
    assert!(screen.contains("⚠ This message takes about 330,0"), "{screen}");
    assert!(!screen.contains("attached"), "{screen}");
    assert!(screen.ends_with("› sum up @big.txt"), "{screen}");
    terminal.key("C-c");
    terminal.line("what is in @p.png ");
    terminal.settled("first text after");
    terminal.line("/model o3-mini/low");
    terminal.settled("⚠ o3-mini cannot see p.png in this conversation.");
    terminal.press("C-d");
}

#[test]
fn a_stopped_answer_has_an_estimate_and_the_window_is_not_empty_afterwards() {
    let house = House::new(SCRIPT);
    let terminal = house.open(100, 30, "-m claude-sonnet-4-5 --no-tools");
    terminal.line("good morning");
    terminal.settled("first text after");
    terminal.line("count slowly");
    terminal.wait("three");
    terminal.key("Escape");
    let screen = terminal.settled("Stopped.");
    let status = screen.lines().rev().nth(1).unwrap();
    assert!(status.starts_with("claude-sonnet-4-5 · 1% · ~$0.0"), "{screen}");
    terminal.line("/cost");
    let screen = terminal.settled("In all, with every branch: ~$0.0");
    assert!(screen.contains("claude-sonnet-4-5 · 2 answers · ~$0.0"), "{screen}");
    terminal.press("C-d");
}

#[test]
fn without_colours_there_is_still_bold_type() {
    let house = House::new(SCRIPT);
    let terminal = house.open_with(80, 30, "NO_COLOR=1", "-m claude-sonnet-4-5 --no-tools");
    terminal.line("show me");
    terminal.settled("first text after");
    let screen = terminal.styled();
    assert!(screen.contains("\x1b[1m\x1b[4mA heading") || screen.contains("\x1b[1;4mA heading"), "{screen:?}");
    let colours =
        ["\x1b[3", "\x1b[4", "\x1b[9"].iter().flat_map(|start| (0..8).map(move |colour| format!("{start}{colour}m")));
    assert_eq!(colours.filter(|colour| screen.contains(colour.as_str())).collect::<Vec<_>>(), Vec::<String>::new());
    terminal.press("C-d");
}

#[test]
fn every_branch_counts_and_the_simulator_is_free() {
    let house = House::new(SCRIPT);
    let terminal = house.open(100, 40, "-m claude-sonnet-4-5 --no-tools");
    terminal.line("good morning");
    terminal.settled("first text after");
    terminal.line("/retry");
    terminal.settled("first text after");
    terminal.line("/compact");
    terminal.settled("became a summary");
    // The answer, the retried one, and the summary.
    terminal.line("/cost");
    let screen = terminal.settled("In all, with every branch: ");
    assert!(screen.contains("claude-sonnet-4-5 · 3 answers · $0.0"), "{screen}");
    terminal.press("C-d");
    let terminal = house.open_without_key(100, 40, "--no-tools");
    terminal.line("good morning");
    terminal.settled("first text after");
    terminal.line("/cost");
    let screen = terminal.settled("claude-sonnet-4-5 · 1 answer · simulated, free");
    assert!(!screen.contains('$'), "{screen}");
    terminal.press("C-d");
}
