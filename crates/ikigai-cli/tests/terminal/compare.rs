//! Several models answer the same question at the same time.

use crate::support::House;

const SCRIPT: &str = r#"
[[reply]]
when = { model = "claude-haiku-4-5", text = "stall" }
times = 0
text = "one two three four five six"
fault = "stall"

[[reply]]
when = { model = "claude-haiku-4-5", text = "sky" }
text = "Because of **Rayleigh** scattering."

[[reply]]
when = { model = "gpt-4o", text = "sky" }
times = 0
text = "Short light is scattered more:\n\n- blue most\n- red least\n\n```rust\nfn main() {}\n```"

[[reply]]
when = { model = "gpt-4o", text = "stall" }
times = 0
text = "alpha beta gamma"

[[reply]]
when = { model = "gpt-4o-mini" }
times = 0
fault = "status=400"

[[reply]]
when = { model = "claude-haiku-4-5", text = "deeper" }
times = 0
text = "Deeper it is."

[[reply]]
when = { model = "claude-haiku-4-5" }
times = 0
text = "The other answer."
"#;

fn filters() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠋");
    settings.add_filter(r"\d+\.\d s", "[t] s");
    settings.add_filter(r"nothing for \d+ s · \d+ s", "nothing for [t] s · [t] s");
    settings
}

fn compare(columns: u16) {
    let _filters = filters().bind_to_scope();
    let shot = |name: &str, screen: String| insta::assert_snapshot!(format!("{name}-{columns}"), screen);
    let house = House::new(SCRIPT);
    let terminal = house.open(columns, 40, "-m claude-haiku-4-5 --no-tools");
    terminal.line("Why is the sky blue?");
    terminal.settled("Rayleigh");
    terminal.clear();
    // One of them fails, and the others continue.
    terminal.line("/retry haiku gpt-4o gpt-4o-mini");
    terminal.wait("Enter chooses");
    shot("three", terminal.screen());
    terminal.key("Escape");
    let screen = terminal.settled("Kept the conversation as it was");
    assert!(screen.contains("claude-haiku-4-5 · "), "{screen}");
    terminal.clear();
    terminal.line("/retry haiku gpt-4o");
    terminal.wait("Enter chooses");
    shot("two", terminal.screen());
    terminal.key("Down");
    terminal.wait("❯ gpt-4o");
    terminal.key("Enter");
    terminal.settled("Continuing with gpt-4o.");
    assert!(terminal.screen().lines().rev().nth(1).unwrap().starts_with("gpt-4o"), "{}", terminal.screen());
    // The conversation continues with what came before and the chosen answer.
    terminal.clear();
    terminal.line("/history");
    let screen = terminal.settled("red least");
    assert!(screen.contains("2. gpt-4o\n  Short light") && !screen.contains("Rayleigh"), "{screen}");
    terminal.clear();
    // Each answer is a branch: the first one, two of the first comparison, two of the second.
    terminal.line("/branch");
    terminal.wait("5 of 5");
    terminal.key("Escape");
    terminal.settled("gpt-4o");
}

#[test]
fn models_are_compared_at_80_columns() {
    compare(80);
}

#[test]
fn models_are_compared_at_120_columns() {
    compare(120);
}

fn stopped(columns: u16) {
    let _filters = filters().bind_to_scope();
    let house = House::new(SCRIPT);
    let terminal = house.open(columns, 30, "-m gpt-4o --no-tools");
    terminal.line("please stall");
    terminal.settled("gamma");
    terminal.clear();
    terminal.line("/retry haiku gpt-4o");
    // Live: one is complete, the other one is stalled.
    terminal.wait("nothing for");
    insta::assert_snapshot!(format!("live-{columns}"), terminal.screen());
    terminal.key("Escape");
    terminal.wait("Enter chooses");
    assert!(terminal.screen().contains("stopped · "), "{}", terminal.screen());
    // The one that was stopped can be continued.
    terminal.key("Enter");
    terminal.settled("Continuing with claude-haiku-4-5.");
    terminal.line("deeper");
    terminal.settled("Deeper it is.");
}

#[test]
fn a_comparison_is_stopped_at_80_columns() {
    stopped(80);
}

#[test]
fn a_comparison_is_stopped_at_120_columns() {
    stopped(120);
}

#[test]
fn what_cannot_be_compared_is_told_and_nothing_changes() {
    let house = House::new(SCRIPT);
    let terminal = house.open(100, 30, "-m claude-haiku-4-5");
    terminal.line("/retry haiku gpt-4o");
    terminal.settled("there is no question yet");
    terminal.line("hello");
    terminal.settled("The other answer.");
    terminal.clear();
    terminal.line("/retry haiku nonsense-9");
    terminal.settled("nonsense-9");
    terminal.line("/retry a b c d e");
    terminal.settled("5 models are too many; compare at most 4");
    terminal.line("/retry haiku haiku");
    terminal.wait("Tools are off while models are compared.");
    terminal.wait("Enter chooses");
    terminal.key("Escape");
    terminal.settled("Kept the conversation as it was");
}

#[test]
fn a_script_on_a_terminal_sees_them_beside_each_other() {
    let _filters = filters().bind_to_scope();
    let house = House::new(SCRIPT);
    let terminal = house.open(120, 30, "ask -m haiku -m gpt-4o -m gpt-4o-mini 'Why is the sky blue?'");
    terminal.wait("ended with 1");
    let below = terminal.screen();
    assert!(below.contains("\n\ngpt-4o\n"), "{below}");
    let terminal = house.open(120, 30, "ask -m haiku -m gpt-4o 'Why is the sky blue?'");
    terminal.wait("ended with 0");
    insta::assert_snapshot!("ask-120", terminal.screen());
}

#[test]
fn a_conversation_with_tools_can_be_compared() {
    let script = r#"
[[reply]]
when = { text = "look around" }
tool_calls = [{ name = "list_dir", arguments = { path = "." } }]
"#;
    let house = House::new(script);
    let terminal = house.open(120, 40, "-m claude-haiku-4-5");
    terminal.line("look around");
    terminal.settled("first text after");
    terminal.line("What is 2+2?");
    terminal.settled("2+2 = 4");
    terminal.clear();
    // Each provider is strict about calls in the history.
    terminal.line("/retry haiku gpt-4o gemini-2.5-flash");
    terminal.wait("3 of 3");
    let screen = terminal.screen();
    assert!(screen.contains("Tools are off") && !screen.contains("failed"), "{screen}");
    terminal.key("Escape");
    terminal.settled("Kept the conversation as it was");
}

#[test]
fn a_terminal_that_only_prints_has_the_answers_as_branches() {
    let house = House::new(SCRIPT);
    let terminal = house.open_with(100, 40, "TERM=dumb", "-m claude-haiku-4-5 --no-tools");
    terminal.wait("] >");
    terminal.in_shell("Why is the sky blue?");
    terminal.wait("Rayleigh");
    terminal.wait("$0.0001] >");
    terminal.in_shell("/retry haiku gpt-4o");
    terminal.wait("/branch NUMBER continues with one.");
    let screen = terminal.screen();
    assert!(screen.contains("The other answer.") && screen.contains("blue most"), "{screen}");
    terminal.in_shell("/branch");
    terminal.wait("3. ");
}
