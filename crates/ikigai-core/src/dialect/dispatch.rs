//! One way to reach the four dialects.

use serde_json::Value;

use super::{Incoming, Reply, Target, WireError, WireRequest, anthropic, gemini, openai_chat, openai_responses};
use crate::{Dialect, Error, Ids, Request, Response, Severity};

impl WireRequest {
    /// The request, or an error when something could not be carried.
    ///
    /// # Errors
    /// When there is a loss; the message lists all of them.
    pub fn strictly(self, dialect: Dialect) -> Result<Self, Error> {
        let losses: Vec<String> =
            self.losses.iter().filter(|loss| loss.severity == Severity::Loss).map(ToString::to_string).collect();
        if losses.is_empty() {
            return Ok(self);
        }
        Err(Error::invalid_request(format!("strict: {dialect} cannot carry everything: {}", losses.join("; "))))
    }
}

impl Dialect {
    /// Encodes a request for a provider. What could not be carried is in [`WireRequest::losses`].
    ///
    /// # Errors
    /// When the request cannot be put into this dialect at all, such as one without a model.
    pub fn encode_request(self, request: &Request, target: &Target<'_>) -> Result<WireRequest, Error> {
        match self {
            Dialect::Anthropic => anthropic::encode_request(request, target),
            Dialect::OpenaiChat => openai_chat::encode_request(request, target),
            Dialect::OpenaiResponses => openai_responses::encode_request(request, target),
            Dialect::Gemini => gemini::encode_request(request, target),
        }
    }

    /// As [`encode_request`](Dialect::encode_request), but a loss is an error.
    ///
    /// # Errors
    /// When something of the request cannot be carried; the message lists all of it.
    pub fn encode_request_strictly(self, request: &Request, target: &Target<'_>) -> Result<WireRequest, Error> {
        self.encode_request(request, target)?.strictly(self)
    }

    /// Decodes what a client of this dialect sends.
    ///
    /// # Errors
    /// When the body is not a request of this dialect; the message names the place.
    pub fn decode_request(self, incoming: Incoming<'_>) -> Result<Request, Error> {
        match self {
            Dialect::Anthropic => anthropic::decode_request(incoming),
            Dialect::OpenaiChat => openai_chat::decode_request(incoming),
            Dialect::OpenaiResponses => openai_responses::decode_request(incoming),
            Dialect::Gemini => gemini::decode_request(incoming),
        }
    }

    /// Decodes a provider's whole answer. `ids` names calls that the wire leaves without an id.
    ///
    /// # Errors
    /// When the body is an error, whatever its HTTP status was, or no answer of this dialect.
    pub fn decode_response(self, body: Value, ids: &mut Ids) -> Result<Response, Error> {
        match self {
            Dialect::Anthropic => anthropic::decode_response(body, ids),
            Dialect::OpenaiChat => openai_chat::decode_response(body, ids),
            Dialect::OpenaiResponses => openai_responses::decode_response(body, ids),
            Dialect::Gemini => gemini::decode_response(body, ids),
        }
    }

    /// Encodes a whole answer for a client of this dialect.
    pub fn encode_response(self, response: &Response, reply: &Reply) -> Value {
        match self {
            Dialect::Anthropic => anthropic::encode_response(response, reply),
            Dialect::OpenaiChat => openai_chat::encode_response(response, reply),
            Dialect::OpenaiResponses => openai_responses::encode_response(response, reply),
            Dialect::Gemini => gemini::encode_response(response, reply),
        }
    }

    /// Reads a provider's failure. The body may be anything: JSON, HTML, cut off, empty.
    pub fn decode_error(self, status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
        match self {
            Dialect::Anthropic => anthropic::decode_error(status, headers, body),
            Dialect::OpenaiChat => openai_chat::decode_error(status, headers, body),
            Dialect::OpenaiResponses => openai_responses::decode_error(status, headers, body),
            Dialect::Gemini => gemini::decode_error(status, headers, body),
        }
    }

    /// Writes a failure for a client of this dialect.
    pub fn encode_error(self, error: &Error) -> WireError {
        match self {
            Dialect::Anthropic => anthropic::encode_error(error),
            Dialect::OpenaiChat => openai_chat::encode_error(error),
            Dialect::OpenaiResponses => openai_responses::encode_error(error),
            Dialect::Gemini => gemini::encode_error(error),
        }
    }
}
