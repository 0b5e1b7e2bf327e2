//! The picker: a list that is narrowed by typing, with details about the marked row.

use std::io::Stdout;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::keys::{Key, Keys, Typing};
use super::session::Session;
use super::{Talk, size};
use crate::exit::Failure;
use crate::screen::{Live, Look, Region, Size, clean, notice, shorten, width};

/// The maximum number of rows shown.
const MOST: usize = 15;
/// The lines that are not rows: the question, the detail, the keys.
const OTHERS: usize = 8;
/// The maximum number of lines about the marked row.
const DETAIL: usize = 4;

/// One item of the list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    /// What is shown, by column.
    pub(crate) columns: Vec<String>,
    /// What is searched.
    pub(crate) words: String,
    /// Whether it is dimmed and comes after the others.
    pub(crate) is_dim: bool,
}

/// The list, with its filter and mark.
#[derive(Debug)]
pub(crate) struct Picker {
    title: &'static str,
    choices: Vec<Choice>,
    query: String,
    /// The indexes of the choices that match the query, best first.
    fitting: Vec<usize>,
    /// The index of the marked choice among these, and of the first one on the screen.
    marked: usize,
    top: usize,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picked {
    pub(crate) place: usize,
    /// What was typed.
    pub(crate) query: String,
}

impl Picker {
    /// Creates a picker whose choices are in this order while nothing is typed.
    pub(crate) fn new(title: &'static str, choices: Vec<Choice>, query: &str) -> Self {
        let mut picker = Picker { title, choices, query: query.to_owned(), fitting: Vec::new(), marked: 0, top: 0 };
        picker.narrow();
        picker
    }

    /// Returns the index of the marked choice.
    pub(crate) fn marked(&self) -> Option<usize> {
        self.fitting.get(self.marked).copied()
    }

    fn narrow(&mut self) {
        let mut matcher = Matcher::new(Config::DEFAULT);
        let (wanted, _) = crate::names::with_level(&self.query);
        let pattern = Pattern::parse(wanted, CaseMatching::Ignore, Normalization::Smart);
        let mut buffer = Vec::new();
        let mut scored: Vec<(bool, u32, usize)> = Vec::new();
        for (place, choice) in self.choices.iter().enumerate() {
            if let Some(score) = pattern.score(Utf32Str::new(&choice.words, &mut buffer), &mut matcher) {
                scored.push((choice.is_dim, score, place));
            }
        }
        // Letters scattered over a name are hardly meant if other names match much better.
        let best = scored.iter().map(|(_, score, _)| *score).max().unwrap_or(0);
        scored.retain(|(_, score, _)| score * 2 >= best);
        // Equally good matches keep their order.
        scored.sort_by_key(|(is_dim, score, place)| (*is_dim, std::cmp::Reverse(*score), *place));
        self.fitting = scored.into_iter().map(|(.., place)| place).collect();
        (self.marked, self.top) = (0, 0);
    }

    fn go(&mut self, to: usize, room: usize) {
        self.marked = to.min(self.fitting.len().saturating_sub(1));
        self.top = self.top.clamp((self.marked + 1).saturating_sub(room), self.marked);
    }

    /// Handles a key. Returns the outcome once there is one: the choice, or `None` if cancelled.
    fn key(&mut self, key: &Key, room: usize) -> Option<Option<Picked>> {
        match key {
            Key::Text(text) => {
                self.query.push_str(&text.replace(char::is_control, ""));
                self.narrow();
            }
            Key::Back => {
                self.query.pop();
                self.narrow();
            }
            Key::Clear => {
                self.query.clear();
                self.narrow();
            }
            Key::Up => self.go(self.marked.saturating_sub(1), room),
            Key::Down | Key::Tab => self.go(self.marked + 1, room),
            Key::PageUp => self.go(self.marked.saturating_sub(room), room),
            Key::PageDown => self.go(self.marked + room, room),
            Key::Enter => {
                let place = self.marked()?;
                return Some(Some(Picked { place, query: self.query.clone() }));
            }
            Key::Stop => return Some(None),
            Key::Suspend | Key::Thinking | Key::Resized(_) => {}
        }
        None
    }

