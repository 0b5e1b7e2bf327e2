//! Our request to the wire.

use serde_json::{Map, Value, json};

use super::fit::{self, Fit};
use super::write_messages::Writer;
use super::{decode, mark, tools};
use crate::dialect::openai_chat::marks::{self, DIALECT, EXTRA, Side, put_back};
use crate::dialect::openai_chat::thinking;
use crate::dialect::{Target, WireRequest};
use crate::{Error, Loss, MaxTokensField, OutputFormat, Request, SeedField};

/// Writes a request.
///
/// One that came in this dialect for the same model goes out as it came. Any other is fitted to the target, and what
/// that costs is in the losses.
///
/// # Errors
/// When no model is named, and when the model takes the request in no form at all.
pub(crate) fn encode_request(request: &Request, target: &Target<'_>) -> Result<WireRequest, Error> {
    if request.model.is_empty() {
        let mut error = Error::invalid_request("the request names no model");
        error.param = Some("model".to_owned());
        return Err(error);
    }
    let mut losses = Vec::new();
    foreign_leftovers(request, &mut losses);
    let faithful = request.provider_data.str(DIALECT, mark::MODEL) == Some(&request.model);
    let body = if faithful { as_it_came(request, target, &mut losses) } else { fitted(request, target, &mut losses)? };
    Ok(WireRequest { path: "/chat/completions".to_owned(), headers: Vec::new(), body: Value::Object(body), losses })
}

/// What other dialects keep on the request has no meaning here.
fn foreign_leftovers(request: &Request, losses: &mut Vec<Loss>) {
    for (name, own) in request.provider_data.iter().filter(|(name, _)| *name != DIALECT.as_str()) {
        let Some(extra) = own.get(EXTRA).and_then(Value::as_object).filter(|extra| !extra.is_empty()) else { continue };
        let keys: Vec<&str> = extra.keys().map(String::as_str).collect();
        losses.push(Loss::new(
            "provider_data",
            format!("provider_data.{name}"),
            format!("only {name} knows {}; left out", keys.join(", ")),
        ));
    }
}

/// The raw form of something, if it still means what the request says.
fn raw<'a>(request: &'a Request, key: &str) -> Option<&'a Map<String, Value>> {
    request.provider_data.value(DIALECT, key)?.as_object()
}

fn as_it_came(request: &Request, target: &Target<'_>, losses: &mut Vec<Loss>) -> Map<String, Value> {
    let mut body = Map::new();
    if !request.provider_data.flag(DIALECT, mark::MODEL_IN_PATH) {
        body.insert("model".to_owned(), request.model.as_str().into());
    }
    let messages = Writer::as_it_came(request, target, losses).all(None);
    body.insert("messages".to_owned(), Value::Array(messages));

    let limit_name = request.provider_data.str(DIALECT, mark::MAX_TOKENS);
    if let Some(limit) = request.max_output_tokens {
        let name = limit_name.unwrap_or_else(|| limit_field(target));
        body.insert(name.to_owned(), limit.into());
    }
    put_number(&mut body, request, "temperature", request.temperature);
    put_number(&mut body, request, "top_p", request.top_p);
    put_number(&mut body, request, "frequency_penalty", request.frequency_penalty);
    put_number(&mut body, request, "presence_penalty", request.presence_penalty);
    if let Some(top_k) = request.top_k {
        body.insert("top_k".to_owned(), top_k.into());
    }
    if let Some(seed) = request.seed {
        let name = if request.provider_data.flag(DIALECT, mark::RANDOM_SEED) { "random_seed" } else { "seed" };
        body.insert(name.to_owned(), seed.into());
    }
    match request.stop.as_slice() {
        [] => {}
        [only] if request.provider_data.flag(DIALECT, mark::STOP_TEXT) => {
            body.insert("stop".to_owned(), only.as_str().into());
        }
        several => {
            body.insert("stop".to_owned(), several.into());
        }
    }

    let older_form = request.provider_data.flag(DIALECT, mark::FUNCTIONS);
    if !request.tools.is_empty() {
        let mut written = Vec::new();
        for (index, tool) in request.tools.iter().enumerate() {
            match tools::encode_as_it_came(tool, older_form) {
                Some(tool) => written.push(tool),
                None => losses.push(fit::foreign_tool(index, tool)),
            }
        }
        body.insert(if older_form { "functions" } else { "tools" }.to_owned(), Value::Array(written));
    }
    if let Some(choice) = &request.tool_choice {
        let same = raw(request, mark::TOOL_CHOICE)
            .filter(|raw| raw.values().next().and_then(tools::read_choice).as_ref() == Some(choice));
        match same {
            Some(raw) => put_back(&mut body, Some(raw)),
            None => {
                body.insert("tool_choice".to_owned(), tools::write_choice(choice));
            }
        }
    }
    if let Some(parallel) = request.parallel_tool_calls {
        body.insert("parallel_tool_calls".to_owned(), parallel.into());
    }
    if let Some(format) = &request.output_format {
        let same = request
            .provider_data
            .value(DIALECT, mark::RESPONSE_FORMAT)
            .filter(|raw| decode::read_format(raw).as_ref() == Some(format));
        body.insert("response_format".to_owned(), same.cloned().unwrap_or_else(|| format_as_it_came(format)));
    }
    match raw(request, mark::THINKING).filter(|raw| thinking::decode(raw) == request.thinking) {
        Some(raw) => put_back(&mut body, Some(raw)),
        None => {
            let fit = Fit::thinking_only(request, target, losses);
            put_back(&mut body, Some(&fit));
        }
    }
    put_labels(&mut body, request, losses);
    put_cache_key(&mut body, request, losses);
    if let Some(stream) = request.stream {
        body.insert("stream".to_owned(), stream.into());
    }
    put_back(&mut body, marks::extra(&request.provider_data, Side::Request));
    body
}

