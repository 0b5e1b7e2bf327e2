//! Converts fitted requests to the wire.

mod layout;
mod media;
mod messages;
mod tools;

use std::borrow::Cow;

use serde_json::json;

use crate::catalog::ConverseFields;
use crate::dialect::WireRequest;
use crate::dialect::verbs::segment;
use crate::fit::{Fitted, FittedFormat};
use crate::json::wire::{Raw, Text};
use crate::{CacheHint, Error, Fields, Limits, Loss, LossCode, Part, ProviderData};

use self::messages::Writer;
use super::wire::{CachePoint, Definition, Inference, Output, Request, Structure, TextFormat, Written};
use super::{DIALECT, thinking};

/// The fields for a model's own API.
const ADDITIONAL: &str = "additionalModelRequestFields";

/// Encodes a request for a provider.
///
/// # Errors
/// Never returns one: what this API cannot carry is a loss.
pub(crate) fn encode_request(fitted: &Fitted<'_>, _: &Limits) -> Result<WireRequest, Error> {
    let request = fitted.request;
    let extra = extra(&request.provider_data);
    let mut writer = Writer::new(fitted);
    let (system, messages) = (writer.system(), writer.messages());
    let (mut losses, called) = writer.finish();
    let inference = inference(fitted);
    let additional = additional(fitted, extra);
    let body = Request {
        messages: Some(messages),
        system: (!system.is_empty()).then_some(Written(system)),
        inference,
        tools: tools::write(fitted, &called, &mut losses),
        output: format(fitted, &mut losses),
        additional: (!additional.is_empty()).then(|| Raw::of(&additional)),
        rest: extra.as_rest(),
    };
    if !request.metadata.is_empty() {
        let why = "this API has no labels for the caller's own use; left out (see `requestMetadata`)";
        losses.push(Loss::new(LossCode::NotInDialect, "metadata", "metadata", why));
    }
    let verb = if request.stream == Some(true) { "converse-stream" } else { "converse" };
    // Amazon's ids contain colons, which must be escaped.
    let path = format!("/model/{}/{verb}", segment(&request.model).replace(':', "%3A"));
    Ok(WireRequest::new(path, &body, fitted, losses))
}

/// Returns the fields that this dialect left on something, to be written back.
fn extra(data: &ProviderData) -> &Fields {
    data.part(DIALECT, Part::Extra)
}

/// Writes the parameters common to all models. A limit is only sent if requested: models differ widely in theirs.
fn inference<'a>(fitted: &'a Fitted<'_>) -> Option<Inference<'a>> {
    let stop: Vec<Text<'_>> = fitted.stop.iter().map(|text| Text::from(text.as_str())).collect();
    let inference = Inference {
        max_tokens: fitted.max_output_tokens,
        temperature: fitted.temperature,
        top_p: fitted.top_p,
        stop: (!stop.is_empty()).then_some(stop),
        rest: Vec::new(),
    };
    let says_nothing =
        matches!(inference, Inference { max_tokens: None, temperature: None, top_p: None, stop: None, .. });
    (!says_nothing).then_some(inference)
}

/// Writes the fields for the model's own API: ours, merged with the caller's, which win.
fn additional(fitted: &Fitted<'_>, extra: &Fields) -> Fields {
    let mut additional = Fields::default();
    thinking::write(fitted, &mut additional);
    match (fitted.target.rules.converse, fitted.top_k) {
        (ConverseFields::Nova, Some(top_k)) => additional.set("inferenceConfig", json!({"topK": top_k})),
        (ConverseFields::Anthropic, Some(top_k)) => additional.set("top_k", json!(top_k)),
        // The others have no name for it, as `fit` knows.
        (ConverseFields::Nothing | ConverseFields::ReasoningEffort | ConverseFields::ReasoningConfig, _)
        | (_, None) => {}
    }
    let given: Fields = extra.get(ADDITIONAL).and_then(|given| given.to().ok()).unwrap_or_default();
    for (name, value) in given {
        let own: Option<Fields> = additional.get(&name).and_then(|own| own.to().ok());
        match (own, value.to::<Fields>()) {
            (Some(mut own), Ok(more)) => {
                own.merge(more);
                additional.set(name, own);
            }
            _ => additional.set(name, value),
        }
    }
    additional
}

/// Writes the format of the answer.
fn format<'a>(fitted: &'a Fitted<'_>, losses: &mut Vec<Loss>) -> Option<Output<'a>> {
    let FittedFormat::Schema { format, name, description, schema, .. } = fitted.output_format.as_ref()? else {
        if matches!(fitted.output_format, Some(FittedFormat::Json)) {
            let why = "this API has no JSON mode without a schema; left out";
            losses.push(Loss::new(LossCode::NotInDialect, "output_format", "output_format", why));
        }
        return None;
    };
    let definition = Definition {
        name: name.as_deref().map(Text::from),
        description: description.map(Text::from),
        schema: Some(schema.text().into()),
        rest: extra(&format.provider_data).as_rest(),
    };
    let structure = Structure { schema: Some(definition), rest: Vec::new() };
    let text = TextFormat { kind: Some("json_schema".into()), structure: Some(structure), rest: Vec::new() };
    Some(Output { text: Some(text), rest: Vec::new() })
}

/// Writes a mark to cache everything before it.
fn cache_point(hint: &CacheHint) -> CachePoint<'static> {
    // Five minutes is the default.
    let ttl = hint.ttl.clone().filter(|ttl| ttl != "5m").map(|ttl| Text(Cow::Owned(ttl)));
    CachePoint { kind: Some("default".into()), ttl, rest: Vec::new() }
}

#[cfg(test)]
mod tests;
