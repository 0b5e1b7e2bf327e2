//! The wire's objects. Each keeps unknown fields.

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::json::tagged::Tagged;
use crate::json::wire::{Raw, Text};

/// A block in a request: one written here, or one of the wire's own, kept whole.
pub(super) type Content<'a> = Tagged<'a, Block<'a>>;

wire! {
    /// A request.
    pub(super) struct Request<'a> {
        messages "messages": Vec<Message<'a>>,
        system "system": Written<'a>,
        inference "inferenceConfig": Inference<'a>,
        tools "toolConfig": ToolConfig<'a>,
        output "outputConfig": Output<'a>,
        additional "additionalModelRequestFields": Raw<'a>,
    }

    /// A message to be sent.
    pub(super) struct Message<'a> {
        role "role": Text<'a>,
        content "content": Written<'a>,
    }

    /// The parameters common to all models.
    pub(super) struct Inference<'a> {
        max_tokens "maxTokens": i64,
        temperature "temperature": f64,
        top_p "topP": f64,
        stop "stopSequences": Vec<Text<'a>>,
    }

    /// Tools and tool choice.
    pub(super) struct ToolConfig<'a> {
        tools "tools": Vec<Raw<'a>>,
        choice "toolChoice": Raw<'a>,
    }

    /// A tool.
    pub(super) struct Tool<'a> {
        spec "toolSpec": ToolSpec<'a>,
        cache_point "cachePoint": CachePoint<'a>,
    }

    /// A tool's definition.
    pub(super) struct ToolSpec<'a> {
        name "name": Text<'a>,
        description "description": Text<'a>,
        schema "inputSchema": Schema<'a>,
        strict "strict": bool,
    }

    /// The schema of a tool's arguments.
    pub(super) struct Schema<'a> {
        json "json": Raw<'a>,
    }

    /// The format of the answer.
    pub(super) struct Output<'a> {
        text "textFormat": TextFormat<'a>,
    }

    /// The format of text.
    pub(super) struct TextFormat<'a> {
        kind "type": Text<'a>,
        structure "structure": Structure<'a>,
    }

    /// The required structure of a text.
    pub(super) struct Structure<'a> {
        schema "jsonSchema": Definition<'a>,
    }

    /// A schema, as a string inside the JSON.
    pub(super) struct Definition<'a> {
        name "name": Text<'a>,
        description "description": Text<'a>,
        schema "schema": Text<'a>,
    }

    /// A block. Only one of the fields is present.
    pub(super) struct Block<'a> {
        text "text": Text<'a>,
        image "image": Media<'a>,
        document "document": Media<'a>,
        tool_use "toolUse": ToolUse<'a>,
        tool_result "toolResult": ToolResult<'a>,
        reasoning "reasoningContent": Reasoning<'a>,
        cited "citationsContent": Cited<'a>,
        cache_point "cachePoint": CachePoint<'a>,
    }

    /// A picture or a document; only the latter has a name.
    pub(super) struct Media<'a> {
        name "name": Text<'a>,
        format "format": Text<'a>,
        source "source": Source<'a>,
    }

    /// The location of the bytes of a picture or a document.
    pub(super) struct Source<'a> {
        bytes "bytes": Text<'a>,
        stored "s3Location": Location<'a>,
    }

    /// A location in Amazon's storage.
    pub(super) struct Location<'a> {
        uri "uri": Text<'a>,
    }

    /// A call.
    pub(super) struct ToolUse<'a> {
        id "toolUseId": Text<'a>,
        name "name": Text<'a>,
        input "input": Raw<'a>,
        kind "type": Text<'a>,
    }

    /// A tool's result.
    pub(super) struct ToolResult<'a> {
        id "toolUseId": Text<'a>,
        content "content": Written<'a>,
        status "status": Text<'a>,
    }

    /// Thinking. Only one of the fields is present.
    pub(super) struct Reasoning<'a> {
        text "reasoningText": ReasoningText<'a>,
        redacted "redactedContent": Text<'a>,
    }

    /// Visible thinking.
    pub(super) struct ReasoningText<'a> {
        text "text": Text<'a>,
        signature "signature": Text<'a>,
    }

    /// Text with citations.
    pub(super) struct Cited<'a> {
        content "content": Vec<CitedText<'a>>,
    }

    /// A part of a text with citations.
    pub(super) struct CitedText<'a> {
        text "text": Text<'a>,
    }

    /// A mark to cache everything before it.
    pub(super) struct CachePoint<'a> {
        kind "type": Text<'a>,
        ttl "ttl": Text<'a>,
    }

    /// An answer.
    pub(super) struct Answer<'a> {
        output "output": AnswerOutput<'a>,
        stop_reason "stopReason": Text<'a>,
        usage "usage": Raw<'a>,
    }

    /// The output of an answer.
    pub(super) struct AnswerOutput<'a> {
        message "message": AnswerMessage<'a>,
    }

    /// The message of an answer.
    pub(super) struct AnswerMessage<'a> {
        role "role": Text<'a>,
        content "content": Vec<Raw<'a>>,
    }

    /// An event of a stream: the fields of all types.
    pub(super) struct Event<'a> {
        index "contentBlockIndex": u64,
        start "start": Raw<'a>,
        delta "delta": Raw<'a>,
        role "role": Text<'a>,
        stop_reason "stopReason": Text<'a>,
        usage "usage": Raw<'a>,
        /// Padding against guesses by frame length.
        filler "p": Raw<'a>,
    }

    /// A piece of a block.
    pub(super) struct Delta<'a> {
        text "text": Text<'a>,
        citation "citation": Raw<'a>,
        tool_use "toolUse": ToolUseDelta<'a>,
        reasoning "reasoningContent": ReasoningDelta<'a>,
    }

    /// A piece of a call's arguments.
    pub(super) struct ToolUseDelta<'a> {
        input "input": Text<'a>,
    }

    /// A piece of thinking.
    pub(super) struct ReasoningDelta<'a> {
        text "text": Text<'a>,
        signature "signature": Text<'a>,
        redacted "redactedContent": Text<'a>,
    }

    /// The body of a failure.
    pub(super) struct Failure<'a> {
        message "message": Text<'a>,
    }
}

/// The blocks of a message or of a tool's result, to be sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Written<'a>(pub(super) Vec<Content<'a>>);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Blocks that are read stay whole.
impl<'de: 'a, 'a> Deserialize<'de> for Written<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let blocks = Vec::<Raw<'a>>::deserialize(deserializer)?;
        Ok(Written(blocks.into_iter().map(Tagged::Whole).collect()))
    }
}
