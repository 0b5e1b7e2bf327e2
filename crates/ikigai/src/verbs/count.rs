//! How many tokens a prompt has.

use std::fmt;

use http::Method;
use ikigai_core::{Context, Dialect, ErrorKind, WireRequest};
use serde_json::{Map, Value, json};

use super::estimate;
use crate::codec::{self, Codec};
use crate::error::Error;
use crate::model::Model;
use crate::upstream::{Wanted, header_map, route};

/// How many tokens a prompt has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenCount {
    /// The tokens.
    pub tokens: u64,
    /// The provider counted them. If not, they are an estimate from the prompt's size, off by a third and more.
    pub exact: bool,
}

impl fmt::Display for TokenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = if self.exact { "" } else { "about " };
        write!(f, "{about}{} tokens", self.tokens)
    }
}

/// What Anthropic's count takes of a request.
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
/// What OpenAI's count takes of a request.
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

impl Model {
    /// Counts the tokens of a prompt, with the system prompt and the tools: by the provider where it counts, by an estimate
    /// that says it is one elsewhere.
    ///
    /// # Errors
    /// When the prompt is not valid, or the provider that counts cannot be reached.
    pub async fn count_tokens(&self, prompt: impl Into<Context>) -> Result<TokenCount, Error> {
        let request = self.request(prompt.into())?;
        let estimated = TokenCount { tokens: estimate(&request), exact: false };
        let route = route(&self.client, &self.plan.name, &self.plan.settings)?;
        let codec = Codec::new(&route);
        if codec.is_converse() {
            return Ok(estimated);
        }
        let encoded = codec.encode_request(&request, &route)?;
        let Some((path, body)) = counting(codec.dialect(), &encoded) else { return Ok(estimated) };
        let upstream = self.upstream()?;
        let (headers, body) = (header_map(&encoded.headers)?, body.to_string().into());
        let request = upstream.request(Method::POST, &path, &headers, body, Wanted::Whole)?;
        match upstream.whole(&request, codec::json).await {
            Ok(answer) => {
                let count = answer.get("input_tokens").or_else(|| answer.get("totalTokens"));
                Ok(count.and_then(Value::as_u64).map_or(estimated, |tokens| TokenCount { tokens, exact: true }))
            }
            // Some copies of an API lack this part of it.
            Err(error) if error.kind() == ErrorKind::NotFound || matches!(error.status(), Some(404 | 405 | 501)) => {
                Ok(estimated)
            }
            Err(error) => Err(error),
        }
    }
}

/// The path and the body that a dialect's count wants; none where it has no count.
fn counting(dialect: Dialect, encoded: &WireRequest) -> Option<(String, Value)> {
    let taken = |keys: &[&str]| {
        let fields: Map<String, Value> = serde_json::from_slice(&encoded.body).ok()?;
        let taken: Map<String, Value> = fields
            .iter()
            .filter(|(key, _)| keys.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Some(Value::Object(taken))
    };
    match dialect {
        Dialect::Anthropic => Some((format!("{}/count_tokens", encoded.path), taken(&ANTHROPIC)?)),
        Dialect::OpenaiResponses => Some((format!("{}/input_tokens", encoded.path), taken(&RESPONSES)?)),
        Dialect::Gemini => {
            let (model, _) = encoded.path.rsplit_once(':')?;
            let mut inner: Map<String, Value> = serde_json::from_slice(&encoded.body).ok()?;
            inner.insert("model".to_owned(), model.trim_start_matches('/').into());
            Some((format!("{model}:countTokens"), json!({"generateContentRequest": inner})))
        }
        Dialect::OpenaiChat => None,
    }
}
