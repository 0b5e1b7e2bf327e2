//! Converts a fitted request to the wire.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::decode::{self, OUTER, WireFormat, WireSchema};
use super::history::History;
use super::shape;
use super::tools;
use crate::dialect::WireRequest;
use crate::dialect::losses::label;
use crate::dialect::openai_chat::notes::{self, Side};
use crate::dialect::openai_chat::thinking;
use crate::dialect::openai_chat::wire::{Asked, put};
use crate::fit::{Fitted, FittedFormat, Spelling};
use crate::json::loose::{Words, raw};
use crate::json::wire::{Raw, Rest, Text};
use crate::provider::{MaxTokensField, SeedField};
use crate::{Error, Fields, Json, Limits, Loss};

/// Encodes a request.
///
/// # Errors
/// Currently none: everything that has been fitted has a form here.
pub(crate) fn encode_request(fitted: &Fitted<'_>, _limits: &Limits) -> Result<WireRequest, Error> {
    let (messages, mut losses) = History::new(fitted).all();
    let mut body = Asked { messages, ..Asked::default() };
    if body.messages.is_empty() {
        put(&mut body.rest, "messages", &body.messages);
    }
    let shape = shape_of(fitted);
    if !shape.flag(shape::MODEL_IN_PATH) {
        body.model = Words(Some(fitted.request.model.as_str().into()));
    }
    tools::encode(fitted, shape, &mut body);
    let rest = &mut body.rest;
    put_limits(fitted, shape, rest);
    put_choice(fitted, shape, rest);
    put_format(fitted, shape, rest);
    put_thinking(fitted, shape, rest, &mut losses);
    put_labels(fitted, rest, &mut losses);
    if let Some(key) = &fitted.cache_key {
        put(rest, "prompt_cache_key", key);
    }
    put_extra(fitted, rest);
    Ok(WireRequest::new("/chat/completions".to_owned(), &body, fitted, losses))
}

/// Returns how the request was spelled, if that is to be followed.
fn shape_of<'a>(fitted: &Fitted<'a>) -> &'a Fields {
    match fitted.spelling {
        Spelling::AsItCame => notes::shape(&fitted.request.provider_data),
        Spelling::Ours => Fields::NONE,
    }
}

/// Returns the original raw form of several fields.
fn raw_fields(shape: &Fields, name: &str) -> Option<Fields> {
    shape.get(name)?.to().ok()
}

/// Adds fields in their raw form.
fn put_raw(rest: &mut Rest<'_>, fields: Fields) {
    rest.extend(fields.into_iter().map(|(name, value)| (Cow::Owned(name), Cow::Owned(value.raw().to_owned()))));
}

fn put_limits(fitted: &Fitted<'_>, shape: &Fields, rest: &mut Rest<'_>) {
    let quirks = fitted.target.quirks;
    if let Some(limit) = fitted.max_output_tokens {
        let usual = match quirks.chat.max_tokens {
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
            MaxTokensField::MaxTokens => "max_tokens",
        };
        let name = shape.str(shape::MAX_TOKENS).map_or(Cow::Borrowed(usual), |name| Cow::Owned(name.into_owned()));
        rest.push((name, raw(&limit)));
    }
    let spelled = raw_fields(shape, shape::NUMBERS).unwrap_or_default();
    let numbers = [
        ("temperature", fitted.temperature),
        ("top_p", fitted.top_p),
        ("frequency_penalty", fitted.frequency_penalty),
        ("presence_penalty", fitted.presence_penalty),
    ];
    for (name, number) in numbers.into_iter().filter_map(|(name, number)| Some((name, number?))) {
        // The original spelling, while it is the same number.
        match spelled.get(name).filter(|raw| raw.to::<f64>().is_ok_and(|same| same == number)) {
            Some(same) => rest.push((Cow::Borrowed(name), Cow::Owned(same.raw().to_owned()))),
            None => put(rest, name, &number),
        }
    }
    if let Some(top_k) = fitted.top_k {
        put(rest, "top_k", &top_k);
    }
    if let Some(seed) = fitted.seed {
        let is_random = match fitted.spelling {
            Spelling::AsItCame => shape.flag(shape::RANDOM_SEED),
            Spelling::Ours => quirks.chat.seed == SeedField::RandomSeed,
        };
        put(rest, if is_random { "random_seed" } else { "seed" }, &seed);
    }
    match fitted.stop.as_ref() {
        [] => {}
        [only] if shape.flag(shape::STOP_TEXT) => put(rest, "stop", only),
        several => put(rest, "stop", several),
    }
}

