//! A folder with its own files: the user is asked once, and they are used from then on.

use crate::support::House;

fn folder(columns: u16) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"/\S+/work has", "[home]/work has");
    let _filters = settings.bind_to_scope();
    let house = House::new("");
    std::fs::write(house.work("AGENTS.md"), "Answer in one word.\n").unwrap();
    std::fs::write(house.work(".ikigai.toml"), "model = \"haiku\"\n").unwrap();
    let shot = |name: &str, screen: String| insta::assert_snapshot!(format!("{name}-{columns}"), screen);
    let terminal = house.open(columns, 20, "--no-tools");
    terminal.wait("[y/N]");
    terminal.text("y");
    terminal.key("Enter");
    shot("first-visit", terminal.settled("claude-haiku-4-5"));
    terminal.line("/system");
    terminal.settled("Answer in one word.");
    terminal.press("C-d");
    terminal.wait("ended with 0");
    let terminal = house.open(columns, 20, "--no-tools");
    shot("second-visit", terminal.settled("claude-haiku-4-5"));
    terminal.press("C-d");
    terminal.wait("ended with 0");
    // The user is asked again about changed settings, and can refuse.
    std::fs::write(house.work(".ikigai.toml"), "[mcp.x]\ncommand = [\"touch\", \"RUN\"]\n").unwrap();
    let terminal = house.open(columns, 20, "");
    terminal.wait("MCP server x: runs touch RUN");
    terminal.wait("[y/N]");
    terminal.key("Enter");
    terminal.settled("claude-sonnet-5");
    terminal.press("C-d");
    terminal.wait("ended with 0");
    assert!(!house.work("RUN").exists());
}

#[test]
fn a_folder_is_trusted_once_at_80_columns() {
    folder(80);
}

#[test]
fn a_folder_is_trusted_once_at_120_columns() {
    folder(120);
}
