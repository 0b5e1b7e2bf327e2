//! Tools and tool choice, both ways.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::built_in::OPTIONS;
use super::decode::take_as;
use super::shape;
use crate::dialect::hosted;
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::content::{cache_hint, is_cache_field};
use crate::dialect::openai_chat::notes::{self, Notes, Side};
use crate::dialect::openai_chat::wire::{self, Asked, Function as WireFunction, Tool as WireTool};
use crate::fit::{Fitted, FittedTool, Place};
use crate::json::loose::{Item, Loose as _};
use crate::json::wire::{Raw, Text};
use crate::provider::RequiredChoice;
use crate::tool::no_parameters;
use crate::{CacheHint, Fields, Function, Json, Other, Request, Tool, ToolChoice};

const NO_TYPE: &str = "no_type";
const NO_PARAMETERS: &str = "no_parameters";
const NO_STRICT: &str = "no_strict";
/// The inner object, whose unknown fields are among those of the tool.
const INNER: &str = "function";

/// Reads the tools, the tool choice, and whether parallel calls are allowed.
pub(super) fn decode(asked: &mut Asked<'_>, request: &mut Request, notes: &mut Notes) {
    if !asked.tools.is_empty() {
        request.tools.extend(std::mem::take(&mut asked.tools).into_iter().map(read_tool));
    } else if !asked.functions.is_empty() {
        request.tools.extend(std::mem::take(&mut asked.functions).into_iter().map(|item| match item {
            Item::Fits(function) if function.name.is_some() => read_function(function, Notes::default()),
            other => own_tool(&other),
        }));
        notes.mark(shape::FUNCTIONS);
    }
    let rest = &mut asked.rest;
    if let Some(options) = wire::find(rest, OPTIONS).filter(|raw| raw.get().starts_with('{')).map(Json::copy) {
        wire::take(rest, OPTIONS);
        let mut field = Fields::default();
        field.push(OPTIONS, options);
        request.tools.push(hosted::read_tool(Other { dialect: DIALECT, data: field.into() }));
    }
    for name in ["tool_choice", "function_call"] {
        let raw = wire::find(rest, name).map(Json::copy);
        let Some((choice, raw)) = raw.and_then(|raw| Some((read_choice(raw.value())?, raw))) else { continue };
        wire::take(rest, name);
        if name == "function_call" || raw != write_choice(&choice, RequiredChoice::Required) {
            let mut field = Fields::default();
            field.push(name, raw);
            notes.shape.set(shape::TOOL_CHOICE, Json::from(field));
        }
        request.tool_choice = Some(choice);
        break;
    }
    request.parallel_tool_calls = take_as(rest, "parallel_tool_calls");
}

/// Keeps a tool that only this dialect has.
fn own_tool<T: serde::Serialize>(item: &T) -> Tool {
    hosted::read_tool(Other { dialect: DIALECT, data: Json::of(item).unwrap_or_default() })
}

fn read_tool(item: Item<'_, WireTool<'_>>) -> Tool {
    let Item::Fits(mut tool) = item else { return own_tool(&item) };
    let is_function = match &tool.kind {
        Some(kind) => kind.as_str() == "function",
        None => wire::find(&tool.rest, "type").is_none(),
    };
    if !is_function || tool.function.as_ref().is_none_or(|function| function.name.is_none()) {
        return own_tool(&tool);
    }
    let function = tool.function.take().unwrap_or_default();
    let mut notes = Notes::default();
    if tool.kind.take().is_none() {
        notes.mark(NO_TYPE);
    }
    notes.extra = tool.leftovers();
    read_function(*function, notes)
}

fn read_function(mut wire: WireFunction<'_>, mut notes: Notes) -> Tool {
    let name = wire.name.take().map(Text::into_string).unwrap_or_default();
    let description = wire.description.take().map(Text::into_string);
    let parameters = match wire.parameters.take() {
        Some(parameters) => parameters.to_json(),
        None => {
            // A `null` stays with the other fields.
            notes.mark(NO_PARAMETERS);
            no_parameters()
        }
    };
    // This API is lenient by default.
    let strict = wire.strict.take().unwrap_or_else(|| {
        notes.mark(NO_STRICT);
        false
    });
    let cache = cache_hint(&notes.extra);
    notes.keep_inner(INNER, wire.leftovers());
    Tool::Function(Function {
        name,
        description,
        parameters,
        strict,
        cache,
        provider_data: notes.into_data(Side::Request),
    })
}

