//! Everything that the program says goes through here, and every write is checked.
//!
//! `println!` panics when the reader closes the pipe; these return a [`Failure`] that ends the program quietly.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use ikigai_core::{Loss, Severity};
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::flow;
use crate::screen::{clean, clean_styled};

/// Headings, in help and in tables.
pub(crate) const HEADING: Style = Style::new().bold();
/// Names that a person may type.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What is broken.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// What deserves a look.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// What works.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// Standard output and standard error.
#[derive(Debug)]
pub(crate) struct Out {
    // Not instances of a stream: stdout keeps one buffer for all its handles, so text and data stay in order.
    /// Whether standard output is a terminal, which would obey what is in the data.
    to_terminal: bool,
}

impl Out {
    /// The program's output. `color` is the word after `--color`.
    pub(crate) fn new(color: Color) -> Self {
        match color {
            // NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM=dumb and "is it a terminal" are anstream's to weigh.
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
        .write_global();
        Out { to_terminal: std::io::stdout().is_terminal() }
    }

    /// Writes text that may hold colours; they are left out where none are wanted.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        let text = clean_styled(text);
        let written = match is_without_colours(&std::io::stdout()) {
            true => std::io::stdout().write_all(without_colours(&text).as_bytes()),
            false => AutoStream::auto(std::io::stdout()).write_all(text.as_bytes()),
        };
        written.map_err(|error| Failure::writing(&error))
    }

    /// Writes data as it is; on a terminal without anything that it would obey.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = match self.to_terminal {
            true => std::io::stdout().write_all(clean(&String::from_utf8_lossy(bytes)).as_bytes()),
            false => std::io::stdout().write_all(bytes),
        };
        written.map_err(|error| Failure::writing(&error))
    }

    /// Writes a value as JSON for people, and a line end.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut text = indented(&serde_json::to_string(value).map_err(unprintable)?);
        text.push('\n');
        self.data(text.as_bytes())
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(value).map_err(unprintable)?;
        text.push(b'\n');
        self.data(&text)
    }

    /// Writes a value as JSON, without a line end.
    pub(crate) fn json_inline(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.data(&serde_json::to_vec(value).map_err(unprintable)?)
    }

    /// Hands everything written so far to the reader.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        std::io::stdout().flush().map_err(|error| Failure::writing(&error))
    }

    /// Says something on standard error. Where that is gone, there is nobody left to tell.
    pub(crate) fn note(&mut self, text: &str) {
        let text = clean_styled(text);
        let _ = match is_without_colours(&std::io::stderr()) {
            true => std::io::stderr().write_all(without_colours(&text).as_bytes()),
            false => AutoStream::auto(std::io::stderr()).write_all(text.as_bytes()),
        };
    }

    /// A warning on standard error.
    pub(crate) fn warning(&mut self, text: &str) {
        self.note(&format!("{WARNING}warning:{WARNING:#} {}\n", clean(text)));
    }

    /// What a translation could not carry, on standard error.
    pub(crate) fn loss(&mut self, loss: &Loss) {
        let style = match loss.severity {
            Severity::Info => DIM,
            _ => WARNING,
        };
        let (word, text) = flow::told(loss);
        self.note(&format!("{style}{word}{style:#} {}\n", clean(&text)));
    }

    /// Says why the program ends, on standard error; nothing for a reader that went away or Ctrl-C.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        if matches!(failure.exit, Exit::ClosedPipe | Exit::Interrupted) {
            return;
        }
        let mut text = format!("{ERROR}error:{ERROR:#} {}\n", clean(&failure.what));
        if let Some(hint) = &failure.hint {
            text.push_str(&format!("  {}\n", clean(hint)));
        }
        if failure.exit == Exit::Usage {
            text.push_str("\nFor more information, try --help.\n");
        }
        self.note(&text);
    }

    /// How many columns a table may take: what `COLUMNS` says, else the terminal's width; without limit in a pipe.
    pub(crate) fn width(&self) -> Option<usize> {
        if let Some(columns) = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()) {
            return Some(columns);
        }
        if !self.to_terminal {
            return None;
        }
        terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
    }
}

/// Is this a terminal that shows bold type and underlines, but is to show no colours? `NO_COLOR` asks for that; `--color never`
/// asks for plain text.
pub(crate) fn is_without_colours(stream: &impl std::io::IsTerminal) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    is_set("NO_COLOR") && ColorChoice::global() == ColorChoice::Auto && !is_dumb && stream.is_terminal()
}

