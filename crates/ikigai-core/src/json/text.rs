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

/// Writes a text as a JSON string.
pub(crate) fn write(text: &str, out: &mut Vec<u8>) {
    if is_plain(text.as_bytes()) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // A text always has a JSON form, and memory takes every write.
        let _ = serde_json::to_writer(out, text);
    }
}

/// Whether a text is the same between the quotation marks of a JSON string: nothing in it is escaped, or needs to be.
///
/// Pieces of an answer are short, and most of them are plain: several bytes are looked at at once.
#[inline]
pub(crate) fn is_plain(text: &[u8]) -> bool {
    if let Some(last) = text.last_chunk() {
        let (words, _) = text.as_chunks();
        return words.iter().chain([last]).all(|word| is_plain_word(u64::from_ne_bytes(*word)));
    }
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => {
            is_plain_word(u64::from(u32::from_ne_bytes(*first)) << 32 | u64::from(u32::from_ne_bytes(*last)))
        }
        _ => text.iter().all(|byte| *byte >= b' ' && !matches!(byte, b'"' | b'\\')),
    }
}

/// Whether none of eight bytes is a control character, a quotation mark or a backslash.
fn is_plain_word(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    // The highest bit of a byte is set where the byte is less than `least`, which is true of no byte if it is of none.
    let less = |word: u64, least: u64| word.wrapping_sub(ONES * least) & !word & (ONES << 7);
    let is = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    less(word, u64::from(b' ')) | is(b'"') | is(b'\\') == 0
}

/// The character that an escape stands for, and how long the escape is. Half a surrogate pair becomes U+FFFD.
fn read_escape(escape: &str) -> Option<(char, usize)> {
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
    let unit = |at: usize| u32::from_str_radix(escape.get(at..at + 4)?, 16).ok();
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

    #[test]
    fn one_odd_byte_anywhere_is_seen() {
        for length in 0..40 {
            let mut text = vec![b'a'; length];
            assert!(is_plain(&text));
            for at in 0..length {
                for (byte, plain) in
                    [(0, false), (0x1f, false), (b'"', false), (b'\\', false), (b' ', true), (0x7f, true), (0xff, true)]
                {
                    text[at] = byte;
                    assert_eq!(is_plain(&text), plain, "{text:?}");
                }
                text[at] = b'!';
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in any::<String>()) {
            let plain = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(unescape(&plain).unwrap(), text.as_str());
            let mut written = Vec::new();
            write(&text, &mut written);
            prop_assert_eq!(&String::from_utf8(written).unwrap(), &plain);
            prop_assert_eq!(is_plain(text.as_bytes()), plain.len() == text.len() + 2);
            let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let escaped = format!("\"{escaped}\"");
            prop_assert_eq!(unescape(&escaped).unwrap(), text);
        }
    }
}
