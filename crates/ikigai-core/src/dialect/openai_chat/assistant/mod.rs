//! What the assistant says, as it stands in answers and in the history of requests.

mod sealed;

use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::marks::{
    self, DIALECT, EXTRA, EXTRA_CONTENT, ID_GENERATED, REASONING_ALSO, REASONING_DETAILS, REASONING_FIELD, REFUSAL,
    Shape, Side, keep, keep_extra, mark, put_back, take_list, take_object, take_text,
};
use super::part::{self, FIELD_CONTENT};
use crate::{Audio, Block, Ids, ProviderData, Source, Text, ThinkingBlock, ToolCall};

pub(super) use sealed::{seal, seal_parts, take_sealed, unseal};

/// Marks of calls and media; each only says how the same thing was spelt.
const NO_TYPE: &str = "no_type";
const NO_ID: &str = "no_id";
const NO_ARGUMENTS: &str = "no_arguments";
const ARGUMENTS_OBJECT: &str = "arguments_object";
const FUNCTION_CALL: &str = "function_call";
const CUSTOM: &str = "custom";
const IMAGES: &str = "images";
const AUDIO: &str = "audio";
/// Entries of `tool_calls` that are no calls of functions, with their places.
const OTHER_CALLS: &str = "other_calls";

/// The fields that bear reasoning as plain text, first choice first.
const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// A message of the assistant, read.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) content: Vec<Block>,
    /// What goes into the `provider_data` of the message or the answer: leftovers of this side.
    pub(super) kept: Map<String, Value>,
    /// Google's slot for signatures, where the message itself has one.
    pub(super) extra_content: Option<Value>,
}

/// Reads a message's fields, its role apart.
pub(super) fn decode(mut fields: Map<String, Value>, side: Side, ids: &mut Ids) -> Said {
    let mut said = Said::default();
    said.content.extend(reasoning(&mut fields));
    let before = said.content.len();
    let shape = content(&mut fields, side, &mut said.content);
    if let Some(text) = fields.get("refusal").and_then(Value::as_str)
        && !text.is_empty()
    {
        said.content.extend(take_text(&mut fields, "refusal").map(refusal));
    }
    images(&mut fields, side, &mut said.content);
    said.content.extend(audio(&mut fields, side));
    let before_calls = said.content.len();
    function_call(&mut fields, side, ids, &mut said.content);
    tool_calls(&mut fields, side, ids, &mut said);
    let has_calls = said.content.len() > before_calls;
    match shape {
        // That is how it is written anyway.
        Some(Shape::Null) if has_calls && before == before_calls => {}
        Some(shape) => shape.note(&mut said.kept),
        None => {}
    }
    said.extra_content = fields.shift_remove("extra_content");
    keep_extra(&mut said.kept, fields);
    said
}

/// The thinking block that the reasoning fields make, if they say anything. Empty ones stay where they are.
fn reasoning(fields: &mut Map<String, Value>) -> Option<Block> {
    let mut provider_data = ProviderData::default();
    let says = |fields: &Map<String, Value>, key: &str| {
        fields.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
    };
    let field = REASONING_FIELDS.into_iter().find(|key| says(fields, key));
    let mut text = field.and_then(|field| take_text(fields, field)).unwrap_or_default();
    if let Some(field) = field {
        provider_data.set(DIALECT, REASONING_FIELD, field);
        let also = REASONING_FIELDS.into_iter().find(|key| fields.get(*key).is_some_and(|other| *other == text));
        if let Some(also) = also {
            fields.shift_remove(also);
            provider_data.set(DIALECT, REASONING_ALSO, also);
        }
    }
    let has_details = fields.get("reasoning_details").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    if has_details {
        let details = take_list(fields, "reasoning_details").unwrap_or_default();
        if field.is_none() {
            text = details_text(&details);
            provider_data.set(DIALECT, REASONING_FIELD, REASONING_DETAILS);
        }
        provider_data.set(DIALECT, REASONING_DETAILS, details);
    }
    (!provider_data.is_empty()).then_some(Block::Thinking(ThinkingBlock { text, provider_data }))
}

/// The visible text of `reasoning_details`.
pub(super) fn details_text(details: &[Value]) -> String {
    details.iter().filter_map(|detail| detail.get("text").or_else(|| detail.get("summary"))?.as_str()).collect()
}

