//! The chat's short notices, and how it formats numbers.

use std::time::Duration;

use anstyle::Style;
use ikigai::ErrorKind;

use super::look::{DIM, GREEN, Look, RED, YELLOW};
use super::text::{Inline, Row, Span, fill, paint, shorten, width, wrap};
use crate::table::thousands;

/// A maximum number of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines(pub(crate) usize);

/// Formats an error: `✗ …` in red, with the hint below it.
pub(crate) fn error(what: &str, hint: Option<&str>, look: Look) -> String {
    let mut text = signed(look.sign("✗", "x"), RED, what, RED, look);
    for line in hint.unwrap_or_default().lines() {
        text.push_str(&hanging("  ", DIM, line, DIM, look));
    }
    text
}

/// Formats a warning: `⚠ …`.
pub(crate) fn warning(what: &str, look: Look) -> String {
    signed(look.sign("⚠", "!"), YELLOW, what, Style::new(), look)
}

/// Formats a success: `✓ …`, and more lines indented by two columns, where `⚠` at the start makes a line a warning.
pub(crate) fn success(what: &str, more: &[&str], look: Look) -> String {
    let mut text = signed(look.sign("✓", "+"), GREEN, what, Style::new(), look);
    for line in more {
        match line.strip_prefix('⚠') {
            Some(warning) => {
                text.push_str(&hanging(
                    &format!("  {} ", look.sign("⚠", "!")),
                    YELLOW,
                    warning.trim_start(),
                    Style::new(),
                    look,
                ));
            }
            None => text.push_str(&hanging("  ", DIM, line, Style::new(), look)),
        }
    }
    text
}

/// Formats minor information.
pub(crate) fn info(what: &str, look: Look) -> String {
    what.lines().map(|line| hanging("", DIM, line, DIM, look)).collect()
}

/// Returns the first lines of a text, indented by two columns and cut to the width, and how many more there are.
pub(crate) fn folded(text: &str, most: Lines, look: Look) -> String {
    let mut lines = text.trim_end().lines();
    let mut shown = String::new();
    for line in lines.by_ref().take(most.0) {
        let line = shorten(&line.replace('\t', "    "), look.width - 2, look);
        shown.push_str(format!("  {}", look.paint(DIM, &line)).trim_end());
        shown.push('\n');
    }
    shown.push_str(&more_lines(lines.count(), look));
    shown
}

/// Returns the first lines of a text, wrapped and indented by two columns, and how many more there are.
pub(crate) fn wrapped(text: &str, most: Lines, look: Look) -> String {
    let rows = wrap(text, look.with_width(look.width.saturating_sub(2)));
    let mut shown: String =
        rows.iter().take(most.0).map(|row| format!("{}\n", format!("  {row}").trim_end())).collect();
    shown.push_str(&more_lines(rows.len().saturating_sub(most.0), look));
    shown
}

/// Formats how many more lines there are: `  … 42 more lines`; empty if none.
pub(super) fn more_lines(count: usize, look: Look) -> String {
    let sign = look.sign("…", "...");
    let text = match count {
        0 => return String::new(),
        1 => format!("{sign} 1 more line"),
        many => format!("{sign} {} more lines", count_of(many)),
    };
    format!("  {}\n", look.paint(DIM, &text))
}

/// Formats a number with commas between the thousands.
pub(crate) fn count(number: u64) -> String {
    thousands(i64::try_from(number).unwrap_or(i64::MAX))
}

