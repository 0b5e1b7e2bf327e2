//! This API's objects. Each struct has the fields of every kind of object that its place may hold; anything of an
//! unexpected form stays in `rest` and is written back unchanged.

use serde_json::value::RawValue;

use crate::dialect::media::Address;
use crate::json::loose;
use crate::json::wire::{Raw, Text};

pub(super) use crate::json::many::{Document, Many, find, put};

/// An object in a list that may also contain anything else.
pub(super) type Entry<'a, T> = loose::Item<'a, T>;
pub(super) type Parts<'a> = Vec<Entry<'a, Part<'a>>>;
pub(super) type Items<'a> = Vec<Entry<'a, Item<'a>>>;
/// The content of a message or a result.
pub(super) type Content<'a> = Many<'a, Part<'a>>;

loose! {
    /// A request.
    pub(super) struct Request<'a> {
        model "model": Option<Text<'a>>,
        instructions "instructions": Option<Text<'a>>,
        input "input": Many<'a, Item<'a>>,
        tools "tools": Vec<Entry<'a, Tool<'a>>>,
        tool_choice "tool_choice": Option<Raw<'a>>,
        parallel_tool_calls "parallel_tool_calls": Option<bool>,
        reasoning "reasoning": Option<Raw<'a>>,
        text "text": Option<Raw<'a>>,
        max_output_tokens "max_output_tokens": Option<Raw<'a>>,
        temperature "temperature": Option<Raw<'a>>,
        top_p "top_p": Option<Raw<'a>>,
        prompt_cache_key "prompt_cache_key": Option<Text<'a>>,
        metadata "metadata": Option<Raw<'a>>,
        stream "stream": Option<bool>,
    }

    /// An item of a conversation or of an answer.
    pub(super) struct Item<'a> {
        id "id": Option<Text<'a>>,
        kind "type": Option<Text<'a>>,
        status "status": Option<Text<'a>>,
        role "role": Option<Text<'a>>,
        call_id "call_id": Option<Text<'a>>,
        name "name": Option<Text<'a>>,
        arguments "arguments": Option<Text<'a>>,
        output "output": Content<'a>,
        summary "summary": Content<'a>,
        content "content": Content<'a>,
        encrypted_content "encrypted_content": Option<Text<'a>>,
    }

    /// A part of a message, of a result or of reasoning.
    pub(super) struct Part<'a> {
        kind "type": Option<Text<'a>>,
        text "text": Option<Text<'a>>,
        refusal "refusal": Option<Text<'a>>,
        annotations "annotations": Option<Raw<'a>>,
        logprobs "logprobs": Option<Raw<'a>>,
        image_url "image_url": Option<Address<'a>>,
        file_data "file_data": Option<Address<'a>>,
        file_url "file_url": Option<Address<'a>>,
        file_id "file_id": Option<Text<'a>>,
        filename "filename": Option<Text<'a>>,
        prompt_cache_breakpoint "prompt_cache_breakpoint": Option<Raw<'a>>,
    }

    /// A tool.
    pub(super) struct Tool<'a> {
        kind "type": Option<Text<'a>>,
        name "name": Option<Text<'a>>,
        description "description": Option<Text<'a>>,
        parameters "parameters": Option<Raw<'a>>,
        strict "strict": Option<bool>,
        function "function": Option<Box<Tool<'a>>>,
    }

    /// The format of an answer's text.
    pub(super) struct Format<'a> {
        kind "type": Option<Text<'a>>,
        name "name": Option<Text<'a>>,
        description "description": Option<Text<'a>>,
        schema "schema": Option<Raw<'a>>,
        strict "strict": Option<bool>,
    }

    /// The reasoning settings.
    pub(super) struct Reasoning<'a> {
        effort "effort": Option<Text<'a>>,
        summary "summary": Option<Text<'a>>,
        generate_summary "generate_summary": Option<Text<'a>>,
    }

    /// An answer.
    pub(super) struct Response<'a> {
        id "id": Option<Text<'a>>,
        object "object": Option<Text<'a>>,
        status "status": Option<Text<'a>>,
        error "error": Option<Raw<'a>>,
        incomplete_details "incomplete_details": Option<Raw<'a>>,
        model "model": Option<Text<'a>>,
        output "output": Many<'a, Item<'a>>,
        output_text "output_text": Option<Text<'a>>,
        usage "usage": Option<Raw<'a>>,
    }
}

impl<'a> Part<'a> {
    /// Creates a part with a text.
    pub(super) fn text(kind: &'a str, text: &'a str) -> Self {
        Part { kind: Some(kind.into()), text: Some(text.into()), ..Part::default() }
    }
}

/// Returns a field's string, or `""` if it is absent.
pub(super) fn word<'t>(value: &'t Option<Text<'_>>) -> &'t str {
    value.as_ref().map_or("", Text::as_str)
}

/// Returns the `type` of an object that is kept whole.
pub(super) fn kind_of(object: &RawValue) -> Option<String> {
    loose::read_raw::<Tool<'_>>(object)?.kind.map(Text::into_string)
}
