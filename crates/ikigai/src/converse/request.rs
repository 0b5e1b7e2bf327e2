//! Requests: a body of Anthropic's Messages to one of Converse.

use ikigai_core::catalog::{ConverseFields, Rules};
use ikigai_core::wire::WireRequest;
use ikigai_core::{Loss, LossCode, OutputFormat, Request};
use serde_json::{Map, Value, json};

use super::messages::Messages;
use super::{Fields, block, str_of, tools};

/// Fields of Converse itself, which pass.
const OWN_FIELDS: [&str; 6] = [
    "additionalModelResponseFieldPaths",
    "guardrailConfig",
    "performanceConfig",
    "promptVariables",
    "requestMetadata",
    "serviceTier",
];

/// Where this model takes cache points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caching {
    pub(super) fields: ConverseFields,
}

impl Caching {
    /// Does the model cache at all?
    pub(super) fn is_known(self) -> bool {
        matches!(self.fields, ConverseFields::Anthropic | ConverseFields::Nova)
    }
}

/// The block that asks for caching up to here.
pub(super) fn cache_point(mark: &Value) -> Value {
    let mut point = Fields::new();
    point.insert("type".to_owned(), "default".into());
    // Five minutes is what there is without a word.
    if let Some(ttl) = mark.get("ttl").filter(|ttl| *ttl != "5m") {
        point.insert("ttl".to_owned(), ttl.clone());
    }
    block("cachePoint", point)
}

/// Writes a request anew: its path, its body, and what Converse cannot carry of it.
pub(super) fn rewrite(wire: WireRequest, request: &Request, rules: &Rules) -> WireRequest {
    let WireRequest { path, headers, body, losses, names } = wire;
    let streams = path.ends_with("-stream");
    let model = path.rsplit_once('/').map_or(path.as_str(), |(model, _)| model);
    let path = format!("{model}/{}", if streams { "converse-stream" } else { "converse" });
    let body = match serde_json::from_slice::<Value>(&body).unwrap_or_default() {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let mut writer = Writer { request, fields: rules.converse, body, losses, additional: Fields::new() };
    let body = writer.body();
    WireRequest { path, headers, body: serde_json::to_vec(&body).unwrap_or_default(), losses: writer.losses, names }
}

/// A request on its way.
struct Writer<'a> {
    request: &'a Request,
    fields: ConverseFields,
    /// What is left of the dialect's body.
    body: Fields,
    losses: Vec<Loss>,
    additional: Fields,
}