/// A text without its colours; other styles stay.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        let (codes, after) = after.split_once('m').unwrap_or((after, ""));
        let mut kept = Vec::new();
        let mut codes = codes.split(';');
        while let Some(code) = codes.next() {
            match code.parse::<u8>() {
                // A colour of the palette, or one by its parts.
                Ok(38 | 48 | 58) => {
                    let parts = if codes.next() == Some("2") { 3 } else { 1 };
                    codes.by_ref().take(parts).for_each(drop);
                }
                Ok(30..=49 | 59 | 90..=107) => {}
                _ => kept.push(code),
            }
        }
        if !kept.is_empty() {
            plain.push_str(&format!("\x1b[{}m", kept.join(";")));
        }
        rest = after;
    }
    plain + rest
}

fn unprintable(error: serde_json::Error) -> Failure {
    Failure::new(format!("cannot print the result as JSON: {error}"))
}

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that supports them, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always, also into a file or a pipe
    Always,
    /// Never
    Never,
}

impl Color {
    /// The choice on the command line, before that is parsed: help and usage errors follow it too.
    pub(crate) fn from_arguments(arguments: &[OsString]) -> Self {
        let mut arguments = arguments.iter().map(OsString::as_os_str).take_while(|word| *word != OsStr::new("--"));
        let mut choice = Color::Auto;
        while let Some(word) = arguments.next() {
            let word = match word.to_str() {
                Some("--color") => arguments.next().and_then(OsStr::to_str),
                Some(word) => word.strip_prefix("--color="),
                None => None,
            };
            choice = match word {
                Some("always") => Color::Always,
                Some("never") => Color::Never,
                Some("auto") => Color::Auto,
                // No word or a wrong one: the parser will say so.
                Some(_) | None => choice,
            };
        }
        choice
    }
}

/// JSON text with a line for each value. Its numbers and strings stay as they are written: some of it is raw text, which
/// serde_json would print on one line.
fn indented(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut rest = json.chars().peekable();
    let line = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(c) = rest.next() {
        if quoted {
            text.push(c);
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                quoted = true;
                text.push(c);
            }
            '{' | '[' => {
                text.push(c);
                while rest.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                match rest.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => text.push(end),
                    None => {
                        depth += 1;
                        line(&mut text, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut text, depth);
                text.push(c);
            }
            ',' => {
                text.push(c);
                line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_choice_is_found_before_parsing() {
        let choice = |words: &[&str]| Color::from_arguments(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(choice(&["ikigai", "models"]), Color::Auto);
        assert_eq!(choice(&["ikigai", "--color", "never", "models"]), Color::Never);
        assert_eq!(choice(&["ikigai", "models", "--color=always"]), Color::Always);
        assert_eq!(choice(&["ikigai", "--color=always", "--color", "auto"]), Color::Auto);
        assert_eq!(choice(&["ikigai", "--color"]), Color::Auto);
        assert_eq!(choice(&["ikigai", "--color=pink"]), Color::Auto);
        assert_eq!(choice(&["ikigai", "--", "--color=never"]), Color::Auto);
    }

    #[test]
    fn colours_go_and_other_styles_stay() {
        let text = "\x1b[1m\x1b[36ma\x1b[0m \x1b[1;38;5;7;4mb\x1b[38;2;1;2;3mc\x1b[97;49md\x1b[0m";
        assert_eq!(super::without_colours(text), "\x1b[1ma\x1b[0m \x1b[1;4mbcd\x1b[0m");
    }

    #[test]
    fn raw_json_is_indented_as_serde_json_would_and_keeps_its_digits() {
        for value in [
            serde_json::json!({"a": [1, {"b": "x, {y}: \\\""}, [], {}], "": null, "c": {"d": true}}),
            serde_json::json!([]),
            serde_json::json!("a\\"),
            serde_json::json!(5),
        ] {
            assert_eq!(super::indented(&value.to_string()), serde_json::to_string_pretty(&value).unwrap());
        }
        assert_eq!(super::indented(r#"{"n" : 1e400, "n":1.10}"#), "{\n  \"n\": 1e400,\n  \"n\": 1.10\n}");
    }
}
