//! Fields, limits, thinking, tools.

use ikigai_core::Level;
use ikigai_core::catalog::{ThinkingKind, ThinkingOff, rules_for};
use serde_json::Value;

use super::{Refusal, Wire, invalid, member, members, model, model_and_method, snake};
use crate::models;
use crate::strict::word;

const FIELDS: &[&str] = &[
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "safetySettings",
    "generationConfig",
    "cachedContent",
    "serviceTier",
    "store",
    "labels",
    "continuationToken",
    "model",
    "modelArmorConfig",
];

const GENERATION: &[&str] = &[
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "stopSequences",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "candidateCount",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "responseFormat",
    "responseModalities",
    "speechConfig",
    "imageConfig",
    "mediaResolution",
    "responseLogprobs",
    "logprobs",
    "thinkingConfig",
    "enableEnhancedCivicAnswers",
    "audioTimestamp",
    "routingConfig",
    "modelSelectionConfig",
    "enableAffectiveDialog",
    "_responseJsonSchema",
];

fn config<'a>(wire: &Wire<'a>) -> Option<&'a Value> {
    member(wire.body, "generationConfig")
}

pub(super) fn setting<'a>(wire: &Wire<'a>, name: &str) -> Option<&'a Value> {
    member(config(wire)?, name)
}

fn thinking<'a>(wire: &Wire<'a>, name: &str) -> Option<&'a Value> {
    member(setting(wire, "thinkingConfig")?, name)
}

pub(super) fn unknown<'a>(object: &'a Value, known: &[&str]) -> Option<&'a str> {
    let mut names = object.as_object()?.keys();
    names.find(|name| !known.iter().any(|field| *name == field || **name == snake(field))).map(String::as_str)
}

pub(super) fn model_known(wire: &Wire<'_>) -> Result<(), Refusal> {
    let (model, method) = model_and_method(wire);
    if models::google_has(model) {
        return Ok(());
    }
    let version = wire.path.split('/').find(|segment| segment.starts_with("v1")).unwrap_or("v1beta");
    Err(Refusal {
        status: 404,
        kind: "NOT_FOUND",
        ..invalid(format!(
            "models/{model} is not found for API version {version}, or is not supported for {method}. Call ListModels to see the list of available models and their supported methods."
        ))
    })
}

pub(super) fn unknown_fields(wire: &Wire<'_>) -> Result<(), Refusal> {
    match unknown(wire.body, FIELDS) {
        Some(name) => {
            Err(invalid(format!("Invalid JSON payload received. Unknown name \"{name}\": Cannot find field.")))
        }
        None => Ok(()),
    }
}

pub(super) fn unknown_generation_fields(wire: &Wire<'_>) -> Result<(), Refusal> {
    match config(wire).and_then(|config| unknown(config, GENERATION)) {
        Some(name) => Err(invalid(format!(
            "Invalid JSON payload received. Unknown name \"{name}\" at 'generation_config': Cannot find field."
        ))),
        None => Ok(()),
    }
}

pub(super) fn ranges(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (name, least, most) in [("temperature", 0.0, 2.0), ("topP", 0.0, 1.0)] {
        if let Some(value) = setting(wire, name).and_then(Value::as_f64).filter(|value| !(least..=most).contains(value))
        {
            let name = snake(name);
            return Err(invalid(format!(
                "* GenerateContentRequest.generation_config.{name}: {name} must be in the range [{least:.1}, {most:.1}]. Got {value}.\n"
            )));
        }
    }
    match setting(wire, "maxOutputTokens").and_then(Value::as_i64) {
        Some(limit) if limit < 1 => Err(invalid(
            "* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.\n",
        )),
        _ => Ok(()),
    }
}

pub(super) fn stops(wire: &Wire<'_>) -> Result<(), Refusal> {
    if setting(wire, "stopSequences").and_then(Value::as_array).is_some_and(|stops| stops.len() > 5) {
        return Err(invalid(
            "* GenerateContentRequest.generation_config.stop_sequences: the number of stop_sequences must not exceed 5.\n",
        ));
    }
    Ok(())
}

