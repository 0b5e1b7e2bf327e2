//! Citations, which tie a passage of an answer to its source, and sources that are not tied to a passage.

use serde::{Deserialize, Serialize};

use crate::{Dialect, Json, Part, ProviderData, Span};

/// The source of a passage of a text block.
///
/// ```
/// use ikigai_core::{Citation, Span};
///
/// let mut citation = Citation::url("https://example.org/oslo");
/// citation.span = Some(Span::new(0, 4));
/// assert_eq!(citation.passage("Oslo is in Norway."), "Oslo");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Citation {
    /// What is cited.
    pub source: CitedSource,
    /// The passage of the block's text; absent: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// Whether the passage is a claim or a printed reference.
    #[serde(default, skip_serializing_if = "Marks::is_claim")]
    pub marks: Marks,
    /// The cited text of the source, as far as the provider shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cited_text: Option<String>,
    /// Where in the source that text is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// The unchanged wire object, which goes back only to its issuer.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// The source that a citation refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CitedSource {
    /// A page on the web. The URL is as the provider wrote it: it may be a redirect, or not a valid URL at all.
    Url {
        /// Its URL.
        url: String,
        /// Its title, which may be just a domain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A document of the request.
    Document {
        /// Its index among the documents of the request, from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<u64>,
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The provider's id for it, if it is a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_id: Option<String>,
    },
    /// A file that the provider holds, or that its code execution wrote.
    File {
        /// The provider's id for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_id: Option<String>,
        /// Its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
        /// The store where it was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        store: Option<String>,
        /// The container where it was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        container_id: Option<String>,
    },
    /// A kind of source that the format does not cover.
    #[default]
    Other,
}

/// The role of the passage of a citation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Marks {
    /// A passage that the source supports.
    #[default]
    Claim,
    /// The reference itself, as the model printed it, such as `([example.org](https://example.org))`.
    Link,
}

impl Marks {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    fn is_claim(&self) -> bool {
        *self == Marks::Claim
    }
}

/// A range in a source, with an exclusive end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Location {
    /// Characters of a text, from 0.
    Chars(u64, u64),
    /// Pages, from 1.
    Pages(u64, u64),
    /// Blocks of content, from 0.
    Blocks(u64, u64),
}

/// A source that was found or read. It is never sent with the history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FoundSource {
    /// Its URL, as the provider wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The provider's id for it, if it is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    /// Its title or file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// An excerpt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// Its date or age, as the provider writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The unchanged wire object.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// The name under which a dialect's whole wire object is kept, which must go back unchanged.
pub(crate) const WIRE: &str = "wire";

impl Citation {
    /// Creates a citation of a page, for the whole block.
    pub fn url(url: impl Into<String>) -> Self {
        Citation { source: CitedSource::Url { url: url.into(), title: None }, ..Citation::default() }
    }

    /// Returns the passage of the block's text that it refers to; empty if the span is not in this text.
    pub fn passage<'t>(&self, text: &'t str) -> &'t str {
        self.span.map_or(text, |span| text.get(span.start..span.end).unwrap_or_default())
    }

    /// Returns the wire object of a dialect, unchanged.
    pub(crate) fn wire(&self, dialect: Dialect) -> Option<&Json> {
        self.provider_data.part(dialect, Part::State).get(WIRE)
    }

    /// Keeps the wire object.
    pub(crate) fn with_wire(mut self, dialect: Dialect, wire: Json) -> Self {
        self.provider_data.set_part(dialect, Part::State, WIRE, wire);
        self
    }
}

impl CitedSource {
    /// Returns its URL, if it has one.
    pub fn as_url(&self) -> Option<&str> {
        match self {
            CitedSource::Url { url, .. } => Some(url),
            CitedSource::Document { .. } | CitedSource::File { .. } | CitedSource::Other => None,
        }
    }

    /// Returns the provider's id for the file, if it is one.
    pub fn file_id(&self) -> Option<&str> {
        match self {
            CitedSource::Document { file_id, .. } | CitedSource::File { file_id, .. } => file_id.as_deref(),
            CitedSource::Url { .. } | CitedSource::Other => None,
        }
    }

    /// Returns its title or file name.
    pub fn title(&self) -> Option<&str> {
        match self {
            CitedSource::Url { title, .. } | CitedSource::Document { title, .. } => title.as_deref(),
            CitedSource::File { filename, .. } => filename.as_deref(),
            CitedSource::Other => None,
        }
    }
}

impl FoundSource {
    /// Creates a page on the web.
    pub fn url(url: impl Into<String>) -> Self {
        FoundSource { url: Some(url.into()), ..FoundSource::default() }
    }

    /// Returns a key that distinguishes it from other sources; `None` if it has no URL, id or title.
    pub fn key(&self) -> Option<&str> {
        self.url.as_deref().or(self.file_id.as_deref()).or(self.title.as_deref())
    }
}

impl From<&Citation> for FoundSource {
    fn from(citation: &Citation) -> Self {
        FoundSource {
            url: citation.source.as_url().map(str::to_owned),
            file_id: citation.source.file_id().map(str::to_owned),
            title: citation.source.title().map(str::to_owned),
            snippet: citation.cited_text.clone(),
            ..FoundSource::default()
        }
    }
}
