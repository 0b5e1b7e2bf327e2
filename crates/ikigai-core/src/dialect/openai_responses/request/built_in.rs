//! Requests for the tools that this API runs.

use serde_json::{Map, Value, json};

use crate::dialect::hosted::{Asked, Company, approximate, at, domains, number, say, text, user_location};
use crate::{BuiltIn, CodeExecution, FileSearch, Json, WebFetch, WebSearch};

/// Reads a tool's entry, and returns it with the names of the fields that are understood.
pub(crate) fn read(data: &Json) -> Option<(BuiltIn, &'static [&'static str])> {
    let value = data.value();
    Some(match value["type"].as_str()? {
        kind if kind.starts_with("web_search") => {
            let size = serde_json::from_value(value["search_context_size"].clone()).ok();
            let search = WebSearch {
                // Some have the lists next to the other fields.
                allowed_domains: match domains(at(value, "/filters/allowed_domains")) {
                    list if list.is_empty() => domains(&value["allowed_domains"]),
                    list => list,
                },
                blocked_domains: domains(&value["excluded_domains"]),
                user_location: user_location(&value["user_location"]),
                context_size: size,
                ..WebSearch::default()
            };
            let known =
                &["type", "filters", "allowed_domains", "excluded_domains", "user_location", "search_context_size"];
            (BuiltIn::WebSearch(search), known)
        }
        "code_interpreter" => {
            let container = &value["container"];
            let files = domains(&container["file_ids"]);
            let code = CodeExecution { container: text(container), files, ..CodeExecution::default() };
            (BuiltIn::CodeExecution(code), &["type", "container"])
        }
        "file_search" => {
            let search = FileSearch {
                stores: domains(&value["vector_store_ids"]),
                max_results: value["max_num_results"].as_u64(),
                ..FileSearch::default()
            };
            (BuiltIn::FileSearch(search), &["type", "vector_store_ids", "max_num_results"])
        }
        _ => return None,
    })
}

/// Writes the request for a tool.
pub(crate) fn write(tool: &BuiltIn, version: Option<&str>, company: Company) -> Option<Asked> {
    let mut asked = Asked::default();
    let mut entry = Map::new();
    match tool {
        BuiltIn::WebSearch(search) => {
            entry.insert("type".to_owned(), json!(version.unwrap_or("web_search")));
            if !search.allowed_domains.is_empty() {
                entry.insert("filters".to_owned(), json!({"allowed_domains": search.allowed_domains}));
            }
            say(&mut entry, "user_location", search.user_location.as_ref().map(approximate));
            say(&mut entry, "search_context_size", search.context_size.map(|size| json!(size)));
            asked.lose("blocked_domains", !search.blocked_domains.is_empty());
            match company {
                Company::Alone => asked.limit(search.max_uses),
                Company::Others => asked.lose("max_uses", search.max_uses.is_some()),
            }
        }
        BuiltIn::WebFetch(fetch) => {
            // A search opens pages, too.
            entry.insert("type".to_owned(), json!("web_search"));
            asked.emulated = Some("this API reads pages while it searches; a search is asked for");
            if !fetch.allowed_domains.is_empty() {
                entry.insert("filters".to_owned(), json!({"allowed_domains": fetch.allowed_domains}));
            }
            asked.lose("blocked_domains", !fetch.blocked_domains.is_empty());
            asked.lose("max_uses", fetch.max_uses.is_some());
            asked.lose("max_content_tokens", fetch.max_content_tokens.is_some());
        }
        BuiltIn::CodeExecution(code) => {
            entry.insert("type".to_owned(), json!("code_interpreter"));
            let container = match &code.container {
                Some(id) => {
                    asked.lose("files", !code.files.is_empty());
                    json!(id)
                }
                None if code.files.is_empty() => json!({"type": "auto"}),
                None => json!({"type": "auto", "file_ids": code.files}),
            };
            entry.insert("container".to_owned(), container);
        }
        BuiltIn::FileSearch(search) => {
            entry.insert("type".to_owned(), json!("file_search"));
            entry.insert("vector_store_ids".to_owned(), json!(search.stores));
            say(&mut entry, "max_num_results", number(search.max_results));
        }
    }
    asked.tool = Some(Value::Object(entry).into());
    asked.include = match tool {
        // The sources of a search are only URLs, while citations have more: clients that take sources from results
        // would show them without titles.
        BuiltIn::WebSearch(_) | BuiltIn::WebFetch(_) => None,
        BuiltIn::CodeExecution(_) => Some("code_interpreter_call.outputs"),
        BuiltIn::FileSearch(_) => Some("file_search_call.results"),
    };
    Some(asked)
}

/// Does the same for APIs where options are next to the type, and code does not run in a named container.
pub(crate) fn write_flat(tool: &BuiltIn) -> Option<Asked> {
    let mut asked = write(tool, None, Company::Others)?;
    let mut entry = asked.tool.take()?.value().clone();
    let fields = entry.as_object_mut()?;
    match tool {
        BuiltIn::WebSearch(WebSearch { allowed_domains, blocked_domains, .. })
        | BuiltIn::WebFetch(WebFetch { allowed_domains, blocked_domains, .. }) => {
            fields.remove("filters");
            for (name, list) in [("allowed_domains", allowed_domains), ("excluded_domains", blocked_domains)] {
                say(fields, name, Some(json!(list)).filter(|_| !list.is_empty()));
            }
            asked.lost.retain(|option| *option != "blocked_domains");
            for name in ["user_location", "search_context_size"] {
                let is_set = fields.remove(name).is_some();
                asked.lose(if name == "user_location" { name } else { "context_size" }, is_set);
            }
        }
        BuiltIn::CodeExecution(code) => {
            fields.remove("container");
            asked.lost.retain(|option| *option != "files");
            asked.lose("container", code.container.is_some());
            asked.lose("files", !code.files.is_empty());
        }
        BuiltIn::FileSearch(_) => {}
    }
    asked.tool = Some(entry.into());
    asked.include = None;
    Some(asked)
}
