//! Parameters of a request that stand beside the conversation.

use serde_json::{Map, Value, json};

use crate::{JsonSchemaFormat, Loss, OutputFormat, Sampling};

use super::super::block::{self, foreign_fields, put_back, write_cache};
use super::super::{DIALECT, schema};
use super::cache;
use super::encode::Writer;

/// The longest `user_id`.
const LONGEST_USER: usize = 256;

impl Writer<'_> {
    /// The form of the answer. What the API has no parameter for is said in the system prompt.
    pub(super) fn format(&mut self, system: &mut Vec<Map<String, Value>>) -> Option<Value> {
        let mut say = |text: String| system.push(block::text(&text, None, None));
        let place = "output_format";
        match self.request.output_format.as_ref()? {
            OutputFormat::Text => None,
            OutputFormat::Json => {
                say("Answer with one valid JSON value and nothing else.".to_owned());
                let why = "this API has no JSON mode without a schema; the system prompt asks for JSON";
                self.losses.push(Loss::uncoded("output_format", place, why));
                None
            }
            OutputFormat::JsonSchema(format) => {
                let fitted = match schema::make_fit(format.schema.value()) {
                    _ if self.faithful => Ok((format.schema.value().clone(), Vec::new())),
                    _ if !self.target.rules.structured_output => {
                        Err("the model does not know structured output".to_owned())
                    }
                    fitted => fitted,
                };
                match fitted {
                    Ok((schema, removed)) => {
                        self.note_format(format, &removed);
                        Some(write_format(format, schema))
                    }
                    Err(fault) => {
                        say(format!(
                            "Answer with JSON that matches this JSON Schema, and nothing else:\n{}",
                            format.schema
                        ));
                        let why = format!("{fault}; the system prompt asks for JSON of this schema");
                        self.losses.push(Loss::uncoded("output_format", place, why));
                        None
                    }
                }
            }
        }
    }

    fn note_format(&mut self, format: &JsonSchemaFormat, removed: &[String]) {
        if !removed.is_empty() {
            let why = format!("this API does not take these keywords, and they are left out: {}", removed.join(", "));
            self.losses.push(Loss::uncoded("output_format.schema", "output_format.schema", why));
        }
        if format.name.is_some() {
            let why = "this API has no name for a schema";
            self.losses.push(Loss::uncoded_info("output_format.name", "output_format.name", why));
        }
        if format.description.is_some() {
            let why = "this API has no description of a schema; it is left out";
            self.losses.push(Loss::uncoded("output_format.description", "output_format.description", why));
        }
        let fields = foreign_fields(&format.provider_data);
        if !fields.is_empty() {
            let why = format!("fields of another dialect are left out: {}", fields.join(", "));
            self.losses.push(Loss::uncoded("provider_data", "output_format", why));
        }
        if format.strict == Some(false) {
            let why = "this API always holds the answer to the schema";
            self.losses.push(Loss::uncoded_info("output_format.strict", "output_format.strict", why));
        }
    }

    /// Temperature, top_p and top_k, as far as the model takes them.
    pub(super) fn sampling(&mut self, thinks: bool) -> Vec<(&'static str, Value)> {
        let request = self.request;
        if self.faithful {
            let echo = |key: &'static str, number: Option<f64>| {
                let number = number?;
                let raw = self.raw(key).map(crate::Json::value).filter(|raw| raw.as_f64() == Some(number));
                Some((key, raw.cloned().unwrap_or_else(|| number.into())))
            };
            let top_k = request.top_k.map(|top_k| ("top_k", top_k.into()));
            return [echo("temperature", request.temperature), echo("top_p", request.top_p), top_k]
                .into_iter()
                .flatten()
                .collect();
        }
        let (mut temperature, mut top_p, mut top_k) = (request.temperature, request.top_p, request.top_k);
        let rule = self.target.rules.sampling;
        let losses = &mut self.losses;
        let mut drop = |what: &str, harmless: bool, why: &str| {
            losses.push(if harmless { Loss::uncoded_info(what, what, why) } else { Loss::uncoded(what, what, why) });
        };
        if let Some(high) = temperature.filter(|temperature| *temperature > 1.0) {
            drop("temperature", false, &format!("this API's temperatures end at 1; that is sent for {high}"));
            temperature = Some(1.0);
        }
        if rule == Sampling::Refused {
            let why = "this model takes no sampling parameters; it is left out";
            if let Some(value) = temperature.take() {
                drop("temperature", value == 1.0, why);
            }
            if let Some(value) = top_p.take() {
                drop("top_p", value == 1.0, why);
            }
            if top_k.take().is_some() {
                drop("top_k", false, why);
            }
        }
        if thinks {
            let why = "this API does not take it while the model thinks; it is left out";
            if temperature.take_if(|temperature| *temperature != 1.0).is_some() {
                drop("temperature", false, why);
            }
            if top_p.take_if(|top_p| !(0.95..=1.0).contains(top_p)).is_some() {
                drop("top_p", false, why);
            }
            if top_k.take().is_some() {
                drop("top_k", false, why);
            }
        }
        if rule == Sampling::OneOf && temperature.is_some() && top_p.take().is_some() {
            drop("top_p", false, "this model takes temperature or top_p, not both; it is left out");
        }
        [
            temperature.map(|value| ("temperature", value.into())),
            top_p.map(|value| ("top_p", value.into())),
            top_k.map(|value| ("top_k", value.into())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    pub(super) fn stop(&mut self) -> Option<Value> {
        let request = self.request;
        let mut texts: Vec<&str> = request.stop.iter().map(String::as_str).collect();
        if !self.faithful {
            let before = texts.len();
            texts.retain(|text| !text.trim().is_empty());
            if texts.len() < before {
                let why = "this API refuses stop texts of nothing but blanks; they are left out";
                self.losses.push(Loss::uncoded("stop", "stop", why));
            }
        }
        (!texts.is_empty()).then(|| json!(texts))
    }

    pub(super) fn metadata(&mut self) -> Option<Value> {
        let metadata = &self.request.metadata;
        if metadata.is_empty() {
            return None;
        }
        if self.faithful {
            return Some(Value::Object(metadata.clone()));
        }
        let user = metadata.get("user_id").and_then(Value::as_str).filter(|user| user.chars().count() <= LONGEST_USER);
        let others: Vec<&str> =
            metadata.keys().map(String::as_str).filter(|key| *key != "user_id" || user.is_none()).collect();
        if !others.is_empty() {
            let why = format!(
                "this API takes a `user_id` of up to {LONGEST_USER} characters and nothing else; left out: {}",
                others.join(", ")
            );
            self.losses.push(Loss::uncoded("metadata", "metadata", why));
        }
        user.map(|user| json!({"user_id": user}))
    }

    pub(super) fn automatic_cache(&mut self) -> Option<Value> {
        let options = self.request.cache.as_ref()?;
        if options.key.is_some() {
            let why = "this API has no cache keys: it finds its caches by the content";
            self.losses.push(Loss::uncoded_info("cache.key", "cache.key", why));
        }
        let hint = cache::automatic(self.request)?;
        if self.faithful {
            return Some(write_cache(hint));
        }
        let mut has_short = self.hints.has_short();
        Some(write_cache(&cache::lifetime(hint, "cache.automatic", &mut has_short, &mut self.losses)))
    }
}

fn write_format(format: &JsonSchemaFormat, schema: Value) -> Value {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), "json_schema".into());
    fields.insert("schema".to_owned(), schema);
    put_back(&mut fields, format.provider_data.get(DIALECT));
    Value::Object(fields)
}
