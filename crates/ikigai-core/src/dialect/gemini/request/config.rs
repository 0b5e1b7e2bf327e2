//! `generationConfig`: sampling, limits, the format of the answer, thinking.
//!
//! A client's settings are kept whole in the shape, and written back while they match the request.

use super::super::leftovers::Kept;
use super::super::wire::{Config, Format, OneOrMany};
use super::super::{DIALECT, schema, thinking};
use super::{Reading, Writing, refuse};
use crate::fit::{FittedFormat, Spelling};
use crate::json::whole;
use crate::json::wire::{Leftovers as _, Raw, Text, read_str};
use crate::{Error, JsonSchemaFormat, OutputFormat, Part, ProviderData, Request};

const CONFIG: &str = "generationConfig";
/// In the shape: the settings as the client wrote them.
const WRITTEN: &str = "generation_config";

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// Reads the settings.
pub(super) fn decode(mut config: Config<'_>, reading: &mut Reading) -> Result<(), Error> {
    reading.shape.push(WRITTEN, Raw::of(&config).into_json());
    read(&mut config, &mut reading.request)?;
    // Any remaining format is this dialect's own.
    reading.left.take_inner(CONFIG, config.leftovers());
    Ok(())
}

/// Takes out what the format has fields for.
fn read(config: &mut Config<'_>, request: &mut Request) -> Result<(), Error> {
    request.max_output_tokens = integer("maxOutputTokens", config.max_output_tokens.take())?;
    request.top_k = integer("topK", config.top_k.take())?;
    request.seed = integer("seed", config.seed.take())?;
    request.temperature = float("temperature", config.temperature.take())?;
    request.top_p = float("topP", config.top_p.take())?;
    request.presence_penalty = float("presencePenalty", config.presence_penalty.take())?;
    request.frequency_penalty = float("frequencyPenalty", config.frequency_penalty.take())?;
    request.stop = config.stop.take().into_iter().flatten().map(Text::into_string).collect();
    if let Some(raw) = config.thinking.take() {
        let wish = thinking::decode(raw.text()).map_err(|fault| refuse("generationConfig.thinkingConfig", &fault))?;
        request.thinking = Some(wish);
    }
    request.output_format = read_format(config);
    Ok(())
}

fn float(name: &str, raw: Option<Raw<'_>>) -> Result<Option<f64>, Error> {
    let Some(raw) = raw else { return Ok(None) };
    let number = as_float(raw.text());
    number.map(Some).ok_or_else(|| refuse(format_args!("{CONFIG}.{name}"), "must be a number"))
}

fn integer(name: &str, raw: Option<Raw<'_>>) -> Result<Option<i64>, Error> {
    let Some(raw) = raw else { return Ok(None) };
    let number = raw.text().trim_matches('"').parse().ok().or_else(|| as_float(raw.text()).and_then(whole));
    number.map(Some).ok_or_else(|| refuse(format_args!("{CONFIG}.{name}"), "must be a whole number"))
}

fn as_float(text: &str) -> Option<f64> {
    text.trim_matches('"').parse().ok().filter(|number: &f64| number.is_finite())
}

/// Reads the format of the answer. Enumerations and the like are this dialect's own, and stay where they are.
fn read_format(config: &mut Config<'_>) -> Option<OutputFormat> {
    if let Some(format) = config.format.as_ref().and_then(|format| union(format.text())) {
        config.format = None;
        return Some(format);
    }
    let has_schema = config.json_schema.is_some() || config.schema.is_some();
    let format = match (config.mime_type.as_ref().map(Text::as_str), has_schema) {
        (Some(JSON) | None, true) => {
            let schema = config.json_schema.take().map(Raw::into_json);
            let subset = || config.schema.take().map(|schema| schema::read(schema.into_json()).0);
            held_to(schema.or_else(subset).unwrap_or_default())
        }
        (Some(JSON), false) => OutputFormat::Json,
        (Some(TEXT), false) => OutputFormat::Text,
        _ => return None,
    };
    config.mime_type = None;
    Some(format)
}

/// Makes a schema format. The API always holds the model to a schema.
fn held_to(schema: crate::Json) -> OutputFormat {
    let provider_data = ProviderData::default();
    OutputFormat::JsonSchema(JsonSchemaFormat {
        name: None,
        description: None,
        schema,
        strict: Some(true),
        provider_data,
    })
}

