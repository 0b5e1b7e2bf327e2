//! Constructors for blocks from their required parts; the rest are fields to assign.

use super::{Audio, CacheHint, Document, Image, Other, Source, Text, ThinkingBlock, ToolCall, ToolResult};
use crate::{Arguments, Content, Dialect, Json, ProviderData};

impl Text {
    /// Creates a text without citations.
    pub fn new(text: impl Into<String>) -> Self {
        Text { text: text.into(), ..Text::default() }
    }
}

impl Image {
    /// Creates a picture.
    pub fn new(source: Source) -> Self {
        Image { source, cache: None, provider_data: ProviderData::default() }
    }
}

impl Document {
    /// Creates a document without a name.
    pub fn new(source: Source) -> Self {
        Document { source, name: None, cache: None, provider_data: ProviderData::default() }
    }
}

impl Audio {
    /// Creates a sound.
    pub fn new(source: Source) -> Self {
        Audio { source, cache: None, provider_data: ProviderData::default() }
    }
}

impl ToolCall {
    /// Creates a tool call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Arguments>) -> Self {
        ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), ..ToolCall::default() }
    }
}

impl ToolResult {
    /// Creates a successful result of a tool call.
    pub fn new(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        ToolResult { tool_call_id: call_id.into(), content: content.into().0, ..ToolResult::default() }
    }
}

impl ThinkingBlock {
    /// Creates thinking without a signature.
    pub fn new(text: impl Into<String>) -> Self {
        ThinkingBlock { text: text.into(), ..ThinkingBlock::default() }
    }
}

impl Other {
    /// Wraps a wire object of one dialect.
    pub fn new(dialect: Dialect, data: impl Into<Json>) -> Self {
        Other { dialect, data: data.into() }
    }
}

impl CacheHint {
    /// Creates a hint with a lifetime, in the provider's notation: `5m`, `1h`.
    pub fn ttl(ttl: impl Into<String>) -> Self {
        CacheHint { ttl: Some(ttl.into()) }
    }
}
