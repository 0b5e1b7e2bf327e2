//! Wire requests to canonical ones.
//!
//! What the format has no field for is kept under `provider_data.anthropic`: `extra` holds wire fields to put back as
//! they were, `raw` holds wire fields that do have a canonical meaning but would be written another way, and small
//! marks tell the shape (`system_blocks`, `blocks`, `continues`).

use serde_json::{Map, Value};

use crate::dialect::DraftIncoming;
use crate::dialect::seal::Sealed;
use crate::{Block, CacheOptions, Error, JsonSchemaFormat, Message, OutputFormat, ProviderData, Request, Role};

use super::super::answer::{Neighbour, unseal_whole};
use super::super::block::{self, Own, Reading, is_short, read_cache};
use super::super::place::Place;
use super::super::{DIALECT, thinking};
use super::tools::{read_choice, read_tool, write_choice};

type Fields = Map<String, Value>;

/// Reads a client's request.
///
/// # Errors
/// When it is no request of this API: the message names the place and what should stand there.
pub(crate) fn decode_request(incoming: DraftIncoming<'_>) -> Result<Request, Error> {
    let Value::Object(fields) = incoming.body else { return Err(refusal("the body", "a JSON object")) };
    let mut request = Request::default();
    let mut own = Own::default();
    let mut kept = Kept::default();
    let mut has_messages = false;
    for (key, value) in fields {
        // A field that is there and says nothing must be there again, and still says nothing.
        if value.is_null() {
            own.extra(key, value);
            continue;
        }
        match key.as_str() {
            "model" => request.model = text(&key, value)?,
            "messages" => {
                has_messages = true;
                request.messages = messages(list(&key, value)?)?;
            }
            "system" => system(value, &mut request, &mut own)?,
            "max_tokens" => request.max_output_tokens = Some(integer(&key, value)?),
            "stop_sequences" => stop(value, &mut request, &mut own)?,
            "temperature" => request.temperature = Some(number(&key, value, &mut kept)?),
            "top_p" => request.top_p = Some(number(&key, value, &mut kept)?),
            "top_k" => request.top_k = Some(integer(&key, value)?),
            "tools" => tools(list(&key, value)?, &mut request, &mut own)?,
            "tool_choice" => tool_choice(value, &mut request, &mut own, &mut kept),
            "thinking" if thinking::is_known(&value) => kept.thinking = Some(value),
            "output_config" => kept.output_config(value, &mut request, &mut own),
            // The older spelling of `output_config.format`.
            "output_format" => match read_format(&value).filter(|_| request.output_format.is_none()) {
                Some(format) => {
                    request.output_format = Some(format);
                    kept.raw.insert(key, value);
                }
                None => own.extra(key, value),
            },
            "metadata" => match value {
                Value::Object(fields) if !fields.is_empty() => request.metadata = fields,
                value => own.extra(key, value),
            },
            "cache_control" => match read_cache(&value) {
                Some(hint) => request.cache = Some(CacheOptions { key: None, automatic: Some(hint) }),
                None => own.extra(key, value),
            },
            "stream" => match value {
                Value::Bool(stream) => request.stream = Some(stream),
                _ => return Err(refusal(&key, "true or false")),
            },
            _ => own.extra(key, value),
        }
    }
    if !has_messages {
        return Err(refusal("messages", "a list of messages"));
    }
    path(incoming.path, &mut request, &mut own);
    if request.model.is_empty() {
        return Err(refusal("model", "the name of a model"));
    }
    thinking::decode(kept.thinking, kept.effort, &mut request, &mut kept.raw);
    if !kept.raw.is_empty() {
        own.set("raw", kept.raw);
    }
    own.set("model", request.model.as_str());
    request.provider_data = own.into_data();
    Ok(request)
}

/// Fields that are understood only together, and fields to be echoed.
#[derive(Default)]
struct Kept {
    thinking: Option<Value>,
    effort: Option<Value>,
    raw: Fields,
}

impl Kept {
    fn output_config(&mut self, value: Value, request: &mut Request, own: &mut Own) {
        let Value::Object(fields) = value else { return own.extra("output_config".to_owned(), value) };
        let mut rest = Map::new();
        let was_empty = fields.is_empty();
        for (key, value) in fields {
            match key.as_str() {
                "effort" if thinking::is_effort(&value) => self.effort = Some(value),
                "format" => match read_format(&value).filter(|_| request.output_format.is_none()) {
                    Some(format) => request.output_format = Some(format),
                    None => {
                        rest.insert(key, value);
                    }
                },
                _ => {
                    rest.insert(key, value);
                }
            }
        }
        if was_empty || !rest.is_empty() {
            own.extra("output_config".to_owned(), Value::Object(rest));
        }
    }
}

