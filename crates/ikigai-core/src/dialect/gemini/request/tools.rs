//! Tools and the choice among them.
//!
//! The wire groups functions: `tools` is a list of entries, each with `functionDeclarations` and perhaps hosted tools.
//! How they were grouped is noted in a layout, and holds as long as the tools are the same in kind and number.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::super::leftovers::{Kept, Leftovers, owned};
use super::super::wire::{Calling, Declaration, OneOrMany, ToolConfig, ToolEntry};
use super::super::{DIALECT, schema};
use super::refuse;
use crate::fit::{Fitted, FittedTool, Spelling};
use crate::json::wire::{Raw, Text, keep};
use crate::{Error, Fields, Function, Json, Limits, Loss, Other, Part, ProviderData, Request, Tool, ToolChoice};

/// In the shape: how the tools were grouped, where not as we would.
const LAYOUT: &str = "tool_layout";
/// In the shape: `tools` was `one` object in place of a list, or an `empty` list.
const TOOLS: &str = "tools";
/// In the shape: `functionCallingConfig` as it was written.
const CALLING: &str = "function_calling_config";
/// In the shape of a function: the field that held its schema.
const SCHEMA_FIELD: &str = "schema_field";
/// In the shape of a function: the schema as it was written, where the format's is another.
const SCHEMA: &str = "schema";

/// One entry of `tools`.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Group {
    /// How many functions it declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    functions: Option<usize>,
    /// It has a tool of this dialect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    other: bool,
    /// Fields that hold nothing.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    extra: Fields,
}

/// Reads what is said about calling tools.
pub(super) fn decode_config(
    config: ToolConfig<'_>,
    request: &mut Request,
    shape: &mut Fields,
    left: &mut Leftovers,
) -> Result<(), Error> {
    let mut rest = config.rest;
    if let Some(raw) = config.calling {
        let calling = read_calling(&raw)?;
        request.tool_choice = Some(choice(&calling));
        // A choice among several is this dialect's alone: others say that they left it out.
        if calling.allowed.is_some_and(|names| names.len() > 1) {
            let names = serde_json::json!({"allowedFunctionNames": true});
            rest.push((Cow::Borrowed("functionCallingConfig"), Raw::of(&names).0));
        }
        shape.push(CALLING, raw.to_json());
    }
    left.spelled(config.names);
    left.take_inner("toolConfig", keep(rest));
    Ok(())
}

fn read_calling<'a>(raw: &'a Raw<'_>) -> Result<Calling<'a>, Error> {
    let place = "toolConfig.functionCallingConfig";
    serde_json::from_str(raw.text()).map_err(|fault| refuse(place, &fault.to_string()))
}

fn mode(calling: &Calling<'_>) -> String {
    calling.mode.as_ref().map(|mode| mode.as_str().to_ascii_uppercase()).unwrap_or_default()
}

/// `VALIDATED` holds the model to the schemas, which is for the tools to say; the choice stays the model's.
fn choice(calling: &Calling<'_>) -> ToolChoice {
    match (mode(calling).as_str(), calling.allowed.as_deref()) {
        ("NONE", _) => ToolChoice::None,
        ("ANY", Some([name])) => ToolChoice::Specific(name.as_str().to_owned()),
        ("ANY", _) => ToolChoice::Required,
        _ => ToolChoice::Auto,
    }
}

/// Reads the tools.
pub(super) fn decode(
    entries: OneOrMany<ToolEntry<'_>>,
    request: &mut Request,
    shape: &mut Fields,
    left: &mut Leftovers,
) -> Result<(), Error> {
    if let Some(form) = entries.form() {
        shape.push(TOOLS, form);
    }
    let calling = shape.get(CALLING).cloned();
    let strict = calling.is_some_and(|calling| calling.to().is_ok_and(|calling| mode(&calling) == "VALIDATED"));
    let mut layout = Vec::new();
    for (index, entry) in entries.into_vec().into_iter().enumerate() {
        left.spelled(entry.names);
        let mut group = Group { functions: entry.functions.as_ref().map(Vec::len), ..Group::default() };
        for (inner, declaration) in entry.functions.into_iter().flatten().enumerate() {
            let mut function = function(declaration).ok_or_else(|| {
                refuse(format_args!("tools[{index}].functionDeclarations[{inner}].name"), "is missing")
            })?;
            function.strict = strict;
            request.tools.push(Tool::Function(function));
        }
        let (nothing, hosted): (Vec<_>, Vec<_>) = entry.rest.into_iter().partition(|(_, raw)| raw.get() == "null");
        if !hosted.is_empty() || (group.functions.is_none() && nothing.is_empty()) {
            group.other = true;
            request.tools.push(Tool::other(Other { dialect: DIALECT, data: keep(hosted).into() }));
        }
        group.extra = keep(nothing);
        layout.push(group);
    }
    let is_function = |tool: &Tool| matches!(tool, Tool::Function(_));
    if layout != usual_layout(request.tools.iter().map(is_function)) {
        shape.push(LAYOUT, Json::of(&layout).unwrap_or_default());
    }
    Ok(())
}

