//! `generationConfig`: sampling, limits, the form of the answer, thinking.

use serde_json::{Map, Value, json};

use super::super::fields::{self, Fields};
use super::super::{schema, thinking};
use super::decode::refuse;
use super::history::foreign_leftovers;
use super::tools::{SCHEMA, SCHEMA_FIELD};
use crate::{Dialect, Error, JsonSchemaFormat, Loss, OutputFormat, ProviderData, Request, Sampling, Target, Tool};

const CONFIG: &str = "generationConfig";
/// Values as they were written, where we would write them otherwise: `1` for 1.0, `"100"` for 100.
const WRITTEN: &str = "written";
/// On a schema: it came without `responseMimeType`.
const NO_MIME: &str = "no_mime_type";

const MIME: &str = "responseMimeType";
const JSON: &str = "application/json";
const JSON_SCHEMA: &str = "responseJsonSchema";
const OPENAPI: &str = "responseSchema";
/// The newer union of type and schema.
const FORMAT: &str = "responseFormat";

/// At most so many stop texts are taken.
const MOST_STOPS: usize = 5;

pub(super) fn decode(fields: &mut Fields, request: &mut Request, data: &mut ProviderData) -> Result<(), Error> {
    let Some(mut config) = fields.take_object(CONFIG) else {
        return match fields.get(CONFIG) {
            Some(_) => Err(refuse(CONFIG, "must be an object")),
            None => Ok(()),
        };
    };
    if config.is_empty() {
        fields.leave(CONFIG, json!({}));
    }
    let mut written = Map::new();
    request.max_output_tokens = whole(&mut config, "maxOutputTokens", &mut written)?;
    request.temperature = number(&mut config, "temperature", &mut written)?;
    request.top_p = number(&mut config, "topP", &mut written)?;
    request.top_k = whole(&mut config, "topK", &mut written)?;
    request.seed = whole(&mut config, "seed", &mut written)?;
    request.presence_penalty = number(&mut config, "presencePenalty", &mut written)?;
    request.frequency_penalty = number(&mut config, "frequencyPenalty", &mut written)?;
    request.stop = stops(&mut config)?;
    if let Some(wish) = config.get("thinkingConfig") {
        let Value::Object(wish) = wish else {
            return Err(refuse(&format!("{CONFIG}.thinkingConfig"), "must be an object"));
        };
        request.thinking = Some(thinking::decode(wish));
        if let Some(wish) = config.take("thinkingConfig") {
            data.set(Dialect::Gemini, thinking::CONFIG, wish);
        }
    }
    format(&mut config, request, &mut written);
    for (name, default) in [("candidateCount", json!(1)), ("responseModalities", json!(["TEXT"]))] {
        if config.get(name) == Some(&default) {
            config.is_default(name);
        }
    }
    if !written.is_empty() {
        data.set(Dialect::Gemini, WRITTEN, written);
    }
    fields.close(CONFIG, config);
    Ok(())
}

fn number(config: &mut Fields, name: &str, written: &mut Map<String, Value>) -> Result<Option<f64>, Error> {
    let Some(value) = config.take(name) else { return Ok(None) };
    let Some(number) = as_number(&value) else {
        return Err(refuse(&format!("{CONFIG}.{name}"), "must be a number"));
    };
    if value != json!(number) {
        written.insert(name.to_owned(), value);
    }
    Ok(Some(number))
}

fn whole(config: &mut Fields, name: &str, written: &mut Map<String, Value>) -> Result<Option<i64>, Error> {
    let Some(value) = config.take(name) else { return Ok(None) };
    let Some(number) = as_whole(&value) else {
        return Err(refuse(&format!("{CONFIG}.{name}"), "must be a whole number"));
    };
    if value != json!(number) {
        written.insert(name.to_owned(), value);
    }
    Ok(Some(number))
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number| number.is_finite())
}

fn as_whole(value: &Value) -> Option<i64> {
    let from_float = || {
        let float = as_number(value).filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number within the range that doubles hold exactly"
        )]
        Some(float as i64)
    };
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).or_else(from_float)
}

fn stops(config: &mut Fields) -> Result<Vec<String>, Error> {
    let name = "stopSequences";
    let list = match config.get(name) {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.iter().all(Value::is_string) => list,
        Some(_) => return Err(refuse(&format!("{CONFIG}.{name}"), "must be a list of strings")),
    };
    let texts: Vec<String> = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    // An empty list says nothing, and stays left over.
    if !texts.is_empty() {
        config.take(name);
    }
    Ok(texts)
}

