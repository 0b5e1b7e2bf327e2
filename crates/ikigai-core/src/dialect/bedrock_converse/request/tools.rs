//! Tools and tool choice.

use serde_json::json;

use crate::fit::{Fitted, FittedTool, Place};
use crate::json::wire::{Raw, Text};
use crate::tool::no_parameters;
use crate::{Loss, LossCode, ToolChoice};

use super::super::wire::{Schema, Tool, ToolConfig, ToolSpec};
use super::{cache_point, extra};

/// Writes the tools. Returns `None` if there are none, or none may be called. `called` are the tools of calls in the
/// conversation, which must be declared.
pub(super) fn write<'a>(fitted: &'a Fitted<'_>, called: &[&'a str], losses: &mut Vec<Loss>) -> Option<ToolConfig<'a>> {
    let forbidden = fitted.tool_choice == Some(ToolChoice::None);
    if forbidden && called.is_empty() {
        return None;
    }
    if forbidden {
        let why = "tools cannot be forbidden here, and those of the calls in the conversation must be declared; the \
                   choice is left to the model";
        losses.push(Loss::new(LossCode::NotInDialect, "tool_choice", "tool_choice", why));
    }
    let mut tools = Vec::with_capacity(fitted.tools.len());
    for tool in &fitted.tools {
        write_tool(tool, fitted, &mut tools);
    }
    if tools.is_empty() && !called.is_empty() {
        let why = "the tools of the calls in the conversation must be declared here; their names are sent";
        losses.push(Loss::info(LossCode::Changed, "tools", "tools", why));
        tools.extend(called.iter().map(|name| {
            let schema = Some(schema(Raw::of(&no_parameters())));
            spec(ToolSpec { name: Some((*name).into()), schema, ..ToolSpec::default() })
        }));
    }
    let choice = fitted.tool_choice.as_ref().and_then(|choice| match choice {
        ToolChoice::Auto => Some(json!({"auto": {}})),
        ToolChoice::Required => Some(json!({"any": {}})),
        ToolChoice::Specific(name) => Some(json!({"tool": {"name": name}})),
        ToolChoice::None => None,
    });
    let choice = choice.map(|choice| Raw::of(&choice));
    (!tools.is_empty()).then_some(ToolConfig { tools: Some(tools), choice, rest: Vec::new() })
}

/// Writes a tool, followed by its cache mark, if any.
fn write_tool<'a>(tool: &'a FittedTool<'_>, fitted: &'a Fitted<'_>, tools: &mut Vec<Raw<'a>>) {
    let (function, index, name, parameters, strict) = match tool {
        FittedTool::Function { function, index, name, parameters, strict } => {
            (function, *index, name, parameters, *strict)
        }
        FittedTool::Own(other) => return tools.push(Raw::from(&other.data)),
    };
    let description = function.description.as_deref().filter(|text| !text.is_empty());
    tools.push(spec(ToolSpec {
        name: Some(name.as_ref().into()),
        description: description.map(Text::from),
        schema: Some(schema(Raw::from(parameters.as_ref()))),
        strict: strict.filter(|strict| *strict),
        rest: extra(&function.provider_data).as_rest(),
    }));
    if let Some(hint) = fitted.marks.at(Place::Tool(index), function.cache.as_ref()) {
        tools.push(Raw::of(&Tool { cache_point: Some(cache_point(hint)), ..Tool::default() }));
    }
}

fn schema(json: Raw<'_>) -> Schema<'_> {
    Schema { json: Some(json), rest: Vec::new() }
}

fn spec<'a>(spec: ToolSpec<'_>) -> Raw<'a> {
    Raw::of(&Tool { spec: Some(spec), ..Tool::default() })
}
