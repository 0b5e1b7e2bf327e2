//! Embeddings: strings as vectors.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::vector::{Answer, Listed, Numbered};
use super::{named, segment};
use crate::wire::WireRequest;
use crate::{Dialect, Error, Limits};

/// Embeddings: strings as vectors.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Vectors {
    /// One vector for each string, in the same order.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens used; absent if the provider did not say.
    pub input_tokens: Option<u64>,
}

/// A client's request for embeddings.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EmbedRequest {
    /// The model, if the body names it.
    pub model: Option<String>,
    /// The strings to embed, in order.
    pub texts: Vec<String>,
    /// The requested length of the vectors.
    pub dimensions: Option<u32>,
    /// How the vectors are written in the answer.
    pub form: VectorForm,
    /// The names of settings that other APIs have no equivalent for: `taskType`, `user`.
    pub others: Vec<String>,
}

/// How vectors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorForm {
    /// As lists of numbers.
    Numbers,
    /// As the base64 of their bytes, little-endian.
    Base64,
    /// As lists of numbers, in the answer to a request for a single string.
    Single,
}

impl Dialect {
    /// Decodes a client's request for embeddings.
    ///
    /// # Errors
    /// Returns an error if the body is not such a request, has more values than [`Limits::server`] allows, contains token
    /// numbers or parts other than text, or if the
    /// API has no embeddings.
    #[cfg(feature = "server")]
    pub fn decode_embed_request(self, body: &[u8]) -> Result<EmbedRequest, Error> {
        Limits::server().check_request_values(body)?;
        let body: Value = serde_json::from_slice(body)
            .map_err(|fault| Error::invalid_request(format!("the body is not valid JSON: {fault}")))?;
        match self {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => openai_request(&body),
            Dialect::Gemini => gemini_request(&body),
            Dialect::Anthropic | Dialect::BedrockConverse => {
                Err(Error::invalid_request(format!("{self} has no embeddings")))
            }
        }
    }

    /// Encodes embeddings for a client of this dialect, which requested them from `model`.
    #[cfg(feature = "server")]
    pub fn encode_embeddings(self, vectors: &Vectors, model: &str, form: VectorForm) -> Vec<u8> {
        let answer = match (self, form) {
            (Dialect::Gemini, VectorForm::Single) => {
                json!({"embedding": {"values": vectors.vectors.first().cloned().unwrap_or_default()}})
            }
            (Dialect::Gemini, _) => {
                let list: Vec<Value> = vectors.vectors.iter().map(|vector| json!({"values": vector})).collect();
                json!({"embeddings": list})
            }
            (_, form) => {
                let one = |(index, vector): (usize, &Vec<f32>)| {
                    let embedding = match form {
                        VectorForm::Base64 => {
                            let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
                            json!(STANDARD.encode(bytes))
                        }
                        VectorForm::Numbers | VectorForm::Single => json!(vector),
                    };
                    json!({"object": "embedding", "index": index, "embedding": embedding})
                };
                let data: Vec<Value> = vectors.vectors.iter().enumerate().map(one).collect();
                let tokens = vectors.input_tokens.unwrap_or_default();
                let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
                json!({"object": "list", "data": data, "model": model, "usage": usage})
            }
        };
        super::written(&answer)
    }

    /// Returns how many strings one request for embeddings may contain; `None` if the API has no embeddings.
    pub fn most_embeddings(self) -> Option<usize> {
        match self {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => Some(2048),
            Dialect::Gemini => Some(100),
            Dialect::Anthropic | Dialect::BedrockConverse => None,
        }
    }

    /// Creates the request that turns strings into vectors. Returns `None` if the API has no embeddings.
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

