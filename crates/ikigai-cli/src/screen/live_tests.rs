use std::num::NonZeroU16;

use pretty_assertions::assert_eq;

use super::*;
use crate::screen::testing::coloured;
use crate::screen::{Frame, Renderer};

/// A screen that shows what is written to it.
struct Screen {
    terminal: vt100::Parser,
    live: Live<Vec<u8>>,
    /// Everything that was written.
    written: Vec<u8>,
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a screen has cells")
}

fn terminal(rows: u16, columns: u16) -> vt100::Parser {
    vt100::Parser::new(cells(rows), cells(columns), 10_000)
}

impl Screen {
    fn new(columns: u16, rows: u16) -> Self {
        let size = Size { columns: usize::from(columns), rows: usize::from(rows) };
        let live = Live::new(Vec::new(), size, Region::Live).reflows(false);
        Screen { terminal: terminal(rows, columns), live, written: Vec::new() }
    }

    fn draw(&mut self, finished: &str, open: &[&str]) -> String {
        let open: Vec<String> = open.iter().map(|line| (*line).to_owned()).collect();
        self.live.draw(finished, &open).expect("a vector takes everything");
        self.show()
    }

    fn show(&mut self) -> String {
        let bytes = std::mem::take(self.live.writer());
        self.terminal.process(&bytes);
        self.written.extend(bytes);
        self.contents()
    }

    fn contents(&self) -> String {
        self.terminal.screen().contents().trim_end().to_owned()
    }

    /// Returns the scrollback and what is on the screen.
    fn everything(&mut self) -> String {
        let (rows, columns) = self.terminal.screen().size();
        self.terminal.screen_mut().set_scrollback(usize::MAX);
        let above = self.terminal.screen().scrollback();
        let mut lines = Vec::new();
        for offset in (0..=above).rev() {
            self.terminal.screen_mut().set_scrollback(offset);
            let take = if offset == 0 { usize::from(rows.get()) } else { 1 };
            lines.extend(self.terminal.screen().rows(0, columns.get()).take(take));
        }
        lines.join("\n").trim_end().to_owned()
    }
}

#[test]
fn finished_lines_stay_above_the_open_ones() {
    let mut screen = Screen::new(40, 10);
    assert_eq!(screen.draw("", &["waiting"]), "waiting");
    assert_eq!(screen.draw("", &["one", "two"]), "one\ntwo");
    assert_eq!(screen.draw("done\n", &["two and more"]), "done\ntwo and more");
    assert_eq!(screen.draw("all\ndone\n", &[]), "done\nall\ndone");
    assert_eq!(screen.draw("", &["again"]), "done\nall\ndone\nagain");
    screen.live.clear().expect("written");
    assert_eq!(screen.show(), "done\nall\ndone");
    assert_eq!(screen.terminal.screen().cursor_position(), (3, 0));
}

#[test]
fn shorter_and_fewer_lines_leave_nothing_behind() {
    let mut screen = Screen::new(20, 10);
    screen.draw("", &["a long line", "another long line", "third"]);
    assert_eq!(screen.draw("", &["short", "x"]), "short\nx");
    assert_eq!(screen.draw("", &["short"]), "short");
    assert_eq!(screen.draw("", &["a", "b", "c", "d"]), "a\nb\nc\nd");
    assert_eq!(screen.draw("z\n", &[]), "z");
    assert_eq!(screen.draw("", &[]), "z");
}

/// tmux keeps a screen that is cleared from its first cell in its history, and so would keep every frame.
#[test]
fn the_screen_is_never_cleared_from_its_first_cell() {
    let mut screen = Screen::new(20, 10);
    for open in [&["a"][..], &["b", "c", "d"], &["e"], &[], &["f", "g"], &[]] {
        screen.draw("", open);
    }
    let written = String::from_utf8_lossy(&screen.written).into_owned();
    assert_eq!(written.matches("\x1b[J").count(), 2, "{written:?}");
    assert_eq!(written.matches("\r\n\x1b[J").count(), 2, "{written:?}");
    assert_eq!((screen.contents(), screen.terminal.screen().cursor_position()), (String::new(), (0, 0)));
}

#[test]
fn a_line_without_end_gets_one() {
    let mut screen = Screen::new(20, 10);
    assert_eq!(screen.draw("a", &["b"]), "a\nb");
}