/// A schema for the answer; none when it is of a kind that nobody knows.
pub(super) fn read_format(value: &Value) -> Option<OutputFormat> {
    let fields = value.as_object()?;
    if fields.get("type")?.as_str()? != "json_schema" {
        return None;
    }
    let schema = fields.get("schema")?.clone();
    let mut own = Own::default();
    for (key, value) in fields.iter().filter(|(key, _)| !matches!(key.as_str(), "type" | "schema")) {
        own.extra(key.clone(), value.clone());
    }
    let provider_data = own.into_data();
    Some(OutputFormat::JsonSchema(JsonSchemaFormat {
        name: None,
        description: None,
        schema: schema.into(),
        strict: None,
        provider_data,
    }))
}

/// Amazon and Google have the model in the path, and the wish for a stream too.
fn path(path: Option<&str>, request: &mut Request, own: &mut Own) {
    let Some(path) = path else { return };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    if query == "beta=true" {
        own.set("query", query);
    }
    if !request.model.is_empty() {
        return;
    }
    let (before, method) = path.rsplit_once(['/', ':']).unwrap_or((path, ""));
    let streams = match method {
        "invoke" | "rawPredict" => false,
        "invoke-with-response-stream" | "streamRawPredict" => true,
        _ => return,
    };
    let model = before.rsplit('/').next().unwrap_or_default();
    request.model = model.replace("%3A", ":").replace("%3a", ":");
    own.set("path", path);
    if request.stream.is_none() && streams {
        request.stream = Some(true);
    }
}

fn system(value: Value, request: &mut Request, own: &mut Own) -> Result<(), Error> {
    match value {
        Value::String(text) => request.system.push(Block::text(text)),
        Value::Array(blocks) if blocks.is_empty() => own.extra("system".to_owned(), Value::Array(blocks)),
        Value::Array(blocks) => {
            for (index, value) in blocks.into_iter().enumerate() {
                request.system.push(block::decode(value, Reading::Request(Place::System(index)))?);
            }
            if is_short(&request.system) {
                own.set("system_blocks", true);
            }
        }
        _ => return Err(refusal("system", "a string or a list of text blocks")),
    }
    Ok(())
}

fn messages(list: Vec<Value>) -> Result<Vec<Message>, Error> {
    let mut messages = Vec::with_capacity(list.len());
    for (index, value) in list.into_iter().enumerate() {
        message(index, value, &mut messages)?;
    }
    Ok(messages)
}

fn message(index: usize, value: Value, messages: &mut Vec<Message>) -> Result<(), Error> {
    let place = Place::Message(index);
    let Value::Object(fields) = value else { return Err(refusal(&place.to_string(), "an object")) };
    let (mut role, mut content, mut own) = (None, None, Own::default());
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("role", value) => role = Some(read_role(place, &value)?),
            ("content", Value::String(text)) => content = Some(vec![Block::text(text)]),
            ("content", Value::Array(blocks)) => {
                let blocks = blocks.into_iter().enumerate();
                let read = blocks.map(|(inner, block)| block::decode(block, Reading::Request(place.inner(inner))));
                let blocks = read.collect::<Result<Vec<Block>, Error>>()?;
                if is_short(&blocks) {
                    own.set("blocks", true);
                }
                content = Some(blocks);
            }
            ("content", _) => return Err(refusal(&format!("{place}.content"), "a string or a list of blocks")),
            (_, value) => own.extra(key, value),
        }
    }
    let role = role.ok_or_else(|| refusal(&format!("{place}.role"), "`user` or `assistant`"))?;
    let content = content.ok_or_else(|| refusal(&format!("{place}.content"), "a string or a list of blocks"))?;
    let first = messages.len();
    match role {
        Role::User => split(content, messages),
        Role::Assistant | Role::Tool | Role::System => {
            messages.push(Message::new(role, content));
            if let Some(message) = messages.last_mut() {
                unseal(message);
            }
        }
    }
    if let Some(message) = messages.get_mut(first) {
        message.provider_data.merge(own.into_data());
    }
    Ok(())
}

fn read_role(place: Place, value: &Value) -> Result<Role, Error> {
    match value.as_str() {
        Some("user") => Ok(Role::User),
        Some("assistant") => Ok(Role::Assistant),
        Some("system") => Ok(Role::System),
        _ => Err(refusal(&format!("{place}.role"), "`user`, `assistant` or `system`")),
    }
}

