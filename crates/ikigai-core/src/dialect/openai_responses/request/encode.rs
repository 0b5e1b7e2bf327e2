//! Canonical to wire.

use serde_json::{Value, json};

use super::call_ids::fnv;
use super::conversation::Writer;
use super::input::{LIST, lone_text};
use super::tools;
use crate::dialect::openai_responses::fields::{note_foreign_fields, object, own_object, put_back};
use crate::dialect::openai_responses::{ME, Object, thinking};
use crate::dialect::{Target, WireRequest, strict};
use crate::{Error, ForcedTools, JsonSchemaFormat, Level, Loss, OutputFormat, Request, Sampling, Thinking, ToolChoice};

/// The least output limit that the server takes.
const LEAST_OUTPUT: i64 = 16;
/// The longest key of a cache.
const LONGEST_KEY: usize = 64;

/// Writes a request.
///
/// A request that was read from this dialect for the same model is written as it was. All others are made to fit the
/// model, and what does not fit is in the losses.
///
/// # Errors
/// None so far: everything that cannot be carried is a loss.
pub(crate) fn encode_request(request: &Request, target: &Target<'_>) -> Result<WireRequest, Error> {
    let faithful = request.provider_data.str(ME, "model") == Some(request.model.as_str());
    let extra = own_object(&request.provider_data, "extra");
    let stored = extra.and_then(|extra| extra.get("store")).and_then(Value::as_bool) == Some(true);
    let mut writer = Writer::new(request, target, faithful, stored);
    let written = writer.write();
    let mut encoder = Encoder {
        request,
        target,
        faithful,
        body: Object::new(),
        losses: std::mem::take(&mut writer.losses),
        instructions: written.instructions,
    };
    if !request.model.is_empty() {
        encoder.put("model", request.model.as_str());
    }
    encoder.input(written.items, extra);
    encoder.generation(extra);
    encoder.cache(writer.breakpoints, extra);
    encoder.rest(extra);
    Ok(WireRequest {
        path: "/responses".to_owned(),
        headers: Vec::new(),
        body: Value::Object(encoder.body),
        losses: encoder.losses,
    })
}

struct Encoder<'a> {
    request: &'a Request,
    target: &'a Target<'a>,
    faithful: bool,
    body: Object,
    losses: Vec<Loss>,
    instructions: Option<String>,
}