/// Reads `content`, and says how it was written where the blocks do not tell.
fn content(fields: &mut Map<String, Value>, side: Side, blocks: &mut Vec<Block>) -> Option<Shape> {
    match fields.get("content") {
        None => Some(Shape::Absent),
        Some(Value::Null) => {
            fields.shift_remove("content");
            Some(Shape::Null)
        }
        Some(Value::String(text)) if text.is_empty() => {
            fields.shift_remove("content");
            Some(Shape::Empty)
        }
        Some(Value::String(_)) => {
            blocks.extend(take_text(fields, "content").map(Block::text));
            None
        }
        Some(Value::Array(_)) => {
            let parts = take_list(fields, "content").unwrap_or_default();
            blocks.extend(parts.into_iter().map(|part| part::decode(part, side)));
            Some(Shape::Parts)
        }
        // Nobody writes it so; it stays as it is.
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => Some(Shape::Absent),
    }
}

pub(super) fn refusal(text: String) -> Block {
    let mut block = Text { text, ..Text::default() };
    block.provider_data.set(DIALECT, REFUSAL, true);
    Block::Text(block)
}

/// Pictures that the model made, which one relay gives beside the text.
fn images(fields: &mut Map<String, Value>, side: Side, blocks: &mut Vec<Block>) {
    let readable = fields.get("images").and_then(Value::as_array).is_some_and(|images| {
        !images.is_empty() && images.iter().all(|image| image.get("type").is_some_and(|kind| kind == "image_url"))
    });
    if !readable {
        return;
    }
    blocks.extend(made(take_list(fields, "images").unwrap_or_default(), side));
}

fn made(images: Vec<Value>, side: Side) -> impl Iterator<Item = Block> {
    images.into_iter().map(move |image| {
        let mut block = part::decode(image, side);
        if let Some(data) = block.provider_data_mut() {
            data.set(DIALECT, IMAGES, true);
        }
        block
    })
}

/// Pictures of an answer that arrives in pieces; each comes whole.
pub(super) fn made_images(images: Vec<Value>) -> impl Iterator<Item = Block> {
    made(images, Side::Response)
}

/// Speech that the model made. The transcript stays beside it: it is no text of the answer.
fn audio(fields: &mut Map<String, Value>, side: Side) -> Option<Block> {
    let spoken = fields.get("audio")?.get("data")?.as_str()?;
    if spoken.is_empty() {
        return None;
    }
    let mut inner = take_object(fields, "audio")?;
    let data = take_text(&mut inner, "data")?;
    let media_type = part::sniffed(&data).unwrap_or("audio/pcm").to_owned();
    Some(audio_block(Source::Base64 { media_type, data }, inner, side))
}

/// A block of speech; `id` names it in the next request, so it is state, and the rest is not.
pub(super) fn audio_block(source: Source, mut inner: Map<String, Value>, side: Side) -> Block {
    let mut provider_data = ProviderData::default();
    let mut kept = Map::new();
    let id = inner.shift_remove("id");
    keep_extra(&mut kept, inner);
    keep(&mut provider_data, side, kept);
    provider_data.set(DIALECT, AUDIO, id.unwrap_or_default());
    Block::Audio(Audio { source, cache: None, provider_data })
}

/// The older form of a single call.
fn function_call(fields: &mut Map<String, Value>, side: Side, ids: &mut Ids, blocks: &mut Vec<Block>) {
    let named = fields
        .get("function_call")
        .and_then(|call| call.get("name"))
        .and_then(Value::as_str)
        .is_some_and(|name| !name.is_empty());
    if !named {
        return;
    }
    let Some(function) = take_object(fields, "function_call") else { return };
    let mut call = ToolCall { id: ids.next_id(), ..ToolCall::default() };
    let mut kept = Map::new();
    mark(&mut kept, FUNCTION_CALL);
    let rest = read_function(function, &mut call, &mut kept);
    keep_extra(&mut kept, rest);
    keep(&mut call.provider_data, side, kept);
    call.provider_data.set(DIALECT, ID_GENERATED, true);
    blocks.push(Block::ToolCall(call));
}

fn tool_calls(fields: &mut Map<String, Value>, side: Side, ids: &mut Ids, said: &mut Said) {
    if !fields.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty()) {
        return;
    }
    let mut others = Vec::new();
    for (at, call) in take_list(fields, "tool_calls").unwrap_or_default().into_iter().enumerate() {
        match decode_call(call, side, ids) {
            Ok(call) => said.content.push(Block::ToolCall(call)),
            Err(call) => others.push(json!({"at": at, "call": call})),
        }
    }
    if !others.is_empty() {
        said.kept.insert(OTHER_CALLS.to_owned(), Value::Array(others));
    }
}

