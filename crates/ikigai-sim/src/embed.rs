//! Embeddings: vectors derived from the words of a text, so that texts with common words are close together.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::wire::WireError;
use ikigai_core::{Dialect, ErrorKind};
use serde_json::{Value, json};

use crate::deliver::Answer;
use crate::generate::fingerprint;
use crate::models;
use crate::service::{Call, refuse};

pub(crate) fn answer(dialect: Dialect, call: &Call, seed: u64) -> Answer {
    written(match dialect {
        Dialect::Gemini => gemini(call, seed),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => openai(call, seed),
        _ => Err(refuse(dialect, ErrorKind::NotFound, format!("{dialect} has no embeddings"))),
    })
}

/// Gemini's list of requests, each with its own vector.
pub(crate) fn batch(call: &Call, seed: u64) -> Answer {
    written(gemini_batch(call, seed))
}

fn written(attempt: Result<Value, WireError>) -> Answer {
    match attempt {
        Ok(body) => Answer::json(&body),
        Err(refusal) => refusal.into(),
    }
}

fn openai(call: &Call, seed: u64) -> Result<Value, WireError> {
    let body = read(Dialect::OpenaiChat, call)?;
    let invalid = |message: &str| refuse(Dialect::OpenaiChat, ErrorKind::InvalidRequest, message);
    let model =
        body.get("model").and_then(Value::as_str).ok_or_else(|| invalid("you must provide a model parameter"))?;
    models::check(Dialect::OpenaiChat, model)?;
    let texts: Vec<String> = match body.get("input") {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) if items.first().is_some_and(Value::is_number) => {
            vec![Value::from(items.clone()).to_string()]
        }
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect()
        }
        _ => return Err(invalid("'input' must be a string or an array of strings")),
    };
    if texts.is_empty() || texts.iter().any(String::is_empty) {
        return Err(invalid("'input' must not be empty"));
    }
    if texts.len() > 2048 {
        return Err(invalid("'input' takes at most 2048 texts"));
    }
    let default = if model.contains("large") { 3072 } else { 1536 };
    let size = dimensions(body.get("dimensions"), default).ok_or_else(|| invalid("'dimensions' must be 1 to 3072"))?;
    let as_base64 = body.get("encoding_format").is_some_and(|format| format == "base64");
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let vector = vector(text, size, seed);
            let embedding = if as_base64 {
                json!(STANDARD.encode(vector.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()))
            } else {
                json!(vector)
            };
            json!({"object": "embedding", "index": index, "embedding": embedding})
        })
        .collect();
    let tokens: usize = texts.iter().map(|text| text.chars().count().div_ceil(4)).sum();
    Ok(
        json!({"object": "list", "data": data, "model": model, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}),
    )
}

fn gemini(call: &Call, seed: u64) -> Result<Value, WireError> {
    let body = read(Dialect::Gemini, call)?;
    Ok(json!({"embedding": {"values": gemini_values(&body, seed)?}}))
}

fn gemini_batch(call: &Call, seed: u64) -> Result<Value, WireError> {
    let body = read(Dialect::Gemini, call)?;
    let requests = body.get("requests").and_then(Value::as_array).ok_or_else(|| {
        refuse(Dialect::Gemini, ErrorKind::InvalidRequest, "* BatchEmbedContentsRequest.requests: requests is required")
    })?;
    let vectors: Result<Vec<Value>, WireError> =
        requests.iter().map(|request| Ok(json!({"values": gemini_values(request, seed)?}))).collect();
    Ok(json!({"embeddings": vectors?}))
}

fn gemini_values(request: &Value, seed: u64) -> Result<Vec<f32>, WireError> {
    let invalid = |message: &str| refuse(Dialect::Gemini, ErrorKind::InvalidRequest, message);
    let parts = request.pointer("/content/parts").and_then(Value::as_array);
    let parts = parts.ok_or_else(|| invalid("* EmbedContentRequest.content: contents is not specified"))?;
    let text: String = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
    let wanted = request
        .get("outputDimensionality")
        .or_else(|| request.get("output_dimensionality"))
        .or_else(|| request.pointer("/embedContentConfig/outputDimensionality"));
    let size = dimensions(wanted, 3072).ok_or_else(|| invalid("outputDimensionality must be 1 to 3072"))?;
    Ok(vector(&text, size, seed))
}

fn read(dialect: Dialect, call: &Call) -> Result<Value, WireError> {
    serde_json::from_slice(&call.body)
        .map_err(|error| refuse(dialect, ErrorKind::InvalidRequest, format!("the body is not JSON: {error}")))
}

fn dimensions(wanted: Option<&Value>, default: usize) -> Option<usize> {
    match wanted {
        None | Some(Value::Null) => Some(default),
        Some(value) => {
            value.as_u64().and_then(|size| usize::try_from(size).ok()).filter(|size| (1..=3072).contains(size))
        }
    }
}

/// A vector of length 1: the sum of a fixed direction for each word.
fn vector(text: &str, size: usize, seed: u64) -> Vec<f32> {
    let mut sum = vec![0.0_f64; size];
    let lower = text.to_lowercase();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).chain(["·"]) {
        let mut state = fingerprint(word.as_bytes()) ^ seed;
        for value in &mut sum {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *value += (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    sum.iter().map(|value| (value / length) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closeness(a: &str, b: &str) -> f32 {
        vector(a, 256, 0).iter().zip(vector(b, 256, 0)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn vectors_have_length_one_and_common_words_bring_texts_close() {
        assert!((closeness("a red apple", "a red apple") - 1.0).abs() < 1e-5);
        assert!(closeness("a red apple", "a green apple") > closeness("a red apple", "stock markets fell today"));
        assert_eq!(vector("", 8, 0).len(), 8);
    }
}
