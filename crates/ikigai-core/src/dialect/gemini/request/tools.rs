//! Tools and the choice among them.
//!
//! The wire groups functions: `tools` is a list of entries, each with `functionDeclarations` and perhaps hosted tools.
//! How they were grouped is noted in a layout, and holds as long as the tools are the same in kind and number.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::fields::{self, Fields};
use super::super::schema;
use super::decode::refuse;
use crate::{Dialect, Error, Function, Loss, Other, OtherTool, ProviderData, Request, Target, Tool, ToolChoice};

/// How the tools were grouped, where not as we would.
const LAYOUT: &str = "tool_layout";
/// `tools` was one object in place of a list.
const SINGLE: &str = "single_tools";
/// `functionCallingConfig` as it was written.
const CALLING: &str = "function_calling_config";
/// The field of a function that held its schema.
pub(super) const SCHEMA_FIELD: &str = "schema_field";
/// The schema as it was written, where the format's is another.
pub(super) const SCHEMA: &str = "schema";

const DECLARATIONS: &str = "functionDeclarations";
const JSON_SCHEMA: &str = "parametersJsonSchema";
const OPENAPI: &str = "parameters";

/// One entry of `tools`.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// How many functions it declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    functions: Option<usize>,
    /// It has a tool of this dialect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    other: bool,
    /// `function_declarations`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    snake: bool,
    /// Fields that hold nothing.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    extra: Map<String, Value>,
}

pub(super) fn decode(fields: &mut Fields, request: &mut Request, data: &mut ProviderData) -> Result<(), Error> {
    let mut validated = false;
    if let Some(mut config) = fields.take_object("toolConfig") {
        if let Some(Value::Object(calling)) = config.get("functionCallingConfig").cloned() {
            config.take("functionCallingConfig");
            request.tool_choice = Some(choice(&calling));
            validated = mode(&calling) == "VALIDATED";
            // A choice among several is told to nobody but us: others say that they left it out.
            if fields::find(&calling, "allowedFunctionNames")
                .and_then(Value::as_array)
                .is_some_and(|names| names.len() > 1)
            {
                config.leave("functionCallingConfig", json!({"allowedFunctionNames": true}));
            }
            data.set(Dialect::Gemini, CALLING, calling);
        } else if config.is_empty() {
            fields.leave("toolConfig", json!({}));
        }
        fields.close("toolConfig", config);
    }
    let entries = match fields.get("tools") {
        Some(Value::Array(_)) => match fields.take("tools") {
            Some(Value::Array(entries)) => entries,
            _ => return Ok(()),
        },
        Some(Value::Object(_)) => {
            data.set(Dialect::Gemini, SINGLE, true);
            fields.take("tools").into_iter().collect()
        }
        None => return Ok(()),
        Some(_) => return Err(refuse("tools", "must be a list of tools")),
    };
    if entries.is_empty() {
        fields.leave("tools", json!([]));
    }
    let mut layout = Vec::with_capacity(entries.len());
    for (index, entry) in entries.into_iter().enumerate() {
        let place = format!("tools[{index}]");
        let Value::Object(entry) = entry else { return Err(refuse(&place, "must be an object")) };
        layout.push(read_entry(entry, &place, validated, request)?);
    }
    if layout != usual_layout(&request.tools)
        && let Ok(layout) = serde_json::to_value(layout)
    {
        data.set(Dialect::Gemini, LAYOUT, layout);
    }
    Ok(())
}

fn read_entry(entry: Map<String, Value>, place: &str, strict: bool, request: &mut Request) -> Result<Entry, Error> {
    let snake = !entry.contains_key(DECLARATIONS);
    let mut entry = Fields::new(entry);
    let mut read = Entry::default();
    match entry.get(DECLARATIONS) {
        Some(Value::Array(_)) => {
            let Some(Value::Array(declarations)) = entry.take(DECLARATIONS) else { return Ok(read) };
            read.functions = Some(declarations.len());
            read.snake = snake;
            for (index, declaration) in declarations.into_iter().enumerate() {
                let place = format!("{place}.{DECLARATIONS}[{index}]");
                request.tools.push(Tool::Function(function(declaration, &place, strict)?));
            }
        }
        None => {}
        Some(_) => return Err(refuse(&format!("{place}.{DECLARATIONS}"), "must be a list")),
    }
    let (nothing, hosted): (Map<_, _>, Map<_, _>) =
        entry.into_rest().into_iter().partition(|(_, value)| value.is_null());
    if !hosted.is_empty() || (read.functions.is_none() && nothing.is_empty()) {
        read.other = true;
        request.tools.push(Tool::other(Other { dialect: Dialect::Gemini, data: hosted.into() }));
    }
    read.extra = nothing;
    Ok(read)
}