pub(super) fn thinks(wire: &Wire<'_>) -> Result<(), Refusal> {
    let asked = thinking(wire, "thinkingBudget").and_then(Value::as_i64).is_some_and(|budget| budget != 0)
        || thinking(wire, "thinkingLevel").is_some();
    if asked && rules_for(model(wire)).thinking.kind == ThinkingKind::None {
        return Err(invalid("Thinking is not supported by this model."));
    }
    Ok(())
}

pub(super) fn one_of_two(wire: &Wire<'_>) -> Result<(), Refusal> {
    if thinking(wire, "thinkingBudget").is_some() && thinking(wire, "thinkingLevel").is_some() {
        return Err(invalid("You can only set only one of thinking budget and thinking level."));
    }
    Ok(())
}

pub(super) fn budget(wire: &Wire<'_>) -> Result<(), Refusal> {
    let rule = &rules_for(model(wire)).thinking;
    let Some(budget) = thinking(wire, "thinkingBudget").and_then(Value::as_i64) else { return Ok(()) };
    if rule.kind != ThinkingKind::Budget || budget == -1 {
        return Ok(());
    }
    if budget == 0 {
        return match rule.off {
            ThinkingOff::Impossible => Err(invalid("Budget 0 is invalid. This model only works in thinking mode.")),
            _ => Ok(()),
        };
    }
    if !(rule.min..=rule.max).contains(&budget) {
        return Err(invalid(format!(
            "The thinking budget {budget} is invalid. Please choose a value between {} and {}.",
            rule.min, rule.max
        )));
    }
    Ok(())
}

pub(super) fn level(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(word) = thinking(wire, "thinkingLevel").and_then(Value::as_str) else { return Ok(()) };
    let rule = &rules_for(model(wire)).thinking;
    if rule.kind == ThinkingKind::Budget {
        return Err(invalid("Thinking level is not supported for this model."));
    }
    let known = word.to_lowercase().parse::<Level>().is_ok_and(|level| rule.levels.contains(&level));
    if known || word == "THINKING_LEVEL_UNSPECIFIED" {
        return Ok(());
    }
    Err(invalid(format!("Thinking level {word} is not supported for this model.")))
}

pub(super) fn thoughts(wire: &Wire<'_>) -> Result<(), Refusal> {
    let shown = thinking(wire, "includeThoughts") == Some(&Value::Bool(true));
    let off = thinking(wire, "thinkingBudget").and_then(Value::as_i64) == Some(0);
    let cannot = rules_for(model(wire)).thinking.kind == ThinkingKind::None;
    if shown && (off || cannot) {
        return Err(invalid(
            "Unable to submit request because thinking_config.include_thoughts is only enabled when thinking is enabled.",
        ));
    }
    Ok(())
}

pub(super) fn cached(wire: &Wire<'_>) -> Result<(), Refusal> {
    let beside = ["systemInstruction", "tools", "toolConfig"].iter().any(|name| member(wire.body, name).is_some());
    if member(wire.body, "cachedContent").is_some() && beside {
        return Err(invalid(
            "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.",
        ));
    }
    Ok(())
}

/// Every function, with the place of its tool and its own.
fn functions<'a>(wire: &Wire<'a>) -> impl Iterator<Item = (usize, usize, &'a Value)> {
    members(wire.body, "tools").iter().enumerate().flat_map(|(n, tool)| {
        members(tool, "functionDeclarations").iter().enumerate().map(move |(m, function)| (n, m, function))
    })
}

/// The API's own tools that are requested, by its names.
fn built_in(wire: &Wire<'_>) -> Vec<String> {
    let names = ["googleSearch", "urlContext", "codeExecution", "fileSearch", "googleMaps", "googleSearchRetrieval"];
    let tools = members(wire.body, "tools");
    names.into_iter().filter(|name| tools.iter().any(|tool| member(tool, name).is_some())).map(snake).collect()
}

