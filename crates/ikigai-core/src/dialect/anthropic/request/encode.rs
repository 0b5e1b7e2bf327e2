//! Fitted requests to wire ones.

use std::borrow::Cow;

use crate::dialect::WireRequest;
use crate::dialect::verbs::segment;
use crate::fit::{Fitted, FittedFormat, Spelling};
use crate::json::wire::{Raw, Rest, Text};
use crate::{Error, Fields, Json, Limits, Loss, LossCode, Part};

use super::super::wire::{self, Format, OutputConfig, write_cache};
use super::super::{DIALECT, content, thinking};
use super::decode::read_format;
use super::messages::Writer;
use super::tools::{write_fitted_choice, write_tools};

/// The API's long-lived version; a provider's row may set another.
const VERSION: &str = "2023-06-01";
/// The longest `user_id`.
const LONGEST_USER: usize = 256;

/// Encodes a request for a provider.
///
/// # Errors
/// Never returns one: what this API cannot carry is a loss.
pub(crate) fn encode_request(fitted: &Fitted<'_>, _: &Limits) -> Result<WireRequest, Error> {
    let request = fitted.request;
    let shape = request.provider_data.part(DIALECT, Part::Shape);
    let extra = content::extra(&request.provider_data);
    let as_it_came = fitted.spelling == Spelling::AsItCame;
    let mut writer = Writer::new(fitted);
    let (system, messages) = (writer.system(), writer.messages());
    let mut losses = writer.losses;
    let thinking = thinking::write(fitted, &mut losses);
    let format = write_format(fitted, &mut losses);
    let old_format = shape
        .get("output_format")
        .map(Raw::from)
        .filter(|raw| as_it_came && request.output_format.is_some() && read_format(raw) == request.output_format);
    let number = |name: &str, number: Option<f64>| {
        let number = number?;
        let as_written = shape.get(name).filter(|raw| raw.to().ok() == Some(number));
        Some(as_written.map_or_else(|| Raw::of(&number), Raw::from))
    };
    let version = fitted.target.quirks.anthropic.version.as_deref();
    let path = shape.str("path").filter(|_| as_it_came);
    let in_path = version.is_some() || path.is_some();
    let tools = write_tools(fitted);
    let betas = betas(shape, extra, fitted.spelling);
    let body = wire::Request {
        model: (!in_path).then(|| request.model.as_str().into()),
        max_tokens: thinking.max_tokens.map(|limit| Raw::of(&limit)),
        system: system.map(|blocks| content::short(blocks, shape, "system_blocks")),
        messages: Some(messages),
        tools: (!tools.is_empty()).then_some(tools),
        tool_choice: write_fitted_choice(fitted),
        thinking: thinking.thinking,
        output_config: write_config(thinking.effort, format.filter(|_| old_format.is_none()), extra),
        output_format: old_format,
        temperature: number("temperature", fitted.temperature),
        top_p: number("top_p", fitted.top_p),
        top_k: fitted.top_k.map(|top_k| Raw::of(&top_k)),
        stop_sequences: (!fitted.stop.is_empty())
            .then(|| fitted.stop.iter().map(|text| Text::from(text.as_str())).collect()),
        metadata: write_metadata(fitted, &mut losses),
        cache_control: fitted.automatic_cache.as_ref().map(write_cache),
        stream: request.stream.filter(|stream| version.is_none() && !(path.is_some() && *stream)),
        rest: rest(extra, version, &betas, fitted.spelling),
    };
    let (path, headers) = envelope(fitted, path, &betas);
    Ok(WireRequest { headers, ..WireRequest::new(path, &body, fitted, losses) })
}

/// Writes the format of the answer.
fn write_format<'a>(fitted: &'a Fitted<'_>, losses: &mut Vec<Loss>) -> Option<Raw<'a>> {
    match fitted.output_format.as_ref()? {
        FittedFormat::Text => None,
        FittedFormat::Json => {
            let why = "this API has no JSON mode without a schema; left out";
            losses.push(Loss::new(LossCode::NotInDialect, "output_format", "output_format", why));
            None
        }
        FittedFormat::Schema { format, schema, .. } => Some(Raw::of(&Format {
            kind: Some("json_schema".into()),
            schema: Some(Raw::from(schema.as_ref())),
            rest: content::extra(&format.provider_data).as_rest(),
        })),
    }
}

