//! Tools and tool choice. Tools are flat here: there is no inner `function` object.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::dialect::hosted::read_tool;
use crate::dialect::openai_responses::DIALECT;
use crate::dialect::openai_responses::content::other;
use crate::dialect::openai_responses::wire::{self, Entry, find, word};
use crate::fit::{FittedTool, Spelling, Subset};
use crate::json::loose::{Loose as _, read_raw};
use crate::json::wire::{Raw, Text};
use crate::tool::no_parameters;
use crate::{Error, Function, Json, Part, ProviderData, Tool, ToolChoice};

/// Reads the tools of a request.
///
/// # Errors
/// Returns an error if a tool is not an object, or is a function without a name.
pub(super) fn decode(tools: Vec<Entry<'_, wire::Tool<'_>>>) -> Result<Vec<Tool>, Error> {
    let decode = |(index, tool): (usize, Entry<'_, wire::Tool<'_>>)| {
        let Entry::Fits(tool) = tool else {
            return Err(Error::invalid_request(format!("`tools[{index}]` must be an object")));
        };
        if word(&tool.kind) != "function" {
            return Ok(read_tool(other(&tool)));
        }
        decode_function(tool).map(Tool::Function).ok_or_else(|| {
            let what = format!("`tools[{index}]` is a function and needs a `name`");
            Error::invalid_param(format!("tools[{index}].name"), what)
        })
    };
    tools.into_iter().enumerate().map(decode).collect()
}

/// Reads a function, flat as it should be or nested as in Chat Completions. One that would not be written the same way
/// is also kept whole.
fn decode_function(mut tool: wire::Tool<'_>) -> Option<Function> {
    let is_object = |raw: &Raw<'_>| raw.text().starts_with('{');
    let usual = tool.function.is_none()
        && tool.parameters.as_ref().is_some_and(is_object)
        && find(&tool.rest, "strict").is_none();
    let mut data = ProviderData::default();
    if !usual {
        data.set_part(DIALECT, Part::Shape, "raw", Json::of(&tool).unwrap_or_default());
    }
    if let Some(inner) = tool.function.take() {
        tool.name = inner.name.or(tool.name);
        tool.description = inner.description.or(tool.description);
        tool.parameters = inner.parameters.or(tool.parameters);
        tool.strict = inner.strict.or(tool.strict);
        tool.rest.extend(inner.rest);
    }
    tool.kind = None;
    let name = tool.name.take()?.into_string();
    let description = tool.description.take().map(Text::into_string);
    let parameters = tool.parameters.take().filter(is_object).map_or_else(no_parameters, Raw::into_json);
    let strict = tool.strict.take().unwrap_or_else(|| {
        // By default, the server treats the schema as strict if it can.
        data.set_part(DIALECT, Part::Shape, "strict", "absent");
        Subset::Complete.takes(&parameters)
    });
    tool.rest.retain(|(name, _)| usual || !matches!(name.as_ref(), "strict" | "parameters"));
    data.extend_part(DIALECT, Part::Extra, tool.leftovers());
    Some(Function { name, description, parameters, strict, cache: None, provider_data: data })
}

/// Writes a tool.
pub(super) fn encode<'a>(tool: &'a FittedTool<'a>, spelling: Spelling) -> Entry<'a, wire::Tool<'a>> {
    let (function, name, parameters, mut strict) = match tool {
        FittedTool::Own(other) => return Entry::Odd(Cow::Borrowed(other.data.raw())),
        FittedTool::Function { function, name, parameters, strict, .. } => (function, name, parameters, *strict),
    };
    if spelling == Spelling::AsItCame {
        if let Some(raw) = as_it_was(function) {
            return Entry::Odd(Cow::Borrowed(raw.raw()));
        }
        strict = strict.filter(|_| !is_unsaid(function));
    }
    Entry::Fits(wire::Tool {
        kind: Some("function".into()),
        name: Some(name.as_ref().into()),
        description: function.description.as_deref().map(Text::from),
        parameters: Some(Raw::from(parameters.as_ref())),
        strict,
        function: None,
        rest: function.provider_data.part(DIALECT, Part::Extra).as_rest(),
    })
}

/// Returns the original tool, if it still says the same.
fn as_it_was(function: &Function) -> Option<&Json> {
    let raw = function.provider_data.part(DIALECT, Part::Shape).get("raw")?;
    let again = decode_function(read_raw(raw.raw())?)?;
    let same = (&again.name, &again.description, &again.parameters, again.strict)
        == (&function.name, &function.description, &function.parameters, function.strict);
    same.then_some(raw)
}

/// Whether strictness was not given, and the tool is still as strict as the server's default.
fn is_unsaid(function: &Function) -> bool {
    function.provider_data.part_str(DIALECT, Part::Shape, "strict").is_some()
        && function.strict == Subset::Complete.takes(&function.parameters)
}

/// Returns the meaning of a choice, or `None` if only this dialect has it.
pub(super) fn decode_choice(wire: &Raw<'_>) -> Option<ToolChoice> {
    let wire: Value = wire.to()?;
    let mode = |word: &str| match word {
        "auto" => Some(ToolChoice::Auto),
        "none" => Some(ToolChoice::None),
        "required" => Some(ToolChoice::Required),
        _ => None,
    };
    if let Some(word) = wire.as_str() {
        return mode(word);
    }
    match wire.get("type")?.as_str()? {
        "function" => {
            let name = wire.get("name").or_else(|| wire.get("function")?.get("name"))?.as_str()?;
            Some(ToolChoice::Specific(name.to_owned()))
        }
        "allowed_tools" => mode(wire.get("mode")?.as_str()?).filter(|choice| *choice != ToolChoice::None),
        _ => None,
    }
}

/// Writes a tool choice.
pub(super) fn encode_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Specific(name) => json!({"type": "function", "name": name}),
    }
}
