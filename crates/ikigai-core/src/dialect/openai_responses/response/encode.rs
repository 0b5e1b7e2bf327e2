//! Canonical to wire.

use serde_json::{Value, json};

use super::decode::{Asks, finish};
use crate::dialect::Reply;
use crate::dialect::openai_responses::fields::{foreign_part, has_foreign_state, object, own, own_object, put_back};
use crate::dialect::openai_responses::items::{self, Keep, OpenMessage};
use crate::dialect::openai_responses::{ME, Object, error, usage};
use crate::dialect::seal::Sealed;
use crate::{
    Block, Error, FinishReason, Ids, Image, ProviderData, Response, Source, Text, ThinkingBlock, ToolCall, Usage,
};

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
    if response.provider_data.flag(ME, "output_text") {
        body.insert("output_text".into(), response.text().into());
    }
    if !(output.is_empty() && body.contains_key("output")) {
        body.insert("output".into(), Value::Array(output));
    }
    Value::Object(body)
}

/// The response object before anything was answered.
///
/// `data` is what the answer itself brought along in this dialect; an answer from elsewhere gets the members that
/// clients insist on.
pub(in super::super) fn begin(
    data: &ProviderData,
    id: Option<&str>,
    model: &str,
    reply: &Reply,
    ids: &mut Ids,
) -> Object {
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
pub(in super::super) struct End<'a> {
    pub(in super::super) finish: FinishReason,
    pub(in super::super) error: Option<&'a Error>,
    pub(in super::super) usage: Option<&'a Usage>,
}

/// Writes the end into the response object: status, details, error, usage.
pub(in super::super) fn finish_object(body: &mut Object, data: &ProviderData, end: End<'_>, asks: Asks) {
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
    let mut out: Vec<Value> = Vec::with_capacity(response.content.len());
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
                out.push(item.into());
            }
            continue;
        }
        close(open.take(), ids, &mut out);
        match block {
            Block::Thinking(thinking) => out.push(served_reasoning(thinking, seal, ids).into()),
            Block::ToolCall(call) => {
                out.push(served_call(call, ids).into());
                out.extend(seal.of_call(call, ids).map(Value::Object));
            }
            Block::Image(image) => out.extend(served_image(image, ids).map(Value::Object)),
            Block::Other(other) if other.dialect == ME => out.push(other.data.clone().into()),
            Block::Other(_) | Block::Text(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) => {}
        }
    }
    close(open.take(), ids, &mut out);
    out
}

fn close(open: Option<(OpenMessage, bool)>, ids: &mut Ids, out: &mut Vec<Value>) {
    if let Some((message, new)) = open {
        let mut item = message.close();
        if new {
            put_back(&mut item, Some(&object([("id", new_id("msg", ids)), ("status", "completed".into())])));
        }
        out.push(item.into());
    }
}

pub(in super::super) fn new_id(kind: &str, ids: &mut Ids) -> Value {
    format!("{kind}_{}", ids.next_id()).into()
}

/// A part for a client. Clients insist on both lists, so a text from elsewhere gets them empty.
pub(in super::super) fn served_part(text: &Text) -> Object {
    let mut part = items::output_part(text, Keep::Everything);
    if own(&text.provider_data).is_none() && part.get("type").is_some_and(|kind| kind == "output_text") {
        put_back(&mut part, Some(&object([("annotations", json!([])), ("logprobs", json!([]))])));
    }
    part
}

/// A function call for a client.
pub(in super::super) fn served_call(call: &ToolCall, ids: &mut Ids) -> Object {
    let mut item = items::call(call, &call.id, Keep::Everything);
    if own(&call.provider_data).is_none() {
        put_back(&mut item, Some(&object([("id", new_id("fc", ids)), ("status", "completed".into())])));
    }
    item
}

/// A reasoning item for a client, with the state of another dialect sealed where this one keeps its own.
pub(in super::super) fn served_reasoning(block: &ThinkingBlock, seal: Seal<'_>, ids: &mut Ids) -> Object {
    let mut item = items::reasoning(block, Keep::Everything);
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
pub(in super::super) fn served_image(image: &Image, ids: &mut Ids) -> Option<Object> {
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
pub(in super::super) struct Seal<'a> {
    pub(in super::super) provider: Option<&'a str>,
    pub(in super::super) model: &'a str,
}

impl Seal<'_> {
    fn text(self, data: ProviderData) -> String {
        let model = (!self.model.is_empty()).then(|| self.model.to_owned());
        Sealed { provider: self.provider.map(str::to_owned), model, data }.to_text()
    }

    /// State that another dialect keeps on a call. This one has no place for it but a reasoning item, which names the
    /// call that it belongs to.
    pub(in super::super) fn of_call(self, call: &ToolCall, ids: &mut Ids) -> Option<Object> {
        self.beside(&call.provider_data, "call", call.id.as_str().into(), ids)
    }

    /// The same for a text, which stands right before it.
    pub(in super::super) fn of_text(self, text: &Text, ids: &mut Ids) -> Option<Object> {
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
