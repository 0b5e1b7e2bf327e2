//! Limits on all work.

use crate::json::{Excess, check_shape};
use crate::{Arguments, Error, ErrorKind, Response};

/// How much a decoder or encoder accepts before it fails with an error that names the limit.
///
/// The default suits a client, which reads answers to its own requests. A server, which reads what anyone may send,
/// should use [`Limits::server`]. Reading takes at most about four times as much memory as the limit on what is read.
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
    /// Bytes of a complete request or answer.
    pub body: usize,
    /// Bytes of one event of a stream.
    pub event: usize,
    /// Bytes of a whole stream, including everything around the answer in its events. The answer assembled from the
    /// events may have as many bytes as a complete one (`body`).
    pub stream: usize,
    /// The highest ratio of decompressed to compressed size, once more than 1 MiB has been decompressed.
    pub ratio: usize,
    /// How deep JSON may be nested.
    pub depth: usize,
    /// JSON values of a request, a complete answer, or one event; once read, each takes many times its size.
    pub values: usize,
    /// Content blocks of an answer, and of all messages of a request together.
    pub blocks: usize,
    /// Content blocks, including tool calls, that may be open at the same time in a stream.
    pub open_blocks: usize,
    /// Nodes of a JSON Schema that is rewritten for a provider.
    pub schema_nodes: usize,
}

impl Limits {
    /// Returns limits for a client, with room for the longest answers and for images in them.
    pub const fn client() -> Self {
        Limits {
            body: 32 << 20,
            event: 16 << 20,
            stream: 256 << 20,
            ratio: 100,
            depth: 512,
            values: 500_000,
            blocks: 50_000,
            open_blocks: 4096,
            schema_nodes: 100_000,
        }
    }

    /// Returns limits for a server, which are tighter because anyone may send anything.
    pub const fn server() -> Self {
        Limits {
            body: 32 << 20,
            event: 8 << 20,
            stream: 256 << 20,
            ratio: 100,
            depth: 128,
            values: 1_000_000,
            blocks: 100_000,
            open_blocks: 1024,
            schema_nodes: 20_000,
        }
    }

    /// Checks the size of a request that a client sent, and how many values it has. Its nesting is checked while it is
    /// read.
    pub(crate) fn check_request_size(&self, body: &[u8]) -> Result<(), Error> {
        self.check_size(body, ErrorKind::InvalidRequest, "request")?;
        self.check_request_values(body)
    }

    /// Checks how many values a request has.
    pub(crate) fn check_request_values(&self, body: &[u8]) -> Result<(), Error> {
        // A value takes a byte at least, and all but the first in a list or an object follow a comma. Texts have commas,
        // too, but most requests are recognised as small by these counts, which take next to no time.
        let begins_a_value = |byte: &&u8| matches!(byte, b',' | b'[' | b'{');
        if body.len() / 2 <= self.values || body.iter().filter(begins_a_value).count() < self.values {
            return Ok(());
        }
        let shape = check_shape(body, usize::MAX, self.values);
        shape.map_err(|excess| self.excess(excess, ErrorKind::InvalidRequest, "the request")).map(drop)
    }

    /// Checks the depth of a request that a client sent.
    pub(crate) fn check_request_depth(&self, body: &[u8]) -> Result<(), Error> {
        let shape = check_shape(body, self.depth, usize::MAX);
        shape.map_err(|excess| self.excess(excess, ErrorKind::InvalidRequest, "the request")).map(drop)
    }

    /// Checks the size and the shape of a received JSON document before any of it is read.
    ///
    /// # Errors
    /// Returns an error if it is too long, nested too deeply, or has too many values.
    pub fn check_answer(&self, body: &[u8]) -> Result<(), Error> {
        self.check_size(body, ErrorKind::Protocol, "answer")?;
        self.check_answer_shape(body, "the answer")
    }

    /// Checks the nesting and the number of values of a document, which the error calls `what`.
    pub(crate) fn check_answer_shape(&self, body: &[u8], what: &str) -> Result<(), Error> {
        let shape = check_shape(body, self.depth, self.values);
        shape.map_err(|excess| self.excess(excess, ErrorKind::Protocol, what)).map(drop)
    }

    /// Checks an answer that has been read: the number of its blocks, and the arguments of its calls, which may have
    /// been sent as a string.
    pub(crate) fn check_response(&self, response: &Response) -> Result<(), Error> {
        self.check_answer_blocks(response.content.len())?;
        let mut values = 0;
        response.tool_calls().try_for_each(|call| self.check_arguments(&call.arguments, &mut values))
    }

    /// Checks the arguments of one call and adds the number of their values to `values`: all calls of an answer share
    /// one limit.
    pub(crate) fn check_arguments(&self, arguments: &Arguments, values: &mut usize) -> Result<(), Error> {
        let left = self.values.saturating_sub(*values);
        let held = check_shape(arguments.text().as_bytes(), self.depth, left);
        *values += held.map_err(|excess| self.excess(excess, ErrorKind::Protocol, "the arguments of a call"))?;
        Ok(())
    }

    /// Checks the total size of the texts of a stream.
    pub(crate) fn check_content(&self, bytes: usize) -> Result<(), Error> {
        if bytes <= self.body {
            return Ok(());
        }
        Err(limit_reached(format!("the answer adds up to more than {} bytes", self.body)))
    }

    pub(crate) fn check_size(&self, body: &[u8], kind: ErrorKind, what: &str) -> Result<(), Error> {
        if body.len() > self.body {
            let (size, most) = (body.len(), self.body);
            return Err(reached(kind, format!("the {what} has {size} bytes; the limit is {most}")));
        }
        Ok(())
    }

    fn excess(&self, excess: Excess, kind: ErrorKind, what: &str) -> Error {
        reached(
            kind,
            match excess {
                Excess::Depth(at) => format!("{what} is nested more than {} levels deep at byte {at}", self.depth),
                Excess::Values(at) => format!("{what} has more than {} values at byte {at}", self.values),
            },
        )
    }

    /// Returns the error for a schema that has too many nodes.
    pub(crate) fn too_many_schema_nodes(&self) -> Error {
        let message = format!("a schema has more than {} parts, which is the limit", self.schema_nodes);
        reached(ErrorKind::InvalidRequest, message)
    }

    /// Checks how many content blocks a stream has opened.
    pub(crate) fn check_answer_blocks(&self, blocks: usize) -> Result<(), Error> {
        self.check_blocks(blocks, ErrorKind::Protocol)
    }

    /// Checks how many blocks of a stream are open at the same time.
    pub(crate) fn check_open(&self, open: usize) -> Result<(), Error> {
        if open <= self.open_blocks {
            return Ok(());
        }
        let message = format!("more than {} content blocks are open at once, which is the limit", self.open_blocks);
        Err(reached(ErrorKind::Protocol, message))
    }

    /// Checks the number of content blocks.
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

/// Returns the error for a stream that has reached a limit.
pub(crate) fn limit_reached(message: String) -> Error {
    reached(ErrorKind::Protocol, format!("{message}, which is the limit"))
}

/// Returns the error for a limit that was reached.
fn reached(kind: ErrorKind, message: String) -> Error {
    let mut error = Error::new(kind, message);
    error.code = Some("limit_reached".to_owned());
    // The same bytes would reach the limit again.
    error.retryable = Some(false);
    error
}
