//! Skips JSON without reading it: finds where a value ends, and nothing about its content.
//!
//! Strings are searched for their closing quotation mark and brackets are counted, but nothing else is examined. This
//! makes it several times faster than a parser; it also means that a skipped value is balanced but may still be invalid
//! inside.

use std::borrow::Cow;

/// The maximum nesting of brackets: what common JSON parsers accept.
pub(crate) const DEEPEST: u32 = 127;

/// Why a value could not be skipped, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end inside the value.
    Cut,
    /// No value begins here, or a bracket closes that was not opened.
    Unexpected(usize),
    /// Too many brackets are open.
    TooDeep(usize),
}

/// Returns the first place at or after `at` that is not white space.
pub(crate) fn blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// Returns the place after a string whose opening quotation mark is just before `from`.
#[inline]
pub(crate) fn string(bytes: &[u8], from: usize) -> Option<usize> {
    let quote = from + find_quote(bytes.get(from..)?)?;
    match is_escaped(bytes, from, quote) {
        false => Some(quote + 1),
        true => quoting_string(bytes, from, quote + 1),
    }
}

/// Continues from `at` in a string that contains a quotation mark: the next one is probably not far, and not the last.
fn quoting_string(bytes: &[u8], from: usize, mut at: usize) -> Option<usize> {
    loop {
        while let Some(block) = bytes.get(at - 2..).and_then(<[u8]>::first_chunk)
            && !may_end_in(block)
        {
            at += BLOCK;
        }
        let quote = at + find_quote(bytes.get(at..)?)?;
        at = quote + 1;
        if !is_escaped(bytes, from, quote) {
            return Some(at);
        }
    }
}

/// The number of bytes examined together.
const BLOCK: usize = 64;

/// Returns whether a string may end in these bytes, the first two of which precede the block. A quotation mark after
/// one backslash does not end it; one after several may.
///
/// Written without branches, so that the compiler vectorises it.
fn may_end_in(block: &[u8; BLOCK + 2]) -> bool {
    let [before @ .., _, _] = block;
    let [_, last @ .., _] = block;
    let [_, _, bytes @ ..] = block;
    let mut ends = false;
    for ((byte, last), before) in bytes.iter().zip(last).zip(before) {
        ends |= (*byte == b'"') & ((*last != b'\\') | (*before == b'\\'));
    }
    ends
}

/// Returns the first quotation mark.
///
/// Strings are short, or have an escaped quotation mark every few words. Selecting the machine's widest vectors at each
/// call, as the plain search does, costs more than it gains: with the vectors that every such machine has, a large
/// request takes a third fewer instructions.
#[cfg(target_arch = "x86_64")]
fn find_quote(bytes: &[u8]) -> Option<usize> {
    match memchr::arch::x86_64::sse2::memchr::One::new(b'"') {
        Some(search) => search.find(bytes),
        None => memchr::memchr(b'"', bytes),
    }
}

/// Returns the first quotation mark.
#[cfg(not(target_arch = "x86_64"))]
fn find_quote(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'"', bytes)
}

/// Returns whether the byte at `at` follows an odd number of backslashes, counting from `from`.
fn is_escaped(bytes: &[u8], from: usize, at: usize) -> bool {
    match bytes.get(from..at).unwrap_or_default() {
        // Only the one quotation mark after a run of backslashes examines it, so this stays linear.
        before @ [.., b'\\', b'\\'] => before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1,
        [.., b'\\'] => true,
        _ => false,
    }
}

/// Returns the place after the value that begins at `at`.
pub(crate) fn value(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    value_within(bytes, at, DEEPEST)
}

/// Returns the place after the value that begins at `at`, which may have no more open brackets than this, and no more
/// than [`DEEPEST`].
pub(crate) fn value_within(bytes: &[u8], at: usize, deepest: u32) -> Result<usize, Fault> {
    match bytes.get(at).ok_or(Fault::Cut)? {
        b'"' => string(bytes, at + 1).ok_or(Fault::Cut),
        b'{' | b'[' => nested(bytes, at, deepest.min(DEEPEST)),
        _ => scalar(bytes, at),
    }
}

