//! The small things that the chat says, and how it writes numbers.

use std::time::Duration;

use anstyle::Style;
use ikigai::ErrorKind;

use super::look::{DIM, GREEN, Look, RED, YELLOW};
use super::text::{Inline, Row, Span, fill, paint, shorten, width, wrap};
use crate::table::thousands;

/// At most so many lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines(pub(crate) usize);

/// `✗ …` in red, and below it the way out.
pub(crate) fn error(what: &str, hint: Option<&str>, look: Look) -> String {
    let mut text = signed(look.sign("✗", "x"), RED, what, RED, look);
    for line in hint.unwrap_or_default().lines() {
        text.push_str(&hanging("  ", DIM, line, DIM, look));
    }
    text
}

/// `⚠ …`
pub(crate) fn warning(what: &str, look: Look) -> String {
    signed(look.sign("⚠", "!"), YELLOW, what, Style::new(), look)
}

/// `✓ …`, and more lines two columns in. A line that begins with `⚠` is a warning there.
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

/// Something by the way.
pub(crate) fn info(what: &str, look: Look) -> String {
    what.lines().map(|line| hanging("", DIM, line, DIM, look)).collect()
}

/// The first lines of a text, two columns in and cut to the width, and how many more there are.
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

/// The first lines of a text as they are broken at the width, two columns in, and how many more there are.
pub(crate) fn wrapped(text: &str, most: Lines, look: Look) -> String {
    let rows = wrap(text, look.with_width(look.width.saturating_sub(2)));
    let mut shown: String =
        rows.iter().take(most.0).map(|row| format!("{}\n", format!("  {row}").trim_end())).collect();
    shown.push_str(&more_lines(rows.len().saturating_sub(most.0), look));
    shown
}

/// `  … 42 more lines`, or nothing.
pub(super) fn more_lines(count: usize, look: Look) -> String {
    let sign = look.sign("…", "...");
    let text = match count {
        0 => return String::new(),
        1 => format!("{sign} 1 more line"),
        many => format!("{sign} {} more lines", count_of(many)),
    };
    format!("  {}\n", look.paint(DIM, &text))
}

/// A number with commas between the thousands.
pub(crate) fn count(number: u64) -> String {
    thousands(i64::try_from(number).unwrap_or(i64::MAX))
}

fn count_of(number: usize) -> String {
    count(u64::try_from(number).unwrap_or(u64::MAX))
}

/// `1 token`, `1,234 tokens`
pub(crate) fn tokens(number: u64) -> String {
    several(number, "token")
}

/// `1 message`, `12 messages`
pub(crate) fn several(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Why a try failed, in words: `Rate limited (429)`.
pub(crate) fn failed_attempt(attempt: &ikigai::Attempt) -> String {
    let words = match attempt.kind {
        ErrorKind::RateLimit => "Rate limited",
        ErrorKind::Quota => "Out of quota",
        ErrorKind::Overloaded => "The provider is overloaded",
        ErrorKind::Timeout => "Timed out",
        ErrorKind::Network => "Connection lost",
        ErrorKind::Protocol => "The answer could not be read",
        ErrorKind::Server => "The provider failed",
        // These are not tried again.
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
        // Kinds that are yet to come.
        _ => "Failed",
    };
    let status = attempt.status.map(|status| format!(" ({status})")).unwrap_or_default();
    format!("{words}{status}")
}

/// Whole units that have passed: `4 s`, `1 min 12 s`, `2 h 5 min`.
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

/// What has taken so long, when it is over: `0.4 s`, `12 s`, `1 min 12 s`.
pub(crate) fn took(time: Duration) -> String {
    match time.as_millis() {
        millis @ ..10_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => duration(time),
    }
}

/// Money: `$0.0123`, `$12.30`; an amount too small for that as `<$0.0001`.
pub(crate) fn money(amount: ikigai::Money) -> String {
    const CENT: i128 = 10_000_000_000;
    match amount.pico() {
        0 => "$0".to_owned(),
        // Half of the last place that is shown would be rounded up.
        1..50_000_000 => "<$0.0001".to_owned(),
        pico if pico < 100 * CENT => format!("{amount:.4}"),
        _ => format!("{amount:.2}"),
    }
}

/// The same for an amount that may be an estimate: `~$0.0123`.
pub(crate) fn about(amount: ikigai::Money, is_estimate: bool) -> String {
    let text = money(amount);
    let sign = if is_estimate && text.starts_with('$') { "~" } else { "" };
    format!("{sign}{text}")
}

/// What an answer took, piece by piece: `1,020 in`, `11 out`, `13 thinking`, `2 web_search not priced`.
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

/// The calls of the provider's tools, whose prices nobody knows: `2 web_search not priced`.
pub(crate) fn unpriced(usage: &ikigai::Usage) -> impl Iterator<Item = String> {
    let made = usage.provider_calls.iter().filter(|(_, calls)| **calls > 0);
    made.map(|(tool, calls)| format!("{} {tool} not priced", count(*calls)))
}

/// Bytes: `512 B`, `1.5 KiB`, `20 MiB`.
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

/// A sign, then text that is lined up after it.
fn signed(sign: &str, sign_style: Style, text: &str, style: Style, look: Look) -> String {
    let mut lines = text.trim_end().lines();
    let mut shown = hanging(&format!("{sign} "), sign_style, lines.next().unwrap_or_default(), style, look);
    for line in lines {
        shown.push_str(&hanging("  ", sign_style, line, style, look));
    }
    shown
}

/// A line of text, lined up after what it begins with.
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
