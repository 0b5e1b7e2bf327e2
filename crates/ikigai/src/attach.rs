//! Files in messages.

use std::path::{Path, PathBuf};

use ikigai_core::{Block, Message, Source};

use crate::error::{Error, Reason};

/// The largest file that can be attached; providers accept no more in one request.
const LARGEST: u64 = 100 << 20;

/// Attaches files to a message: pictures, audio, text, documents. Their type is detected from the bytes, or else from
/// the name.
///
/// ```
/// use ikigai::{Attach as _, user};
///
/// # async fn f(upload: Vec<u8>) -> Result<(), ikigai::Error> {
/// let question = user("Does the chart agree with the report?")
///     .attach_file("chart.png").await?
///     .attach_url("https://example.com/report.pdf")
///     .attach_bytes("upload.png", upload)?;
/// # Ok(())
/// # }
/// ```
pub trait Attach: Sized {
    /// Adds a local file. It is read immediately, on a thread where blocking is allowed.
    ///
    /// The argument is always a path, and any path is accepted: do not pass on input from people you do not trust.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is empty or is larger than 100 MB, or if there is no tokio runtime.
    fn attach_file(self, path: impl Into<PathBuf>) -> impl Future<Output = Result<Self, Error>> + Send;

    /// Adds a URL for the provider to fetch. Nothing is fetched here.
    fn attach_url(self, url: impl Into<String>) -> Self;

    /// Adds bytes under a name.
    ///
    /// # Errors
    /// Returns an error if there are no bytes, or more than 100 MB.
    fn attach_bytes(self, name: impl Into<String>, bytes: impl AsRef<[u8]>) -> Result<Self, Error>;
}

impl Attach for Message {
    fn attach_file(mut self, path: impl Into<PathBuf>) -> impl Future<Output = Result<Self, Error>> + Send {
        let path = path.into();
        async move {
            crate::runtime::check()?;
            let file = path.clone();
            let read = tokio::task::spawn_blocking(move || read(&file)).await;
            let block = read.unwrap_or_else(|error| Err(error.to_string()));
            self.content.push(block.map_err(|why| Reason::Attachment { file: path, why })?);
            Ok(self)
        }
    }

    fn attach_url(mut self, url: impl Into<String>) -> Self {
        self.content.push(address(&url.into()));
        self
    }

    fn attach_bytes(mut self, name: impl Into<String>, bytes: impl AsRef<[u8]>) -> Result<Self, Error> {
        let (name, bytes) = (name.into(), bytes.as_ref());
        check(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
            .map_err(|why| Reason::Attachment { file: PathBuf::from(&name), why })?;
        self.content.push(Block::file(bytes, &name));
        Ok(self)
    }
}

fn read(file: &Path) -> Result<Block, String> {
    check(std::fs::metadata(file).map_err(|error| error.to_string())?.len())?;
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(Block::file(&bytes, &name))
}

/// Checks that a file of this length may be attached.
fn check(length: u64) -> Result<(), String> {
    match length {
        0 => Err("it is empty".to_owned()),
        length if length > LARGEST => Err(format!("it has {length} bytes, and {LARGEST} is the most")),
        _ => Ok(()),
    }
}

/// Returns a block for a URL, of the kind that its file name suggests; a picture if it suggests none.
fn address(url: &str) -> Block {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or(path);
    // An empty file: only its name decides.
    let guess = Block::file(b"", name);
    let media_type = match &guess {
        Block::Image(image) => image.source.media_type().map(str::to_owned),
        Block::Document(document) => document.source.media_type().map(str::to_owned),
        Block::Audio(audio) => audio.source.media_type().map(str::to_owned),
        _ => None,
    };
    // A file name without an extension is taken for text, but a URL without one is usually a picture.
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

    #[tokio::test]
    async fn files_become_the_blocks_that_fit() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            folder.path().join(name)
        };
        let message = user("Look")
            .attach_file(write("chart.png", b"\x89PNG\r\n\x1a\n0000"))
            .await
            .unwrap()
            .attach_bytes("report.pdf", b"%PDF-1.7")
            .unwrap()
            .attach_file(write("notes.md", "# Notes".as_bytes()))
            .await
            .unwrap()
            .attach_url("https://example.com/cat.jpg?size=2")
            .attach_url("https://example.com/paper.pdf")
            .attach_url("https://example.com/picture");
        let kinds: Vec<BlockKind> = message.content.iter().map(Block::kind).collect();
        use BlockKind::{Document, Image, Text};
        assert_eq!(kinds, [Text, Image, Document, Document, Image, Document, Image]);
        let Block::Image(cat) = &message.content[4] else { panic!() };
        let url = "https://example.com/cat.jpg?size=2".to_owned();
        assert_eq!(cat.source, Source::Url { url, media_type: Some("image/jpeg".to_owned()) });
    }

    #[tokio::test]
    async fn what_cannot_be_attached_is_told_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("empty.txt"), "").unwrap();
        let error = user("Look").attach_file(folder.path().join("empty.txt")).await.unwrap_err().to_string();
        assert!(error.ends_with("empty.txt: it is empty"), "{error}");
        let error = user("Look").attach_bytes("nothing.png", []).unwrap_err().to_string();
        assert_eq!(error, "cannot attach nothing.png: it is empty");
        let error = user("Look").attach_file("nowhere.png").await.unwrap_err();
        assert_eq!(error.kind(), ikigai_core::ErrorKind::InvalidRequest);
        assert!(error.to_string().starts_with("cannot attach nowhere.png: "), "{error}");
    }

    #[tokio::test]
    async fn an_address_is_no_file_and_a_path_is_no_address() {
        let error = user("Look").attach_file("https://example.com/cat.jpg").await.unwrap_err().to_string();
        assert!(error.starts_with("cannot attach https://example.com/cat.jpg: "), "{error}");
        let message = user("Look").attach_url("/etc/passwd");
        let Block::Image(image) = &message.content[1] else { panic!() };
        assert_eq!(image.source, Source::Url { url: "/etc/passwd".to_owned(), media_type: None });
    }

    #[test]
    fn without_a_runtime_there_is_an_error_and_no_panic() {
        let mut attaching = std::pin::pin!(user("Look").attach_file("chart.png"));
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(Err(error)) = attaching.as_mut().poll(&mut cx) else { panic!() };
        assert_eq!(error.to_string(), crate::runtime::MISSING);
    }
}