/// Returns the place after the object or array that begins at `at`.
fn nested(bytes: &[u8], start: usize, deepest: u32) -> Result<usize, Fault> {
    // One bit for each open bracket, the innermost lowest: set for an object.
    let mut open: u128 = 0;
    let mut depth: u32 = 0;
    let mut at = start;
    loop {
        let byte = *bytes.get(at).ok_or(Fault::Cut)?;
        at += 1;
        match byte {
            b'"' => loop {
                at = string(bytes, at).ok_or(Fault::Cut)?;
                // Usually the next one begins right after a colon or a comma.
                match bytes.get(at..at + 2) {
                    Some([b':' | b',', b'"']) => at += 2,
                    _ => break,
                }
            },
            // Commas, colons and digits are most of the rest, and all brackets are greater.
            ..b'[' => {}
            b'{' | b'[' => {
                if depth == deepest {
                    return Err(Fault::TooDeep(at - 1));
                }
                depth += 1;
                open = open << 1 | u128::from(byte == b'{');
            }
            b'}' | b']' => {
                if (open & 1 == 1) != (byte == b'}') {
                    return Err(Fault::Unexpected(at - 1));
                }
                open >>= 1;
                depth -= 1;
                if depth == 0 {
                    return Ok(at);
                }
            }
            _ => {}
        }
    }
}

/// Returns the number of open brackets at the deepest place of a value.
pub(crate) fn depth(value: &[u8]) -> u32 {
    let (mut at, mut open, mut deepest) = (0, 0_u32, 0);
    while let Some(byte) = value.get(at) {
        at += 1;
        match byte {
            b'"' => at = string(value, at).unwrap_or(value.len()),
            b'{' | b'[' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Skips a number, `true`, `false` or `null`. These are checked, because they are short.
fn scalar(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let rest = bytes.get(start..).unwrap_or_default();
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    let length = rest.iter().take_while(is_part).count();
    let word = rest.get(..length).unwrap_or_default();
    match word {
        b"true" | b"false" | b"null" => Ok(start + length),
        _ if is_number(word) => Ok(start + length),
        _ => Err(Fault::Unexpected(start)),
    }
}

/// Returns whether this is a number in JSON's notation.
fn is_number(word: &[u8]) -> bool {
    fn digits(word: &[u8]) -> (usize, &[u8]) {
        let count = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count, word.get(count..).unwrap_or_default())
    }
    let word = word.strip_prefix(b"-").unwrap_or(word);
    let (whole, mut rest) = digits(word);
    if whole == 0 || (whole > 1 && word.first() == Some(&b'0')) {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        let (count, behind) = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = behind;
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let exponent = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let (count, behind) = digits(exponent);
        if count == 0 {
            return false;
        }
        rest = behind;
    }
    rest.is_empty()
}

/// Returns the text of a JSON string with its quotation marks; borrowed if nothing in it is escaped.
pub(crate) fn text(json: &[u8]) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.iter().any(|byte| *byte == b'\\' || *byte < b' ') {
        return serde_json::from_slice(json).ok().map(Cow::Owned);
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The reference implementation, byte by byte.
    fn plain(bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            match bytes.get(at)? {
                b'"' => return Some(at + 1),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }

    #[test]
    fn a_value_may_be_as_deep_as_it_is_and_no_deeper() {
        for (json, deep) in [("7", 0), ("\"[[\"", 0), ("[]", 1), (r#"[{"[":[]},[1,[2]],"]"]"#, 3)] {
            assert_eq!(depth(json.as_bytes()), deep, "{json}");
            assert_eq!(value_within(json.as_bytes(), 0, deep), Ok(json.len()), "{json}");
            if let Some(less) = deep.checked_sub(1) {
                assert!(matches!(value_within(json.as_bytes(), 0, less), Err(Fault::TooDeep(_))), "{json}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_string_ends_where_it_ends(text in "([a\\\\\"é\u{80}!#]|a{0,70}){0,40}", from in 0..5_usize) {
            prop_assert_eq!(string(text.as_bytes(), from), plain(text.as_bytes(), from));
        }
    }
}
