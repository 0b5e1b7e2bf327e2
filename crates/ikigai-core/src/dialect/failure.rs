//! What dialects share for reading a failed HTTP answer: headers, waits, and bodies that are not an error object.

use crate::ErrorKind;

/// Returns a header's value; the case of its name does not matter.
pub(super) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Returns the provider's request id, from the first of these headers that is present and not empty.
pub(super) fn request_id(headers: &[(String, String)], names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| header(headers, name).filter(|id| !id.is_empty())).map(str::to_owned)
}

/// Returns the wait requested in the headers, in milliseconds. A date is left to the caller, who has a clock.
pub(super) fn retry_after(headers: &[(String, String)]) -> Option<u64> {
    let exact = header(headers, "retry-after-ms").and_then(|wait| whole(wait.parse().ok()?));
    exact.or_else(|| duration_ms(header(headers, "retry-after")?))
}

/// Returns whether the server itself says to retry.
pub(super) fn should_retry(headers: &[(String, String)]) -> Option<bool> {
    header(headers, "x-should-retry")?.parse().ok()
}

/// Returns the wait requested in a message, in milliseconds: "Please try again in 7m26.4s."
pub(super) fn wait_in(message: &str) -> Option<u64> {
    ["try again in ", "retry in "].iter().find_map(|lead| {
        let (_, rest) = message.split_once(lead)?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        let span = rest.get(..end)?.trim_end_matches('.');
        // A bare number could be anything: "try again in 5 minutes".
        if span.bytes().all(|c| c.is_ascii_digit() || c == b'.') { None } else { duration_ms(span) }
    })
}

/// Returns the beginning of a text, cut between characters.
pub(super) fn excerpt(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}

/// Returns the beginning of a body that is not an error object, or names the status if the body is empty.
pub(super) fn plain_message(status: Option<u16>, body: &str, most: usize) -> String {
    match (excerpt(body.trim(), most), status) {
        ("", Some(status)) => format!("the provider answered with status {status} and no message"),
        ("", None) => "the provider failed without a message".to_owned(),
        (text, _) => text.to_owned(),
    }
}

/// Classifies an error by its message alone, by the phrases of Anthropic's API and Amazon's.
pub(super) fn by_words(message: &str) -> Option<ErrorKind> {
    let message = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&["prompt is too long", "exceed context limit", "input is too long", "exceeds the context window"]) {
        Some(ErrorKind::ContextTooLong)
    } else if says(&["reached your specified api usage limits", "credit balance is too low"]) {
        Some(ErrorKind::Quota)
    } else if says(&["blocked by content filtering policy"]) {
        Some(ErrorKind::ContentFiltered)
    } else {
        None
    }
}

/// Classifies an error by its status alone, for those APIs.
pub(super) fn by_status(status: Option<u16>) -> ErrorKind {
    match status {
        Some(401) => ErrorKind::Auth,
        Some(402) => ErrorKind::Quota,
        Some(403) => ErrorKind::Permission,
        Some(404) => ErrorKind::NotFound,
        Some(408 | 504) => ErrorKind::Timeout,
        Some(409) => ErrorKind::Server,
        Some(413) => ErrorKind::RequestTooLarge,
        Some(429) => ErrorKind::RateLimit,
        Some(503 | 529) => ErrorKind::Overloaded,
        Some(400..=499) => ErrorKind::InvalidRequest,
        // A failure without a status is the provider's fault.
        _ => ErrorKind::Server,
    }
}

/// Parses a duration as providers write it in headers and messages, into milliseconds: `20ms`, `6m0s`, `1m26.4s`,
/// `1h2m3.5s`, or plain seconds. It is rounded up, so that nobody retries too early. Returns `None` for anything else.
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

/// Rounds milliseconds up to a whole number. Returns `None` if they are not a plausible duration.
fn whole(milliseconds: f64) -> Option<u64> {
    // More than a year is a date or nonsense.
    const LONGEST: f64 = 366.0 * 86_400_000.0;
    // Sums like 60000 + 26.4 * 1000 miss a whole number by a hair.
    let rounded = (milliseconds - 1e-6).ceil().max(0.0);
    if !(0.0..=LONGEST).contains(&milliseconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
    Some(rounded as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_every_form_are_read() {
        let spans = [
            ("20ms", Some(20)),
            ("6ms", Some(6)),
            ("0s", Some(0)),
            ("6m0s", Some(360_000)),
            ("1m26.4s", Some(86_400)),
            ("12m57.599999999s", Some(777_600)),
            ("1h2m3.5s", Some(3_723_500)),
            ("278.999999ms", Some(279)),
            ("500µs", Some(1)),
            ("14.6297287940979", Some(14_630)),
            ("", None),
            ("soon", None),
            ("5 minutes", None),
            ("-3", None),
            ("1759845420000", None),
            ("NaN", None),
        ];
        for (text, expected) in spans {
            assert_eq!(duration_ms(text), expected, "{text}");
        }
    }
}
