//! A [`Request`] to what goes over the wire.

use serde_json::{Map, Value};

use super::super::fields;
use super::decode::{BODY_MODEL, MODEL, SINGLE_CONTENT, SYSTEM_EMPTY, SYSTEM_ONE, SYSTEM_TEXT};
use super::history::{self, foreign_leftovers};
use super::{config, tools};
use crate::dialect::DraftRequest;
use crate::{Block, Dialect, Error, Loss, Request, Target, Tool};

/// Writes a request.
///
/// One that a client of this dialect wrote for the very model that it still names is written as it was; any other is
/// fitted to what the model takes, with a loss for everything that does not fit.
pub(crate) fn encode_request(request: &Request, target: &Target<'_>) -> Result<DraftRequest, Error> {
    let data = &request.provider_data;
    let written_for = data.str(Dialect::Gemini, MODEL);
    let faithful = written_for == Some(request.model.as_str());
    let mut losses = Vec::new();
    let path = path(request)?;

    let mut kept = data.clone();
    let mut extra = match kept.remove(Dialect::Gemini, fields::EXTRA) {
        Some(Value::Object(extra)) => extra,
        _ => Map::new(),
    };
    // What it says about calls is kept as a whole elsewhere.
    if let Some(Value::Object(config)) = extra.get_mut("toolConfig") {
        config.shift_remove("functionCallingConfig");
    }
    extra.retain(|_, value| value.as_object().is_none_or(|value| !value.is_empty()));
    if !faithful && written_for.is_some() && extra.shift_remove("cachedContent").is_some_and(|name| !name.is_null()) {
        let why = "a cache belongs to the model that it was made for; it was left out";
        losses.push(Loss::uncoded("cache", "provider_data.gemini.extra.cachedContent", why));
    }
    // What lives in the cache must not stand in the request as well.
    let cached = !faithful && extra.get("cachedContent").is_some_and(|name| !name.is_null());

    let mut contents = history::encode(request, target, faithful, &mut losses)?;
    let mut system = system(request, faithful, &mut losses);
    let mut said = tools::encode(request, target, faithful, &mut losses);
    let config = config::encode(request, target, faithful, &mut losses);
    if cached {
        let dropped = [("system", system.take().is_some()), ("tools", said.tools.take().is_some())];
        said.config = None;
        for (name, _) in dropped.into_iter().filter(|(_, there)| *there) {
            losses.push(Loss::uncoded(name, name, "the cached content holds it already; it was left out"));
        }
    }
    if !faithful && !target.rules.system_prompt {
        system = move_system(system, &mut contents, &mut losses);
    }
    if !faithful {
        let_the_user_begin(&mut contents, &mut losses);
    }

    let mut body = Map::new();
    if let Some(system) = system {
        body.insert("systemInstruction".to_owned(), system);
    }
    if faithful && data.flag(Dialect::Gemini, SINGLE_CONTENT) && contents.len() == 1 {
        body.extend(contents.pop().map(|content| ("contents".to_owned(), content)));
    } else if !contents.is_empty() || !faithful {
        body.insert("contents".to_owned(), contents.into());
    }
    if let Some(tools) = said.tools {
        body.insert("tools".to_owned(), tools);
    }
    if let Some(config) = said.config {
        body.insert("toolConfig".to_owned(), config.into());
    }
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), config.into());
    }
    fields::put_back(&mut body, &extra, &["systemInstruction"]);
    fields::put_back_all(&mut body, &kept, &["systemInstruction"]);
    if faithful {
        fields::respell(&mut body, data);
        if let Some(model) = data.str(Dialect::Gemini, BODY_MODEL) {
            body.insert("model".to_owned(), model.into());
        }
    }
    unsaid(request, &mut losses);
    Ok(DraftRequest { path, headers: Vec::new(), body: Value::Object(body), losses })
}

