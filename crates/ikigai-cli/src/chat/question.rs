//! A tool call that waits for the user's approval: how it is shown, and which keys count.
//!
//! Nobody approves by accident. Keys count only after a quiet moment and with an empty line, so that text typed ahead is
//! not an answer; a choice is confirmed with Enter; and nothing can be allowed before all of it was on the screen.

use std::time::{Duration, Instant};

use super::keys::Key;
use crate::screen::{Content, Look, Sheet, Size, clean};
use crate::tools::{Described, Rule};

/// How long the keyboard must be quiet before a key counts as an answer.
const QUIET: Duration = Duration::from_millis(700);
/// Lines of the screen that are not for the text: the frame, the keys, the line being typed, the row that stays empty.
const OTHERS: usize = 7;

/// The user's decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Allowed this time.
    Once,
    /// Allowed now and from now on.
    Always(Rule),
    /// Denied, perhaps with a reason.
    No(Option<String>),
}

/// The effect of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It changed the question.
    Taken,
    /// It answered the question.
    Answer(Reply),
    /// It belongs to the line that is being typed.
    Line(Key),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Once,
    Always,
    No,
    Because,
}

/// A call that waits for the user's decision.
#[derive(Debug)]
pub(crate) struct Question {
    told: Described,
    name: String,
    always: Option<Rule>,
    sheet: Sheet,
    /// The first row on the screen, how many rows fit, and how many were shown without a gap.
    top: usize,
    room: usize,
    seen: usize,
    /// When a key was last pressed, or when the question was asked.
    since: Instant,
    /// Whether keys count as answers.
    heard: bool,
    chosen: Option<Choice>,
    reason: Option<String>,
}

impl Question {
    pub(crate) fn new(name: &str, told: Described, always: Option<Rule>, look: Look, size: Size, now: Instant) -> Self {
        let sheet = Sheet::new(name, &told.warnings, &told.content, look);
        let (name, since) = (name.to_owned(), now);
        let mut question = Question {
            told,
            name,
            always,
            sheet,
            top: 0,
            room: 0,
            seen: 0,
            since,
            heard: false,
            chosen: None,
            reason: None,
        };
        question.lay_out(size);
        question
    }

    /// Lays everything out anew for another terminal size; it has to be read again.
    pub(crate) fn resize(&mut self, look: Look, size: Size) {
        self.sheet = Sheet::new(&self.name, &self.told.warnings, &self.told.content, look);
        self.chosen = None;
        self.lay_out(size);
    }

    fn lay_out(&mut self, size: Size) {
        self.room = size.rows.saturating_sub(OTHERS).max(1);
        self.top = 0;
        self.seen = self.room.min(self.sheet.len());
    }

    pub(crate) fn told(&self) -> &Described {
        &self.told
    }

    /// Returns what stays on the screen below the line, unless the line shows everything.
    pub(crate) fn kept(&self, look: Look) -> String {
        match &self.told.content {
            Content::Text(text) if self.told.line.ends_with(text.as_str()) => String::new(),
            Content::Text(_) | Content::Diff { .. } => self.sheet.kept(look),
        }
    }

    /// Handles a key. `line` is the line that is being typed.
    pub(crate) fn key(&mut self, key: Key, line: &str, now: Instant) -> Heard {
        let quiet = now.saturating_duration_since(self.since) >= QUIET;
        self.since = now;
        if self.reason.is_some() {
            return self.because(key);
        }
        if let Some(chosen) = self.chosen.take() {
            return self.confirm(chosen, key);
        }
        self.heard = self.heard || quiet && (line.is_empty() || key == Key::Tab);
        if !self.heard {
            return Heard::Line(key);
        }
        match key {
            Key::Text(text) => self.letter(text),
            Key::Down => self.turn_to(self.top + 1),
            Key::Up => self.turn_to(self.top.saturating_sub(1)),
            Key::PageDown => self.turn_to(self.top + self.room),
            Key::PageUp => self.turn_to(self.top.saturating_sub(self.room)),
            Key::Tab | Key::Enter => Heard::Taken,
            other => Heard::Line(other),
        }
    }

    fn letter(&mut self, text: String) -> Heard {
        let chosen = match text.as_str() {
            " " => return self.turn_to(self.top + self.room),
            "y" | "Y" if self.is_read() => Choice::Once,
            "a" | "A" if self.is_read() && self.always.is_some() => Choice::Always,
            "y" | "Y" | "a" | "A" => return Heard::Taken,
            "n" | "N" => Choice::No,
            "b" | "B" => Choice::Because,
            _ => {
                // Someone is typing, not answering.
                self.heard = false;
                return Heard::Line(Key::Text(text));
            }
        };
        self.chosen = Some(chosen);
        Heard::Taken
    }

