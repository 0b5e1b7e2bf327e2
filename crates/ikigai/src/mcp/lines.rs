//! A program's output, one message per line, with limits on each.

use std::pin::Pin;
use std::task::{Context, Poll};

use ikigai_core::Limits;
use tokio::io::{AsyncRead, ReadBuf};

use super::connection::LONGEST;
use super::process::Log;

/// A program's output, up to the first line that exceeds a limit. The log says why the rest is not read.
///
/// The SDK skips lines that are too long, so that anyone waiting for one of them waits forever, and it parses a line into
/// a tree that takes many times its size.
pub(super) struct BoundedLines<R> {
    output: R,
    line: Line,
    log: Log,
}

impl<R> BoundedLines<R> {
    pub(super) fn new(output: R, log: Log) -> Self {
        BoundedLines { output, line: Line::default(), log }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let before = into.filled().len();
        std::task::ready!(Pin::new(&mut this.output).poll_read(cx, into))?;
        let read = this.line.take(into.filled().get(before..).unwrap_or_default());
        Poll::Ready(read.map_err(|why| {
            into.set_filled(before);
            this.log.push(format!("(a message cannot be read: {why})"));
            std::io::Error::other(why)
        }))
    }
}

/// The size of the line that is being read, so far.
#[derive(Default)]
pub(super) struct Line {
    bytes: usize,
    level: usize,
    values: usize,
    place: Place,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Place {
    #[default]
    Outside,
    InText,
    /// After a backslash in a string.
    Escaped,
}

impl Line {
    /// Counts the next bytes. An error says which limit was exceeded.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        const LIMITS: Limits = Limits::client();
        for byte in bytes {
            self.bytes += 1;
            match (self.place, byte) {
                (_, b'\n') => *self = Line::default(),
                (Place::Escaped, _) => self.place = Place::InText,
                (Place::InText, b'\\') => self.place = Place::Escaped,
                (Place::InText, b'"') => self.place = Place::Outside,
                (Place::Outside, b'"') => self.place = Place::InText,
                (Place::Outside, b'[' | b'{') => (self.level, self.values) = (self.level + 1, self.values + 1),
                (Place::Outside, b']' | b'}') => self.level = self.level.saturating_sub(1),
                (Place::Outside, b',') => self.values += 1,
                (Place::InText | Place::Outside, _) => {}
            }
            if self.bytes > LONGEST {
                return Err(format!("it is longer than {LONGEST} bytes"));
            }
            if self.level > LIMITS.depth {
                return Err(format!("it is nested more than {} levels deep", LIMITS.depth));
            }
            if self.values > LIMITS.values {
                return Err(format!("it has more than {} values", LIMITS.values));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn lines_are_read_up_to_the_first_that_is_too_much() {
        for (bad, why) in [
            ("a".repeat(LONGEST + 1), "it is longer than 16777216 bytes"),
            (format!("[{}", "1,".repeat(500_001)), "it has more than 500000 values"),
            ("[".repeat(513), "it is nested more than 512 levels deep"),
        ] {
            let good = format!("{{\"a\": \"{}\\\"[[[,,,\"}}\n", "[,".repeat(600_000));
            let (text, log) = (format!("{good}{good}{bad}\n"), Log::default());
            let mut read = Vec::new();
            let error = BoundedLines::new(text.as_bytes(), log.clone()).read_to_end(&mut read).await.unwrap_err();
            assert_eq!(error.to_string(), why);
            assert_eq!(log.lines(), [format!("(a message cannot be read: {why})")]);
        }
    }
}