    /// Returns all lines.
    fn lines(&self, detail: &[String], room: usize, look: Look) -> Vec<String> {
        let sign = if look.unicode { "›" } else { ">" };
        let count =
            format!("{} of {}", notice::count(self.fitting.len() as u64), notice::count(self.choices.len() as u64));
        let mut lines = vec![format!("{} {sign} {}▏  {}", self.title, clean(&self.query), dim(&count, look))];
        let shown = || self.fitting.iter().enumerate().skip(self.top).take(room);
        let rows: Vec<(usize, &Choice, Vec<String>)> = shown()
            .filter_map(|(place, choice)| {
                let choice = self.choices.get(*choice)?;
                let cells = choice.columns.iter().map(|cell| shorten(cell, look.width / 2, look)).collect();
                Some((place, choice, cells))
            })
            .collect();
        for (place, choice, cells) in &rows {
            let mut text = String::new();
            for (column, cell) in cells.iter().enumerate() {
                let others = rows.iter().filter_map(|(_, _, cells)| cells.get(column));
                let wide = others.map(|cell| width(cell)).max().unwrap_or(0);
                text.push_str(cell);
                text.push_str(&" ".repeat(wide.saturating_sub(width(cell)) + 2));
            }
            let text = shorten(text.trim_end(), look.width.saturating_sub(2), look);
            let mark = if look.unicode { "❯" } else { ">" };
            lines.push(match *place == self.marked {
                true => format!("{mark} {}", strong(&text, look)),
                false if choice.is_dim => format!("  {}", dim(&text, look)),
                false => format!("  {text}"),
            });
        }
        if self.fitting.is_empty() {
            lines.push(dim("  no matches", look));
        }
        for line in detail.iter().take(DETAIL) {
            lines.push(match line.strip_prefix('⚠') {
                Some(warning) => notice::warning(warning, look).trim_end().to_owned(),
                None => dim(&shorten(&format!("  {line}"), look.width, look), look),
            });
        }
        lines.push(dim("  Enter chooses · Up and Down move · Esc cancels", look));
        lines.iter().flat_map(|line| line.lines()).map(str::to_owned).collect()
    }
}

impl Talk {
    /// Lets the user choose; `None` if they cancel. `detail` returns the lines about the marked choice.
    pub(super) async fn pick(
        &mut self,
        picker: Picker,
        detail: impl FnMut(&Session, usize, &str) -> Vec<String>,
    ) -> Result<Option<Picked>, Failure> {
        let mut detail = detail;
        let session = &self.session;
        let (picked, late) = pick(picker, self.look, size(), |place, query| detail(session, place, query)).await?;
        self.typed_meanwhile(late);
        Ok(picked)
    }

    /// Keeps what was typed while something else was on the screen for the prompt.
    pub(super) fn typed_meanwhile(&mut self, keys: Vec<Key>) {
        let Typing { lines, typed } = Typing::of(keys);
        self.queued.extend(lines);
        self.session.prefill = (!typed.is_empty()).then_some(typed).or(self.session.prefill.take());
    }
}

fn dim(text: &str, look: Look) -> String {
    super::painted(look, anstyle::Style::new().dimmed(), text)
}

fn strong(text: &str, look: Look) -> String {
    super::painted(look, anstyle::Style::new().bold(), text)
}

/// Lets the user choose; `None` if they cancel. `detail` returns the lines about the marked choice. Also returns the keys
/// that were pressed after the choice.
async fn pick(
    mut picker: Picker,
    look: Look,
    size: Size,
    mut detail: impl FnMut(usize, &str) -> Vec<String>,
) -> Result<(Option<Picked>, Vec<Key>), Failure> {
    let mut keys = Keys::open(Region::Live)?;
    let mut live: Live<Stdout> = Live::new(std::io::stdout(), size, Region::Live);
    let (mut look, mut size) = (look, size);
    let outcome = loop {
        let room = size.rows.saturating_sub(OTHERS).clamp(1, MOST);
        let about = picker.marked().map(|place| detail(place, &picker.query)).unwrap_or_default();
        let drawn = live.draw("", &picker.lines(&about, room, look));
        drawn.map_err(|error| Failure::writing(&error))?;
        let key = keys.next().await;
        if let Key::Resized(new) = key {
            (look, size) = (look.with_width(new.columns), new);
            live.resize(new);
        }
        if let Some(outcome) = picker.key(&key, room) {
            break outcome;
        }
    };
    live.clear().map_err(|error| Failure::writing(&error))?;
    Ok((outcome, keys.close()))
}

#[cfg(test)]
#[path = "picker_tests.rs"]
mod tests;
