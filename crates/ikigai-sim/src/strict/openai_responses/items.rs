//! Input items, tools, output format.

use std::collections::HashSet;

use serde_json::Value;

use super::{Refusal, Wire, invalid, openai};
use crate::strict::schema::{self, Subset};
use crate::strict::{list, word};

const ITEMS: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "item_reference",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "computer_call",
    "computer_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "custom_tool_call",
    "custom_tool_call_output",
    "tool_search_call",
    "tool_search_output",
    "tool_search_call_output",
    "compaction",
    "compaction_summary",
    "configuration_update",
    "additional_tools",
];

/// An item's type; one with a role but no type is a message.
pub(super) fn kind(item: &Value) -> &str {
    match word(item, "type") {
        "" if item.get("role").is_some() => "message",
        kind => kind,
    }
}

pub(super) fn given(wire: &Wire<'_>) -> Result<(), Refusal> {
    let elsewhere = ["prompt", "previous_response_id", "conversation"].iter().any(|name| wire.field(name).is_some());
    match wire.field("input") {
        Some(Value::String(_) | Value::Array(_)) => Ok(()),
        None if elsewhere => Ok(()),
        None => Err(invalid("Missing required parameter: 'input'.").at("input", Some("missing_required_parameter"))),
        Some(other) => {
            let message = format!(
                "Invalid type for 'input': expected one of an array of objects or string, but got {} instead.",
                openai::kind_of(other)
            );
            Err(invalid(message).at("input", Some("invalid_type")))
        }
    }
}

pub(super) fn kinds(wire: &Wire<'_>) -> Result<(), Refusal> {
    match wire.list("input").iter().enumerate().find(|(_, item)| !ITEMS.contains(&kind(item))) {
        Some((n, item)) => {
            let known: Vec<String> = ITEMS.iter().map(|word| format!("'{word}'")).collect();
            let message = format!("Invalid value: '{}'. Supported values are: {}.", kind(item), known.join(", "));
            Err(invalid(message).at(format!("input[{n}]"), Some("invalid_value")))
        }
        None => Ok(()),
    }
}

fn messages<'a>(wire: &Wire<'a>) -> impl Iterator<Item = (usize, &'a Value)> {
    wire.list("input").iter().enumerate().filter(|(_, item)| kind(item) == "message")
}

pub(super) fn roles(wire: &Wire<'_>) -> Result<(), Refusal> {
    let known = ["assistant", "system", "developer", "user"];
    match messages(wire).find(|(_, item)| !known.contains(&word(item, "role"))) {
        Some((n, item)) => {
            let message = format!(
                "Invalid value: '{}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
                word(item, "role")
            );
            Err(invalid(message).at(format!("input[{n}].role"), Some("invalid_value")))
        }
        None => Ok(()),
    }
}

/// What the model said and what it was told consist of different parts.
pub(super) fn parts(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, item) in messages(wire) {
        let (known, words): (&[&str], &str) = if word(item, "role") == "assistant" {
            (&["output_text", "refusal"], "'output_text' and 'refusal'")
        } else {
            (
                &["input_text", "input_image", "input_file", "computer_screenshot", "summary_text"],
                "'input_text', 'input_image', and 'input_file'",
            )
        };
        for (m, part) in list(item, "content").iter().enumerate() {
            let kind = word(part, "type");
            if !known.contains(&kind) {
                let message = format!("Invalid value: '{kind}'. Supported values are: {words}.");
                return Err(invalid(message).at(format!("input[{n}].content[{m}]"), Some("invalid_value")));
            }
        }
    }
    Ok(())
}

pub(super) fn images(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, item) in messages(wire) {
        for (m, part) in
            list(item, "content").iter().enumerate().filter(|(_, part)| word(part, "type") == "input_image")
        {
            let place = format!("input[{n}].content[{m}].image_url");
            match part.get("image_url").filter(|url| !url.is_null()) {
                None => {}
                Some(Value::String(url)) => openai::image_url(url, place)?,
                Some(other) => {
                    let message = format!(
                        "Invalid type for '{place}': expected an image URL, but got {} instead.",
                        openai::kind_of(other)
                    );
                    return Err(invalid(message).at(place, Some("invalid_type")));
                }
            }
        }
    }
    Ok(())
}

fn of_kind<'a>(wire: &Wire<'a>, wanted: &'static str) -> impl Iterator<Item = &'a Value> {
    wire.list("input").iter().filter(move |item| kind(item) == wanted)
}

/// Whether a conversation continues a stored response, where its calls may be.
fn goes_on(wire: &Wire<'_>) -> bool {
    wire.field("previous_response_id").is_some() || wire.field("conversation").is_some()
}

pub(super) fn calls_answered(wire: &Wire<'_>) -> Result<(), Refusal> {
    let answered: HashSet<&str> = of_kind(wire, "function_call_output").map(|output| word(output, "call_id")).collect();
    for call in of_kind(wire, "function_call") {
        let id = word(call, "call_id");
        if !answered.contains(id) {
            return Err(invalid(format!("No tool output found for function call {id}.")).at("input", None));
        }
    }
    Ok(())
}

pub(super) fn results_called(wire: &Wire<'_>) -> Result<(), Refusal> {
    if goes_on(wire) {
        return Ok(());
    }
    let called: HashSet<&str> = of_kind(wire, "function_call").map(|call| word(call, "call_id")).collect();
    for output in of_kind(wire, "function_call_output") {
        let id = word(output, "call_id");
        if !called.contains(id) {
            let message = format!("No tool call found for function call output with call_id {id}.");
            return Err(invalid(message).at("input", None));
        }
    }
    Ok(())
}

