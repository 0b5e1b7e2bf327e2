//! Text within limits.

use std::io::{BufRead, Result};

/// A file with a zero byte among these first bytes is not text.
const LOOK: usize = 8192;

/// Whether these first bytes of a file are text.
pub(super) fn is_text(beginning: &[u8]) -> bool {
    !beginning.iter().take(LOOK).any(|byte| *byte == 0)
}

/// One line of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// The part that was kept, with the line break if the line is complete.
    pub(super) kept: Vec<u8>,
    /// How many bytes were left out.
    pub(super) dropped: u64,
}

impl Line {
    /// Returns the text; what was cut off is mentioned.
    pub(super) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.kept);
        match self.dropped {
            0 => text.into_owned(),
            // The cut may have split a character.
            more => format!("{} [{more} more bytes in this line]\n", text.trim_end_matches('\u{fffd}')),
        }
    }

    /// Returns the line without its line break.
    pub(super) fn bytes(&self) -> &[u8] {
        let line = self.kept.strip_suffix(b"\n").unwrap_or(&self.kept);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

/// Returns the next line, keeping at most this many bytes; `None` at the end. Endless lines need no more memory.
pub(super) fn next_line(reader: &mut impl BufRead, most: usize) -> Result<Option<Line>> {
    let mut line = Line::default();
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            let is_empty = line.kept.is_empty() && line.dropped == 0;
            return Ok((!is_empty).then_some(line));
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |end| end + 1);
        let room = most.saturating_sub(line.kept.len()).min(taken);
        line.kept.extend(bytes.iter().take(room));
        line.dropped += u64::try_from(taken - room).unwrap_or(u64::MAX);
        reader.consume(taken);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn lines_are_bounded_wherever_the_reader_cuts() {
        let bytes = "ab\n日本語\r\n\nxxxxxxxxxxxx\nend".as_bytes();
        for capacity in [1, 2, 3, 100] {
            let mut reader = BufReader::with_capacity(capacity, bytes);
            let mut lines = Vec::new();
            while let Some(line) = next_line(&mut reader, 11).unwrap() {
                lines.push((line.text(), String::from_utf8_lossy(line.bytes()).into_owned()));
            }
            let expected = [
                ("ab\n", "ab"),
                ("日本語\r\n", "日本語"),
                ("\n", ""),
                ("xxxxxxxxxxx [2 more bytes in this line]\n", "xxxxxxxxxxx"),
                ("end", "end"),
            ];
            assert_eq!(lines, expected.map(|(text, bytes)| (text.to_owned(), bytes.to_owned())));
        }
        assert_eq!(next_line(&mut BufReader::new(b"".as_slice()), 5).unwrap(), None);
    }
}
