//! Tools that the provider runs: their calls and results.

use serde::{Deserialize, Serialize};

use super::{Block, text_or_blocks};
use crate::citation::WIRE;
use crate::{Arguments, Dialect, FoundSource, Json, Part, ProviderData};

/// A kind of tool that a provider runs itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProviderTool {
    /// Searches the web.
    WebSearch,
    /// Reads a page.
    WebFetch,
    /// Runs code.
    CodeExecution,
    /// Searches files that the provider holds.
    FileSearch,
    /// A tool of an MCP server that the provider is connected to.
    Mcp,
    /// Searches for tools.
    ToolSearch,
    /// Generates images.
    ImageGeneration,
    /// Any other tool; the block's `name` has the provider's name for it.
    #[default]
    #[serde(other)]
    Other,
}

impl ProviderTool {
    /// Returns the tool's name as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ProviderTool::WebSearch => "web_search",
            ProviderTool::WebFetch => "web_fetch",
            ProviderTool::CodeExecution => "code_execution",
            ProviderTool::FileSearch => "file_search",
            ProviderTool::Mcp => "mcp",
            ProviderTool::ToolSearch => "tool_search",
            ProviderTool::ImageGeneration => "image_generation",
            ProviderTool::Other => "other",
        }
    }
}

impl std::fmt::Display for ProviderTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A call of a tool that the provider runs.
///
/// Its result may be in a later answer, because a turn can pause or wait for the caller's own tools first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProviderCall {
    /// The provider's id of this call, which the result refers to; empty if the provider gives none.
    #[serde(default)]
    pub id: String,
    /// The kind of tool.
    #[serde(default)]
    pub tool: ProviderTool,
    /// The provider's name for it.
    #[serde(default)]
    pub name: String,
    /// The call's arguments.
    #[serde(flatten)]
    pub arguments: Arguments,
    /// Its status, as the provider reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The call whose code made this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The MCP server that has the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The unchanged wire object, which goes back only to its issuer.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// The result of a tool that the provider ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProviderResult {
    /// The id of the call that this answers.
    #[serde(default)]
    pub call_id: String,
    /// The kind of tool.
    #[serde(default)]
    pub tool: ProviderTool,
    /// The result: text, pictures, documents. Much of it may be sealed, or not shown at all.
    #[serde(default, deserialize_with = "text_or_blocks", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "super::TextOrBlocks"))]
    pub content: Vec<Block>,
    /// The sources it found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<FoundSource>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ProviderFailure>,
    /// The unchanged wire object, which goes back only to its issuer.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// Why a provider-run tool failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProviderFailure {
    /// The provider's code, such as `max_uses_exceeded`.
    pub code: String,
    /// The provider's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl ProviderCall {
    /// Returns what the call is about, for display: the query of a search, the URL of a page. `None` if that is
    /// unknown, or not known yet.
    pub fn subject(&self) -> Option<&str> {
        ["query", "queries", "url"].into_iter().find_map(|name| {
            let value = self.arguments.get(name)?;
            value.as_str().or_else(|| value.as_array()?.first()?.as_str())
        })
    }
}

impl Block {
    /// Returns the whole wire object of a dialect, if this is a block that only its issuer takes back.
    pub(crate) fn wire(&self, dialect: Dialect) -> Option<&Json> {
        match self {
            Block::Other(other) => (other.dialect == dialect).then_some(&other.data),
            Block::ProviderCall(ProviderCall { provider_data, .. })
            | Block::ProviderResult(ProviderResult { provider_data, .. }) => {
                provider_data.part(dialect, Part::State).get(WIRE)
            }
            Block::Text(_)
            | Block::Image(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::ToolCall(_)
            | Block::ToolResult(_)
            | Block::Thinking(_) => None,
        }
    }

    /// Returns whether this is a call of a provider-run tool, or its result.
    pub fn is_provider_run(&self) -> bool {
        matches!(self, Block::ProviderCall(_) | Block::ProviderResult(_))
    }
}
