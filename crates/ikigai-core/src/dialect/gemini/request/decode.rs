//! A client's request to a [`Request`].

use std::collections::HashSet;

use serde_json::Value;

use super::super::fields::Fields;
use super::super::part::{self, GENERATED};
use super::super::{result, state};
use super::{config, tools};
use crate::dialect::DraftIncoming;
use crate::{Block, Dialect, Error, Ids, Message, ProviderData, Request, Role};

/// The model as asked for. While the request still names it, the request is written as it was.
pub(super) const MODEL: &str = "model";
/// The body named the model, in these words.
pub(super) const BODY_MODEL: &str = "body_model";
/// `contents` was one object in place of a list.
pub(super) const SINGLE_CONTENT: &str = "single_content";
/// `systemInstruction` was a text.
pub(super) const SYSTEM_TEXT: &str = "system_text";
/// The parts of `systemInstruction` were one object in place of a list.
pub(super) const SYSTEM_ONE: &str = "system_one";
/// `systemInstruction` held no parts, but was there.
pub(super) const SYSTEM_EMPTY: &str = "system_empty";
/// On a message: the role as written, `null` where there was none.
pub(super) const ROLE: &str = "role";
/// On a message: how its parts were written, where not as a list: `one`, `flat`, `absent`.
pub(super) const PARTS: &str = "parts";

/// Reads a request.
pub(crate) fn decode_request(incoming: DraftIncoming<'_>) -> Result<Request, Error> {
    let Value::Object(body) = incoming.body else {
        return Err(Error::invalid_request("the body must be a JSON object"));
    };
    let mut fields = Fields::new(body);
    let mut request = Request::default();
    let mut data = ProviderData::default();
    model(incoming.path, &mut fields, &mut request, &mut data);
    system(&mut fields, &mut request, &mut data)?;
    contents(&mut fields, &mut request, &mut data)?;
    tools::decode(&mut fields, &mut request, &mut data)?;
    config::decode(&mut fields, &mut request, &mut data)?;
    fields.keep(&mut data);
    request.provider_data = data;
    Ok(request)
}

/// A request that cannot be what it says, with the place.
pub(super) fn refuse(place: &str, fault: &str) -> Error {
    let mut error = Error::invalid_request(format!("{place}: {fault}"));
    error.param = Some(place.to_owned());
    error
}

fn model(path: Option<&str>, fields: &mut Fields, request: &mut Request, data: &mut ProviderData) {
    let named = fields.take_text("model");
    let from_path = path.and_then(|path| {
        let (model, method) = split_path(path)?;
        request.stream = method.starts_with("stream").then_some(true);
        Some(model)
    });
    let short = |name: &str| name.strip_prefix("models/").unwrap_or(name).to_owned();
    request.model = from_path.or_else(|| named.as_deref().map(short)).unwrap_or_default();
    data.set(Dialect::Gemini, MODEL, request.model.as_str());
    if let Some(named) = named {
        data.set(Dialect::Gemini, BODY_MODEL, named);
    }
}

