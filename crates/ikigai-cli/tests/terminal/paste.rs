//! Pasting at the prompt, attached files and pictures, and the bell.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::House;

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

fn fold(columns: u16) {
    let house = House::new("");
    let shot = |name: &str, screen: String| insta::assert_snapshot!(format!("{name}-{columns}"), screen);
    let terminal = house.open(columns, 30, "-m claude-haiku-4-5 --no-tools");
    terminal.wait("/help lists");
    terminal.text("Look: ");
    terminal.wait("› Look:");
    terminal.paste(lines(12).trim_end());
    terminal.wait("[pasted 12 lines]");
    terminal.text(" and ");
    terminal.paste(&lines(20));
    terminal.wait("[pasted 12 lines] and [pasted 20 lines]");
    // It is deleted as a whole, and what comes before it stays.
    terminal.key("BSpace");
    let screen = terminal.settled("[pasted 12 lines] and");
    assert!(screen.ends_with("› Look: [pasted 12 lines] and"), "{screen}");
    terminal.key("C-w");
    terminal.settled("› Look: [pasted 12 lines]");
    terminal.key("BSpace");
    terminal.text("!");
    terminal.wait("› Look: [pasted 12 lines]!");
    shot("folded", terminal.screen());
    terminal.key("Enter");
    // All of it was sent.
    terminal.settled("(25 words)");
    terminal.clear();
    terminal.line("/edit");
    // The question again, folded.
    terminal.wait("› Look: [pasted 12 lines]!");
    terminal.key("C-g");
    terminal.wait("  line 12!");
    shot("unfolded", terminal.screen());
    terminal.key("C-c");
}

#[test]
fn a_long_paste_is_folded_at_80_columns() {
    fold(80);
}

#[test]
fn a_long_paste_is_folded_at_120_columns() {
    fold(120);
}

#[test]
fn a_short_paste_is_shown_and_never_sent() {
    let house = House::new("");
    let terminal = house.open(80, 30, "-m claude-haiku-4-5 --no-tools");
    terminal.wait("/help lists");
    terminal.paste("one\ntwo\n");
    terminal.wait("› one\n  two");
    assert!(!terminal.screen().contains("You said"), "{}", terminal.screen());
}

#[test]
fn a_dropped_file_is_attached() {
    let house = House::new("");
    std::fs::write(house.work("my notes.txt"), "Forty-two.").unwrap();
    let path = house.work("my notes.txt").canonicalize().unwrap().display().to_string();
    let terminal = house.open(120, 30, "-m claude-haiku-4-5 --no-tools");
    terminal.wait("/help lists");
    terminal.text("Read");
    terminal.wait("› Read");
    terminal.paste(&format!("'{path}'"));
    terminal.wait("› Read @\"my notes.txt\"");
    terminal.key("Enter");
    terminal.settled("attached my notes.txt (10 B)");
    // For a command, the path is used unchanged.
    terminal.settled("first text after");
    terminal.clear();
    terminal.text("!cat ");
    terminal.wait("› !cat");
    terminal.paste(&format!("'{path}'"));
    terminal.wait("my notes.txt'");
    terminal.key("Enter");
    terminal.settled("Forty-two.");
}

