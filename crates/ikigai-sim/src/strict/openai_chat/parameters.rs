//! Limits, sampling, options.

use serde_json::Value;

use super::{Refusal, Wire, invalid, openai};
use crate::models;
use crate::strict::unknown_field;

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "seed",
    "n",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "verbosity",
    "stream",
    "stream_options",
    "modalities",
    "audio",
    "prediction",
    "store",
    "metadata",
    "user",
    "safety_identifier",
    "service_tier",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "web_search_options",
    "moderation",
    "functions",
    "function_call",
];

pub(super) fn unknown_fields(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(body) = wire.body.as_object() else {
        return Err(invalid("Invalid type for 'body': expected an object."));
    };
    match unknown_field(body, FIELDS) {
        Some(name) => Err(invalid(format!("Unrecognized request argument supplied: {name}"))),
        None => Ok(()),
    }
}

pub(super) fn chats(wire: &Wire<'_>) -> Result<(), Refusal> {
    if !models::never_chats(openai::model(wire)) {
        return Ok(());
    }
    let message = "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?";
    Err(Refusal { status: 404, ..invalid(message).at("model", None) })
}

/// Thinking models accept the limit only by its new name.
pub(super) fn max_tokens(wire: &Wire<'_>) -> Result<(), Refusal> {
    let old = wire.field("max_tokens").is_some();
    if old && wire.field("max_completion_tokens").is_some() {
        return Err(invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."));
    }
    if old && openai::rules(wire).responses_api {
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        return Err(invalid(message).at("max_tokens", Some("unsupported_parameter")));
    }
    Ok(())
}

pub(super) fn limit_positive(wire: &Wire<'_>) -> Result<(), Refusal> {
    for name in ["max_completion_tokens", "max_tokens"] {
        if let Some(value) = wire.field(name).and_then(Value::as_i64).filter(|value| *value < 1) {
            let message = format!(
                "Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {value} instead."
            );
            return Err(invalid(message).at(name, Some("integer_below_min_value")));
        }
    }
    Ok(())
}

pub(super) fn ranges(wire: &Wire<'_>) -> Result<(), Refusal> {
    openai::in_range(wire, "temperature", 0.0, 2.0)?;
    openai::in_range(wire, "top_p", 0.0, 1.0)?;
    openai::in_range(wire, "frequency_penalty", -2.0, 2.0)?;
    openai::in_range(wire, "presence_penalty", -2.0, 2.0)?;
    openai::in_range(wire, "top_logprobs", 0.0, 20.0)
}

pub(super) fn effort(wire: &Wire<'_>) -> Result<(), Refusal> {
    openai::effort(wire, wire.text("reasoning_effort"), "reasoning_effort")
}

pub(super) fn sampling(wire: &Wire<'_>) -> Result<(), Refusal> {
    let names =
        ["temperature", "top_p", "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs", "logit_bias"];
    openai::sampling(wire, wire.text("reasoning_effort"), &names)
}

pub(super) fn stop(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(stop) = wire.field("stop") else { return Ok(()) };
    if !openai::rules(wire).stop {
        let message = "Unsupported parameter: 'stop' is not supported with this model.";
        return Err(invalid(message).at("stop", Some("unsupported_parameter")));
    }
    match stop.as_array().map(Vec::len) {
        Some(length) if length > 4 => {
            let message = format!(
                "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length {length} instead."
            );
            Err(invalid(message).at("stop", Some("array_above_max_length")))
        }
        _ => Ok(()),
    }
}

pub(super) fn stream_options(wire: &Wire<'_>) -> Result<(), Refusal> {
    let streams = wire.field("stream") == Some(&Value::Bool(true));
    if wire.field("stream_options").is_some() && !streams {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(invalid(message).at("stream_options", None));
    }
    Ok(())
}