/// The model and the method of `…/models/{model}:{method}?…`. Names may hold colons and slashes themselves.
fn split_path(path: &str) -> Option<(String, &str)> {
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let (resource, method) = path.rsplit_once(':')?;
    let name = match resource.split_once("/models/").or_else(|| Some(("", resource.strip_prefix("models/")?))) {
        Some((_, model)) => model,
        // A tuned model or an endpoint: its kind is part of its name.
        None => {
            let kind = ["tunedModels/", "endpoints/"].into_iter().find_map(|kind| resource.find(kind));
            resource.get(kind?..)?
        }
    };
    Some((percent_decoded(name), method))
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let pair = behind.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(decoded) if byte == b'%' => {
                bytes.push(decoded);
                rest = behind.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(byte);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn system(fields: &mut Fields, request: &mut Request, data: &mut ProviderData) -> Result<(), Error> {
    let place = "systemInstruction";
    match fields.get(place) {
        None => {}
        Some(Value::String(_)) => {
            request.system.extend(fields.take_text(place).map(Block::from));
            data.set(Dialect::Gemini, SYSTEM_TEXT, true);
        }
        Some(Value::Object(_)) => {
            let Some(mut content) = fields.take_object(place) else { return Ok(()) };
            match content.get("parts") {
                Some(Value::Array(parts)) if !parts.is_empty() => {
                    if let Some(Value::Array(parts)) = content.take("parts") {
                        for (index, part) in parts.into_iter().enumerate() {
                            request.system.push(block(part, &format!("{place}.parts[{index}]"))?);
                        }
                    }
                }
                Some(Value::Object(_)) => {
                    if let Some(part) = content.take("parts") {
                        request.system.push(block(part, &format!("{place}.parts"))?);
                        data.set(Dialect::Gemini, SYSTEM_ONE, true);
                    }
                }
                None | Some(Value::Array(_) | Value::Null) => {}
                Some(_) => return Err(refuse(&format!("{place}.parts"), "must be a list of parts")),
            }
            if request.system.is_empty() {
                data.set(Dialect::Gemini, SYSTEM_EMPTY, content.into_rest());
            } else {
                // The API takes no notice of it.
                content.is_default("role");
                fields.close(place, content);
            }
        }
        Some(_) => return Err(refuse(place, "must be a content object or a string")),
    }
    Ok(())
}

fn block(part: Value, place: &str) -> Result<Block, Error> {
    let Value::Object(part) = part else { return Err(refuse(place, "must be a part object")) };
    match part::fault(&part) {
        Some(fault) => Err(refuse(place, &fault)),
        None => Ok(part::decode(part)),
    }
}

fn contents(fields: &mut Fields, request: &mut Request, data: &mut ProviderData) -> Result<(), Error> {
    let contents = match fields.get("contents") {
        // An empty list is left over as it is.
        Some(Value::Array(contents)) if contents.is_empty() => return Ok(()),
        Some(Value::Array(_)) => match fields.take("contents") {
            Some(Value::Array(contents)) => contents,
            _ => return Ok(()),
        },
        Some(Value::Object(_)) => {
            data.set(Dialect::Gemini, SINGLE_CONTENT, true);
            fields.take("contents").into_iter().collect()
        }
        None => return Ok(()),
        Some(_) => return Err(refuse("contents", "must be a list of contents, or one content")),
    };
    for (index, content) in contents.into_iter().enumerate() {
        request.messages.push(message(content, &format!("contents[{index}]"))?);
    }
    name_calls(&mut request.messages);
    state::restore(&mut request.messages);
    Ok(())
}

fn message(content: Value, place: &str) -> Result<Message, Error> {
    let Value::Object(content) = content else { return Err(refuse(place, "must be a content object")) };
    let mut fields = Fields::new(content);
    let mut data = ProviderData::default();
    let written = fields.take_text("role");
    let mut blocks = Vec::new();
    match fields.get("parts") {
        Some(Value::Array(_)) => {
            if let Some(Value::Array(parts)) = fields.take("parts") {
                blocks.reserve(parts.len());
                for (index, part) in parts.into_iter().enumerate() {
                    blocks.push(block(part, &format!("{place}.parts[{index}]"))?);
                }
            }
        }
        Some(Value::Object(_)) => {
            if let Some(part) = fields.take("parts") {
                blocks.push(block(part, &format!("{place}.parts"))?);
                data.set(Dialect::Gemini, PARTS, "one");
            }
        }
        Some(_) => return Err(refuse(&format!("{place}.parts"), "must be a list of parts")),
        None if fields.has("functionResponse") || fields.has("functionCall") || fields.has("text") => {
            blocks.push(block(Value::Object(std::mem::take(&mut fields).into_rest()), place)?);
            data.set(Dialect::Gemini, PARTS, "flat");
        }
        None => data.set(Dialect::Gemini, PARTS, "absent"),
    }
    let role = role(written.as_deref(), &blocks).ok_or_else(|| {
        refuse(&format!("{place}.role"), "must be `user` or `model` (`function` and `tool` are read as `user`)")
    })?;
    if written.as_deref() != Some(usual_role(role)) {
        data.set(Dialect::Gemini, ROLE, written);
    }
    fields.keep(&mut data);
    let mut message = Message::new(role, blocks);
    message.provider_data = data;
    Ok(message)
}

/// The role on the wire.
pub(super) fn usual_role(role: Role) -> &'static str {
    match role {
        Role::Assistant => "model",
        Role::User | Role::Tool | Role::System => "user",
    }
}

/// Who speaks: a content with nothing but results is the tools'. None for a role that nobody knows.
pub(super) fn role(written: Option<&str>, blocks: &[Block]) -> Option<Role> {
    match written {
        None | Some("user" | "function" | "tool") => {
            let results = !blocks.is_empty() && blocks.iter().all(|block| matches!(block, Block::ToolResult(_)));
            Some(if results { Role::Tool } else { Role::User })
        }
        Some("model" | "assistant") => Some(Role::Assistant),
        Some("system") => Some(Role::System),
        Some(_) => None,
    }
}

/// A call of the last turn of the model.
struct Asked {
    message: usize,
    block: usize,
    id: String,
    name: String,
    generated: bool,
    answered: bool,
}

/// Gives calls and results without an id one: results are paired with the calls of the turn before them, by name and
/// order. The ids follow from the order alone, so that a conversation keeps them from turn to turn.
fn name_calls(messages: &mut [Message]) {
    let mut taken: HashSet<String> = HashSet::new();
    for block in messages.iter().flat_map(|message| &message.content) {
        match block {
            Block::ToolCall(call) => taken.insert(call.id.clone()),
            Block::ToolResult(result) => taken.insert(result.tool_call_id.clone()),
            _ => continue,
        };
    }
    let mut ids = Ids::default();
    let mut fresh = move || loop {
        let id = ids.next_id();
        if !taken.contains(&id) {
            return id;
        }
    };
    let mut asked: Vec<Asked> = Vec::new();
    for message in 0..messages.len() {
        let Some(current) = messages.get_mut(message) else { return };
        let mut renamed = Vec::new();
        if current.role == Role::Assistant {
            asked.retain(|asked| asked.message + 1 == message);
        }
        for (block, content) in current.content.iter_mut().enumerate() {
            match content {
                Block::ToolCall(call) => {
                    let generated = call.id.is_empty();
                    if generated {
                        call.id = fresh();
                        call.provider_data.set(Dialect::Gemini, GENERATED, true);
                    }
                    let (id, name) = (call.id.clone(), call.name.clone());
                    asked.push(Asked { message, block, id, name, generated, answered: false });
                }
                Block::ToolResult(result) => {
                    let name = result.provider_data.str(Dialect::Gemini, result::NAME).unwrap_or_default();
                    let place = partner(&asked, &result.tool_call_id, name);
                    if let Some(call) = place.and_then(|place| asked.get_mut(place)) {
                        call.answered = true;
                        if result.tool_call_id.is_empty() {
                            result.tool_call_id.clone_from(&call.id);
                            result.provider_data.set(Dialect::Gemini, GENERATED, true);
                        } else if call.id != result.tool_call_id {
                            // The call came without its id, the result has one.
                            call.id.clone_from(&result.tool_call_id);
                            renamed.push((call.message, call.block, call.id.clone()));
                        }
                    } else if result.tool_call_id.is_empty() {
                        result.tool_call_id = fresh();
                        result.provider_data.set(Dialect::Gemini, GENERATED, true);
                    }
                }
                _ => {}
            }
        }
        for (message, block, id) in renamed {
            let call = messages.get_mut(message).and_then(|message| message.content.get_mut(block));
            if let Some(Block::ToolCall(call)) = call {
                call.id = id;
            }
        }
    }
}

/// The call that a result answers: the one with its id; else the first open one of its name; else the first open one.
fn partner(asked: &[Asked], id: &str, name: &str) -> Option<usize> {
    if let Some(place) = asked.iter().position(|call| !id.is_empty() && call.id == id) {
        return Some(place);
    }
    // A result with an id can only belong to a call that has none of its own.
    let open = |call: &&Asked| !call.answered && (id.is_empty() || call.generated);
    let named = asked.iter().position(|call| open(&call) && call.name == name);
    named.or_else(|| asked.iter().position(|call| open(&call)).filter(|_| id.is_empty()))
}