fn format(config: &mut Fields, request: &mut Request, written: &mut Map<String, Value>) {
    if let Some(format) = config.get(FORMAT).and_then(union) {
        request.output_format = Some(format);
        if let Some(format) = config.take(FORMAT) {
            written.insert(FORMAT.to_owned(), format);
        }
        return;
    }
    let mime = config.get(MIME).and_then(Value::as_str).map(str::to_owned);
    let field = [JSON_SCHEMA, OPENAPI].into_iter().find(|field| config.has(field));
    match (mime.as_deref(), field) {
        (Some(JSON) | None, Some(field)) => {
            let mut data = ProviderData::default();
            if config.take(MIME).is_none() {
                data.set(Dialect::Gemini, NO_MIME, true);
            }
            let mut schema = config.take(field).unwrap_or_default();
            data.set(Dialect::Gemini, SCHEMA_FIELD, field);
            if field == OPENAPI {
                let raised = schema::raise(schema.clone());
                if raised != schema {
                    data.set(Dialect::Gemini, SCHEMA, schema);
                }
                schema = raised;
            }
            // The API holds the model to the schema, always.
            let (name, description, strict) = (None, None, Some(true));
            let format = JsonSchemaFormat { name, description, schema: schema.into(), strict, provider_data: data };
            request.output_format = Some(OutputFormat::JsonSchema(format));
        }
        (Some(JSON), None) => {
            config.take(MIME);
            request.output_format = Some(OutputFormat::Json);
        }
        (Some("text/plain"), None) => {
            if let Some(mime) = config.take(MIME) {
                written.insert(MIME.to_owned(), mime);
            }
            request.output_format = Some(OutputFormat::Text);
        }
        // Enumerations and the like are this dialect's own.
        _ => {}
    }
}

/// The union: a list of `{"text": {"mimeType": …, "schema": …}}`, or one of them.
fn union(format: &Value) -> Option<OutputFormat> {
    let only = match format {
        Value::Array(formats) => match formats.as_slice() {
            [only] => only,
            _ => return None,
        },
        one => one,
    };
    let text = only.get("text")?.as_object()?;
    let mime = fields::find(text, "mimeType").and_then(Value::as_str);
    match (fields::find(text, "schema"), mime) {
        (Some(schema), Some(JSON) | None) => Some(OutputFormat::JsonSchema(JsonSchemaFormat {
            name: None,
            description: None,
            schema: schema.clone().into(),
            strict: Some(true),
            provider_data: ProviderData::default(),
        })),
        (None, Some(JSON)) => Some(OutputFormat::Json),
        (None, Some("text/plain")) => Some(OutputFormat::Text),
        _ => None,
    }
}

/// Writes the settings.
pub(super) fn encode(
    request: &Request,
    target: &Target<'_>,
    faithful: bool,
    losses: &mut Vec<Loss>,
) -> Map<String, Value> {
    let mut config = Map::new();
    let kept = request.provider_data.value(Dialect::Gemini, WRITTEN).and_then(Value::as_object).filter(|_| faithful);
    let wish = request.provider_data.value(Dialect::Gemini, thinking::CONFIG).and_then(Value::as_object);
    let same_wish = wish.filter(|wish| faithful && request.thinking == Some(thinking::decode(wish)));
    let untouched = faithful && (same_wish.is_some() || request.thinking.is_none());
    let mut thoughts = thinking::Encoded { max_output: request.max_output_tokens, ..Default::default() };
    if !untouched {
        thoughts = thinking::encode(request.thinking.as_ref(), request.max_output_tokens, target, losses);
    }

    put(&mut config, "maxOutputTokens", thoughts.max_output.map(Value::from), kept);
    sampling(&mut config, request, target, faithful, thoughts.thinks, kept, losses);
    if !request.stop.is_empty() {
        stop(&mut config, request, target, faithful, losses);
    }
    match request.seed {
        Some(seed) if !faithful && i32::try_from(seed).is_err() => {
            losses.push(Loss::uncoded("seed", "seed", "the API takes seeds of 32 bits; this one was left out"));
        }
        seed => put(&mut config, "seed", seed.map(Value::from), kept),
    }
    output(&mut config, request, target, faithful, kept, losses);
    let wish = same_wish.cloned().or_else(|| (!thoughts.config.is_empty()).then_some(thoughts.config));
    put(&mut config, "thinkingConfig", wish.map(Value::Object), None);
    config
}

/// Sets a field, in the client's own writing where that still says the same.
fn put(config: &mut Map<String, Value>, name: &str, value: Option<Value>, kept: Option<&Map<String, Value>>) {
    let Some(value) = value else { return };
    let own = kept.and_then(|kept| kept.get(name)).filter(|own| as_number(own) == as_number(&value));
    config.insert(name.to_owned(), own.cloned().unwrap_or(value));
}