/// Reads the union: a list of `{"text": {"mimeType": …, "schema": …}}`, or a single one.
fn union(format: &str) -> Option<OutputFormat> {
    let formats: OneOrMany<Format<'_>> = read_str(format).ok()?;
    let mut formats = formats.into_iter();
    let text = formats.next().filter(|_| formats.next().is_none())?.text?;
    match (text.schema, text.mime_type.as_ref().map(Text::as_str)) {
        (Some(schema), Some(JSON) | None) => Some(held_to(schema.into_json())),
        (None, Some(JSON)) => Some(OutputFormat::Json),
        (None, Some(TEXT)) => Some(OutputFormat::Text),
        _ => None,
    }
}

/// Writes the settings. Returns `None` if there are none.
pub(super) fn encode<'a>(writing: &mut Writing<'a, '_>, kept: &Kept<'a>) -> Result<Option<Config<'a>>, Error> {
    let fitted = writing.fitted;
    let as_it_came = fitted.spelling == Spelling::AsItCame;
    let written = fitted.request.provider_data.part(DIALECT, Part::Shape).get(WRITTEN).filter(|_| as_it_came);
    let written: Option<Config<'a>> = written.and_then(|written| written.to().ok());
    let mut rest = kept.inner(CONFIG);
    if let Some(config) = &written
        && !fitted.thinking.must
        && says(config, fitted.request)
    {
        return Ok(Some(Config { rest, ..config.clone() }));
    }
    rest.retain(|(_, value)| as_it_came || value.get() != "null");
    let config = Config { rest, ..ours(writing, written.as_ref())? };
    Ok((Raw::of(&config).text() != "{}").then_some(config))
}

/// Whether the settings match a request.
fn says(config: &Config<'_>, request: &Request) -> bool {
    let mut said = Request::default();
    let wanted = Request {
        max_output_tokens: request.max_output_tokens,
        temperature: request.temperature,
        top_p: request.top_p,
        top_k: request.top_k,
        presence_penalty: request.presence_penalty,
        frequency_penalty: request.frequency_penalty,
        stop: request.stop.clone(),
        seed: request.seed,
        thinking: request.thinking.clone(),
        output_format: request.output_format.clone(),
        ..Request::default()
    };
    read(&mut config.clone(), &mut said).is_ok() && said == wanted
}

/// Writes the settings in our own form. Of a client's settings, thinking is kept if possible, and a schema stays in its
/// field.
fn ours<'a>(writing: &mut Writing<'a, '_>, written: Option<&Config<'a>>) -> Result<Config<'a>, Error> {
    let Writing { fitted, limits, losses } = writing;
    let said = thinking::encode(fitted, written.and_then(|written| written.thinking.clone()));
    losses.extend(said.losses);
    let integer = |value: Option<i64>| value.map(|value| Raw::of(&value));
    let float = |value: Option<f64>| value.map(|value| Raw::of(&value));
    let stop: Vec<Text<'a>> = fitted.stop.iter().map(|text| Text::from(text.as_str())).collect();
    let mut config = Config {
        max_output_tokens: integer(said.max_output_tokens),
        temperature: float(fitted.temperature),
        top_p: float(fitted.top_p),
        top_k: integer(fitted.top_k),
        presence_penalty: float(fitted.presence_penalty),
        frequency_penalty: float(fitted.frequency_penalty),
        stop: (!stop.is_empty()).then_some(stop),
        seed: integer(fitted.seed),
        thinking: said.config,
        ..Config::default()
    };
    match &fitted.output_format {
        None | Some(FittedFormat::Text) => {}
        Some(FittedFormat::Json) => config.mime_type = Some(JSON.into()),
        Some(FittedFormat::Schema { schema, .. }) => {
            config.mime_type = Some(JSON.into());
            if written.map_or(fitted.takes.openapi_schemas, |written| written.schema.is_some()) {
                config.schema = Some(schema::lower(schema, "output_format.json_schema.schema", limits, losses)?);
            } else {
                config.json_schema = Some(Raw::from(schema.as_ref()));
            }
        }
    }
    Ok(config)
}
