//! One value that bounds all work.

use crate::json::check_depth;
use crate::{Error, ErrorKind};

/// How much a decoder or encoder takes on before it gives up with an error that names the limit.
///
/// The default suits a client, which reads what a provider answers to its own requests. A server that reads what anybody
/// sends wants [`Limits::server`].
///
/// ```
/// use ikigai_core::Limits;
///
/// let mut limits = Limits::server();
/// limits.body = 1 << 20;
/// assert!(limits.depth < Limits::default().body);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a whole request or answer.
    pub body: usize,
    /// Bytes of one event of a stream.
    pub event: usize,
    /// Bytes of a whole stream.
    pub stream: usize,
    /// How deep JSON may be nested.
    pub depth: usize,
    /// Content blocks of an answer, and of all messages of a request together.
    pub blocks: usize,
    /// Content blocks, tool calls among them, that may be open at the same time in a stream.
    pub open_blocks: usize,
    /// Nodes of a JSON Schema that is rewritten for a provider.
    pub schema_nodes: usize,
}

impl Limits {
    /// For a client: generous, since a provider answers what it was asked.
    pub const fn client() -> Self {
        Limits {
            body: 256 << 20,
            event: 64 << 20,
            stream: 1 << 30,
            depth: 512,
            blocks: 1_000_000,
            open_blocks: 4096,
            schema_nodes: 100_000,
        }
    }

    /// For a server: tighter, since anybody may send anything.
    pub const fn server() -> Self {
        Limits {
            body: 32 << 20,
            event: 8 << 20,
            stream: 256 << 20,
            depth: 128,
            blocks: 100_000,
            open_blocks: 1024,
            schema_nodes: 20_000,
        }
    }

    /// Checks the size of a request that a client sent. How deep it is nested shows when it is read.
    pub(crate) fn check_request_size(&self, body: &[u8]) -> Result<(), Error> {
        self.check_size(body, ErrorKind::InvalidRequest, "request")
    }

    /// Checks the depth of a request that a client sent.
    pub(crate) fn check_request_depth(&self, body: &[u8]) -> Result<(), Error> {
        self.check_depth(body, ErrorKind::InvalidRequest, "request")
    }

    /// Checks the size and the depth of an answer that a provider sent.
    pub(crate) fn check_answer(&self, body: &[u8]) -> Result<(), Error> {
        self.check_size(body, ErrorKind::Protocol, "answer")?;
        self.check_depth(body, ErrorKind::Protocol, "answer")
    }

    fn check_size(&self, body: &[u8], kind: ErrorKind, what: &str) -> Result<(), Error> {
        if body.len() > self.body {
            let (size, most) = (body.len(), self.body);
            return Err(reached(kind, format!("the {what} has {size} bytes; the limit is {most}")));
        }
        Ok(())
    }

    fn check_depth(&self, body: &[u8], kind: ErrorKind, what: &str) -> Result<(), Error> {
        check_depth(body, self.depth).map_err(|deep| {
            let most = self.depth;
            reached(kind, format!("the {what} is nested more than {most} levels deep at byte {}", deep.at))
        })
    }

    /// The error of a schema that has too many parts.
    pub(crate) fn too_many_schema_nodes(&self) -> Error {
        let message = format!("a schema has more than {} parts, which is the limit", self.schema_nodes);
        reached(ErrorKind::InvalidRequest, message)
    }

    /// Checks how many content blocks a stream has brought.
    pub(crate) fn check_answer_blocks(&self, blocks: usize) -> Result<(), Error> {
        self.check_blocks(blocks, ErrorKind::Protocol)
    }

    /// Checks how many blocks of a stream are open at once.
    pub(crate) fn check_open(&self, open: usize) -> Result<(), Error> {
        if open <= self.open_blocks {
            return Ok(());
        }
        let message = format!("more than {} content blocks are open at once, which is the limit", self.open_blocks);
        Err(reached(ErrorKind::Protocol, message))
    }

    /// Checks how many content blocks there are.
    pub(crate) fn check_blocks(&self, blocks: usize, kind: ErrorKind) -> Result<(), Error> {
        if blocks <= self.blocks {
            return Ok(());
        }
        Err(reached(kind, format!("there are more than {} content blocks, which is the limit", self.blocks)))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::client()
    }
}

/// The error of a stream that has reached a limit.
pub(crate) fn limit_reached(message: String) -> Error {
    reached(ErrorKind::Protocol, format!("{message}, which is the limit"))
}

/// The error of a limit that was reached.
fn reached(kind: ErrorKind, message: String) -> Error {
    let mut error = Error::new(kind, message);
    error.code = Some("limit_reached".to_owned());
    // The same bytes would reach it again.
    error.retryable = Some(false);
    error
}
