//! Pasting at the prompt: a long text is folded into a placeholder, a dropped file becomes an attachment.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crossterm::event::Event;
use reedline::{EditCommand, EditMode, PromptEditMode, ReedlineEvent, ReedlineRawEvent};

use super::dropped;
use crate::screen::notice;

/// More lines or characters than these are folded.
const MOST_LINES: usize = 8;
const MOST_CHARACTERS: usize = 2000;
/// What the line editor returns when handling a key needs the line itself.
pub(super) const ERASE: &str = "\u{8}";
pub(super) const ERASE_WORD: &str = "\u{17}";
pub(super) const UNFOLD: &str = "\u{7}";
pub(super) const DROP: char = '\u{11}';

/// The texts that were folded in this session.
#[derive(Debug, Clone, Default)]
pub(super) struct Pasted(Arc<Mutex<Folds>>);

#[derive(Debug, Default)]
struct Folds {
    /// Each placeholder on the line, and the text it represents.
    all: Vec<(String, String)>,
    /// Whether one of them is on the line that is being typed.
    on_line: bool,
}

impl Pasted {
    fn with<T>(&self, look: impl FnOnce(&mut Folds) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the placeholder for a long text. `None` if the text is short enough to be shown.
    fn fold(&self, text: &str) -> Option<String> {
        let (lines, characters) = (text.lines().count(), text.chars().count());
        let what = match (lines > MOST_LINES, characters > MOST_CHARACTERS) {
            (true, _) => notice::several(lines as u64, "line"),
            (false, true) => notice::several(characters as u64, "character"),
            (false, false) => return None,
        };
        self.with(|folds| {
            folds.on_line = true;
            if let Some((mark, _)) = folds.all.iter().find(|(_, known)| known == text) {
                return Some(mark.clone());
            }
            let is_new = |mark: &String| !folds.all.iter().any(|(known, _)| known == mark);
            let numbered = (2..).map(|number| format!("[pasted {what}, {number}]"));
            let mark = std::iter::once(format!("[pasted {what}]")).chain(numbered).find(is_new)?;
            folds.all.push((mark.clone(), text.to_owned()));
            Some(mark)
        })
    }

    /// Returns the line with every placeholder replaced by its text.
    pub(super) fn unfolded(&self, line: &str) -> String {
        self.with(|folds| folds.all.iter().fold(line.to_owned(), |line, (mark, text)| line.replace(mark, text)))
    }

    /// Returns the line with earlier pastes folded again.
    pub(super) fn folded(&self, line: &str) -> String {
        self.with(|folds| folds.all.iter().fold(line.to_owned(), |line, (mark, text)| line.replace(text, mark)))
    }

    /// Notes that a new line starts with this text on it.
    pub(super) fn begin(&self, line: &str) {
        self.with(|folds| folds.on_line = folds.all.iter().any(|(mark, _)| line.contains(mark)));
    }

    /// Returns the length in bytes of the placeholder at the end of this text.
    pub(super) fn ends_with_fold(&self, before: &str) -> Option<usize> {
        self.with(|folds| folds.all.iter().find(|(mark, _)| before.ends_with(mark)).map(|(mark, _)| mark.len()))
    }

    fn is_on_line(&self) -> bool {
        self.with(|folds| folds.on_line)
    }
}

/// The line editor's keys, and pasting.
pub(super) struct Pasting {
    pub(super) keys: Box<dyn EditMode>,
    pub(super) pasted: Pasted,
    /// The working folder.
    pub(super) folder: PathBuf,
}

impl EditMode for Pasting {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = match Event::from(event) {
            Event::Paste(text) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                if let Some(mentions) = dropped::mentions(&text, &self.folder) {
                    return ReedlineEvent::ExecuteHostCommand(format!("{DROP}{mentions}{DROP}{text}"));
                }
                return ReedlineEvent::Edit(vec![EditCommand::InsertString(self.pasted.fold(&text).unwrap_or(text))]);
            }
            event => event,
        };
        let Ok(event) = ReedlineRawEvent::try_from(event) else { return ReedlineEvent::None };
        let event = self.keys.parse_event(event);
        self.switch_mode(&event);
        if !self.pasted.is_on_line() {
            return event;
        }
        let host = |line: &str| ReedlineEvent::ExecuteHostCommand(line.to_owned());
        match &event {
            ReedlineEvent::OpenEditor => host(UNFOLD),
            ReedlineEvent::Edit(edits) => match edits.as_slice() {
                [EditCommand::Backspace] => host(ERASE),
                [EditCommand::CutWordLeft | EditCommand::BackspaceWord] => host(ERASE_WORD),
                _ => event,
            },
            _ => event,
        }
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.keys.edit_mode()
    }
}

impl Pasting {
    /// Lets the keys switch their mode. The line editor would ask them to, but its call cannot be forwarded, because
    /// reedline keeps the type of its result private.
    fn switch_mode(&mut self, event: &ReedlineEvent) {
        match event {
            ReedlineEvent::SwitchMode(_) => {
                let _ = self.keys.handle_mode_specific_event(event.clone());
            }
            ReedlineEvent::Multiple(events) => events.iter().for_each(|event| self.switch_mode(event)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use reedline::Emacs;

    use super::*;

    fn paste(pasting: &mut Pasting, text: &str) -> ReedlineEvent {
        pasting.parse_event(ReedlineRawEvent::try_from(Event::Paste(text.to_owned())).unwrap())
    }

    fn insert(text: &str) -> ReedlineEvent {
        ReedlineEvent::Edit(vec![EditCommand::InsertString(text.to_owned())])
    }

    #[test]
    fn a_long_paste_is_one_word_that_stands_for_all_of_it() {
        let pasted = Pasted::default();
        let keys = Box::new(Emacs::default());
        let mut pasting = Pasting { keys, pasted: pasted.clone(), folder: PathBuf::from("/") };
        assert_eq!(paste(&mut pasting, "a\r\nb\rc"), insert("a\nb\nc"));
        assert!(!pasted.is_on_line());
        let (one, two) = ("1\n".repeat(120), "2\n".repeat(120));
        assert_eq!(paste(&mut pasting, &one), insert("[pasted 120 lines]"));
        assert_eq!(paste(&mut pasting, &two), insert("[pasted 120 lines, 2]"));
        assert_eq!(paste(&mut pasting, &one), insert("[pasted 120 lines]"), "the same again");
        assert_eq!(paste(&mut pasting, &"x".repeat(2001)), insert("[pasted 2,001 characters]"));
        let line = "compare [pasted 120 lines] with [pasted 120 lines, 2], not [pasted 9 lines]";
        let whole = format!("compare {one} with {two}, not [pasted 9 lines]");
        assert_eq!((pasted.unfolded(line), pasted.folded(&whole)), (whole.clone(), line.to_owned()));
        assert_eq!(pasted.ends_with_fold("x [pasted 120 lines, 2]"), Some(21));
        assert_eq!(pasted.ends_with_fold("x [pasted 9 lines]"), None);
        pasted.begin("nothing");
        assert!(!pasted.is_on_line());
        pasted.begin(line);
        assert!(pasted.is_on_line());
    }
}
