//! Token counts of prompts, as counted by the provider.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::server::Envelope;
use crate::wire::{Incoming, WireRequest};
use crate::{Dialect, Error, Fields, Json, Limits, Request};

/// The request fields that Anthropic's count accepts.
const ANTHROPIC: [&str; 9] = [
    "messages",
    "model",
    "system",
    "thinking",
    "tool_choice",
    "tools",
    "cache_control",
    "output_config",
    "mcp_servers",
];

/// The request fields that OpenAI's count accepts.
const RESPONSES: [&str; 9] = [
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "truncation",
];

impl Dialect {
    /// Creates the request that counts the tokens of an encoded request. Returns `None` if the API cannot count.
    pub fn count_request(self, encoded: &WireRequest) -> Option<WireRequest> {
        let mut fields: Fields = serde_json::from_slice(&encoded.body).ok()?;
        let (path, body) = match self {
            Dialect::Anthropic => {
                fields.retain(|name, _| ANTHROPIC.contains(&name));
                (format!("{}/count_tokens", encoded.path), fields)
            }
            Dialect::OpenaiResponses => {
                fields.retain(|name, _| RESPONSES.contains(&name));
                (format!("{}/input_tokens", encoded.path), fields)
            }
            Dialect::Gemini => {
                let (model, _) = encoded.path.rsplit_once(':')?;
                fields.set("model", model.trim_start_matches('/'));
                let mut outer = Fields::default();
                outer.set("generateContentRequest", Json::from(fields));
                (format!("{model}:countTokens"), outer)
            }
            Dialect::OpenaiChat | Dialect::BedrockConverse => return None,
        };
        let body = serde_json::to_vec(&body).ok()?;
        Some(WireRequest { path, body, losses: Vec::new(), ..encoded.clone() })
    }

    /// Reads the token count from the answer to a [`count_request`](Dialect::count_request). Returns `None` if there is
    /// none.
    ///
    /// # Errors
    /// Returns an error if the answer is not JSON or reaches a limit.
    pub fn decode_count(self, body: &[u8], limits: &Limits) -> Result<Option<u64>, Error> {
        let answer = super::read(body, limits)?;
        let count = match self {
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::BedrockConverse => {
                answer.get("input_tokens")
            }
            Dialect::Gemini => answer.get("totalTokens"),
        };
        Ok(count.and_then(Value::as_u64))
    }

    /// Decodes a client's request to count tokens.
    ///
    /// # Errors
    /// Same as [`decode_request`](Dialect::decode_request).
    #[cfg(feature = "server")]
    pub fn decode_count_request(self, incoming: Incoming<'_>, limits: &Limits) -> Result<Request, Error> {
        let body = match self {
            // Gemini's count accepts the contents alone, or a whole request under its own name.
            Dialect::Gemini => inner_request(incoming.body),
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::BedrockConverse => {
                Cow::Borrowed(incoming.body)
            }
        };
        Ok(self.decode_request(Incoming { body: &body, ..incoming }, limits)?.0)
    }

    /// Encodes a count for a client of this dialect.
    ///
    /// ```
    /// use ikigai_core::Dialect;
    ///
    /// assert_eq!(Dialect::Anthropic.encode_count(7), br#"{"input_tokens":7}"#);
    /// ```
    #[cfg(feature = "server")]
    pub fn encode_count(self, tokens: u64) -> Vec<u8> {
        let answer = match self {
            Dialect::Anthropic | Dialect::BedrockConverse => json!({"input_tokens": tokens}),
            Dialect::OpenaiChat | Dialect::OpenaiResponses => {
                json!({"object": "response.input_tokens", "input_tokens": tokens})
            }
            Dialect::Gemini => json!({
                "totalTokens": tokens,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}]
            }),
        };
        super::written(&answer)
    }
}

fn inner_request(body: &[u8]) -> Cow<'_, [u8]> {
    let Ok(envelope) = Envelope::read(body) else { return Cow::Borrowed(body) };
    let inner = envelope.get("generateContentRequest").or_else(|| envelope.get("generate_content_request"));
    Cow::Borrowed(inner.unwrap_or(body))
}
