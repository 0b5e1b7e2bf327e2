//! Wire to canonical.

use serde_json::Value;

use super::input::{LIST, lone_text};
use super::{input, tools};
use crate::dialect::DraftIncoming;
use crate::dialect::openai_responses::fields::{keep, take_list, take_object, take_text, text};
use crate::dialect::openai_responses::{ME, Object, thinking};
use crate::{Block, CacheOptions, Error, JsonSchemaFormat, OutputFormat, ProviderData, Request};

/// Reads a client's request.
///
/// # Errors
/// When the body is not made as a request is, with the place.
pub(crate) fn decode_request(incoming: DraftIncoming<'_>) -> Result<Request, Error> {
    let Value::Object(mut body) = incoming.body else {
        return Err(Error::invalid_request("the body must be a JSON object"));
    };
    let mut request = Request::default();
    model(&mut request, &mut body)?;
    if let Some(instructions) = take_text(&mut body, "instructions") {
        request.system.push(Block::text(instructions));
    }
    conversation(&mut request, &mut body)?;
    request.tools = tools::decode_all(&mut body)?;
    tool_choice(&mut request, &mut body);
    request.thinking = thinking::decode(body.get("reasoning"));
    if let Some(raw) = take_object(&mut body, "reasoning") {
        let rest = thinking::rest(&raw);
        request.provider_data.set(ME, "reasoning", Value::Object(raw));
        if !rest.is_empty() {
            body.insert("reasoning".into(), Value::Object(rest));
        }
    }
    output_format(&mut request, &mut body);
    request.parallel_tool_calls = take_bool(&mut body, "parallel_tool_calls");
    request.stream = take_bool(&mut body, "stream");
    if let Some(limit) = body.get("max_output_tokens").and_then(Value::as_i64) {
        request.max_output_tokens = Some(limit);
        body.shift_remove("max_output_tokens");
    }
    let mut numbers = Object::new();
    request.temperature = take_number(&mut body, "temperature", &mut numbers);
    request.top_p = take_number(&mut body, "top_p", &mut numbers);
    keep(&mut request.provider_data, "numbers", numbers);
    if body.get("metadata").and_then(Value::as_object).is_some_and(|labels| !labels.is_empty())
        && let Some(labels) = take_object(&mut body, "metadata")
    {
        request.metadata = labels;
    }
    if let Some(key) = take_text(&mut body, "prompt_cache_key") {
        request.cache = Some(CacheOptions { key: Some(key), automatic: None });
    }
    keep(&mut request.provider_data, "extra", body);
    Ok(request)
}

fn model(request: &mut Request, body: &mut Object) -> Result<(), Error> {
    match body.get("model") {
        Some(Value::String(_)) => request.model = take_text(body, "model").unwrap_or_default(),
        // A stored prompt brings its model along.
        None | Some(Value::Null) => {}
        Some(other) => {
            return Err(Error::invalid_request(format!("`model` must be a text, but is {}", kind_of(other))));
        }
    }
    request.provider_data.set(ME, "model", request.model.as_str());
    Ok(())
}

fn conversation(request: &mut Request, body: &mut Object) -> Result<(), Error> {
    match body.get("input") {
        Some(Value::String(_)) => {
            let text = take_text(body, "input").unwrap_or_default();
            request.messages.push(crate::Message::user(text));
        }
        Some(Value::Array(_)) => {
            let items = take_list(body, "input").unwrap_or_default();
            let read = input::decode(items)?;
            request.system.extend(read.system);
            request.messages = read.messages;
            if lone_text(&request.messages).is_some() {
                // By itself it would be written as a text.
                request.provider_data.set(ME, "input", LIST);
            }
        }
        // A stored prompt or a stored conversation can stand for it.
        None => request.provider_data.set(ME, "input", "absent"),
        Some(Value::Null) => {}
        Some(other) => {
            return Err(Error::invalid_request(format!(
                "`input` must be a text or a list of items, but is {}",
                kind_of(other)
            )));
        }
    }
    Ok(())
}

/// A choice that says more than the format can is kept whole beside what it amounts to.
fn tool_choice(request: &mut Request, body: &mut Object) {
    let Some(raw) = body.get("tool_choice") else { return };
    request.tool_choice = tools::decode_choice(raw);
    if let Some(choice) = &request.tool_choice
        && tools::encode_choice(choice) == *raw
    {
        body.shift_remove("tool_choice");
    }
}

/// Takes the format out of `text`; what else is in there stays.
fn output_format(request: &mut Request, body: &mut Object) {
    let Some(Value::Object(text)) = body.get_mut("text") else { return };
    let Some(format) = text.get("format").and_then(Value::as_object).and_then(decode_format) else { return };
    text.shift_remove("format");
    if text.is_empty() {
        body.shift_remove("text");
    }
    request.output_format = Some(format);
}

fn decode_format(wire: &Object) -> Option<OutputFormat> {
    match text(wire, "type") {
        Some("text") if wire.len() == 1 => Some(OutputFormat::Text),
        Some("json_object") if wire.len() == 1 => Some(OutputFormat::Json),
        Some("json_schema") => {
            let mut fields = wire.clone();
            fields.shift_remove("type");
            let schema = fields.shift_remove("schema").filter(Value::is_object)?;
            let mut format = JsonSchemaFormat {
                name: take_text(&mut fields, "name"),
                description: take_text(&mut fields, "description"),
                schema: schema.into(),
                strict: take_bool(&mut fields, "strict"),
                provider_data: ProviderData::default(),
            };
            keep(&mut format.provider_data, "extra", fields);
            Some(OutputFormat::JsonSchema(format))
        }
        _ => None,
    }
}

fn take_bool(object: &mut Object, key: &str) -> Option<bool> {
    let value = object.get(key)?.as_bool()?;
    object.shift_remove(key);
    Some(value)
}

/// Takes a number out, and remembers how it was written where that is not how we would write it.
fn take_number(object: &mut Object, key: &str, written: &mut Object) -> Option<f64> {
    let number = object.get(key)?.as_f64()?;
    let raw = object.shift_remove(key)?;
    if !raw.is_f64() {
        written.insert(key.to_owned(), raw);
    }
    Some(number)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
