//! Embeddings: strings as vectors.

use futures_util::future::try_join_all;
use http::Method;
use ikigai_core::catalog::Cost;
use ikigai_core::{ModelName, Usage};
use tracing::Instrument as _;

use crate::error::Error;
use crate::model::Model;
use crate::upstream::{Upstream, Wanted, header_map};

/// How many requests are sent at once.
const AT_ONCE: usize = 4;

/// Embeddings: strings as vectors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Embeddings {
    /// One vector per string, in the same order.
    pub vectors: Vec<Vec<f32>>,
    /// The model.
    pub model: ModelName,
    /// The tokens used; `None` if the provider did not report them.
    pub usage: Option<Usage>,
    /// The cost; `None` if the model's prices are unknown.
    pub cost: Option<Cost>,
}

impl Model {
    /// Turns strings into vectors, one per string, in the same order. Many strings are split into several requests.
    ///
    /// # Errors
    /// Returns an error if the provider does not offer embeddings, or if one of the requests fails.
    pub async fn embed(&self, texts: impl IntoIterator<Item = impl Into<String>>) -> Result<Embeddings, Error> {
        let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        let upstream = self.upstream()?;
        let Some(at_most) = upstream.dialect().most_embeddings() else {
            return Err(super::has_no(&upstream, "embeddings"));
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
        let asked = dialect.embed_request(&name.id, texts, self.plan.settings.dimensions).unwrap_or_default();
        let headers = header_map(&asked.headers)?;
        let request = upstream.request(Method::POST, &asked.path, &headers, asked.body.into(), Wanted::Whole)?;
        let answer = upstream.whole(&request, |body, _| dialect.decode_embeddings(body, texts.len())).await?;
        Ok((answer.vectors, answer.input_tokens))
    }
}
