//! A client's request to ours.

use serde_json::{Map, Value, json};

use super::{mark, read_messages, tools};
use crate::dialect::DraftIncoming;
use crate::dialect::openai_chat::marks::{DIALECT, EXTRA, take_list, take_object, take_text};
use crate::dialect::openai_chat::thinking;
use crate::{CacheOptions, Error, JsonSchemaFormat, OutputFormat, ProviderData, Request};

/// Reads a request. What has no field of ours stays in `provider_data`, in its place; a field of a type that nobody
/// expects stays there too, for the provider to refuse.
///
/// # Errors
/// When it is no object, names no model, or its messages cannot be told apart.
pub(crate) fn decode_request(incoming: DraftIncoming<'_>) -> Result<Request, Error> {
    let Value::Object(mut body) = incoming.body else {
        return Err(Error::invalid_request("the body is no JSON object; send one with `model` and `messages`"));
    };
    let mut request = Request::default();
    let mut own = Map::new();
    let named = take_text(&mut body, "model").filter(|model| !model.is_empty());
    let in_path = named.is_none().then(|| incoming.path.and_then(deployment)).flatten();
    if in_path.is_some() {
        own.insert(mark::MODEL_IN_PATH.to_owned(), true.into());
    }
    request.model = match named.or(in_path) {
        Some(model) => model,
        None => {
            let mut error = Error::invalid_request("`model` is missing; name the model that shall answer");
            error.param = Some("model".to_owned());
            return Err(error);
        }
    };
    own.insert(mark::MODEL.to_owned(), request.model.as_str().into());

    let wire = match take_list(&mut body, "messages") {
        Some(messages) => messages,
        None => return Err(at("messages", "is missing or no list")),
    };
    read_messages::decode(wire, &mut request, &mut own)?;

    limits(&mut body, &mut request, &mut own);
    sampling(&mut body, &mut request, &mut own);
    tools::decode(&mut body, &mut request, &mut own);
    output_format(&mut body, &mut request, &mut own);
    think(&mut body, &mut request, &mut own);
    labels(&mut body, &mut request, &mut own);
    if let Some(key) = take_text(&mut body, "prompt_cache_key") {
        request.cache = Some(CacheOptions { key: Some(key), automatic: None });
    }
    if let Some(stream) = body.get("stream").and_then(Value::as_bool) {
        body.shift_remove("stream");
        request.stream = Some(stream);
    }
    if !body.is_empty() {
        own.insert(EXTRA.to_owned(), Value::Object(body));
    }
    request.provider_data.extend(DIALECT, own);
    Ok(request)
}

/// Azure's older addresses name the model: `/openai/deployments/{model}/chat/completions`.
fn deployment(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/deployments/")?;
    let model = rest.split(['/', '?']).next()?;
    (!model.is_empty()).then(|| model.to_owned())
}

/// A complaint about one place in the request.
pub(super) fn at(place: impl Into<String>, what: &str) -> Error {
    let place = place.into();
    let mut error = Error::invalid_request(format!("`{place}` {what}"));
    error.param = Some(place);
    error
}

fn limits(body: &mut Map<String, Value>, request: &mut Request, own: &mut Map<String, Value>) {
    // The newer name wins; the other then stays as it is.
    for name in ["max_completion_tokens", "max_tokens"] {
        if let Some(limit) = body.get(name).and_then(Value::as_i64).filter(|limit| *limit > 0) {
            body.shift_remove(name);
            request.max_output_tokens = Some(limit);
            own.insert(mark::MAX_TOKENS.to_owned(), name.into());
            return;
        }
    }
}

fn sampling(body: &mut Map<String, Value>, request: &mut Request, own: &mut Map<String, Value>) {
    let mut whole = Map::new();
    let fields = [
        ("temperature", &mut request.temperature),
        ("top_p", &mut request.top_p),
        ("frequency_penalty", &mut request.frequency_penalty),
        ("presence_penalty", &mut request.presence_penalty),
    ];
    for (name, field) in fields {
        let Some(number) = body.get(name).and_then(Value::as_f64) else { continue };
        *field = Some(number);
        if let Some(raw) = body.shift_remove(name).filter(|raw| !raw.is_f64()) {
            whole.insert(name.to_owned(), raw);
        }
    }
    if !whole.is_empty() {
        own.insert(mark::NUMBERS.to_owned(), Value::Object(whole));
    }
    if let Some(top_k) = body.get("top_k").and_then(Value::as_i64) {
        body.shift_remove("top_k");
        request.top_k = Some(top_k);
    }
    for name in ["seed", "random_seed"] {
        if request.seed.is_some() {
            break;
        }
        if let Some(seed) = body.get(name).and_then(Value::as_i64) {
            body.shift_remove(name);
            request.seed = Some(seed);
            if name == "random_seed" {
                own.insert(mark::RANDOM_SEED.to_owned(), true.into());
            }
        }
    }
    stop(body, request, own);
}

