//! From canonical to the wire.

use std::borrow::Cow;

use serde_json::json;

use super::decode::{Asks, finish};
use crate::dialect::losses::{block_loss, note_answer, note_foreign, note_usage};
use crate::dialect::openai_responses::content::{self, Keep, OUTPUT};
use crate::dialect::openai_responses::message::{self, OpenMessage};
use crate::dialect::openai_responses::wire::{self, Entry, Item, Items, Many, Parts, find, put};
use crate::dialect::openai_responses::{DIALECT, error, items, usage};
use crate::dialect::seal::{Answerer, Sealed, may_be_state_alone};
use crate::dialect::{Reply, WireResponse};
use crate::json::wire::{Raw, Text as Words, write};
use crate::wire::Ids;
use crate::{
    Block, BlockKind, Dialect, Error, Fields, FinishReason, Image, Json, Loss, LossCode, Part, ProviderData, Response,
    Source, Text, ThinkingBlock, ToolCall, Usage,
};

/// Encodes an answer for a client.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> WireResponse {
    let mut losses = Vec::new();
    let mut ids = reply.ids.clone();
    let answerer = Answerer::new(reply, Some(&response.model));
    let head = Head::new(&response.provider_data, response.id.as_deref(), &answerer, reply.created, &mut ids);
    let mut body = head.begin();
    let output = Output { answerer: &answerer, ids: &mut ids, losses: &mut losses, items: Vec::new(), open: None }
        .of(&response.content);
    let end = End { finish: response.finish_reason, error: response.error.as_deref(), usage: response.usage.as_ref() };
    end.write(&response.provider_data, Asks::of(&response.content), &mut body, &mut losses);
    if response.provider_data.part(DIALECT, Part::Shape).flag("output_text") {
        body.output_text = Some(response.text().into());
    }
    if !output.is_empty() || find(&body.rest, "output").is_none() {
        body.output = Many::List(output);
    }
    WireResponse { body: write(&body), losses }
}

/// The fields of a response object that stay the same from its start to its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) id: Option<String>,
    model: String,
    /// The other fields.
    rest: Fields,
}

impl Head {
    /// Creates the head. `data` is the answer's own data in this dialect; an answer from another dialect gets the
    /// fields that clients require.
    pub(crate) fn new(data: &ProviderData, id: Option<&str>, answerer: &Answerer, created: u64, ids: &mut Ids) -> Self {
        let model = answerer.model.clone().unwrap_or_default();
        if let Some(own) = own_members(data) {
            return Head { id: id.map(str::to_owned), model, rest: own };
        }
        let id = match id {
            Some(id) if id.starts_with("resp_") => id.to_owned(),
            Some(id) if !id.is_empty() => format!("resp_{id}"),
            Some(_) | None => new_id("resp", ids),
        };
        let members = json!({
            "object": "response",
            "created_at": created,
            "background": false,
            "error": null,
            "incomplete_details": null,
            "instructions": null,
            "max_output_tokens": null,
            "model": "",
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
        });
        let rest = Json::from(members).to::<Fields>().unwrap_or_default();
        let mut head = Head { id: Some(id), model, rest };
        head.update(data);
        head
    }

    /// Updates the fields to the provider's later ones, under the same id.
    pub(crate) fn update(&mut self, data: &ProviderData) {
        if let Some(own) = own_members(data) {
            self.rest = own;
        } else if let Some(tier) = data.part(Dialect::OpenaiChat, Part::Answer).get("service_tier") {
            // The family's other dialect has the same values for it.
            self.rest.set("service_tier", tier.clone());
        }
    }

    /// Returns the response object without any output yet.
    pub(crate) fn begin(&self) -> wire::Response<'_> {
        wire::Response {
            id: self.id.as_deref().map(Words::from),
            model: (!self.model.is_empty()).then(|| self.model.as_str().into()),
            rest: self.rest.as_rest(),
            ..wire::Response::default()
        }
    }
}

/// Returns the fields of a response object that came in this dialect, or `None` for an answer from another one.
fn own_members(data: &ProviderData) -> Option<Fields> {
    let mut members: Fields = data.part(DIALECT, Part::Shape).get("response")?.to().ok()?;
    for (name, value) in data.part(DIALECT, Part::Answer).iter().filter(|(name, _)| *name != "incomplete_details") {
        members.push(name, value.clone());
    }
    Some(members)
}

/// How an answer ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End<'a> {
    pub(crate) finish: FinishReason,
    pub(crate) error: Option<&'a Error>,
    pub(crate) usage: Option<&'a Usage>,
}

