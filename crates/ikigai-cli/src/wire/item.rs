//! One document to translate, and its result: the same for a single document and for a line of a batch.

use std::borrow::Cow;

use ikigai_core::wire::Ids;
use ikigai_core::{Error, Event, Json, Loss, Request, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One document to translate, with what accompanies it in HTTP.
#[derive(Debug, Default)]
pub(crate) struct Item<'a> {
    /// JSON text, the bytes of a stream, or whatever an error page contains.
    pub(crate) body: Cow<'a, [u8]>,
    pub(crate) path: Option<String>,
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
}

/// A document in the canonical format.
#[derive(Debug)]
pub(crate) enum Canonical {
    Request(Box<Request>),
    Response(Box<Response>),
    Stream(Vec<Event>),
    Error(Box<Error>),
}

/// The result of a translation.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) product: Product,
    pub(crate) losses: Vec<Loss>,
}

/// Why there is no result.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: Error,
    pub(crate) losses: Vec<Loss>,
}

pub(crate) type Translated = Result<Outcome, Refusal>;

/// A result, in the form in which it is printed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Product {
    Request(Box<Request>),
    Response(Box<Response>),
    Error(Box<Error>),
    Stream {
        events: Vec<Event>,
        response: Box<Response>,
    },
    /// A dialect's JSON.
    Wire(Json),
    /// The text of an event stream.
    Text(String),
}

impl Item<'_> {
    /// Returns the body, which must not be empty.
    pub(crate) fn bytes(&self) -> Result<&[u8], Error> {
        match self.body.trim_ascii().is_empty() {
            true => Err(Error::invalid_request("the input is empty; expected JSON")),
            false => Ok(&self.body),
        }
    }

    /// Parses the body as JSON.
    pub(crate) fn json(&self) -> Result<Value, Error> {
        serde_json::from_slice(&self.body).map_err(|error| match self.body.trim_ascii().is_empty() {
            true => Error::invalid_request("the input is empty; expected JSON"),
            false => Error::invalid_request(format!("the input is not JSON: {error}")),
        })
    }

    /// Reads the body as a canonical document; an error names the place in it.
    pub(crate) fn canonical<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        read(self.json()?, name)
    }

    /// Returns the body as text, with invalid characters replaced.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// Whether the status means that this is a failure.
    pub(crate) fn is_failure(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }

    /// Returns ids for blocks that have none on the wire: the same for the same body and different for others, so that
    /// the turns of a conversation do not share them.
    pub(crate) fn ids(&self) -> Ids {
        seeded(&self.body)
    }

    /// Like `ids`, for a stream that may still be incomplete: they are derived from its first event.
    pub(crate) fn stream_ids(&self) -> Ids {
        seeded(opening(&self.body).unwrap_or(&self.body))
    }
}

fn seeded(bytes: &[u8]) -> Ids {
    // FNV-1a: tiny, and the same on every machine and in every release.
    let seed = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    Ids::seeded(seed)
}

/// Returns the first event of a stream, up to its blank line or a size limit; `None` while it is incomplete.
pub(crate) fn opening(bytes: &[u8]) -> Option<&[u8]> {
    const MOST: usize = 64 << 10;
    let blank = |rest: &[u8]| [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"].iter().any(|end| rest.starts_with(end));
    let end = (0..bytes.len().min(MOST)).find(|at| bytes.get(*at..).is_some_and(blank));
    end.or((bytes.len() >= MOST).then_some(MOST)).and_then(|end| bytes.get(..end))
}

/// Reads a canonical document; an error names the place in it.
pub(crate) fn read<T: DeserializeOwned>(value: Value, name: &str) -> Result<T, Error> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let place = error.path().to_string();
        let place = if place == "." { String::new() } else { format!(" at {place}") };
        Error::invalid_request(format!("not a canonical {name}{place}: {}", error.into_inner()))
    })
}

impl Product {
    /// Returns a dialect's body, as it was written.
    pub(crate) fn wire(body: &[u8]) -> Result<Self, Error> {
        let text = String::from_utf8_lossy(body).into_owned();
        let json =
            Json::parse(text).map_err(|fault| Error::protocol(format!("what was written is not JSON: {fault}")))?;
        Ok(Product::Wire(json))
    }

    pub(crate) fn without_losses(self) -> Outcome {
        Outcome { product: self, losses: Vec::new() }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal { error, losses: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::opening;

    #[test]
    fn the_first_event_ends_at_a_blank_line_of_any_kind() {
        for end in ["\n\n", "\r\n\r\n", "\r\r"] {
            let stream = format!("event: a{}data: 1{end}data: 2{end}", end.split_at(end.len() / 2).0);
            let whole = stream.find(end).unwrap();
            assert_eq!(opening(stream.as_bytes()), Some(&stream.as_bytes()[..whole]));
            // What arrives later changes nothing.
            assert_eq!(opening(&stream.as_bytes()[..whole + end.len()]), Some(&stream.as_bytes()[..whole]));
            assert_eq!(opening(&stream.as_bytes()[..whole + end.len() - 1]), None);
        }
        assert_eq!(opening(b""), None);
        let endless = vec![b'x'; 100_000];
        assert_eq!(opening(&endless).map(<[u8]>::len), Some(65536));
    }
}
