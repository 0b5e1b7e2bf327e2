//! Requests for the web search of this API and some of its copies.

use serde_json::{Map, Value, json};

use crate::dialect::hosted::{Asked, approximate, domains, number, say, user_location};
use crate::{BuiltIn, Json, WebSearch};

/// OpenRouter's search.
const TOOL: &str = "openrouter:web_search";
/// OpenAI's search: a field of the request.
pub(super) const OPTIONS: &str = "web_search_options";

/// Reads a tool's entry, and returns it with the names of the fields that are understood. A request's field is read as
/// an entry that contains nothing else.
pub(crate) fn read(data: &Json) -> Option<(BuiltIn, &'static [&'static str])> {
    let value = data.value();
    if let Some(options) = value.get(OPTIONS).and_then(Value::as_object) {
        let search = WebSearch {
            user_location: options.get("user_location").and_then(user_location),
            context_size: options.get("search_context_size").and_then(|size| serde_json::from_value(size.clone()).ok()),
            ..WebSearch::default()
        };
        let known = options.keys().all(|name| matches!(name.as_str(), "user_location" | "search_context_size"));
        return Some((BuiltIn::WebSearch(search), if known { &[OPTIONS] } else { &[] }));
    }
    if value["type"] != TOOL {
        return None;
    }
    let options = &value["parameters"];
    let search = WebSearch {
        max_uses: options["max_uses"].as_u64(),
        allowed_domains: domains(&options["allowed_domains"]),
        blocked_domains: domains(&options["excluded_domains"]),
        user_location: user_location(&options["user_location"]),
        context_size: serde_json::from_value(options["search_context_size"].clone()).ok(),
        ..WebSearch::default()
    };
    let known = options.as_object().is_none_or(|options| !options.contains_key("engine"));
    Some((BuiltIn::WebSearch(search), if known { &["type", "parameters"] } else { &["type"] }))
}

/// Places an entry where it belongs.
pub(crate) fn placed(entry: &Json) -> Asked {
    match entry.value().get(OPTIONS) {
        Some(_) => Asked { top: entry.to().unwrap_or_default(), ..Asked::default() },
        None => Asked { tool: Some(entry.clone()), ..Asked::default() },
    }
}

/// Writes the request for a search, for models that search for every answer.
pub(crate) fn write_options(tool: &BuiltIn) -> Option<Asked> {
    let BuiltIn::WebSearch(search) = tool else { return None };
    let mut options = Map::new();
    say(&mut options, "search_context_size", search.context_size.map(|size| json!(size)));
    let place = search.user_location.as_ref().map(|place| {
        let mut place = approximate(place);
        if let Some(place) = place.as_object_mut() {
            place.remove("type");
        }
        json!({"type": "approximate", "approximate": place})
    });
    say(&mut options, "user_location", place);
    let mut asked = Asked::default();
    asked.top.set(OPTIONS, Value::Object(options));
    asked.lose("allowed_domains", !search.allowed_domains.is_empty());
    asked.lose("blocked_domains", !search.blocked_domains.is_empty());
    asked.lose("max_uses", search.max_uses.is_some());
    Some(asked)
}

/// Writes the request for a tool, for providers with a search of this kind.
pub(crate) fn write_tool(tool: &BuiltIn) -> Option<Asked> {
    let BuiltIn::WebSearch(search) = tool else { return None };
    let mut options = Map::new();
    say(&mut options, "max_uses", number(search.max_uses));
    for (name, list) in [("allowed_domains", &search.allowed_domains), ("excluded_domains", &search.blocked_domains)] {
        if !list.is_empty() {
            options.insert(name.to_owned(), json!(list));
        }
    }
    say(&mut options, "user_location", search.user_location.as_ref().map(approximate));
    say(&mut options, "search_context_size", search.context_size.map(|size| json!(size)));
    let mut entry = Map::new();
    entry.insert("type".to_owned(), json!(TOOL));
    if !options.is_empty() {
        entry.insert("parameters".to_owned(), Value::Object(options));
    }
    Some(Asked { tool: Some(Value::Object(entry).into()), ..Asked::default() })
}
