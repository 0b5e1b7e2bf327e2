//! The entry points for all dialects.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    Incoming, Reply, Target, WireError, WireRequest, WireResponse, anthropic, bedrock_converse, gemini, hosted,
    openai_chat, openai_responses,
};
use crate::fit::{Abilities, built_in, cited, fit};
use crate::wire::Ids;
use crate::{Dialect, Error, ErrorKind, Limits, Loss, LossCode, Request, Response, Severity};

impl WireRequest {
    /// Returns the request, or an error if anything could not be carried.
    ///
    /// # Errors
    /// Returns an error if there is a loss; the message lists all losses.
    pub fn strictly(self, dialect: Dialect) -> Result<Self, Error> {
        strictly(&self.losses, dialect).map(|()| self)
    }
}

impl WireResponse {
    /// Returns the answer, or an error if anything could not be carried.
    ///
    /// # Errors
    /// Returns an error if there is a loss; the message lists all losses.
    pub fn strictly(self, dialect: Dialect) -> Result<Self, Error> {
        strictly(&self.losses, dialect).map(|()| self)
    }
}

fn strictly(losses: &[Loss], dialect: Dialect) -> Result<(), Error> {
    let losses: Vec<String> =
        losses.iter().filter(|loss| loss.severity == Severity::Loss).map(ToString::to_string).collect();
    if losses.is_empty() {
        return Ok(());
    }
    Err(Error::invalid_request(format!("strict: {dialect} cannot carry everything: {}", losses.join("; "))))
}

impl Dialect {
    /// Encodes a request for a provider. [`WireRequest::losses`] lists what could not be carried.
    ///
    /// # Errors
    /// Returns an error if the request cannot be expressed in this dialect at all, for example because it has no model.
    pub fn encode_request(self, request: &Request, target: &Target<'_>, limits: &Limits) -> Result<WireRequest, Error> {
        let encode = match self {
            Dialect::Anthropic => anthropic::encode_request,
            Dialect::OpenaiChat => openai_chat::encode_request,
            Dialect::OpenaiResponses => openai_responses::encode_request,
            Dialect::Gemini => gemini::encode_request,
            Dialect::BedrockConverse => bedrock_converse::encode_request,
        };
        let request = match self {
            Dialect::BedrockConverse => bedrock_converse::from_former(request, target),
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini => {
                Cow::Borrowed(request)
            }
        };
        let mut losses = Vec::new();
        let request = built_in::ask(request, target, self, &mut losses);
        let request = cited::settle(request, self, &mut losses);
        let mut fitted = fit(&request, target, self, limits)?;
        let mut wire = encode(&fitted, limits)?;
        wire.names = std::mem::take(&mut fitted.names);
        // The encoder's losses come after those of the fit.
        losses.append(&mut fitted.losses);
        losses.append(&mut wire.losses);
        wire.losses = losses;
        Ok(wire)
    }

