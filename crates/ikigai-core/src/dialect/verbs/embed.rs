//! Texts as vectors.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::segment;
use crate::wire::WireRequest;
use crate::{Dialect, Error};

/// Texts as vectors.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Vectors {
    /// One for each text, in their order.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens that they took; absent if the provider did not say.
    pub input_tokens: Option<u64>,
}

impl Dialect {
    /// How many texts one request for vectors may hold; `None` if the API has none.
    pub fn most_embeddings(self) -> Option<usize> {
        match self {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => Some(2048),
            Dialect::Gemini => Some(100),
            Dialect::Anthropic | Dialect::BedrockConverse => None,
        }
    }

    /// The request that turns texts into vectors; `None` if the API cannot.
    pub fn embed_request(self, model: &str, texts: &[String], dimensions: Option<u32>) -> Option<WireRequest> {
        let (path, body) = match self {
            Dialect::Gemini => {
                let one = |text: &String| {
                    let mut one = json!({"model": format!("models/{model}"), "content": {"parts": [{"text": text}]}});
                    if let (Some(count), Some(fields)) = (dimensions, one.as_object_mut()) {
                        fields.insert("outputDimensionality".to_owned(), count.into());
                    }
                    one
                };
                let requests: Vec<Value> = texts.iter().map(one).collect();
                (format!("/models/{}:batchEmbedContents", segment(model)), json!({"requests": requests}))
            }
            Dialect::OpenaiChat | Dialect::OpenaiResponses => {
                let mut body = json!({"model": model, "input": texts});
                if let (Some(count), Some(fields)) = (dimensions, body.as_object_mut()) {
                    fields.insert("dimensions".to_owned(), count.into());
                }
                ("/embeddings".to_owned(), body)
            }
            Dialect::Anthropic | Dialect::BedrockConverse => return None,
        };
        let body = serde_json::to_vec(&body).ok()?;
        Some(WireRequest { path, body, ..WireRequest::default() })
    }

    /// The vectors in the answer to an [`embed_request`](Dialect::embed_request).
    ///
    /// # Errors
    /// If the answer does not hold one vector for each of `texts`.
    pub fn decode_embeddings(self, body: &[u8], texts: usize) -> Result<Vectors, Error> {
        let answer = super::read(body)?;
        let vectors = match self {
            Dialect::Gemini => listed(&answer),
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::BedrockConverse => {
                numbered(&answer)
            }
        };
        let found = vectors.as_ref().map_or(0, Vec::len);
        if found != texts {
            return Err(super::unexpected(format!("expected {texts} embeddings, got {found}")));
        }
        let tokens =
            answer.pointer("/usage/prompt_tokens").or_else(|| answer.pointer("/usageMetadata/promptTokenCount"));
        Ok(Vectors { vectors: vectors.unwrap_or_default(), input_tokens: tokens.and_then(Value::as_u64) })
    }
}

fn listed(answer: &Value) -> Option<Vec<Vec<f32>>> {
    answer.get("embeddings")?.as_array()?.iter().map(|one| numbers(one.get("values")?)).collect()
}

/// Each vector says which text it is of.
fn numbered(answer: &Value) -> Option<Vec<Vec<f32>>> {
    let mut placed: Vec<(u64, Vec<f32>)> = Vec::new();
    for (place, one) in answer.get("data")?.as_array()?.iter().enumerate() {
        let index = one.get("index").and_then(Value::as_u64).unwrap_or(place as u64);
        placed.push((index, numbers(one.get("embedding")?)?));
    }
    placed.sort_by_key(|(index, _)| *index);
    Some(placed.into_iter().map(|(_, vector)| vector).collect())
}

/// A vector as a list of numbers, or as the base64 of its bytes, little-endian.
fn numbers(value: &Value) -> Option<Vec<f32>> {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "vectors have no more precision than this")]
        Value::Array(numbers) => numbers.iter().map(|number| number.as_f64().map(|number| number as f32)).collect(),
        Value::String(text) => {
            let bytes = STANDARD.decode(text).ok()?;
            let (chunks, rest) = bytes.as_chunks::<4>();
            rest.is_empty().then(|| chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}
