//! Tools and the choice among them.

use serde_json::{Map, Value, json};

use crate::{Error, Function, Loss, Other, ProviderData, Tool, ToolChoice};

use super::super::DIALECT;
use super::super::block::{Own, put_back};
use super::super::place::Place;
use super::super::schema::{self, Count};
use super::decode::refusal;
use super::encode::Writer;

/// Limits of one request.
const MOST_STRICT: usize = 20;
const MOST_OPTIONAL: usize = 24;
const MOST_UNIONS: usize = 16;

/// The schema of a tool that takes nothing.
pub(super) fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

/// Reads a tool: a function, or one of the dialect's own kinds.
pub(super) fn read_tool(index: usize, value: Value) -> Result<Tool, Error> {
    let place = Place::Tool(index);
    let Value::Object(fields) = value else { return Err(refusal(&place.to_string(), "an object")) };
    let kind = fields.get("type").filter(|kind| !kind.is_null());
    if kind.is_some_and(|kind| kind != "custom") {
        return Ok(Tool::other(Other { dialect: DIALECT, data: Value::Object(fields).into() }));
    }
    if !fields.get("name").is_some_and(Value::is_string) {
        return Err(refusal(&format!("{place}.name"), "the tool's name"));
    }
    let mut function = Function {
        name: String::new(),
        description: None,
        parameters: Value::Null.into(),
        // Without the word the API does not hold the model to the schema.
        strict: false,
        cache: None,
        provider_data: ProviderData::default(),
    };
    let (mut own, mut has_schema) = (Own::default(), false);
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("name", Value::String(name)) => function.name = name,
            ("description", Value::String(text)) => function.description = Some(text),
            ("input_schema", schema) => {
                has_schema = true;
                function.parameters = schema.into();
            }
            ("strict", Value::Bool(true)) => function.strict = true,
            ("cache_control", value) if !value.is_null() => function.cache = own.cache(value),
            (_, value) => own.extra(key, value),
        }
    }
    if !has_schema {
        function.parameters = no_parameters().into();
        own.set("no_schema", true);
    }
    function.provider_data = own.into_data();
    Ok(Tool::Function(function))
}

/// Reads a `tool_choice`; none when its kind is unknown.
pub(super) fn read_choice(value: &Value) -> Option<(ToolChoice, Option<bool>)> {
    let fields = value.as_object()?;
    let choice = match fields.get("type")?.as_str()? {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "any" => ToolChoice::Required,
        "tool" => ToolChoice::Specific(fields.get("name")?.as_str()?.to_owned()),
        _ => return None,
    };
    let parallel = fields.get("disable_parallel_tool_use").and_then(Value::as_bool).map(|disable| !disable);
    Some((choice, parallel))
}

/// Writes a `tool_choice`. Several calls at once are the API's default.
pub(super) fn write_choice(choice: &ToolChoice, parallel: Option<bool>) -> Value {
    let mut fields = Map::new();
    let word = match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::None => "none",
        ToolChoice::Required => "any",
        ToolChoice::Specific(_) => "tool",
    };
    fields.insert("type".to_owned(), word.into());
    if let ToolChoice::Specific(name) = choice {
        fields.insert("name".to_owned(), name.as_str().into());
    }
    if parallel == Some(false) && *choice != ToolChoice::None {
        fields.insert("disable_parallel_tool_use".to_owned(), true.into());
    }
    Value::Object(fields)
}

