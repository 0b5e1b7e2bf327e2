//! Tools and tool choice, both ways.

use serde_json::{Map, Value, json};

use super::mark;
use crate::dialect::openai_chat::marks::{
    self, DIALECT, Side, mark as set_mark, put_back, take_list, take_object, take_text,
};
use crate::dialect::openai_chat::part::{cache_hint, put_back_with_cache};
use crate::{Function, Other, ProviderData, Request, Tool, ToolChoice};

const NO_TYPE: &str = "no_type";
const NO_PARAMETERS: &str = "no_parameters";
const NO_STRICT: &str = "no_strict";
/// Further fields of the inner `function` object.
const INNER: &str = "function";

/// Reads tools, the choice among them, and whether several may be called at once.
pub(super) fn decode(body: &mut Map<String, Value>, request: &mut Request, own: &mut Map<String, Value>) {
    let has = |body: &Map<String, Value>, key: &str| {
        body.get(key).and_then(Value::as_array).is_some_and(|list| !list.is_empty())
    };
    if has(body, "tools") {
        let tools = take_list(body, "tools").unwrap_or_default();
        request.tools.extend(tools.into_iter().map(decode_tool));
    } else if has(body, "functions") {
        let functions = take_list(body, "functions").unwrap_or_default();
        request.tools.extend(functions.into_iter().map(|function| match function {
            Value::Object(fields) if fields.get("name").is_some_and(Value::is_string) => {
                decode_function(fields, Map::new())
            }
            other => Tool::other(Other { dialect: DIALECT, data: other.into() }),
        }));
        own.insert(mark::FUNCTIONS.to_owned(), true.into());
    }
    for key in ["tool_choice", "function_call"] {
        let Some(choice) = body.get(key).and_then(read_choice) else { continue };
        let raw = body.shift_remove(key).unwrap_or_default();
        if key == "function_call" || raw != write_choice(&choice) {
            own.insert(mark::TOOL_CHOICE.to_owned(), json!({key: raw}));
        }
        request.tool_choice = Some(choice);
        break;
    }
    if let Some(parallel) = body.get("parallel_tool_calls").and_then(Value::as_bool) {
        body.shift_remove("parallel_tool_calls");
        request.parallel_tool_calls = Some(parallel);
    }
}

fn decode_tool(tool: Value) -> Tool {
    let Value::Object(mut fields) = tool else { return Tool::other(Other { dialect: DIALECT, data: tool.into() }) };
    let is_function = fields.get("type").is_none_or(|kind| kind == "function");
    let has_name = fields.get("function").and_then(|function| function.get("name")).is_some_and(Value::is_string);
    if !is_function || !has_name {
        return Tool::other(Other { dialect: DIALECT, data: Value::Object(fields).into() });
    }
    let function = take_object(&mut fields, "function").unwrap_or_default();
    let mut kept = Map::new();
    if fields.shift_remove("type").is_none() {
        set_mark(&mut kept, NO_TYPE);
    }
    let mut tool = decode_function(function, kept);
    if let Tool::Function(function) = &mut tool
        && !fields.is_empty()
    {
        function.cache = cache_hint(&fields);
        function.provider_data.set(DIALECT, marks::EXTRA, fields);
    }
    tool
}

fn decode_function(mut fields: Map<String, Value>, mut kept: Map<String, Value>) -> Tool {
    let name = take_text(&mut fields, "name").unwrap_or_default();
    let description = take_text(&mut fields, "description");
    let parameters = match fields.get("parameters") {
        Some(Value::Null) | None => {
            // A null stays with the rest.
            set_mark(&mut kept, NO_PARAMETERS);
            no_parameters()
        }
        Some(_) => fields.shift_remove("parameters").unwrap_or_default(),
    };
    let strict = match fields.get("strict").and_then(Value::as_bool) {
        Some(strict) => {
            fields.shift_remove("strict");
            strict
        }
        // This API is lenient unless told otherwise.
        None => {
            set_mark(&mut kept, NO_STRICT);
            false
        }
    };
    if !fields.is_empty() {
        kept.insert(INNER.to_owned(), Value::Object(fields));
    }
    let mut provider_data = ProviderData::default();
    provider_data.extend(DIALECT, kept);
    Tool::Function(Function { name, description, parameters: parameters.into(), strict, cache: None, provider_data })
}

fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

/// Writes a tool as it came.
pub(super) fn encode_as_it_came(tool: &Tool, as_function: bool) -> Option<Value> {
    match tool {
        Tool::Function(function) => {
            let strict = (function.strict || !is_marked(function, NO_STRICT)).then_some(function.strict);
            let inner = encode_function(function, function.parameters.clone().into(), strict);
            Some(if as_function { Value::Object(inner) } else { wrap(function, inner) })
        }
        Tool::Other(tool) if tool.other.dialect == DIALECT => Some(tool.other.data.clone().into()),
        Tool::Other(_) => None,
    }
}

/// The inner object of a function, with the schema and the strictness that the caller decided on.
pub(super) fn encode_function(function: &Function, parameters: Value, strict: Option<bool>) -> Map<String, Value> {
    let mut inner = Map::new();
    inner.insert("name".to_owned(), function.name.as_str().into());
    if let Some(description) = &function.description {
        inner.insert("description".to_owned(), description.as_str().into());
    }
    if !(is_marked(function, NO_PARAMETERS) && parameters == no_parameters()) {
        inner.insert("parameters".to_owned(), parameters);
    }
    if let Some(strict) = strict {
        inner.insert("strict".to_owned(), strict.into());
    }
    put_back(&mut inner, function.provider_data.value(DIALECT, INNER).and_then(Value::as_object));
    inner
}

/// The whole tool around its function.
pub(super) fn wrap(function: &Function, inner: Map<String, Value>) -> Value {
    let mut tool = Map::new();
    if !is_marked(function, NO_TYPE) {
        tool.insert("type".to_owned(), "function".into());
    }
    tool.insert("function".to_owned(), Value::Object(inner));
    put_back_with_cache(&mut tool, marks::extra(&function.provider_data, Side::Request), function.cache.as_ref());
    Value::Object(tool)
}

fn is_marked(function: &Function, mark: &str) -> bool {
    function.provider_data.flag(DIALECT, mark)
}

/// Reads a tool choice in any spelling of the family. None for what only its provider knows.
pub(super) fn read_choice(raw: &Value) -> Option<ToolChoice> {
    match raw {
        Value::String(word) => by_word(word),
        Value::Object(fields) => {
            let name = fields
                .get("function")
                .and_then(|function| function.get("name"))
                .or_else(|| fields.get("name"))
                .and_then(Value::as_str);
            if let Some(name) = name {
                return Some(ToolChoice::Specific(name.to_owned()));
            }
            let kind = fields.get("type")?.as_str()?;
            match kind {
                // A choice among some of the tools: the rest of it stays with the raw form.
                "allowed_tools" => by_word(fields.get("allowed_tools")?.get("mode")?.as_str()?),
                _ => by_word(kind),
            }
        }
        _ => None,
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

/// A tool choice as OpenAI spells it.
pub(super) fn write_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Specific(name) => json!({"type": "function", "function": {"name": name}}),
    }
}
