//! Limits, sampling, options.

use ikigai_core::Dialect;
use ikigai_core::provider::{Providers, Registry};
use serde_json::Value;

use super::{Refusal, Wire, invalid, openai};
use crate::strict::{unknown_field, word};

const FIELDS: &[&str] = &[
    "model",
    "input",
    "instructions",
    "max_output_tokens",
    "reasoning",
    "text",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tool_calls",
    "store",
    "include",
    "previous_response_id",
    "conversation",
    "truncation",
    "temperature",
    "top_p",
    "top_logprobs",
    "metadata",
    "user",
    "safety_identifier",
    "service_tier",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "background",
    "prompt",
    "context_management",
    "moderation",
    "stream",
    "stream_options",
    "client_metadata",
];

const INCLUDES: &[&str] = &[
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
    "message.input_image.image_url",
    "file_search_call.results",
    "web_search_call.action.sources",
    "web_search_call.results",
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
];

pub(super) fn unknown_fields(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(body) = wire.body.as_object() else {
        return Err(invalid("Invalid type for 'body': expected an object."));
    };
    match unknown_field(body, FIELDS) {
        Some(name) => Err(invalid(format!("Unknown parameter: '{name}'.")).at(name, Some("unknown_parameter"))),
        None => Ok(()),
    }
}

pub(super) fn model_given(wire: &Wire<'_>) -> Result<(), Refusal> {
    if openai::model(wire).is_empty() && wire.field("prompt").is_none() {
        return Err(invalid("Missing required parameter: 'model'.").at("model", Some("missing_required_parameter")));
    }
    Ok(())
}

/// Some models are served only by Chat Completions.
pub(super) fn model_served(wire: &Wire<'_>) -> Result<(), Refusal> {
    let model = openai::model(wire);
    let registry = Registry::shared();
    let chat_alone = Providers::shared()
        .find("openai")
        .is_some_and(|openai| registry.dialect_for(openai, model) == Dialect::OpenaiChat);
    if !chat_alone {
        return Ok(());
    }
    let message = format!("The requested model '{model}' is not supported with the Responses API.");
    Err(invalid(message).at("model", Some("model_not_found")))
}

pub(super) fn limit(wire: &Wire<'_>) -> Result<(), Refusal> {
    match wire.field("max_output_tokens").and_then(Value::as_i64) {
        Some(limit) if limit < 16 => {
            let message = format!(
                "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got {limit} instead."
            );
            Err(invalid(message).at("max_output_tokens", Some("integer_below_min_value")))
        }
        _ => Ok(()),
    }
}

pub(super) fn ranges(wire: &Wire<'_>) -> Result<(), Refusal> {
    openai::in_range(wire, "temperature", 0.0, 2.0)?;
    openai::in_range(wire, "top_p", 0.0, 1.0)?;
    openai::in_range(wire, "top_logprobs", 0.0, 20.0)
}

fn asked_effort<'a>(wire: &Wire<'a>) -> Option<&'a str> {
    wire.field("reasoning").map(|reasoning| word(reasoning, "effort")).filter(|effort| !effort.is_empty())
}

pub(super) fn effort(wire: &Wire<'_>) -> Result<(), Refusal> {
    openai::effort(wire, asked_effort(wire), "reasoning.effort")
}

pub(super) fn sampling(wire: &Wire<'_>) -> Result<(), Refusal> {
    openai::sampling(wire, asked_effort(wire), &["temperature", "top_p", "top_logprobs"])
}

pub(super) fn include(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, included) in wire.list("include").iter().enumerate() {
        let included = included.as_str().unwrap_or_default();
        if !INCLUDES.contains(&included) {
            let known: Vec<String> = INCLUDES.iter().map(|word| format!("'{word}'")).collect();
            let message = format!("Invalid value: '{included}'. Supported values are: {}.", known.join(", "));
            return Err(invalid(message).at(format!("include[{n}]"), Some("invalid_value")));
        }
    }
    Ok(())
}
