//! Content blocks: what messages are made of.

mod construct;
mod kind;
mod provider_run;
mod read;

use crate::{Arguments, Citation, Dialect, Json, Part, ProviderData};
use serde::{Deserialize, Serialize};

pub use kind::BlockKind;
pub use provider_run::{ProviderCall, ProviderFailure, ProviderResult, ProviderTool};
pub(crate) use read::text_or_blocks;

/// One piece of a message.
///
/// ```
/// use ikigai_core::Block;
///
/// let block = Block::text("Hello");
/// assert_eq!(serde_json::to_string(&block).unwrap(), r#"{"type":"text","text":"Hello"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(Text),
    /// A picture.
    Image(Image),
    /// A document, such as a PDF or a text file.
    Document(Document),
    /// A sound.
    Audio(Audio),
    /// A tool call by the model.
    ToolCall(ToolCall),
    /// The result of a tool call.
    ToolResult(ToolResult),
    /// The model's thinking, or what the provider shows of it.
    Thinking(ThinkingBlock),
    /// A call of a tool that the provider runs.
    ProviderCall(ProviderCall),
    /// The result of such a call.
    ProviderResult(ProviderResult),
    /// A block that only one dialect understands, kept unchanged.
    Other(Other),
}

/// Text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Text {
    /// The text itself.
    pub text: String,
    /// The sources of its passages, in the provider's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    /// Asks the provider to cache the conversation up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheHint>,
    /// Data that only one dialect has, such as signatures or the mark of a refusal.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Image {
    /// Where its bytes are.
    pub source: Source,
    /// Asks the provider to cache the conversation up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheHint>,
    /// Data that only one dialect has.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Document {
    /// Where its bytes are.
    pub source: Source,
    /// Its file name or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Asks the provider to cache the conversation up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheHint>,
    /// Data that only one dialect has.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// A sound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Audio {
    /// Where its bytes are.
    pub source: Source,
    /// Asks the provider to cache the conversation up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheHint>,
    /// Data that only one dialect has.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// A tool call by the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolCall {
    /// The provider's id of this call, which the result refers to.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as the model wrote them.
    #[serde(flatten)]
    pub arguments: Arguments,
    /// Asks the provider to cache the conversation up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheHint>,
    /// Data that only one dialect has, such as a thought signature or the mark of a generated id.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the call that this answers.
    pub tool_call_id: String,
    /// The answer: text, pictures, documents.
    #[serde(default, deserialize_with = "text_or_blocks")]
    #[cfg_attr(feature = "schema", schemars(with = "TextOrBlocks"))]
    pub content: Vec<Block>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
    /// Asks the provider to cache the conversation up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheHint>,
    /// Data that only one dialect has.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// The model's thinking, or what the provider shows of it.
///
/// The text may be empty while `provider_data` holds sealed state that the provider needs back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ThinkingBlock"))]
#[non_exhaustive]
pub struct ThinkingBlock {
    /// The thinking or its summary; empty if the provider shows neither.
    #[serde(default)]
    pub text: String,
    /// Signatures, encrypted reasoning, redacted thinking.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// Something that only one dialect understands, kept unchanged and in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Other {
    /// The dialect it belongs to; encoding to another one leaves it out and reports the loss.
    pub dialect: Dialect,
    /// The unchanged wire object.
    pub data: Json,
}

impl Other {
    /// Returns the name by which a dialect's own tool can be chosen: its name or else its type, from several places.
    pub(crate) fn tool_name(&self) -> Option<&str> {
        let data = self.data.value();
        let places = ["/name", "/function/name", "/custom/name", "/toolSpec/name", "/systemTool/name", "/type"];
        places.iter().find_map(|place| data.pointer(place)).and_then(serde_json::Value::as_str)
    }
}

/// The source of the bytes of an image, a document or a sound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// In the message itself, as standard base64 without line breaks.
    Base64 {
        /// Such as `image/png`.
        media_type: String,
        /// The encoded bytes.
        data: String,
    },
    /// Plain text, for text documents.
    Text {
        /// Such as `text/plain`.
        media_type: String,
        /// The text.
        text: String,
    },
    /// At a URL that the provider fetches.
    Url {
        /// The URL.
        url: String,
        /// Its media type, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
    },
    /// A file uploaded to the provider earlier.
    File {
        /// The provider's id or URI of the file.
        id: String,
        /// Its media type, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
    },
}

/// Asks the provider to cache the conversation up to the block that carries this hint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CacheHint {
    /// How long, in the provider's notation: `5m`, `1h`. Absent: the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

