//! The kinds of blocks.

/// The kind of a block, named by its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the block of the same name")]
#[non_exhaustive]
pub enum BlockKind {
    Text,
    Image,
    Document,
    Audio,
    ToolCall,
    ToolResult,
    Thinking,
    ProviderCall,
    ProviderResult,
    Other,
}

impl BlockKind {
    /// Returns the kind as it is written in a block's `type`.
    pub fn as_str(self) -> &'static str {
        match self {
            BlockKind::Text => "text",
            BlockKind::Image => "image",
            BlockKind::Document => "document",
            BlockKind::Audio => "audio",
            BlockKind::ToolCall => "tool_call",
            BlockKind::ToolResult => "tool_result",
            BlockKind::Thinking => "thinking",
            BlockKind::ProviderCall => "provider_call",
            BlockKind::ProviderResult => "provider_result",
            BlockKind::Other => "other",
        }
    }
}

impl std::fmt::Display for BlockKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
