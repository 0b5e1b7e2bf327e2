//! `generationConfig`: sampling, limits, the form of the answer, thinking.

use super::super::leftovers::{Kept, Leftovers};
use super::super::wire::{Config, Format, OneOrMany};
use super::super::{DIALECT, schema, thinking};
use super::refuse;
use super::tools::SCHEMA;
use crate::fit::{Fitted, FittedFormat, Spelling};
use crate::json::wire::{Raw, Text};
use crate::{Error, Fields, Json, JsonSchemaFormat, Limits, Loss, OutputFormat, Part, ProviderData, Request};

const CONFIG: &str = "generationConfig";
/// In the shape: values as they were written, where we would write them otherwise: `1` for 1.0, `"100"` for 100.
const WRITTEN: &str = "written";
/// In the shape: `stopSequences` was an empty list.
const NO_STOPS: &str = "no_stops";
/// In a schema's shape: the field that held it, where that was the one of the subset.
const OPENAPI: &str = "openapi";
/// In a schema's shape: it came without `responseMimeType`.
const NO_MIME: &str = "no_mime_type";

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// Reads the settings.
pub(super) fn decode(
    mut config: Config<'_>,
    request: &mut Request,
    shape: &mut Fields,
    left: &mut Leftovers,
) -> Result<(), Error> {
    if Raw::of(&config).text() == "{}" {
        left.take_empty(CONFIG);
    }
    let mut written = Fields::default();
    let mut whole = |name, raw: Option<Raw<'_>>| integer(name, raw, &mut written);
    request.max_output_tokens = whole("maxOutputTokens", config.max_output_tokens.take())?;
    request.top_k = whole("topK", config.top_k.take())?;
    request.seed = whole("seed", config.seed.take())?;
    let mut number = |name, raw: Option<Raw<'_>>| float(name, raw, &mut written);
    request.temperature = number("temperature", config.temperature.take())?;
    request.top_p = number("topP", config.top_p.take())?;
    request.presence_penalty = number("presencePenalty", config.presence_penalty.take())?;
    request.frequency_penalty = number("frequencyPenalty", config.frequency_penalty.take())?;
    if let Some(stop) = config.stop.take() {
        if stop.is_empty() {
            shape.push(NO_STOPS, true);
        }
        request.stop = stop.into_iter().map(Text::into_string).collect();
    }
    if let Some(raw) = config.thinking.take() {
        let wish = thinking::decode(raw.text()).map_err(|fault| refuse("generationConfig.thinkingConfig", &fault))?;
        request.thinking = Some(wish);
        shape.push(thinking::CONFIG, raw.to_json());
    }
    decode_format(&mut config, request, &mut written);
    if !written.is_empty() {
        shape.push(WRITTEN, written);
    }
    // What is left of the form is this dialect's own.
    let mime_type = config.mime_type.map(|mime| Raw::of(&mime));
    let fields = [
        ("responseMimeType", mime_type),
        ("responseSchema", config.schema),
        ("responseJsonSchema", config.json_schema),
        ("responseFormat", config.format),
    ];
    config.rest.extend(fields.into_iter().filter_map(|(name, raw)| Some((name.into(), raw?.0))));
    left.take_inner(CONFIG, config.rest, config.names);
    Ok(())
}

fn float(name: &'static str, raw: Option<Raw<'_>>, written: &mut Fields) -> Result<Option<f64>, Error> {
    let Some(raw) = raw else { return Ok(None) };
    let number = as_float(raw.text());
    let number = number.ok_or_else(|| refuse(format_args!("{CONFIG}.{name}"), "must be a number"))?;
    if Raw::of(&number).text() != raw.text() {
        written.push(name, raw.to_json());
    }
    Ok(Some(number))
}

fn integer(name: &'static str, raw: Option<Raw<'_>>, written: &mut Fields) -> Result<Option<i64>, Error> {
    let Some(raw) = raw else { return Ok(None) };
    let text = raw.text().trim_matches('"');
    let from_float = || {
        let float = as_float(text).filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number within the range that doubles hold exactly"
        )]
        Some(float as i64)
    };
    let number = text.parse().ok().or_else(from_float);
    let number: i64 = number.ok_or_else(|| refuse(format_args!("{CONFIG}.{name}"), "must be a whole number"))?;
    if number.to_string() != raw.text() {
        written.push(name, raw.to_json());
    }
    Ok(Some(number))
}

fn as_float(text: &str) -> Option<f64> {
    text.trim_matches('"').parse().ok().filter(|number: &f64| number.is_finite())
}

/// A number in the client's own writing, where that still says the same.
fn as_written<'a>(name: &str, number: Option<Raw<'a>>, written: &Fields) -> Option<Raw<'a>> {
    let number = number?;
    match written.get(name).filter(|own| as_float(own.text()) == as_float(number.text())) {
        Some(own) => Some(Raw(std::borrow::Cow::Owned(own.raw().to_owned()))),
        None => Some(number),
    }
}

