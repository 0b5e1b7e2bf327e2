//! The response object, both ways.

use serde_json::{Value, json};

use super::fields::{foreign_part, has_foreign_state, object, own, own_object, put_back, take_list, take_text};
use super::items::{self, Keep, OpenMessage};
use super::{ME, Object, error, usage};
use crate::dialect::openai_error;
use crate::dialect::seal::Sealed;
use crate::{
    Block, Error, FinishReason, Ids, Image, Loss, ProviderData, Reply, Response, Source, Text, ThinkingBlock, ToolCall,
    Usage,
};

/// A response object taken apart.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) output: Vec<Value>,
    pub(super) usage: Option<Usage>,
    /// The provider's words for the end, and everything without a canonical field.
    pub(super) data: ProviderData,
    /// What broke the answer, if anything did.
    pub(super) error: Option<Box<Error>>,
}

/// Takes a response object apart.
pub(super) fn parse(mut body: Object) -> Parsed {
    let error = error::of_response(&body).map(Box::new);
    let mut parsed = Parsed {
        id: take_text(&mut body, "id"),
        model: take_text(&mut body, "model"),
        output: take_list(&mut body, "output").unwrap_or_default(),
        error,
        ..Parsed::default()
    };
    if let Some(usage) = body.get("usage").and_then(usage::decode) {
        parsed.usage = Some(usage);
        body.shift_remove("usage");
    }
    if let Some(status) = take_text(&mut body, "status") {
        parsed.data.set(ME, "status", status);
    }
    if body.get("incomplete_details").is_some_and(|details| !details.is_null())
        && let Some(details) = body.shift_remove("incomplete_details")
    {
        parsed.data.set(ME, "incomplete_details", details);
    }
    parsed.data.set(ME, "response", Value::Object(body));
    parsed
}

/// Reads a whole answer.
///
/// # Errors
/// The failure that the body reports, also with a status of 200; what had been answered until then is its `partial`.
pub(crate) fn decode_response(body: Value, ids: &mut Ids) -> Result<Response, Error> {
    let Value::Object(fields) = body else {
        return Err(Error::protocol("the answer is no JSON object"));
    };
    let known = fields.get("output").is_some_and(Value::is_array)
        || fields.get("object").is_some_and(|kind| kind == "response");
    if !known {
        let body = Value::Object(fields);
        return Err(openai_error::find(ME, &body)
            .unwrap_or_else(|| Error::protocol("the answer has no `output`: it is no answer of the Responses API")));
    }
    let mut parsed = parse(fields);
    let failure = parsed.error.take();
    let response = whole(parsed, ids);
    match failure {
        Some(mut error) => {
            error.partial = Some(Box::new(Response { finish_reason: FinishReason::Error, ..response }));
            Err(*error)
        }
        None => Ok(response),
    }
}

fn whole(parsed: Parsed, ids: &mut Ids) -> Response {
    let mut content: Vec<Block> = Vec::with_capacity(parsed.output.len());
    for item in parsed.output {
        let Value::Object(item) = item else { continue };
        let after_text = matches!(content.last(), Some(Block::Text(_)));
        content.extend(items::decode(item, after_text));
    }
    for block in &mut content {
        if let Block::ToolCall(call) = block
            && call.id.is_empty()
        {
            call.id = format!("call_{}", ids.next_id());
        }
    }
    let mut response = Response {
        id: parsed.id,
        model: parsed.model.unwrap_or_default(),
        finish_reason: finish(&parsed.data, Asks::of(&content)),
        content,
        usage: parsed.usage,
        provider_data: parsed.data,
        ..Response::default()
    };
    if let Some(total) = response.usage.as_ref().and_then(usage::odd_total) {
        response.warnings.push(Loss::info(
            "usage",
            "usage.total_tokens",
            format!("the provider counts {total} tokens in all, which is not the sum of its counts"),
        ));
    }
    response
}

/// What the content of an answer says about its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Asks {
    /// There is a call that the client has to run.
    pub(super) tools: bool,
    /// The model refused.
    pub(super) refuses: bool,
}

impl Asks {
    pub(super) fn of(content: &[Block]) -> Self {
        let mut asks = Asks::default();
        content.iter().for_each(|block| asks.see(block));
        asks
    }

    pub(super) fn see(&mut self, block: &Block) {
        match block {
            Block::ToolCall(_) => self.tools = true,
            Block::Text(text) => self.refuses |= items::is_refusal(text),
            Block::Other(other) => {
                let kind = other.data.get("type").and_then(Value::as_str);
                self.tools |= other.dialect == ME && matches!(kind, Some("custom_tool_call" | "function_call"));
            }
            Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) | Block::Thinking(_) => {}
        }
    }
}

