//! Tools and tool choice.
//!
//! The wire groups functions: `tools` is a list of entries, each with `functionDeclarations` and possibly hosted tools.
//! The original grouping is noted in a layout, which is valid as long as the tools are the same in kind and number.

use std::borrow::Cow;

use super::super::leftovers::{Kept, Leftovers};
use super::super::wire::{Calling, Declaration, OneOrMany, ToolConfig, ToolEntry};
use super::super::{DIALECT, schema};
use super::{Reading, Writing, refuse};
use crate::dialect::hosted::{as_it_came, read_tool};
use crate::fit::{Fitted, FittedTool, Spelling};
use crate::json::tagged::Object;
use crate::json::wire::{Raw, Rest, Text, keep, read_str};
use crate::tool::no_parameters;
use crate::{Error, Function, Json, Other, Part, ProviderData, Tool, ToolChoice};

/// In the shape: how the tools were grouped, if not as we would.
const LAYOUT: &str = "tool_layout";
/// In the shape: `tools` was `one` object in place of a list, or an `empty` list.
const TOOLS: &str = "tools";
/// In the shape: `functionCallingConfig` as written.
const CALLING: &str = "function_calling_config";
/// In the shape of a function: the field that had its schema.
const SCHEMA_FIELD: &str = "schema_field";
/// In the shape of a function: the schema as written, if the format's differs.
const SCHEMA: &str = "schema";

wire! {
    /// An entry of `tools`, with the number of its functions in their place.
    struct Group<'a> {
        functions "functionDeclarations": usize,
    }
}

impl Group<'_> {
    /// Returns this dialect's own tool in the entry: its fields that are not `null`.
    fn hosted(&self) -> Option<Json> {
        let fields: Rest<'_> = self.rest.iter().filter(|(_, raw)| raw.get() != "null").cloned().collect();
        let is_empty = self.functions.is_none() && self.rest.is_empty();
        (!fields.is_empty() || is_empty).then(|| keep(fields).into())
    }
}

/// Reads the settings of tool calls.
pub(super) fn decode_config(config: ToolConfig<'_>, reading: &mut Reading) -> Result<(), Error> {
    let mut rest = config.rest;
    if let Some(raw) = config.calling {
        let calling = read_calling(&raw)?;
        reading.request.tool_choice = Some(choice(&calling));
        // Only this dialect has a choice among several: others report that they left it out.
        if calling.allowed.is_some_and(|names| names.len() > 1) {
            let names = serde_json::json!({"allowedFunctionNames": true});
            rest.push((Cow::Borrowed("functionCallingConfig"), Raw::of(&names).0));
        }
        reading.shape.push(CALLING, raw.to_json());
    }
    reading.left.spelled(config.names);
    reading.left.take_inner("toolConfig", keep(rest));
    Ok(())
}

fn read_calling<'a>(raw: &'a Raw<'_>) -> Result<Calling<'a>, Error> {
    let place = "toolConfig.functionCallingConfig";
    read_str(raw.text()).map_err(|fault| refuse(place, &fault.to_string()))
}

fn mode(calling: &Calling<'_>) -> String {
    calling.mode.as_ref().map(|mode| mode.as_str().to_ascii_uppercase()).unwrap_or_default()
}

/// Reads the tool choice. `VALIDATED` holds the model to the schemas, which concerns the tools; the model may choose.
fn choice(calling: &Calling<'_>) -> ToolChoice {
    match (mode(calling).as_str(), calling.allowed.as_deref()) {
        ("NONE", _) => ToolChoice::None,
        ("ANY", Some([name])) => ToolChoice::Specific(name.as_str().to_owned()),
        ("ANY", _) => ToolChoice::Required,
        _ => ToolChoice::Auto,
    }
}

