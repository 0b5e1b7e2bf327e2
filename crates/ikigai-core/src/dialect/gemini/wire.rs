//! This API's objects as they are on the wire.
//!
//! Fields are read in both spellings, lowerCamelCase and snake_case, and written back in the original one.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::result::Payload;
use super::usage::UsageMetadata;
use crate::json::wire::{Raw, Text};

wire! {
    /// A request.
    pub(super) struct Body<'a> [names] {
        /// Usually missing: the model is in the path.
        model "model": Text<'a>,
        system "systemInstruction" | "system_instruction": System<'a>,
        contents "contents": OneOrMany<Content<'a>>,
        tools "tools": OneOrMany<ToolEntry<'a>>,
        tool_config "toolConfig" | "tool_config": ToolConfig<'a>,
        config "generationConfig" | "generation_config": Config<'a>,
    }

    /// The content of one message.
    pub(super) struct Content<'a> {
        parts "parts": OneOrMany<Part<'a>>,
        role "role": Text<'a>,
    }

    /// A part: one data member, and its description. Members without a block of their own are in `rest`.
    pub(super) struct Part<'a> [names] {
        text "text": Text<'a>,
        inline_data "inlineData" | "inline_data": Box<Media<'a>>,
        file_data "fileData" | "file_data": Box<Media<'a>>,
        call "functionCall" | "function_call": Box<FunctionCall<'a>>,
        result "functionResponse" | "function_response": Box<FunctionResponse<'a>>,
        thought "thought": bool,
        signature "thoughtSignature" | "thought_signature": Text<'a>,
    }

    /// Inline bytes, or a file's URL.
    pub(super) struct Media<'a> [names] {
        mime_type "mimeType" | "mime_type": Text<'a>,
        data "data": Text<'a>,
        uri "fileUri" | "file_uri": Text<'a>,
        name "displayName" | "display_name": Text<'a>,
    }

    /// A call; or a piece of one, as Vertex streams it on request.
    pub(super) struct FunctionCall<'a> [names] {
        name "name": Text<'a>,
        args "args": Raw<'a>,
        id "id": Text<'a>,
        partial_args "partialArgs" | "partial_args": Vec<PartialArg<'a>>,
        will_continue "willContinue" | "will_continue": bool,
    }

    /// A piece of arguments.
    pub(super) struct PartialArg<'a> {
        path "jsonPath" | "json_path": Text<'a>,
        string "stringValue" | "string_value": Text<'a>,
        number "numberValue" | "number_value": Raw<'a>,
        flag "boolValue" | "bool_value": bool,
        null "nullValue" | "null_value": Raw<'a>,
        will_continue "willContinue" | "will_continue": bool,
    }

    /// A tool's result.
    pub(super) struct FunctionResponse<'a> {
        id "id": Text<'a>,
        name "name": Text<'a>,
        response "response": Payload<'a>,
        parts "parts": Vec<Part<'a>>,
    }

    /// One entry of `tools`: functions, and hosted tools in `rest`.
    pub(super) struct ToolEntry<'a> [names] {
        functions "functionDeclarations" | "function_declarations": Vec<Declaration<'a>>,
    }

    /// A function.
    pub(super) struct Declaration<'a> [names] {
        name "name": Text<'a>,
        description "description": Text<'a>,
        /// In the subset of OpenAPI's schemas.
        parameters "parameters": Raw<'a>,
        json_schema "parametersJsonSchema" | "parameters_json_schema": Raw<'a>,
    }

    /// The settings of tool calls.
    pub(super) struct ToolConfig<'a> [names] {
        calling "functionCallingConfig" | "function_calling_config": Raw<'a>,
    }

    /// The content of `functionCallingConfig`.
    pub(super) struct Calling<'a> [names] {
        mode "mode": Text<'a>,
        allowed "allowedFunctionNames" | "allowed_function_names": Vec<Text<'a>>,
    }

    /// The generation settings.
    pub(super) struct Config<'a> [names] {
        max_output_tokens "maxOutputTokens" | "max_output_tokens": Raw<'a>,
        temperature "temperature": Raw<'a>,
        top_p "topP" | "top_p": Raw<'a>,
        top_k "topK" | "top_k": Raw<'a>,
        presence_penalty "presencePenalty" | "presence_penalty": Raw<'a>,
        frequency_penalty "frequencyPenalty" | "frequency_penalty": Raw<'a>,
        stop "stopSequences" | "stop_sequences": Vec<Text<'a>>,
        seed "seed": Raw<'a>,
        mime_type "responseMimeType" | "response_mime_type": Text<'a>,
        json_schema "responseJsonSchema" | "response_json_schema": Raw<'a>,
        /// In the subset of OpenAPI's schemas.
        schema "responseSchema" | "response_schema": Raw<'a>,
        /// The newer union of type and schema.
        format "responseFormat" | "response_format": Raw<'a>,
        thinking "thinkingConfig" | "thinking_config": Raw<'a>,
    }

    /// The content of `thinkingConfig`.
    pub(super) struct ThinkingConfig<'a> {
        budget "thinkingBudget" | "thinking_budget": Raw<'a>,
        level "thinkingLevel" | "thinking_level": Text<'a>,
        include "includeThoughts" | "include_thoughts": bool,
    }

    /// One of the formats in `responseFormat`.
    pub(super) struct Format<'a> {
        text "text": TextFormat<'a>,
    }

    /// A format for text.
    pub(super) struct TextFormat<'a> {
        mime_type "mimeType" | "mime_type": Text<'a>,
        schema "schema": Raw<'a>,
    }

    /// An answer, or a frame of a stream.
    pub(super) struct Answer<'a> [names] {
        candidates "candidates": OneOrMany<Candidate<'a>>,
        usage "usageMetadata" | "usage_metadata": UsageMetadata<'a>,
        model "modelVersion" | "model_version": Text<'a>,
        id "responseId" | "response_id": Text<'a>,
        error "error": Raw<'a>,
    }

    /// One candidate of an answer.
    pub(super) struct Candidate<'a> [names] {
        content "content": Content<'a>,
        finish "finishReason" | "finish_reason": Text<'a>,
        index "index": Raw<'a>,
    }
}

