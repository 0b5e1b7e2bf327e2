//! Scans JSON text without parsing it.

use memchr::memchr2;

use super::text::next_special;

/// How JSON exceeds the limits on reading it, which its size alone does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excess {
    /// It is nested too deeply: the place of the excess level.
    Depth(usize),
    /// It has too many values: the place of the excess value.
    Values(usize),
}

/// Checks how deep arrays and objects are nested, and how many values they contain. Returns roughly that number, never
/// more. The bytes need not be JSON; the parser will refuse those that are not.
pub(crate) fn check_shape(bytes: &[u8], depth: usize, values: usize) -> Result<usize, Excess> {
    // Short documents cannot exceed either limit: each level and each value takes a byte.
    if bytes.len() <= depth.min(values) {
        return Ok(bytes.len());
    }
    let (mut level, mut seen, mut at) = (0_usize, 0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at + 1);
                continue;
            }
            b'{' | b'[' => {
                level += 1;
                seen += 1;
                if level > depth {
                    return Err(Excess::Depth(at));
                }
            }
            b'}' | b']' => level = level.saturating_sub(1),
            // Every value of an array or object except the first has one before it.
            b',' => seen += 1,
            _ => {}
        }
        if seen > values {
            return Err(Excess::Values(at));
        }
        at += 1;
    }
    Ok(seen)
}

/// Returns the place after the closing quotation mark of a string whose text begins at `at`, or the end of the bytes.
pub(crate) fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = next_special(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            // A control character, which a parser would refuse.
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// Puts valid JSON on one line, without blanks between its parts; `None` if it already is on one line.
pub(crate) fn on_one_line(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    memchr2(b'\n', b'\r', bytes)?;
    let mut compact = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => end_of_string(bytes, at + 1),
            _ => at + 1,
        };
        if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            compact.push_str(text.get(at..end)?);
        }
        at = end;
    }
    Some(compact)
}