/// `/models/{model}:{method}`, below a base URL that ends in the version. Streams are always asked for as events.
fn path(request: &Request) -> Result<String, Error> {
    let model = request.model.as_str();
    if model.split('/').any(|segment| segment == "." || segment == "..") {
        let mut error =
            Error::invalid_request(format!("`{model}` is no model name: it would leave the provider's path"));
        error.param = Some("model".to_owned());
        return Err(error);
    }
    let kind = if ["models/", "tunedModels/", "endpoints/"].iter().any(|kind| model.starts_with(kind)) {
        ""
    } else {
        "models/"
    };
    let method = if request.stream == Some(true) { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let mut path = format!("/{kind}");
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'@' => {
                path.push(char::from(byte));
            }
            byte => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path.push(':');
    path.push_str(method);
    Ok(path)
}

fn system(request: &Request, faithful: bool, losses: &mut Vec<Loss>) -> Option<Value> {
    if let ([Block::Text(text)], true) = (request.system.as_slice(), faithful)
        && request.provider_data.flag(Dialect::Gemini, SYSTEM_TEXT)
    {
        return Some(text.text.as_str().into());
    }
    if request.system.is_empty() && faithful {
        return request.provider_data.value(Dialect::Gemini, SYSTEM_EMPTY).cloned();
    }
    let mut parts = Vec::with_capacity(request.system.len());
    for (index, block) in request.system.iter().enumerate() {
        let place = format!("system[{index}]");
        let mut part = match block {
            Block::Text(text) if text.text.is_empty() && !faithful => continue,
            Block::Text(text) => super::super::part::text(&text.text, false),
            Block::Other(other) if other.dialect == Dialect::Gemini => {
                parts.push(other.data.value().clone());
                continue;
            }
            _ => {
                losses.push(Loss::uncoded(
                    "system",
                    place,
                    "the API takes text alone as a system prompt; it was left out",
                ));
                continue;
            }
        };
        if let Some(data) = block.provider_data() {
            foreign_leftovers(data, &place, losses);
            super::super::part::dress(&mut part, data, faithful);
        }
        parts.push(Value::Object(part).into());
    }
    let one = faithful && parts.len() == 1 && request.provider_data.flag(Dialect::Gemini, SYSTEM_ONE);
    let parts = match parts.len() {
        0 => return None,
        1 if one => parts.pop()?,
        _ => Value::Array(parts),
    };
    Some(Value::Object(Map::from_iter([("parts".to_owned(), parts)])))
}

/// The API wants the user to speak first.
fn let_the_user_begin(contents: &mut Vec<Value>, losses: &mut Vec<Loss>) {
    if contents.first().is_some_and(|content| content.get("role").is_some_and(|role| role == "model")) {
        contents.insert(0, serde_json::json!({"role": "user", "parts": [{"text": "(begin)"}]}));
        losses.push(Loss::uncoded_info(
            "messages",
            "messages[0]",
            "on this API the user begins; a placeholder is sent before it",
        ));
    }
}

/// For models that take no system prompt: its parts go in front of what the user says first.
fn move_system(system: Option<Value>, contents: &mut Vec<Value>, losses: &mut Vec<Loss>) -> Option<Value> {
    let Some(Value::Array(mut parts)) = system?.get_mut("parts").map(Value::take) else { return None };
    losses.push(Loss::uncoded(
        "system",
        "system",
        "this model takes no system prompt; it stands before the user's first words",
    ));
    let first = contents.first_mut().filter(|content| content.get("role").is_some_and(|role| role == "user"));
    match first.and_then(|content| content.get_mut("parts")).and_then(Value::as_array_mut) {
        Some(own) => {
            parts.append(own);
            *own = parts;
        }
        None => contents.insert(0, serde_json::json!({"role": "user", "parts": parts})),
    }
    None
}

/// What the API has no field for.
fn unsaid(request: &Request, losses: &mut Vec<Loss>) {
    if !request.metadata.is_empty() {
        let names: Vec<&str> = request.metadata.keys().map(String::as_str).collect();
        let why = format!("the API takes no labels; {} was left out", names.join(", "));
        losses.push(Loss::uncoded("metadata", "metadata", why));
    }
    if request.cache.is_some() {
        let why = "the API caches by itself and cannot be told how";
        losses.push(Loss::uncoded_info("cache", "cache", why));
    }
    if let Some(place) = cache_hint(request) {
        losses.push(Loss::uncoded_info(
            "cache",
            place,
            "the API caches by itself; marks on blocks and tools are not sent",
        ));
    }
    foreign_leftovers(&request.provider_data, "provider_data", losses);
}

/// The first place that asks for a cache.
fn cache_hint(request: &Request) -> Option<String> {
    let place = |blocks: &[Block]| blocks.iter().position(|block| block.cache().is_some());
    if let Some(index) = place(&request.system) {
        return Some(format!("system[{index}]"));
    }
    let tool = |tool: &Tool| tool.as_function().is_some_and(|function| function.cache.is_some());
    if let Some(index) = request.tools.iter().position(tool) {
        return Some(format!("tools[{index}]"));
    }
    request.messages.iter().enumerate().find_map(|(index, message)| {
        let block = place(&message.content)?;
        Some(format!("messages[{index}].content[{block}]"))
    })
}
