//! Tools that a model may call.

mod built_in;

use crate::{CacheHint, Json, Other, ProviderData, ProviderTool};
use serde::{Deserialize, Serialize};

pub use built_in::{CodeExecution, FileSearch, SearchContextSize, UserLocation, WebFetch, WebSearch};

/// A tool that the model may use.
///
/// ```
/// use ikigai_core::Tool;
/// use serde_json::json;
///
/// let tool = Tool::new("read_file", "Reads a file.")
///     .parameters(json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}));
/// assert_eq!(tool.name(), Some("read_file"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum Tool {
    /// A tool of one dialect, such as a connection to an MCP server, kept unchanged.
    Other(OtherTool),
    /// A tool that the provider runs.
    BuiltIn(BuiltIn),
    /// A function that the caller runs.
    Function(Function),
}

/// A tool that the provider runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BuiltIn {
    /// Searches the web.
    WebSearch(WebSearch),
    /// Reads pages.
    WebFetch(WebFetch),
    /// Runs the model's code.
    CodeExecution(CodeExecution),
    /// Searches files that the provider holds.
    FileSearch(FileSearch),
}

/// Evaluates an expression for whichever built-in tool it is.
macro_rules! of_any {
    ($built_in:expr, $tool:ident => $value:expr) => {
        match $built_in {
            BuiltIn::WebSearch($tool) => $value,
            BuiltIn::WebFetch($tool) => $value,
            BuiltIn::CodeExecution($tool) => $value,
            BuiltIn::FileSearch($tool) => $value,
        }
    };
}

impl BuiltIn {
    /// Returns the kind of tool. Its name in JSON is the name by which a tool choice can select it.
    pub fn tool(&self) -> ProviderTool {
        match self {
            BuiltIn::WebSearch(_) => ProviderTool::WebSearch,
            BuiltIn::WebFetch(_) => ProviderTool::WebFetch,
            BuiltIn::CodeExecution(_) => ProviderTool::CodeExecution,
            BuiltIn::FileSearch(_) => ProviderTool::FileSearch,
        }
    }

    /// Returns the data that only one dialect has.
    pub fn provider_data(&self) -> &ProviderData {
        of_any!(self, tool => &tool.provider_data)
    }

    /// Returns the same data for modification.
    pub fn provider_data_mut(&mut self) -> &mut ProviderData {
        of_any!(self, tool => &mut tool.provider_data)
    }

    /// Returns the cache hint, which asks the provider to cache the tools up to here.
    pub fn cache(&self) -> Option<&CacheHint> {
        of_any!(self, tool => tool.cache.as_ref())
    }
}

impl From<BuiltIn> for Tool {
    fn from(tool: BuiltIn) -> Self {
        Tool::BuiltIn(tool)
    }
}

/// A function that the model may call and the caller runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Function {
    /// Its name.
    pub name: String,
    /// A description for the model to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments, with the order of its keys kept.
    #[serde(default = "no_parameters")]
    pub parameters: Json,
    /// Whether the provider must enforce the schema, if it can.
    #[serde(default = "yes")]
    pub strict: bool,
    /// Asks the provider to cache the tools up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheHint>,
    /// Data that only one dialect has.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// A tool of one dialect; its JSON is `{"type": "other", "dialect": …, "data": …}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OtherTool {
    #[serde(rename = "type")]
    tag: OtherTag,
    /// The dialect and the wire object.
    #[serde(flatten)]
    pub other: Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum OtherTag {
    Other,
}

/// Whether the model must use a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool.
    None,
    /// At least one tool.
    Required,
    /// The named tool.
    Specific(String),
}

impl Function {
    /// Creates a strict function without parameters.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Function {
            name: name.into(),
            description: Some(description.into()),
            parameters: no_parameters(),
            strict: true,
            cache: None,
            provider_data: ProviderData::default(),
        }
    }
}

impl Tool {
    /// Creates a function without parameters; [`parameters`](Tool::parameters) adds them.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Tool::Function(Function::new(name, description))
    }

    /// Wraps a tool of one dialect, kept unchanged.
    pub fn other(other: Other) -> Self {
        Tool::Other(OtherTool { tag: OtherTag::Other, other })
    }

    /// Creates a web search that the provider runs.
    pub fn web_search() -> Self {
        Tool::BuiltIn(BuiltIn::WebSearch(WebSearch::default()))
    }

    /// Creates a page reader that the provider runs.
    pub fn web_fetch() -> Self {
        Tool::BuiltIn(BuiltIn::WebFetch(WebFetch::default()))
    }

    /// Creates code execution that the provider runs.
    pub fn code_execution() -> Self {
        Tool::BuiltIn(BuiltIn::CodeExecution(CodeExecution::default()))
    }

    /// Creates a search in these file stores, which the provider runs.
    pub fn file_search(stores: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let stores = stores.into_iter().map(Into::into).collect();
        Tool::BuiltIn(BuiltIn::FileSearch(FileSearch { stores, ..FileSearch::default() }))
    }

    /// Sets the JSON Schema of the arguments. Has no effect on tools other than functions.
    #[must_use]
    pub fn parameters(mut self, schema: impl Into<Json>) -> Self {
        if let Tool::Function(function) = &mut self {
            function.parameters = schema.into();
        }
        self
    }

    /// Lets the model's arguments differ from the schema. Has no effect on tools other than functions.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        if let Tool::Function(function) = &mut self {
            function.strict = false;
        }
        self
    }

    /// Returns the function's name; `None` for other tools.
    pub fn name(&self) -> Option<&str> {
        self.as_function().map(|function| function.name.as_str())
    }

    /// Returns the function, if it is one.
    pub fn as_function(&self) -> Option<&Function> {
        match self {
            Tool::Function(function) => Some(function),
            Tool::BuiltIn(_) | Tool::Other(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By hand, not `untagged`: its errors would not say which field of a function is wrong.
        #[derive(Deserialize)]
        struct Tag {
            #[serde(default, rename = "type")]
            tag: Option<Json>,
        }
        let json = Json::deserialize(deserializer)?;
        let tag: Tag = json.to().map_err(serde::de::Error::custom)?;
        let tool = match tag.tag.as_ref().and_then(Json::as_str).as_deref() {
            Some("other") => json.to().map(Tool::other),
            Some("web_search" | "web_fetch" | "code_execution" | "file_search") => json.to().map(Tool::BuiltIn),
            _ => json.to().map(Tool::Function),
        };
        tool.map_err(serde::de::Error::custom)
    }
}

fn yes() -> bool {
    true
}

/// Returns the schema of a function without parameters.
pub(crate) fn no_parameters() -> Json {
    serde_json::json!({"type": "object", "properties": {}}).into()
}
