//! Whole sessions, at two widths.

use crate::support::House;

const SCRIPT: &str = r#"
[[reply]]
when = { text = "show me" }
times = 0
text = """
# A heading

Some **bold** text, `code` and a [link](https://example.com).

- one
- two
  1. nested

```rust
fn main() { println!("hi"); }
```

| name | size |
| --- | ---: |
| a | 1 |
| bb | 22 |
"""
"#;

/// Replaces what changes from run to run: times, ids.
fn filters() -> insta::internals::SettingsBindDropGuard {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d+\.\d s", "[t] s");
    // An estimate that depends on where the answer was stopped.
    settings.add_filter(r"~\$\d+\.\d+", "~$[about]");
    settings.add_filter(r"[0-9a-f]{8} ", "[id] ");
    settings.add_filter(r"just now|\d+ min ago", "[ago]");
    settings.bind_to_scope()
}

fn session(columns: u16) {
    let _filters = filters();
    let house = House::new(SCRIPT);
    std::fs::write(house.work("notes.txt"), "buy milk\nbuy bread\n").unwrap();
    let shot = |name: &str, screen: String| insta::assert_snapshot!(format!("{name}-{columns}"), screen);
    let terminal = house.open(columns, 50, "-m claude-sonnet-4-5");
    terminal.wait("/help lists the commands");

    // The five banners, word for word.
    for (line, last) in [
        ("/model claude-sonnet-4-5/med", "Thinking: medium (43,008 tokens)"),
        ("/model gemini-2.5-pro/high", "Thinking: high (32,768 tokens)"),
        ("/model gemini-3-pro/none", "Thinking: LOW level (minimum)"),
        ("/model o3/med", "Recommended output buffer: 25,000 tokens"),
        ("/model o3-mini/none", "Thinking: medium effort (default)"),
    ] {
        terminal.line(line);
        terminal.wait(last);
    }
    shot("banners", terminal.settled("o3-mini/none"));

    // Thinking: one line, then all of it.
    terminal.line("/model claude-sonnet-4-5/low");
    terminal.wait("low (22,016 tokens)");
    terminal.line("/new");
    terminal.wait("New conversation.");
    terminal.clear();
    terminal.line("My favourite number is 7.");
    terminal.wait("first text after");
    terminal.press("C-t");
    terminal.wait("▾ Thought");
    shot("thinking", terminal.settled("▾ Thought"));

    // A call that only reads runs at once; another one needs approval.
    terminal.clear();
    terminal.line("use read_file path=\"notes.txt\"");
    terminal.wait("buy bread");
    terminal.wait("first text after");
    terminal.line("use shell command=\"touch made\"");
    terminal.wait("│ touch made ");
    terminal.answer("n");
    terminal.wait("shell failed");
    shot("tools", terminal.settled("$"));
    assert!(!house.work("made").exists());

    // Markdown.
    terminal.clear();
    terminal.line("show me");
    shot("markdown", terminal.settled("first text after"));

    // Ctrl-C keeps what has arrived. During an answer, the model cannot be switched.
    terminal.clear();
    terminal.line("count slowly");
    terminal.wait("three");
    terminal.text("/model o3");
    terminal.key("Enter");
    terminal.wait("cannot be switched");
    terminal.key("C-c");
    let screen = terminal.settled("Stopped.");
    assert!(screen.contains("one two three") && !screen.contains("seventeen"), "{screen}");

    // Another model in a branch, with the history.
    terminal.clear();
    terminal.line("/fork --model gemini-2.5-pro/high");
    terminal.wait("New branch.");
    terminal.line("What is my favourite number?");
    terminal.wait("Your favourite number is 7.");
    terminal.wait("first text after");
    shot("fork", terminal.settled("gemini-2.5-pro/high"));

    // Leave: the first Ctrl-C shows a hint, the second one ends the chat.
    terminal.press("C-c");
    terminal.wait("Press Ctrl-C again to leave");
    terminal.press("C-c");
    terminal.wait("ended with 0");

    // And return: the model and the level are the same.
    let terminal = house.open(columns, 50, "--continue");
    shot("resumed", terminal.settled("gemini-2.5-pro/high ·"));
    terminal.line("/search favourite -slowly");
    terminal.wait("Found ›");
    terminal.wait("My favourite number is 7.");
    terminal.key("Escape");
    terminal.settled("-slowly\ngemini-2.5-pro/high");
    terminal.clear();
    terminal.line("/branch");
    terminal.wait("Branch ›");
    terminal.wait("Enter chooses");
    shot("branches", terminal.screen());
    terminal.key("Escape");
    terminal.settled("/branch\ngemini-2.5-pro/high");
    terminal.line("/modle o3");
    terminal.wait("Did you mean /model?");
    terminal.line("/model o3/hihg");
    terminal.wait("unknown thinking level");
    terminal.press("C-d");
    terminal.wait("ended with 0");
}