fn count_of(number: usize) -> String {
    count(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Formats a number of tokens: `1 token`, `1,234 tokens`.
pub(crate) fn tokens(number: u64) -> String {
    several(number, "token")
}

/// Formats a number of things: `1 message`, `12 messages`.
pub(crate) fn several(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Says in words why an attempt failed: `Rate limited (429)`.
pub(crate) fn failed_attempt(attempt: &ikigai::Attempt) -> String {
    let words = match attempt.kind {
        ErrorKind::RateLimit => "Rate limited",
        ErrorKind::Quota => "Out of quota",
        ErrorKind::Overloaded => "The provider is overloaded",
        ErrorKind::Timeout => "Timed out",
        ErrorKind::Network => "Connection lost",
        ErrorKind::Protocol => "The answer could not be read",
        ErrorKind::Server => "The provider failed",
        // These are not retried.
        ErrorKind::Auth
        | ErrorKind::Permission
        | ErrorKind::InvalidRequest
        | ErrorKind::NotFound
        | ErrorKind::ContextTooLong
        | ErrorKind::RequestTooLarge
        | ErrorKind::ContentFiltered
        | ErrorKind::Cancelled
        | ErrorKind::StepLimit
        | ErrorKind::Vetoed => "Failed",
        // Kinds that do not exist yet.
        _ => "Failed",
    };
    let status = attempt.status.map(|status| format!(" ({status})")).unwrap_or_default();
    format!("{words}{status}")
}

/// Formats a duration in whole units: `4 s`, `1 min 12 s`, `2 h 5 min`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{} h", count(hours)),
        (hours, minutes, _) => format!("{} h {minutes} min", count(hours)),
    }
}

/// Formats how long something took: `0.4 s`, `12 s`, `1 min 12 s`.
pub(crate) fn took(time: Duration) -> String {
    match time.as_millis() {
        millis @ ..10_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => duration(time),
    }
}

/// Formats an amount of money: `$0.0123`, `$12.30`; if it is too small for that, `<$0.0001`.
pub(crate) fn money(amount: ikigai::Money) -> String {
    const CENT: i128 = 10_000_000_000;
    match amount.pico() {
        0 => "$0".to_owned(),
        // Half of the last decimal would be rounded up.
        1..50_000_000 => "<$0.0001".to_owned(),
        pico if pico < 100 * CENT => format!("{amount:.4}"),
        _ => format!("{amount:.2}"),
    }
}

/// Formats an amount that may be an estimate: `~$0.0123`.
pub(crate) fn about(amount: ikigai::Money, is_estimate: bool) -> String {
    let text = money(amount);
    let sign = if is_estimate && text.starts_with('$') { "~" } else { "" };
    format!("{sign}{text}")
}

/// Returns what an answer used, part by part: `1,020 in`, `11 out`, `13 thinking`, `2 web_search not priced`.
pub(crate) fn usage(usage: Option<&ikigai::Usage>) -> Vec<String> {
    let Some(usage) = usage else { return Vec::new() };
    let mut parts = vec![format!("{} in", count(usage.prompt_tokens()))];
    if usage.cached_tokens() > 0 {
        parts.push(format!("{} cached", count(usage.cached_tokens())));
    }
    parts.push(format!("{} out", count(usage.output_tokens)));
    if usage.thinking_tokens > 0 {
        parts.push(format!("{} thinking", count(usage.thinking_tokens)));
    }
    parts.extend(unpriced(usage));
    parts
}

/// Returns the calls of the provider's tools, whose prices are unknown: `2 web_search not priced`.
pub(crate) fn unpriced(usage: &ikigai::Usage) -> impl Iterator<Item = String> {
    let made = usage.provider_calls.iter().filter(|(_, calls)| **calls > 0);
    made.map(|(tool, calls)| format!("{} {tool} not priced", count(*calls)))
}

/// Formats a number of bytes: `512 B`, `1.5 KiB`, `20 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if tenths < 10 * 1024 {
            break;
        }
        tenths /= 1024;
        unit = larger;
    }
    if tenths < 100 && !tenths.is_multiple_of(10) {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", tenths / 10)
    }
}

/// Draws a symbol and the text aligned after it.
fn signed(sign: &str, sign_style: Style, text: &str, style: Style, look: Look) -> String {
    let mut lines = text.trim_end().lines();
    let mut shown = hanging(&format!("{sign} "), sign_style, lines.next().unwrap_or_default(), style, look);
    for line in lines {
        shown.push_str(&hanging("  ", sign_style, line, style, look));
    }
    shown
}

/// Draws a line of text, aligned after its start.
fn hanging(start: &str, start_style: Style, text: &str, style: Style, look: Look) -> String {
    let indent = width(start);
    let mut shown = String::new();
    for (place, row) in fill(&[Inline::new(text, style)], look.width - indent).into_iter().enumerate() {
        let mut line: Row =
            if place == 0 { vec![Span::new(start, start_style)] } else { vec![Span::plain(&" ".repeat(indent))] };
        line.extend(row);
        shown.push_str(&paint(&line, look));
        shown.push('\n');
    }
    shown
}

#[cfg(test)]
#[path = "notice_tests.rs"]
mod tests;
