//! Looks at JSON text without parsing it.

use memchr::{memchr2, memchr2_iter};

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
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// Valid JSON text on one line; `None` if it is on one line already.
///
/// A line break in valid JSON stands between its parts, never inside a string, and so do the blanks that follow it.
pub(crate) fn without_line_breaks(text: &str) -> Option<String> {
    let mut breaks = memchr2_iter(b'\n', b'\r', text.as_bytes()).peekable();
    breaks.peek()?;
    let mut one_line = String::with_capacity(text.len());
    let mut from = 0;
    for at in breaks {
        one_line.push_str(text.get(from..at).unwrap_or_default().trim_start_matches([' ', '\t']));
        from = at + 1;
    }
    one_line.push_str(text.get(from..).unwrap_or_default().trim_start_matches([' ', '\t']));
    Some(one_line)
}
