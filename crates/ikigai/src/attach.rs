//! Files in messages.

use std::path::{Path, PathBuf};

use ikigai_core::{Block, Message, Source};

use crate::error::{Error, Reason};

/// The largest file that is attached: providers take no more in one request.
const LARGEST: u64 = 100 << 20;

/// Puts files into a message.
///
/// ```
/// use ikigai::{Attach as _, user};
///
/// # fn f() -> Result<(), ikigai::Error> {
/// let question = user("Does the chart agree with the report?").attach("chart.png")?.attach("report.pdf")?;
/// # Ok(())
/// # }
/// ```
pub trait Attach: Sized {
    /// Adds a file: a picture, a sound, a text or a document, as its bytes say, or else its name. An address that begins
    /// with `https://` or `http://` is left to the provider to fetch.
    ///
    /// The file is read here and now.
    ///
    /// # Errors
    /// When the file cannot be read, is empty, or is larger than 100 MB.
    fn attach(self, file: impl AsRef<Path>) -> Result<Self, Error>;
}

impl Attach for Message {
    fn attach(mut self, file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let block = match file.to_str() {
            Some(url) if url.starts_with("https://") || url.starts_with("http://") => address(url),
            _ => read(file).map_err(|why| Reason::Attachment { file: PathBuf::from(file), why })?,
        };
        self.content.push(block);
        Ok(self)
    }
}

fn read(file: &Path) -> Result<Block, String> {
    let length = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if length > LARGEST {
        return Err(format!("it has {length} bytes, and {LARGEST} is the most"));
    }
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(Block::file(&bytes, &name))
}

/// What stands at an address, as far as its name tells; a picture when it does not.
fn address(url: &str) -> Block {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or(path);
    // An empty file of that name: only its name decides.
    let guess = Block::file(b"", name);
    let media_type = match &guess {
        Block::Image(image) => image.source.media_type().map(str::to_owned),
        Block::Document(document) => document.source.media_type().map(str::to_owned),
        Block::Audio(audio) => audio.source.media_type().map(str::to_owned),
        _ => None,
    };
    // A name without an ending is taken for text; an address without one mostly is a picture.
    let known = name.contains('.');
    let source = Source::Url { url: url.to_owned(), media_type: media_type.filter(|_| known) };
    match guess {
        Block::Document(_) if known => Block::document(source, name),
        Block::Audio(_) => Block::audio(source),
        _ => Block::image(source),
    }
}

#[cfg(test)]
mod tests {
    use ikigai_core::{BlockKind, user};
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn files_become_the_blocks_that_fit() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            folder.path().join(name)
        };
        let message = user("Look")
            .attach(write("chart.png", b"\x89PNG\r\n\x1a\n0000"))
            .and_then(|message| message.attach(write("report.pdf", b"%PDF-1.7")))
            .and_then(|message| message.attach(write("notes.md", "# Notes".as_bytes())))
            .and_then(|message| message.attach("https://example.com/cat.jpg?size=2"))
            .and_then(|message| message.attach("https://example.com/paper.pdf"))
            .and_then(|message| message.attach("https://example.com/picture"))
            .unwrap();
        let kinds: Vec<BlockKind> = message.content.iter().map(Block::kind).collect();
        use BlockKind::{Document, Image, Text};
        assert_eq!(kinds, [Text, Image, Document, Document, Image, Document, Image]);
        let Block::Image(cat) = &message.content[4] else { panic!() };
        let url = "https://example.com/cat.jpg?size=2".to_owned();
        assert_eq!(cat.source, Source::Url { url, media_type: Some("image/jpeg".to_owned()) });
    }

    #[test]
    fn what_cannot_be_attached_is_told_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("empty.txt"), "").unwrap();
        let error = user("Look").attach(folder.path().join("empty.txt")).unwrap_err().to_string();
        assert!(error.ends_with("empty.txt: it is empty"), "{error}");
        let error = user("Look").attach("nowhere.png").unwrap_err();
        assert_eq!(error.kind(), ikigai_core::ErrorKind::InvalidRequest);
        assert!(error.to_string().starts_with("cannot attach nowhere.png: "), "{error}");
    }
}
