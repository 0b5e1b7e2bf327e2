//! Tools that providers run themselves, with the options that at least two of them share.

use serde::{Deserialize, Serialize};

use crate::{CacheHint, ProviderData};

/// Defines a tool with its own options, and with the two fields that every tool has.
macro_rules! built_in {
    ($(#[$about:meta])* $name:ident { $($(#[$about_field:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$about_field])* pub $field: $type,)*
            /// Asks the provider to cache the tools up to here.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub cache: Option<CacheHint>,
            /// Data that only one dialect has, such as the version of the tool.
            #[serde(skip_serializing_if = "ProviderData::is_empty")]
            pub provider_data: ProviderData,
        }
    };
}

built_in! {
    /// The provider searches the web. Its JSON is `{"type": "web_search", …}`.
    WebSearch {
        /// The maximum number of searches.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_uses: Option<u64>,
        /// Only results from these domains.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        allowed_domains: Vec<String>,
        /// No results from these domains.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        blocked_domains: Vec<String>,
        /// The user's location.
        #[serde(skip_serializing_if = "Option::is_none")]
        user_location: Option<UserLocation>,
        /// How much of the results the model reads.
        #[serde(skip_serializing_if = "Option::is_none")]
        context_size: Option<SearchContextSize>,
    }
}

/// The user's approximate location.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct UserLocation {
    /// The city.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// The region or state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The country, as two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The time zone, such as `Europe/Oslo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// How much of the search results the model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
#[non_exhaustive]
pub enum SearchContextSize {
    Low,
    Medium,
    High,
}

built_in! {
    /// The provider reads pages. Its JSON is `{"type": "web_fetch", …}`.
    WebFetch {
        /// The maximum number of pages to read.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_uses: Option<u64>,
        /// Only pages of these domains.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        allowed_domains: Vec<String>,
        /// No pages of these domains.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        blocked_domains: Vec<String>,
        /// Whether the answer cites what was read. Absent: the provider's default.
        #[serde(skip_serializing_if = "Option::is_none")]
        citations: Option<bool>,
        /// How much of a page the model reads, in tokens.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_content_tokens: Option<u64>,
    }
}

built_in! {
    /// The provider runs the model's code. Its JSON is `{"type": "code_execution", …}`.
    CodeExecution {
        /// The container to reuse.
        #[serde(skip_serializing_if = "Option::is_none")]
        container: Option<String>,
        /// The provider's ids of files that the code can read.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
    }
}

built_in! {
    /// The provider searches files that it holds. Its JSON is `{"type": "file_search", …}`.
    FileSearch {
        /// The stores to search.
        stores: Vec<String>,
        /// The maximum number of results that the model reads.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_results: Option<u64>,
    }
}