fn stop(body: &mut Map<String, Value>, request: &mut Request, own: &mut Map<String, Value>) {
    if let Some(text) = take_text(body, "stop") {
        request.stop.push(text);
        own.insert(mark::STOP_TEXT.to_owned(), true.into());
        return;
    }
    let readable = body
        .get("stop")
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_string));
    if readable {
        let list = take_list(body, "stop").unwrap_or_default();
        request.stop.extend(list.into_iter().filter_map(|text| match text {
            Value::String(text) => Some(text),
            _ => None,
        }));
    }
}

fn think(body: &mut Map<String, Value>, request: &mut Request, own: &mut Map<String, Value>) {
    let mut fields = Map::new();
    for name in thinking::FIELDS {
        if let Some(value) = body.shift_remove(name) {
            fields.insert(name.to_owned(), value);
        }
    }
    if fields.is_empty() {
        return;
    }
    request.thinking = thinking::decode(&fields);
    own.insert(mark::THINKING.to_owned(), Value::Object(fields));
}

fn labels(body: &mut Map<String, Value>, request: &mut Request, own: &mut Map<String, Value>) {
    let mut raw = Map::new();
    if let Some(user) = take_text(body, "user") {
        raw.insert("user".to_owned(), user.into());
    }
    if let Some(metadata) = take_object(body, "metadata") {
        raw.insert("metadata".to_owned(), Value::Object(metadata));
    }
    if raw.is_empty() {
        return;
    }
    request.metadata = read_labels(&raw);
    own.insert(mark::LABELS.to_owned(), Value::Object(raw));
}

/// Labels as the request's `metadata`: the user is the one that other dialects call `user_id`.
pub(super) fn read_labels(raw: &Map<String, Value>) -> Map<String, Value> {
    let mut metadata = Map::new();
    if let Some(user) = raw.get("user") {
        metadata.insert("user_id".to_owned(), user.clone());
    }
    if let Some(labels) = raw.get("metadata").and_then(Value::as_object) {
        metadata.extend(labels.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    metadata
}

fn output_format(body: &mut Map<String, Value>, request: &mut Request, own: &mut Map<String, Value>) {
    let Some(raw) = body.get("response_format") else { return };
    let Some(format) = read_format(raw) else { return };
    let raw = body.shift_remove("response_format").unwrap_or_default();
    let plain = match &format {
        OutputFormat::Text => Some(json!({"type": "text"})),
        OutputFormat::Json => Some(json!({"type": "json_object"})),
        OutputFormat::JsonSchema(_) => None,
    };
    if plain.is_some_and(|plain| plain != raw) {
        own.insert(mark::RESPONSE_FORMAT.to_owned(), raw);
    }
    request.output_format = Some(format);
}

/// Reads `response_format`; none when it is of a kind that only its provider knows.
pub(super) fn read_format(raw: &Value) -> Option<OutputFormat> {
    match raw.get("type")?.as_str()? {
        "text" => Some(OutputFormat::Text),
        "json_object" => Some(OutputFormat::Json),
        "json_schema" => {
            let mut inner = raw.get("json_schema")?.as_object()?.clone();
            let schema = inner.shift_remove("schema")?;
            let mut own = Map::new();
            let mut outer = raw.as_object()?.clone();
            outer.shift_remove("type");
            outer.shift_remove("json_schema");
            let strict = inner.get("strict").and_then(Value::as_bool);
            if strict.is_some() {
                inner.shift_remove("strict");
            }
            let mut format = JsonSchemaFormat {
                name: take_text(&mut inner, "name"),
                description: take_text(&mut inner, "description"),
                schema: schema.into(),
                strict,
                provider_data: ProviderData::default(),
            };
            for (key, fields) in [(EXTRA, inner), ("outer", outer)] {
                if !fields.is_empty() {
                    own.insert(key.to_owned(), Value::Object(fields));
                }
            }
            format.provider_data.extend(DIALECT, own);
            Some(OutputFormat::JsonSchema(format))
        }
        _ => None,
    }
}
