//! Tools, tool choice, structured output.

use ikigai_core::Level;
use ikigai_core::catalog::ToolsInChat;
use serde_json::Value;

use super::{Refusal, Wire, invalid, openai};
use crate::strict::schema::{self, Subset};
use crate::strict::word;

/// The functions with their places.
fn functions<'a>(wire: &Wire<'a>) -> impl Iterator<Item = (usize, &'a Value)> {
    let tools = wire.list("tools").iter().enumerate();
    tools.filter_map(|(n, tool)| (word(tool, "type") == "function").then(|| Some((n, tool.get("function")?))).flatten())
}

/// Only models made for it search.
pub(super) fn search_options(wire: &Wire<'_>) -> Result<(), Refusal> {
    if wire.field("web_search_options").is_none() || openai::model(wire).contains("search") {
        return Ok(());
    }
    Err(invalid("Web search options not supported with this model.").at("web_search_options", None))
}

pub(super) fn kinds(wire: &Wire<'_>) -> Result<(), Refusal> {
    let mut kinds = wire.list("tools").iter().map(|tool| word(tool, "type")).enumerate();
    match kinds.find(|(_, kind)| !matches!(*kind, "function" | "custom")) {
        Some((n, kind)) => {
            let message = format!("Invalid value: '{kind}'. Supported values are: 'function' and 'custom'.");
            Err(invalid(message).at(format!("tools[{n}].type"), Some("invalid_value")))
        }
        None => Ok(()),
    }
}

pub(super) fn names(wire: &Wire<'_>) -> Result<(), Refusal> {
    if wire.list("tools").len() > 128 {
        let message = "Invalid 'tools': array too long. Expected an array with maximum length 128.";
        return Err(invalid(message).at("tools", Some("array_above_max_length")));
    }
    match functions(wire).find(|(_, function)| !openai::name_fits(word(function, "name"))) {
        Some((n, _)) => {
            let place = format!("tools[{n}].function.name");
            let message = format!(
                "Invalid '{place}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            );
            Err(invalid(message).at(place, Some("invalid_value")))
        }
        None => Ok(()),
    }
}

pub(super) fn schemas(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, function) in functions(wire) {
        let Some(parameters) = function.get("parameters").filter(|parameters| !parameters.is_null()) else { continue };
        let strict = function.get("strict") == Some(&Value::Bool(true));
        let verdict = if strict { schema::fits(parameters, Subset::Openai) } else { schema::is_schema(parameters) };
        if let Err(reason) = verdict {
            let message = format!("Invalid schema for function '{}': In context=(), {reason}", word(function, "name"));
            return Err(
                invalid(message).at(format!("tools[{n}].function.parameters"), Some("invalid_function_parameters"))
            );
        }
    }
    Ok(())
}

pub(super) fn choice_alone(wire: &Wire<'_>) -> Result<(), Refusal> {
    alone(wire, "tool_choice")
}

pub(super) fn parallel_alone(wire: &Wire<'_>) -> Result<(), Refusal> {
    alone(wire, "parallel_tool_calls")
}

fn alone(wire: &Wire<'_>, name: &'static str) -> Result<(), Refusal> {
    if wire.field(name).is_some() && wire.field("tools").is_none() && wire.field("functions").is_none() {
        let message = format!("Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.");
        return Err(invalid(message).at(name, None));
    }
    Ok(())
}

pub(super) fn choice_known(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(choice) = wire.field("tool_choice").filter(|choice| word(choice, "type") == "function") else {
        return Ok(());
    };
    let name = openai::chosen(choice);
    if functions(wire).any(|(_, function)| word(function, "name") == name) {
        return Ok(());
    }
    let message = format!("Invalid value for 'tool_choice': tool_choice.function.name '{name}' not found in 'tools'.");
    Err(invalid(message).at("tool_choice", None))
}

/// Newer thinking models accept function tools only on the Responses API, unless they are told not to think.
pub(super) fn beside_effort(wire: &Wire<'_>) -> Result<(), Refusal> {
    let rules = openai::rules(wire);
    if rules.tools_in_chat == ToolsInChat::Taken || functions(wire).next().is_none() {
        return Ok(());
    }
    let thinks = match wire.text("reasoning_effort") {
        Some(effort) => effort.parse() != Ok(Level::None),
        None => rules.tools_in_chat == ToolsInChat::NotWhileThinking && rules.thinking.thinks_by_default(),
    };
    if !thinks {
        return Ok(());
    }
    Err(invalid(format!(
        "Function tools with reasoning_effort are not supported for {} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
        openai::model(wire)
    ))
    .at("reasoning_effort", None))
}

pub(super) fn response_format(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(format) = wire.body.pointer("/response_format/json_schema") else { return Ok(()) };
    let name = word(format, "name");
    if !openai::name_fits(name) {
        let message = "Missing required parameter: 'response_format.json_schema.name'.";
        return Err(invalid(message).at("response_format.json_schema.name", Some("missing_required_parameter")));
    }
    if format.get("strict") != Some(&Value::Bool(true)) {
        return Ok(());
    }
    let Some(schema) = format.get("schema") else { return Ok(()) };
    schema::fits(schema, Subset::Openai).map_err(|reason| {
        invalid(format!("Invalid schema for response_format '{name}': In context=(), {reason}"))
            .at("response_format", None)
    })
}

pub(super) fn json_word(wire: &Wire<'_>) -> Result<(), Refusal> {
    let json_mode = wire.field("response_format").is_some_and(|format| word(format, "type") == "json_object");
    if json_mode && !wire.field("messages").is_some_and(openai::says_json) {
        let message =
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
        return Err(invalid(message).at("messages", None));
    }
    Ok(())
}
