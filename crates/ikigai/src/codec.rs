//! The dialect of one model: the only place in this crate where requests are encoded and answers decoded.

use http::{HeaderMap, HeaderValue};
use ikigai_core::provider::Route;
use ikigai_core::wire::{Framing, Ids, StreamDecoder, WireRequest};
use ikigai_core::{Dialect, Error, Limits, Request, Response};

use crate::error::Reason;
use crate::redact::Secrets;
use crate::transport::Body;
use crate::upstream::Wanted;

/// The dialect of one model.
#[derive(Debug, Clone)]
pub(crate) struct Codec {
    dialect: Dialect,
    limits: Limits,
}

impl Codec {
    pub(crate) fn new(route: &Route<'_>, limits: Limits) -> Self {
        Codec { dialect: route.dialect, limits }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the media type to ask for.
    pub(crate) fn accept(&self, wanted: Wanted) -> HeaderValue {
        HeaderValue::from_static(match wanted {
            Wanted::Whole => "application/json",
            Wanted::Stream => self.dialect.framing().media_type(),
        })
    }

    pub(crate) fn encode_request(&self, request: &Request, route: &Route<'_>) -> Result<WireRequest, Error> {
        self.dialect.encode_request(request, &route.target(), &self.limits)
    }

    /// Decodes a complete answer. An error quotes the invalid part, without secrets.
    pub(crate) fn decode_response(&self, body: &[u8], secrets: &Secrets) -> Result<Response, Error> {
        let read = |body: &[u8]| self.dialect.decode_response(body, &mut ids(), &self.limits);
        read(body).map_err(|mut error| {
            // Decoded again without secrets before it is quoted: an excerpt could otherwise end in the middle of one.
            if let Some(hidden) = secrets.without(body) {
                error = read(&hidden).err().unwrap_or(error);
            }
            secrets.redact_provider_error(&mut error);
            error
        })
    }

    /// Decodes a failed response, whatever its body contains.
    pub(crate) fn decode_error(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Error {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        self.dialect.decode_error(Some(status), &headers, &String::from_utf8_lossy(body))
    }

    pub(crate) fn stream_decoder(&self) -> StreamDecoder {
        StreamDecoder::new(self.dialect, ids(), &self.limits)
    }

    /// Returns the body in the dialect's own framing, without Amazon's frames if it had any, and adjusts the headers.
    pub(crate) fn unframe(&self, body: Body, headers: &mut HeaderMap) -> Result<Body, Reason> {
        let media_type = headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !media_type.is_some_and(|media_type| media_type.starts_with(Framing::Amazon.media_type())) {
            return Ok(body);
        }
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(Framing::Events.media_type()));
        headers.remove(http::header::CONTENT_LENGTH);
        self.unframed(body)
    }

    #[cfg(feature = "bedrock")]
    fn unframed(&self, body: Body) -> Result<Body, Reason> {
        use crate::transport::eventstream::{Inside, unframed};
        let inside = match self.dialect.framing() {
            Framing::Amazon => Inside::Union,
            // Bedrock wraps the streams of all other dialects unchanged.
            _ => Inside::Chunks,
        };
        Ok(unframed(body, inside))
    }

    #[cfg(not(feature = "bedrock"))]
    fn unframed(&self, _: Body) -> Result<Body, Reason> {
        let told = "the answer comes in Amazon's frames, which this build cannot read (feature `bedrock`)";
        Err(Reason::Unsupported(told.to_owned()))
    }
}

/// Returns ids for blocks that have none on the wire, seeded from the system's randomness: no two answers share one.
fn ids() -> Ids {
    Ids::seeded(fastrand::u64(..))
}
