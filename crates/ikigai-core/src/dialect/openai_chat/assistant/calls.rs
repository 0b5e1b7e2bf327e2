//! Tool calls in every spelling of the family.

use serde_json::{Map, Value, json};

use super::Said;
use crate::dialect::openai_chat::marks::{
    self, DIALECT, EXTRA_CONTENT, ID_GENERATED, Side, keep, keep_extra, mark, put_back, take_list, take_object,
    take_text,
};
use crate::{Block, Ids, ProviderData, ToolCall};

/// Marks of calls; each only says how the same thing was spelt.
const NO_TYPE: &str = "no_type";
const NO_ID: &str = "no_id";
const NO_ARGUMENTS: &str = "no_arguments";
const ARGUMENTS_OBJECT: &str = "arguments_object";
const FUNCTION_CALL: &str = "function_call";
const CUSTOM: &str = "custom";
/// Entries of `tool_calls` that are no calls of functions, with their places.
const OTHER_CALLS: &str = "other_calls";

/// The older form of a single call.
pub(super) fn function_call(fields: &mut Map<String, Value>, side: Side, ids: &mut Ids, blocks: &mut Vec<Block>) {
    let named = fields
        .get("function_call")
        .and_then(|call| call.get("name"))
        .and_then(Value::as_str)
        .is_some_and(|name| !name.is_empty());
    if !named {
        return;
    }
    let Some(function) = take_object(fields, "function_call") else { return };
    let mut call = ToolCall { id: ids.next_id(), ..ToolCall::default() };
    let mut kept = Map::new();
    mark(&mut kept, FUNCTION_CALL);
    let rest = read_function(function, &mut call, &mut kept);
    keep_extra(&mut kept, rest);
    keep(&mut call.provider_data, side, kept);
    call.provider_data.set(DIALECT, ID_GENERATED, true);
    blocks.push(Block::ToolCall(call));
}

pub(super) fn tool_calls(fields: &mut Map<String, Value>, side: Side, ids: &mut Ids, said: &mut Said) {
    if fields.get("tool_calls").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        return;
    }
    let mut others = Vec::new();
    for (at, call) in take_list(fields, "tool_calls").unwrap_or_default().into_iter().enumerate() {
        match decode_call(call, side, ids) {
            Ok(call) => said.content.push(Block::ToolCall(call)),
            Err(call) => others.push(json!({"at": at, "call": call})),
        }
    }
    if !others.is_empty() {
        said.kept.insert(OTHER_CALLS.to_owned(), Value::Array(others));
    }
}

/// Reads one entry of `tool_calls`; gives it back when it is no call of a function.
fn decode_call(entry: Value, side: Side, ids: &mut Ids) -> Result<ToolCall, Value> {
    let Value::Object(mut fields) = entry else { return Err(entry) };
    let is_custom = fields.get("type").is_some_and(|kind| kind == "custom");
    let inner = if is_custom { "custom" } else { "function" };
    let Some(function) = take_object(&mut fields, inner) else { return Err(Value::Object(fields)) };
    let mut call = ToolCall::default();
    let mut kept = Map::new();
    match take_text(&mut fields, "id") {
        Some(id) if !id.is_empty() => call.id = id,
        empty => {
            call.id = ids.next_id();
            call.provider_data.set(DIALECT, ID_GENERATED, true);
            match empty {
                Some(empty) => {
                    fields.insert("id".to_owned(), Value::String(empty));
                }
                None if !fields.contains_key("id") => mark(&mut kept, NO_ID),
                None => {}
            }
        }
    }
    match fields.get("type").and_then(Value::as_str) {
        Some("function" | "custom") => {
            fields.shift_remove("type");
        }
        _ => mark(&mut kept, NO_TYPE),
    }
    if is_custom {
        mark(&mut kept, CUSTOM);
    }
    if let Some(state) = fields.shift_remove("extra_content") {
        call.provider_data.set(DIALECT, EXTRA_CONTENT, state);
    }
    let rest = if is_custom {
        let mut function = function;
        call.name = take_text(&mut function, "name").unwrap_or_default();
        call.arguments = crate::Arguments::from_text(take_text(&mut function, "input").unwrap_or_default());
        function
    } else {
        read_function(function, &mut call, &mut kept)
    };
    if !rest.is_empty() {
        // Below its own name, to be told from the fields around it.
        fields.insert(inner.to_owned(), Value::Object(rest));
    }
    keep_extra(&mut kept, fields);
    keep(&mut call.provider_data, side, kept);
    Ok(call)
}

/// How a streamed call was spelt.
#[derive(Debug, Clone, Copy)]
pub(in crate::dialect::openai_chat) struct Spelling {
    pub(in crate::dialect::openai_chat) without_id: bool,
    pub(in crate::dialect::openai_chat) without_type: bool,
    pub(in crate::dialect::openai_chat) custom: bool,
    pub(in crate::dialect::openai_chat) older_form: bool,
}