impl Block {
    /// Returns the kind of this block.
    pub fn kind(&self) -> BlockKind {
        match self {
            Block::Text(_) => BlockKind::Text,
            Block::Image(_) => BlockKind::Image,
            Block::Document(_) => BlockKind::Document,
            Block::Audio(_) => BlockKind::Audio,
            Block::ToolCall(_) => BlockKind::ToolCall,
            Block::ToolResult(_) => BlockKind::ToolResult,
            Block::Thinking(_) => BlockKind::Thinking,
            Block::ProviderCall(_) => BlockKind::ProviderCall,
            Block::ProviderResult(_) => BlockKind::ProviderResult,
            Block::Other(_) => BlockKind::Other,
        }
    }

    /// Returns the text, if this is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Block::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// Returns the call, if this is a tool call.
    pub fn as_tool_call(&self) -> Option<&ToolCall> {
        match self {
            Block::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// Returns the id of a call, or of the call that a result belongs to; it may be empty.
    pub(crate) fn call_id(&self) -> Option<&str> {
        match self {
            Block::ToolCall(call) => Some(&call.id),
            Block::ToolResult(result) => Some(&result.tool_call_id),
            Block::Text(_)
            | Block::Image(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::Thinking(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_)
            | Block::Other(_) => None,
        }
    }

    /// Returns the result, if this is a tool result.
    pub fn as_tool_result(&self) -> Option<&ToolResult> {
        match self {
            Block::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    /// Returns the data that dialects left on this block. `None` for an `other` block, which is all one dialect's.
    pub fn provider_data(&self) -> Option<&ProviderData> {
        match self {
            Block::Text(block) => Some(&block.provider_data),
            Block::Image(block) => Some(&block.provider_data),
            Block::Document(block) => Some(&block.provider_data),
            Block::Audio(block) => Some(&block.provider_data),
            Block::ToolCall(block) => Some(&block.provider_data),
            Block::ToolResult(block) => Some(&block.provider_data),
            Block::Thinking(block) => Some(&block.provider_data),
            Block::ProviderCall(block) => Some(&block.provider_data),
            Block::ProviderResult(block) => Some(&block.provider_data),
            Block::Other(_) => None,
        }
    }

    /// Returns the same data for modification.
    pub fn provider_data_mut(&mut self) -> Option<&mut ProviderData> {
        match self {
            Block::Text(block) => Some(&mut block.provider_data),
            Block::Image(block) => Some(&mut block.provider_data),
            Block::Document(block) => Some(&mut block.provider_data),
            Block::Audio(block) => Some(&mut block.provider_data),
            Block::ToolCall(block) => Some(&mut block.provider_data),
            Block::ToolResult(block) => Some(&mut block.provider_data),
            Block::Thinking(block) => Some(&mut block.provider_data),
            Block::ProviderCall(block) => Some(&mut block.provider_data),
            Block::ProviderResult(block) => Some(&mut block.provider_data),
            Block::Other(_) => None,
        }
    }

    /// Returns the cache hint of this block, if its kind can have one.
    pub fn cache(&self) -> Option<&CacheHint> {
        match self {
            Block::Text(block) => block.cache.as_ref(),
            Block::Image(block) => block.cache.as_ref(),
            Block::Document(block) => block.cache.as_ref(),
            Block::Audio(block) => block.cache.as_ref(),
            Block::ToolCall(block) => block.cache.as_ref(),
            Block::ToolResult(block) => block.cache.as_ref(),
            Block::Thinking(_) | Block::ProviderCall(_) | Block::ProviderResult(_) | Block::Other(_) => None,
        }
    }
}

impl From<&str> for Block {
    fn from(text: &str) -> Self {
        Block::text(text)
    }
}

impl From<String> for Block {
    fn from(text: String) -> Self {
        Block::text(text)
    }
}

impl Text {
    /// Returns whether this is a refusal: the model's reason for not answering.
    pub fn is_refusal(&self) -> bool {
        [Dialect::OpenaiChat, Dialect::OpenaiResponses]
            .into_iter()
            .any(|dialect| self.provider_data.part(dialect, Part::Shape).flag("refusal"))
    }
}

impl ToolCall {
    /// Returns whether this call can be run: see [`Arguments::is_complete`].
    pub fn is_complete(&self) -> bool {
        self.arguments.is_complete()
    }
}

/// The schema of a field that [`text_or_blocks`] reads.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum TextOrBlocks {
    Text(String),
    Blocks(Vec<Block>),
}