#[test]
fn a_picture_is_pasted_through_a_program() {
    let house = House::new("");
    let programs = house.home("bin");
    std::fs::create_dir(&programs).unwrap();
    let program = programs.join("wl-paste");
    std::fs::write(&program, "#!/bin/sh\nprintf '\\211PNG\\r\\n\\032\\n\\000\\000'\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("PATH={}:/usr/bin:/bin", programs.display());
    let terminal = house.open_with(100, 30, &path, "-m claude-haiku-4-5 --no-tools");
    terminal.wait("/help lists");
    terminal.text("What is it?");
    terminal.wait("› What is it?");
    terminal.key("C-v");
    // What was typed is kept.
    let screen = terminal.settled("attached a picture (10 B); it goes with your next message");
    assert!(screen.ends_with("› What is it?"), "{screen}");
    terminal.key("Enter");
    terminal.settled("image/png");
    // With nothing in the clipboard, and without any program to read it.
    std::fs::write(&program, "#!/bin/sh\nexit 1\n").unwrap();
    terminal.press("C-v");
    terminal.settled("There is no picture in the clipboard.");
    let terminal = house.open_with(100, 30, "PATH=/nowhere", "-m claude-haiku-4-5 --no-tools");
    terminal.wait("/help lists");
    terminal.press("C-v");
    terminal.settled("Pasting a picture needs one of these programs: wl-paste, xclip, pngpaste, osascript.");
}

#[test]
fn the_bell_rings_after_a_long_answer_unless_it_is_turned_off() {
    let script =
        "[[reply]]\nwhen = { text = \"slow\" }\ntimes = 0\ntext = \"Done.\"\nfault = \"slow_first_byte,ms=10200\"\n";
    let house = House::new(script);
    let quiet = House::new(script);
    std::fs::write(quiet.home("config.toml"), "bell = false\n").unwrap();
    let [rung, not_rung] = [&house, &quiet].map(|house| {
        let terminal = house.open(80, 20, "-m claude-haiku-4-5 --no-tools");
        terminal.wait("/help lists");
        terminal.record(&house.home("record"));
        terminal.line("hello");
        terminal.settled("first text after");
        let early = std::fs::read(house.home("record")).unwrap().contains(&7);
        terminal.line("slow");
        (terminal, early)
    });
    for (house, (terminal, early), rings) in [(&house, rung, true), (&quiet, not_rung, false)] {
        terminal.settled("Done.");
        terminal.settled("first text after 10 s");
        let late = std::fs::read(house.home("record")).unwrap().contains(&7);
        assert_eq!((early, late), (false, rings));
    }
}

#[test]
fn links_are_written_for_terminals_that_open_them() {
    let script =
        "[[reply]]\ntimes = 0\ntext = \"See [the docs](https://example.org/docs) or https://example.org/faq.\"\n";
    let house = House::new(script);
    let seen = |variables: &str, name: &str| {
        let terminal = house.open_with(100, 20, variables, "-m claude-haiku-4-5 --no-tools");
        terminal.wait("/help lists");
        terminal.record(&house.home(name));
        terminal.line("hello");
        let screen = terminal.settled("first text after");
        assert!(screen.contains("See the docs (https://example.org/docs) or https://example.org/faq."), "{screen}");
        String::from_utf8_lossy(&std::fs::read(house.home(name)).unwrap()).into_owned()
    };
    let with = seen("FORCE_HYPERLINK=1", "with");
    for link in ["\x1b]8;;https://example.org/docs\x1b\\", "\x1b]8;;https://example.org/faq\x1b\\"] {
        assert!(with.contains(link), "{with}");
    }
    assert!(!seen("", "without").contains("\x1b]8;"));
}

#[test]
fn the_keys_of_vi_still_work_around_what_is_pasted() {
    let house = House::new("");
    std::fs::write(house.home("config.toml"), "keys = \"vi\"\n").unwrap();
    let terminal = house.open(100, 30, "-m claude-haiku-4-5 --no-tools");
    terminal.wait("/help lists");
    terminal.text("xhello ");
    terminal.wait("› xhello");
    terminal.paste(&lines(12));
    terminal.wait("› xhello [pasted 12 lines]");
    terminal.key("Escape");
    std::thread::sleep(std::time::Duration::from_millis(200));
    terminal.text("0x");
    terminal.wait("› hello [pasted 12 lines]");
    terminal.text("A");
    terminal.key("BSpace");
    let screen = terminal.settled("› hello");
    assert!(screen.ends_with("› hello"), "{screen}");
    terminal.key("Enter");
    terminal.settled("You said: “hello");
}