/// Why the answer ended. `completed` says nothing about tools or refusals: the content does.
pub(super) fn finish(data: &ProviderData, asks: Asks) -> FinishReason {
    let reason = data.value(ME, "incomplete_details").and_then(|details| details.get("reason")).and_then(Value::as_str);
    match data.str(ME, "status") {
        Some("completed") if asks.tools => FinishReason::ToolUse,
        Some("completed") if asks.refuses => FinishReason::ContentFilter,
        Some("completed") => FinishReason::Stop,
        Some("incomplete") => match reason {
            Some("max_output_tokens" | "max_messages") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            _ => FinishReason::Unknown,
        },
        Some("failed" | "cancelled") => FinishReason::Error,
        _ => FinishReason::Unknown,
    }
}

/// Writes an answer for a client.
///
/// A client of this dialect has no place for sounds, documents and pictures by address in an answer, nor for another
/// dialect's own blocks: they are left out.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> Value {
    let mut ids = reply.ids.clone();
    let mut body = begin(&response.provider_data, response.id.as_deref(), &response.model, reply, &mut ids);
    let output = output(response, reply, &mut ids);
    let refuses = Asks::of(&response.content);
    let end = End { finish: response.finish_reason, error: response.error.as_deref(), usage: response.usage.as_ref() };
    finish_object(&mut body, &response.provider_data, end, refuses);
    if body.get("output_text").and_then(Value::as_str).is_some_and(|text| text != response.text()) {
        // A helper field of client libraries. It must not contradict the items.
        body.shift_remove("output_text");
    }
    body.insert("output".into(), Value::Array(output));
    Value::Object(body)
}

/// The response object before anything was answered.
///
/// `data` is what the answer itself brought along in this dialect; an answer from elsewhere gets the members that
/// clients insist on.
pub(super) fn begin(data: &ProviderData, id: Option<&str>, model: &str, reply: &Reply, ids: &mut Ids) -> Object {
    let kept = own_object(data, "response");
    let model = if model.is_empty() { reply.model.as_deref().unwrap_or_default() } else { model };
    let mut body = Object::new();
    if let Some(kept) = kept {
        if let Some(id) = id {
            body.insert("id".into(), id.into());
        }
        if !model.is_empty() {
            body.insert("model".into(), model.into());
        }
        put_back(&mut body, Some(kept));
        return body;
    }
    let id = match id {
        Some(id) if id.starts_with("resp_") => id.to_owned(),
        _ => format!("resp_{}", ids.next_id()),
    };
    put_back(
        &mut body,
        json!({
            "id": id,
            "object": "response",
            "created_at": reply.created,
            "status": "in_progress",
            "background": false,
            "error": null,
            "incomplete_details": null,
            "instructions": null,
            "max_output_tokens": null,
            "model": model,
            "output": [],
            "parallel_tool_calls": true,
            "previous_response_id": null,
            "reasoning": {"effort": null, "summary": null},
            "store": false,
            "temperature": null,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": null,
            "truncation": "disabled",
            "usage": null,
            "metadata": {},
        })
        .as_object(),
    );
    body
}

/// How an answer ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) finish: FinishReason,
    pub(super) error: Option<&'a Error>,
    pub(super) usage: Option<&'a Usage>,
}

/// Writes the end into the response object: status, details, error, usage.
pub(super) fn finish_object(body: &mut Object, data: &ProviderData, end: End<'_>, asks: Asks) {
    // The provider's own words, unless the answer has been changed since.
    let own_words = own(data).is_some_and(|own| own.contains_key("status") || own.contains_key("response"))
        && finish(data, asks) == end.finish
        && end.error.is_none();
    if own_words {
        for key in ["status", "incomplete_details"] {
            if let Some(value) = data.value(ME, key) {
                body.insert(key.into(), value.clone());
            }
        }
    } else {
        let (status, reason) = words(end.finish, asks);
        body.insert("status".into(), status.into());
        body.insert("incomplete_details".into(), reason.map_or(Value::Null, |reason| json!({"reason": reason})));
        if status == "failed" {
            body.insert("error".into(), error::in_response(end.error));
        }
    }
    if let Some(usage) = end.usage {
        body.insert("usage".into(), usage::encode(usage));
    }
}

fn words(finish: FinishReason, asks: Asks) -> (&'static str, Option<&'static str>) {
    match finish {
        FinishReason::Stop | FinishReason::ToolUse | FinishReason::Unknown => ("completed", None),
        FinishReason::Length => ("incomplete", Some("max_output_tokens")),
        FinishReason::ContentFilter if asks.refuses => ("completed", None),
        FinishReason::ContentFilter => ("incomplete", Some("content_filter")),
        FinishReason::Error => ("failed", None),
    }
}