fn put_choice(fitted: &Fitted<'_>, shape: &Fields, rest: &mut Rest<'_>) {
    if let Some(choice) = &fitted.tool_choice {
        let same = raw_fields(shape, shape::TOOL_CHOICE).filter(|raw| {
            raw.iter().next().and_then(|(_, raw)| tools::read_choice(raw.value())).as_ref() == Some(choice)
        });
        match same {
            Some(raw) => put_raw(rest, raw),
            None => {
                put(rest, "tool_choice", &tools::write_choice(choice, fitted.target.quirks.chat.tool_choice_required))
            }
        }
    }
    if let Some(parallel) = fitted.parallel_tool_calls {
        put(rest, "parallel_tool_calls", &parallel);
    }
}

fn put_format(fitted: &Fitted<'_>, shape: &Fields, rest: &mut Rest<'_>) {
    let Some(format) = &fitted.output_format else { return };
    let kept = shape.get(shape::RESPONSE_FORMAT);
    let same = kept.filter(|kept| decode::read_format(kept.raw()).as_ref() == fitted.request.output_format.as_ref());
    match (format, same) {
        (_, Some(same)) => rest.push((Cow::Borrowed("response_format"), Cow::Owned(same.raw().to_owned()))),
        // Text is the default.
        (FittedFormat::Text, None) if fitted.spelling == Spelling::Ours => {}
        (FittedFormat::Text, None) => put(rest, "response_format", &json!({"type": "text"})),
        (FittedFormat::Json, None) => put(rest, "response_format", &json!({"type": "json_object"})),
        (FittedFormat::Schema { format, name, description, schema, strict }, None) => {
            let inner = WireSchema {
                name: name.as_deref().map(Text::from),
                description: description.map(Text::from),
                schema: Some(Raw::from(schema.as_ref())),
                strict: *strict,
                rest: notes::around(notes::extra(&format.provider_data, Side::Request), OUTER),
            };
            let outer = WireFormat {
                kind: Some("json_schema".into()),
                json_schema: Some(Box::new(inner)),
                rest: notes::inner(notes::extra(&format.provider_data, Side::Request), OUTER),
            };
            put(rest, "response_format", &outer);
        }
    }
}

fn put_thinking(fitted: &Fitted<'_>, shape: &Fields, rest: &mut Rest<'_>, losses: &mut Vec<Loss>) {
    let same = raw_fields(shape, shape::THINKING)
        .filter(|raw| !fitted.thinking.must && thinking::decode(raw) == fitted.request.thinking);
    match same {
        Some(raw) => put_raw(rest, raw),
        None => {
            losses.extend(fitted.thinking.losses.iter().cloned());
            rest.extend(thinking::encode(&fitted.thinking, fitted.target.quirks.chat.reasoning_request));
        }
    }
}

/// Writes `user` and `metadata`: as received while they say the same.
fn put_labels(fitted: &Fitted<'_>, rest: &mut Rest<'_>, losses: &mut Vec<Loss>) {
    let request = fitted.request;
    let kept = raw_fields(notes::shape(&request.provider_data), shape::LABELS);
    if let Some(same) = kept.filter(|raw| decode::read_labels(raw) == request.metadata) {
        return put_raw(rest, same);
    }
    let mut labels = serde_json::Map::new();
    for (key, value) in &request.metadata {
        match value {
            Value::String(user) if key == "user_id" => put(rest, "user", user),
            _ => drop(labels.insert(key.clone(), label(key, value, losses))),
        }
    }
    if !labels.is_empty() {
        put(rest, "metadata", &labels);
    }
}

/// Writes whether to stream, and the fields that the format does not have. A model that does not support such a field
/// refuses it by name.
fn put_extra<'f>(fitted: &Fitted<'f>, rest: &mut Rest<'f>) {
    let extra = notes::extra(&fitted.request.provider_data, Side::Request);
    let ours = fitted.spelling == Spelling::Ours;
    match fitted.request.stream {
        Some(false) if ours => {}
        Some(stream) => put(rest, "stream", &stream),
        None => {}
    }
    if ours && fitted.request.stream == Some(true) && !fitted.target.quirks.chat.no_stream_options {
        let mut options: Fields = extra.get("stream_options").and_then(|options| options.to().ok()).unwrap_or_default();
        options.set("include_usage", true);
        put(rest, "stream_options", &Json::from(options));
    }
    let own: Vec<Cow<'_, str>> = rest.iter().map(|(name, _)| name.clone()).collect();
    let is_known = |name: &str| own.iter().any(|known| known == name) || (ours && name == "stream_options");
    rest.extend(extra.as_rest().into_iter().filter(|(name, _)| !is_known(name)));
}
