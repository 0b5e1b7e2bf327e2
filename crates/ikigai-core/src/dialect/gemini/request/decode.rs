//! Converts a client's request to a [`Request`].

use super::super::wire::{Body, OneOrMany, System, ToolConfig};
use super::super::{DIALECT, state};
use super::{Reading, config, messages, pairing, tools};
use crate::json::wire::{Leftovers as _, Text, read_request};
use crate::server::unescape;
use crate::wire::Incoming;
use crate::{Block, Error, Json, Limits, Part, Request};

/// In the shape: the requested model. While the request still names it, the request is written as it was.
pub(super) const MODEL: &str = "model";
/// In the shape: the model's name in the body.
pub(super) const BODY_MODEL: &str = "body_model";
/// In the shape: `contents` was `one` object in place of a list, or an `empty` list.
pub(super) const CONTENTS: &str = "contents";
/// In the shape: `systemInstruction` was a `text`, or its parts were `one` object; or the whole object, if it had no
/// parts.
pub(super) const SYSTEM: &str = "system";

/// Decodes a request.
pub(crate) fn decode_request(incoming: Incoming<'_>, limits: &Limits) -> Result<Request, Error> {
    let mut body: Body<'_> = read_request(incoming.body, limits)?;
    let mut reading = Reading::default();
    model(incoming.path, body.model.take(), &mut reading);
    if let Some(system) = body.system.take() {
        read_system(system, &mut reading)?;
    }
    if let Some(contents) = body.contents.take() {
        if let Some(form) = contents.form() {
            reading.shape.push(CONTENTS, form);
        }
        let messages = &mut reading.request.messages;
        *messages = messages::decode(contents, limits)?;
        pairing::name_calls(messages);
        state::restore(messages);
    }
    let says_something = |config: &mut ToolConfig<'_>| config.calling.is_some() || !config.rest.is_empty();
    if let Some(tool_config) = body.tool_config.take_if(says_something) {
        tools::decode_config(tool_config, &mut reading)?;
    }
    if let Some(entries) = body.tools.take() {
        tools::decode(entries, &mut reading)?;
    }
    if let Some(settings) = body.config.take() {
        config::decode(settings, &mut reading)?;
    }
    let Reading { mut request, shape, mut left } = reading;
    left.spelled(std::mem::take(&mut body.names));
    left.take(body.leftovers());
    request.provider_data.extend_part(DIALECT, Part::Shape, shape);
    left.keep(&mut request.provider_data);
    Ok(request)
}

fn model(path: Option<&str>, named: Option<Text<'_>>, reading: &mut Reading) {
    let Reading { request, shape, .. } = reading;
    let from_path = path.and_then(|path| {
        let (model, method) = split_path(path)?;
        request.stream = method.starts_with("stream").then_some(true);
        Some(model)
    });
    let short = |name: &str| name.strip_prefix("models/").unwrap_or(name).to_owned();
    request.model = from_path.or_else(|| named.as_ref().map(|name| short(name.as_str()))).unwrap_or_default();
    shape.push(MODEL, request.model.as_str());
    if let Some(named) = named {
        shape.push(BODY_MODEL, named.as_str());
    }
}

/// Splits `…/models/{model}:{method}?…` into the model and the method. Names may contain colons and slashes, and any of
/// it may be escaped.
fn split_path(path: &str) -> Option<(String, String)> {
    let path = unescape(path.split(['?', '#']).next()?)?;
    let (resource, method) = path.rsplit_once(':')?;
    let name = match resource.split_once("/models/").or_else(|| Some(("", resource.strip_prefix("models/")?))) {
        Some((_, model)) => model,
        // For a tuned model or an endpoint, the kind is part of the name.
        None => {
            let kind = ["tunedModels/", "endpoints/"].into_iter().find_map(|kind| resource.find(kind));
            resource.get(kind?..)?
        }
    };
    Some((name.to_owned(), method.to_owned()))
}

fn read_system(system: System<'_>, reading: &mut Reading) -> Result<(), Error> {
    let Reading { request, shape, left } = reading;
    let mut content = match system {
        System::Text(text) => {
            request.system.push(Block::from(text.into_string()));
            shape.push(SYSTEM, "text");
            return Ok(());
        }
        System::Content(content) => content,
    };
    if content.parts.as_ref().is_none_or(OneOrMany::is_empty) {
        shape.push(SYSTEM, Json::of(&content).unwrap_or_default());
        return Ok(());
    }
    if let Some(parts) = content.parts.take() {
        if let Some(form) = parts.form() {
            shape.push(SYSTEM, form);
        }
        for (index, part) in parts.into_iter().enumerate() {
            request.system.push(messages::block(part, format_args!("systemInstruction.parts[{index}]"))?);
        }
    }
    left.take_inner("systemInstruction", content.leftovers());
    Ok(())
}
