//! Requests for the tools that this API runs.

use serde_json::{Map, Value, json};

use crate::dialect::hosted::{Asked, domains, number, say};
use crate::provider::GeminiQuirks;
use crate::{BuiltIn, CodeExecution, FileSearch, Json, WebFetch, WebSearch};

/// Reads a tool's entry, and returns it with the names of the fields that are understood. Returns `None` for an entry
/// with more than one tool, which is kept unchanged.
pub(crate) fn read(data: &Json) -> Option<(BuiltIn, &'static [&'static str])> {
    let object = data.value().as_object()?;
    let mut members = object.iter().filter(|(_, member)| !member.is_null());
    let (name, options) = members.next().filter(|_| object.len() == 1)?;
    if !options.is_object() {
        return None;
    }
    let is_plain = options.as_object().is_some_and(Map::is_empty);
    Some(match name.as_str() {
        "googleSearch" | "google_search" if is_plain => {
            (BuiltIn::WebSearch(WebSearch::default()), &["googleSearch", "google_search"])
        }
        "urlContext" | "url_context" if is_plain => {
            (BuiltIn::WebFetch(WebFetch::default()), &["urlContext", "url_context"])
        }
        "codeExecution" | "code_execution" if is_plain => {
            (BuiltIn::CodeExecution(CodeExecution::default()), &["codeExecution", "code_execution"])
        }
        "fileSearch" => {
            let search = FileSearch {
                stores: domains(&options["fileSearchStoreNames"]),
                max_results: options["topK"].as_u64(),
                ..FileSearch::default()
            };
            let known = options.as_object().is_some_and(|options| {
                options.keys().all(|name| matches!(name.as_str(), "fileSearchStoreNames" | "topK"))
            });
            (BuiltIn::FileSearch(search), if known { &["fileSearch"] } else { &[] })
        }
        _ => return None,
    })
}

/// Writes the request for a tool.
pub(crate) fn write(tool: &BuiltIn, quirks: &GeminiQuirks) -> Option<Asked> {
    let mut asked = Asked::default();
    let entry: Value = match tool {
        BuiltIn::WebSearch(search) => {
            asked.lose("allowed_domains", !search.allowed_domains.is_empty());
            let excludes = quirks.exclude_domains && !search.blocked_domains.is_empty();
            asked.lose("blocked_domains", !search.blocked_domains.is_empty() && !excludes);
            asked.lose("user_location", search.user_location.is_some());
            asked.lose("max_uses", search.max_uses.is_some());
            asked.lose("context_size", search.context_size.is_some());
            if excludes {
                json!({"googleSearch": {"excludeDomains": search.blocked_domains}})
            } else {
                json!({"googleSearch": {}})
            }
        }
        BuiltIn::WebFetch(fetch) => {
            asked.lose("allowed_domains", !fetch.allowed_domains.is_empty());
            asked.lose("blocked_domains", !fetch.blocked_domains.is_empty());
            asked.lose("max_uses", fetch.max_uses.is_some());
            asked.lose("max_content_tokens", fetch.max_content_tokens.is_some());
            asked.lose("citations", fetch.citations == Some(false));
            json!({"urlContext": {}})
        }
        BuiltIn::CodeExecution(code) => {
            asked.lose("container", code.container.is_some());
            asked.lose("files", !code.files.is_empty());
            json!({"codeExecution": {}})
        }
        BuiltIn::FileSearch(search) => {
            let mut options = Map::new();
            options.insert("fileSearchStoreNames".to_owned(), json!(search.stores));
            say(&mut options, "topK", number(search.max_results));
            json!({"fileSearch": options})
        }
    };
    asked.tool = Some(entry.into());
    Some(asked)
}
