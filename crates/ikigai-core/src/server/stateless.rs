//! State that a request leaves at its provider, and what a server has to know before it sends the request to another
//! provider.

use memchr::memmem;

use super::Envelope;
use crate::{Dialect, Error, Fields, Part, Request};

/// The prefix of a sealed record, as text and as base64.
const SEALS: [&[u8]; 2] = [b"ikg1.", b"aWtnMS4"];

/// Returns whether a body may contain another provider's state that was sealed for its client. Such a body has to be
/// decoded before it is forwarded.
///
/// ```
/// use ikigai_core::server::may_hold_seals;
///
/// assert!(may_hold_seals(br#"{"signature": "ikg1.eyJwIjoi"}"#));
/// assert!(!may_hold_seals(br#"{"signature": "EqoBCkgIARAB"}"#));
/// ```
pub fn may_hold_seals(body: &[u8]) -> bool {
    SEALS.iter().any(|seal| memmem::find(body, seal).is_some())
}

impl Dialect {
    /// Checks that a request in this dialect includes its whole conversation, so that any provider can answer it.
    ///
    /// ```
    /// use ikigai_core::{Dialect, Limits, wire::Incoming};
    ///
    /// let body = br#"{"model": "gpt-5.4", "input": "And then?", "previous_response_id": "resp_1"}"#;
    /// let incoming = Incoming::new(body);
    /// let (request, _) = Dialect::OpenaiResponses.decode_request(incoming, &Limits::server()).unwrap();
    /// let error = Dialect::OpenaiResponses.check_self_contained(&request).unwrap_err();
    /// assert_eq!(error.param.as_deref(), Some("previous_response_id"));
    /// ```
    ///
    /// # Errors
    /// Returns an error if a part of the conversation is stored at a provider; it names the field. Clients that can do
    /// without stored state recognise this error.
    pub fn check_self_contained(self, request: &Request) -> Result<(), Error> {
        let fields: &[&str] = match self {
            Dialect::Anthropic => &["thread", "container"],
            Dialect::OpenaiChat => &[],
            Dialect::OpenaiResponses => &["previous_response_id", "conversation"],
            Dialect::Gemini => &["cachedContent", "cached_content"],
            Dialect::BedrockConverse => &[],
        };
        let extra = request.provider_data.part(self, Part::Extra);
        let stored = fields.iter().find(|name| extra.get(name).is_some_and(|value| !value.is_null()));
        let Some(field) = stored else { return Ok(()) };
        let message =
            format!("{field}: what is stored at a provider cannot be used here; send the whole conversation instead");
        let mut error = Error::invalid_request(message);
        error.param = Some((*field).to_owned());
        if self == Dialect::Anthropic {
            // The tool runners of the newest SDKs start with threads, and fall back when they get exactly this error.
            let mut details = Fields::default();
            details.set("error_code", "thread_unsupported_request");
            details.set("unsupported", crate::Json::of(&[field]).unwrap_or_default());
            let mut own = Fields::default();
            own.set("details", details);
            error.error_type = Some("invalid_request_error".to_owned());
            error.status = Some(400);
            error.provider_data.set_part(self, Part::Answer, "error", own);
        }
        Err(error)
    }

    /// Returns whether the conversation in a body is missing or of the wrong type, judging by its first byte. Decoding
    /// such a body gives the error that names the field; any other can be forwarded without being inspected.
    ///
    /// ```
    /// use ikigai_core::Dialect;
    /// use ikigai_core::server::Envelope;
    ///
    /// let body = br#"{"model": "gpt-5.4", "messages": "Hello"}"#;
    /// assert!(Dialect::OpenaiChat.lacks_conversation(&Envelope::read(body)?));
    /// # Ok::<(), ikigai_core::server::EnvelopeError>(())
    /// ```
    pub fn lacks_conversation(self, body: &Envelope<'_>) -> bool {
        let (field, begins): (&str, &[u8]) = match self {
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::BedrockConverse => ("messages", b"["),
            // A stored prompt or conversation may replace it.
            Dialect::OpenaiResponses if body.get("input").is_none() => return false,
            Dialect::OpenaiResponses => ("input", b"[\""),
            // Google's reader accepts a single message in place of a list.
            Dialect::Gemini => ("contents", b"[{"),
        };
        let first = body.get(field).and_then(|value| value.first());
        first.is_none_or(|first| !begins.contains(first))
    }

    /// Returns bytes that keep a silent stream in this dialect alive between events; empty if clients accept none.
    pub fn keep_alive(self) -> &'static [u8] {
        match self {
            Dialect::Anthropic => b"event: ping\ndata: {\"type\": \"ping\"}\n\n",
            Dialect::OpenaiChat | Dialect::OpenaiResponses => b": keep-alive\n\n",
            Dialect::Gemini | Dialect::BedrockConverse => b"",
        }
    }

    /// Returns a header that requests in this dialect must have, and the value to use if a client omits it.
    pub fn required_header(self) -> Option<(&'static str, &'static str)> {
        match self {
            Dialect::Anthropic => Some(("anthropic-version", "2023-06-01")),
            Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini | Dialect::BedrockConverse => None,
        }
    }

    /// Returns whether clients of this dialect have a field for sealed reasoning state and send it back on their own.
    pub fn carries_state(self) -> bool {
        match self {
            Dialect::Anthropic | Dialect::OpenaiResponses | Dialect::Gemini => true,
            Dialect::OpenaiChat | Dialect::BedrockConverse => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::Limits;
    use crate::wire::Incoming;

    fn checked(dialect: Dialect, body: serde_json::Value) -> Result<(), Error> {
        let (path, body) = (Some("/v1beta/models/g:generateContent"), body.to_string());
        let incoming = Incoming { path, body: body.as_bytes() };
        dialect.check_self_contained(&dialect.decode_request(incoming, &Limits::server()).unwrap().0)
    }

    #[test]
    fn what_is_stored_elsewhere_is_named() {
        let messages = json!([{"role": "user", "content": "Hi"}]);
        let contents = json!([{"role": "user", "parts": [{"text": "Hi"}]}]);
        for (dialect, body, field) in [
            (
                Dialect::Anthropic,
                json!({"model": "m", "max_tokens": 1, "messages": messages, "thread": {"type": "create"}}),
                "thread",
            ),
            (Dialect::OpenaiResponses, json!({"model": "m", "input": "Hi", "conversation": "c"}), "conversation"),
            (Dialect::Gemini, json!({"contents": contents, "cachedContent": "cachedContents/1"}), "cachedContent"),
        ] {
            assert_eq!(checked(dialect, body).unwrap_err().param.as_deref(), Some(field));
        }
        assert_eq!(
            checked(Dialect::OpenaiResponses, json!({"model": "m", "input": "Hi", "previous_response_id": null})),
            Ok(())
        );
    }

    #[test]
    fn a_tool_runner_can_go_on_without_threads() {
        let body = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}], "thread": {"type": "create"}});
        let wire = Dialect::Anthropic.encode_error(&checked(Dialect::Anthropic, body).unwrap_err());
        let body: serde_json::Value = serde_json::from_slice(&wire.body).unwrap();
        assert_eq!(
            (wire.status, body["error"]["details"].clone()),
            (400, json!({"error_code": "thread_unsupported_request", "unsupported": ["thread"]}))
        );
    }
}
