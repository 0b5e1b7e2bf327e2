//! Tools and the choice among them.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fit::{Fitted, FittedTool, Place, Spelling};
use crate::json::tagged::Object;
use crate::json::wire::Raw;
use crate::{Error, Fields, Function, Json, Other, Part, ProviderData, Tool, ToolChoice};

use super::super::content::{self, Kept};
use super::super::{DIALECT, wire};
use super::decode::refusal;

/// The schema of a tool that takes nothing.
fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

/// Reads a tool: a function, or one of the dialect's own kinds.
pub(super) fn read_tool(index: usize, tool: wire::Tool<'_>) -> Result<Tool, Error> {
    let fields = match tool {
        wire::Tool::Fields(fields) => fields,
        wire::Tool::Whole(raw) => return Ok(own(raw)),
    };
    let kind = fields.get("type").map(RawValue::get).unwrap_or("null");
    if !matches!(kind, "null" | "\"custom\"") {
        return Ok(own(Raw::of(&fields)));
    }
    let mut kept = Kept::default();
    let mut function = Function {
        name: String::new(),
        description: None,
        parameters: Json::null(),
        // Without the word the API does not hold the model to the schema.
        strict: false,
        cache: None,
        provider_data: ProviderData::default(),
    };
    let (mut name, mut schema) = (None, None);
    for (key, raw) in fields.0 {
        let raw = Raw(raw);
        match (key.as_ref(), raw.as_str()) {
            ("name", Some(text)) => name = Some(text.into_owned()),
            ("description", Some(text)) => function.description = Some(text.into_owned()),
            ("input_schema", _) => schema = Some(raw.into_json()),
            ("strict", _) if raw.text() == "true" => function.strict = true,
            ("cache_control", _) if raw.text() != "null" => function.cache = kept.cache(Some(raw)),
            _ => kept.extra.push(key, raw.into_json()),
        }
    }
    function.name = name.ok_or_else(|| refusal(&format!("tools[{index}].name"), "the tool's name"))?;
    function.parameters = schema.unwrap_or_else(|| {
        kept.shape.set("no_schema", true);
        no_parameters().into()
    });
    function.provider_data = kept.into_data(Fields::default());
    Ok(Tool::Function(function))
}

/// A tool of this dialect, kept whole.
fn own(raw: Raw<'_>) -> Tool {
    Tool::other(Other { dialect: DIALECT, data: raw.into_json() })
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

/// Writes a `tool_choice`. Several calls at once are the API's default.
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

/// The tools as they are sent.
pub(super) fn write_tools<'a>(fitted: &'a Fitted<'_>) -> Vec<wire::Tool<'a>> {
    fitted.tools.iter().map(|tool| write_tool(tool, fitted)).collect()
}

fn write_tool<'a>(tool: &'a FittedTool<'_>, fitted: &'a Fitted<'_>) -> wire::Tool<'a> {
    let (function, index, name, parameters, strict) = match tool {
        FittedTool::Function { function, index, name, parameters, strict } => {
            (function, *index, name, parameters, *strict)
        }
        FittedTool::Own(other) => return wire::Tool::Whole(Raw::from(&other.data)),
    };
    let data = &function.provider_data;
    let mut fields = Object::default();
    fields.push("name", Raw::of(name.as_ref()));
    if let Some(description) = &function.description {
        fields.push("description", Raw::of(description));
    }
    let was_absent = fitted.spelling == Spelling::AsItCame
        && data.part(DIALECT, Part::Shape).flag("no_schema")
        && **parameters == no_parameters();
    if !was_absent {
        fields.push("input_schema", Raw::from(parameters.as_ref()));
    }
    if strict == Some(true) {
        fields.push("strict", Raw::of(&true));
    }
    if let Some(hint) = fitted.marks.at(Place::Tool(index), function.cache.as_ref()) {
        fields.push("cache_control", wire::write_cache(hint));
    }
    for (name, raw) in content::extra(data).as_rest() {
        if fields.get(&name).is_none() {
            fields.0.push((name, raw));
        }
    }
    wire::Tool::Fields(fields)
}

/// The `tool_choice`, where one is needed; as it came where it still means the same.
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
