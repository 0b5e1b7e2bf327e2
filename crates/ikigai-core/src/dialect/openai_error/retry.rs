//! What the headers say about trying again.

use crate::{Error, ErrorKind};

/// A header's value, whatever the case of its name.
pub(super) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// The provider's id of the request, under the names that the family uses.
pub(super) fn request_id(headers: &[(String, String)]) -> Option<String> {
    ["x-request-id", "apim-request-id", "request-id", "mistral-correlation-id", "x-amzn-requestid"]
        .iter()
        .find_map(|name| header(headers, name).filter(|id| !id.is_empty()))
        .map(str::to_owned)
}

/// Does the server itself say whether to try again?
pub(super) fn wish(headers: &[(String, String)]) -> Option<bool> {
    match header(headers, "x-should-retry")? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// How long to wait, in milliseconds. A date is left aside: there is no clock here to compare it with.
pub(super) fn after_ms(headers: &[(String, String)], error: &Error) -> Option<u64> {
    let exact = header(headers, "retry-after-ms").and_then(|value| value.parse::<f64>().ok()).and_then(whole);
    let seconds =
        || header(headers, "retry-after").and_then(|value| value.parse::<f64>().ok()).and_then(|s| whole(s * 1000.0));
    let limited = matches!(error.kind, ErrorKind::RateLimit | ErrorKind::Overloaded);
    exact
        .or_else(seconds)
        .or_else(|| limited.then(|| in_message(&error.message)).flatten())
        .or_else(|| (error.kind == ErrorKind::RateLimit).then(|| resets(headers)).flatten())
}

/// The longest reset among the allowances that are used up: the request needs all of them.
fn resets(headers: &[(String, String)]) -> Option<u64> {
    headers
        .iter()
        .filter(|(_, left)| left.trim() == "0")
        .filter_map(|(name, _)| {
            let name = name.to_ascii_lowercase();
            let kind = name.strip_prefix("x-ratelimit-remaining-")?;
            duration_ms(header(headers, &format!("x-ratelimit-reset-{kind}"))?)
        })
        .max()
}

/// "Please try again in 7m26.4s."
fn in_message(message: &str) -> Option<u64> {
    ["try again in ", "retry in "].iter().find_map(|lead| {
        let (_, rest) = message.split_once(lead)?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        let span = rest.get(..end)?.trim_end_matches('.');
        // A bare number could be anything: "try again in 5 minutes".
        if span.bytes().all(|c| c.is_ascii_digit() || c == b'.') { None } else { duration_ms(span) }
    })
}

/// A span of time as providers write it in headers and messages, in milliseconds: `20ms`, `6m0s`, `1m26.4s`, `1h2m3.5s`,
/// or plain seconds. Rounded up, so that nobody comes too early; none for anything else.
pub fn duration_ms(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return whole(seconds * 1000.0);
    }
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let factor = match unit {
            "d" => 86_400_000.0,
            "h" => 3_600_000.0,
            "m" => 60_000.0,
            "s" => 1000.0,
            "ms" => 1.0,
            "us" | "µs" => 0.001,
            "ns" => 0.000_001,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * factor;
        rest = tail;
    }
    (!text.is_empty()).then_some(total).and_then(whole)
}

/// Milliseconds as a whole number, rounded up; none for what is no span of time.
fn whole(milliseconds: f64) -> Option<u64> {
    // A year and more is a date or nonsense.
    const LONGEST: f64 = 366.0 * 86_400_000.0;
    // Sums like 60000 + 26.4 * 1000 miss the whole number by a hair.
    let rounded = (milliseconds - 1e-6).ceil().max(0.0);
    if !(0.0..=LONGEST).contains(&milliseconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
    Some(rounded as u64)
}
