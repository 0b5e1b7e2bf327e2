//! Headers, limits, sampling.

use ikigai_core::catalog::{Sampling, rules_for};
use serde_json::{Value, json};

use super::{Refusal, Wire, blocks, invalid, model};
use crate::models;
use crate::strict::{list, unknown_field};

const FIELDS: &[&str] = &[
    "model",
    "max_tokens",
    "messages",
    "system",
    "stream",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "output_format",
    "metadata",
    "cache_control",
    "service_tier",
    "speed",
    "inference_geo",
    "container",
    "context_management",
    "mcp_servers",
    "fallbacks",
    "diagnostics",
    "betas",
    "anthropic_version",
    "anthropic_beta",
];

pub(super) fn version(wire: &Wire<'_>) -> Result<(), Refusal> {
    let in_body = wire.field("anthropic_version").is_some();
    if in_body || wire.headers.contains_key("anthropic-version") {
        return Ok(());
    }
    Err(invalid("anthropic-version: header is required"))
}

/// The runners of the newest SDKs try server-held threads first, and continue without them after this error.
pub(super) fn threads(wire: &Wire<'_>) -> Result<(), Refusal> {
    if wire.field("thread").is_none() {
        return Ok(());
    }
    let mut refusal = invalid("thread: server-held threads are not supported");
    refusal.details = Some(json!({"error_code": "thread_unsupported_request", "unsupported": ["thread"]}));
    Err(refusal)
}

pub(super) fn unknown_fields(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(body) = wire.body.as_object() else { return Err(invalid("Input should be a valid dictionary")) };
    match unknown_field(body, FIELDS) {
        Some(name) => Err(invalid(format!("{name}: Extra inputs are not permitted"))),
        None => Ok(()),
    }
}

pub(super) fn model_given(wire: &Wire<'_>) -> Result<(), Refusal> {
    let in_path = wire.field("anthropic_version").is_some();
    if in_path || !model(wire).is_empty() { Ok(()) } else { Err(invalid("model: Field required")) }
}

pub(super) fn model_known(wire: &Wire<'_>) -> Result<(), Refusal> {
    let model = model(wire);
    if model.is_empty() || models::anthropic_has(model) {
        return Ok(());
    }
    Err(Refusal { status: 404, kind: "not_found_error", ..invalid(format!("model: {model}")) })
}

pub(super) fn max_tokens_given(wire: &Wire<'_>) -> Result<(), Refusal> {
    match wire.field("max_tokens") {
        None => Err(invalid("max_tokens: Field required")),
        Some(value) => match value.as_i64() {
            Some(0..) => Ok(()),
            Some(_) => Err(invalid("max_tokens: Input should be greater than or equal to 0")),
            None => Err(invalid("max_tokens: Input should be a valid integer")),
        },
    }
}

pub(super) fn max_tokens_fits(wire: &Wire<'_>) -> Result<(), Refusal> {
    let asked = wire.field("max_tokens").and_then(Value::as_u64).unwrap_or_default();
    let most = models::max_output(model(wire)).or(rules_for(model(wire)).max_output);
    match most {
        Some(most) if asked > u64::from(most) => Err(invalid(format!(
            "max_tokens: {asked} > {most}, which is the maximum allowed number of output tokens for {}",
            model(wire)
        ))),
        _ => Ok(()),
    }
}

pub(super) fn temperature_range(wire: &Wire<'_>) -> Result<(), Refusal> {
    let in_range =
        |name: &str| wire.field(name).and_then(Value::as_f64).is_none_or(|value| (0.0..=1.0).contains(&value));
    match ["temperature", "top_p"].into_iter().find(|name| !in_range(name)) {
        Some(name) => Err(invalid(format!("{name}: range: 0..1"))),
        None => Ok(()),
    }
}

/// From 4.7 on any value but the default is refused; the newest API version refuses even that.
pub(super) fn sampling_taken(wire: &Wire<'_>) -> Result<(), Refusal> {
    let strict_version = wire.headers.get("anthropic-version").is_some_and(|version| version == "2026-10-21");
    let refused = rules_for(model(wire)).sampling == Sampling::Refused;
    let is_default = |name: &str, value: &Value| name != "top_k" && value.as_f64() == Some(1.0);
    for name in ["temperature", "top_p", "top_k"] {
        if let Some(value) = wire.field(name)
            && (strict_version || (refused && !is_default(name, value)))
        {
            return Err(invalid(format!("`{name}` is not supported for this model")));
        }
    }
    Ok(())
}

pub(super) fn one_of_two(wire: &Wire<'_>) -> Result<(), Refusal> {
    let both = wire.field("temperature").is_some() && wire.field("top_p").is_some();
    if both && rules_for(model(wire)).sampling == Sampling::OneOf {
        return Err(invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one."));
    }
    Ok(())
}

pub(super) fn stop_sequences(wire: &Wire<'_>) -> Result<(), Refusal> {
    let blank = wire.list("stop_sequences").iter().any(|stop| stop.as_str().is_some_and(|stop| stop.trim().is_empty()));
    if blank { Err(invalid("stop_sequences: each stop sequence must contain non-whitespace")) } else { Ok(()) }
}

pub(super) fn user_id(wire: &Wire<'_>) -> Result<(), Refusal> {
    let id = wire.body.pointer("/metadata/user_id").and_then(Value::as_str).unwrap_or_default();
    if id.chars().count() > 256 {
        return Err(invalid("metadata.user_id: String should have at most 256 characters"));
    }
    Ok(())
}

pub(super) fn cache_marks(wire: &Wire<'_>) -> Result<(), Refusal> {
    let marked = |value: &&Value| value.get("cache_control").is_some_and(|mark| !mark.is_null());
    let in_messages: usize =
        wire.list("messages").iter().map(|message| blocks(message).iter().filter(marked).count()).sum();
    let found = wire.list("tools").iter().filter(marked).count()
        + list(wire.body, "system").iter().filter(marked).count()
        + in_messages
        + usize::from(wire.field("cache_control").is_some());
    if found > 4 {
        return Err(invalid(format!("A maximum of 4 blocks with cache_control may be provided. Found {found}.")));
    }
    Ok(())
}
