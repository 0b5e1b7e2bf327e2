//! Canonical requests to wire ones.
//!
//! A request that was read from this dialect and is for the same model was written for it: it is given back as it came,
//! without repairs. Any other request is made to fit the model's rules, and what that costs is in the losses.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::dialect::{Target, WireRequest};
use crate::{Block, Error, ForcedTools, Loss, ProviderData, Request, ToolChoice};

use super::super::DIALECT;
use super::super::block::{foreign_fields, put_back};
use super::super::names::Safe;
use super::super::place::Place;
use super::super::response::LONGEST_ID;
use super::super::thinking::{self, Obstacles, Sent};
use super::cache::Hints;
use super::decode::read_format;
use super::messages::Messages;

/// The API's long-lived version; a provider's row may set another.
const VERSION: &str = "2023-06-01";
/// The longest name of a tool.
const LONGEST_NAME: usize = 64;

/// Writes a request for a provider.
///
/// # Errors
/// When the request names no model. What this API cannot carry is a loss.
pub(crate) fn encode_request(request: &Request, target: &Target<'_>) -> Result<WireRequest, Error> {
    if request.model.is_empty() {
        let mut error = Error::invalid_request("the request names no model; set `model`");
        error.param = Some("model".to_owned());
        return Err(error);
    }
    let mut writer = Writer::new(request, *target);
    let body = writer.body();
    let (path, headers) = writer.envelope();
    let mut body = Value::Object(body);
    if let (Some(version), Some(fields)) = (&target.quirks.anthropic.version, body.as_object_mut()) {
        fields.shift_remove("model");
        fields.shift_remove("stream");
        fields.insert("anthropic_version".to_owned(), version.as_ref().into());
        let betas = writer.betas();
        if is_bedrock(version) && !betas.is_empty() {
            fields.insert("anthropic_beta".to_owned(), betas.into());
        }
    }
    Ok(WireRequest { path, headers, body, losses: writer.losses })
}

/// A model's id as one part of a path. Amazon's have colons in them, and its profiles slashes.
fn escaped(model: &str) -> String {
    let mut part = String::new();
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'@') {
            part.push(char::from(byte));
        } else {
            part.push_str(&format!("%{byte:02X}"));
        }
    }
    part
}

/// Amazon's versions of this API bear its product's name, and want other paths than Google's.
fn is_bedrock(version: &str) -> bool {
    version.starts_with("bedrock")
}

/// A request on its way to the wire.
pub(super) struct Writer<'a> {
    pub(super) request: &'a Request,
    pub(super) target: Target<'a>,
    /// The request was written for this model in this dialect.
    pub(super) faithful: bool,
    pub(super) losses: Vec<Loss>,
    pub(super) names: Safe,
    pub(super) ids: Safe,
    /// Ids of calls that are on the wire already.
    pub(super) called: HashSet<String>,
    pub(super) hints: Hints,
}

impl<'a> Writer<'a> {
    fn new(request: &'a Request, target: Target<'a>) -> Self {
        let faithful = request.provider_data.str(DIALECT, "model") == Some(request.model.as_str());
        let mut losses = Vec::new();
        let hints = if faithful { Hints::AsAsked } else { Hints::choose(request, &mut losses) };
        let names = request.tools.iter().filter_map(|tool| tool.name());
        let ids = request.messages.iter().flat_map(|message| &message.content).filter_map(|block| match block {
            Block::ToolCall(call) => Some(call.id.as_str()),
            _ => None,
        });
        Writer {
            request,
            target,
            faithful,
            losses,
            names: Safe::new(LONGEST_NAME, names),
            ids: Safe::new(LONGEST_ID, ids),
            called: HashSet::new(),
            hints,
        }
    }

    pub(super) fn lose(&mut self, what: &str, place: Place, why: impl Into<String>) {
        self.losses.push(Loss::new(what, place.to_string(), why));
    }

    pub(super) fn note(&mut self, what: &str, place: Place, why: impl Into<String>) {
        self.losses.push(Loss::info(what, place.to_string(), why));
    }

    /// Other dialects' wire fields stay behind.
    pub(super) fn note_foreign_fields(&mut self, data: &ProviderData, place: Place) {
        let fields = foreign_fields(data);
        if !fields.is_empty() {
            self.lose("provider_data", place, format!("fields of another dialect are left out: {}", fields.join(", ")));
        }
    }

