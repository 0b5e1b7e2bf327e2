//! Tools: what a model may call.

use crate::{CacheHint, Json, Other, ProviderData};
use serde::{Deserialize, Serialize};

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
    /// A tool of one dialect, such as a hosted web search, kept whole.
    Other(OtherTool),
    /// A function that the caller runs.
    Function(Function),
}

/// A function that the model may call and the caller runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it does, for the model to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of its arguments, with the order of its keys kept.
    #[serde(default = "no_parameters")]
    pub parameters: Json,
    /// Must the provider hold the model to the schema, where it can?
    #[serde(default = "yes")]
    pub strict: bool,
    /// Wish that the provider caches the tools up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheHint>,
    /// What a dialect has of its own.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// A tool of one dialect; its JSON is `{"type": "other", "dialect": …, "data": …}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// Must the model use a tool?
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
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

impl Tool {
    /// A function without parameters; [`parameters`](Tool::parameters) adds them.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Tool::Function(Function {
            name: name.into(),
            description: Some(description.into()),
            parameters: no_parameters(),
            strict: true,
            cache: None,
            provider_data: ProviderData::default(),
        })
    }

    /// A tool of one dialect, kept whole.
    pub fn other(other: Other) -> Self {
        Tool::Other(OtherTool { tag: OtherTag::Other, other })
    }

    /// The JSON Schema of the arguments. No effect on a dialect's own tool.
    #[must_use]
    pub fn parameters(mut self, schema: impl Into<Json>) -> Self {
        if let Tool::Function(function) = &mut self {
            function.parameters = schema.into();
        }
        self
    }

    /// Lets the model's arguments differ from the schema. No effect on a dialect's own tool.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        if let Tool::Function(function) = &mut self {
            function.strict = false;
        }
        self
    }

    /// The function's name; none for a dialect's own tool.
    pub fn name(&self) -> Option<&str> {
        self.as_function().map(|function| function.name.as_str())
    }

    /// The function, if it is one.
    pub fn as_function(&self) -> Option<&Function> {
        match self {
            Tool::Function(function) => Some(function),
            Tool::Other(_) => None,
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
        let is_other = tag.tag.is_some_and(|tag| tag.as_str().as_deref() == Some("other"));
        let tool = if is_other { json.to().map(Tool::other) } else { json.to().map(Tool::Function) };
        tool.map_err(serde::de::Error::custom)
    }
}

fn yes() -> bool {
    true
}

fn no_parameters() -> Json {
    serde_json::json!({"type": "object", "properties": {}}).into()
}