    /// Reads the vectors from the answer to an [`embed_request`](Dialect::embed_request).
    ///
    /// # Errors
    /// Returns an error if the answer cannot be read, or does not have exactly `texts` vectors.
    pub fn decode_embeddings(self, body: &[u8], texts: usize) -> Result<Vectors, Error> {
        let Answer { data, embeddings, usage, usage_metadata } = crate::json::wire::read_answer(body)?;
        let vectors = match self {
            Dialect::Gemini => listed(embeddings.unwrap_or_default().0),
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::BedrockConverse => {
                numbered(data.unwrap_or_default().0)
            }
        };
        let found = vectors.as_ref().map_or(0, Vec::len);
        if found != texts {
            return Err(super::unexpected(format!("expected {texts} embeddings, got {found}")));
        }
        let tokens = usage.and_then(|usage| usage.prompt_tokens);
        let tokens = tokens.or_else(|| usage_metadata.and_then(|usage| usage.prompt_token_count));
        Ok(Vectors { vectors: vectors.unwrap_or_default(), input_tokens: tokens })
    }
}

fn openai_request(body: &Value) -> Result<EmbedRequest, Error> {
    let texts = match body.get("input") {
        Some(Value::String(text)) => Some(vec![text.clone()]),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    let base64 = body.get("encoding_format").is_some_and(|format| format == "base64");
    Ok(EmbedRequest {
        model: body.get("model").and_then(Value::as_str).map(str::to_owned),
        texts: some_texts(texts, "input", "a string or a list of strings")?,
        dimensions: dimensions(body.get("dimensions"), "dimensions")?,
        form: if base64 { VectorForm::Base64 } else { VectorForm::Numbers },
        others: others(body, &["model", "input", "dimensions", "encoding_format"]),
    })
}

/// Reads one string, or a list of requests with one string each, which must agree on the length of the vectors.
fn gemini_request(body: &Value) -> Result<EmbedRequest, Error> {
    let (requests, form) = match body.get("requests") {
        Some(Value::Array(requests)) => (requests.as_slice(), VectorForm::Numbers),
        _ => (std::slice::from_ref(body), VectorForm::Single),
    };
    let (mut texts, mut sizes, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for request in requests {
        let parts = request.pointer("/content/parts").and_then(Value::as_array);
        let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
        let joined: Option<String> = parts.and_then(|parts| parts.iter().map(text).collect());
        texts.push(joined);
        let size = request.get("outputDimensionality").or_else(|| request.get("output_dimensionality"));
        sizes.push(dimensions(size, "outputDimensionality")?);
        unknown.extend(others(request, &["model", "content", "outputDimensionality", "output_dimensionality"]));
    }
    sizes.dedup();
    unknown.sort();
    unknown.dedup();
    if sizes.len() > 1 {
        return Err(named("outputDimensionality", "must be the same in all requests"));
    }
    let texts = some_texts(texts.into_iter().collect(), "content", "made of text parts")?;
    let dimensions = sizes.first().copied().flatten();
    Ok(EmbedRequest { model: None, texts, dimensions, form, others: unknown })
}

fn some_texts(texts: Option<Vec<String>>, field: &str, what: &str) -> Result<Vec<String>, Error> {
    texts.filter(|texts| !texts.is_empty()).ok_or_else(|| named(field, &format!("must be {what}")))
}

fn dimensions(value: Option<&Value>, field: &str) -> Result<Option<u32>, Error> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let count = value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
            count.map(Some).ok_or_else(|| named(field, "must be a whole number above 0"))
        }
    }
}

fn others(body: &Value, known: &[&str]) -> Vec<String> {
    let keys = body.as_object().into_iter().flat_map(|body| body.keys());
    keys.filter(|key| !known.contains(&key.as_str())).cloned().collect()
}

fn listed(list: Vec<Listed>) -> Option<Vec<Vec<f32>>> {
    list.into_iter().map(|one| one.values.map(|vector| vector.0)).collect()
}

/// Sorts vectors that name the index of their string.
fn numbered(list: Vec<Numbered>) -> Option<Vec<Vec<f32>>> {
    let mut placed: Vec<(u64, Vec<f32>)> = Vec::with_capacity(list.len());
    for (place, one) in list.into_iter().enumerate() {
        placed.push((one.index.unwrap_or(place as u64), one.embedding?.0));
    }
    placed.sort_by_key(|(index, _)| *index);
    Some(placed.into_iter().map(|(_, vector)| vector).collect())
}