fn decode_format(config: &mut Config<'_>, request: &mut Request, written: &mut Fields) {
    if let Some(format) = config.format.as_ref().and_then(|format| union(format.text())) {
        request.output_format = Some(format);
        if let Some(raw) = config.format.take() {
            written.push("responseFormat", raw.to_json());
        }
        return;
    }
    let mime_type = config.mime_type.as_ref().map(|mime| mime.as_str());
    let has_schema = config.json_schema.is_some() || config.schema.is_some();
    match (mime_type, has_schema) {
        (Some(JSON) | None, true) => {
            let mut data = ProviderData::default();
            let mut shape = |key, value: Json| data.set_part(DIALECT, Part::Shape, key, value);
            if config.mime_type.take().is_none() {
                shape(NO_MIME, true.into());
            }
            let schema = match config.json_schema.take() {
                Some(schema) => schema.to_json(),
                None => {
                    shape(OPENAPI, true.into());
                    let written = config.schema.take().map(|schema| schema.to_json()).unwrap_or_default();
                    match schema::raised(&written) {
                        Some(raised) => {
                            shape(SCHEMA, written);
                            raised
                        }
                        None => written,
                    }
                }
            };
            request.output_format = Some(OutputFormat::JsonSchema(held_to(schema, data)));
        }
        (Some(JSON), false) => {
            config.mime_type = None;
            request.output_format = Some(OutputFormat::Json);
        }
        (Some(TEXT), false) => {
            config.mime_type = None;
            written.push("responseMimeType", TEXT);
            request.output_format = Some(OutputFormat::Text);
        }
        // Enumerations and the like are this dialect's own.
        _ => {}
    }
}

/// The API holds the model to a schema, always.
fn held_to(schema: Json, provider_data: ProviderData) -> JsonSchemaFormat {
    JsonSchemaFormat { name: None, description: None, schema, strict: Some(true), provider_data }
}

/// The union: a list of `{"text": {"mimeType": …, "schema": …}}`, or one of them.
fn union(format: &str) -> Option<OutputFormat> {
    let formats: OneOrMany<Format<'_>> = serde_json::from_str(format).ok()?;
    let mut formats = formats.into_vec().into_iter();
    let text = formats.next().filter(|_| formats.next().is_none())?.text?;
    match (text.schema, text.mime_type.as_ref().map(|mime| mime.as_str())) {
        (Some(schema), Some(JSON) | None) => {
            Some(OutputFormat::JsonSchema(held_to(schema.to_json(), ProviderData::default())))
        }
        (None, Some(JSON)) => Some(OutputFormat::Json),
        (None, Some(TEXT)) => Some(OutputFormat::Text),
        _ => None,
    }
}

/// Writes the settings.
pub(super) fn encode<'a>(
    fitted: &'a Fitted<'_>,
    kept: &Kept<'a>,
    limits: &Limits,
    losses: &mut Vec<Loss>,
) -> Result<Config<'a>, Error> {
    let as_it_came = fitted.spelling == Spelling::AsItCame;
    let shape = fitted.request.provider_data.part(DIALECT, Part::Shape);
    let written = shape.get(WRITTEN).filter(|_| as_it_came).and_then(|written| written.to().ok());
    let written: Fields = written.unwrap_or_default();
    let said = thinking::encode(fitted, shape.get(thinking::CONFIG));
    losses.extend(said.losses);
    let whole = |name, value: Option<i64>| as_written(name, value.map(|value| Raw::of(&value)), &written);
    let float = |name, value: Option<f64>| as_written(name, value.map(|value| Raw::of(&value)), &written);
    let stop: Vec<Text<'a>> = fitted.stop.iter().map(|text| Text::from(text.as_str())).collect();
    let no_stops = as_it_came && shape.flag(NO_STOPS);
    let mut config = Config {
        max_output_tokens: whole("maxOutputTokens", said.max_output_tokens),
        temperature: float("temperature", fitted.temperature),
        top_p: float("topP", fitted.top_p),
        top_k: whole("topK", fitted.top_k),
        presence_penalty: float("presencePenalty", fitted.presence_penalty),
        frequency_penalty: float("frequencyPenalty", fitted.frequency_penalty),
        stop: (!stop.is_empty() || no_stops).then_some(stop),
        seed: whole("seed", fitted.seed),
        thinking: said.config,
        rest: kept.inner(CONFIG),
        names: kept.names(),
        ..Config::default()
    };
    encode_format(&mut config, fitted, &written, limits, losses)?;
    Ok(config)
}

fn encode_format<'a>(
    config: &mut Config<'a>,
    fitted: &'a Fitted<'_>,
    written: &Fields,
    limits: &Limits,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    let Some(format) = &fitted.output_format else { return Ok(()) };
    if let Some(own) = written.get("responseFormat")
        && union(own.text()) == fitted.request.output_format
    {
        config.format = Some(Raw(std::borrow::Cow::Owned(own.raw().to_owned())));
        return Ok(());
    }
    match format {
        FittedFormat::Text => config.mime_type = written.get("responseMimeType").map(|_| TEXT.into()),
        FittedFormat::Json => config.mime_type = Some(JSON.into()),
        FittedFormat::Schema { format, schema, .. } => {
            let shape = format.provider_data.part(DIALECT, Part::Shape);
            let as_it_came = fitted.spelling == Spelling::AsItCame;
            if !(as_it_came && shape.flag(NO_MIME)) {
                config.mime_type = Some(JSON.into());
            }
            let place = "output_format.json_schema.schema";
            if as_it_came && shape.flag(OPENAPI) {
                config.schema = Some(schema::rewritten(schema, shape.get(SCHEMA), place, limits, losses)?);
            } else if fitted.takes.openapi_schemas && !as_it_came {
                config.schema = Some(schema::lower(schema, place, limits, losses)?);
            } else {
                config.json_schema = Some(Raw::from(schema.as_ref()));
            }
        }
    }
    Ok(())
}
