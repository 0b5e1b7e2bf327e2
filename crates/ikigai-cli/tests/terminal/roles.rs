//! Roles and templates in the chat.

use crate::support::House;

const SETTINGS: &str = r#"
[roles.reviewer]
prompt = "You review code."
model = "gpt-4o"
tools = false

[roles.poet]
prompt = "You write poems."

[templates.translate]
text = "Into {{language}}: {{input}}"
"#;

fn roles(columns: u16) {
    let house = House::new("");
    std::fs::write(house.home("config.toml"), SETTINGS).unwrap();
    let shot = |name: &str, screen: String| insta::assert_snapshot!(format!("{name}-{columns}"), screen);
    let terminal = house.open(columns, 30, "-m claude-haiku-4-5 --role poet");
    terminal.line("/system");
    terminal.settled("You write poems.");
    terminal.clear();
    terminal.line("/role");
    terminal.wait("Enter chooses");
    shot("role-picker", terminal.screen());
    terminal.text("rev");
    terminal.wait("❯ reviewer");
    terminal.key("Enter");
    shot("role", terminal.settled("Role reviewer."));
    terminal.line("/role nobody");
    terminal.settled("unknown role `nobody`");
    terminal.clear();
    terminal.line("/template");
    terminal.wait("❯ translate");
    terminal.key("Enter");
    // The placeholders to fill in are on the line.
    terminal.wait("› /template translate language=");
    terminal.press("C-u");
    terminal.line("/template translate language=French \"Good day\"");
    let screen = terminal.settled("first text after").replace("\u{a0}", " ");
    assert!(screen.contains("Into French: Good day") && screen.contains("(4 words)"), "{screen}");
    terminal.line("/template translate Good day");
    terminal.settled("needs a value for `{{language}}`");
}

#[test]
fn a_role_is_picked_at_80_columns() {
    roles(80);
}

#[test]
fn a_role_is_picked_at_120_columns() {
    roles(120);
}

#[test]
fn a_conversation_costs_no_more_than_allowed() {
    let words = "word ".repeat(4000);
    let call = "tool_calls = [{ name = \"list_dir\", arguments = { path = \".\" } }]";
    let house = House::new(&format!("[[reply]]\ntimes = 0\ntext = \"{words}\"\n{call}\n"));
    let terminal = house.open(100, 30, "-m claude-haiku-4-5 --max-cost 0.02");
    terminal.line("look");
    terminal.settled("the conversation has cost $0.0");
    // What was typed is kept.
    terminal.line("and more");
    terminal.settled("› and more");
    terminal.press("C-u");
    terminal.press("C-d");
    terminal.wait("ended with 0");
}