/// Reads the tools.
pub(super) fn decode(entries: OneOrMany<ToolEntry<'_>>, reading: &mut Reading) -> Result<(), Error> {
    let Reading { request, shape, left } = reading;
    if let Some(form) = entries.form() {
        shape.push(TOOLS, form);
    }
    let calling = shape.get(CALLING).cloned();
    let strict = calling.is_some_and(|calling| calling.to().is_ok_and(|calling| mode(&calling) == "VALIDATED"));
    let mut layout = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        left.spelled(entry.names);
        let functions = entry.functions.as_ref().map(Vec::len);
        for (inner, declaration) in entry.functions.into_iter().flatten().enumerate() {
            let mut function = function(declaration).ok_or_else(|| {
                refuse(format_args!("tools[{index}].functionDeclarations[{inner}].name"), "is missing")
            })?;
            function.strict = strict;
            request.tools.push(Tool::Function(function));
        }
        let group = Group { functions, rest: entry.rest };
        request.tools.extend(group.hosted().map(|data| read_tool(Other { dialect: DIALECT, data })));
        layout.push(group);
    }
    let layout = Raw::of(&layout);
    let hosted = |tool| match tool {
        &Tool::Function(_) => None,
        Tool::Other(other) => Some(&other.other.data),
        Tool::BuiltIn(tool) => as_it_came(tool, DIALECT),
    };
    if layout.text() != Raw::of(&usual_layout(request.tools.iter().map(hosted))).text() {
        shape.push(LAYOUT, layout.into_json());
    }
    Ok(())
}

/// Puts the functions (`None`) into one entry, in the place of the first, and each other tool into a separate entry.
fn usual_layout<'a>(tools: impl Iterator<Item = Option<&'a Json>> + Clone) -> Vec<Group<'a>> {
    let mut functions = Some(tools.clone().filter(Option::is_none).count());
    let group = |tool: Option<&'a Json>| match tool {
        Some(hosted) => Some(Group { functions: None, rest: hosted.to::<Object<'_>>().unwrap_or_default().0 }),
        None => functions.take().map(|count| Group { functions: Some(count), rest: Rest::default() }),
    };
    tools.filter_map(group).collect()
}

/// Reads a function. Returns `None` if it has no name.
fn function(declaration: Declaration<'_>) -> Option<Function> {
    let mut data = ProviderData::default();
    let mut shape = |key, value: Json| data.set_part(DIALECT, Part::Shape, key, value);
    let parameters = match (declaration.json_schema, declaration.parameters) {
        (Some(schema), _) => {
            shape(SCHEMA_FIELD, "parametersJsonSchema".into());
            schema.to_json()
        }
        (None, Some(written)) => {
            shape(SCHEMA_FIELD, "parameters".into());
            let (schema, written) = schema::read(written.into_json());
            if let Some(written) = written {
                shape(SCHEMA, written);
            }
            schema
        }
        (None, None) => no_parameters(),
    };
    let mut left = Leftovers::default();
    left.spelled(declaration.names);
    left.take(keep(declaration.rest));
    left.keep(&mut data);
    Some(Function {
        name: declaration.name?.into_string(),
        description: declaration.description.map(Text::into_string),
        parameters,
        strict: false,
        cache: None,
        provider_data: data,
    })
}