/// Writes the settings of the answer, with the client's other fields in the same object.
fn write_config<'a>(effort: Option<Raw<'a>>, format: Option<Raw<'a>>, extra: &Fields) -> Option<Raw<'static>> {
    if effort.is_none() && format.is_none() {
        return None;
    }
    let more: Fields = extra.get("output_config").and_then(|more| more.to().ok()).unwrap_or_default();
    Some(Raw::of(&OutputConfig { effort, format, rest: more.as_rest() }))
}

/// Writes the caller's labels: this API accepts one of them.
fn write_metadata<'a>(fitted: &'a Fitted<'_>, losses: &mut Vec<Loss>) -> Option<Raw<'a>> {
    let metadata = &fitted.request.metadata;
    if metadata.is_empty() {
        return None;
    }
    if fitted.spelling == Spelling::AsItCame {
        let as_written = fitted.request.provider_data.part(DIALECT, Part::Shape).get("metadata");
        let as_written = as_written.filter(|raw| raw.value().as_object() == Some(metadata));
        return Some(as_written.map_or_else(|| Raw::of(metadata), Raw::from));
    }
    let user = metadata.get("user_id").and_then(|user| user.as_str());
    let user = user.filter(|user| user.chars().count() <= LONGEST_USER);
    let others: Vec<&str> =
        metadata.keys().map(String::as_str).filter(|key| *key != "user_id" || user.is_none()).collect();
    if !others.is_empty() {
        let why = format!(
            "this API accepts a `user_id` of up to {LONGEST_USER} characters and nothing else; left out: {}",
            others.join(", ")
        );
        losses.push(Loss::new(LossCode::NotInDialect, "metadata", "metadata", why));
    }
    user.map(|user| Raw::of(&serde_json::json!({"user_id": user})))
}

/// Returns the features that the caller requests. The clouds have them in the body, so they may be there.
fn betas(shape: &Fields, extra: &Fields, spelling: Spelling) -> Vec<String> {
    let in_body = extra.get("anthropic_beta").filter(|_| spelling == Spelling::Ours);
    let lists = [extra.get("betas").or_else(|| shape.get("betas")), in_body].into_iter().flatten();
    lists.filter_map(|list: &Json| list.to::<Vec<String>>().ok()).flatten().collect()
}

/// Returns the fields that the format does not have, and those that only the clouds require.
fn rest<'a>(extra: &'a Fields, version: Option<&'a str>, betas: &[String], spelling: Spelling) -> Rest<'a> {
    let drops = |name: &str| match name {
        "betas" => true,
        "anthropic_version" | "anthropic_beta" => spelling == Spelling::Ours || version.is_some(),
        _ => false,
    };
    let mut rest: Rest<'a> = extra.as_rest().into_iter().filter(|(name, _)| !drops(name)).collect();
    if let Some(version) = version {
        rest.push((Cow::Borrowed("anthropic_version"), Raw::of(version).0));
        if is_bedrock(version) && !betas.is_empty() {
            rest.push((Cow::Borrowed("anthropic_beta"), Raw::of(betas).0));
        }
    }
    rest
}

/// Returns the path and the headers.
fn envelope(fitted: &Fitted<'_>, path: Option<Cow<'_, str>>, betas: &[String]) -> (String, Vec<(String, String)>) {
    let request = fitted.request;
    let streams = request.stream == Some(true);
    let mut headers = Vec::new();
    let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
    let version = fitted.target.quirks.anthropic.version.as_deref();
    if version.is_none() {
        add("anthropic-version", VERSION.to_owned());
    }
    if !betas.is_empty() && !version.is_some_and(is_bedrock) {
        add("anthropic-beta", betas.join(","));
    }
    // Amazon's ids contain colons, and its profiles slashes.
    let model = segment(&request.model).replace(':', "%3A");
    let path = match version {
        Some(version) if is_bedrock(version) => {
            format!("/model/{model}/{}", if streams { "invoke-with-response-stream" } else { "invoke" })
        }
        Some(_) => format!("/models/{model}:{}", if streams { "streamRawPredict" } else { "rawPredict" }),
        None => {
            let path = path.unwrap_or(Cow::Borrowed("/v1/messages")).into_owned();
            match request.provider_data.part_str(DIALECT, Part::Shape, "query") {
                Some(query) => format!("{path}?{query}"),
                None => path,
            }
        }
    };
    (path, headers)
}

/// Whether this is one of Amazon's versions, which are named after its product and use other paths than Google's.
fn is_bedrock(version: &str) -> bool {
    version.starts_with("bedrock")
}
