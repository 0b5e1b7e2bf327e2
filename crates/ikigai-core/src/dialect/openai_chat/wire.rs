//! This dialect's objects as they are on the wire.
//!
//! All of them are loose: anything of an unexpected form stays in `rest` and is written back unchanged. A request's
//! message, an answer's message and a chunk's delta are one struct, because the family mixes their fields.

use std::borrow::Cow;

use serde::{Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::dialect::media::Address;
use crate::json::loose::{Item, Loose, Odd, Words};
use crate::json::many::Many;
use crate::json::wire::{Raw, Rest, Text};

pub(super) use crate::json::many::{find, put};

loose! {
    /// The body of a request. Its other fields are read by name.
    pub(super) struct Asked<'a> {
        model "model": Words<'a>,
        messages "messages": Vec<Item<'a, Message<'a>>>,
        tools "tools": Vec<Item<'a, Tool<'a>>>,
        functions "functions": Vec<Item<'a, Function<'a>>>,
    }

    /// A whole answer, or a chunk of one.
    pub(super) struct Answer<'a> {
        id "id": Words<'a>,
        object "object": Option<Text<'a>>,
        created "created": Option<Raw<'a>>,
        model "model": Option<Text<'a>>,
        choices "choices": Vec<Item<'a, Choice<'a>>>,
        usage "usage": Option<Raw<'a>>,
    }

    /// One choice of an answer.
    pub(super) struct Choice<'a> {
        index "index": Option<u64>,
        message "message": Option<Box<Message<'a>>>,
        delta "delta": Option<Box<Message<'a>>>,
        logprobs "logprobs": Option<Raw<'a>>,
        finish_reason "finish_reason": Option<Text<'a>>,
    }

    /// A message, or a piece of one.
    pub(super) struct Message<'a> {
        role "role": Option<Text<'a>>,
        tool_call_id "tool_call_id": Option<Text<'a>>,
        content "content": Content<'a>,
        refusal "refusal": Words<'a>,
        reasoning_content "reasoning_content": Words<'a>,
        reasoning "reasoning": Words<'a>,
        reasoning_text "reasoning_text": Words<'a>,
        details "reasoning_details": Vec<Raw<'a>>,
        thinking_blocks "thinking_blocks": Vec<Raw<'a>>,
        opaque "reasoning_opaque": Words<'a>,
        audio "audio": Option<Raw<'a>>,
        images "images": Vec<Item<'a, Part<'a>>>,
        function_call "function_call": Option<Box<Function<'a>>>,
        tool_calls "tool_calls": Vec<Item<'a, Call<'a>>>,
        extra_content "extra_content": Option<Raw<'a>>,
    }

    /// One part of a message's content.
    pub(super) struct Part<'a> {
        kind "type": Option<Text<'a>>,
        text "text": Option<Text<'a>>,
        refusal "refusal": Option<Text<'a>>,
        /// A string, or a list of text parts.
        thinking "thinking": Option<Raw<'a>>,
        /// Reasoning as Databricks writes it: a list of one text, with its signature.
        summary "summary": Vec<Raw<'a>>,
        /// An object, or a plain URL.
        image_url "image_url": Option<Inner<'a>>,
        /// An object, or plain data.
        input_audio "input_audio": Option<Inner<'a>>,
        file "file": Option<Box<Medium<'a>>>,
        document_url "document_url": Option<Address<'a>>,
        document_name "document_name": Option<Text<'a>>,
    }

    /// The inner object of a part with media.
    pub(super) struct Medium<'a> {
        url "url": Option<Address<'a>>,
        data "data": Option<Text<'a>>,
        format "format": Option<Text<'a>>,
        filename "filename": Option<Text<'a>>,
        file_data "file_data": Option<Address<'a>>,
        file_id "file_id": Option<Text<'a>>,
    }

    /// Speech made by the model.
    pub(super) struct Speech<'a> {
        id "id": Option<Text<'a>>,
        data "data": Words<'a>,
        transcript "transcript": Option<Text<'a>>,
    }

    /// An item of `reasoning_details`, or a piece of one.
    pub(super) struct Detail<'a> {
        kind "type": Option<Text<'a>>,
        index "index": Option<u64>,
        text "text": Option<Text<'a>>,
        summary "summary": Option<Text<'a>>,
        data "data": Option<Text<'a>>,
        id "id": Option<Text<'a>>,
    }

    /// A signed block of thinking, or a piece of one: the text in the summary of a `reasoning` part, or an item of
    /// `thinking_blocks`.
    pub(super) struct Signed<'a> {
        kind "type": Option<Text<'a>>,
        text "text": Option<Text<'a>>,
        thinking "thinking": Option<Text<'a>>,
        signature "signature": Option<Text<'a>>,
    }

    /// A tool call, or a piece of one.
    pub(super) struct Call<'a> {
        index "index": Option<u64>,
        id "id": Words<'a>,
        kind "type": Option<Text<'a>>,
        function "function": Option<Box<Function<'a>>>,
        custom "custom": Option<Box<Function<'a>>>,
        extra_content "extra_content": Option<Raw<'a>>,
    }

    /// A tool offered to the model.
    pub(super) struct Tool<'a> {
        kind "type": Option<Text<'a>>,
        function "function": Option<Box<Function<'a>>>,
    }

    /// A function offered or called, or a custom tool called with any text.
    pub(super) struct Function<'a> {
        name "name": Option<Text<'a>>,
        description "description": Option<Text<'a>>,
        parameters "parameters": Option<Raw<'a>>,
        strict "strict": Option<bool>,
        /// A string, or the object that some send.
        arguments "arguments": Option<Raw<'a>>,
        input "input": Option<Text<'a>>,
    }
}

/// The media in a part: an object, or a plain string.
#[derive(Debug, Clone)]
pub(super) enum Inner<'a> {
    /// As received.
    Raw(Raw<'a>),
    Object(Box<Medium<'a>>),
    Plain(Address<'a>),
}

impl<'a> Loose<'a> for Option<Inner<'a>> {
    fn fill<D: Deserializer<'a>>(&mut self, deserializer: D) -> Result<Odd<'a>, D::Error> {
        let mut raw: Option<Raw<'a>> = None;
        let odd = raw.fill(deserializer)?;
        *self = raw.map(Inner::Raw);
        Ok(odd)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Inner::Raw(raw) => raw.serialize(serializer),
            Inner::Object(object) => object.serialize(serializer),
            Inner::Plain(text) => text.serialize(serializer),
        }
    }
}

/// The content of a message: a string, or a list of parts.
pub(super) type Content<'a> = Many<'a, Part<'a>>;

/// Adds fields to a message. A `content` of unknown form replaces ours.
pub(super) fn add<'a>(message: &mut Message<'a>, extra: Rest<'a>) {
    if find(&extra, "content").is_some() {
        message.content = Content::Absent;
        take(&mut message.rest, "content");
    }
    message.rest.extend(extra);
}

/// Whether a name in `rest` is an empty list; a list with items has its own field.
pub(super) fn is_empty_list(rest: &Rest<'_>, name: &str) -> bool {
    find(rest, name).is_some_and(|raw| raw.get() == "[]")
}

/// Removes a name from `rest` and returns its value.
pub(super) fn take<'a>(rest: &mut Rest<'a>, name: &str) -> Option<Cow<'a, RawValue>> {
    let place = rest.iter().rposition(|(own, _)| own == name)?;
    Some(rest.remove(place).1)
}