impl Candidate<'_> {
    /// Returns whether this candidate is the format's answer: others have another index.
    pub(super) fn is_first(&self) -> bool {
        self.index.as_ref().is_none_or(|index| index.text() == "0")
    }
}

/// A list, or a single item without a list, which clients may also write.
#[derive(Debug, Clone)]
pub(super) enum OneOrMany<T> {
    One(T),
    /// A list with one item, which needs no allocation: frames of a stream have little else.
    Single(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn len(&self) -> usize {
        match self {
            OneOrMany::One(_) | OneOrMany::Single(_) => 1,
            OneOrMany::Many(items) => items.len(),
        }
    }

    /// Returns the item, if there is exactly one.
    pub(super) fn only(&self) -> Option<&T> {
        match self {
            OneOrMany::One(item) | OneOrMany::Single(item) => Some(item),
            OneOrMany::Many(items) => items.first().filter(|_| items.len() == 1),
        }
    }

    /// Returns how it was written, if not as a non-empty list.
    pub(super) fn form(&self) -> Option<&'static str> {
        match self {
            OneOrMany::One(_) => Some("one"),
            OneOrMany::Single(_) => None,
            OneOrMany::Many(items) => items.is_empty().then_some("empty"),
        }
    }

    /// Makes a list of a noted form. Returns `None` if there are no items, unless the form is an empty list.
    pub(super) fn in_form(mut items: Vec<T>, form: Option<&str>) -> Option<Self> {
        match (form, items.len()) {
            (Some("one"), 1) => items.pop().map(OneOrMany::One),
            (Some("empty"), 0) | (_, 1..) => Some(OneOrMany::Many(items)),
            (_, 0) => None,
        }
    }
}

impl<T> IntoIterator for OneOrMany<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (first, more) = match self {
            OneOrMany::One(item) | OneOrMany::Single(item) => (Some(item), Vec::new()),
            OneOrMany::Many(items) => (None, items),
        };
        first.into_iter().chain(more)
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            OneOrMany::One(item) => item.serialize(serializer),
            OneOrMany::Single(item) => [item].serialize(serializer),
            OneOrMany::Many(items) => items.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list or an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(OneOrMany::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<OneOrMany<T>, A::Error> {
                let Some(first) = seq.next_element()? else { return Ok(OneOrMany::Many(Vec::new())) };
                let Some(second) = seq.next_element()? else { return Ok(OneOrMany::Single(first)) };
                let mut items = vec![first, second];
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(OneOrMany::Many(items))
            }
        }
        deserializer.deserialize_any(Items(PhantomData))
    }
}

/// The system prompt: a content, or a string.
#[derive(Debug, Clone)]
pub(super) enum System<'a> {
    Text(Text<'a>),
    Content(Content<'a>),
}

impl Serialize for System<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            System::Text(text) => text.serialize(serializer),
            System::Content(content) => content.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for System<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrContent<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for TextOrContent<'a> {
            type Value = System<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content or a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<System<'a>, E> {
                Ok(System::Text(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<System<'a>, E> {
                Ok(System::Text(text.to_owned().into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<System<'a>, A::Error> {
                Content::deserialize(MapAccessDeserializer::new(map)).map(System::Content)
            }
        }
        deserializer.deserialize_any(TextOrContent(PhantomData))
    }
}
