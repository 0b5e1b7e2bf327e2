//! A request from elsewhere, fitted to what its target takes: everything but the messages.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::tools;
use crate::dialect::openai_chat::marks::{DIALECT, put_back};
use crate::dialect::openai_chat::thinking as wire;
use crate::dialect::{Target, strict};
use crate::thinking::{Plan, Setting, plan};
use crate::{
    Error, ForcedTools, Function, JsonSchemaFormat, Loss, OutputFormat, ReasoningRequest, Request, RequiredChoice,
    Rules, Sampling, Thinking, ThinkingOff, Tool, ToolChoice, ToolsInChat,
};

/// What the request becomes, apart from its messages.
#[derive(Debug)]
pub(super) struct Fit {
    /// The body's fields.
    pub(super) fields: Map<String, Value>,
    /// Will the model think?
    pub(super) thinks: bool,
    /// What must be said in the system prompt, because there is no field for it.
    pub(super) note: Option<String>,
}

impl Fit {
    pub(super) fn new(request: &Request, target: &Target<'_>, losses: &mut Vec<Loss>) -> Result<Self, Error> {
        let rules = match target.facts {
            Some(facts) => target.rules.with_facts(facts),
            None => Cow::Borrowed(target.rules),
        };
        let mut fit = Fitting { request, target, rules: &rules, losses };
        let mut plan = fit.plan();
        let offered = fit.offered();
        let choice = fit.choice(&offered, &mut plan)?;
        let rule = rules.thinking.in_chat();
        let thinks = plan.thinks(&rule);

        let mut fields = Map::new();
        fit.sampling(thinks, &mut fields);
        fit.stop(&mut fields);
        fit.tools(&offered, choice, &mut fields);
        let note = fit.output_format(!offered.is_empty(), &mut fields);
        let losses = fit.losses;
        losses.append(&mut plan.losses);
        let asked = request.thinking.clone().unwrap_or_else(unsaid);
        fields.extend(wire::encode(&plan, &asked, &rule, target.quirks.chat.reasoning_request, losses));
        Ok(Fit { fields, thinks, note })
    }

    /// Only the fields about thinking, for a request that otherwise goes out as it came.
    pub(super) fn thinking_only(request: &Request, target: &Target<'_>, losses: &mut Vec<Loss>) -> Map<String, Value> {
        let mut fit = Fitting { request, target, rules: target.rules, losses };
        let mut plan = fit.plan();
        losses.append(&mut plan.losses);
        let asked = request.thinking.clone().unwrap_or_else(unsaid);
        wire::encode(&plan, &asked, &target.rules.thinking.in_chat(), target.quirks.chat.reasoning_request, losses)
    }
}

fn unsaid() -> Thinking {
    Thinking { level: None, budget: None, include_summary: true }
}

struct Fitting<'a> {
    request: &'a Request,
    target: &'a Target<'a>,
    rules: &'a Rules,
    losses: &'a mut Vec<Loss>,
}

impl<'a> Fitting<'a> {
    fn plan(&mut self) -> Plan {
        let longest = self.target.facts.and_then(|facts| facts.max_output).or(self.rules.max_output);
        match &self.request.thinking {
            Some(thinking) => plan(thinking, &self.rules.thinking.in_chat(), longest),
            None => Plan { setting: Setting::Unsaid, losses: Vec::new() },
        }
    }

    /// The tools that can be offered here, with their places.
    fn offered(&mut self) -> Vec<(usize, Offered<'a>)> {
        let request: &'a Request = self.request;
        let mut offered = Vec::new();
        for (index, tool) in request.tools.iter().enumerate() {
            match tool {
                Tool::Function(function) => offered.push((index, Offered::Function(function))),
                Tool::Other(own) if own.other.dialect == DIALECT => {
                    offered.push((index, Offered::Own(&own.other.data)));
                }
                Tool::Other(_) => self.losses.push(foreign_tool(index, tool)),
            }
        }
        offered
    }