fn sampling(
    config: &mut Map<String, Value>,
    request: &Request,
    target: &Target<'_>,
    faithful: bool,
    thinks: bool,
    kept: Option<&Map<String, Value>>,
    losses: &mut Vec<Loss>,
) {
    let rule = if faithful { Sampling::Free } else { target.rules.sampling };
    let penalties = faithful || target.rules.penalties;
    let both = request.temperature.is_some() && request.top_p.is_some();
    for (name, wire, value) in [
        ("temperature", "temperature", request.temperature.map(Value::from)),
        ("top_p", "topP", request.top_p.map(Value::from)),
        ("top_k", "topK", request.top_k.map(Value::from)),
        ("presence_penalty", "presencePenalty", request.presence_penalty.map(Value::from)),
        ("frequency_penalty", "frequencyPenalty", request.frequency_penalty.map(Value::from)),
    ] {
        let Some(value) = value else { continue };
        let refusal = match rule {
            _ if name.ends_with("penalty") && !penalties => Some("this model refuses penalties; it was left out"),
            Sampling::Free => None,
            Sampling::Discouraged => {
                if name == "temperature" && request.temperature != Some(1.0) {
                    let why = "the provider warns against any temperature but 1 with this model";
                    losses.push(Loss::uncoded_info(name, name, why));
                }
                None
            }
            Sampling::NotWhileThinking | Sampling::OneOf if thinks => {
                Some("not taken while the model thinks; left out")
            }
            Sampling::OneOf if both && name == "top_p" => Some("not taken beside a temperature; left out"),
            Sampling::NotWhileThinking | Sampling::OneOf => None,
            Sampling::Ignored => Some("this model takes no notice of it; it was left out"),
            Sampling::Refused => Some("this model refuses it; it was left out"),
        };
        match refusal {
            Some(why) => losses.push(Loss::uncoded(name, name, why)),
            None => put(config, wire, Some(value), kept),
        }
    }
}

fn stop(
    config: &mut Map<String, Value>,
    request: &Request,
    target: &Target<'_>,
    faithful: bool,
    losses: &mut Vec<Loss>,
) {
    let mut texts = request.stop.as_slice();
    if !faithful && !target.rules.stop {
        losses.push(Loss::uncoded("stop", "stop", "this model takes no stop texts; they were left out"));
        return;
    }
    if !faithful && let Some((first, _)) = texts.split_at_checked(MOST_STOPS).filter(|(_, rest)| !rest.is_empty()) {
        losses.push(Loss::uncoded(
            "stop",
            "stop",
            format!("the API takes {MOST_STOPS} stop texts; the rest were left out"),
        ));
        texts = first;
    }
    config.insert("stopSequences".to_owned(), texts.into());
}

fn output(
    config: &mut Map<String, Value>,
    request: &Request,
    target: &Target<'_>,
    faithful: bool,
    kept: Option<&Map<String, Value>>,
    losses: &mut Vec<Loss>,
) {
    let Some(format) = &request.output_format else { return };
    if let OutputFormat::JsonSchema(format) = format {
        foreign_leftovers(&format.provider_data, "output_format", losses);
    }
    if let Some(own) = kept.and_then(|kept| kept.get(FORMAT)).filter(|own| union(own).as_ref() == Some(format)) {
        config.insert(FORMAT.to_owned(), own.clone());
        return;
    }
    let functions = request.tools.iter().any(|tool| matches!(tool, Tool::Function(_)));
    if !faithful && functions && !target.rules.tools_with_structured_output && *format != OutputFormat::Text {
        let why = "this model does not take a form of the answer beside functions; the form was left out";
        losses.push(Loss::uncoded("output_format", "output_format", why));
        return;
    }
    match format {
        OutputFormat::Text => {
            if let Some(mime) = kept.and_then(|kept| kept.get(MIME)) {
                config.insert(MIME.to_owned(), mime.clone());
            }
        }
        OutputFormat::Json => {
            config.insert(MIME.to_owned(), JSON.into());
        }
        OutputFormat::JsonSchema(format) => schema_format(config, format, target, faithful, losses),
    }
}

fn schema_format(
    config: &mut Map<String, Value>,
    format: &JsonSchemaFormat,
    target: &Target<'_>,
    faithful: bool,
    losses: &mut Vec<Loss>,
) {
    let data = &format.provider_data;
    if !(faithful && data.flag(Dialect::Gemini, NO_MIME)) {
        config.insert(MIME.to_owned(), JSON.into());
    }
    if !faithful && !target.rules.structured_output {
        let why = "this model cannot be held to a schema; JSON is asked for without it";
        losses.push(Loss::uncoded("output_format", "output_format.json_schema.schema", why));
        return;
    }
    for (name, there) in [("name", format.name.is_some()), ("description", format.description.is_some())] {
        if there {
            let place = format!("output_format.json_schema.{name}");
            losses.push(Loss::uncoded_info(name, place, "the API has no place for it; the schema went alone"));
        }
    }
    if format.strict == Some(false) {
        let why = "the API always holds the model to the schema";
        losses.push(Loss::uncoded_info("strict", "output_format.json_schema.strict", why));
    }
    let field = data.str(Dialect::Gemini, SCHEMA_FIELD).filter(|_| faithful);
    let openapi = !target.rules.json_schema_parameters || target.quirks.gemini.openapi_schemas;
    let place = "output_format.json_schema.schema";
    match field {
        Some(OPENAPI) => {
            let schema = schema::rewritten(format.schema.value(), data.value(Dialect::Gemini, SCHEMA), place, losses);
            config.insert(OPENAPI.to_owned(), schema);
        }
        None if openapi => {
            config.insert(OPENAPI.to_owned(), schema::lower(format.schema.value(), place, losses));
        }
        _ => {
            config.insert(JSON_SCHEMA.to_owned(), format.schema.clone().into());
        }
    }
}