/// Tool results have a role of their own here. A message that mixes them with other blocks becomes several, each after
/// the first marked as going on with the one before.
fn split(content: Vec<Block>, messages: &mut Vec<Message>) {
    let mut run: Option<Message> = None;
    let mut continues = false;
    for block in content {
        let role = if matches!(block, Block::ToolResult(_)) { Role::Tool } else { Role::User };
        match &mut run {
            Some(message) if message.role == role => message.content.push(block),
            _ => {
                continues |= run.is_some();
                messages.extend(run.take());
                let mut message = Message::new(role, block);
                if continues {
                    message.provider_data.set(DIALECT, "continues", true);
                }
                run = Some(message);
            }
        }
    }
    messages.push(run.unwrap_or_else(|| Message::new(Role::User, Vec::new())));
}

/// Restores the state of other dialects that rode in this one's slots, and says who issued it.
fn unseal(message: &mut Message) {
    let mut content: Vec<Block> = Vec::with_capacity(message.content.len());
    let mut for_next: Option<ProviderData> = None;
    for mut block in std::mem::take(&mut message.content) {
        let sealed = match &block {
            Block::Thinking(thinking) => {
                let data = &thinking.provider_data;
                data.str(DIALECT, "signature")
                    .or_else(|| data.str(DIALECT, "redacted_data"))
                    .and_then(Sealed::from_text)
            }
            _ => None,
        };
        if let Some(mut sealed) = sealed {
            message.provider = sealed.provider.take().or(message.provider.take());
            message.model = sealed.model.take().or(message.model.take());
            match Neighbour::take(&mut sealed.data) {
                Some(Neighbour::Next) => {
                    for_next = Some(sealed.data);
                    continue;
                }
                Some(Neighbour::Previous) => {
                    if let Some(data) = content.last_mut().and_then(Block::provider_data_mut) {
                        data.merge(sealed.data);
                    }
                    continue;
                }
                Some(Neighbour::Nobody) => {
                    content.extend(unseal_whole(sealed.data));
                    continue;
                }
                None => {
                    if let Some(data) = block.provider_data_mut() {
                        *data = sealed.data;
                    }
                }
            }
        }
        if let (Some(state), Some(data)) = (for_next.take(), block.provider_data_mut()) {
            data.merge(state);
        }
        content.push(block);
    }
    message.content = content;
}

fn tools(list: Vec<Value>, request: &mut Request, own: &mut Own) -> Result<(), Error> {
    if list.is_empty() {
        own.extra("tools".to_owned(), Value::Array(list));
        return Ok(());
    }
    for (index, value) in list.into_iter().enumerate() {
        request.tools.push(read_tool(index, value)?);
    }
    Ok(())
}

fn tool_choice(value: Value, request: &mut Request, own: &mut Own, kept: &mut Kept) {
    match read_choice(&value) {
        Some((choice, parallel)) => {
            if write_choice(&choice, parallel) != value {
                kept.raw.insert("tool_choice".to_owned(), value);
            }
            (request.tool_choice, request.parallel_tool_calls) = (Some(choice), parallel);
        }
        None => own.extra("tool_choice".to_owned(), value),
    }
}

fn stop(value: Value, request: &mut Request, own: &mut Own) -> Result<(), Error> {
    match value {
        Value::Array(texts) if texts.is_empty() => own.extra("stop_sequences".to_owned(), Value::Array(texts)),
        Value::Array(texts) => {
            for text in texts {
                match text {
                    Value::String(text) => request.stop.push(text),
                    _ => return Err(refusal("stop_sequences", "a list of strings")),
                }
            }
        }
        _ => return Err(refusal("stop_sequences", "a list of strings")),
    }
    Ok(())
}

fn text(key: &str, value: Value) -> Result<String, Error> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(refusal(key, "a string")),
    }
}

fn list(key: &str, value: Value) -> Result<Vec<Value>, Error> {
    match value {
        Value::Array(list) => Ok(list),
        _ => Err(refusal(key, "a list")),
    }
}

fn integer(key: &str, value: Value) -> Result<i64, Error> {
    value.as_i64().ok_or_else(|| refusal(key, "an integer"))
}

/// A number; one that would be printed another way (`1` for `1.0`) is kept as it was written.
fn number(key: &str, value: Value, kept: &mut Kept) -> Result<f64, Error> {
    let number = value.as_f64().ok_or_else(|| refusal(key, "a number"))?;
    if !value.is_f64() {
        kept.raw.insert(key.to_owned(), value);
    }
    Ok(number)
}

pub(super) fn refusal(place: &str, wanted: &str) -> Error {
    let mut error = Error::invalid_request(format!("{place} must be {wanted}"));
    error.param = Some(place.to_owned());
    error
}
