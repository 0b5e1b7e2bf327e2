//! Requests for the tools that this API runs.

use serde_json::{Map, Value, json};

use crate::dialect::hosted::{Asked, approximate, at, domains, number, say, user_location};
use crate::{BuiltIn, CodeExecution, Json, WebFetch, WebSearch};

use super::super::wire::read_cache;

/// The versions that every model with the tool accepts.
const SEARCH: &str = "web_search_20250305";
const FETCH: &str = "web_fetch_20250910";
const CODE: &str = "code_execution_20250825";
/// The feature that a header has to name for that version.
const FETCH_BETA: &str = "web-fetch-2025-09-10";
/// The feature for passing files along.
const FILES_BETA: &str = "files-api-2025-04-14";

/// Reads a tool's entry, and returns it with the names of the fields that are understood.
pub(crate) fn read(data: &Json) -> Option<(BuiltIn, &'static [&'static str])> {
    let value = data.value();
    let kind = value["type"].as_str()?;
    let cache = value.get("cache_control").and_then(|control| read_cache(&control.to_string()));
    let fields: &[&str] = &[
        "type",
        "name",
        "max_uses",
        "allowed_domains",
        "blocked_domains",
        "user_location",
        "citations",
        "max_content_tokens",
        "cache_control",
    ];
    let tool = if kind.starts_with("web_search_") {
        BuiltIn::WebSearch(WebSearch {
            max_uses: value["max_uses"].as_u64(),
            allowed_domains: domains(&value["allowed_domains"]),
            blocked_domains: domains(&value["blocked_domains"]),
            user_location: user_location(&value["user_location"]),
            cache,
            ..WebSearch::default()
        })
    } else if kind.starts_with("web_fetch_") {
        BuiltIn::WebFetch(WebFetch {
            max_uses: value["max_uses"].as_u64(),
            allowed_domains: domains(&value["allowed_domains"]),
            blocked_domains: domains(&value["blocked_domains"]),
            citations: at(value, "/citations/enabled").as_bool(),
            max_content_tokens: value["max_content_tokens"].as_u64(),
            cache,
            ..WebFetch::default()
        })
    } else if kind.starts_with("code_execution_") {
        BuiltIn::CodeExecution(CodeExecution { cache, ..CodeExecution::default() })
    } else {
        return None;
    };
    Some((tool, fields))
}

/// Writes a request for a tool. `version` is the one that it was received with.
pub(crate) fn write(tool: &BuiltIn, version: Option<&str>) -> Option<Asked> {
    let mut asked = Asked::default();
    let mut entry = Map::new();
    let mut begin = |usual: &str, name: &str| {
        entry.insert("type".to_owned(), json!(version.unwrap_or(usual)));
        entry.insert("name".to_owned(), json!(name));
    };
    match tool {
        BuiltIn::WebSearch(search) => {
            begin(SEARCH, "web_search");
            say(&mut entry, "max_uses", number(search.max_uses));
            lists(&mut entry, &search.allowed_domains, &search.blocked_domains, &mut asked);
            say(&mut entry, "user_location", search.user_location.as_ref().map(approximate));
            asked.lose("context_size", search.context_size.is_some());
        }
        BuiltIn::WebFetch(fetch) => {
            begin(FETCH, "web_fetch");
            if entry.get("type").and_then(Value::as_str) == Some(FETCH) {
                asked.betas.push(FETCH_BETA);
            }
            say(&mut entry, "max_uses", number(fetch.max_uses));
            lists(&mut entry, &fetch.allowed_domains, &fetch.blocked_domains, &mut asked);
            say(&mut entry, "citations", fetch.citations.map(|enabled| json!({"enabled": enabled})));
            say(&mut entry, "max_content_tokens", number(fetch.max_content_tokens));
        }
        BuiltIn::CodeExecution(code) => {
            begin(CODE, "code_execution");
            if let Some(container) = &code.container {
                asked.top.set("container", container.as_str());
            }
            let upload = |file: &String| Json::from(json!({"type": "container_upload", "file_id": file}));
            asked.files.extend(code.files.iter().map(upload));
            asked.betas.extend(Some(FILES_BETA).filter(|_| !code.files.is_empty()));
        }
        BuiltIn::FileSearch(_) => return None,
    }
    if let Some(cache) = tool.cache() {
        let mut control = Map::new();
        control.insert("type".to_owned(), json!("ephemeral"));
        say(&mut control, "ttl", cache.ttl.as_ref().map(|ttl| json!(ttl)));
        entry.insert("cache_control".to_owned(), Value::Object(control));
    }
    asked.tool = Some(Value::Object(entry).into());
    Some(asked)
}

/// Writes the lists of domains, which are mutually exclusive here.
fn lists(entry: &mut Map<String, Value>, allowed: &[String], blocked: &[String], asked: &mut Asked) {
    if !allowed.is_empty() {
        entry.insert("allowed_domains".to_owned(), json!(allowed));
        asked.lose("blocked_domains", !blocked.is_empty());
    } else if !blocked.is_empty() {
        entry.insert("blocked_domains".to_owned(), json!(blocked));
    }
}