/// Reads one entry of `tool_calls`; gives it back when it is no call of a function.
fn decode_call(entry: Value, side: Side, ids: &mut Ids) -> Result<ToolCall, Value> {
    let Value::Object(mut fields) = entry else { return Err(entry) };
    let is_custom = fields.get("type").is_some_and(|kind| kind == "custom");
    let inner = if is_custom { "custom" } else { "function" };
    let Some(function) = take_object(&mut fields, inner) else { return Err(Value::Object(fields)) };
    let mut call = ToolCall::default();
    let mut kept = Map::new();
    match take_text(&mut fields, "id") {
        Some(id) if !id.is_empty() => call.id = id,
        empty => {
            call.id = ids.next_id();
            call.provider_data.set(DIALECT, ID_GENERATED, true);
            match empty {
                Some(empty) => {
                    fields.insert("id".to_owned(), Value::String(empty));
                }
                None if !fields.contains_key("id") => mark(&mut kept, NO_ID),
                None => {}
            }
        }
    }
    match fields.get("type").and_then(Value::as_str) {
        Some("function" | "custom") => {
            fields.shift_remove("type");
        }
        _ => mark(&mut kept, NO_TYPE),
    }
    if is_custom {
        mark(&mut kept, CUSTOM);
    }
    if let Some(state) = fields.shift_remove("extra_content") {
        call.provider_data.set(DIALECT, EXTRA_CONTENT, state);
    }
    let rest = if is_custom {
        let mut function = function;
        call.name = take_text(&mut function, "name").unwrap_or_default();
        call.set_arguments_text(take_text(&mut function, "input").unwrap_or_default());
        function
    } else {
        read_function(function, &mut call, &mut kept)
    };
    if !rest.is_empty() {
        // Below its own name, to be told from the fields around it.
        fields.insert(inner.to_owned(), Value::Object(rest));
    }
    keep_extra(&mut kept, fields);
    keep(&mut call.provider_data, side, kept);
    Ok(call)
}

/// How a streamed call was spelt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spelling {
    pub(super) without_id: bool,
    pub(super) without_type: bool,
    pub(super) custom: bool,
    pub(super) older_form: bool,
}

impl Spelling {
    /// What a whole answer would keep about it.
    pub(super) fn marks(self) -> ProviderData {
        let mut data = ProviderData::default();
        let mut kept = Map::new();
        let all = [
            (self.without_id && !self.older_form, NO_ID),
            (self.without_type && !self.older_form, NO_TYPE),
            (self.custom, CUSTOM),
            (self.older_form, FUNCTION_CALL),
        ];
        for (_, name) in all.into_iter().filter(|(is, _)| *is) {
            mark(&mut kept, name);
        }
        keep(&mut data, Side::Response, kept);
        if self.without_id {
            data.set(DIALECT, ID_GENERATED, true);
        }
        data
    }
}

/// Reads name and arguments, and gives what else there is.
fn read_function(
    mut function: Map<String, Value>,
    call: &mut ToolCall,
    kept: &mut Map<String, Value>,
) -> Map<String, Value> {
    call.name = take_text(&mut function, "name").unwrap_or_default();
    match function.get("arguments") {
        Some(Value::String(_)) => call.set_arguments_text(take_text(&mut function, "arguments").unwrap_or_default()),
        Some(Value::Object(_)) => {
            call.arguments = take_object(&mut function, "arguments").unwrap_or_default();
            mark(kept, ARGUMENTS_OBJECT);
        }
        // Null, or not at all: no arguments. A null stays with the rest.
        _ => mark(kept, NO_ARGUMENTS),
    }
    function
}

/// Writes a message's fields as they came, the role apart: for answers, and for requests that go back unchanged.
///
/// Thinking that came from nowhere in this dialect goes into `default_field`.
pub(super) fn encode(
    content: &[Block],
    kept: Option<&Map<String, Value>>,
    side: Side,
    default_field: &str,
) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(value) = content_value(content, Shape::read(kept), side) {
        fields.insert("content".to_owned(), value);
    }
    let refusals: String = content.iter().filter_map(|block| refusal_text(block, side)).collect();
    if !refusals.is_empty() {
        fields.insert("refusal".to_owned(), refusals.into());
    }
    put_reasoning(&mut fields, content, default_field);
    put_media(&mut fields, content, Shape::read(kept), side);
    put_calls(&mut fields, content, kept, side, |id| id.to_owned());
    put_back(&mut fields, kept.and_then(|kept| kept.get(EXTRA)?.as_object()));
    fields
}

