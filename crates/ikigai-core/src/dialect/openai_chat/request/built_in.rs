//! The search that this API and some of its copies run, as they are asked for it.

use serde_json::{Map, Value, json};

use crate::dialect::hosted::{Asked, approximate, domains, number, say, user_location};
use crate::{BuiltIn, Json, WebSearch};

/// OpenRouter's.
const TOOL: &str = "openrouter:web_search";

/// The tool that an entry asks for, and the names of its fields that are understood.
pub(crate) fn read(data: &Json) -> Option<(BuiltIn, &'static [&'static str])> {
    let value = data.value();
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

/// What asks for a tool, where the provider has a search of this kind.
pub(crate) fn write(tool: &BuiltIn) -> Option<Asked> {
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
    Some(Asked { tool: Some(Value::Object(entry)), ..Asked::default() })
}