fn circulates(wire: &Wire<'_>) -> bool {
    let flag = member(wire.body, "toolConfig").and_then(|config| member(config, "includeServerSideToolInvocations"));
    flag == Some(&Value::Bool(true))
}

/// Whether the request is for Vertex. It accepts more: built-in tools next to functions without a flag, other fields.
pub(super) fn is_vertex(wire: &Wire<'_>) -> bool {
    wire.path.contains("/publishers/") || wire.path.contains("/projects/")
}

pub(super) fn mixed(wire: &Wire<'_>) -> Result<(), Refusal> {
    let built_in = built_in(wire);
    if built_in.is_empty() || functions(wire).next().is_none() || is_vertex(wire) {
        return Ok(());
    }
    if !rules_for(model(wire)).mixed_tools {
        return Err(invalid(format!(
            "Built-in tools ({{{}}}) and Function Calling cannot be combined in the same request.",
            built_in.join(", ")
        )));
    }
    if !circulates(wire) {
        return Err(invalid(
            "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
        ));
    }
    Ok(())
}

pub(super) fn circulation(wire: &Wire<'_>) -> Result<(), Refusal> {
    if circulates(wire) && !rules_for(model(wire)).mixed_tools {
        return Err(invalid("Tool call context circulation is not enabled for this model."));
    }
    Ok(())
}

pub(super) fn function_names(wire: &Wire<'_>) -> Result<(), Refusal> {
    let is_good = |name: &str| {
        let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        begins && name.len() <= 128 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))
    };
    match functions(wire).find(|(_, _, function)| !is_good(word(function, "name"))) {
        Some((n, m, _)) => Err(invalid(format!(
            "* GenerateContentRequest.tools[{n}].function_declarations[{m}].name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n"
        ))),
        None => Ok(()),
    }
}

pub(super) fn function_schemas(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, m, function) in functions(wire) {
        let place = format!("* GenerateContentRequest.tools[{n}].function_declarations[{m}]");
        if member(function, "parameters").is_some() && member(function, "parametersJsonSchema").is_some() {
            return Err(invalid(format!("{place}: only one of parameters and parameters_json_schema may be set\n")));
        }
    }
    Ok(())
}

pub(super) fn allowed(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(calling) = member(wire.body, "toolConfig").and_then(|config| member(config, "functionCallingConfig"))
    else {
        return Ok(());
    };
    let mode = word(calling, "mode").to_uppercase();
    let names = members(calling, "allowedFunctionNames");
    if !names.is_empty() && !matches!(mode.as_str(), "ANY" | "VALIDATED") {
        return Err(invalid(
            "* GenerateContentRequest.tool_config.function_calling_config.allowed_function_names: allowed_function_names should only be set when mode is ANY or VALIDATED.\n",
        ));
    }
    Ok(())
}

pub(super) fn schema_type(wire: &Wire<'_>) -> Result<(), Refusal> {
    let kind = setting(wire, "responseMimeType").and_then(Value::as_str).unwrap_or_default();
    for name in ["responseSchema", "responseJsonSchema"] {
        if setting(wire, name).is_some() && !matches!(kind, "application/json" | "text/x.enum") {
            return Err(invalid(format!(
                "* GenerateContentRequest.generation_config.{}: only allowed when response_mime_type is 'application/json' or 'text/x.enum'.\n",
                snake(name)
            )));
        }
    }
    Ok(())
}

/// Gemini 3 and later accept both together.
pub(super) fn json_with_functions(wire: &Wire<'_>) -> Result<(), Refusal> {
    let json = setting(wire, "responseMimeType").and_then(Value::as_str) == Some("application/json");
    if json && functions(wire).next().is_some() && !rules_for(model(wire)).tools_with_structured_output {
        return Err(invalid("Function calling with a response mime type: 'application/json' is unsupported"));
    }
    Ok(())
}
