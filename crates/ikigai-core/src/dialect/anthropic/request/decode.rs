//! Wire requests to canonical ones.
//!
//! Fields that the format does not have are kept in their place. Fields that it has, but would write differently, are
//! kept in the shape under their own names.

use crate::dialect::Incoming;
use crate::json::wire::{Leftovers as _, Raw, Text, read_request};
use crate::{CacheOptions, Error, Json, JsonSchemaFormat, Limits, OutputFormat, Part, ProviderData, Request};

use super::super::content::read_content;
use super::super::wire::{self, Content, Format, Item, OutputConfig, read_cache};
use super::super::{DIALECT, keep_shape, thinking};
use super::messages::read_messages;
use super::refusal;
use super::tools::{read_choice, read_tool, write_choice};

/// Decodes a client's request.
///
/// # Errors
/// Returns an error if it is not a request of this API: the message names the place and what is expected there.
pub(crate) fn decode_request(incoming: Incoming<'_>, limits: &Limits) -> Result<Request, Error> {
    let mut body: wire::Request<'_> = read_request(incoming.body, limits)?;
    let messages = body.messages.take().ok_or_else(|| refusal("messages", "a list of messages"))?;
    let mut request = Request { messages: read_messages(messages)?, ..Request::default() };
    request.model = body.model.take().map(Text::into_string).unwrap_or_default();
    // An empty list says nothing, but must be written back; the same applies below.
    let is_empty = |system: &Content<'_>| matches!(system, Content::Blocks(blocks) if blocks.is_empty());
    match body.system.take_if(|system| !is_empty(system)) {
        Some(Content::Odd) => return Err(refusal("system", "a string or a list of text blocks")),
        Some(system) => {
            request.system = read_content(system, &"system", &mut request.provider_data, "system_blocks")?;
        }
        None => {}
    }
    request.max_output_tokens = integer("max_tokens", body.max_tokens.take())?;
    request.temperature = number("temperature", body.temperature.take(), &mut request)?;
    request.top_p = number("top_p", body.top_p.take(), &mut request)?;
    request.top_k = integer("top_k", body.top_k.take())?;
    request.stream = body.stream.take();
    if let Some(texts) = body.stop_sequences.take_if(|texts| !texts.is_empty()) {
        request.stop = texts.into_iter().map(Text::into_string).collect();
    }
    if let Some(tools) = body.tools.take_if(|tools| !tools.is_empty()) {
        let tools = tools.into_iter().map(Item::into_fields).enumerate();
        request.tools = tools.map(|(index, tool)| read_tool(index, tool)).collect::<Result<_, Error>>()?;
    }
    tool_choice(&mut body, &mut request);
    format(&mut body, &mut request);
    metadata(&mut body, &mut request);
    if let Some(hint) = body.cache_control.as_ref().and_then(|raw| read_cache(raw.text())) {
        body.cache_control = None;
        request.cache = Some(CacheOptions { key: None, automatic: Some(hint) });
    }
    path(incoming.path, &mut request);
    if request.model.is_empty() {
        return Err(refusal("model", "the name of a model"));
    }
    if let Some(raw) = body.thinking.take_if(|raw| thinking::is_known(raw)) {
        keep_shape(&mut request.provider_data, "thinking", raw.into_json());
    }
    let shape = request.provider_data.part(DIALECT, Part::Shape);
    request.thinking = thinking::read(shape.get("thinking"), shape.get("effort"), &request.model);
    keep_shape(&mut request.provider_data, "model", request.model.as_str());
    request.provider_data.extend_part(DIALECT, Part::Extra, body.leftovers());
    Ok(request)
}

fn tool_choice(body: &mut wire::Request<'_>, request: &mut Request) {
    let Some((choice, parallel)) = body.tool_choice.as_ref().and_then(read_choice) else { return };
    let raw = body.tool_choice.take().map(Raw::into_json).unwrap_or_default();
    if write_choice(&choice, parallel).to_json() != raw {
        keep_shape(&mut request.provider_data, "tool_choice", raw);
    }
    (request.tool_choice, request.parallel_tool_calls) = (Some(choice), parallel);
}

