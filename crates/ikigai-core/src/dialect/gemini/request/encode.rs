//! Converts a fitted request to the wire.

use super::super::leftovers::Kept;
use super::super::wire::{Body, Content, OneOrMany, Part, System, ToolConfig};
use super::super::{DIALECT, content};
use super::decode::{BODY_MODEL, CONTENTS, MODEL, SYSTEM};
use super::{Writing, config, messages, refuse, tools};
use crate::dialect::verbs::segment;
use crate::fit::{Fitted, Spelling};
use crate::json::wire::{Rest, Text};
use crate::wire::WireRequest;
use crate::{Block, BlockKind, Error, Limits, Loss, LossCode, Part as DataPart, Request};

/// The objects inside a request whose unknown fields are kept under their names.
const OBJECTS: [&str; 3] = ["systemInstruction", "toolConfig", "generationConfig"];

/// Encodes a request.
pub(crate) fn encode_request(fitted: &Fitted<'_>, limits: &Limits) -> Result<WireRequest, Error> {
    let request = fitted.request;
    let as_it_came = fitted.spelling == Spelling::AsItCame;
    let mut writing = Writing { fitted, limits, losses: Vec::new() };
    let path = path(request)?;
    let kept = Kept::of(&request.provider_data, fitted.spelling);
    let shape = request.provider_data.part(DIALECT, DataPart::Shape);

    let contents = messages::encode(fitted, &mut writing.losses)?;
    let mut rest = kept.rest(&OBJECTS);
    let config = config::encode(&mut writing, &kept)?;
    let mut body = Body {
        system: system(&mut writing, &kept),
        contents: None,
        tools: tools::encode(&mut writing)?,
        tool_config: Some(ToolConfig {
            calling: tools::encode_config(fitted),
            names: kept.names(),
            rest: kept.inner("toolConfig").into_iter().filter(|(name, _)| name != "functionCallingConfig").collect(),
        }),
        names: kept.names(),
        ..Body::default()
    };
    let mut losses = writing.losses;
    if !as_it_came {
        use_cache(fitted, &mut body, &mut rest, &mut losses);
    }
    unsaid(request, &mut losses);
    body.tool_config.take_if(|config| config.calling.is_none() && config.rest.is_empty());
    let form = if as_it_came { shape.str(CONTENTS) } else { Some("empty".into()) };
    body.contents = OneOrMany::in_form(contents, form.as_deref());
    body.config = config;
    body.rest = rest;
    if as_it_came {
        body.model = shape.str(BODY_MODEL).map(Text);
    }
    Ok(WireRequest::new(path, &body, fitted, losses))
}

/// Returns `/models/{model}:{method}`, for a base URL that ends in the version. Streams are requested as events.
fn path(request: &Request) -> Result<String, Error> {
    let model = request.model.as_str();
    if model.split('/').any(|segment| segment == "." || segment == "..") {
        return Err(refuse("model", &format!("`{model}` is not a model's name: it would leave the provider's path")));
    }
    let own_kind = ["models/", "tunedModels/", "endpoints/"].iter().any(|kind| model.starts_with(kind));
    let method = if request.stream == Some(true) { "streamGenerateContent?alt=sse" } else { "generateContent" };
    // The kind is one path segment and the name another, whatever it contains.
    let (kind, name) = model.split_once('/').filter(|_| own_kind).unwrap_or(("models", model));
    let mut path = format!("/{kind}/{}", segment(name));
    path.push(':');
    path.push_str(method);
    Ok(path)
}

fn system<'a>(writing: &mut Writing<'a, '_>, kept: &Kept<'a>) -> Option<System<'a>> {
    let fitted = writing.fitted;
    let shape = fitted.request.provider_data.part(DIALECT, DataPart::Shape).get(SYSTEM);
    let shape = shape.filter(|_| fitted.spelling == Spelling::AsItCame);
    let noted = shape.and_then(|shape| shape.as_str());
    let mut parts: Vec<Part<'a>> = Vec::with_capacity(fitted.system.len());
    for fitted_block in &fitted.system {
        let block = fitted_block.block.as_ref();
        let mut part = match block {
            Block::Text(text) if text.text.is_empty() && fitted.spelling == Spelling::Ours => continue,
            Block::Text(text) if noted.as_deref() == Some("text") && fitted.system.len() == 1 => {
                return Some(System::Text(text.text.as_str().into()));
            }
            Block::Text(text) => content::text(&text.text, BlockKind::Text),
            Block::Other(other) => {
                parts.extend(content::whole(other));
                continue;
            }
            Block::Image(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::ToolCall(_)
            | Block::ToolResult(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_)
            | Block::Thinking(_) => {
                let why = "a system prompt is text alone here; left out";
                writing.losses.push(Loss::new(LossCode::NotInDialect, "system", fitted_block.place.to_string(), why));
                continue;
            }
        };
        if let Some(data) = block.provider_data() {
            content::dress(&mut part, data, fitted.spelling);
        }
        parts.push(part);
    }
    let mut content = Content { rest: kept.inner("systemInstruction"), ..Content::default() };
    content.parts = OneOrMany::in_form(parts, noted.as_deref());
    match content.parts {
        Some(_) => Some(System::Content(content)),
        None => shape.filter(|shape| shape.is_object())?.to().ok().map(System::Content),
    }
}

/// Applies an explicit cache, whose content must not also be in the request. Another model's cache is useless.
fn use_cache(fitted: &Fitted<'_>, body: &mut Body<'_>, rest: &mut Rest<'_>, losses: &mut Vec<Loss>) {
    let Some(place) = rest.iter().position(|(name, _)| name == "cachedContent" || name == "cached_content") else {
        return;
    };
    // A request that was decoded, but is not sent on unchanged, was written for another model.
    if fitted.request.provider_data.part(DIALECT, DataPart::Shape).get(MODEL).is_some() {
        rest.remove(place);
        let why = "a cache belongs to the model that it was made for; left out";
        losses.push(Loss::new(LossCode::ForeignState, "cache", "provider_data.gemini.extra.cachedContent", why));
        return;
    }
    let dropped = [("system", body.system.take().is_some()), ("tools", body.tools.take().is_some())];
    body.tool_config = None;
    for (name, _) in dropped.into_iter().filter(|(_, there)| *there) {
        losses.push(Loss::new(LossCode::Conflict, name, name, "the cached content holds it already; left out"));
    }
}

/// Notes what the API has no field for.
fn unsaid(request: &Request, losses: &mut Vec<Loss>) {
    if !request.metadata.is_empty() {
        let names: Vec<&str> = request.metadata.keys().map(String::as_str).collect();
        let why = format!("the API accepts no labels; {} is left out", names.join(", "));
        losses.push(Loss::new(LossCode::NotInDialect, "metadata", "metadata", why));
    }
}