impl Writer<'_> {
    fn body(&mut self) -> Fields {
        let caching = Caching { fields: self.fields };
        let mut messages = Messages::new(caching, &mut self.losses);
        let system = messages.system(self.body.shift_remove("system"));
        messages.read(self.body.shift_remove("messages"));
        if let Some(mark) = self.body.shift_remove("cache_control") {
            messages.cache_the_end(&mark);
        }
        let messages = messages.finish();
        let (offered, choice) = (self.body.shift_remove("tools"), self.body.shift_remove("tool_choice"));
        let tool_config = tools::config(offered, choice, &tools::called(&messages), caching, &mut self.losses);
        let thinking = self.thinking();
        let inference = self.inference(&thinking);

        let mut body = Fields::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                body.insert(key.to_owned(), value);
            }
        };
        put("messages", Some(Value::Array(messages)));
        put("system", (!system.is_empty()).then_some(Value::Array(system)));
        put("inferenceConfig", (!inference.is_empty()).then_some(Value::Object(inference)));
        put("toolConfig", tool_config);
        put("outputConfig", self.format());
        for key in OWN_FIELDS {
            put(key, self.body.shift_remove(key));
        }
        self.rest();
        let additional = std::mem::take(&mut self.additional);
        put("additionalModelRequestFields", (!additional.is_empty()).then_some(Value::Object(additional)));
        body
    }

    fn lose(&mut self, what: &str, why: &str) {
        self.losses.push(Loss::new(LossCode::Other, what, what, why));
    }

    /// How the model is asked to think.
    fn thinking(&mut self) -> Thinking {
        let thinking = self.body.shift_remove("thinking");
        let effort = self.body.get_mut("output_config").and_then(Value::as_object_mut);
        let effort = effort.and_then(|config| config.shift_remove("effort"));
        let kind = thinking.as_ref().and_then(Value::as_object).map(|fields| str_of(fields, "type").to_owned());
        let is_on = kind.as_deref() == Some("enabled");
        let mut put = |key: &str, value: Value| {
            self.additional.insert(key.to_owned(), value);
        };
        match (self.fields, thinking, effort) {
            (_, None, None) => {}
            (ConverseFields::Anthropic, thinking, effort) => {
                if let Some(thinking) = thinking {
                    put("thinking", thinking);
                }
                if let Some(effort) = effort {
                    put("output_config", block("effort", effort));
                }
                return if is_on { Thinking::Budget } else { Thinking::Other };
            }
            (ConverseFields::ReasoningEffort, _, Some(effort)) => put("reasoning_effort", effort),
            (ConverseFields::ReasoningConfig, Some(_), _) if is_on => put("reasoning_config", "high".into()),
            (ConverseFields::Nova, _, Some(effort)) => {
                let most = effort == "high";
                put("reasoningConfig", json!({"type": "enabled", "maxReasoningEffort": effort}));
                return if most { Thinking::Most } else { Thinking::Other };
            }
            // For these, silence is how it is said.
            (
                ConverseFields::Nova | ConverseFields::ReasoningConfig | ConverseFields::ReasoningEffort,
                Some(_),
                None,
            ) if !is_on => {}
            (
                ConverseFields::Nothing
                | ConverseFields::Nova
                | ConverseFields::ReasoningConfig
                | ConverseFields::ReasoningEffort,
                _,
                _,
            ) => self.lose("thinking", "how Converse asks this model to think is not known; it is left out"),
        }
        Thinking::Other
    }

    /// The parameters of every model. A limit that nobody asked for is not sent: models differ much in theirs.
    fn inference(&mut self, thinking: &Thinking) -> Fields {
        let limit = self.body.shift_remove("max_tokens");
        let limit = match (thinking, self.request.max_output_tokens) {
            // The budget is spent out of it.
            (Thinking::Budget, _) => limit,
            (_, None) => None,
            (_, Some(asked)) if self.fields == ConverseFields::Anthropic => limit.or_else(|| Some(asked.into())),
            (_, Some(asked)) => limit.and_then(|limit| limit.as_i64()).map(|limit| limit.min(asked).into()),
        };
        let mut inference = Fields::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                inference.insert(key.to_owned(), value);
            }
        };
        put("maxTokens", limit);
        put("temperature", self.body.shift_remove("temperature"));
        put("topP", self.body.shift_remove("top_p"));
        put("stopSequences", self.body.shift_remove("stop_sequences"));
        let top_k = self.body.shift_remove("top_k");
        match (self.fields, top_k) {
            (_, None) => {}
            (ConverseFields::Anthropic, Some(top_k)) => {
                self.additional.insert("top_k".to_owned(), top_k);
            }
            (ConverseFields::Nova, Some(top_k)) if *thinking != Thinking::Most => {
                self.additional.insert("inferenceConfig".to_owned(), block("topK", top_k));
            }
            (
                ConverseFields::Nothing
                | ConverseFields::Nova
                | ConverseFields::ReasoningEffort
                | ConverseFields::ReasoningConfig,
                Some(_),
            ) => self.lose("top_k", "Converse has no such parameter for this model; it is left out"),
        }
        if *thinking == Thinking::Most {
            for (key, what) in [("maxTokens", "max_output_tokens"), ("temperature", "temperature"), ("topP", "top_p")] {
                if inference.shift_remove(key).is_some() {
                    self.lose(what, "this model refuses it beside the highest effort; it is left out");
                }
            }
        }
        inference
    }

    /// The schema that the answer is held to.
    fn format(&mut self) -> Option<Value> {
        let config = self.body.get_mut("output_config").and_then(Value::as_object_mut);
        let format = config.and_then(|config| config.shift_remove("format"));
        let format = format.or_else(|| self.body.shift_remove("output_format"))?;
        let schema = format.get("schema")?;
        let mut definition = Fields::new();
        if let Some(OutputFormat::JsonSchema(asked)) = &self.request.output_format {
            for (key, value) in [("name", &asked.name), ("description", &asked.description)] {
                if let Some(value) = value {
                    definition.insert(key.to_owned(), value.as_str().into());
                }
            }
        }
        // Unlike the dialect, Converse has a place for these.
        self.losses.retain(|loss| !matches!(loss.what.as_str(), "output_format.name" | "output_format.description"));
        definition.insert("schema".to_owned(), schema.to_string().into());
        let structure = block("jsonSchema", definition);
        Some(json!({"textFormat": {"type": "json_schema", "structure": structure}}))
    }

    /// What is left: fields of the model's own API for a model that has one, else nothing that Converse knows.
    fn rest(&mut self) {
        self.body.shift_remove("anthropic_version");
        for (key, value) in std::mem::take(&mut self.body) {
            match (key.as_str(), value) {
                ("additionalModelRequestFields", Value::Object(fields)) => self.additional.extend(fields),
                ("output_config", Value::Object(fields)) if fields.is_empty() => {}
                ("metadata", _) => {
                    self.lose("metadata", "Converse has no such field; it is left out (see requestMetadata)");
                }
                (_, value) if self.fields == ConverseFields::Anthropic => {
                    let slot = self.additional.entry(key).or_insert(Value::Null);
                    match (slot, value) {
                        (Value::Object(slot), Value::Object(more)) => slot.extend(more),
                        (slot, value) => *slot = value,
                    }
                }
                (_, _) => {
                    let why = "Converse has no such field for this model; it is left out";
                    self.losses.push(Loss::new(LossCode::Other, key.clone(), key, why));
                }
            }
        }
    }
}

/// How the model thinks, as far as other parameters depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking {
    /// With a budget out of the limit.
    Budget,
    /// With the highest effort of a model that then refuses to be steered otherwise.
    Most,
    /// In another way, or not at all.
    Other,
}
