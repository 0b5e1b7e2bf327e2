//! Pictures from the clipboard, read by the programs that can access it.

use std::process::Stdio;
use std::time::Duration;

use ikigai::{Block, BlockKind};
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use super::Talk;
use crate::exit::Failure;
use crate::screen::notice;

/// In bytes. Every provider rejects larger pictures.
const LARGEST: u64 = 20 << 20;
const PATIENCE: Duration = Duration::from_secs(5);
/// The programs that write the clipboard's picture as PNG; the last one, found on every Mac, as hexadecimal digits.
const PROGRAMS: [(&str, &[&str]); 4] = [
    ("wl-paste", &["--no-newline", "--type", "image/png"]),
    ("xclip", &["-selection", "clipboard", "-target", "image/png", "-out"]),
    ("pngpaste", &["-"]),
    ("osascript", &["-e", "the clipboard as «class PNGf»"]),
];

impl Talk {
    /// Attaches the picture in the clipboard to the next message.
    pub(super) async fn paste_picture(&mut self) -> Result<(), Failure> {
        let words = match picture().await? {
            Found::Picture(bytes) => {
                let words = format!(
                    "attached a picture ({}); it goes with your next message",
                    notice::size(bytes.len() as u64)
                );
                self.session.attached.push(Block::file(&bytes, "clipboard.png"));
                notice::info(&words, self.look)
            }
            Found::Nothing => notice::warning("There is no picture in the clipboard.", self.look),
            Found::NoProgram => {
                let names = PROGRAMS.map(|(name, _)| name).join(", ");
                let words = format!("Pasting a picture needs one of these programs: {names}. @FILE attaches a file.");
                notice::warning(&words, self.look)
            }
        };
        self.print(&words)
    }
}

enum Found {
    Picture(Vec<u8>),
    Nothing,
    NoProgram,
}

/// Tries one program after the other.
async fn picture() -> Result<Found, Failure> {
    let mut found = Found::NoProgram;
    for (program, arguments) in PROGRAMS {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let Ok(mut child) = command.spawn() else { continue };
        found = Found::Nothing;
        let Some(output) = child.stdout.take() else { continue };
        let mut bytes = Vec::new();
        let mut output = output.take(LARGEST + 1);
        // A program may wait forever for a display that does not exist.
        let Ok(Ok(_)) = tokio::time::timeout(PATIENCE, output.read_to_end(&mut bytes)).await else { continue };
        if bytes.len() as u64 > LARGEST {
            return Err(Failure::new(format!("the picture is larger than {}", notice::size(LARGEST))));
        }
        let bytes = spelled(&bytes).unwrap_or(bytes);
        if Block::file(&bytes, "clipboard").kind() == BlockKind::Image {
            return Ok(Found::Picture(bytes));
        }
    }
    Ok(found)
}

/// Decodes the bytes in `«data PNGf8950…»`.
fn spelled(text: &[u8]) -> Option<Vec<u8>> {
    let digits = std::str::from_utf8(text).ok()?.trim().strip_prefix("«data PNGf")?.strip_suffix('»')?;
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? * 16 + digit(low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_picture_in_digits_is_read() {
        assert_eq!(spelled("«data PNGf89504E47»\n".as_bytes()), Some(b"\x89PNG".to_vec()));
        for text in ["«data PNGf895»", "«data PNGfzz»", "\u{89}PNG", ""] {
            assert_eq!(spelled(text.as_bytes()), None, "{text}");
        }
    }
}