impl Writer<'_> {
    /// The tools of the request, in order.
    pub(super) fn tools(&mut self) -> Vec<Value> {
        let request = self.request;
        let mut strict = Strict::default();
        let mut wire = Vec::with_capacity(request.tools.len());
        for (index, tool) in request.tools.iter().enumerate() {
            match tool {
                Tool::Function(function) => wire.push(self.function(index, function, &mut strict)),
                Tool::Other(tool) if tool.other.dialect == DIALECT => wire.push(tool.other.data.clone().into()),
                Tool::Other(tool) => {
                    let why = format!("a tool of {}, which has no meaning here; it is left out", tool.other.dialect);
                    self.lose("tool", Place::Tool(index), why);
                }
            }
        }
        wire
    }

    fn function(&mut self, index: usize, function: &Function, strict: &mut Strict) -> Value {
        let place = Place::Tool(index);
        let own = function.provider_data.get(DIALECT);
        let mut fields = Map::new();
        fields.insert("name".to_owned(), self.tool_name(&function.name, place).into());
        if let Some(description) = &function.description {
            fields.insert("description".to_owned(), description.as_str().into());
        }
        let was_absent = self.faithful
            && own.is_some_and(|own| own.contains_key("no_schema"))
            && function.parameters == no_parameters();
        if !was_absent {
            fields.insert("input_schema".to_owned(), self.input_schema(place, function.parameters.value()));
        }
        if function.strict && (self.faithful || self.may_be_strict(place, function.parameters.value(), strict)) {
            fields.insert("strict".to_owned(), true.into());
        }
        if let Some(cache) = self.hints.at(place, function.cache.as_ref()) {
            fields.insert("cache_control".to_owned(), cache);
        }
        put_back(&mut fields, own);
        self.note_foreign_fields(&function.provider_data, place);
        Value::Object(fields)
    }

    /// The API wants an object at the root, and the word for it.
    fn input_schema(&mut self, place: Place, schema: &Value) -> Value {
        if self.faithful {
            return schema.clone();
        }
        match schema {
            Value::Object(fields) if fields.contains_key("type") => schema.clone(),
            Value::Object(fields) => {
                let mut whole = Map::new();
                whole.insert("type".to_owned(), "object".into());
                whole.extend(fields.clone());
                self.note("tool.parameters", place, "the schema's root has no type; `object` is added");
                Value::Object(whole)
            }
            _ => {
                self.lose("tool.parameters", place, "the schema is no object; the tool is sent without parameters");
                no_parameters()
            }
        }
    }

    /// A strict tool whose schema does not fit is refused together with the whole request.
    fn may_be_strict(&mut self, place: Place, schema: &Value, strict: &mut Strict) -> bool {
        let fault = match schema::fits(schema) {
            _ if !self.target.rules.strict_tools => Some("the model does not know strict tools".to_owned()),
            Err(fault) => Some(fault),
            Ok(count) => strict.take(count),
        };
        if let Some(fault) = &fault {
            self.lose("strict", place, format!("{fault}; the tool is sent without it"));
        }
        fault.is_none()
    }

    /// A tool's name as it goes on the wire, the same everywhere in the request.
    pub(super) fn tool_name(&mut self, name: &str, place: Place) -> String {
        if self.faithful {
            return name.to_owned();
        }
        let known = self.names.knows(name);
        let wire = self.names.word(name).into_owned();
        if wire != name && !known {
            let why = format!("this API's names have up to 64 letters, digits, _ and -; `{name}` is sent as `{wire}`");
            self.lose("tool.name", place, why);
        }
        wire
    }

    /// The `tool_choice`, where one is needed. `has_tools`: are there tools on the wire?
    pub(super) fn tool_choice(&mut self, has_tools: bool) -> Option<Value> {
        let request = self.request;
        let (choice, parallel) = (request.tool_choice.as_ref(), request.parallel_tool_calls);
        if self.faithful {
            if let Some(raw) = self.raw("tool_choice")
                && read_choice(raw).is_some_and(|read| (Some(&read.0), read.1) == (choice, parallel))
            {
                return Some(raw.clone());
            }
        } else if !has_tools {
            if matches!(choice, Some(ToolChoice::Required | ToolChoice::Specific(_))) {
                self.losses.push(Loss::uncoded("tool_choice", "tool_choice", "there are no tools; it is left out"));
            }
            return None;
        }
        if parallel == Some(false) && choice == Some(&ToolChoice::None) {
            let why = "no tool is called at all, so this says nothing more";
            self.losses.push(Loss::uncoded_info("parallel_tool_calls", "parallel_tool_calls", why));
        }
        match choice {
            None if parallel == Some(false) => Some(write_choice(&ToolChoice::Auto, parallel)),
            None => None,
            Some(ToolChoice::Specific(name)) if !self.faithful => {
                let name = self.names.word(name).into_owned();
                Some(write_choice(&ToolChoice::Specific(name), parallel))
            }
            Some(choice) => Some(write_choice(choice, parallel)),
        }
    }
}

/// What the strict tools of a request have used up so far.
#[derive(Debug, Default)]
struct Strict {
    tools: usize,
    count: Count,
}

impl Strict {
    /// Takes one more tool in, or says which limit it would pass.
    fn take(&mut self, more: Count) -> Option<String> {
        let (optional, unions) = (self.count.optional + more.optional, self.count.unions + more.unions);
        if self.tools >= MOST_STRICT {
            return Some(format!("a request can have {MOST_STRICT} strict tools"));
        }
        if optional > MOST_OPTIONAL {
            return Some(format!("strict tools can have {MOST_OPTIONAL} optional parameters in all"));
        }
        if unions > MOST_UNIONS {
            return Some(format!("strict tools can have {MOST_UNIONS} parameters with several types in all"));
        }
        self.tools += 1;
        self.count = Count { optional, unions };
        None
    }
}