/// The functions in one entry where the first of them stands, every other tool in an entry of its own.
fn usual_layout(tools: &[Tool]) -> Vec<Entry> {
    let functions = tools.iter().filter(|tool| tool.as_function().is_some()).count();
    let mut layout = Vec::new();
    let mut declared = false;
    for tool in tools {
        match tool {
            Tool::Function(_) if declared => {}
            Tool::Function(_) => {
                declared = true;
                layout.push(Entry { functions: Some(functions), ..Entry::default() });
            }
            Tool::Other(_) => layout.push(Entry { other: true, ..Entry::default() }),
        }
    }
    layout
}

fn function(declaration: Value, place: &str, strict: bool) -> Result<Function, Error> {
    let Value::Object(declaration) = declaration else { return Err(refuse(place, "must be an object")) };
    let mut fields = Fields::new(declaration);
    let mut data = ProviderData::default();
    let Some(name) = fields.take_text("name") else { return Err(refuse(&format!("{place}.name"), "must be a string")) };
    let description = fields.take_text("description");
    let field = [JSON_SCHEMA, OPENAPI].into_iter().find(|field| fields.has(field));
    let mut parameters = json!({"type": "object", "properties": {}});
    if let Some(field) = field
        && let Some(written) = fields.take(field)
    {
        data.set(Dialect::Gemini, SCHEMA_FIELD, field);
        parameters = written;
        if field == OPENAPI {
            let raised = schema::raise(parameters.clone());
            if raised != parameters {
                data.set(Dialect::Gemini, SCHEMA, parameters);
            }
            parameters = raised;
        }
    }
    fields.keep(&mut data);
    Ok(Function { name, description, parameters: parameters.into(), strict, cache: None, provider_data: data })
}

fn mode(calling: &Map<String, Value>) -> String {
    fields::find(calling, "mode").and_then(Value::as_str).unwrap_or_default().to_ascii_uppercase()
}

/// `VALIDATED` holds the model to the schemas, which is for the tools to say; the choice stays the model's.
fn choice(calling: &Map<String, Value>) -> ToolChoice {
    let names = fields::find(calling, "allowedFunctionNames").and_then(Value::as_array);
    match (mode(calling).as_str(), names.map(Vec::as_slice)) {
        ("NONE", _) => ToolChoice::None,
        ("ANY", Some([Value::String(name)])) => ToolChoice::Specific(name.clone()),
        ("ANY", _) => ToolChoice::Required,
        _ => ToolChoice::Auto,
    }
}

/// What the request says about tools, on the wire.
pub(super) struct Encoded {
    pub(super) tools: Option<Value>,
    pub(super) config: Option<Map<String, Value>>,
}

pub(super) fn encode(request: &Request, target: &Target<'_>, faithful: bool, losses: &mut Vec<Loss>) -> Encoded {
    let data = &request.provider_data;
    let mut functions = Vec::new();
    let mut others = Vec::new();
    for (index, tool) in request.tools.iter().enumerate() {
        let place = format!("tools[{index}]");
        match tool {
            Tool::Function(function) => functions.push(declaration(function, target, faithful, &place, losses)),
            Tool::Other(OtherTool { other, .. }) if other.dialect == Dialect::Gemini => others.push(other.data.clone()),
            Tool::Other(OtherTool { other, .. }) => {
                let why = format!("it is a tool of {} alone and was left out", other.dialect);
                losses.push(Loss::uncoded("tool", place, why));
            }
        }
    }
    let calling = calling(request, faithful, losses);
    let validated = calling.as_ref().is_some_and(|calling| mode(calling) == "VALIDATED");
    let strict = request.tools.iter().filter_map(Tool::as_function).any(|function| function.strict);
    if !faithful && strict && !validated {
        let why = "the API has no strict tools; it follows the schemas, but does not promise to";
        losses.push(Loss::uncoded_info("strict", "tools", why));
    }
    let kept = data.value(Dialect::Gemini, LAYOUT).filter(|_| faithful);
    let layout = kept.and_then(|layout| Vec::<Entry>::deserialize(layout).ok());
    let fits = |layout: &Vec<Entry>| {
        let declared: usize = layout.iter().filter_map(|entry| entry.functions).sum();
        declared == functions.len() && layout.iter().filter(|entry| entry.other).count() == others.len()
    };
    let layout = layout.filter(fits).unwrap_or_else(|| {
        let own: Vec<Tool> = request.tools.iter().filter(|tool| is_ours(tool)).cloned().collect();
        usual_layout(&own)
    });
    let (mut functions, mut others) = (functions.into_iter(), others.into_iter().map(Value::from));
    let mut entries: Vec<Value> = layout.into_iter().map(|entry| entry.build(&mut functions, &mut others)).collect();
    let tools = if data.flag(Dialect::Gemini, SINGLE) && faithful && entries.len() == 1 {
        entries.pop()
    } else {
        (!entries.is_empty()).then_some(Value::Array(entries))
    };
    let config = calling.map(|calling| Map::from_iter([("functionCallingConfig".to_owned(), calling.into())]));
    Encoded { tools, config }
}