impl<'a> End<'a> {
    /// Writes the end into the response object: status, details, error, usage.
    pub(crate) fn write(
        self,
        data: &'a ProviderData,
        asks: Asks,
        body: &mut wire::Response<'a>,
        losses: &mut Vec<Loss>,
    ) {
        note_answer(data, DIALECT, losses);
        note_usage(self.usage, DIALECT, losses);
        let shape = data.part(DIALECT, Part::Shape);
        // The provider's own status, unless the answer has been changed since.
        if shape.get("response").is_some() && finish(data, asks) == self.finish && self.error.is_none() {
            body.status = shape.str("status").map(Words);
            let details = [shape, data.part(DIALECT, Part::Answer)].map(|part| part.get("incomplete_details"));
            body.incomplete_details = details.into_iter().flatten().next().map(Raw::from);
        } else {
            let (status, reason) = words(self.finish, asks);
            body.status = Some(status.into());
            body.rest.retain(|(name, _)| name != "incomplete_details");
            body.incomplete_details = Some(Raw::of(&reason.map(|reason| json!({"reason": reason}))));
            if status == "failed" {
                body.error = Some(Raw::of(&error::in_response(self.error)));
            }
        }
        body.usage = self.usage.map(|usage| Raw::of(&usage::encode(usage)));
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

/// The items of an answer, written one after another.
struct Output<'a, 'o> {
    answerer: &'o Answerer,
    ids: &'o mut Ids,
    losses: &'o mut Vec<Loss>,
    items: Items<'a>,
    /// The message that further parts may join.
    open: Option<OpenMessage<'a>>,
}

impl<'a> Output<'a, '_> {
    fn of(mut self, content: &'a [Block]) -> Items<'a> {
        for (index, block) in content.iter().enumerate() {
            note_block(block, index, self.losses);
            self.block(block);
        }
        self.close();
        self.items
    }

    fn block(&mut self, block: &'a Block) {
        if let Block::Text(text) = block {
            if let Some(item) = seal_alone(text, self.answerer, self.ids) {
                self.close();
                self.items.push(Entry::Fits(item));
                return;
            }
            if message::begins_item(text) {
                self.close();
            }
            if self.open.is_none() {
                let before = self.parts_before(text);
                self.open = Some(OpenMessage::new(text, before, Keep::Everything));
            }
            if let Some(message) = &mut self.open {
                message.text(text, serve_part(text));
            }
            if let Some(item) = seal_text(text, self.answerer, self.ids) {
                self.close();
                self.items.push(Entry::Fits(item));
            }
            return;
        }
        if let (Block::Other(other), Some(message)) = (block, &mut self.open)
            && other.dialect == DIALECT
            && message.other(other)
        {
            return;
        }
        self.close();
        let item = match block {
            Block::Thinking(thinking) => Some(serve_reasoning(thinking, self.answerer, self.ids)),
            Block::ToolCall(call) => Some(serve_call(call, self.ids)),
            Block::Image(image) => serve_image(image, self.ids),
            Block::Other(other) if other.dialect == DIALECT => {
                self.items.push(Entry::Odd(Cow::Borrowed(other.data.raw())));
                None
            }
            Block::Other(_)
            | Block::Text(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::ToolResult(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_) => None,
        };
        self.items.extend(item.map(Entry::Fits));
        if let Block::ToolCall(call) = block {
            self.items.extend(seal_call(call, self.answerer, self.ids).map(Entry::Fits));
        }
    }

    /// Takes back the unknown parts before the first text of a message.
    fn parts_before(&mut self, text: &Text) -> Parts<'a> {
        let written = self.items.iter().rev().map_while(|item| match item {
            Entry::Odd(raw) => Some(raw.as_ref()),
            Entry::Fits(_) => None,
        });
        let count = message::count_before(text, written);
        let parts = self.items.drain(self.items.len().saturating_sub(count)..).filter_map(|item| match item {
            Entry::Odd(raw) => Some(Entry::Odd(raw)),
            Entry::Fits(_) => None,
        });
        parts.collect()
    }

    fn close(&mut self) {
        if let Some(message) = self.open.take() {
            let is_foreign = is_foreign(&message.first.provider_data);
            let mut item = message.close();
            if is_foreign {
                item.id = Some(new_id("msg", self.ids).into());
                item.status = Some("completed".into());
            }
            self.items.push(Entry::Fits(item));
        }
    }
}

/// The name under which this dialect keeps its state.
const SEALED: &str = "encrypted_content";
const FIELDS: [Part; 2] = [Part::Extra, Part::Answer];

/// Notes what a block contains that this wire has no place for.
pub(crate) fn note_block(block: &Block, index: usize, losses: &mut Vec<Loss>) {
    let place = format!("content[{index}]");
    // State has its own slot, unless this dialect's own state is already in it, or the block has none.
    let parts: &[Part] = match block {
        Block::Thinking(thinking) if thinking.provider_data.part(DIALECT, Part::State).get(SEALED).is_none() => &FIELDS,
        Block::Text(_) | Block::ToolCall(_) => &FIELDS,
        _ => &[Part::State, Part::Extra, Part::Answer],
    };
    if let Some(data) = block.provider_data() {
        note_foreign(data, DIALECT, parts, &format!("{place}."), losses);
    }
    let (code, why) = match block {
        Block::Text(_) | Block::ToolCall(_) | Block::Thinking(_) => return,
        Block::Image(image) if matches!(image.source, Source::Base64 { .. }) => return,
        Block::Image(_) => (LossCode::Media, "a picture in an answer needs its bytes here; left out"),
        Block::Document(_) | Block::Audio(_) => (LossCode::Media, "answers have no place for it here; left out"),
        Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => {
            (LossCode::NotInDialect, "answers cannot contain tool results here; left out")
        }
        Block::Other(other) if other.dialect == DIALECT => return,
        Block::Other(other) => return losses.push(block_loss(other, place)),
    };
    losses.push(Loss::new(code, block.kind().as_str(), place, why));
}

/// Whether a block came from another dialect.
fn is_foreign(data: &ProviderData) -> bool {
    // Foreign texts get annotations too.
    [Part::State, Part::Extra, Part::Shape].into_iter().all(|part| data.part(DIALECT, part).is_empty())
        && data.part(DIALECT, Part::Answer).names().all(|name| name == "annotations")
}

pub(crate) fn new_id(kind: &str, ids: &mut Ids) -> String {
    format!("{kind}_{}", ids.next_id())
}

/// Writes a part for a client. Clients require both lists, so a foreign text gets them empty.
pub(crate) fn serve_part(text: &Text) -> wire::Part<'_> {
    let mut part = content::encode_text(text, OUTPUT, Keep::Everything);
    if is_foreign(&text.provider_data) && part.refusal.is_none() {
        if wire::find(&part.rest, "annotations").is_none() {
            part.annotations = Some(empty_list());
        }
        part.logprobs = Some(empty_list());
    }
    part
}

pub(crate) fn empty_list() -> Raw<'static> {
    Raw::of::<[(); 0]>(&[])
}

