//! The frames that make up most of a stream: read without building a JSON tree, with one allocation for the text.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A frame as far as deltas need it.
#[derive(Debug, Deserialize)]
pub(super) struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Option<&'a str>,
    pub(super) output_index: Option<u64>,
    pub(super) content_index: Option<u64>,
    pub(super) summary_index: Option<u64>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
}

/// What a delta is a piece of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Refusal,
    Summary,
    Reasoning,
    Arguments,
}

impl<'a> Frame<'a> {
    /// Reads a frame; none when it is not made as a delta is.
    pub(super) fn read(data: &'a str) -> Option<Self> {
        serde_json::from_str(data).ok()
    }

    /// Which delta it is; none for all other frames.
    pub(super) fn delta_kind(&self) -> Option<Kind> {
        Some(match self.kind? {
            "response.output_text.delta" => Kind::Text,
            "response.reasoning_summary_text.delta" => Kind::Summary,
            "response.function_call_arguments.delta" => Kind::Arguments,
            "response.reasoning_text.delta" => Kind::Reasoning,
            "response.refusal.delta" => Kind::Refusal,
            _ => return None,
        })
    }

    /// The piece of text.
    pub(super) fn text(&self) -> Option<String> {
        unescape(self.delta?.get())
    }
}

/// A JSON text without its quotes and escapes. Half of a surrogate pair, which stands for nothing, becomes the
/// replacement character.
fn unescape(raw: &str) -> Option<String> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else { return Some(inner.to_owned()) };
    let (plain, mut rest) = inner.split_at_checked(first)?;
    let mut text = String::with_capacity(inner.len());
    text.push_str(plain);
    while let Some(escape) = rest.strip_prefix('\\') {
        let (c, behind) = escaped(escape)?;
        text.push(c);
        let next = memchr::memchr(b'\\', behind.as_bytes()).unwrap_or(behind.len());
        let (plain, tail) = behind.split_at_checked(next)?;
        text.push_str(plain);
        rest = tail;
    }
    Some(text)
}

/// The character that an escape stands for, and what follows it.
fn escaped(escape: &str) -> Option<(char, &str)> {
    let mut chars = escape.chars();
    let c = match chars.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => return unicode(chars.as_str()),
        other => other,
    };
    Some((c, chars.as_str()))
}

fn unicode(digits: &str) -> Option<(char, &str)> {
    let (unit, rest) = hex(digits)?;
    if let Some(c) = char::from_u32(unit) {
        return Some((c, rest));
    }
    let low = rest.strip_prefix("\\u").and_then(hex).filter(|(low, _)| (0xDC00..0xE000).contains(low));
    match low {
        Some((low, rest)) if unit < 0xDC00 => {
            let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            Some((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), rest))
        }
        _ => Some((char::REPLACEMENT_CHARACTER, rest)),
    }
}

fn hex(digits: &str) -> Option<(u32, &str)> {
    let (digits, rest) = digits.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

/// What of a text has been streamed: enough to tell whether a later copy of the whole begins with it, without keeping it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    length: usize,
    hash: u64,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { length: 0, hash: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Seen {
    /// More text.
    pub(super) fn push(&mut self, text: &str) {
        self.length = self.length.saturating_add(text.len());
        // FNV-1a: the texts come from one provider and a clash would only cost a repeated or missing end.
        for byte in text.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// What the whole has beyond the text that has been streamed; none when it does not begin with that.
    pub(super) fn rest<'a>(&self, whole: &'a str) -> Option<&'a str> {
        let (begin, rest) = whole.split_at_checked(self.length)?;
        let mut same = Seen::default();
        same.push(begin);
        (same.hash == self.hash).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_as_json_has_them() {
        for raw in [
            r#""""#,
            r#""plain ü""#,
            r#""a\n\t\r\b\f\"\\\/b""#,
            r#""\u00e9\u0000 end""#,
            r#""\ud83d\ude00\ud83d\ude00""#,
            r#""ends with a quote \"""#,
        ] {
            let by_serde: String = serde_json::from_str(raw).unwrap();
            assert_eq!(unescape(raw).as_deref(), Some(by_serde.as_str()), "{raw}");
        }
        assert_eq!(unescape(r#""\ud83d""#).as_deref(), Some("\u{fffd}"));
        assert_eq!(unescape(r#""\ud83dx\ude00\ud83d\u0041""#).as_deref(), Some("\u{fffd}x\u{fffd}\u{fffd}A"));
        for broken in ["", "\"", "null", "1", r#""\u12""#, r#""\u123é""#] {
            assert_eq!(unescape(broken), None, "{broken}");
        }
    }

    #[test]
    fn the_rest_of_a_whole_is_known_only_if_it_begins_with_what_was_seen() {
        let mut seen = Seen::default();
        assert_eq!(seen.rest("whole"), Some("whole"));
        seen.push("Grü");
        seen.push("ße");
        assert_eq!(seen.rest("Grüße an alle"), Some(" an alle"));
        assert_eq!(seen.rest("Grüße"), Some(""));
        for other in ["Grü", "grüße an alle", "Grussen", ""] {
            assert_eq!(seen.rest(other), None, "{other}");
        }
    }
}
