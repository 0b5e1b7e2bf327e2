//! Texts as vectors.

use base64::Engine as _;
use futures_util::future::try_join_all;
use http::{HeaderMap, Method};
use ikigai_core::{Cost, Dialect, ModelName, Usage};
use serde_json::{Value, json};
use tracing::Instrument as _;

use crate::codec;
use crate::error::{Error, Reason};
use crate::model::Model;
use crate::upstream::{Upstream, Wanted, segment};

/// How many requests are under way at once.
const AT_ONCE: usize = 4;

/// Texts as vectors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Embeddings {
    /// One for each text, in their order.
    pub vectors: Vec<Vec<f32>>,
    /// The model.
    pub model: ModelName,
    /// The tokens that they took; absent when the provider did not say.
    pub usage: Option<Usage>,
    /// What they cost; absent when nobody knows the model's prices.
    pub cost: Option<Cost>,
}

impl Model {
    /// Turns texts into vectors, one for each, in their order. Many texts go in several requests.
    ///
    /// # Errors
    /// When the provider has no embeddings, or one of the requests fails.
    pub async fn embed(&self, texts: impl IntoIterator<Item = impl Into<String>>) -> Result<Embeddings, Error> {
        let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        let upstream = self.upstream()?;
        let at_most = match upstream.dialect() {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => 2048,
            Dialect::Gemini => 100,
            Dialect::Anthropic => {
                let told =
                    format!("{} has no embeddings; ask a provider that has, such as openai", upstream.provider().name);
                return Err(Reason::Unsupported(told).into());
            }
        };
        if let Some(place) = texts.iter().position(String::is_empty) {
            let told = format!("texts[{place}]: an empty text has no vector");
            return Err(ikigai_core::Error::invalid_request(told).into());
        }
        let span = crate::trace::embeddings(&upstream);
        let began = self.client.clock().now();
        let asked = self.embed_all(&texts, at_most, &upstream).instrument(span.clone());
        let outcome = asked.await.map(|mut embeddings| {
            let priced = upstream.facts().zip(embeddings.usage.as_ref());
            embeddings.cost = priced.and_then(|(facts, usage)| facts.cost(usage));
            embeddings
        });
        crate::trace::embedded(&span, upstream.model(), &outcome, self.client.clock().now().saturating_sub(began));
        outcome
    }

    async fn embed_all(&self, texts: &[String], at_most: usize, upstream: &Upstream) -> Result<Embeddings, Error> {
        let name = self.plan.name.clone();
        let mut embeddings = Embeddings { vectors: Vec::new(), model: name, usage: None, cost: None };
        let batches: Vec<&[String]> = texts.chunks(at_most).collect();
        for group in batches.chunks(AT_ONCE) {
            let answers = try_join_all(group.iter().map(|batch| self.embed_batch(batch, upstream))).await?;
            for (vectors, tokens) in answers {
                embeddings.vectors.extend(vectors);
                if let Some(tokens) = tokens {
                    let usage = embeddings.usage.get_or_insert_default();
                    usage.input_tokens = usage.input_tokens.saturating_add(tokens);
                }
            }
        }
        Ok(embeddings)
    }

    async fn embed_batch(&self, texts: &[String], upstream: &Upstream) -> Result<(Vec<Vec<f32>>, Option<u64>), Error> {
        let (name, dialect) = (upstream.model(), upstream.dialect());
        let (path, body) = asked(dialect, &name.id, texts, self.plan.settings.dimensions);
        let body = body.to_string().into();
        let request = upstream.request(Method::POST, &path, &HeaderMap::new(), body, Wanted::Whole)?;
        let answer = upstream.whole(&request, codec::json).await?;
        let vectors = answered(dialect, &answer);
        if vectors.as_ref().map(Vec::len) != Some(texts.len()) {
            let told =
                format!("expected {} embeddings, got {}", texts.len(), vectors.map_or(0, |vectors| vectors.len()));
            return Err(Error::new(ikigai_core::Error::protocol(told)).at(name));
        }
        let tokens =
            answer.pointer("/usage/prompt_tokens").or_else(|| answer.pointer("/usageMetadata/promptTokenCount"));
        Ok((vectors.unwrap_or_default(), tokens.and_then(Value::as_u64)))
    }
}

fn asked(dialect: Dialect, model: &str, texts: &[String], dimensions: Option<u32>) -> (String, Value) {
    if dialect == Dialect::Gemini {
        let one = |text: &String| {
            let mut one = json!({"model": format!("models/{model}"), "content": {"parts": [{"text": text}]}});
            if let (Some(count), Some(fields)) = (dimensions, one.as_object_mut()) {
                fields.insert("outputDimensionality".to_owned(), count.into());
            }
            one
        };
        let requests: Vec<Value> = texts.iter().map(one).collect();
        return (format!("/models/{}:batchEmbedContents", segment(model)), json!({"requests": requests}));
    }
    let mut body = json!({"model": model, "input": texts});
    if let (Some(count), Some(fields)) = (dimensions, body.as_object_mut()) {
        fields.insert("dimensions".to_owned(), count.into());
    }
    ("/embeddings".to_owned(), body)
}

/// The vectors of an answer, in the order of the texts.
fn answered(dialect: Dialect, answer: &Value) -> Option<Vec<Vec<f32>>> {
    if dialect == Dialect::Gemini {
        return answer.get("embeddings")?.as_array()?.iter().map(|one| numbers(one.get("values")?)).collect();
    }
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
            let bytes = base64::engine::general_purpose::STANDARD.decode(text).ok()?;
            let (chunks, rest) = bytes.as_chunks::<4>();
            rest.is_empty().then(|| chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect())
        }
        _ => None,
    }
}