#[test]
fn only_what_changed_is_written() {
    let mut screen = Screen::new(40, 10);
    screen.draw("", &["first", "second", "thi"]);
    let before = screen.written.len();
    screen.draw("", &["first", "second", "thi"]);
    assert_eq!(screen.written.len(), before);
    assert_eq!(screen.draw("", &["first", "second", "third"]), "first\nsecond\nthird");
    let last = String::from_utf8_lossy(&screen.written[before..]).into_owned();
    assert_eq!(last, "\x1b[?2026h\r\x1b[?7l\x1b[Kthird\x1b[?7h\x1b[?2026l");
}

#[test]
fn of_too_many_lines_the_last_are_shown() {
    let mut screen = Screen::new(20, 5);
    let lines: Vec<String> = (0..20).map(|line| format!("line {line}")).collect();
    let open: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(screen.draw("above\n", &open), "above\nline 16\nline 17\nline 18\nline 19");
    assert_eq!(screen.draw("", &["x"]), "above\nx");
    screen.draw("", &open);
    let finished = lines.join("\n") + "\n";
    screen.draw(&finished, &["open"]);
    assert_eq!(screen.everything(), format!("above\n{finished}open"));
}

#[test]
fn lines_that_fill_the_screen_are_whole() {
    let mut screen = Screen::new(10, 6);
    assert_eq!(screen.draw("0123456789\n", &["abcdefghij", "klmnopqrst"]), "0123456789\nabcdefghij\nklmnopqrst");
    assert_eq!(screen.draw("0123456789\n", &["abcdefghij"]), "0123456789\n0123456789\nabcdefghij");
    // An open line that is too wide is cut, a finished one is wrapped by the terminal.
    assert_eq!(screen.draw("", &["\x1b[1mabcdefghijkl\x1b[0m"]), "0123456789\n0123456789\nabcdefghij");
    assert_eq!(screen.draw("0123456789ab\n", &["x"]), "0123456789\n0123456789\n0123456789ab\nx");
}

#[test]
fn wide_characters_are_not_cut_in_half() {
    let mut screen = Screen::new(5, 4);
    assert_eq!(screen.draw("", &["日本語x"]), "日本");
}

#[test]
fn another_size_in_the_middle() {
    let mut screen = Screen::new(40, 10);
    screen.draw("done\n", &["one two three four", "five"]);
    screen.terminal.screen_mut().set_size(cells(10), cells(20));
    screen.live.resize(Size { columns: 20, rows: 10 });
    assert_eq!(screen.draw("", &["one two three", "four five"]), "done\none two three\nfour five");
    screen.terminal.screen_mut().set_size(cells(6), cells(80));
    screen.live.resize(Size { columns: 80, rows: 6 });
    assert_eq!(screen.draw("one two\n", &["three four five"]), "done\none two\nthree four five");
}

#[test]
fn a_terminal_that_breaks_its_lines_anew_is_followed() {
    let mut screen = Screen::new(40, 10);
    screen.live = Live::new(Vec::new(), Size { columns: 40, rows: 10 }, Region::Live);
    screen.draw("done\n", &["a line of more than twenty columns", "and another one of these"]);
    // The test terminal does not rewrap lines, so it is given them as one that does would show them.
    screen.terminal = terminal(10, 20);
    screen.terminal.process(b"done\r\na line of more than twenty columns\r\nand another one of these");
    screen.live.resize(Size { columns: 20, rows: 10 });
    assert_eq!(
        screen.draw("", &["a line of more than", "twenty columns"]),
        "done\na line of more than\ntwenty columns"
    );
}

#[test]
fn where_nothing_can_be_drawn_over_only_finished_text_is_written() {
    let mut live = Live::new(Vec::new(), Size { columns: 80, rows: 24 }, Region::Plain);
    live.draw("", &["waiting".to_owned()]).expect("written");
    live.draw("done\n", &["open".to_owned()]).expect("written");
    live.draw("all", &[]).expect("written");
    live.clear().expect("written");
    assert_eq!(String::from_utf8_lossy(live.writer()), "done\nall\n");
}

#[test]
fn the_terminal_decides_on_the_region() {
    let detect = |is_terminal, term: Option<&str>| {
        Region::detect(is_terminal, |name| {
            assert_eq!(name, "TERM");
            term.map(str::to_owned)
        })
    };
    assert_eq!(detect(true, Some("xterm-256color")), Region::Live);
    assert_eq!(detect(true, None), Region::Live);
    assert_eq!(detect(true, Some("dumb")), Region::Plain);
    assert_eq!(detect(false, Some("xterm")), Region::Plain);
}

