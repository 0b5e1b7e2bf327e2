//! Which models a provider has, by its own word.

use serde_json::Value;

use super::segment;
use crate::wire::WireRequest;
use crate::{Dialect, Error};

/// A model that a provider says it has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedModel {
    /// Its id on the wire.
    pub id: String,
    /// Its name for people, where the provider gives one.
    pub name: Option<String>,
    /// The longest prompt, where the provider says.
    pub context: Option<u64>,
    /// The longest answer, where the provider says.
    pub max_output: Option<u64>,
}

impl Dialect {
    /// The request (a GET, without a body) for a page of the list of models. `after` is where the page begins, as
    /// [`decode_models`](Dialect::decode_models) gave it.
    pub fn models_request(self, after: Option<&str>) -> WireRequest {
        let after = after.map(segment);
        let path = match (self, after) {
            (Dialect::Anthropic, None) => "/v1/models?limit=1000".to_owned(),
            (Dialect::Anthropic, Some(id)) => format!("/v1/models?limit=1000&after_id={id}"),
            (Dialect::Gemini, None) => "/models?pageSize=1000".to_owned(),
            (Dialect::Gemini, Some(token)) => format!("/models?pageSize=1000&pageToken={token}"),
            (Dialect::OpenaiChat | Dialect::OpenaiResponses, _) => "/models".to_owned(),
            // Served by Amazon's control plane (`bedrock`), which has a host of its own beside `bedrock-runtime`.
            (Dialect::BedrockConverse, _) => "/foundation-models".to_owned(),
        };
        let headers = match self {
            Dialect::Anthropic => vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())],
            Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini | Dialect::BedrockConverse => Vec::new(),
        };
        WireRequest { path, headers, ..WireRequest::default() }
    }

    /// The models of one page, and where the next one begins if there is one.
    ///
    /// # Errors
    /// If the answer is not a list of models.
    pub fn decode_models(self, body: &[u8]) -> Result<(Vec<ListedModel>, Option<String>), Error> {
        let answer = super::read(body)?;
        // Some copies of the API answer with the list itself.
        let list = answer.get("data").or_else(|| answer.get("models")).unwrap_or(&answer).as_array();
        let list = list.ok_or_else(|| super::unexpected("the answer is not a list of models"))?;
        let models: Vec<ListedModel> = list.iter().filter_map(model).collect();
        let text =
            |key: &str| answer.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        let has_more = answer.get("has_more").and_then(Value::as_bool).unwrap_or(false);
        let next = text("nextPageToken").or_else(|| has_more.then(|| text("last_id")).flatten());
        Ok((models, next))
    }
}

fn model(entry: &Value) -> Option<ListedModel> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| entry.get(key).and_then(Value::as_str)).map(str::to_owned);
    let number = |keys: &[&str]| keys.iter().find_map(|key| entry.get(key).and_then(Value::as_u64));
    let id = text(&["id"]).or_else(|| text(&["name"]).map(|name| name.trim_start_matches("models/").to_owned()))?;
    Some(ListedModel {
        name: text(&["display_name", "displayName", "name"]).filter(|name| *name != id && !name.starts_with("models/")),
        context: number(&["max_input_tokens", "inputTokenLimit", "context_length", "context_window", "max_model_len"]),
        max_output: number(&["max_tokens", "outputTokenLimit", "max_completion_tokens"]),
        id,
    })
}