/// Writes the tools, in the older form if they came in that form.
pub(super) fn encode<'f>(fitted: &'f Fitted<'_>, shape: &Fields, body: &mut Asked<'f>) {
    let is_older_form = shape.flag(shape::FUNCTIONS);
    for tool in &fitted.tools {
        match tool {
            FittedTool::Function { function, name, parameters, strict, .. } if is_older_form => {
                body.functions.push(Item::Fits(write_function(function, name, parameters, *strict)));
            }
            FittedTool::Function { function, index, name, parameters, strict } => {
                let inner = write_function(function, name, parameters, *strict);
                let mark = fitted.marks.at(Place::Tool(*index), function.cache.as_ref());
                body.tools.push(Item::Fits(write_tool(function, inner, mark)));
            }
            FittedTool::Own(other) if is_older_form => body.functions.push(Item::Odd(Cow::Borrowed(other.data.raw()))),
            FittedTool::Own(other) => body.tools.push(Item::Odd(Cow::Borrowed(other.data.raw()))),
        }
    }
}

/// Writes the inner object, which is the whole tool in the older form.
fn write_function<'a>(
    function: &'a Function,
    name: &'a str,
    parameters: &'a Json,
    strict: Option<bool>,
) -> WireFunction<'a> {
    let shape = notes::shape(&function.provider_data);
    let is_unsaid = shape.flag(NO_PARAMETERS) && *parameters == no_parameters();
    WireFunction {
        name: Some(name.into()),
        description: function.description.as_deref().map(Text::from),
        parameters: (!is_unsaid).then(|| Raw::from(parameters)),
        strict: strict.filter(|strict| *strict || !shape.flag(NO_STRICT)),
        rest: notes::inner(notes::extra(&function.provider_data, Side::Request), INNER),
        ..WireFunction::default()
    }
}

/// Writes the whole tool, with the cache mark to be sent.
fn write_tool<'a>(function: &'a Function, inner: WireFunction<'a>, mark: Option<&CacheHint>) -> WireTool<'a> {
    let extra = notes::extra(&function.provider_data, Side::Request);
    let has_type = !notes::shape(&function.provider_data).flag(NO_TYPE);
    let mut rest = notes::around(extra, INNER);
    if cache_hint(extra).as_ref() != mark {
        rest.retain(|(name, _)| !is_cache_field(name));
        rest.extend(mark.map(|hint| (Cow::Borrowed("cache_control"), cache_control(hint).0)));
    }
    WireTool { kind: has_type.then(|| "function".into()), function: Some(Box::new(inner)), rest }
}

/// Writes a mark that asks a relay to cache up to here.
pub(super) fn cache_control(hint: &CacheHint) -> Raw<'static> {
    match &hint.ttl {
        Some(ttl) => Raw::of(&json!({"type": "ephemeral", "ttl": ttl})),
        None => Raw::of(&json!({"type": "ephemeral"})),
    }
}

/// Reads a tool choice in any spelling of the family. Returns `None` for one that only its provider knows.
pub(super) fn read_choice(raw: &Value) -> Option<ToolChoice> {
    match raw {
        Value::String(word) => by_word(word),
        Value::Object(fields) => {
            let inner = fields.get("function").and_then(|function| function.get("name"));
            if let Some(name) = inner.or_else(|| fields.get("name")).and_then(Value::as_str) {
                return Some(ToolChoice::Specific(name.to_owned()));
            }
            match fields.get("type")?.as_str()? {
                // A choice among some of the tools: the rest of it stays in the raw form.
                "allowed_tools" => by_word(fields.get("allowed_tools")?.get("mode")?.as_str()?),
                kind => by_word(kind),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

fn by_word(word: &str) -> Option<ToolChoice> {
    match word {
        "auto" => Some(ToolChoice::Auto),
        "none" => Some(ToolChoice::None),
        "required" | "any" => Some(ToolChoice::Required),
        _ => None,
    }
}

/// Writes a tool choice in OpenAI's form, with the provider's keyword for `required`.
pub(super) fn write_choice(choice: &ToolChoice, required: RequiredChoice) -> Value {
    match (choice, required) {
        (ToolChoice::Auto, _) => "auto".into(),
        (ToolChoice::None, _) => "none".into(),
        (ToolChoice::Required, RequiredChoice::Any) => "any".into(),
        (ToolChoice::Required, RequiredChoice::Required | RequiredChoice::Refused) => "required".into(),
        (ToolChoice::Specific(name), _) => json!({"type": "function", "function": {"name": name}}),
    }
}
