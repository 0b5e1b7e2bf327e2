//! Tools and the choice between them. Tools are flat here: no object `function` inside.

use serde_json::{Value, json};

use crate::dialect::openai_responses::fields::{
    keep, note_foreign_fields, object, other, own_object, put_back, take_list, take_object, take_text, text,
};
use crate::dialect::openai_responses::{ME, Object};
use crate::dialect::strict;
use crate::{Error, Function, Loss, ProviderData, Rules, Tool, ToolChoice};

/// Takes the tools out of a request.
///
/// # Errors
/// When one is no object, or a function without a name.
pub(super) fn decode_all(body: &mut Object) -> Result<Vec<Tool>, Error> {
    if body.get("tools").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        // Absent, null or empty: kept as it was.
        return Ok(Vec::new());
    }
    let tools = take_list(body, "tools").unwrap_or_default();
    tools.into_iter().enumerate().map(|(index, tool)| decode(index, tool)).collect()
}

fn decode(index: usize, tool: Value) -> Result<Tool, Error> {
    let Value::Object(tool) = tool else {
        return Err(Error::invalid_request(format!("`tools[{index}]` must be an object")));
    };
    if text(&tool, "type") != Some("function") {
        return Ok(Tool::other(other(tool)));
    }
    decode_function(tool).map(Tool::Function).ok_or_else(|| {
        let mut error = Error::invalid_request(format!("`tools[{index}]` is a function and needs a `name`"));
        error.param = Some(format!("tools[{index}].name"));
        error
    })
}

/// Reads a function, flat as it should be or nested as in Chat Completions. What would not be written the same is kept
/// whole beside it.
fn decode_function(mut tool: Object) -> Option<Function> {
    let usual = !tool.contains_key("function")
        && tool.get("parameters").is_some_and(Value::is_object)
        && tool.get("strict").is_none_or(Value::is_boolean);
    let raw = (!usual).then(|| tool.clone());
    tool.shift_remove("type");
    if let Some(inner) = take_object(&mut tool, "function") {
        tool.extend(inner);
    }
    let name = take_text(&mut tool, "name")?;
    let description = take_text(&mut tool, "description");
    let parameters = match tool.shift_remove("parameters") {
        Some(parameters) if parameters.is_object() => parameters,
        _ => json!({"type": "object", "properties": {}}),
    };
    let mut provider_data = ProviderData::default();
    let strict = match tool.shift_remove("strict") {
        Some(Value::Bool(strict)) => strict,
        // Unsaid, the server takes the schema as strict if it can.
        _ => {
            provider_data.set(ME, "strict", "absent");
            strict::check(&parameters).is_ok()
        }
    };
    match raw {
        Some(raw) => provider_data.set(ME, "raw", Value::Object(raw)),
        None => keep(&mut provider_data, "extra", tool),
    }
    Some(Function { name, description, parameters: parameters.into(), strict, cache: None, provider_data })
}

/// Writes a tool; none when it is another dialect's own.
pub(super) fn encode(
    tool: &Tool,
    index: usize,
    faithful: bool,
    rules: &Rules,
    losses: &mut Vec<Loss>,
) -> Option<Value> {
    let function = match tool {
        Tool::Function(function) => function,
        Tool::Other(tool) if tool.other.dialect == ME => return Some(tool.other.data.clone().into()),
        Tool::Other(tool) => {
            let why = format!("a tool of {} that this API does not have; it was left out", tool.other.dialect);
            losses.push(Loss::uncoded("tool", format!("tools[{index}]"), why));
            return None;
        }
    };
    note_foreign_fields(&function.provider_data, &format!("tools[{index}]"), losses);
    if function.cache.is_some() {
        losses.push(Loss::uncoded_info(
            "cache",
            format!("tools[{index}].cache"),
            "tools have no marks for the cache here; they are cached with the prompt by themselves",
        ));
    }
    if faithful && let Some(tool) = as_it_was(function) {
        return Some(tool);
    }
    let mut wire = object([("type", "function".into()), ("name", function.name.as_str().into())]);
    if let Some(description) = &function.description {
        wire.insert("description".into(), description.as_str().into());
    }
    let (parameters, strict) = if faithful {
        (function.parameters.value().clone(), function.strict)
    } else {
        strict_or_not(function, index, rules, losses)
    };
    wire.insert("parameters".into(), parameters);
    wire.insert("strict".into(), strict.into());
    put_back(&mut wire, own_object(&function.provider_data, "extra"));
    Some(Value::Object(wire))
}

/// The tool as it was read, if it still says the same.
fn as_it_was(function: &Function) -> Option<Value> {
    if let Some(raw) = own_object(&function.provider_data, "raw") {
        let again = decode_function(raw.clone())?;
        let same = (&again.name, &again.description, &again.parameters, again.strict)
            == (&function.name, &function.description, &function.parameters, function.strict);
        return same.then(|| Value::Object(raw.clone()));
    }
    let unsaid = function.provider_data.str(ME, "strict") == Some("absent")
        && function.strict == strict::check(function.parameters.value()).is_ok();
    if !unsaid {
        return None;
    }
    let mut wire = object([("type", "function".into()), ("name", function.name.as_str().into())]);
    if let Some(description) = &function.description {
        wire.insert("description".into(), description.as_str().into());
    }
    wire.insert("parameters".into(), function.parameters.clone().into());
    put_back(&mut wire, own_object(&function.provider_data, "extra"));
    Some(Value::Object(wire))
}

/// The schema and whether it is strict. It is said always, because the server would decide by itself otherwise.
fn strict_or_not(function: &Function, index: usize, rules: &Rules, losses: &mut Vec<Loss>) -> (Value, bool) {
    if !function.strict {
        return (function.parameters.clone().into(), false);
    }
    let refused = if rules.strict_tools {
        match strict::strictify(function.parameters.value()) {
            Ok(schema) => return (schema.into_owned(), true),
            Err(why) => why,
        }
    } else {
        "this model takes no strict tools".to_owned()
    };
    losses.push(Loss::uncoded(
        "strict",
        format!("tools[{index}].strict"),
        format!("the tool is sent without strict: {refused}"),
    ));
    (function.parameters.clone().into(), false)
}

/// What a choice amounts to; none when only this dialect knows it.
pub(super) fn decode_choice(wire: &Value) -> Option<ToolChoice> {
    match wire {
        Value::String(word) => match word.as_str() {
            "auto" => Some(ToolChoice::Auto),
            "none" => Some(ToolChoice::None),
            "required" => Some(ToolChoice::Required),
            _ => None,
        },
        Value::Object(choice) => match text(choice, "type")? {
            "function" => text(choice, "name")
                .or_else(|| choice.get("function")?.get("name")?.as_str())
                .map(|name| ToolChoice::Specific(name.to_owned())),
            "allowed_tools" => match text(choice, "mode")? {
                "auto" => Some(ToolChoice::Auto),
                "required" => Some(ToolChoice::Required),
                _ => None,
            },
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// Writes a choice.
pub(super) fn encode_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Specific(name) => json!({"type": "function", "name": name}),
    }
}