/// A number as it was written, while it is the same number.
fn put_number(body: &mut Map<String, Value>, request: &Request, name: &str, number: Option<f64>) {
    let Some(number) = number else { return };
    let same = raw(request, mark::NUMBERS).and_then(|raw| raw.get(name)).filter(|raw| raw.as_f64() == Some(number));
    body.insert(name.to_owned(), same.cloned().unwrap_or_else(|| number.into()));
}

fn format_as_it_came(format: &OutputFormat) -> Value {
    match format {
        OutputFormat::Text => json!({"type": "text"}),
        OutputFormat::Json => json!({"type": "json_object"}),
        OutputFormat::JsonSchema(format) => fit::schema_format(format, format.schema.clone(), format.strict),
    }
}

fn limit_field(target: &Target<'_>) -> &'static str {
    match target.quirks.chat.max_tokens {
        MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        MaxTokensField::MaxTokens => "max_tokens",
    }
}

/// `user` and `metadata`: as they came while they say the same.
fn put_labels(body: &mut Map<String, Value>, request: &Request, losses: &mut Vec<Loss>) {
    if let Some(raw) = raw(request, mark::LABELS).filter(|raw| decode::read_labels(raw) == request.metadata) {
        return put_back(body, Some(raw));
    }
    let mut labels = Map::new();
    for (key, value) in &request.metadata {
        match value {
            Value::String(user) if key == "user_id" => {
                body.insert("user".to_owned(), user.as_str().into());
            }
            Value::String(_) => {
                labels.insert(key.clone(), value.clone());
            }
            // Labels are texts here.
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                losses.push(Loss::info(
                    "metadata",
                    format!("metadata.{key}"),
                    "labels are texts here; it is sent as its JSON text",
                ));
                labels.insert(key.clone(), value.to_string().into());
            }
        }
    }
    if !labels.is_empty() {
        body.insert("metadata".to_owned(), Value::Object(labels));
    }
}

fn put_cache_key(body: &mut Map<String, Value>, request: &Request, losses: &mut Vec<Loss>) {
    const LONGEST: usize = 64;
    let Some(cache) = &request.cache else { return };
    match &cache.key {
        Some(key) if key.len() <= LONGEST => {
            body.insert("prompt_cache_key".to_owned(), key.as_str().into());
        }
        Some(_) => losses.push(Loss::new(
            "cache",
            "cache.key",
            format!("a cache key has at most {LONGEST} characters here; it is left out"),
        )),
        None => {}
    }
    if cache.automatic.is_some() {
        losses.push(Loss::info("cache", "cache.automatic", "this API caches by itself; nothing is sent about it"));
    }
}

fn fitted(request: &Request, target: &Target<'_>, losses: &mut Vec<Loss>) -> Result<Map<String, Value>, Error> {
    let fit = Fit::new(request, target, losses)?;
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.as_str().into());
    let messages = Writer::fitted(request, target, fit.thinks, losses).all(fit.note.as_deref());
    body.insert("messages".to_owned(), Value::Array(messages));
    if let Some(limit) = request.max_output_tokens.filter(|limit| *limit > 0) {
        body.insert(limit_field(target).to_owned(), limit.into());
    }
    put_seed(&mut body, request, target, losses);
    body.extend(fit.fields);
    put_labels(&mut body, request, losses);
    put_cache_key(&mut body, request, losses);

    let mut extra = marks::extra(&request.provider_data, Side::Request).cloned().unwrap_or_default();
    let options = extra.shift_remove("stream_options");
    if request.stream == Some(true) {
        body.insert("stream".to_owned(), true.into());
        if !target.quirks.chat.no_stream_options {
            let mut options = match options {
                Some(Value::Object(options)) => options,
                _ => Map::new(),
            };
            options.insert("include_usage".to_owned(), true.into());
            body.insert("stream_options".to_owned(), Value::Object(options));
        }
    }
    // Another model of this family: what it does not know, it refuses by name.
    put_back(&mut body, Some(&extra));
    Ok(body)
}

fn put_seed(body: &mut Map<String, Value>, request: &Request, target: &Target<'_>, losses: &mut Vec<Loss>) {
    let Some(seed) = request.seed else { return };
    match target.quirks.chat.seed {
        SeedField::Seed => {
            body.insert("seed".to_owned(), seed.into());
        }
        SeedField::RandomSeed => {
            body.insert("random_seed".to_owned(), seed.into());
        }
        SeedField::Nothing => losses.push(Loss::new("seed", "seed", "this provider has no seed; it is left out")),
    }
}