fn is_ours(tool: &Tool) -> bool {
    match tool {
        Tool::Function(_) => true,
        Tool::Other(OtherTool { other, .. }) => other.dialect == Dialect::Gemini,
    }
}

impl Entry {
    fn build(self, functions: &mut impl Iterator<Item = Value>, others: &mut impl Iterator<Item = Value>) -> Value {
        let mut entry = Map::new();
        if let Some(count) = self.functions {
            let declared: Vec<Value> = functions.by_ref().take(count).collect();
            let name = if self.snake { "function_declarations" } else { DECLARATIONS };
            entry.insert(name.to_owned(), declared.into());
        }
        if self.other {
            match others.next() {
                Some(Value::Object(hosted)) => entry.extend(hosted),
                // Not an object: nothing that could stand beside functions.
                Some(hosted) if entry.is_empty() => return hosted,
                _ => {}
            }
        }
        for (name, value) in self.extra {
            entry.entry(name).or_insert(value);
        }
        Value::Object(entry)
    }
}

fn declaration(function: &Function, target: &Target<'_>, faithful: bool, place: &str, losses: &mut Vec<Loss>) -> Value {
    let data = &function.provider_data;
    let mut declaration = Map::new();
    declaration.insert("name".to_owned(), function.name.as_str().into());
    if let Some(description) = &function.description {
        declaration.insert("description".to_owned(), description.as_str().into());
    }
    let written = data.str(Dialect::Gemini, SCHEMA_FIELD).filter(|_| faithful);
    let schema_place = format!("{place}.parameters");
    match written {
        Some(field @ OPENAPI) => {
            let kept = data.value(Dialect::Gemini, SCHEMA);
            declaration
                .insert(field.to_owned(), schema::rewritten(function.parameters.value(), kept, &schema_place, losses));
        }
        Some(field) => {
            declaration.insert(field.to_owned(), function.parameters.clone().into());
        }
        // The API refuses an object without properties in one field, and needs none in the other.
        None if !schema::has_properties(function.parameters.value()) => {}
        None if target.rules.json_schema_parameters && !target.quirks.gemini.openapi_schemas => {
            declaration.insert(JSON_SCHEMA.to_owned(), function.parameters.clone().into());
        }
        None => {
            declaration.insert(OPENAPI.to_owned(), schema::lower(function.parameters.value(), &schema_place, losses));
        }
    }
    fields::put_back_all(&mut declaration, data, &[]);
    if faithful {
        fields::respell(&mut declaration, data);
    }
    super::history::foreign_leftovers(data, place, losses);
    Value::Object(declaration)
}

fn calling(request: &Request, faithful: bool, losses: &mut Vec<Loss>) -> Option<Map<String, Value>> {
    if request.parallel_tool_calls == Some(false) {
        let why = "the API cannot be told to call one tool at a time; the model may call several";
        losses.push(Loss::uncoded("parallel_tool_calls", "parallel_tool_calls", why));
    }
    let kept = request.provider_data.value(Dialect::Gemini, CALLING).and_then(Value::as_object);
    if let Some(kept) = kept
        && request.tool_choice.as_ref() == Some(&choice(kept))
        && (faithful || names_exist(kept, &request.tools))
    {
        return Some(kept.clone());
    }
    let mut calling = Map::new();
    let mode = match request.tool_choice.as_ref()? {
        ToolChoice::Auto => return None,
        ToolChoice::None => "NONE",
        ToolChoice::Required | ToolChoice::Specific(_) => "ANY",
    };
    // Without functions there is nothing to choose from, and the API refuses the wish.
    if request.tools.iter().all(|tool| tool.as_function().is_none()) {
        let why = match mode {
            "ANY" => "the request has no functions to choose from",
            _ if request.tools.is_empty() => return None,
            _ => "the choice is about functions alone; the provider's own tools stay in use",
        };
        losses.push(Loss::uncoded("tool_choice", "tool_choice", why));
        return None;
    }
    calling.insert("mode".to_owned(), mode.into());
    if let Some(ToolChoice::Specific(name)) = &request.tool_choice {
        calling.insert("allowedFunctionNames".to_owned(), json!([name]));
    }
    Some(calling)
}

/// Are the functions that the choice names still there?
fn names_exist(calling: &Map<String, Value>, tools: &[Tool]) -> bool {
    let names = fields::find(calling, "allowedFunctionNames").and_then(Value::as_array);
    names.into_iter().flatten().all(|name| tools.iter().any(|tool| tool.name() == name.as_str()))
}
