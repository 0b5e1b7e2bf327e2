use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::*;
use crate::tools::Prefix;

const LOOK: Look = Look { width: 60, colour: false, styles: false, unicode: true, links: false, motion: true };

fn command(text: &str) -> Described {
    Described {
        line: "shell".to_owned(),
        content: Content::Text(text.to_owned()),
        warnings: Vec::new(),
        fails: None,
        promise: None,
    }
}

/// A question, and a clock that advances with the keys.
struct Desk {
    question: Question,
    line: String,
    now: Instant,
}

impl Desk {
    fn new(text: &str, rows: usize) -> Self {
        let now = Instant::now();
        let always = Prefix::of(text).map(Rule::Command);
        let size = Size { columns: 60, rows };
        Desk { question: Question::new("shell", command(text), always, LOOK, size, now), line: String::new(), now }
    }

    fn wait(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }

    /// Presses keys 50 ms apart; those that are not for the question go to the line.
    fn press(&mut self, keys: &[Key]) -> Option<Reply> {
        for key in keys {
            self.wait(50);
            match self.question.key(key.clone(), &self.line, self.now) {
                Heard::Answer(reply) => return Some(reply),
                Heard::Line(Key::Text(text)) => self.line.push_str(&text),
                Heard::Line(Key::Enter) => self.line.clear(),
                Heard::Line(_) | Heard::Taken => {}
            }
        }
        None
    }

    fn screen(&self) -> String {
        self.question.lines(&self.line, LOOK, self.now).join("\n")
    }
}

fn text(letters: &str) -> Vec<Key> {
    letters.chars().map(|letter| Key::Text(letter.to_string())).collect()
}

#[test]
fn an_answer_is_chosen_and_confirmed() {
    let rule = Rule::Command(Prefix::of("git diff").unwrap());
    for (letter, reply) in [("y", Reply::Once), ("a", Reply::Always(rule)), ("n", Reply::No(None))] {
        let mut desk = Desk::new("git diff", 24);
        desk.wait(1000);
        assert_eq!(desk.press(&text(letter)), None, "not without Enter");
        assert_eq!(desk.press(&[Key::Enter]), Some(reply));
    }
}

#[test]
fn a_reason_goes_with_a_no() {
    let mut desk = Desk::new("rm x", 24);
    desk.wait(1000);
    assert_eq!(desk.press(&[text("b"), vec![Key::Enter], text("use git!"), vec![Key::Back]].concat()), None);
    assert_eq!(desk.press(&[Key::Enter]), Some(Reply::No(Some("use git".to_owned()))));
}

#[test]
fn what_is_typed_ahead_is_no_answer() {
    // Typed without a pause since before the question, including Enter.
    let mut desk = Desk::new("rm x", 24);
    assert_eq!(desk.press(&text("y")), None);
    assert_eq!(desk.press(&[Key::Enter]), None);
    assert_eq!(desk.press(&[text("a"), vec![Key::Enter]].concat()), None);
    // Continuing an unfinished line, after any pause.
    let mut desk = Desk::new("rm x", 24);
    desk.line = "yard".to_owned();
    desk.wait(5000);
    assert_eq!(desk.press(&text("y")), None);
    assert_eq!(desk.line, "yardy");
    // A word that begins like an answer.
    let mut desk = Desk::new("rm x", 24);
    desk.wait(1000);
    assert_eq!(desk.press(&[text("yes please"), vec![Key::Enter]].concat()), None);
    let mut desk = Desk::new("rm x", 24);
    desk.wait(1000);
    assert_eq!(desk.press(&text("yard")), None);
    assert_eq!(desk.line, "yard");
    // A pasted text.
    let mut desk = Desk::new("rm x", 24);
    desk.wait(1000);
    assert_eq!(desk.press(&[Key::Text("y\n".to_owned()), Key::Enter]), None);
}

#[test]
fn a_line_stays_while_the_question_is_answered() {
    let mut desk = Desk::new("ls src", 24);
    desk.line = "and then".to_owned();
    desk.wait(1000);
    assert_eq!(desk.press(&[Key::Tab, Key::Text("y".to_owned()), Key::Enter]), Some(Reply::Once));
    assert_eq!(desk.line, "and then");
}

#[test]
fn nothing_is_allowed_before_its_end_was_shown() {
    let long: String = (1..=40).map(|line| format!("echo {line}\n")).collect::<String>() + "rm -r /";
    let mut desk = Desk::new(&long, 20);
    desk.wait(1000);
    assert_eq!(desk.press(&[text("y"), vec![Key::Enter], text("a"), vec![Key::Enter]].concat()), None);
    assert_snapshot!(desk.screen());
    assert_eq!(desk.press(&[text("  "), text("y"), vec![Key::Enter]].concat()), None, "one page is missing");
    desk.wait(1000);
    assert_eq!(desk.press(&[text(" "), text("y"), vec![Key::Enter]].concat()), Some(Reply::Once));
    // Denying requires no reading.
    let mut desk = Desk::new(&long, 20);
    desk.wait(1000);
    assert_eq!(desk.press(&[text("n"), vec![Key::Enter]].concat()), Some(Reply::No(None)));
    // Another size means another layout, which has to be read again.
    let mut desk = Desk::new(&long, 20);
    desk.wait(1000);
    desk.press(&text("   "));
    desk.question.resize(LOOK, Size { columns: 60, rows: 19 });
    assert_eq!(desk.press(&[text("y"), vec![Key::Enter]].concat()), None);
}

#[test]
fn the_keys_that_count_are_told() {
    let padded = format!("git status{}; touch HIDDEN", " ".repeat(300));
    let mut desk = Desk::new(&padded, 24);
    assert_snapshot!("just_put", desk.screen());
    desk.line = "typed".to_owned();
    assert_snapshot!("with_a_line", desk.screen());
    desk.line.clear();
    desk.wait(1000);
    assert_snapshot!("no_always_for_two_commands", desk.screen());
    let mut desk = Desk::new("git diff src", 24);
    desk.wait(1000);
    assert_snapshot!("with_an_always", desk.screen());
    desk.press(&text("a"));
    assert_snapshot!("to_be_confirmed", desk.screen());
}