    /// What this dialect left on the request.
    pub(super) fn own(&self, key: &str) -> Option<&'a Value> {
        self.request.provider_data.value(DIALECT, key)
    }

    /// A wire field as it came, to be echoed while it means the same.
    pub(super) fn raw(&self, key: &str) -> Option<&'a Value> {
        self.own("raw")?.get(key)
    }

    fn body(&mut self) -> Map<String, Value> {
        let request = self.request;
        let Messages { mut system, wire: messages, lost_thinking } = self.messages();
        let tools = self.tools();
        let choice = self.tool_choice(!tools.is_empty());
        let format = self.format(&mut system);
        let (messages, prefill) = self.ending(messages, format.is_some());
        let forced = forces(request.tool_choice.as_ref()) && choice.is_some();
        let choice = choice.map(|choice| self.weaken(choice, forced));
        let obstacles = Obstacles {
            forced_tool: forced,
            unsigned_tool_turn: (!self.faithful || lost_thinking) && super::messages::is_unsigned_tool_turn(&messages),
            prefill,
        };
        let sent = self.thinking(obstacles, lost_thinking);

        let mut body = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                body.insert(key.to_owned(), value);
            }
        };
        let in_path = self.faithful && self.own("path").is_some();
        put("model", (!in_path).then(|| request.model.as_str().into()));
        put("max_tokens", sent.max_tokens.clone());
        put("system", self.system(system));
        put("messages", Some(Value::Array(messages)));
        put("tools", (!tools.is_empty()).then(|| Value::Array(tools)));
        put("tool_choice", choice);
        put("thinking", sent.thinking.clone());
        put("output_config", self.output_config(&sent, format.as_ref()));
        put("output_format", format.filter(|_| self.has_old_format()));
        for (key, value) in self.sampling(sent.thinks) {
            put(key, Some(value));
        }
        put("stop_sequences", self.stop());
        put("metadata", self.metadata());
        put("cache_control", self.automatic_cache());
        let says_stream = !(in_path && request.stream == Some(true));
        put("stream", request.stream.filter(|_| says_stream).map(Value::Bool));
        put_back(&mut body, request.provider_data.get(DIALECT));
        if !self.faithful {
            // These two are for the clouds, which have their own way of saying them.
            body.shift_remove("anthropic_version");
            body.shift_remove("anthropic_beta");
        }
        self.note_the_rest();
        body
    }

    /// The features that the caller asks for; the clouds have them in the body.
    fn betas(&self) -> Vec<&'a str> {
        let in_body = self.own("extra").and_then(|extra| extra.get("anthropic_beta")).filter(|_| !self.faithful);
        let lists = [self.own("betas"), in_body].into_iter().flatten();
        lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect()
    }

    /// The path and the headers.
    fn envelope(&self) -> (String, Vec<(String, String)>) {
        let model = &self.request.model;
        let streams = self.request.stream == Some(true);
        let betas = self.betas();
        let mut headers = Vec::new();
        let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
        let Some(version) = &self.target.quirks.anthropic.version else {
            add("anthropic-version", VERSION.to_owned());
            if !betas.is_empty() {
                add("anthropic-beta", betas.join(","));
            }
            let path = match self.own("path").and_then(Value::as_str).filter(|_| self.faithful) {
                Some(path) => path.to_owned(),
                None => "/v1/messages".to_owned(),
            };
            let query = self.own("query").and_then(Value::as_str).map(|query| format!("?{query}"));
            return (path + query.as_deref().unwrap_or_default(), headers);
        };
        if is_bedrock(version) {
            let method = if streams { "invoke-with-response-stream" } else { "invoke" };
            return (format!("/model/{}/{method}", escaped(model)), headers);
        }
        if !betas.is_empty() {
            add("anthropic-beta", betas.join(","));
        }
        let method = if streams { "streamRawPredict" } else { "rawPredict" };
        (format!("/models/{}:{method}", escaped(model)), headers)
    }

    /// The system prompt: a text when that is all there is, else blocks.
    fn system(&self, mut blocks: Vec<Map<String, Value>>) -> Option<Value> {
        if blocks.is_empty() {
            return None;
        }
        let as_blocks = self.request.provider_data.flag(DIALECT, "system_blocks");
        match blocks.as_mut_slice() {
            [only] if only.len() == 2 && !as_blocks && only.get("type").is_some_and(|kind| kind == "text") => {
                only.shift_remove("text")
            }
            _ => Some(Value::Array(blocks.into_iter().map(Value::Object).collect())),
        }
    }

    /// A forced tool that the model always refuses becomes a free choice.
    fn weaken(&mut self, choice: Value, forced: bool) -> Value {
        let refused = self.target.rules.forced_tools == ForcedTools::Refused;
        if self.faithful || !forced || !refused {
            return choice;
        }
        let why = "this model refuses a tool choice that forces a tool; the choice is left to the model";
        self.losses.push(Loss::new("tool_choice", "tool_choice", why));
        super::tools::write_choice(&ToolChoice::Auto, self.request.parallel_tool_calls)
    }

    fn thinking(&mut self, obstacles: Obstacles, lost_thinking: bool) -> Sent {
        let request = self.request;
        let (thinking, effort) = (self.raw("thinking"), self.raw("effort"));
        let unchanged = thinking::read(thinking, effort, &request.model) == request.thinking;
        let broken = lost_thinking && obstacles.unsigned_tool_turn;
        if self.faithful && unchanged && !broken {
            let said = thinking.and_then(|thinking| thinking.get("type")).and_then(Value::as_str);
            let thinks = match said {
                Some(word) => matches!(word, "enabled" | "adaptive"),
                None => self.target.rules.thinking.thinks_by_default(),
            };
            let max_tokens = request.max_output_tokens.map(Value::from);
            return Sent { thinking: thinking.cloned(), effort: effort.cloned(), max_tokens, thinks };
        }
        let mut sent = thinking::encode(request, &self.target, obstacles, &mut self.losses);
        // What else the client said about thinking holds as long as the model thinks.
        if let (Some(Value::Object(new)), Some(Value::Object(old))) = (&mut sent.thinking, thinking)
            && sent.thinks
        {
            for (key, value) in
                old.iter().filter(|(key, _)| !matches!(key.as_str(), "type" | "budget_tokens" | "display"))
            {
                new.insert(key.clone(), value.clone());
            }
        }
        sent
    }

    /// Was the schema given under the older name?
    fn has_old_format(&self) -> bool {
        let read = self.raw("output_format").and_then(read_format);
        self.faithful && read.is_some() && read == self.request.output_format
    }

    fn output_config(&self, sent: &Sent, format: Option<&Value>) -> Option<Value> {
        let mut fields = Map::new();
        if let Some(effort) = &sent.effort {
            fields.insert("effort".to_owned(), effort.clone());
        }
        if let Some(format) = format.filter(|_| !self.has_old_format()) {
            fields.insert("format".to_owned(), format.clone());
        }
        let rest = self.own("extra").and_then(|extra| extra.get("output_config"));
        if let Some(Value::Object(rest)) = rest {
            for (key, value) in rest {
                fields.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        (!fields.is_empty()).then_some(Value::Object(fields))
    }

    /// Fields that have no place on this wire.
    fn note_the_rest(&mut self) {
        let request = self.request;
        let penalties =
            [("frequency_penalty", request.frequency_penalty), ("presence_penalty", request.presence_penalty)];
        for (what, penalty) in penalties {
            match penalty {
                None => {}
                Some(0.0) => self.losses.push(Loss::info(what, what, "this API has none, which is what 0 asks for")),
                Some(_) => self.losses.push(Loss::new(what, what, "this API has no such parameter; it is left out")),
            }
        }
        if request.seed.is_some() {
            self.losses.push(Loss::new("seed", "seed", "this API has no such parameter; it is left out"));
        }
        let fields = foreign_fields(&request.provider_data);
        if !fields.is_empty() {
            let why = format!("fields of another dialect are left out: {}", fields.join(", "));
            self.losses.push(Loss::new("provider_data", "provider_data", why));
        }
    }
}

/// Does the choice leave the model no choice?
fn forces(choice: Option<&ToolChoice>) -> bool {
    matches!(choice, Some(ToolChoice::Required | ToolChoice::Specific(_)))
}