#[test]
fn errors_of_writing_are_told() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for region in [Region::Live, Region::Plain] {
        let mut live = Live::new(Closed, Size { columns: 80, rows: 24 }, region);
        let error = live.draw("x\n", &[]).expect_err("nothing can be written");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}

/// Returns a text as a terminal wraps it: only code has lines that are too wide, and it contains no wide characters.
fn broken(text: &str, columns: u16) -> String {
    let columns = usize::from(columns);
    let rows = |line: &str| match width(line) > columns {
        false => line.to_owned(),
        true => {
            let characters: Vec<char> = line.chars().collect();
            let rows: Vec<String> = characters.chunks(columns).map(|row| row.iter().collect::<String>()).collect();
            rows.iter().map(|row| row.trim_end()).collect::<Vec<_>>().join("\n")
        }
    };
    text.lines().map(|line| rows(line) + "\n").collect()
}

/// However it got there, the screen ends up with the document and nothing else.
#[test]
fn a_streamed_document_ends_up_whole() {
    let text = include_str!("markdown/samples/everything.md");
    for (columns, rows) in [(40, 10), (80, 24), (120, 50)] {
        let look = coloured(usize::from(columns));
        let mut screen = Screen::new(columns, rows);
        let mut renderer = Renderer::new(look);
        let characters: Vec<char> = text.chars().collect();
        let mut seen = String::new();
        for piece in characters.chunks(5) {
            renderer.push(&piece.iter().collect::<String>());
            let Frame { finished, open } = renderer.frame();
            seen.push_str(&finished);
            let open: Vec<&str> = open.iter().map(String::as_str).collect();
            screen.draw(&finished, &open);
            // Everything final is on the screen, complete, above what is open.
            let finished = broken(&anstream::adapter::strip_str(&seen).to_string(), columns);
            let open = open.iter().map(|line| clip(&anstream::adapter::strip_str(line).to_string(), columns.into()));
            let open: Vec<String> = open.collect();
            let expected = finished + &open.join("\n");
            if open.len() < usize::from(rows) {
                assert_eq!(screen.everything(), expected.trim_end(), "at {columns} columns");
            }
        }
        let rest = renderer.finish();
        screen.draw(&rest, &[]);
        let expected = anstream::adapter::strip_str(&crate::screen::markdown(text, look)).to_string();
        assert_eq!(screen.everything(), broken(&expected, columns).trim_end(), "at {columns} columns");
    }
}

/// A window that gets narrower and wider while text arrives: below the final text are the open lines, and no remains of
/// earlier ones.
#[test]
fn a_window_that_changes_while_text_comes_in() {
    let text = include_str!("markdown/samples/everything.md");
    let mut screen = Screen::new(80, 24);
    let mut renderer = Renderer::new(coloured(80));
    let characters: Vec<char> = text.chars().collect();
    for (place, piece) in characters.chunks(7).enumerate() {
        let size = [(80, 24), (40, 12), (120, 30)].into_iter().cycle().nth(place / 20);
        if let Some((columns, rows)) = size.filter(|_| place % 20 == 0) {
            screen.terminal.screen_mut().set_size(cells(rows), cells(columns));
            screen.live.resize(Size { columns: usize::from(columns), rows: usize::from(rows) });
            renderer.resize(usize::from(columns));
        }
        renderer.push(&piece.iter().collect::<String>());
        let Frame { finished, open } = renderer.frame();
        let open: Vec<&str> = open.iter().map(String::as_str).collect();
        screen.draw(&finished, &open);
        let columns = screen.terminal.screen().size().1.get();
        let (row, _) = screen.terminal.screen().cursor_position();
        let shown: Vec<String> = screen.terminal.screen().rows(0, columns).collect();
        let first = usize::from(row + 1).saturating_sub(open.len().max(1));
        let expected = open.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect::<Vec<_>>();
        if open.is_empty() {
            assert_eq!(shown[usize::from(row)], "");
        } else {
            assert_eq!(shown[first..=usize::from(row)], expected);
        }
        assert!(shown[usize::from(row) + 1..].iter().all(String::is_empty), "{shown:#?}");
    }
}
