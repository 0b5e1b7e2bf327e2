//! Tools and the choice among them.

use ikigai_core::catalog::ConverseFields;
use ikigai_core::{Loss, LossCode};
use serde_json::{Value, json};

use super::request::{Caching, cache_point};
use super::{Fields, block, str_of, takes_choice};

/// The tools that a conversation calls, in the order of their first call.
pub(super) fn called(messages: &[Value]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let blocks = messages.iter().filter_map(|message| message.get("content")?.as_array()).flatten();
    for name in blocks.filter_map(|block| block.get("toolUse")?.get("name")?.as_str()) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The tools in the words of Converse; none when there are none, or none may be called.
pub(super) fn config(
    tools: Option<Value>,
    choice: Option<Value>,
    called: &[String],
    caching: Caching,
    losses: &mut Vec<Loss>,
) -> Option<Value> {
    let mut specs = Vec::new();
    let tools = match tools {
        Some(Value::Array(tools)) => tools,
        _ => Vec::new(),
    };
    for (index, tool) in tools.into_iter().enumerate() {
        let place = format!("tools[{index}]");
        let Value::Object(mut fields) = tool else { continue };
        let cache = fields.shift_remove("cache_control");
        match spec(fields) {
            Ok(spec) => specs.push(spec),
            Err(kind) => {
                let why = format!("Converse has no tools of type `{kind}`; it is left out");
                losses.push(Loss::new(LossCode::Other, "tool", &place, why));
            }
        }
        if let Some(cache) = cache {
            match caching.fields {
                ConverseFields::Anthropic => specs.push(cache_point(&cache)),
                _ => losses.push(Loss::new(
                    LossCode::Other,
                    "cache",
                    &place,
                    "this model caches no tools; the hint is left out",
                )),
            }
        }
    }
    let choice = choice.as_ref().and_then(Value::as_object);
    if choice.is_some_and(|choice| choice.get("disable_parallel_tool_use") == Some(&Value::Bool(true))) {
        let why = "Converse cannot ask for one call at a time; it is left out";
        losses.push(Loss::new(LossCode::Other, "parallel_tool_calls", "parallel_tool_calls", why));
    }
    let word = choice.map(|choice| str_of(choice, "type")).unwrap_or_default();
    if word == "none" && called.is_empty() {
        return None;
    }
    if word == "none" {
        let why = "Converse cannot forbid tools, and needs them for the calls in the conversation; the choice is left to the model";
        losses.push(Loss::new(LossCode::Other, "tool_choice", "tool_choice", why));
    }
    if specs.is_empty() && !called.is_empty() {
        let why = "Converse needs the tools of the calls in the conversation; their names are sent";
        losses.push(Loss::info(LossCode::Other, "tools", "tools", why));
        let bare = |name: &String| {
            block("toolSpec", json!({"name": name, "inputSchema": {"json": {"type": "object", "properties": {}}}}))
        };
        specs.extend(called.iter().map(bare));
    }
    if specs.is_empty() {
        return None;
    }
    let mut config = json!({"tools": specs});
    let chosen = match word {
        // Which is what silence means, for models that take no choice at all.
        "auto" if !takes_choice(caching.fields) => None,
        "auto" => Some(json!({"auto": {}})),
        "any" => Some(json!({"any": {}})),
        "tool" => choice.map(|choice| json!({"tool": {"name": str_of(choice, "name")}})),
        _ => None,
    };
    if let (Some(chosen), Some(config)) = (chosen, config.as_object_mut()) {
        config.insert("toolChoice".to_owned(), chosen);
    }
    Some(config)
}

/// A tool, or the kind of tool that there is none of.
fn spec(mut fields: Fields) -> Result<Value, String> {
    // Converse's own: the dialect needs a type to pass them on.
    if ["toolSpec", "systemTool"].iter().any(|own| fields.contains_key(*own)) {
        fields.shift_remove("type");
        return Ok(Value::Object(fields));
    }
    if let Some(kind) = fields.get("type").and_then(Value::as_str).filter(|kind| *kind != "custom") {
        return Err(kind.to_owned());
    }
    let mut spec = Fields::new();
    for key in ["name", "description"] {
        if let Some(value) = fields.shift_remove(key) {
            spec.insert(key.to_owned(), value);
        }
    }
    let schema = fields.shift_remove("input_schema").unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    spec.insert("inputSchema".to_owned(), block("json", schema));
    if let Some(strict) = fields.shift_remove("strict") {
        spec.insert("strict".to_owned(), strict);
    }
    Ok(block("toolSpec", spec))
}
