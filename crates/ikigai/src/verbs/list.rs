//! Which models a provider has, by its own word.

use bytes::Bytes;
use http::Method;
use ikigai_core::{Dialect, ModelName, ProviderError};
use serde_json::Value;

use crate::client::Client;
use crate::codec;
use crate::error::{Error, Reason};
use crate::settings::Settings;
use crate::upstream::{Upstream, Wanted, header_map, segment};

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

/// More pages than any provider has: a list that does not end is broken.
const PAGES: usize = 100;

impl Client {
    /// The models that a provider says it has, by its id or alias. The built-in catalogue knows more about each:
    /// [`Client::registry`].
    ///
    /// # Errors
    /// When there is no such provider, no key for it, or no answer.
    pub async fn models(&self, provider: &str) -> Result<Vec<ListedModel>, Error> {
        let row = self.registry().providers.find(provider).ok_or_else(|| {
            let nearest = self.registry().providers.nearest(provider).map(str::to_owned);
            Reason::from(ProviderError::Unknown { name: provider.to_owned(), nearest })
        })?;
        let settings = Settings { dialect: Some(row.dialect), ..Settings::new(self.timeouts(), self.retry().clone()) };
        // No model: errors name the provider.
        let name = ModelName::new(row.id.to_string(), "models");
        let upstream = Upstream::find(self, &name, &settings)?;
        let headers = match row.dialect {
            Dialect::Anthropic => vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())],
            Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini => Vec::new(),
        };
        let mut models = Vec::new();
        let mut after = None;
        for _ in 0..PAGES {
            let path = page(row.dialect, after.as_deref());
            let request = upstream.request(Method::GET, &path, &header_map(&headers)?, Bytes::new(), Wanted::Whole)?;
            let answer = upstream.whole(&request, codec::json).await?;
            let (found, next) = read(&answer)
                .ok_or_else(|| Error::new(ikigai_core::Error::protocol("the answer is no list of models")).at(&name))?;
            models.extend(found);
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        Ok(models)
    }
}

fn page(dialect: Dialect, after: Option<&str>) -> String {
    let after = after.map(segment);
    match (dialect, after) {
        (Dialect::Anthropic, None) => "/v1/models?limit=1000".to_owned(),
        (Dialect::Anthropic, Some(id)) => format!("/v1/models?limit=1000&after_id={id}"),
        (Dialect::Gemini, None) => "/models?pageSize=1000".to_owned(),
        (Dialect::Gemini, Some(token)) => format!("/models?pageSize=1000&pageToken={token}"),
        (Dialect::OpenaiChat | Dialect::OpenaiResponses, _) => "/models".to_owned(),
    }
}

/// The models of one page, and where the next one begins.
fn read(answer: &Value) -> Option<(Vec<ListedModel>, Option<String>)> {
    // Some copies of the API answer with the list itself.
    let list = answer.get("data").or_else(|| answer.get("models")).unwrap_or(answer).as_array()?;
    let models: Vec<ListedModel> = list.iter().filter_map(model).collect();
    let text = |key: &str| answer.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let has_more = answer.get("has_more").and_then(Value::as_bool).unwrap_or(false);
    let next = text("nextPageToken").or_else(|| has_more.then(|| text("last_id")).flatten());
    Some((models, next))
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