fn refusal_text(block: &Block, side: Side) -> Option<&str> {
    match block {
        Block::Text(text) if part::is_refusal_field(text, side) => Some(&text.text),
        _ => None,
    }
}

/// Where a thinking block came from.
fn field_of(block: &ThinkingBlock) -> Option<&str> {
    block.provider_data.str(DIALECT, REASONING_FIELD)
}

/// `content` in the shape that it had, while that still fits the blocks.
fn content_value(content: &[Block], shape: Option<Shape>, side: Side) -> Option<Value> {
    let parts = shape == Some(Shape::Parts);
    let is_in_content = |block: &&Block| match block {
        Block::Text(text) => !part::is_refusal_field(text, side),
        Block::Thinking(thinking) => field_of(thinking) == Some(FIELD_CONTENT),
        Block::Other(other) => other.dialect == DIALECT,
        Block::Image(_) | Block::Audio(_) | Block::Document(_) => parts && !has_own_field(block),
        Block::ToolCall(_) | Block::ToolResult(_) => false,
    };
    let inside: Vec<&Block> = content.iter().filter(is_in_content).collect();
    let needs_parts = shape == Some(Shape::Parts) || inside.iter().any(|block| block.as_text().is_none());
    if needs_parts {
        return Some(Value::Array(inside.iter().filter_map(|block| part::encode(block, side)).collect()));
    }
    if inside.is_empty() {
        return match shape {
            Some(Shape::Absent) => None,
            Some(Shape::Empty) => Some("".into()),
            Some(Shape::Null | Shape::Parts) | None => Some(Value::Null),
        };
    }
    Some(inside.iter().filter_map(|block| block.as_text()).collect::<String>().into())
}

/// The reasoning fields, each as it came.
fn put_reasoning(fields: &mut Map<String, Value>, content: &[Block], default_field: &str) {
    let mut details = Vec::new();
    for block in content {
        let Block::Thinking(thinking) = block else { continue };
        let field = field_of(thinking).unwrap_or(default_field);
        if field == FIELD_CONTENT {
            continue;
        }
        let also = thinking.provider_data.str(DIALECT, REASONING_ALSO);
        for field in [Some(field), also].into_iter().flatten().filter(|field| *field != REASONING_DETAILS) {
            if thinking.text.is_empty() {
                continue;
            }
            match fields.get_mut(field) {
                Some(Value::String(text)) => text.push_str(&thinking.text),
                _ => {
                    fields.insert(field.to_owned(), thinking.text.as_str().into());
                }
            }
        }
        details.extend(details_of(thinking).iter().cloned());
    }
    if !details.is_empty() {
        fields.insert("reasoning_details".to_owned(), Value::Array(details));
    }
}

