//! JSON strings and their text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns the text of a JSON string literal that is known to be valid; `None` for any other value.
///
/// serde_json reads an escaped string into its own buffer and copies it from there. Most pieces of an answer contain an
/// escape, so that would double the work for each.
pub(crate) fn unescape(literal: &str) -> Option<Cow<'_, str>> {
    unescape_inner(literal.trim().strip_prefix('"')?.strip_suffix('"')?)
}

/// Returns the text between the quotation marks of a JSON string; `None` if it contains an invalid escape.
pub(crate) fn unescape_inner(inner: &str) -> Option<Cow<'_, str>> {
    let Some(mut at) = memchr::memchr(b'\\', inner.as_bytes()) else { return Some(Cow::Borrowed(inner)) };
    let mut text = String::with_capacity(inner.len());
    let mut begin = 0;
    while at < inner.len() {
        if inner.as_bytes().get(at) == Some(&b'\\') {
            text.push_str(inner.get(begin..at)?);
            (begin, at) = add_escape(&mut text, inner, at, Some(char::REPLACEMENT_CHARACTER))?;
        } else {
            at += 1;
        }
        at = next_special(inner.as_bytes(), at);
    }
    text.push_str(inner.get(begin..)?);
    Some(Cow::Owned(text))
}

/// Writes a text as a JSON string.
pub(crate) fn write(text: &str, out: &mut Vec<u8>) {
    if is_plain(text.as_bytes()) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // A string always has a JSON form, and writing to memory cannot fail.
        let _ = serde_json::to_writer(out, text);
    }
}

/// Returns whether a text is the same between the quotation marks of a JSON string: nothing is, or has to be, escaped.
///
/// Pieces of an answer are short, and most of them are plain: several bytes are examined together.
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

/// Returns whether none of eight bytes is a control character, a quotation mark or a backslash.
fn is_plain_word(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    // Sets the highest bit of a byte that is less than `least`; if no byte is, no bit is set.
    let less = |word: u64, least: u64| word.wrapping_sub(ONES * least) & !word & (ONES << 7);
    let is = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    less(word, u64::from(b' ')) | is(b'"') | is(b'\\') == 0
}

/// Appends what the escape at `at` represents. Returns where the text continues, and the place after the escape: a
/// character that stands for itself is left to the text. `half` represents half of a surrogate pair.
#[inline]
pub(super) fn add_escape(text: &mut String, inner: &str, at: usize, half: Option<char>) -> Option<(usize, usize)> {
    let behind = at + 2;
    match inner.as_bytes().get(at + 1)? {
        b'"' | b'\\' | b'/' => return Some((at + 1, behind)),
        b'n' => text.push('\n'),
        b't' => text.push('\t'),
        b'r' => text.push('\r'),
        b'b' => text.push('\u{8}'),
        b'f' => text.push('\u{c}'),
        b'u' => {
            let (c, length) = read_unicode(inner.get(at..)?)?;
            text.push(c.or(half)?);
            return Some((at + length, at + length));
        }
        _ => return None,
    }
    Some((behind, behind))
}

/// Returns the character of an escape with digits (`None` for half of a surrogate pair), and the escape's length.
#[cold]
fn read_unicode(escape: &str) -> Option<(Option<char>, usize)> {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(2)?;
    if let Some(c) = char::from_u32(first) {
        return Some((Some(c), 6));
    }
    let second = if escape.get(6..8) == Some("\\u") { unit(8) } else { None };
    match (first, second) {
        (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
            Some((char::from_u32(0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)), 12))
        }
        _ => Some((None, 6)),
    }
}

/// Returns the place of the next quotation mark, backslash or control character, or the end: eight bytes at a time.
#[inline]
pub(super) fn next_special(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const QUOTE_BELOW: u64 = ONES * 0x21;
    const BACKSLASHES: u64 = ONES * b'\\' as u64;
    let (chunks, rest) = bytes.get(at..).unwrap_or_default().as_chunks();
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk);
        // With this bit flipped, only quotation marks and control characters are below 0x21. The lowest high bit that
        // is set marks the first matching byte; those above it may be wrong.
        let below = (word ^ (ONES * 2)).wrapping_sub(QUOTE_BELOW);
        let backslashes = (word ^ BACKSLASHES).wrapping_sub(ONES);
        let found = (below | backslashes) & (ONES << 7);
        // Bytes that are not ASCII match as well, and are only then checked again.
        if found != 0 && found & !word != 0 {
            return at + (found & !word).trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20)).unwrap_or(rest.len())
}

/// Returns a text as a JSON string, including its quotation marks.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 8 + 2);
    escaped.push('"');
    let (mut begin, mut at) = (0, next_special(text.as_bytes(), 0));
    while let Some(byte) = text.as_bytes().get(at) {
        escaped.push_str(text.get(begin..at).unwrap_or_default());
        match byte {
            b'\n' => escaped.push_str("\\n"),
            // It stands for itself, and is copied with the text after it.
            b'"' | b'\\' => {
                escaped.push('\\');
                begin = at;
                at = next_special(text.as_bytes(), at + 1);
                continue;
            }
            b'\t' => escaped.push_str("\\t"),
            b'\r' => escaped.push_str("\\r"),
            0x08 => escaped.push_str("\\b"),
            0x0c => escaped.push_str("\\f"),
            control => {
                // Writing to a String cannot fail.
                let _ = write!(escaped, "\\u{control:04x}");
            }
        }
        begin = at + 1;
        at = next_special(text.as_bytes(), begin);
    }
    escaped.push_str(text.get(begin..).unwrap_or_default());
    escaped.push('"');
    escaped
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
    fn texts_are_escaped_as_serde_json_does() {
        let all: String = (0..0x250).filter_map(char::from_u32).collect();
        assert_eq!(escape(&all), serde_json::to_string(&all).unwrap());
        assert_eq!(escape(""), "\"\"");
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
        fn specials_are_found_where_they_are(text in "[a-z\"\\\\é\u{0}\u{1f} ]{0,40}") {
            let slow = text.bytes().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20)).unwrap_or(text.len());
            prop_assert_eq!(next_special(text.as_bytes(), 0), slow);
        }

        #[test]
        fn any_text_comes_back(text in any::<String>()) {
            let plain = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(&escape(&text), &plain);
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
