//! Captures the beginning and the end of a program's output, however long it is.

use std::collections::VecDeque;

/// Keeps the first half and the last half of a limit, in bytes.
#[derive(Debug)]
pub(super) struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    pub(super) fn new(limit: usize) -> Self {
        Capture { half: limit / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(first);
        // Bytes that would be removed again are not added.
        self.tail.extend(rest.iter().skip(rest.len().saturating_sub(self.half)));
        let surplus = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..surplus);
    }

    /// Returns how many bytes were not kept.
    pub(super) fn dropped(&self) -> u64 {
        self.total.saturating_sub(u64::try_from(self.head.len() + self.tail.len()).unwrap_or(u64::MAX))
    }

    /// Returns the text, with a note where something is missing.
    pub(super) fn text(mut self) -> String {
        let dropped = self.dropped();
        let tail = self.tail.make_contiguous();
        if dropped == 0 {
            self.head.extend_from_slice(tail);
            return plain(&self.head);
        }
        let (head, tail) = (plain(&self.head), plain(tail));
        // The cuts may have split a character.
        let (head, tail) = (head.trim_end_matches('\u{fffd}'), tail.trim_start_matches('\u{fffd}'));
        format!(
            "{head}\n[… {dropped} bytes left out here: send the output to a file, or through head, tail or grep …]\n{tail}"
        )
    }
}

/// Removes colours and other escape sequences.
fn plain(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&anstream::adapter::strip_bytes(bytes).into_vec()).into_owned()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn captured(limit: usize, chunks: &[&str]) -> String {
        let mut capture = Capture::new(limit);
        chunks.iter().for_each(|chunk| capture.push(chunk.as_bytes()));
        capture.text()
    }

    #[test]
    fn what_fits_is_whole() {
        assert_eq!(captured(10, &["abc", "defg", "", "hij"]), "abcdefghij");
        assert_eq!(captured(100, &["\u{1b}[31mred\u{1b}[0m ü"]), "red ü");
    }

    #[test]
    fn of_more_the_beginning_and_the_end_are_kept_however_it_comes() {
        let note = "\n[… 5 bytes left out here: send the output to a file, or through head, tail or grep …]\n";
        assert_eq!(captured(6, &["abcdefghijk"]), format!("abc{note}ijk"));
        assert_eq!(captured(6, &["a", "bcde", "fghi", "jk"]), format!("abc{note}ijk"));
        // A character that is cut in two is left out.
        assert_eq!(captured(6, &["abücdefgühi"]), format!("ab{}hi", note.replace('5', "7")));
    }
}
