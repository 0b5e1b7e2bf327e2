//! The first five minutes, as shown in docs/terminal.md.

use pretty_assertions::assert_eq;
use regex::Regex;

use crate::support::House;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/terminal.md");

const SCRIPT: &str = r#"
[[reply]]
when = { text = "haiku" }
text = "An old silent pond, and then"
fault = "stall"
"#;

/// Returns the page before a screen, the screen, and the page after it.
fn page(name: &str) -> (String, String, String) {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let start = format!("<!-- screen: {name} -->\n\n```text\n");
    assert!(page.contains(&start), "{PAGE} has no screen `{name}`");
    let (before, rest) = page.split_once(&start).unwrap();
    let (screen, after) = rest.split_once("```\n").unwrap();
    (format!("{before}{start}"), screen.to_owned(), format!("```\n{after}"))
}

/// Returns a screen without what differs from run to run.
fn steady(screen: &str) -> String {
    let mut text = screen.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    for (pattern, word) in [
        (r"\d+\.\d s", "0.4 s"),
        (r"--resume [0-9a-f]{8}", "--resume 6c2a1b3d"),
        (r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠹"),
        (r"for \d+ s", "for 5 s"),
        (r"· \d+ s ·", "· 6 s ·"),
        (r"~\$\d+\.\d+", "~$$0.0041"),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, word).into_owned();
    }
    text
}

/// Compares the screen with the page's; with `IKIGAI_UPDATE_PAGE`, the page is updated.
fn shown(name: &str, screen: &str) {
    let (before, old, after) = page(name);
    let new = steady(screen) + "\n";
    if std::env::var_os("IKIGAI_UPDATE_PAGE").is_some() {
        std::fs::write(PAGE, format!("{before}{new}{after}")).unwrap();
    } else {
        assert_eq!(old, new, "the screen `{name}`; IKIGAI_UPDATE_PAGE=1 takes it over");
    }
}

#[test]
fn the_first_five_minutes_are_as_the_page_shows_them() {
    let house = House::new(SCRIPT);
    std::fs::write(house.work("notes.txt"), "buy milk\nbuy bread\n").unwrap();

    // Without a key, the simulator answers.
    let terminal = house.open_without_key(80, 30, "");
    shown("start", &terminal.settled("/help lists the commands"));
    terminal.clear();
    terminal.line("Why is the sky blue?");
    shown("ask", &terminal.settled("first text after"));

    // Another model.
    terminal.clear();
    terminal.line("/model");
    terminal.wait("Model ›");
    terminal.text("gem25pro/high");
    terminal.wait("gem25pro/high▏");
    terminal.wait("❯ gemini-2.5-pro ");
    shown("pick", &terminal.screen());
    terminal.key("Enter");
    shown("switch", &terminal.settled("Thinking: high"));

    // A file, and tools.
    terminal.clear();
    terminal.line("What is in @notes.txt ");
    shown("attach", &terminal.settled("first text after"));
    terminal.clear();
    terminal.line("use read_file path=\"notes.txt\"");
    shown("read", &terminal.settled("first text after"));
    terminal.clear();
    terminal.line("use write_file path=\"list.md\" content=\"- milk\"");
    terminal.wait("[n] no");
    shown("approve", &terminal.screen());
    terminal.answer("y");
    shown("write", &terminal.settled("first text after"));
    assert_eq!(std::fs::read_to_string(house.work("list.md")).unwrap(), "- milk");

    // Leave, and return with a key.
    terminal.press("C-d");
    terminal.wait("ended with 0");
    let screen = terminal.screen();
    let last = screen.lines().find(|line| line.starts_with("Continue with")).unwrap();
    shown("leave", last);
    let terminal = house.open(80, 60, "-m claude-sonnet-4-5");
    terminal.wait("/help lists the commands");
    terminal.clear();
    terminal.line("Write a haiku.");
    terminal.wait("nothing for");
    shown("stall", &terminal.screen());
    terminal.key("Escape");
    shown("stop", &terminal.settled("Stopped."));
    terminal.press("C-d");
    terminal.wait("ended with 0");
    let terminal = house.open(80, 60, "--continue");
    shown("back", &terminal.settled("This answer was cut off."));
    terminal.press("C-d");
    terminal.wait("ended with 0");
}