/// Writes a function call for a client.
pub(crate) fn serve_call<'a>(call: &'a ToolCall, ids: &mut Ids) -> Item<'a> {
    let mut item = items::encode_call(call, Keep::Everything);
    if is_foreign(&call.provider_data) {
        item.id = Some(new_id("fc", ids).into());
        item.status = Some("completed".into());
    }
    item
}

/// Writes a reasoning item for a client, with another dialect's state sealed into the field for this one's.
pub(crate) fn serve_reasoning<'a>(block: &'a ThinkingBlock, answerer: &Answerer, ids: &mut Ids) -> Item<'a> {
    let mut item = items::encode_reasoning(block, Keep::Everything);
    if is_foreign(&block.provider_data) {
        item.id = Some(new_id("rs", ids).into());
    }
    if item.encrypted_content.is_none() {
        let sealed = Sealed::of(&block.provider_data, BlockKind::Thinking, DIALECT, answerer);
        item.encrypted_content = sealed.map(|sealed| sealed.to_text().into());
    }
    item
}

/// Writes a picture for a client, in the form of a hosted tool's. It must be inline.
pub(crate) fn serve_image<'a>(image: &'a Image, ids: &mut Ids) -> Option<Item<'a>> {
    let Source::Base64 { media_type, data } = &image.source else { return None };
    let format = media_type.rsplit('/').next().unwrap_or("png");
    let mut item = Item {
        id: Some(new_id("ig", ids).into()),
        kind: Some("image_generation_call".into()),
        status: Some("completed".into()),
        ..Item::default()
    };
    put(&mut item.rest, "output_format", format);
    put(&mut item.rest, "result", data.as_str());
    Some(item)
}

/// Seals the state that another dialect keeps on a call. The only place for it here is a reasoning item, which names its
/// call.
pub(crate) fn seal_call(call: &ToolCall, answerer: &Answerer, ids: &mut Ids) -> Option<Item<'static>> {
    let mut sealed = Sealed::of(&call.provider_data, BlockKind::ToolCall, DIALECT, answerer)?;
    sealed.note.set("call", call.id.as_str());
    Some(carrier(&sealed, ids))
}

/// Does the same for a text, which comes right before the item.
pub(crate) fn seal_text(text: &Text, answerer: &Answerer, ids: &mut Ids) -> Option<Item<'static>> {
    let mut sealed = Sealed::of(&text.provider_data, BlockKind::Text, DIALECT, answerer)?;
    sealed.note.set("text", true);
    Some(carrier(&sealed, ids))
}

/// Seals a text block that is nothing but another dialect's state. It is not written as a part: readers take an empty part
/// for a text, and some for the answer.
pub(crate) fn seal_alone(text: &Text, answerer: &Answerer, ids: &mut Ids) -> Option<Item<'static>> {
    if !may_be_state_alone(text, DIALECT) {
        return None;
    }
    let mut sealed = Sealed::of(&text.provider_data, BlockKind::Text, DIALECT, answerer)?;
    sealed.note.set("alone", true);
    Some(carrier(&sealed, ids))
}

/// Makes a reasoning item that only carries another dialect's state.
fn carrier(sealed: &Sealed, ids: &mut Ids) -> Item<'static> {
    Item {
        id: Some(new_id("rs", ids).into()),
        kind: Some("reasoning".into()),
        summary: Many::List(Vec::new()),
        encrypted_content: Some(sealed.to_text().into()),
        ..Item::default()
    }
}
