//! All output of the program goes through here, and every write is checked.
//!
//! `println!` panics when the reader closes the pipe; these methods return a [`Failure`] that ends the program quietly.

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
/// Names that people can type.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
/// Less important text.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Errors.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Warnings.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Things that work.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// Standard output and standard error.
#[derive(Debug)]
pub(crate) struct Out {
    // No stream handles are kept: stdout has one buffer for all its handles, so text and data stay in order.
    /// Whether standard output is a terminal, which would obey control characters in data.
    to_terminal: bool,
}

impl Out {
    /// Creates the program's output. `color` is the value of `--color`.
    pub(crate) fn new(color: Color) -> Self {
        match color {
            // NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM=dumb and "is it a terminal" are left to anstream.
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
        .write_global();
        Out { to_terminal: std::io::stdout().is_terminal() }
    }

    /// Writes text that may contain colours; they are removed if none are wanted.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        let text = clean_styled(text);
        let written = match is_without_colours(&std::io::stdout()) {
            true => std::io::stdout().write_all(without_colours(&text).as_bytes()),
            false => AutoStream::auto(std::io::stdout()).write_all(text.as_bytes()),
        };
        written.map_err(|error| Failure::writing(&error))
    }

    /// Writes data unchanged, except that control characters are removed on a terminal.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = match self.to_terminal {
            true => std::io::stdout().write_all(clean(&String::from_utf8_lossy(bytes)).as_bytes()),
            false => std::io::stdout().write_all(bytes),
        };
        written.map_err(|error| Failure::writing(&error))
    }

    /// Writes a value as indented JSON, and a line break.
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

    /// Writes a value as JSON, without a line break.
    pub(crate) fn json_inline(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.data(&serde_json::to_vec(value).map_err(unprintable)?)
    }

    /// Sends everything written so far to the reader.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        std::io::stdout().flush().map_err(|error| Failure::writing(&error))
    }

    /// Writes to standard error. Failures are ignored, because there is no other place to report them.
    pub(crate) fn note(&mut self, text: &str) {
        let text = clean_styled(text);
        let _ = match is_without_colours(&std::io::stderr()) {
            true => std::io::stderr().write_all(without_colours(&text).as_bytes()),
            false => AutoStream::auto(std::io::stderr()).write_all(text.as_bytes()),
        };
    }

    /// Writes a warning to standard error.
    pub(crate) fn warning(&mut self, text: &str) {
        self.note(&format!("{WARNING}warning:{WARNING:#} {}\n", clean(text)));
    }

    /// Writes what a translation could not carry to standard error.
    pub(crate) fn loss(&mut self, loss: &Loss) {
        let style = match loss.severity {
            Severity::Info => DIM,
            _ => WARNING,
        };
        let (word, text) = flow::told(loss);
        self.note(&format!("{style}{word}{style:#} {}\n", clean(&text)));
    }

    /// Writes why the program ends to standard error; nothing if the reader is gone or after Ctrl-C.
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

    /// Returns how wide a table may be: `COLUMNS`, or else the terminal's width; unlimited in a pipe.
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

/// Whether this is a terminal that shows bold type and underlines but should show no colours. `NO_COLOR` requests that;
/// `--color never` requests plain text.
pub(crate) fn is_without_colours(stream: &impl std::io::IsTerminal) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    is_set("NO_COLOR") && ColorChoice::global() == ColorChoice::Auto && !is_dumb && stream.is_terminal()
}

/// Removes the colours from a text; other styles stay.
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
                // A colour of the palette, or one given by its components.
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
    /// Returns the choice on the command line, before that is parsed: help and usage errors follow it too.
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
                // A missing or invalid value is reported by the parser.
                Some(_) | None => choice,
            };
        }
        choice
    }
}

/// Formats JSON with one line per value. Numbers and strings stay as written: some of it is raw text, which serde_json
/// would print on one line.
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
