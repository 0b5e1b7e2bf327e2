//! Wire to canonical.

use super::messages::{self, LIST, lone_text};
use super::tools;
use crate::dialect::Incoming;
use crate::dialect::openai_responses::content::leftovers;
use crate::dialect::openai_responses::wire::{self, Any, Loose, is, take, take_text};
use crate::dialect::openai_responses::{DIALECT, thinking};
use crate::json::wire::{Raw, Text, read_request};
use crate::{Block, CacheOptions, Error, Fields, JsonSchemaFormat, OutputFormat, Part, ProviderData, Request};

/// Reads a client's request.
///
/// # Errors
/// If the body is not a request of this API; the message names the place.
pub(crate) fn decode_request(incoming: Incoming<'_>) -> Result<Request, Error> {
    let mut body: wire::Request<'_> = read_request(incoming.body)?;
    let mut request = Request::default();
    let mut shape = Fields::default();
    request.model = model(&mut body.model)?;
    shape.set("model", request.model.as_str());
    if let Some(instructions) = take_text(&mut body.instructions) {
        request.system.push(Block::text(instructions.into_string()));
    }
    conversation(&mut request, &mut body, &mut shape)?;
    if body.tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
        request.tools = tools::decode(body.tools.take().unwrap_or_default())?;
    }
    request.tool_choice = body.tool_choice.as_ref().and_then(tools::decode_choice);
    if let Some(choice) = &request.tool_choice
        && body.tool_choice.as_ref().is_some_and(|raw| raw.to_json() == tools::encode_choice(choice))
    {
        // A choice that says more than the format can stays beside what it amounts to.
        body.tool_choice = None;
    }
    if let Some((thinking, rest)) = body.reasoning.as_ref().and_then(thinking::decode) {
        request.thinking = Some(thinking);
        let raw = body.reasoning.take();
        shape.set("reasoning", raw.as_ref().map(Raw::to_json).unwrap_or_default());
        body.reasoning = (!rest.is_empty()).then(|| Raw::of(&rest));
    }
    output_format(&mut request, &mut body);
    request.parallel_tool_calls = take(&mut body.parallel_tool_calls);
    request.stream = take(&mut body.stream);
    request.max_output_tokens = take(&mut body.max_output_tokens);
    let mut numbers = Fields::default();
    request.temperature = number("temperature", &mut body.temperature, &mut numbers);
    request.top_p = number("top_p", &mut body.top_p, &mut numbers);
    if !numbers.is_empty() {
        shape.set("numbers", numbers);
    }
    if body.metadata.as_ref().is_some_and(|labels| labels.text() != "{}") {
        request.metadata = take(&mut body.metadata).unwrap_or_default();
    }
    if let Some(key) = take_text(&mut body.prompt_cache_key) {
        request.cache = Some(CacheOptions { key: Some(key.into_string()), automatic: None });
    }
    request.provider_data.extend_part(DIALECT, Part::Shape, shape);
    request.provider_data.extend_part(DIALECT, Part::Extra, leftovers(&body));
    Ok(request)
}

/// The model. A stored prompt brings its own along.
fn model(model: &mut Option<Loose<'_>>) -> Result<String, Error> {
    match model.take() {
        Some(Any::Text(text)) => Ok(text.into_string()),
        None => Ok(String::new()),
        Some(other) => Err(Error::invalid_request(format!("`model` must be a text, but is {}", kind_of(&other)))),
    }
}

fn conversation(request: &mut Request, body: &mut wire::Request<'_>, shape: &mut Fields) -> Result<(), Error> {
    match body.input.take() {
        Some(Any::Text(text)) => request.messages.push(crate::Message::user(text.into_string())),
        Some(Any::List(items)) => {
            let read = messages::decode(items)?;
            request.system.extend(read.system);
            request.messages = read.messages;
            if lone_text(&request.messages).is_some() {
                // By itself it would be written as a text.
                shape.set("input", LIST);
            }
        }
        // A stored prompt or a stored conversation can stand for it.
        None if body.rest.iter().any(|(name, _)| name == "input") => {}
        None => shape.set("input", "absent"),
        Some(other) => {
            let kind = kind_of(&other);
            return Err(Error::invalid_request(format!("`input` must be a text or a list of items, but is {kind}")));
        }
    }
    Ok(())
}

/// Takes the format out of `text`; what else is in there stays.
fn output_format(request: &mut Request, body: &mut wire::Request<'_>) {
    let Some(mut text) = body.text.as_ref().and_then(Raw::to::<Fields>) else { return };
    let Some(format) = text.get("format").and_then(|format| decode_format(format.to().ok()?)) else { return };
    text.remove("format");
    body.text = (!text.is_empty()).then(|| Raw::of(&text));
    request.output_format = Some(format);
}

fn decode_format(mut wire: wire::Format<'_>) -> Option<OutputFormat> {
    let kind = wire.kind.take();
    if is(&kind, "json_schema") {
        let schema = wire.schema.take().filter(|schema| schema.text().starts_with('{'))?;
        let mut format = JsonSchemaFormat {
            name: take_text(&mut wire.name).map(Text::into_string),
            description: take_text(&mut wire.description).map(Text::into_string),
            schema: schema.to_json(),
            strict: take(&mut wire.strict),
            provider_data: ProviderData::default(),
        };
        format.provider_data.extend_part(DIALECT, Part::Extra, leftovers(&wire));
        return Some(OutputFormat::JsonSchema(format));
    }
    match kind.as_ref().and_then(Any::as_str) {
        Some("text") if leftovers(&wire).is_empty() => Some(OutputFormat::Text),
        Some("json_object") if leftovers(&wire).is_empty() => Some(OutputFormat::Json),
        _ => None,
    }
}

/// Takes a number out, and remembers how it was written where that is not how we would write it.
fn number(name: &str, raw: &mut Option<Raw<'_>>, written: &mut Fields) -> Option<f64> {
    let json = raw.as_ref()?.to_json();
    let number = take::<f64>(raw)?;
    if Raw::of(&number).text() != json.text() {
        written.set(name, json);
    }
    Some(number)
}

fn kind_of(value: &impl serde::Serialize) -> &'static str {
    match Raw::of(value).text().as_bytes().first() {
        Some(b'n') | None => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'"') => "a text",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        Some(_) => "a number",
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
