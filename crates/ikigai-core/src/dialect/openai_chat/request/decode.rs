//! Converts a client's request to a canonical one.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{messages, shape, tools};
use crate::dialect::Incoming;
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::notes::{Notes, Side};
use crate::dialect::openai_chat::thinking;
use crate::dialect::openai_chat::wire::{self, Asked};
use crate::json::loose::{Loose as _, Words, read_raw};
use crate::json::many::Document;
use crate::json::wire::{Raw, Rest, Text, read_request};
use crate::{CacheOptions, Error, Fields, Json, JsonSchemaFormat, Limits, OutputFormat, Part, ProviderData, Request};

/// Decodes a request. Whatever has no canonical field stays in `provider_data`, in its place, and so does a field of an
/// unexpected type, for the provider to refuse.
///
/// # Errors
/// Returns an error if it is not a JSON object, does not name a model, or its messages cannot be read.
pub(crate) fn decode_request(incoming: Incoming<'_>, limits: &Limits) -> Result<Request, Error> {
    let Document(mut asked): Document<Asked<'_>> = read_request(incoming.body, limits)?;
    let mut request = Request::default();
    let mut notes = Notes::default();
    request.model = model(&mut asked.model, incoming.path, &mut notes)?;
    if asked.messages.is_empty() && !wire::is_empty_list(&asked.rest, "messages") {
        return Err(at("messages", "is missing or not a list"));
    }
    wire::take(&mut asked.rest, "messages");
    messages::decode(std::mem::take(&mut asked.messages), &mut request, &mut notes)?;

    tools::decode(&mut asked, &mut request, &mut notes);
    let rest = &mut asked.rest;
    limit(rest, &mut request, &mut notes);
    sampling(rest, &mut request, &mut notes);
    output_format(rest, &mut request, &mut notes);
    thinking(rest, &mut request, &mut notes);
    labels(rest, &mut request, &mut notes);
    if let Some(key) = take_as::<Text<'_>>(rest, "prompt_cache_key") {
        request.cache = Some(CacheOptions { key: Some(key.into_string()), automatic: None });
    }
    request.stream = take_as(rest, "stream");
    notes.extra = asked.leftovers();
    request.provider_data = notes.into_data(Side::Request);
    Ok(request)
}

fn model(named: &mut Words<'_>, path: Option<&str>, notes: &mut Notes) -> Result<String, Error> {
    let model = match named.take() {
        Some(model) => model.into_owned(),
        None => {
            let Some(model) = path.and_then(deployment) else {
                return Err(at("model", "is missing; name the model that should answer"));
            };
            notes.mark(shape::MODEL_IN_PATH);
            model
        }
    };
    notes.shape.set(shape::MODEL, model.as_str());
    Ok(model)
}

/// Reads the model from one of Azure's older paths: `/openai/deployments/{model}/chat/completions`.
fn deployment(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/deployments/")?;
    let model = rest.split(['/', '?']).next()?;
    (!model.is_empty()).then(|| model.to_owned())
}

/// Returns an error for one place in the request.
pub(super) fn at(place: impl Into<String>, what: &str) -> Error {
    let place = place.into();
    let why = format!("`{place}` {what}");
    Error::invalid_param(place, why)
}

/// Takes out a field that can be read as this type; any other stays for the provider to refuse.
pub(super) fn take_as<'a, T: Deserialize<'a>>(rest: &mut Rest<'a>, name: &str) -> Option<T> {
    let place = rest.iter().rposition(|(own, _)| own == name)?;
    let value = match &rest.get(place)?.1 {
        Cow::Borrowed(raw) => serde_json::from_str(raw.get()).ok()?,
        // Only values that did not fit a typed field are owned.
        Cow::Owned(_) => return None,
    };
    rest.remove(place);
    Some(value)
}

fn limit(rest: &mut Rest<'_>, request: &mut Request, notes: &mut Notes) {
    // The newer name wins; the other one then stays unchanged.
    for name in ["max_completion_tokens", "max_tokens"] {
        if wire::find(rest, name)
            .and_then(|raw| serde_json::from_str::<i64>(raw.get()).ok())
            .is_some_and(|limit| limit > 0)
        {
            request.max_output_tokens = take_as(rest, name);
            notes.shape.set(shape::MAX_TOKENS, name);
            return;
        }
    }
}