/// Writes the tools.
pub(super) fn encode<'a>(writing: &mut Writing<'a, '_>) -> Result<Option<OneOrMany<ToolEntry<'a>>>, Error> {
    let fitted = writing.fitted;
    let (mut functions, mut tools) = (Vec::new(), Vec::new());
    for tool in &fitted.tools {
        match tool {
            FittedTool::Function { .. } => {
                functions.extend(declaration(tool, writing)?);
                tools.push(None);
            }
            FittedTool::Own(other) => tools.push(Some(&other.data)),
        }
    }
    let shape = fitted.request.provider_data.part(DIALECT, Part::Shape);
    let as_it_came = fitted.spelling == Spelling::AsItCame;
    let fits = |layout: &Vec<Group<'_>>| {
        let declared: usize = layout.iter().filter_map(|group| group.functions).sum();
        let hosted = layout.iter().filter_map(Group::hosted);
        declared == functions.len() && hosted.eq(tools.iter().flatten().map(|data| (*data).clone()))
    };
    let layout = shape.get(LAYOUT).filter(|_| as_it_came).and_then(|layout| layout.to().ok()).filter(fits);
    let layout: Vec<Group<'a>> = layout.unwrap_or_else(|| usual_layout(tools.iter().copied()));
    let mut functions = functions.into_iter();
    let kept = Kept::of(&fitted.request.provider_data, fitted.spelling);
    let entry = |group: Group<'a>| ToolEntry {
        functions: group.functions.map(|count| functions.by_ref().take(count).collect()),
        names: kept.names(),
        rest: group.rest,
    };
    let entries = layout.into_iter().map(entry).collect();
    Ok(OneOrMany::in_form(entries, shape.str(TOOLS).filter(|_| as_it_came).as_deref()))
}

fn declaration<'a>(tool: &'a FittedTool<'_>, writing: &mut Writing<'a, '_>) -> Result<Option<Declaration<'a>>, Error> {
    let Writing { fitted, limits, losses } = writing;
    let FittedTool::Function { function, index, name, parameters, .. } = tool else { return Ok(None) };
    let data = &function.provider_data;
    let kept = Kept::of(data, fitted.spelling);
    let mut declaration = Declaration {
        name: Some(Text(Cow::Borrowed(name))),
        description: function.description.as_deref().map(Text::from),
        names: kept.names(),
        rest: kept.rest(&[]),
        ..Declaration::default()
    };
    let shape = data.part(DIALECT, Part::Shape);
    let field = shape.str(SCHEMA_FIELD).filter(|_| fitted.spelling == Spelling::AsItCame);
    let place = format!("tools[{index}].parameters");
    match field.as_deref() {
        Some("parameters") => {
            let schema = schema::rewritten(parameters, shape.get(SCHEMA), &place, limits, losses)?;
            declaration.parameters = Some(schema);
        }
        Some(_) => declaration.json_schema = Some(Raw::from(parameters.as_ref())),
        // The API refuses an object without properties in one field, and does not need it in the other.
        None if !schema::has_properties(parameters) => {}
        None if fitted.takes.openapi_schemas => {
            declaration.parameters = Some(schema::lower(parameters, &place, limits, losses)?);
        }
        None => declaration.json_schema = Some(Raw::from(parameters.as_ref())),
    }
    Ok(Some(declaration))
}

/// Writes the settings of tool calls.
pub(super) fn encode_config<'a>(fitted: &'a Fitted<'_>) -> Option<Raw<'a>> {
    let kept = fitted.request.provider_data.part(DIALECT, Part::Shape).get(CALLING);
    if let Some(raw) = kept
        && let Ok(calling) = raw.to::<Calling<'_>>()
        && fitted.tool_choice.as_ref() == Some(&choice(&calling))
        && (fitted.spelling == Spelling::AsItCame || names_exist(&calling, &fitted.tools))
    {
        return Some(Raw::from(raw));
    }
    let (mode, allowed) = match fitted.tool_choice.as_ref()? {
        ToolChoice::Auto => return None,
        ToolChoice::None => ("NONE", None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::Specific(name) => ("ANY", Some(vec![Text::from(name.as_str())])),
    };
    Some(Raw::of(&Calling { mode: Some(mode.into()), allowed, ..Calling::default() }))
}

/// Whether the functions that the choice names still exist, under these names.
fn names_exist(calling: &Calling<'_>, tools: &[FittedTool<'_>]) -> bool {
    let there = |wanted: &Text<'_>| {
        tools.iter().any(|tool| matches!(tool, FittedTool::Function { name, .. } if name == wanted.as_str()))
    };
    calling.allowed.iter().flatten().all(there)
}