#[test]
fn a_session_at_80_columns() {
    session(80);
}

#[test]
fn a_session_at_120_columns() {
    session(120);
}

#[test]
fn a_sub_agent_works_in_the_background_and_its_answer_comes_back() {
    let house = House::new(SCRIPT);
    let terminal = house.open(150, 200, "-m claude-sonnet-4-5 --no-tools");
    terminal.wait("/help lists the commands");
    terminal.line("My favourite number is 7.");
    terminal.wait("first text after");
    terminal.line("/fork --model openai:gpt-4o-mini \"What is my favourite number?\"");
    terminal.wait("Agent 1 started with gpt-4o-mini");
    terminal.wait("Agent 1 (gpt-4o-mini) is done");
    terminal.line("/agents");
    terminal.wait("1. gpt-4o-mini · done");
    terminal.line("/agents show 1");
    terminal.wait("Your favourite number is 7.");
    terminal.line("/agents bring 1");
    terminal.wait("goes with your next message");
    terminal.line("thanks");
    terminal.line("/raw");
    terminal.wait("A sub-agent (gpt-4o-mini) was asked: What is my favourite number?");
    terminal.line("/fork \"unclosed");
    terminal.wait("unclosed quote");
    terminal.press("C-d");
    terminal.wait("ended with 0");
}

const TROUBLES: &str = r#"
[[reply]]
when = { text = "break off" }
text = "one two three four five six seven eight nine ten eleven twelve"
fault = "cut_mid_event"

[[reply]]
when = { text = "busy" }
fault = "status=429,retry_after_ms=2500"

[[reply]]
when = { text = "never" }
times = 0
fault = "status=401"

[[reply]]
when = { text = "forbidden" }
text = "I"
finish_reason = "content_filter"
"#;

#[test]
fn what_goes_wrong_is_told_with_the_way_out() {
    let house = House::new(TROUBLES);
    let terminal = house.open(100, 60, "-m claude-sonnet-4-5 --no-tools");
    // A lost connection keeps what has arrived.
    terminal.line("break off");
    terminal.wait("The partial answer is saved; /retry to ask again.");
    terminal.wait("one two");
    terminal.line("/retry");
    terminal.wait("You said: “break off”");
    // A provider that asks for a wait: a countdown, and the number of the attempt.
    terminal.line("busy");
    terminal.wait("attempt 2 of 3");
    terminal.wait("You said: “busy”");
    terminal.line("never");
    terminal.wait("ikigai keys set anthropic");
    terminal.line("forbidden");
    terminal.wait("The provider's filter stopped this answer.");
    // A line that is typed during an answer waits for its turn.
    terminal.line("count slowly");
    terminal.wait("two");
    terminal.text("2+2");
    terminal.wait("› 2+2");
    terminal.key("Enter");
    terminal.wait("2+2 = 4");
    // Unknown models and files.
    terminal.line("/model cluade-sonnet-4-5");
    terminal.wait("did you mean claude-sonnet-4-5");
    terminal.line("/attach nowhere.png");
    terminal.wait("cannot attach");
    terminal.press("C-d");
    terminal.wait("ended with 0");
}

