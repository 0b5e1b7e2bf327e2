//! The line that says that something is going on.

use std::time::Duration;

use super::look::{DIM, Look};
use super::notice;
use super::text::{shorten, width};

/// How often the line should be drawn.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

const SIGNS: &[&str] = &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const ASCII: &[&str] = &["|", "/", "-", "\\"];

/// Nothing has arrived yet.
pub(crate) fn waiting(model: &str, elapsed: Duration, look: Look) -> String {
    busy(&format!("Waiting for {model}"), elapsed, look)
}

/// Something takes a while.
pub(crate) fn busy(what: &str, elapsed: Duration, look: Look) -> String {
    line(what, &[notice::duration(elapsed), "Ctrl-C stops".to_owned()], elapsed, look)
}

/// The model thinks: how long already, how many tokens, and the first heading in what it thinks.
pub(crate) fn thinking(text: &str, tokens: Option<u64>, elapsed: Duration, look: Look) -> String {
    let what = format!("Thinking{} {}", look.sign("…", "..."), notice::duration(elapsed));
    let tokens = tokens.map(notice::tokens);
    let more: Vec<String> = tokens.into_iter().chain(heading(text).map(str::to_owned)).collect();
    line(&what, &more, elapsed, look)
}

/// The first text between two pairs of stars.
fn heading(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("**")?;
    let (heading, _) = rest.split_once("**")?;
    let heading = heading.trim();
    (!heading.is_empty()).then_some(heading)
}

fn line(what: &str, more: &[String], elapsed: Duration, look: Look) -> String {
    let sign = sign(elapsed, look);
    let dot = look.sign("·", "-");
    let mut text = what.to_owned();
    for part in more {
        text.push_str(&format!(" {dot} {part}"));
    }
    let text = shorten(&text, look.width.saturating_sub(width(sign) + 1), look);
    format!("{sign} {}", look.paint(DIM, &text))
}

fn sign(elapsed: Duration, look: Look) -> &'static str {
    if !look.motion {
        return look.sign("•", "*");
    }
    let signs = if look.unicode { SIGNS } else { ASCII };
    let tick = usize::try_from(elapsed.as_millis() / INTERVAL.as_millis()).unwrap_or(0);
    signs.get(tick % signs.len()).copied().unwrap_or("*")
}

#[cfg(test)]
#[path = "spinner_tests.rs"]
mod tests;
