//! Choosing a model.

use crate::support::House;

fn picker(columns: u16) {
    let house = House::new("");
    let shot = |name: &str, screen: String| insta::assert_snapshot!(format!("{name}-{columns}"), screen);
    let terminal = house.open(columns, 30, "-m claude-sonnet-4-5/low --no-tools");
    // Thinking that can only be sent to its own provider.
    terminal.line("My favourite number is 7.");
    terminal.settled("first text after");
    terminal.clear();
    terminal.line("/model");
    terminal.wait("Enter chooses");
    shot("picker", terminal.screen());
    terminal.text("gpt54mini/high");
    terminal.wait("gpt54mini/high▏");
    terminal.wait("❯ gpt-5.4-mini");
    // The losses are shown before the switch.
    terminal.wait("is left out");
    shot("picker-narrowed", terminal.screen());
    terminal.key("Enter");
    let screen = terminal.settled("Switched to OpenAI gpt-5.4-mini");
    assert!(screen.contains("is left out"), "{screen}");
    // Cancelling changes nothing; Tab opens the picker, too.
    terminal.text("/model gemi");
    terminal.key("Tab");
    terminal.wait("❯ gemini");
    terminal.key("Escape");
    terminal.wait("gpt-5.4-mini/high");
    terminal.settled("› /model gemi");
    terminal.key("C-c");
    terminal.empty_prompt();
    terminal.press("C-d");
    terminal.wait("ended with 0");
    // The one used last is at the top, and the default is unchanged.
    let terminal = house.open(columns, 30, "--no-tools");
    terminal.settled("claude-sonnet-5");
    terminal.line("/model");
    terminal.wait("❯ claude-sonnet-4-5/low");
    terminal.key("Escape");
}

#[test]
fn a_model_is_picked_at_80_columns() {
    picker(80);
}

#[test]
fn a_model_is_picked_at_120_columns() {
    picker(120);
}

#[test]
fn names_are_forgiving_and_nothing_unknown_is_switched_to() {
    let house = House::new("");
    std::fs::write(house.home("config.toml"), "[aliases]\nfast = \"flash/none\"\n").unwrap();
    let terminal = house.open(100, 40, "-m claude-sonnet-4-5 --no-tools");
    for (line, told) in [
        ("/model sonet", "did you mean"),
        ("/model claude-sonet-4-5", "did you mean claude-sonnet-4-5"),
        ("/model claude-sonet-4-5", "`/model` and `ikigai models list` show all of them."),
        ("/model groq:llama-3.1-8b-instant", "there is no key for Groq"),
        ("/model opus/high", "Switched to Anthropic claude-opus-4-8"),
        ("/model fast", "Switched to Google gemini-3.5-flash"),
    ] {
        terminal.clear();
        terminal.line(line);
        terminal.settled(told);
    }
    assert!(terminal.screen().contains("gemini-3.5-flash/none\n›"), "{}", terminal.screen());
    // The default changes only on request.
    assert!(!std::fs::read_to_string(house.home("config.toml")).unwrap().contains("model ="));
    terminal.line("/model haiku --default");
    terminal.settled("start with it, too");
    assert!(
        std::fs::read_to_string(house.home("config.toml")).unwrap().contains("model = \"anthropic:claude-haiku-4-5\"")
    );
    terminal.press("C-d");
    terminal.wait("ended with 0");
    house.open(100, 40, "--no-tools").settled("claude-haiku-4-5\n›");
}