    fn confirm(&mut self, chosen: Choice, key: Key) -> Heard {
        match key {
            Key::Enter => match (chosen, self.always.clone()) {
                (Choice::Once, _) => Heard::Answer(Reply::Once),
                (Choice::Always, Some(rule)) => Heard::Answer(Reply::Always(rule)),
                (Choice::Always, None) => Heard::Taken,
                (Choice::No, _) => Heard::Answer(Reply::No(None)),
                (Choice::Because, _) => {
                    self.reason = Some(String::new());
                    Heard::Taken
                }
            },
            // The letter was the beginning of a word.
            Key::Text(text) => {
                let first = match chosen {
                    Choice::Once => 'y',
                    Choice::Always => 'a',
                    Choice::No => 'n',
                    Choice::Because => 'b',
                };
                self.heard = false;
                Heard::Line(Key::Text(format!("{first}{text}")))
            }
            Key::Back | Key::Clear => Heard::Taken,
            other => {
                self.chosen = Some(chosen);
                Heard::Line(other)
            }
        }
    }

    fn because(&mut self, key: Key) -> Heard {
        let reason = self.reason.get_or_insert_default();
        match key {
            Key::Text(text) => reason.push_str(&text),
            Key::Back => drop(reason.pop()),
            Key::Clear => reason.clear(),
            Key::Enter => {
                let reason = reason.trim();
                return Heard::Answer(Reply::No((!reason.is_empty()).then(|| reason.to_owned())));
            }
            other => return Heard::Line(other),
        }
        Heard::Taken
    }

    fn turn_to(&mut self, top: usize) -> Heard {
        self.top = top.min(self.sheet.len().saturating_sub(self.room));
        // Only if nothing was skipped: a jump would leave a gap.
        if self.top <= self.seen {
            self.seen = self.seen.max((self.top + self.room).min(self.sheet.len()));
        }
        Heard::Taken
    }

    /// Whether all of it was on the screen.
    fn is_read(&self) -> bool {
        self.seen >= self.sheet.len()
    }

    /// Returns the frame with its page, and the keys that count.
    pub(crate) fn lines(&self, line: &str, look: Look, now: Instant) -> Vec<String> {
        let count = self.sheet.len();
        let note = match count > self.room {
            true => {
                let last = (self.top + self.room).min(count);
                let more = if self.is_read() { "" } else { " · Space shows more" };
                format!("lines {} to {last} of {count}{more}", self.top + 1)
            }
            false => String::new(),
        };
        let mut lines = self.sheet.page(self.top, self.room, &note, look);
        let words = self.words(line, now);
        lines.extend(
            crate::screen::wrap(&words, look.with_width(look.width.saturating_sub(2)))
                .iter()
                .map(|line| format!("  {line}")),
        );
        lines
    }

    /// Returns all of it, with the letters that answer it.
    pub(crate) fn whole(&self, look: Look) -> Vec<String> {
        self.lines("", look, self.since + QUIET)
    }

    /// Whether a reason is expected and not begun yet.
    pub(crate) fn wants_reason(&self) -> bool {
        self.reason.as_deref() == Some("")
    }

    fn words(&self, line: &str, now: Instant) -> String {
        if let Some(reason) = &self.reason {
            return format!("Why not? › {}▏\nEnter tells the model.", clean(reason));
        }
        match self.chosen {
            Some(Choice::Once) => return "Press Enter to allow it once, or Backspace.".to_owned(),
            Some(Choice::Always) => {
                let rule = self.always.as_ref().map(ToString::to_string).unwrap_or_default();
                return format!("Press Enter to always allow {rule} in this folder, or Backspace.");
            }
            Some(Choice::No) => return "Press Enter to decline, or Backspace.".to_owned(),
            Some(Choice::Because) => return "Press Enter to decline and say why, or Backspace.".to_owned(),
            None => {}
        }
        if !line.is_empty() && !self.heard {
            return "Your line first: Enter queues it, Ctrl-U clears it. Tab answers here.".to_owned();
        }
        if !self.heard && now.saturating_duration_since(self.since) < QUIET {
            return "Allow it?".to_owned();
        }
        let mut words = String::from("Allow it? ");
        if self.is_read() {
            words.push_str("[y] yes, once · ");
            if let Some(rule) = &self.always {
                words.push_str(&format!("[a] always {rule} in this folder · "));
            }
        }
        words.push_str("[n] no · [b] no, because …");
        words
    }
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