fn sampling(rest: &mut Rest<'_>, request: &mut Request, notes: &mut Notes) {
    let mut spelled = Fields::default();
    let fields = [
        ("temperature", &mut request.temperature),
        ("top_p", &mut request.top_p),
        ("frequency_penalty", &mut request.frequency_penalty),
        ("presence_penalty", &mut request.presence_penalty),
    ];
    for (name, field) in fields {
        let Some(raw) = wire::find(rest, name).map(Json::copy) else { continue };
        *field = take_as(rest, name);
        if field.is_some_and(|number| Raw::of(&number).text() != raw.text()) {
            spelled.push(name, raw);
        }
    }
    if !spelled.is_empty() {
        notes.shape.set(shape::NUMBERS, Json::from(spelled));
    }
    request.top_k = take_as(rest, "top_k");
    request.seed = take_as(rest, "seed");
    if request.seed.is_none() {
        request.seed = take_as(rest, "random_seed");
        if request.seed.is_some() {
            notes.mark(shape::RANDOM_SEED);
        }
    }
    if let Some(text) = take_as::<Text<'_>>(rest, "stop") {
        request.stop.push(text.into_string());
        notes.mark(shape::STOP_TEXT);
    } else if wire::find(rest, "stop").is_some_and(|raw| raw.get() != "[]") {
        let texts = take_as::<Vec<Text<'_>>>(rest, "stop").unwrap_or_default();
        request.stop.extend(texts.into_iter().map(Text::into_string));
    }
}

fn thinking(rest: &mut Rest<'_>, request: &mut Request, notes: &mut Notes) {
    let mut fields = Fields::default();
    for name in thinking::FIELDS {
        if let Some(value) = wire::take(rest, name) {
            fields.push(name, Json::copy(&value));
        }
    }
    if !fields.is_empty() {
        request.thinking = thinking::decode(&fields);
        notes.shape.set(shape::THINKING, Json::from(fields));
    }
}

fn labels(rest: &mut Rest<'_>, request: &mut Request, notes: &mut Notes) {
    let mut raw = Fields::default();
    for (name, beginning) in [("user", '"'), ("metadata", '{')] {
        let fits = wire::find(rest, name).is_some_and(|value| value.get().starts_with(beginning));
        if let Some(value) = fits.then(|| wire::take(rest, name)).flatten() {
            raw.push(name, Json::copy(&value));
        }
    }
    if !raw.is_empty() {
        request.metadata = read_labels(&raw);
        notes.shape.set(shape::LABELS, Json::from(raw));
    }
}

/// Reads labels as the request's `metadata`: `user` is what other dialects call `user_id`.
pub(super) fn read_labels(raw: &Fields) -> Map<String, Value> {
    let mut metadata = Map::new();
    if let Some(user) = raw.get("user") {
        metadata.insert("user_id".to_owned(), user.value().clone());
    }
    if let Some(labels) = raw.get("metadata").and_then(|labels| labels.value().as_object()) {
        metadata.extend(labels.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    metadata
}

fn output_format(rest: &mut Rest<'_>, request: &mut Request, notes: &mut Notes) {
    let Some(format) = wire::find(rest, "response_format").and_then(read_format) else { return };
    let raw = wire::take(rest, "response_format");
    let plain = match &format {
        OutputFormat::Text => Some("text"),
        OutputFormat::Json => Some("json_object"),
        OutputFormat::JsonSchema(_) => None,
    };
    if let (Some(word), Some(raw)) = (plain, raw) {
        let json = Json::copy(&raw);
        if json != serde_json::json!({"type": word}) {
            notes.shape.set(shape::RESPONSE_FORMAT, json);
        }
    }
    request.output_format = Some(format);
}

loose! {
    /// `response_format`.
    pub(super) struct WireFormat<'a> {
        kind "type": Option<Text<'a>>,
        json_schema "json_schema": Option<Box<WireSchema<'a>>>,
    }

    /// Its inner object.
    pub(super) struct WireSchema<'a> {
        name "name": Option<Text<'a>>,
        description "description": Option<Text<'a>>,
        schema "schema": Option<Raw<'a>>,
        strict "strict": Option<bool>,
    }
}

/// Marks the fields around a schema's inner object, among its unknown fields.
pub(super) const OUTER: &str = "response_format";

/// Reads `response_format`. Returns `None` if it is of a kind that only its provider knows.
pub(super) fn read_format(raw: &RawValue) -> Option<OutputFormat> {
    let mut outer: WireFormat<'_> = read_raw(raw)?;
    match outer.kind.take()?.as_str() {
        "text" => Some(OutputFormat::Text),
        "json_object" => Some(OutputFormat::Json),
        "json_schema" => {
            let mut inner = *outer.json_schema.take()?;
            let mut format = JsonSchemaFormat {
                schema: inner.schema.take()?.to_json(),
                name: inner.name.take().map(Text::into_string),
                description: inner.description.take().map(Text::into_string),
                strict: inner.strict.take(),
                provider_data: ProviderData::default(),
            };
            let mut notes = Notes { extra: inner.leftovers(), ..Notes::default() };
            notes.keep_inner(OUTER, outer.leftovers());
            format.provider_data.extend_part(DIALECT, Part::Extra, notes.extra);
            Some(OutputFormat::JsonSchema(format))
        }
        _ => None,
    }
}