/// Items of the API's own tools, and the prefixes of their ids.
const RUN: &[(&str, &str)] = &[
    ("web_search_call", "ws"),
    ("file_search_call", "fs"),
    ("code_interpreter_call", "ci"),
    ("image_generation_call", "ig"),
];

pub(super) fn once(wire: &Wire<'_>) -> Result<(), Refusal> {
    let mut seen = std::collections::HashSet::new();
    let ids = wire.list("input").iter().filter(|item| kind(item) != "item_reference").map(|item| word(item, "id"));
    match ids.filter(|id| !id.is_empty()).find(|id| !seen.insert(*id)) {
        Some(id) => {
            let message =
                format!("Duplicate item found with id {id}. Remove duplicate items from your input and try again.");
            Err(invalid(message).at("input", None))
        }
        None => Ok(()),
    }
}

pub(super) fn ids(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, item) in wire.list("input").iter().enumerate() {
        let id = word(item, "id");
        let Some((_, prefix)) = RUN.iter().find(|(kind, _)| *kind == word(item, "type")) else { continue };
        if !id.is_empty() && !id.starts_with(prefix) {
            let place = format!("input[{n}].id");
            let message = format!("Invalid '{place}': '{id}'. Expected an ID that begins with '{prefix}'.");
            return Err(invalid(message).at(place, Some("invalid_value")));
        }
    }
    Ok(())
}

pub(super) fn containers(wire: &Wire<'_>) -> Result<(), Refusal> {
    let mut items = wire.list("input").iter().enumerate();
    match items.find(|(_, item)| {
        kind(item) == "code_interpreter_call" && !item.get("container_id").is_some_and(Value::is_string)
    }) {
        Some((n, _)) => Err(missing(format!("input[{n}].container_id"))),
        None => Ok(()),
    }
}

fn missing(place: String) -> Refusal {
    invalid(format!("Missing required parameter: '{place}'.")).at(place, Some("missing_required_parameter"))
}

pub(super) fn built_in(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, tool) in wire.list("tools").iter().enumerate() {
        let needed = match word(tool, "type") {
            "code_interpreter" => "container",
            "file_search" => "vector_store_ids",
            _ => continue,
        };
        if tool.get(needed).is_none_or(Value::is_null) {
            return Err(missing(format!("tools[{n}].{needed}")));
        }
    }
    Ok(())
}

pub(super) fn search_effort(wire: &Wire<'_>) -> Result<(), Refusal> {
    let least = wire.body.pointer("/reasoning/effort").is_some_and(|effort| effort == "minimal");
    let mut kinds = wire.list("tools").iter().map(|tool| word(tool, "type"));
    match kinds.find(|kind| least && kind.starts_with("web_search")) {
        Some(kind) => {
            let message = format!("The following tools cannot be used with reasoning.effort 'minimal': {kind}.");
            Err(invalid(message).at("tools", None))
        }
        None => Ok(()),
    }
}

fn functions<'a>(wire: &Wire<'a>) -> impl Iterator<Item = (usize, &'a Value)> {
    wire.list("tools").iter().enumerate().filter(|(_, tool)| word(tool, "type") == "function")
}

pub(super) fn tools(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, function) in functions(wire) {
        let place = format!("tools[{n}].name");
        match word(function, "name") {
            "" => {
                let message = format!("Missing required parameter: '{place}'.");
                return Err(invalid(message).at(place, Some("missing_required_parameter")));
            }
            name if !openai::name_fits(name) => {
                let message = format!(
                    "Invalid '{place}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
                );
                return Err(invalid(message).at(place, Some("invalid_value")));
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn schemas(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, function) in functions(wire) {
        let Some(parameters) = function.get("parameters").filter(|parameters| !parameters.is_null()) else { continue };
        let strict = function.get("strict") == Some(&Value::Bool(true));
        let verdict = if strict { schema::fits(parameters, Subset::Openai) } else { schema::is_schema(parameters) };
        if let Err(reason) = verdict {
            let message = format!("Invalid schema for function '{}': In context=(), {reason}", word(function, "name"));
            return Err(invalid(message).at(format!("tools[{n}].parameters"), Some("invalid_function_parameters")));
        }
    }
    Ok(())
}

pub(super) fn choice_known(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(choice) = wire.field("tool_choice").filter(|choice| word(choice, "type") == "function") else {
        return Ok(());
    };
    if functions(wire).any(|(_, function)| word(function, "name") == openai::chosen(choice)) {
        return Ok(());
    }
    Err(invalid("Tool choice 'function' not found in 'tools' parameter.").at("tool_choice", None))
}

pub(super) fn text_format(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(format) = wire.body.pointer("/text/format").filter(|format| word(format, "type") == "json_schema") else {
        return Ok(());
    };
    let name = word(format, "name");
    if name.is_empty() {
        let message = "Missing required parameter: 'text.format.name'.";
        return Err(invalid(message).at("text.format.name", Some("missing_required_parameter")));
    }
    if format.get("strict") != Some(&Value::Bool(true)) {
        return Ok(());
    }
    let Some(schema) = format.get("schema") else { return Ok(()) };
    schema::fits(schema, Subset::Openai).map_err(|reason| {
        let message = format!("Invalid schema for response_format '{name}': In context=(), {reason}");
        invalid(message).at("text.format.schema", Some("invalid_json_schema"))
    })
}

pub(super) fn json_word(wire: &Wire<'_>) -> Result<(), Refusal> {
    let json_mode = wire.body.pointer("/text/format").is_some_and(|format| word(format, "type") == "json_object");
    let said = ["input", "instructions"].iter().any(|name| wire.field(name).is_some_and(openai::says_json));
    if json_mode && !said {
        let message = "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
        return Err(invalid(message).at("input", None));
    }
    Ok(())
}
