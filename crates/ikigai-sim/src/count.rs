//! Token counts, in each provider's shape.

use ikigai_core::wire::{Incoming, WireError};
use ikigai_core::{Dialect, ErrorKind, Limits};
use serde_json::{Value, json};

use crate::deliver::Answer;
use crate::service::{Call, refuse};
use crate::talk;

pub(crate) fn answer(dialect: Dialect, call: &Call) -> Answer {
    match attempt(dialect, call) {
        Ok(answer) => answer,
        Err(refusal) => refusal.into(),
    }
}

fn attempt(dialect: Dialect, call: &Call) -> Result<Answer, WireError> {
    let body: Value = serde_json::from_slice(&call.body)
        .map_err(|error| refuse(dialect, ErrorKind::InvalidRequest, format!("the body is no JSON: {error}")))?;
    let target = call.target();
    // Gemini's count takes the contents bare, or a whole request under its own name.
    let body = match body.get("generateContentRequest") {
        Some(inner) if dialect == Dialect::Gemini => inner.clone(),
        _ => body,
    };
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let (request, _) = dialect
        .decode_request(Incoming { path: Some(&target), body: &body }, &Limits::server())
        .map_err(|error| dialect.encode_error(&error))?;
    let tokens = talk::prompt_tokens(&request);
    Ok(Answer::json(&match dialect {
        Dialect::Anthropic | Dialect::BedrockConverse => json!({"input_tokens": tokens}),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            json!({"object": "response.input_tokens", "input_tokens": tokens})
        }
        Dialect::Gemini => json!({
            "totalTokens": tokens,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}]
        }),
    }))
}