fn output(response: &Response, reply: &Reply, ids: &mut Ids) -> Vec<Value> {
    let mut out: Vec<Object> = Vec::with_capacity(response.content.len());
    let mut open: Option<(OpenMessage, bool)> = None;
    let seal = Seal { provider: reply.provider.as_deref(), model: &response.model };
    for block in &response.content {
        if let Block::Text(text) = block {
            if items::begins_item(text) || open.is_none() {
                close(open.take(), ids, &mut out);
                open = Some((OpenMessage::new(text, Keep::Everything), own(&text.provider_data).is_none()));
            }
            if let Some((message, _)) = &mut open {
                message.push(served_part(text));
            }
            if let Some(item) = seal.of_text(text, ids) {
                close(open.take(), ids, &mut out);
                out.push(item);
            }
            continue;
        }
        close(open.take(), ids, &mut out);
        match block {
            Block::Thinking(thinking) => out.push(served_reasoning(thinking, seal, ids)),
            Block::ToolCall(call) => {
                out.push(served_call(call, ids));
                out.extend(seal.of_call(call, ids));
            }
            Block::Image(image) => out.extend(served_image(image, ids)),
            Block::Other(other) if other.dialect == ME => out.extend(other.data.as_object().cloned()),
            Block::Other(_) | Block::Text(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) => {}
        }
    }
    close(open.take(), ids, &mut out);
    out.into_iter().map(Value::Object).collect()
}

fn close(open: Option<(OpenMessage, bool)>, ids: &mut Ids, out: &mut Vec<Object>) {
    if let Some((message, new)) = open {
        let mut item = message.close();
        if new {
            put_back(&mut item, Some(&object([("id", new_id("msg", ids)), ("status", "completed".into())])));
        }
        out.push(item);
    }
}

pub(super) fn new_id(kind: &str, ids: &mut Ids) -> Value {
    format!("{kind}_{}", ids.next_id()).into()
}

/// A part for a client. Clients insist on both lists, so a text from elsewhere gets them empty.
pub(super) fn served_part(text: &Text) -> Object {
    let mut part = items::output_part(text, Keep::Everything);
    if own(&text.provider_data).is_none() && part.get("type").is_some_and(|kind| kind == "output_text") {
        put_back(&mut part, Some(&object([("annotations", json!([])), ("logprobs", json!([]))])));
    }
    part
}

/// A function call for a client.
pub(super) fn served_call(call: &ToolCall, ids: &mut Ids) -> Object {
    let mut item = items::call(call, &call.id, Keep::Everything);
    if own(&call.provider_data).is_none() {
        put_back(&mut item, Some(&object([("id", new_id("fc", ids)), ("status", "completed".into())])));
    }
    item
}

/// A reasoning item for a client, with the state of another dialect sealed where this one keeps its own.
pub(super) fn served_reasoning(block: &ThinkingBlock, seal: Seal<'_>, ids: &mut Ids) -> Object {
    let mut item = items::reasoning(block);
    if own(&block.provider_data).is_none() {
        put_back(&mut item, Some(&object([("id", new_id("rs", ids))])));
    }
    let state = foreign_part(&block.provider_data);
    if !state.is_empty() && !item.contains_key("encrypted_content") {
        item.insert("encrypted_content".into(), seal.text(state).into());
    }
    item
}

/// A picture for a client, as a hosted tool would give it. Only bytes have a place there.
pub(super) fn served_image(image: &Image, ids: &mut Ids) -> Option<Object> {
    let Source::Base64 { media_type, data } = &image.source else { return None };
    let format = media_type.rsplit('/').next().unwrap_or("png");
    Some(object([
        ("id", new_id("ig", ids)),
        ("type", "image_generation_call".into()),
        ("status", "completed".into()),
        ("output_format", format.into()),
        ("result", data.as_str().into()),
    ]))
}

/// Who issued the state that is sealed for the client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seal<'a> {
    pub(super) provider: Option<&'a str>,
    pub(super) model: &'a str,
}

impl Seal<'_> {
    fn text(self, data: ProviderData) -> String {
        let model = (!self.model.is_empty()).then(|| self.model.to_owned());
        Sealed { provider: self.provider.map(str::to_owned), model, data }.to_text()
    }

    /// State that another dialect keeps on a call. This one has no place for it but a reasoning item, which names the
    /// call that it belongs to.
    pub(super) fn of_call(self, call: &ToolCall, ids: &mut Ids) -> Option<Object> {
        self.beside(&call.provider_data, "call", call.id.as_str().into(), ids)
    }

    /// The same for a text, which stands right before it.
    pub(super) fn of_text(self, text: &Text, ids: &mut Ids) -> Option<Object> {
        self.beside(&text.provider_data, "text", true.into(), ids)
    }

    fn beside(self, data: &ProviderData, key: &str, value: Value, ids: &mut Ids) -> Option<Object> {
        if !has_foreign_state(data) {
            return None;
        }
        let mut state = foreign_part(data);
        state.set(ME, key, value);
        Some(object([
            ("id", new_id("rs", ids)),
            ("type", "reasoning".into()),
            ("summary", json!([])),
            ("encrypted_content", self.text(state).into()),
        ]))
    }
}