impl Spelling {
    /// What a whole answer would keep about it.
    pub(in crate::dialect::openai_chat) fn marks(self) -> ProviderData {
        let mut data = ProviderData::default();
        let mut kept = Map::new();
        let all = [
            (self.without_id && !self.older_form, NO_ID),
            (self.without_type && !self.older_form, NO_TYPE),
            (self.custom, CUSTOM),
            (self.older_form, FUNCTION_CALL),
        ];
        for (_, name) in all.into_iter().filter(|(is, _)| *is) {
            mark(&mut kept, name);
        }
        keep(&mut data, Side::Response, kept);
        if self.without_id {
            data.set(DIALECT, ID_GENERATED, true);
        }
        data
    }
}

/// Reads name and arguments, and gives what else there is.
fn read_function(
    mut function: Map<String, Value>,
    call: &mut ToolCall,
    kept: &mut Map<String, Value>,
) -> Map<String, Value> {
    call.name = take_text(&mut function, "name").unwrap_or_default();
    match function.get("arguments") {
        Some(Value::String(_)) => {
            call.arguments = crate::Arguments::from_text(take_text(&mut function, "arguments").unwrap_or_default())
        }
        Some(Value::Object(_)) => {
            call.arguments = take_object(&mut function, "arguments").unwrap_or_default().into();
            mark(kept, ARGUMENTS_OBJECT);
        }
        // Null, or not at all: no arguments. A null stays with the rest.
        _ => mark(kept, NO_ARGUMENTS),
    }
    function
}

/// Writes the calls of a message, as they came.
pub(super) fn put_calls(
    fields: &mut Map<String, Value>,
    content: &[Block],
    kept: Option<&Map<String, Value>>,
    side: Side,
) {
    let mut calls = Vec::new();
    for call in content.iter().filter_map(Block::as_tool_call) {
        if marks::marked(&call.provider_data, side, FUNCTION_CALL) {
            let mut function = function_fields(call, side);
            put_back(&mut function, marks::extra(&call.provider_data, side));
            fields.insert("function_call".to_owned(), Value::Object(function));
        } else {
            calls.push(Value::Object(call_fields(call, side, call.id.clone())));
        }
    }
    for other in kept.and_then(|kept| kept.get(OTHER_CALLS)?.as_array()).into_iter().flatten() {
        let at = other.get("at").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok()).unwrap_or(calls.len());
        if let Some(call) = other.get("call") {
            calls.insert(at.min(calls.len()), call.clone());
        }
    }
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
}

/// One entry of `tool_calls`, with the provider's own state.
pub(in crate::dialect::openai_chat) fn call_fields(call: &ToolCall, side: Side, id: String) -> Map<String, Value> {
    let data = &call.provider_data;
    let extra = marks::extra(data, side);
    let is_custom = marks::marked(data, side, CUSTOM);
    let (kind, mut function) = if is_custom {
        let mut custom = Map::new();
        custom.insert("name".to_owned(), call.name.as_str().into());
        custom.insert("input".to_owned(), call.arguments.text().to_owned().into());
        ("custom", custom)
    } else {
        ("function", function_fields(call, side))
    };
    put_back(&mut function, extra.and_then(|extra| extra.get(kind)?.as_object()));
    let mut fields = Map::new();
    // The provider gave none, or an empty one, and is given that again.
    let unnamed = data.flag(DIALECT, ID_GENERATED)
        && (marks::marked(data, side, NO_ID) || extra.is_some_and(|extra| extra.contains_key("id")));
    if !unnamed {
        fields.insert("id".to_owned(), id.into());
    }
    if !marks::marked(data, side, NO_TYPE) {
        fields.insert("type".to_owned(), kind.into());
    }
    fields.insert(kind.to_owned(), Value::Object(function));
    if let Some(state) = call_state(data) {
        fields.insert("extra_content".to_owned(), state.clone());
    }
    put_back(&mut fields, extra);
    fields
}

fn function_fields(call: &ToolCall, side: Side) -> Map<String, Value> {
    let mut function = Map::new();
    function.insert("name".to_owned(), call.name.as_str().into());
    let data = &call.provider_data;
    let untouched = call.arguments.is_complete() && !call.arguments.text().trim().is_empty();
    if untouched && call.arguments.is_empty() && marks::marked(data, side, NO_ARGUMENTS) {
        return function;
    }
    if untouched && marks::marked(data, side, ARGUMENTS_OBJECT) {
        function.insert("arguments".to_owned(), Value::Object(call.arguments.object().clone()));
    } else {
        function.insert("arguments".to_owned(), call.arguments.text().to_owned().into());
    }
    function
}

/// The state that a call brings along, for its provider.
pub(in crate::dialect::openai_chat) fn call_state(data: &ProviderData) -> Option<&Value> {
    data.value(DIALECT, EXTRA_CONTENT)
}
