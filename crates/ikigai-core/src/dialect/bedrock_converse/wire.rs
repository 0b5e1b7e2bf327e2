//! The wire's objects. Each keeps the fields that it does not know.

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::json::tagged::Tagged;
use crate::json::wire::{Raw, Text};

/// A block in a request: one that is written here, or one of the wire's own, whole.
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

    /// A message, as it is sent.
    pub(super) struct Message<'a> {
        role "role": Text<'a>,
        content "content": Written<'a>,
    }

    /// The parameters of every model.
    pub(super) struct Inference<'a> {
        max_tokens "maxTokens": i64,
        temperature "temperature": f64,
        top_p "topP": f64,
        stop "stopSequences": Vec<Text<'a>>,
    }

    /// The tools and the choice among them.
    pub(super) struct ToolConfig<'a> {
        tools "tools": Vec<Raw<'a>>,
        choice "toolChoice": Raw<'a>,
    }

    /// A tool.
    pub(super) struct Tool<'a> {
        spec "toolSpec": ToolSpec<'a>,
        cache_point "cachePoint": CachePoint<'a>,
    }

    /// What a tool is.
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

    /// The form of the answer.
    pub(super) struct Output<'a> {
        text "textFormat": TextFormat<'a>,
    }

    /// The form of a text.
    pub(super) struct TextFormat<'a> {
        kind "type": Text<'a>,
        structure "structure": Structure<'a>,
    }

    /// What a text has to be.
    pub(super) struct Structure<'a> {
        schema "jsonSchema": Definition<'a>,
    }

    /// A schema, which is a text inside the JSON.
    pub(super) struct Definition<'a> {
        name "name": Text<'a>,
        description "description": Text<'a>,
        schema "schema": Text<'a>,
    }

    /// A block. Only one of the fields is there.
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

    /// Where the bytes of a picture or a document are.
    pub(super) struct Source<'a> {
        bytes "bytes": Text<'a>,
        stored "s3Location": Location<'a>,
    }

    /// A place in Amazon's store.
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

    /// What a tool answered.
    pub(super) struct ToolResult<'a> {
        id "toolUseId": Text<'a>,
        content "content": Written<'a>,
        status "status": Text<'a>,
    }

    /// Thinking. Only one of the fields is there.
    pub(super) struct Reasoning<'a> {
        text "reasoningText": ReasoningText<'a>,
        redacted "redactedContent": Text<'a>,
    }

    /// Thinking that can be read.
    pub(super) struct ReasoningText<'a> {
        text "text": Text<'a>,
        signature "signature": Text<'a>,
    }

    /// A text with citations.
    pub(super) struct Cited<'a> {
        content "content": Vec<CitedText<'a>>,
    }

    /// A part of a text with citations.
    pub(super) struct CitedText<'a> {
        text "text": Text<'a>,
    }

    /// The wish to cache what stands before it.
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

    /// What an answer says.
    pub(super) struct AnswerOutput<'a> {
        message "message": AnswerMessage<'a>,
    }

    /// The message of an answer.
    pub(super) struct AnswerMessage<'a> {
        role "role": Text<'a>,
        content "content": Vec<Raw<'a>>,
    }

    /// An event of a stream: all fields that one may have.
    pub(super) struct Event<'a> {
        index "contentBlockIndex": u64,
        start "start": Raw<'a>,
        delta "delta": Raw<'a>,
        role "role": Text<'a>,
        stop_reason "stopReason": Text<'a>,
        usage "usage": Raw<'a>,
        /// Filler, against those who guess from the lengths of frames.
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

/// The blocks of a message or of a tool's result, as they are sent.
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
