//! Tools and tool choice.

use crate::dialect::hosted::read_tool as read_own;
use crate::fit::{Fitted, FittedTool, Place, Spelling};
use crate::json::tagged::Object;
use crate::json::wire::{Raw, Text};
use crate::tool::no_parameters;
use crate::{Error, Function, Other, Part, ProviderData, Tool, ToolChoice};

use super::super::content::{self, Reader};
use super::super::wire::{self, Item, Written};
use super::super::{DIALECT, keep_shape};
use super::refusal;

/// Reads a tool: a function, or one of the dialect's own kinds.
pub(super) fn read_tool(index: usize, tool: Object<'_>) -> Result<Tool, Error> {
    if !matches!(tool.get("type").map_or("null", |kind| kind.get()), "null" | "\"custom\"") {
        return Ok(read_own(Other { dialect: DIALECT, data: Raw::of(&tool).into_json() }));
    }
    let mut tool = Reader { fields: tool, data: ProviderData::default() };
    let name =
        tool.fields.take_text("name").ok_or_else(|| refusal(&format!("tools[{index}].name"), "the tool's name"))?;
    let description = tool.fields.take_text("description");
    let schema = tool.fields.take_if("input_schema", |_| true).map(Raw::into_json);
    let parameters = schema.unwrap_or_else(|| {
        keep_shape(&mut tool.data, "no_schema", true);
        no_parameters()
    });
    // Without this flag the API does not hold the model to the schema.
    let strict = tool.take_true("strict");
    let cache = tool.take_cache();
    let provider_data = tool.into_data();
    Ok(Tool::Function(Function { name, description, parameters, strict, cache, provider_data }))
}

/// Reads a `tool_choice`; `None` if its kind is unknown.
pub(super) fn read_choice(raw: &Raw<'_>) -> Option<(ToolChoice, Option<bool>)> {
    let wire: wire::ToolChoice<'_> = raw.to()?;
    let choice = match wire.kind?.as_str() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "any" => ToolChoice::Required,
        "tool" => ToolChoice::Specific(wire.name?.into_string()),
        _ => return None,
    };
    Some((choice, wire.disable_parallel.map(|disable| !disable)))
}

/// Writes a `tool_choice`. Parallel calls are the API's default.
pub(super) fn write_choice(choice: &ToolChoice, parallel: Option<bool>) -> Raw<'static> {
    let (word, name) = match choice {
        ToolChoice::Auto => ("auto", None),
        ToolChoice::None => ("none", None),
        ToolChoice::Required => ("any", None),
        ToolChoice::Specific(name) => ("tool", Some(name.as_str().into())),
    };
    let disable_parallel = (parallel == Some(false) && *choice != ToolChoice::None).then_some(true);
    Raw::of(&wire::ToolChoice { kind: Some(word.into()), name, disable_parallel, rest: Vec::new() })
}

/// Writes the tools.
pub(super) fn write_tools<'a>(fitted: &'a Fitted<'_>) -> Vec<Item<'a>> {
    fitted.tools.iter().map(|tool| write_tool(tool, fitted)).collect()
}

fn write_tool<'a>(tool: &'a FittedTool<'_>, fitted: &'a Fitted<'_>) -> Item<'a> {
    match tool {
        FittedTool::Own(other) => Item::from(&other.data),
        FittedTool::Function { function, index, name, parameters, strict } => {
            let data = &function.provider_data;
            let was_absent = fitted.spelling == Spelling::AsItCame
                && data.part(DIALECT, Part::Shape).flag("no_schema")
                && **parameters == no_parameters();
            Item::from(Written {
                name: Some(name.as_ref().into()),
                description: function.description.as_deref().map(Text::from),
                input_schema: (!was_absent).then(|| Raw::from(parameters.as_ref())),
                strict: strict.filter(|strict| *strict),
                cache_control: fitted.marks.at(Place::Tool(*index), function.cache.as_ref()).map(wire::write_cache),
                rest: content::extra(data).as_rest(),
                ..Written::default()
            })
        }
    }
}

/// Writes the `tool_choice`, if one is needed; as received if that still means the same.
pub(super) fn write_fitted_choice<'a>(fitted: &'a Fitted<'_>) -> Option<Raw<'a>> {
    let (choice, parallel) = (fitted.tool_choice.as_ref(), fitted.parallel_tool_calls);
    let shape = fitted.request.provider_data.part(DIALECT, Part::Shape);
    if fitted.spelling == Spelling::AsItCame
        && let Some(raw) = shape.get("tool_choice").map(Raw::from)
        && read_choice(&raw).is_some_and(|read| (Some(&read.0), read.1) == (choice, parallel))
    {
        return Some(raw);
    }
    match choice {
        Some(choice) => Some(write_choice(choice, parallel)),
        None => (parallel == Some(false)).then(|| write_choice(&ToolChoice::Auto, parallel)),
    }
}