    /// Returns what this wire format can express.
    pub(crate) fn abilities(self) -> &'static Abilities {
        match self {
            Dialect::Anthropic => &anthropic::ABILITIES,
            Dialect::OpenaiChat => &openai_chat::ABILITIES,
            Dialect::OpenaiResponses => &openai_responses::ABILITIES,
            Dialect::Gemini => &gemini::ABILITIES,
            Dialect::BedrockConverse => &bedrock_converse::ABILITIES,
        }
    }

    /// Like [`encode_request`](Dialect::encode_request), but a loss is an error.
    ///
    /// # Errors
    /// Returns an error if anything in the request cannot be carried; the message lists everything.
    pub fn encode_request_strictly(
        self,
        request: &Request,
        target: &Target<'_>,
        limits: &Limits,
    ) -> Result<WireRequest, Error> {
        self.encode_request(request, target, limits)?.strictly(self)
    }

    /// Decodes a client's request, and returns it with what is needed to write the answer.
    ///
    /// # Errors
    /// Returns an error if the body is not a request in this dialect, or reaches a limit; the message names the place.
    /// Always returns one if clients do not speak the dialect: see [`serves_clients`](Dialect::serves_clients).
    #[cfg(feature = "server")]
    pub fn decode_request(self, incoming: Incoming<'_>, limits: &Limits) -> Result<(Request, Reply), Error> {
        limits.check_request_size(incoming.body)?;
        let mut request = match self {
            Dialect::Anthropic => anthropic::decode_request(incoming, limits),
            Dialect::OpenaiChat => openai_chat::decode_request(incoming, limits),
            Dialect::OpenaiResponses => openai_responses::decode_request(incoming, limits),
            Dialect::Gemini => gemini::decode_request(incoming, limits),
            Dialect::BedrockConverse => Err(self.providers_only()),
        }?;
        hosted::disown(&mut request, self);
        let reply = Reply {
            model: (!request.model.is_empty()).then(|| request.model.clone()),
            stream_usage: wants_stream_usage(&request),
            older_calls: openai_chat::has_older_tools(&request),
            json_array: self == Dialect::Gemini
                && request.stream == Some(true)
                && incoming.path.is_some_and(|path| !path.contains("alt=sse")),
            ..Reply::default()
        };
        Ok((request, reply))
    }

    /// Decodes a provider's complete answer. `ids` supplies ids for calls that have none on the wire.
    ///
    /// # Errors
    /// Returns an error if the body is an error (whatever its status) or not in this dialect, or reaches a limit.
    pub fn decode_response(self, body: &[u8], ids: &mut Ids, limits: &Limits) -> Result<Response, Error> {
        limits.check_answer(body)?;
        let mut response = match self {
            Dialect::Anthropic => anthropic::decode_response(body, ids),
            Dialect::OpenaiChat => openai_chat::decode_response(body, ids),
            Dialect::OpenaiResponses => openai_responses::decode_response(body, ids),
            Dialect::Gemini => gemini::decode_response(body, ids, limits),
            Dialect::BedrockConverse => bedrock_converse::decode_response(body, ids),
        }?;
        limits.check_response(&response)?;
        hosted::read_answer(&mut response, self);
        Ok(response)
    }

    /// Encodes a complete answer for a client of this dialect. [`WireResponse::losses`] lists what could not be
    /// carried. If clients do not speak the dialect, that is everything, and the body is an error that says so.
    #[cfg(feature = "server")]
    pub fn encode_response(self, response: &Response, reply: &Reply) -> WireResponse {
        let lowered = hosted::lower(response, self, reply);
        let response = &*hosted::or_same(&lowered, response);
        let mut wire = match self {
            Dialect::Anthropic => anthropic::encode_response(response, reply),
            Dialect::OpenaiChat => openai_chat::encode_response(response, reply),
            Dialect::OpenaiResponses => openai_responses::encode_response(response, reply),
            Dialect::Gemini => gemini::encode_response(response, reply),
            Dialect::BedrockConverse => {
                WireResponse { body: self.encode_error(&self.providers_only()).body, losses: vec![self.lost_answer()] }
            }
        };
        wire.losses.extend(hosted::uncounted(response.usage.as_ref(), self));
        if let Some(lowered) = lowered {
            lowered.settle(&mut wire.losses);
        }
        wire
    }

    /// Decodes a provider's failure. The body may be anything: JSON, HTML, truncated, empty.
    pub fn decode_error(self, status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
        let mut error = match self {
            Dialect::Anthropic => anthropic::decode_error(status, headers, body),
            Dialect::OpenaiChat => openai_chat::decode_error(status, headers, body),
            Dialect::OpenaiResponses => openai_responses::decode_error(status, headers, body),
            Dialect::Gemini => gemini::decode_error(status, headers, body),
            Dialect::BedrockConverse => bedrock_converse::decode_error(status, headers, body),
        };
        // Some have no code for it and call it invalid.
        if error.status == Some(413) && error.kind == ErrorKind::InvalidRequest {
            error.kind = ErrorKind::RequestTooLarge;
        }
        error
    }

    /// Encodes a failure for a client of this dialect.
    pub fn encode_error(self, error: &Error) -> WireError {
        match self {
            Dialect::Anthropic => anthropic::encode_error(error),
            Dialect::OpenaiChat => openai_chat::encode_error(error),
            Dialect::OpenaiResponses => openai_responses::encode_error(error),
            Dialect::Gemini => gemini::encode_error(error),
            Dialect::BedrockConverse => bedrock_converse::encode_error(error),
        }
    }

    /// The error for operations that only make sense for clients' dialects.
    fn providers_only(self) -> Error {
        Error::invalid_request(format!(
            "only providers speak {self}: its requests are not decoded, its answers not encoded"
        ))
    }

    /// The loss of a whole answer in a dialect that clients do not speak.
    pub(super) fn lost_answer(self) -> Loss {
        let why = format!("no client speaks {self}; nothing of the answer is written");
        Loss::new(LossCode::NotInDialect, "response", "response", why)
    }
}

fn wants_stream_usage(request: &Request) -> bool {
    let options = request.provider_data.part(Dialect::OpenaiChat, crate::Part::Extra).get("stream_options");
    options.is_some_and(|options| options.value().get("include_usage") == Some(&Value::Bool(true)))
}
