//! Tools and the choice among them.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::json::wire::Raw;
use crate::{Error, Fields, Function, Json, Loss, Other, ProviderData, Tool, ToolChoice};

use super::super::block::put_back;
use super::super::content::Kept;
use super::super::{DIALECT, wire};
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
                && read_choice(&Raw::from(raw)).is_some_and(|read| (Some(&read.0), read.1) == (choice, parallel))
            {
                return Some(raw.value().clone());
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
            None if parallel == Some(false) => Some(write_choice(&ToolChoice::Auto, parallel).to_json().into()),
            None => None,
            Some(ToolChoice::Specific(name)) if !self.faithful => {
                let name = self.names.word(name).into_owned();
                Some(write_choice(&ToolChoice::Specific(name), parallel).to_json().into())
            }
            Some(choice) => Some(write_choice(choice, parallel).to_json().into()),
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
