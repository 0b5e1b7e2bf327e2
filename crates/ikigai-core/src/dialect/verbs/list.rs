//! The models that a provider lists.

use serde_json::{Value, json};

use super::segment;
use crate::wire::WireRequest;
use crate::{Dialect, Error, Limits};

/// A model that a provider lists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedModel {
    /// Its id on the wire.
    pub id: String,
    /// Its display name, if the provider gives one.
    pub name: Option<String>,
    /// The longest prompt, if the provider gives it.
    pub context: Option<u64>,
    /// The longest answer, if the provider gives it.
    pub max_output: Option<u64>,
    /// Who made it or serves it, if the provider says.
    pub owner: Option<String>,
    /// Its release date, such as `2025-09-29`, if the provider gives it.
    pub released: Option<String>,
}

impl Dialect {
    /// Creates the request (a GET without a body) for a page of the list of models. `after` is where the page begins,
    /// as returned by [`decode_models`](Dialect::decode_models).
    pub fn models_request(self, after: Option<&str>) -> WireRequest {
        let after = after.map(segment);
        let path = match (self, after) {
            (Dialect::Anthropic, None) => "/v1/models?limit=1000".to_owned(),
            (Dialect::Anthropic, Some(id)) => format!("/v1/models?limit=1000&after_id={id}"),
            (Dialect::Gemini, None) => "/models?pageSize=1000".to_owned(),
            (Dialect::Gemini, Some(token)) => format!("/models?pageSize=1000&pageToken={token}"),
            (Dialect::OpenaiChat | Dialect::OpenaiResponses, _) => "/models".to_owned(),
            // Served by Amazon's control plane (`bedrock`), whose host is not `bedrock-runtime`.
            (Dialect::BedrockConverse, _) => "/foundation-models".to_owned(),
        };
        let headers = match self {
            Dialect::Anthropic => vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())],
            Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini | Dialect::BedrockConverse => Vec::new(),
        };
        WireRequest { path, headers, ..WireRequest::default() }
    }

    /// Reads the models of one page, and where the next page begins, if there is one.
    ///
    /// # Errors
    /// Returns an error if the answer is not a list of models.
    pub fn decode_models(self, body: &[u8], limits: &Limits) -> Result<(Vec<ListedModel>, Option<String>), Error> {
        let answer = super::read(body, limits)?;
        // Some copies of the API return the bare list.
        let list = answer.get("data").or_else(|| answer.get("models")).unwrap_or(&answer).as_array();
        let list = list.ok_or_else(|| super::unexpected("the answer is not a list of models"))?;
        let models: Vec<ListedModel> = list.iter().filter_map(model).collect();
        let text =
            |key: &str| answer.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        let has_more = answer.get("has_more").and_then(Value::as_bool).unwrap_or(false);
        let next = text("nextPageToken").or_else(|| has_more.then(|| text("last_id")).flatten());
        Ok((models, next))
    }

    /// Encodes a list of models, all on one page, for a client of this dialect.
    #[cfg(feature = "server")]
    pub fn encode_models(self, models: &[ListedModel]) -> Vec<u8> {
        let list: Vec<Value> = models.iter().map(|model| self.entry(model)).collect();
        let id = |model: Option<&ListedModel>| model.map(|model| model.id.clone());
        let answer = match self {
            Dialect::Anthropic | Dialect::BedrockConverse => {
                json!({"data": list, "has_more": false, "first_id": id(models.first()), "last_id": id(models.last())})
            }
            Dialect::OpenaiChat | Dialect::OpenaiResponses => json!({"object": "list", "data": list}),
            Dialect::Gemini => json!({"models": list}),
        };
        super::written(&answer)
    }

    /// Encodes one model for a client of this dialect.
    #[cfg(feature = "server")]
    pub fn encode_model(self, model: &ListedModel) -> Vec<u8> {
        super::written(&self.entry(model))
    }

    fn entry(self, model: &ListedModel) -> Value {
        let ListedModel { id, name, context, max_output, owner, released } = model;
        let name = name.as_deref().unwrap_or(id);
        match self {
            Dialect::Anthropic | Dialect::BedrockConverse => {
                let day = released.as_deref().unwrap_or("1970-01-01");
                json!({
                    "type": "model", "id": id, "display_name": name, "created_at": format!("{day}T00:00:00Z"),
                    "max_input_tokens": context, "max_tokens": max_output
                })
            }
            Dialect::OpenaiChat | Dialect::OpenaiResponses => {
                let owner = owner.as_deref().unwrap_or("system");
                json!({"id": id, "object": "model", "created": 0, "owned_by": owner})
            }
            Dialect::Gemini => json!({
                "name": format!("models/{id}"), "baseModelId": id, "version": "001", "displayName": name,
                "inputTokenLimit": context, "outputTokenLimit": max_output,
                "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"]
            }),
        }
    }
}

impl ListedModel {
    /// Creates a model about which only the id is known.
    pub fn new(id: impl Into<String>) -> Self {
        ListedModel { id: id.into(), name: None, context: None, max_output: None, owner: None, released: None }
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
        owner: text(&["owned_by"]),
        released: text(&["created_at"]).and_then(|time| time.get(..10).map(str::to_owned)),
        id,
    })
}