impl Encoder<'_> {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.body.insert(key.to_owned(), value.into());
    }

    fn lose(&mut self, what: &str, why: impl Into<String>) {
        self.losses.push(Loss::new(what, what, why));
    }

    fn input(&mut self, items: Vec<Value>, extra: Option<&Object>) {
        let shape = self.request.provider_data.str(ME, "input");
        if shape != Some(LIST)
            && items.len() == 1
            && let Some(text) = lone_text(&self.request.messages)
        {
            return self.put("input", text);
        }
        let unsaid = shape == Some("absent") || extra.is_some_and(|extra| extra.contains_key("input"));
        if !(items.is_empty() && unsaid) {
            self.put("input", items);
        }
    }

    /// Thinking, tools, format and sampling, which depend on each other.
    fn generation(&mut self, extra: Option<&Object>) {
        let forced = matches!(self.request.tool_choice, Some(ToolChoice::Required | ToolChoice::Specific(_)));
        let clash = forced && !self.faithful && self.target.rules.forced_tools == ForcedTools::NotWhileThinking;
        let wish = if clash && !self.request.tools.is_empty() {
            // The forced tool goes first.
            Some(Thinking::from(Level::None))
        } else {
            self.request.thinking.clone()
        };
        let raw = self.request.provider_data.value(ME, "reasoning");
        let planned = thinking::encode(wish.as_ref(), raw, self.target, self.faithful, &mut self.losses);
        if clash && self.request.thinking.as_ref().is_some_and(|wish| wish.level != Some(Level::None)) {
            self.lose("thinking", "this model does not think while a tool is forced; thinking is off");
        }
        if let Some(reasoning) = planned.reasoning {
            self.put("reasoning", reasoning);
        }
        self.tools(extra);
        self.format(extra);
        // Instructions come last of those that may be added to, but the order on the wire does not matter.
        if let Some(instructions) = self.instructions.take() {
            self.put("instructions", instructions);
        }
        self.limits();
        self.sampling(planned.thinks);
        for (what, there) in [
            ("top_k", self.request.top_k.is_some()),
            ("stop", !self.request.stop.is_empty()),
            ("seed", self.request.seed.is_some()),
            ("frequency_penalty", self.request.frequency_penalty.is_some()),
            ("presence_penalty", self.request.presence_penalty.is_some()),
        ] {
            if there {
                self.lose(what, "the Responses API has no such parameter; it was left out");
            }
        }
    }

    fn tools(&mut self, extra: Option<&Object>) {
        let request = self.request;
        let (faithful, rules) = (self.faithful, self.target.rules);
        let tools: Vec<Value> = request
            .tools
            .iter()
            .enumerate()
            .filter_map(|(index, tool)| tools::encode(tool, index, faithful, rules, &mut self.losses))
            .collect();
        let any = !tools.is_empty();
        if any {
            self.put("tools", tools);
        }
        if let Some(choice) = &request.tool_choice {
            self.tool_choice(choice, any, extra);
        }
        if let Some(parallel) = request.parallel_tool_calls {
            if faithful || any && rules.parallel_tool_calls {
                self.put("parallel_tool_calls", parallel);
            } else if any {
                self.lose("parallel_tool_calls", "this model does not take it; it was left out");
            } else {
                let why = "it means nothing without tools and was left out";
                self.losses.push(Loss::info("parallel_tool_calls", "parallel_tool_calls", why));
            }
        }
    }

    fn tool_choice(&mut self, choice: &ToolChoice, any: bool, extra: Option<&Object>) {
        let as_read = extra.and_then(|extra| extra.get("tool_choice"));
        if let Some(raw) = as_read.filter(|raw| tools::decode_choice(raw).as_ref() == Some(choice)) {
            self.put("tool_choice", raw.clone());
        } else if self.faithful {
            self.put("tool_choice", tools::encode_choice(choice));
        } else if !any {
            let loss = match choice {
                ToolChoice::Auto | ToolChoice::None => Loss::info,
                ToolChoice::Required | ToolChoice::Specific(_) => Loss::new,
            };
            let why = "it is refused without tools and was left out";
            self.losses.push(loss("tool_choice".to_owned(), "tool_choice".to_owned(), why.to_owned()));
        } else if self.target.rules.forced_tools == ForcedTools::Refused
            && matches!(choice, ToolChoice::Required | ToolChoice::Specific(_))
        {
            self.put("tool_choice", "auto");
            self.lose("tool_choice", "this model cannot be forced to use a tool; it decides");
        } else {
            self.put("tool_choice", tools::encode_choice(choice));
        }
    }

    fn format(&mut self, extra: Option<&Object>) {
        let mut text = extra.and_then(|extra| extra.get("text")).and_then(Value::as_object).cloned();
        if let Some(format) = &self.request.output_format {
            let format = match format {
                OutputFormat::Text => json!({"type": "text"}),
                OutputFormat::Json => json!({"type": "json_object"}),
                OutputFormat::JsonSchema(schema) => self.schema(schema),
            };
            text.get_or_insert_default().insert("format".into(), format);
        }
        if let Some(text) = text {
            self.put("text", text);
        }
    }

    fn schema(&mut self, format: &JsonSchemaFormat) -> Value {
        note_foreign_fields(&format.provider_data, "output_format", &mut self.losses);
        let mut wire = object([("type", "json_schema".into())]);
        if self.faithful {
            if let Some(name) = &format.name {
                wire.insert("name".into(), name.as_str().into());
            }
            wire.insert("schema".into(), format.schema.clone());
            if let Some(strict) = format.strict {
                wire.insert("strict".into(), strict.into());
            }
        } else if self.holds_to_schemas() {
            wire.insert("name".into(), self.schema_name(format.name.as_deref()).into());
            let (schema, strict) = self.strict_schema(format);
            wire.insert("schema".into(), schema);
            wire.insert("strict".into(), strict.into());
        } else {
            // JSON mode is refused unless the prompt speaks of JSON, so it does, and says which.
            let ask = format!("Answer with JSON that matches this JSON Schema: {}", format.schema);
            self.instructions = Some(match self.instructions.take() {
                Some(before) => format!("{before}\n\n{ask}"),
                None => ask,
            });
            self.lose("output_format", "this model cannot be held to a schema; it is asked for in the instructions");
            return json!({"type": "json_object"});
        }
        if let Some(description) = &format.description {
            wire.insert("description".into(), description.as_str().into());
        }
        put_back(&mut wire, own_object(&format.provider_data, "extra"));
        Value::Object(wire)
    }

    fn holds_to_schemas(&self) -> bool {
        let rules = self.target.rules;
        let functions = self.request.tools.iter().any(|tool| tool.as_function().is_some());
        rules.structured_output && (rules.tools_with_structured_output || !functions)
    }

    /// A name is needed, and only some characters are taken.
    fn schema_name(&mut self, name: Option<&str>) -> String {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return "answer".to_owned() };
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let safe: String = name.chars().take(64).map(|c| if fits(c) { c } else { '_' }).collect();
        if safe != name {
            let why = format!("names have up to 64 letters, digits, _ and -; `{safe}` is sent");
            self.losses.push(Loss::info("output_format", "output_format.name", why));
        }
        safe
    }

    fn strict_schema(&mut self, format: &JsonSchemaFormat) -> (Value, bool) {
        // Unsaid, it is strict where it can be.
        match strict::strictify(&format.schema) {
            Ok(schema) if format.strict != Some(false) => (schema.into_owned(), true),
            Err(why) if format.strict == Some(true) => {
                let why = format!("the schema is sent without strict: {why}");
                self.losses.push(Loss::new("strict", "output_format.strict", why));
                (format.schema.clone(), false)
            }
            Ok(_) | Err(_) => (format.schema.clone(), false),
        }
    }

    fn limits(&mut self) {
        let Some(limit) = self.request.max_output_tokens else { return };
        if self.faithful || limit >= LEAST_OUTPUT {
            return self.put("max_output_tokens", limit);
        }
        self.put("max_output_tokens", LEAST_OUTPUT);
        self.lose("max_output_tokens", format!("the least that this API takes is {LEAST_OUTPUT}, which is sent"));
    }

    fn sampling(&mut self, thinks: bool) {
        let request = self.request;
        let refused = match self.target.rules.sampling {
            _ if self.faithful => None,
            Sampling::Free | Sampling::Discouraged | Sampling::Ignored => None,
            Sampling::NotWhileThinking | Sampling::OneOf if !thinks => None,
            Sampling::NotWhileThinking | Sampling::OneOf => Some("this model does not take it while it thinks"),
            Sampling::Refused => Some("this model does not take it"),
        };
        let one_of = !self.faithful && self.target.rules.sampling == Sampling::OneOf;
        for (key, value) in [("temperature", request.temperature), ("top_p", request.top_p)] {
            let Some(value) = value else { continue };
            if let Some(why) = refused {
                self.lose(key, format!("{why}; it was left out"));
            } else if one_of && key == "top_p" && request.temperature.is_some() {
                self.lose(key, "this model takes temperature or top_p, not both; the temperature is sent");
            } else {
                self.put_number(key, value);
                self.advise_on_sampling(key);
            }
        }
    }

    fn advise_on_sampling(&mut self, key: &str) {
        let why = match self.target.rules.sampling {
            _ if self.faithful => return,
            Sampling::Free | Sampling::NotWhileThinking | Sampling::OneOf | Sampling::Refused => return,
            Sampling::Discouraged => "the provider warns against any value but its own for this model",
            Sampling::Ignored => "it has no effect on this model",
        };
        self.losses.push(Loss::info(key, key, why));
    }

    /// A number as it was written, if it is still the same.
    fn put_number(&mut self, key: &str, value: f64) {
        let written = own_object(&self.request.provider_data, "numbers").and_then(|numbers| numbers.get(key));
        match written.filter(|written| written.as_f64() == Some(value)) {
            Some(written) => self.put(key, written.clone()),
            None => self.put(key, value),
        }
    }

    /// Caching is automatic. A key keeps a conversation with its cache; marks say where the prompt may be cut.
    fn cache(&mut self, breakpoints: usize, extra: Option<&Object>) {
        let cache = self.request.cache.as_ref();
        if let Some(key) = cache.and_then(|cache| cache.key.as_deref()) {
            let short = key.chars().count() <= LONGEST_KEY;
            if self.faithful || short {
                self.put("prompt_cache_key", key);
            } else {
                let begin: String = key.chars().take(LONGEST_KEY - 17).collect();
                self.put("prompt_cache_key", format!("{begin}-{:016x}", fnv(key.as_bytes())));
                let why = format!("keys have up to {LONGEST_KEY} characters here; a shortened one is sent");
                self.losses.push(Loss::info("cache", "cache.key", why));
            }
        }
        let marks = !self.faithful && self.target.rules.cache_breakpoints;
        let mut options = extra
            .and_then(|extra| extra.get("prompt_cache_options"))
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let before = options.len();
        match cache.and_then(|cache| cache.automatic.as_ref()).map(|hint| hint.ttl.as_deref()) {
            None => {}
            Some(Some(ttl)) if marks && matches!(ttl, "30m" | "12h") => {
                options.entry("ttl").or_insert_with(|| ttl.into());
            }
            Some(Some(_)) => {
                let why = "how long a prompt is cached cannot be said so here; the provider decides";
                self.losses.push(Loss::info("cache", "cache.automatic.ttl", why));
            }
            Some(None) => {
                let why = "prompts are cached by themselves here; nothing is sent about it";
                self.losses.push(Loss::info("cache", "cache.automatic", why));
            }
        }
        if marks && breakpoints > 0 {
            options.entry("mode").or_insert_with(|| "explicit".into());
        }
        if options.len() > before {
            self.put("prompt_cache_options", options);
        }
    }

    /// Labels, the stream, what this dialect alone has, and what other dialects left.
    fn rest(&mut self, extra: Option<&Object>) {
        let request = self.request;
        if !request.metadata.is_empty() {
            let labels = request.metadata.clone();
            let labels = if self.faithful { labels } else { self.labels(labels) };
            self.put("metadata", labels);
        }
        if let Some(stream) = request.stream {
            self.put("stream", stream);
        }
        put_back(&mut self.body, extra);
        if let Some(raw) = self.body.get("tool_choice").filter(|_| request.tool_choice.is_none()) {
            // A choice that only this dialect knows. One that meant something else is no longer wanted.
            let stale = tools::decode_choice(raw).is_some();
            let alone = !self.faithful && !raw.is_null() && !self.body.contains_key("tools");
            if stale || alone {
                self.body.shift_remove("tool_choice");
            }
            if alone && !stale {
                self.lose("tool_choice", "it is refused without tools and was left out");
            }
        }
        if !self.faithful {
            self.statelessness(extra);
        }
        note_foreign_fields(&request.provider_data, "provider_data", &mut self.losses);
    }

    /// Conversations are kept by the caller, unless the caller says otherwise: nothing is stored, and the reasoning
    /// comes along encrypted.
    fn statelessness(&mut self, extra: Option<&Object>) {
        if self.target.quirks.responses.no_store {
            for key in ["store", "previous_response_id", "conversation"] {
                if self.body.shift_remove(key).is_some_and(|value| value != json!(false) && !value.is_null()) {
                    self.lose(key, "this provider stores nothing; it was left out");
                }
            }
            return;
        }
        if !extra.is_some_and(|extra| extra.contains_key("store")) {
            self.put("store", false);
        }
        // A model that is known not to think refuses to give what it does not have.
        let thinks = self.target.facts.and_then(|facts| facts.thinking) != Some(false);
        if thinks && !extra.is_some_and(|extra| extra.contains_key("include")) {
            self.put("include", json!(["reasoning.encrypted_content"]));
        }
    }

    /// Labels are texts here.
    fn labels(&mut self, labels: Object) -> Object {
        labels
            .into_iter()
            .map(|(key, value)| match value {
                Value::String(_) => (key, value),
                other => {
                    let why = "labels are texts here; it is sent as its JSON text";
                    self.losses.push(Loss::info("metadata", format!("metadata.{key}"), why));
                    (key, Value::String(other.to_string()))
                }
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