/// The functions in one entry where the first of them stands, every other tool in an entry of its own.
fn usual_layout(are_functions: impl Iterator<Item = bool> + Clone) -> Vec<Group> {
    let functions = are_functions.clone().filter(|is_function| *is_function).count();
    let mut layout = Vec::new();
    let mut declared = false;
    for is_function in are_functions {
        match (is_function, declared) {
            (true, true) => {}
            (true, false) => {
                declared = true;
                layout.push(Group { functions: Some(functions), ..Group::default() });
            }
            (false, _) => layout.push(Group { other: true, ..Group::default() }),
        }
    }
    layout
}

/// A function; `None` if it has no name.
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
        (None, None) => serde_json::json!({"type": "object", "properties": {}}).into(),
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
pub(super) fn encode<'a>(
    fitted: &'a Fitted<'_>,
    limits: &Limits,
    losses: &mut Vec<Loss>,
) -> Result<Option<OneOrMany<ToolEntry<'a>>>, Error> {
    let (mut functions, mut others) = (Vec::new(), Vec::new());
    for tool in &fitted.tools {
        match tool {
            FittedTool::Function { .. } => functions.extend(declaration(tool, fitted, limits, losses)?),
            FittedTool::Own(other) => others.push(&other.data),
        }
    }
    let shape = fitted.request.provider_data.part(DIALECT, Part::Shape);
    let as_it_came = fitted.spelling == Spelling::AsItCame;
    let fits = |layout: &Vec<Group>| {
        let declared: usize = layout.iter().filter_map(|group| group.functions).sum();
        declared == functions.len() && layout.iter().filter(|group| group.other).count() == others.len()
    };
    let layout = shape.get(LAYOUT).filter(|_| as_it_came).and_then(|layout| layout.to().ok()).filter(fits);
    let layout = layout
        .unwrap_or_else(|| usual_layout(fitted.tools.iter().map(|tool| matches!(tool, FittedTool::Function { .. }))));
    let (mut functions, mut others) = (functions.into_iter(), others.into_iter());
    let names = Kept::of(&fitted.request.provider_data, fitted.spelling).names();
    let entries = layout.into_iter().map(|group| group.build(&mut functions, &mut others));
    let entries = entries.map(|entry| ToolEntry { names: names.clone(), ..entry }).collect();
    Ok(OneOrMany::in_form(entries, shape.str(TOOLS).filter(|_| as_it_came).as_deref()))
}

impl Group {
    fn build<'a>(
        self,
        functions: &mut impl Iterator<Item = Declaration<'a>>,
        others: &mut impl Iterator<Item = &'a Json>,
    ) -> ToolEntry<'a> {
        let mut entry = ToolEntry::default();
        if let Some(count) = self.functions {
            entry.functions = Some(functions.by_ref().take(count).collect());
        }
        if self.other
            && let Some(hosted) = others.next()
        {
            entry.rest = owned(hosted.to().unwrap_or_default());
        }
        entry.rest.extend(owned(self.extra));
        entry
    }
}

fn declaration<'a>(
    tool: &'a FittedTool<'_>,
    fitted: &'a Fitted<'_>,
    limits: &Limits,
    losses: &mut Vec<Loss>,
) -> Result<Option<Declaration<'a>>, Error> {
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
        // The API refuses an object without properties in one field, and needs none in the other.
        None if !schema::has_properties(parameters) => {}
        None if fitted.takes.openapi_schemas => {
            declaration.parameters = Some(schema::lower(parameters, &place, limits, losses)?);
        }
        None => declaration.json_schema = Some(Raw::from(parameters.as_ref())),
    }
    Ok(Some(declaration))
}

/// Writes what is said about calling tools.
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

/// Are the functions that the choice names still there, by these names?
fn names_exist(calling: &Calling<'_>, tools: &[FittedTool<'_>]) -> bool {
    let there = |wanted: &Text<'_>| {
        tools.iter().any(|tool| matches!(tool, FittedTool::Function { name, .. } if name == wanted.as_str()))
    };
    calling.allowed.iter().flatten().all(there)
}
