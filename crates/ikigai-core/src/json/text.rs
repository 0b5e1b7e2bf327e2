//! JSON strings and texts.

use std::borrow::Cow;

/// The text of a JSON string literal that has been checked to be JSON; `None` for any other value.
///
/// serde_json reads an escaped string into a buffer of its own and copies it from there. Most pieces of an answer hold
/// an escape, so that would be twice the work for each.
pub(crate) fn unescape(literal: &str) -> Option<Cow<'_, str>> {
    unescape_inner(literal.trim().strip_prefix('"')?.strip_suffix('"')?)
}

/// The text between the quotation marks of a JSON string; `None` if it holds something that is not an escape.
pub(crate) fn unescape_inner(inner: &str) -> Option<Cow<'_, str>> {
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else { return Some(Cow::Borrowed(inner)) };
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    let mut next = Some(first);
    while let Some(at) = next {
        let (before, escape) = rest.split_at_checked(at)?;
        text.push_str(before);
        let (c, used) = read_escape(escape)?;
        text.push(c);
        rest = escape.get(used..)?;
        next = memchr::memchr(b'\\', rest.as_bytes());
    }
    text.push_str(rest);
    Some(Cow::Owned(text))
}

/// The character that an escape stands for, and how long the escape is. Half a surrogate pair becomes U+FFFD.
pub(super) fn read_escape(escape: &str) -> Option<(char, usize)> {
    let c = match escape.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return read_unicode(escape),
        quoted @ (b'"' | b'\\' | b'/') => char::from(*quoted),
        _ => return None,
    };
    Some((c, 2))
}

fn read_unicode(escape: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(2)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 6));
    }
    let second = if escape.get(6..8) == Some("\\u") { unit(8) } else { None };
    match (first, second) {
        (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
            let c = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            Some((char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER), 12))
        }
        _ => Some((char::REPLACEMENT_CHARACTER, 6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        let cases =
            [(r#""\ud83d""#, "\u{fffd}"), (r#""\ud83dx""#, "\u{fffd}x"), (r#""\ude00\ud83d\ude00""#, "\u{fffd}😀")];
        for (literal, text) in cases {
            assert_eq!(unescape(literal).as_deref(), Some(text), "{literal}");
        }
    }

    #[test]
    fn only_strings_have_a_text() {
        for literal in ["null", "1", "{}", "[]", "true", ""] {
            assert_eq!(unescape(literal), None, "{literal}");
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in any::<String>()) {
            let plain = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(unescape(&plain).unwrap(), text.as_str());
            let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let escaped = format!("\"{escaped}\"");
            prop_assert_eq!(unescape(&escaped).unwrap(), text);
        }
    }
}
