//! Lines from any source, with a size limit.

use std::io::{BufRead, Read as _};

/// The longest input, or line of a batch: more than any provider accepts.
pub(crate) const LIMIT: usize = 256 << 20;

/// How much memory a buffer may keep between lines.
const KEPT: usize = 1 << 20;

/// A line that was read or found too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
}

/// Reads lines without ever holding more than the limit.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    limit: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Lines { input, limit, buffer: Vec::new() }
    }

    /// Returns the next line without its line break; `None` at the end. Lines that are too long are skipped.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT);
        // One more than the limit, to see whether the line continues.
        let most = u64::try_from(self.limit).unwrap_or(u64::MAX).saturating_add(1);
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        if self.buffer.ends_with(b"\n") {
            self.buffer.pop();
        } else if self.buffer.len() > self.limit {
            self.buffer.clear();
            self.input.skip_until(b'\n')?;
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.buffer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], limit: usize) -> Vec<Option<String>> {
        let mut lines = Lines::new(text, limit);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(match line {
                Line::Whole(bytes) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
                Line::TooLong => None,
            });
        }
        all
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn lines_with_and_without_an_end() {
        assert_eq!(lines(b"", 4), []);
        assert_eq!(lines(b"\n", 4), [some("")]);
        assert_eq!(lines(b"a\n\nbc", 4), [some("a"), some(""), some("bc")]);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_whole() {
        assert_eq!(lines(b"1234\n12345\n1\n", 4), [some("1234"), None, some("1")]);
        assert_eq!(lines(b"1234567890", 4), [None]);
        assert_eq!(lines(b"1234", 4), [some("1234")]);
    }
}