/// Reads the format of the answer, and the effort, which is next to it.
fn format(body: &mut wire::Request<'_>, request: &mut Request) {
    if let Some(raw) = body.output_config.take() {
        match raw.to::<OutputConfig<'_>>() {
            Some(mut config) => {
                let was_empty = config.effort.is_none() && config.format.is_none() && config.rest.is_empty();
                if let Some(effort) = config.effort.take_if(|effort| thinking::is_effort(effort)) {
                    keep_shape(&mut request.provider_data, "effort", effort.into_json());
                }
                request.output_format = config.format.as_ref().and_then(read_format);
                if request.output_format.is_some() {
                    config.format = None;
                }
                let rest = config.leftovers();
                if was_empty || !rest.is_empty() {
                    request.provider_data.set_part(DIALECT, Part::Extra, "output_config", rest);
                }
            }
            None => body.output_config = Some(raw),
        }
    }
    // The older spelling.
    if let Some(format) = body.output_format.as_ref().and_then(read_format).filter(|_| request.output_format.is_none())
    {
        request.output_format = Some(format);
        keep_shape(
            &mut request.provider_data,
            "output_format",
            body.output_format.take().map(Raw::into_json).unwrap_or_default(),
        );
    }
}

/// Reads a schema for the answer. Returns `None` if it is of an unknown kind.
pub(super) fn read_format(raw: &Raw<'_>) -> Option<OutputFormat> {
    let mut format: Format<'_> = raw.to()?;
    format.kind.take().filter(|kind| kind.as_str() == "json_schema")?;
    let schema = format.schema.take()?.into_json();
    let mut provider_data = ProviderData::default();
    provider_data.extend_part(DIALECT, Part::Extra, format.leftovers());
    Some(OutputFormat::JsonSchema(JsonSchemaFormat {
        name: None,
        description: None,
        schema,
        strict: None,
        provider_data,
    }))
}

fn metadata(body: &mut wire::Request<'_>, request: &mut Request) {
    let Some(raw) = &body.metadata else { return };
    let Some(metadata) = raw.to::<serde_json::Map<_, _>>().filter(|metadata| !metadata.is_empty()) else { return };
    if Json::of(&metadata).is_ok_and(|printed| printed.text() != raw.text()) {
        keep_shape(&mut request.provider_data, "metadata", raw.to_json());
    }
    request.metadata = metadata;
    body.metadata = None;
}

/// Reads the path: Amazon and Google have the model there, and whether to stream.
fn path(path: Option<&str>, request: &mut Request) {
    let Some(path) = path else { return };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    if query == "beta=true" {
        keep_shape(&mut request.provider_data, "query", query);
    }
    if !request.model.is_empty() {
        return;
    }
    let (before, method) = path.rsplit_once(['/', ':']).unwrap_or((path, ""));
    let streams = match method {
        "invoke" | "rawPredict" => false,
        "invoke-with-response-stream" | "streamRawPredict" => true,
        _ => return,
    };
    let model = before.rsplit('/').next().unwrap_or_default();
    request.model = model.replace("%3A", ":").replace("%3a", ":");
    keep_shape(&mut request.provider_data, "path", path);
    if request.stream.is_none() && streams {
        request.stream = Some(true);
    }
}

fn integer(name: &str, raw: Option<Raw<'_>>) -> Result<Option<i64>, Error> {
    raw.map(|raw| raw.to().ok_or_else(|| refusal(name, "an integer"))).transpose()
}

/// Reads a number. If we would print it differently (`1` for `1.0`), its spelling is kept.
fn number(name: &str, raw: Option<Raw<'_>>, request: &mut Request) -> Result<Option<f64>, Error> {
    let Some(raw) = raw else { return Ok(None) };
    let number: f64 = raw.to().ok_or_else(|| refusal(name, "a number"))?;
    if Raw::of(&number).text() != raw.text() {
        keep_shape(&mut request.provider_data, name, raw.into_json());
    }
    Ok(Some(number))
}
