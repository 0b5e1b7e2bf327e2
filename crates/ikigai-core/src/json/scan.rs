//! Looks at JSON text without parsing it.

use memchr::memchr2;

use super::text::next_special;

/// JSON that is nested too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooDeep {
    /// Where the level begins that is one too many.
    pub(crate) at: usize,
}

/// Checks how deep arrays and objects are nested. The bytes need not be JSON: what a parser would refuse is left to it.
pub(crate) fn check_depth(bytes: &[u8], most: usize) -> Result<(), TooDeep> {
    // Short documents cannot be deep: each level takes a byte.
    if bytes.len() <= most {
        return Ok(());
    }
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1),
            b'{' | b'[' => {
                depth += 1;
                if depth > most {
                    return Err(TooDeep { at });
                }
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            _ => at += 1,
        }
    }
    Ok(())
}

/// The place behind the quotation mark that ends a string, whose text begins at `at`; the end of the bytes if none does.
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

/// Valid JSON text on one line, without blanks between its parts; `None` if it is on one line already.
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