#[test]
fn killed_in_the_middle_of_an_answer_it_is_there_the_next_time() {
    let house = House::new(TROUBLES);
    let terminal = house.open(100, 40, "-m claude-sonnet-4-5/low --no-tools");
    terminal.line("count slowly");
    terminal.wait("one two three");
    // This much may be lost.
    std::thread::sleep(std::time::Duration::from_secs(1));
    terminal.kill();
    let terminal = house.open(100, 40, "--continue");
    terminal.wait("This answer was cut off.");
    let screen = terminal.settled("claude-sonnet-4-5/low");
    assert!(screen.contains("› count slowly") && screen.contains("one two three"), "{screen}");
    terminal.line("2+2");
    terminal.wait("2+2 = 4");
    terminal.press("C-d");
    terminal.wait("ended with 0");
}

#[test]
fn the_line_editor_completes_remembers_and_takes_several_lines() {
    let house = House::new("");
    std::fs::write(house.work("notes.txt"), "buy milk\n").unwrap();
    let terminal = house.open(100, 40, "-m claude-sonnet-4-5 --no-tools");
    terminal.wait("/help lists the commands");
    // Several lines between quotes, and after Alt-Enter.
    terminal.line("\"\"\"one");
    terminal.text("two\"\"\"");
    terminal.key("Enter");
    terminal.wait("You said: “one");
    terminal.wait("two” (2 words).");
    terminal.clear();
    terminal.text("three");
    terminal.key("M-Enter");
    terminal.text("four");
    terminal.key("Enter");
    terminal.wait("four” (2 words).");
    // Tab completes a command, then a model; and a file after @.
    terminal.clear();
    terminal.text("/thin");
    terminal.key("Tab");
    terminal.wait("/thinking");
    terminal.text("show");
    terminal.key("Enter");
    terminal.wait("Thinking is shown in full.");
    terminal.clear();
    terminal.text("look at @not");
    terminal.key("Tab");
    terminal.wait("@notes.txt");
    terminal.key("Enter");
    terminal.wait("I see a document notes.txt");
    terminal.press("C-d");
    terminal.wait("ended with 0");
    // Lines typed earlier are available in the next session.
    let terminal = house.open(100, 40, "--no-tools");
    terminal.wait("/help lists the commands");
    terminal.press("Up");
    terminal.wait("› look at @notes.txt");
    terminal.key("C-c");
    terminal.press("C-d");
    terminal.wait("ended with 0");
}

#[test]
fn what_is_deleted_is_asked_about_first_and_leaves_nothing_behind() {
    let house = House::new("");
    let terminal = house.open(80, 30, "-m claude-sonnet-4-5 --no-tools");
    terminal.line("remember the word xylograph");
    terminal.settled("first text after");
    terminal.line("/delete");
    // The question puts the beginning of its answer on the line.
    terminal.wait("Type /delete yes to confirm.");
    assert!(holds(&house, "xylograph"));
    terminal.line("yes");
    terminal.settled("Deleted. This is a new conversation.");
    // The keys that recall lines find these two commands, and nothing before them.
    for _ in 0..3 {
        terminal.press("Up");
    }
    let screen = terminal.settled("›");
    assert_eq!(screen.lines().last(), Some("› /delete"));
    terminal.press("C-c");
    terminal.empty_prompt();
    terminal.press("C-d");
    terminal.wait("ended with 0");
    assert!(!holds(&house, "xylograph"));
}

/// Whether a word is anywhere in the files of the store.
fn holds(house: &House, word: &str) -> bool {
    std::fs::read_dir(house.home("."))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ikigai.db")))
        .any(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).contains(word))
}