/// The details that a thinking block keeps.
pub(super) fn details_of(thinking: &ThinkingBlock) -> &[Value] {
    thinking.provider_data.value(DIALECT, REASONING_DETAILS).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Did this picture or speech stand beside `content`, in a field of its own?
pub(super) fn has_own_field(block: &Block) -> bool {
    block
        .provider_data()
        .is_some_and(|data| data.value(DIALECT, IMAGES).is_some() || data.value(DIALECT, AUDIO).is_some())
}

/// Pictures and speech that the model made, in the fields of their own.
fn put_media(fields: &mut Map<String, Value>, content: &[Block], shape: Option<Shape>, side: Side) {
    let mut images = Vec::new();
    for block in content {
        // In an answer, what another dialect's model made goes there too.
        if !has_own_field(block) && (side == Side::Request || shape == Some(Shape::Parts)) {
            continue;
        }
        match block {
            Block::Image(_) => images.extend(part::encode(block, side)),
            Block::Audio(audio) => put_audio(fields, audio, side),
            Block::Text(_)
            | Block::Document(_)
            | Block::ToolCall(_)
            | Block::ToolResult(_)
            | Block::Thinking(_)
            | Block::Other(_) => {}
        }
    }
    if !images.is_empty() {
        fields.insert("images".to_owned(), Value::Array(images));
    }
}

fn put_audio(fields: &mut Map<String, Value>, audio: &Audio, side: Side) {
    let id = audio.provider_data.value(DIALECT, AUDIO);
    let mut inner = Map::new();
    if let Some(id) = id.filter(|id| !id.is_null()) {
        inner.insert("id".to_owned(), id.clone());
    }
    match (&audio.source, side) {
        // A request names what was said before; it does not say it again.
        (_, Side::Request) => {}
        (Source::Base64 { data, .. }, Side::Response) => {
            inner.insert("data".to_owned(), data.as_str().into());
        }
        (Source::Url { .. } | Source::File { .. } | Source::Text { .. }, Side::Response) => return,
    }
    put_back(&mut inner, marks::extra(&audio.provider_data, side));
    if !inner.is_empty() {
        fields.insert("audio".to_owned(), Value::Object(inner));
    }
}

/// The state that names an earlier piece of speech, to go on with it.
pub(super) fn audio_id(audio: &Audio) -> Option<&Value> {
    audio.provider_data.value(DIALECT, AUDIO).filter(|id| id.is_string())
}

fn put_calls(
    fields: &mut Map<String, Value>,
    content: &[Block],
    kept: Option<&Map<String, Value>>,
    side: Side,
    mut id: impl FnMut(&str) -> String,
) {
    let mut calls = Vec::new();
    for call in content.iter().filter_map(Block::as_tool_call) {
        if marks::marked(&call.provider_data, side, FUNCTION_CALL) {
            let mut function = function_fields(call, side);
            put_back(&mut function, marks::extra(&call.provider_data, side));
            fields.insert("function_call".to_owned(), Value::Object(function));
        } else {
            calls.push(Value::Object(call_fields(call, side, id(&call.id), true)));
        }
    }
    for other in kept.and_then(|kept| kept.get(OTHER_CALLS)?.as_array()).into_iter().flatten() {
        let at = other.get("at").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok()).unwrap_or(calls.len());
        if let Some(call) = other.get("call") {
            calls.insert(at.min(calls.len()), call.clone());
        }
    }
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
}

/// One entry of `tool_calls`. `state` says whether the provider's own state may go along.
pub(super) fn call_fields(call: &ToolCall, side: Side, id: String, state: bool) -> Map<String, Value> {
    let data = &call.provider_data;
    let extra = marks::extra(data, side);
    let is_custom = marks::marked(data, side, CUSTOM);
    let (kind, mut function) = if is_custom {
        let mut custom = Map::new();
        custom.insert("name".to_owned(), call.name.as_str().into());
        custom.insert("input".to_owned(), call.arguments_json().into());
        ("custom", custom)
    } else {
        ("function", function_fields(call, side))
    };
    put_back(&mut function, extra.and_then(|extra| extra.get(kind)?.as_object()));
    let mut fields = Map::new();
    // The provider gave none, or an empty one, and is given that again.
    let unnamed = data.flag(DIALECT, ID_GENERATED)
        && (marks::marked(data, side, NO_ID) || extra.is_some_and(|extra| extra.contains_key("id")));
    if !unnamed {
        fields.insert("id".to_owned(), id.into());
    }
    if !marks::marked(data, side, NO_TYPE) {
        fields.insert("type".to_owned(), kind.into());
    }
    fields.insert(kind.to_owned(), Value::Object(function));
    if let Some(state) = data.value(DIALECT, EXTRA_CONTENT).filter(|_| state) {
        fields.insert("extra_content".to_owned(), state.clone());
    }
    put_back(&mut fields, extra);
    fields
}

fn function_fields(call: &ToolCall, side: Side) -> Map<String, Value> {
    let mut function = Map::new();
    function.insert("name".to_owned(), call.name.as_str().into());
    let data = &call.provider_data;
    let untouched = call.arguments_text.is_none();
    if untouched && call.arguments.is_empty() && marks::marked(data, side, NO_ARGUMENTS) {
        return function;
    }
    if untouched && marks::marked(data, side, ARGUMENTS_OBJECT) {
        function.insert("arguments".to_owned(), Value::Object(call.arguments.clone()));
    } else {
        function.insert("arguments".to_owned(), call.arguments_json().into());
    }
    function
}

/// The state that a call brings along, for its provider.
pub(super) fn call_state(data: &ProviderData) -> Option<&Value> {
    data.value(DIALECT, EXTRA_CONTENT)
}

/// The bytes of speech that arrived in pieces, each encoded by itself.
pub(super) fn joined_audio(pieces: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(pieces)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
