//! Rate limits, as reported in a provider's headers.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use ikigai_core::wire::duration_ms;

/// A provider's rate limits, as reported. Anything not reported is absent.
///
/// Google reports nothing. Some providers round token counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimits {
    /// Requests.
    pub requests: Option<RateLimit>,
    /// Tokens of any kind.
    pub tokens: Option<RateLimit>,
    /// Prompt tokens, if they are limited separately.
    pub input_tokens: Option<RateLimit>,
    /// Answer tokens, if they are limited separately.
    pub output_tokens: Option<RateLimit>,
}

/// A single limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimit {
    /// The total amount.
    pub limit: Option<u64>,
    /// How much is left.
    pub remaining: Option<u64>,
    /// How long until it is fully restored.
    pub reset: Option<Duration>,
}

impl RateLimits {
    /// Reads the headers of OpenAI and compatible providers (`x-ratelimit-remaining-tokens`) and of Anthropic
    /// (`anthropic-ratelimit-tokens-remaining`). `now` is needed for resets that are given as a time.
    pub(crate) fn read(headers: &HeaderMap, now: SystemTime) -> Self {
        let mut limits = RateLimits::default();
        for (name, value) in headers {
            let openai =
                || name.as_str().strip_prefix("x-ratelimit-")?.split_once('-').map(|(field, what)| (what, field));
            let anthropic = || name.as_str().strip_prefix("anthropic-ratelimit-")?.rsplit_once('-');
            let Some((what, field)) = openai().or_else(anthropic) else { continue };
            let (Some(limit), Ok(text)) = (limits.of(what), value.to_str()) else { continue };
            let mut read = limit.take().unwrap_or_default();
            match field {
                "limit" => read.limit = number(text),
                "remaining" => read.remaining = number(text),
                "reset" => read.reset = until(text.trim(), now),
                _ => {}
            }
            *limit = (read != RateLimit::default()).then_some(read);
        }
        limits
    }

    fn of(&mut self, what: &str) -> Option<&mut Option<RateLimit>> {
        match what {
            "requests" => Some(&mut self.requests),
            "tokens" => Some(&mut self.tokens),
            "input-tokens" => Some(&mut self.input_tokens),
            "output-tokens" => Some(&mut self.output_tokens),
            _ => None,
        }
    }

    /// Returns how long until all exhausted limits are restored: a request needs every one of them.
    pub fn wait(&self) -> Option<Duration> {
        [&self.requests, &self.tokens, &self.input_tokens, &self.output_tokens]
            .into_iter()
            .flatten()
            .filter(|limit| limit.remaining == Some(0))
            .filter_map(|limit| limit.reset)
            .max()
    }
}

/// Returns the wait if `retry-after` contains a date; the core reads numbers.
pub(crate) fn retry_date(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let date = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?;
    let moment = httpdate::parse_http_date(date.trim()).ok()?;
    Some(moment.duration_since(now).unwrap_or_default())
}

/// Parses a duration or an RFC 3339 timestamp.
fn until(text: &str, now: SystemTime) -> Option<Duration> {
    if let Some(milliseconds) = duration_ms(text) {
        return Some(Duration::from_millis(milliseconds));
    }
    Some(super::moment::rfc3339(text)?.duration_since(now).unwrap_or_default())
}

/// Parses a count; some providers write it with a decimal point.
fn number(text: &str) -> Option<u64> {
    let number: f64 = text.trim().parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    (0.0..=1e15).contains(&number).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use pretty_assertions::assert_eq;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    /// 2026-11-15T00:00:00Z.
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_700_800)
    }

    #[test]
    fn both_families_of_headers_are_read() {
        let openai = headers(&[
            ("x-ratelimit-limit-requests", "5000"),
            ("x-ratelimit-remaining-requests", "4999"),
            ("x-ratelimit-reset-requests", "12ms"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ]);
        let limits = RateLimits::read(&openai, now());
        let requests = RateLimit { limit: Some(5000), remaining: Some(4999), reset: Some(Duration::from_millis(12)) };
        let tokens = RateLimit { limit: None, remaining: Some(0), reset: Some(Duration::from_secs(360)) };
        let expected =
            RateLimits { requests: Some(requests), tokens: Some(tokens), input_tokens: None, output_tokens: None };
        assert_eq!(limits, expected);
        assert_eq!(limits.wait(), Some(Duration::from_secs(360)));

        let anthropic = headers(&[
            ("anthropic-ratelimit-input-tokens-limit", "400000"),
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2026-11-15T00:00:42Z"),
            ("anthropic-ratelimit-output-tokens-remaining", "0"),
            ("anthropic-ratelimit-output-tokens-reset", "2026-11-14T23:00:00Z"),
        ]);
        let limits = RateLimits::read(&anthropic, now());
        assert_eq!(limits.input_tokens.as_ref().unwrap().reset, Some(Duration::from_secs(42)));
        assert_eq!(limits.output_tokens.as_ref().unwrap().reset, Some(Duration::ZERO), "it is over");
        assert_eq!(limits.wait(), Some(Duration::from_secs(42)));
    }

    #[test]
    fn nonsense_is_nothing() {
        let nonsense = headers(&[
            ("x-ratelimit-limit-requests", "many"),
            ("x-ratelimit-remaining-tokens", "-1"),
            ("x-ratelimit-reset-tokens", "tomorrow"),
            ("retry-after", "soon"),
        ]);
        assert_eq!(RateLimits::read(&nonsense, now()), RateLimits::default());
        assert_eq!(retry_date(&nonsense, now()), None);
        assert_eq!(RateLimits::default().wait(), None);
    }

    #[test]
    fn a_date_is_a_wait() {
        let date = headers(&[("retry-after", "Sun, 15 Nov 2026 00:01:30 GMT")]);
        assert_eq!(retry_date(&date, now()), Some(Duration::from_secs(90)));
        let past = headers(&[("retry-after", "Sat, 14 Nov 2026 00:00:00 GMT")]);
        assert_eq!(retry_date(&past, now()), Some(Duration::ZERO));
    }
}