    /// The tool choice that goes out. A forced tool may cost the thinking, or the thinking the forced tool.
    fn choice(&mut self, offered: &[(usize, Offered<'_>)], plan: &mut Plan) -> Result<Option<ToolChoice>, Error> {
        let rule = self.rules.thinking.in_chat();
        if offered.is_empty() {
            if matches!(self.request.tool_choice, Some(ToolChoice::Required | ToolChoice::Specific(_))) {
                self.lose("tool_choice", "tool_choice", "there are no tools to choose from; it is left out");
            }
            return Ok(None);
        }
        let mut choice = self.request.tool_choice.clone();
        let forced =
            |choice: &Option<ToolChoice>| matches!(choice, Some(ToolChoice::Required | ToolChoice::Specific(_)));
        if forced(&choice) {
            match self.rules.forced_tools {
                ForcedTools::Taken => {}
                ForcedTools::NotWhileThinking if !plan.thinks(&rule) => {}
                ForcedTools::NotWhileThinking if rule.off != ThinkingOff::Impossible => {
                    plan.setting = Setting::Off;
                    let why = "this model cannot be forced to a tool while it thinks; thinking is off for this request";
                    self.lose("thinking", "thinking", why);
                }
                ForcedTools::NotWhileThinking | ForcedTools::Refused => {
                    choice = Some(ToolChoice::Auto);
                    self.lose("tool_choice", "tool_choice", "this model cannot be forced to a tool; auto is sent");
                }
            }
        }
        if forced(&choice) && self.target.quirks.chat.tool_choice_required == RequiredChoice::Refused {
            let specific = matches!(choice, Some(ToolChoice::Specific(_)));
            if !specific || self.target.quirks.chat.no_specific_tool {
                choice = Some(ToolChoice::Auto);
                self.lose("tool_choice", "tool_choice", "this provider cannot force a tool; auto is sent");
            }
        }
        self.tools_beside_effort(offered, plan)?;
        Ok(choice)
    }

    /// Some models take no functions here while they think.
    fn tools_beside_effort(&mut self, offered: &[(usize, Offered<'_>)], plan: &mut Plan) -> Result<(), Error> {
        let rule = self.rules.thinking.in_chat();
        let has_functions = offered.iter().any(|(_, tool)| matches!(tool, Offered::Function(_)));
        // A relay with its own parameter for reasoning finds its own way.
        let applies = has_functions && self.target.quirks.chat.reasoning_request == ReasoningRequest::Effort;
        let conflict = match self.rules.tools_in_chat {
            ToolsInChat::Taken => false,
            ToolsInChat::NotWithEffort => matches!(plan.setting, Setting::Level(_) | Setting::Budget(_) | Setting::On),
            ToolsInChat::NotWhileThinking => plan.thinks(&rule),
        };
        if !applies || !conflict {
            return Ok(());
        }
        if rule.off == ThinkingOff::Word {
            plan.setting = Setting::Off;
            let why = "this model takes no tools in Chat Completions while it thinks; the effort none is sent";
            self.lose("thinking", "thinking", why);
            return Ok(());
        }
        let model = &self.request.model;
        let mut error = Error::invalid_request(format!(
            "{model} takes no tools in Chat Completions, because it always thinks; use the Responses API for it, or \
             leave out the tools"
        ));
        error.param = Some("tools".to_owned());
        Err(error)
    }

    fn tools(&mut self, offered: &[(usize, Offered<'_>)], choice: Option<ToolChoice>, fields: &mut Map<String, Value>) {
        let withheld = choice == Some(ToolChoice::None) && self.target.quirks.chat.no_tools_on_none;
        if withheld && !offered.is_empty() {
            let why = "this provider calls tools that it is told not to; none is offered";
            self.losses.push(Loss::info("tools", "tools", why));
        }
        if withheld || offered.is_empty() {
            if self.request.parallel_tool_calls.is_some() {
                let why = "it has no meaning without tools; it is left out";
                self.losses.push(Loss::info("parallel_tool_calls", "parallel_tool_calls", why));
            }
            return;
        }
        let only = match &choice {
            Some(ToolChoice::Specific(name)) if self.target.quirks.chat.no_specific_tool => Some(name.as_str()),
            _ => None,
        };
        if let Some(name) = only {
            let why =
                format!("this provider cannot name the tool to use; only {name} is offered, and a call is required");
            self.losses.push(Loss::new("tool_choice", "tool_choice", why));
        }
        let mut written = Vec::new();
        for (index, tool) in offered {
            match tool {
                Offered::Function(function) if only.is_none_or(|name| name == function.name) => {
                    written.push(self.function(*index, function));
                }
                Offered::Own(data) if only.is_none() => written.push((*data).clone()),
                Offered::Function(_) | Offered::Own(_) => {}
            }
        }
        fields.insert("tools".to_owned(), Value::Array(written));
        let required = match self.target.quirks.chat.tool_choice_required {
            RequiredChoice::Required | RequiredChoice::Refused => "required",
            RequiredChoice::Any => "any",
        };
        let word = match choice {
            None => None,
            Some(ToolChoice::Required) => Some(required.into()),
            Some(ToolChoice::Specific(_)) if only.is_some() => Some(required.into()),
            Some(other) => Some(tools::write_choice(&other)),
        };
        if let Some(word) = word {
            fields.insert("tool_choice".to_owned(), word);
        }
        match self.request.parallel_tool_calls {
            Some(parallel) if self.rules.parallel_tool_calls => {
                fields.insert("parallel_tool_calls".to_owned(), parallel.into());
            }
            Some(_) => {
                let why = "this model does not take it; it is left out";
                self.lose("parallel_tool_calls", "parallel_tool_calls", why);
            }
            None => {}
        }
    }

    /// One function: strict where it asks for that and its schema allows it.
    fn function(&mut self, index: usize, function: &Function) -> Value {
        let supported = self.rules.strict_tools && !self.target.quirks.chat.no_strict_tools;
        let mut parameters = Cow::Borrowed(&function.parameters);
        let strict = match (function.strict, supported) {
            (false, false) => None,
            (false, true) => Some(false),
            (true, false) => {
                self.losses.push(Loss::info(
                    "strict",
                    format!("tools[{index}].strict"),
                    "arguments cannot be held to the schema here; it is left out",
                ));
                None
            }
            (true, true) => match strict::strictify(&function.parameters) {
                Ok(closed) => {
                    parameters = closed;
                    Some(true)
                }
                Err(why) => {
                    self.losses.push(Loss::new(
                        "strict",
                        format!("tools[{index}].strict"),
                        format!("the schema does not meet the strict rules: {why}; the tool is sent without"),
                    ));
                    Some(false)
                }
            },
        };
        let mut parameters = parameters.into_owned();
        if self.target.quirks.chat.no_closed_schemas {
            let lost = opened(&mut function.parameters.clone());
            opened(&mut parameters);
            if lost {
                let why = "this provider does not take `additionalProperties: false`; it is left out";
                self.losses.push(Loss::info("parameters", format!("tools[{index}].parameters"), why));
            }
        }
        let mut tool = tools::wrap(function, tools::encode_function(function, parameters, strict));
        self.tool_cache(index, function, &mut tool);
        tool
    }

    fn tool_cache(&mut self, index: usize, function: &Function, tool: &mut Value) {
        let Value::Object(fields) = tool else { return };
        if self.target.quirks.chat.cache_control {
            if let Some(hint) = &function.cache {
                fields.entry("cache_control").or_insert_with(|| cache_control(hint.ttl.as_deref()));
            }
        } else {
            fields.shift_remove("cache_control");
            if function.cache.is_some() {
                let why = "this API has no cache marks on tools; it is left out";
                self.losses.push(Loss::info("cache", format!("tools[{index}].cache"), why));
            }
        }
    }

    fn sampling(&mut self, thinks: bool, fields: &mut Map<String, Value>) {
        let request = self.request;
        let refusal = match self.rules.sampling {
            Sampling::Free => None,
            Sampling::NotWhileThinking | Sampling::OneOf if thinks => {
                Some("this model does not take it while it thinks; it is left out")
            }
            Sampling::NotWhileThinking | Sampling::OneOf => None,
            Sampling::Discouraged | Sampling::Ignored => None,
            Sampling::Refused => Some("this model does not take it; it is left out"),
        };
        let mut both = self.rules.sampling == Sampling::OneOf && request.temperature.is_some();
        let numbers = [
            ("temperature", request.temperature, 1.0, true),
            ("top_p", request.top_p, 1.0, true),
            ("frequency_penalty", request.frequency_penalty, 0.0, self.rules.penalties),
            ("presence_penalty", request.presence_penalty, 0.0, self.rules.penalties),
        ];
        for (name, number, usual, taken) in numbers {
            let Some(number) = number else { continue };
            let reason = if !taken {
                Some("this model does not take it; it is left out")
            } else if name == "top_p" && std::mem::take(&mut both) {
                refusal.or(Some("this model takes only one of temperature and top_p; it is left out"))
            } else {
                refusal
            };
            match reason {
                // The usual value says nothing new.
                Some(why) if number == usual => self.losses.push(Loss::info(name, name, why)),
                Some(why) => self.losses.push(Loss::new(name, name, why)),
                None => {
                    self.remark_on_sampling(name);
                    fields.insert(name.to_owned(), number.into());
                }
            }
        }
        if let Some(top_k) = request.top_k {
            match refusal {
                None if self.target.quirks.chat.top_k => {
                    fields.insert("top_k".to_owned(), top_k.into());
                }
                None => self.lose("top_k", "top_k", "this API has no such parameter; it is left out"),
                Some(why) => self.lose("top_k", "top_k", why),
            }
        }
    }

    fn remark_on_sampling(&mut self, name: &str) {
        let remark = match self.rules.sampling {
            Sampling::Discouraged => "the provider advises to leave it at its default for this model",
            Sampling::Ignored => "this model takes it without effect",
            Sampling::Free | Sampling::NotWhileThinking | Sampling::OneOf | Sampling::Refused => return,
        };
        self.losses.push(Loss::info(name, name, remark));
    }

    fn stop(&mut self, fields: &mut Map<String, Value>) {
        const MOST: usize = 4;
        let stop = self.request.stop.as_slice();
        if stop.is_empty() {
            return;
        }
        if !self.rules.stop {
            return self.lose("stop", "stop", "this model does not take stop texts; they are left out");
        }
        if stop.len() > MOST {
            self.losses.push(Loss::new("stop", "stop", format!("only the first {MOST} stop texts are sent")));
        }
        let taken: Vec<&String> = stop.iter().take(MOST).collect();
        fields.insert("stop".to_owned(), json!(taken));
    }

    /// The form of the answer; gives what the prompt must say where the wire has no form for it.
    fn output_format(&mut self, has_tools: bool, fields: &mut Map<String, Value>) -> Option<String> {
        match self.request.output_format.as_ref()? {
            OutputFormat::Text => None,
            OutputFormat::Json => {
                fields.insert("response_format".to_owned(), json!({"type": "json_object"}));
                if self.prompt_speaks_of_json() {
                    return None;
                }
                let why = "the prompt must speak of JSON; a sentence was added to the system prompt";
                self.losses.push(Loss::info("output_format", "output_format", why));
                Some("Answer in JSON.".to_owned())
            }
            OutputFormat::JsonSchema(format) => {
                let possible = self.rules.structured_output
                    && !self.target.quirks.chat.no_json_schema
                    && (!has_tools || self.rules.tools_with_structured_output);
                if possible {
                    let value = self.schema(format);
                    fields.insert("response_format".to_owned(), value);
                    return None;
                }
                let why = "answers cannot be held to a schema here; JSON is asked for, with the schema in the prompt";
                self.lose("output_format", "output_format", why);
                fields.insert("response_format".to_owned(), json!({"type": "json_object"}));
                Some(format!("Answer in JSON that matches this JSON Schema:\n{}", format.schema))
            }
        }
    }

    fn schema(&mut self, format: &JsonSchemaFormat) -> Value {
        let mut schema = Cow::Borrowed(&format.schema);
        let strict = match format.strict {
            Some(true) => match strict::strictify(&format.schema) {
                Ok(closed) => {
                    schema = closed;
                    Some(true)
                }
                Err(why) => {
                    let why = format!("the schema does not meet the strict rules: {why}; it is sent without");
                    self.losses.push(Loss::new("strict", "output_format.json_schema.strict", why));
                    Some(false)
                }
            },
            other => other,
        };
        let name = format.name.as_deref().map_or_else(|| "response".to_owned(), safe_name);
        if format.name.as_ref().is_some_and(|given| *given != name) {
            let why = format!("a name has up to 64 letters, digits, `_` and `-`; {name} is sent");
            self.losses.push(Loss::info("output_format", "output_format.json_schema.name", why));
        }
        let named = JsonSchemaFormat { name: Some(name), ..format.clone() };
        schema_format(&named, schema.into_owned(), strict)
    }

    fn prompt_speaks_of_json(&self) -> bool {
        let speaks = |text: &str| text.as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"json"));
        let system = self.request.system.iter();
        let said = self.request.messages.iter().flat_map(|message| &message.content);
        system.chain(said).filter_map(crate::Block::as_text).any(speaks)
    }

    fn lose(&mut self, what: &str, place: &str, why: &str) {
        self.losses.push(Loss::new(what, place, why));
    }
}

/// A tool that can be offered here.
#[derive(Debug, Clone, Copy)]
enum Offered<'a> {
    Function(&'a Function),
    /// A tool of this dialect's own.
    Own(&'a Value),
}

/// Takes `additionalProperties: false` out of a schema, at every depth. Was there any?
fn opened(schema: &mut Value) -> bool {
    let mut found = false;
    match schema {
        Value::Object(fields) => {
            if fields.get("additionalProperties") == Some(&Value::Bool(false)) {
                fields.shift_remove("additionalProperties");
                found = true;
            }
            for inner in fields.values_mut() {
                found |= opened(inner);
            }
        }
        Value::Array(items) => {
            for inner in items {
                found |= opened(inner);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found
}

/// A mark that asks a relay to cache up to here.
pub(super) fn cache_control(ttl: Option<&str>) -> Value {
    match ttl {
        Some(ttl) => json!({"type": "ephemeral", "ttl": ttl}),
        None => json!({"type": "ephemeral"}),
    }
}

/// The loss of a tool that only another dialect has.
pub(super) fn foreign_tool(index: usize, tool: &Tool) -> Loss {
    let of = match tool {
        Tool::Other(tool) => tool.other.dialect.as_str(),
        Tool::Function(_) => DIALECT.as_str(),
    };
    Loss::new("tools", format!("tools[{index}]"), format!("a tool of {of} that this API does not have; it is left out"))
}

/// `response_format` for a schema.
pub(super) fn schema_format(format: &JsonSchemaFormat, schema: Value, strict: Option<bool>) -> Value {
    let mut inner = Map::new();
    if let Some(name) = &format.name {
        inner.insert("name".to_owned(), name.as_str().into());
    }
    if let Some(description) = &format.description {
        inner.insert("description".to_owned(), description.as_str().into());
    }
    inner.insert("schema".to_owned(), schema);
    if let Some(strict) = strict {
        inner.insert("strict".to_owned(), strict.into());
    }
    let own = |key: &str| format.provider_data.value(DIALECT, key).and_then(Value::as_object);
    put_back(&mut inner, own("extra"));
    let mut outer = Map::new();
    outer.insert("type".to_owned(), "json_schema".into());
    outer.insert("json_schema".to_owned(), Value::Object(inner));
    put_back(&mut outer, own("outer"));
    Value::Object(outer)
}

fn safe_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .take(64)
        .collect();
    if safe.is_empty() { "response".to_owned() } else { safe }
}
