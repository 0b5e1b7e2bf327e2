//! From the wire to canonical.

use super::messages::{self, LIST, lone_text};
use super::tools;
use crate::dialect::Incoming;
use crate::dialect::openai_responses::wire::{self, Document, Many, find, word};
use crate::dialect::openai_responses::{DIALECT, thinking};
use crate::json::loose::{Loose as _, read_raw};
use crate::json::wire::{Raw, Text, read_request};
use crate::{
    Block, CacheOptions, Error, Fields, JsonSchemaFormat, Limits, Message, OutputFormat, Part, ProviderData, Request,
};

/// Decodes a client's request.
///
/// # Errors
/// Returns an error if the body is not a request of this API; the message names the place.
pub(crate) fn decode_request(incoming: Incoming<'_>, limits: &Limits) -> Result<Request, Error> {
    let Document(mut body): Document<wire::Request<'_>> = read_request(incoming.body, limits)?;
    let mut request = Request::default();
    let mut shape = Fields::default();
    // A stored prompt has its own model.
    refuse_other(&body, "model", "a text")?;
    request.model = body.model.take().unwrap_or_default().into_string();
    shape.set("model", request.model.as_str());
    if let Some(instructions) = body.instructions.take() {
        request.system.push(Block::text(instructions.into_string()));
    }
    conversation(&mut request, &mut body, &mut shape)?;
    request.tools = tools::decode(std::mem::take(&mut body.tools))?;
    request.tool_choice = body.tool_choice.as_ref().and_then(tools::decode_choice);
    if let Some(choice) = &request.tool_choice {
        let plain = tools::encode_choice(choice);
        // A choice that says more than the format can is kept next to its canonical meaning.
        body.tool_choice = body.tool_choice.filter(|raw| raw.to_json() != plain);
    }
    if let Some((thinking, rest)) = body.reasoning.as_ref().and_then(thinking::decode) {
        request.thinking = Some(thinking);
        shape.set("reasoning", body.reasoning.take().map(Raw::into_json).unwrap_or_default());
        body.reasoning = (!rest.is_empty()).then(|| Raw::of(&rest));
    }
    output_format(&mut request, &mut body);
    request.parallel_tool_calls = body.parallel_tool_calls.take();
    request.stream = body.stream.take();
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
    if let Some(key) = body.prompt_cache_key.take() {
        request.cache = Some(CacheOptions { key: Some(key.into_string()), automatic: None });
    }
    request.provider_data.extend_part(DIALECT, Part::Shape, shape);
    request.provider_data.extend_part(DIALECT, Part::Extra, body.leftovers());
    Ok(request)
}

fn conversation(request: &mut Request, body: &mut wire::Request<'_>, shape: &mut Fields) -> Result<(), Error> {
    refuse_other(body, "input", "a string or a list of items")?;
    match std::mem::take(&mut body.input) {
        Many::Text(text) => request.messages.push(Message::user(text.into_string())),
        Many::List(items) => {
            let read = messages::decode(items)?;
            request.system.extend(read.system);
            request.messages = read.messages;
            if lone_text(&request.messages).is_some() {
                // On its own it would be written as a string.
                shape.set("input", LIST);
            }
        }
        // A stored prompt or a stored conversation can replace it.
        Many::Absent if find(&body.rest, "input").is_some() => {}
        Many::Absent => shape.set("input", "absent"),
    }
    Ok(())
}

/// Refuses a field of the wrong type.
fn refuse_other(body: &wire::Request<'_>, name: &str, form: &str) -> Result<(), Error> {
    let kind = match find(&body.rest, name).map_or("null", |raw| raw.get()).as_bytes().first() {
        Some(b'n') | None => return Ok(()),
        Some(b't' | b'f') => "a boolean",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        Some(_) => "a number",
    };
    Err(Error::invalid_request(format!("`{name}` must be {form}, but is {kind}")))
}

/// Takes the format out of `text`; its other fields stay.
fn output_format(request: &mut Request, body: &mut wire::Request<'_>) {
    let Some(mut text) = body.text.as_ref().and_then(Raw::to::<Fields>) else { return };
    let Some(format) = text.get("format").and_then(|format| decode_format(read_raw(format.raw())?)) else { return };
    text.remove("format");
    body.text = (!text.is_empty()).then(|| Raw::of(&text));
    request.output_format = Some(format);
}

fn decode_format(mut wire: wire::Format<'_>) -> Option<OutputFormat> {
    let kind = wire.kind.take();
    if word(&kind) == "json_schema" {
        let schema = wire.schema.take().filter(|schema| schema.text().starts_with('{'))?;
        let mut format = JsonSchemaFormat {
            name: wire.name.take().map(Text::into_string),
            description: wire.description.take().map(Text::into_string),
            schema: schema.into_json(),
            strict: wire.strict.take(),
            provider_data: ProviderData::default(),
        };
        format.provider_data.extend_part(DIALECT, Part::Extra, wire.leftovers());
        return Some(OutputFormat::JsonSchema(format));
    }
    let format = match word(&kind) {
        "text" => OutputFormat::Text,
        "json_object" => OutputFormat::Json,
        _ => return None,
    };
    wire.leftovers().is_empty().then_some(format)
}

/// Takes out a raw value that can be read as this type; anything else stays where it is.
fn take<T: for<'b> serde::Deserialize<'b>>(value: &mut Option<Raw<'_>>) -> Option<T> {
    let read = value.as_ref()?.to()?;
    *value = None;
    Some(read)
}

/// Takes out a number, and remembers its spelling if we would write it differently.
fn number(name: &str, raw: &mut Option<Raw<'_>>, written: &mut Fields) -> Option<f64> {
    let json = raw.as_ref()?.to_json();
    let number = take::<f64>(raw)?;
    if Raw::of(&number).text() != json.text() {
        written.set(name, json);
    }
    Some(number)
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
