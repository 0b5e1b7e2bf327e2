//! Token counts. The wire's input count excludes cached tokens, and its output count includes the thinking.

use crate::json::{self, wire::Raw};
use crate::{Fields, Json, Part, ProviderTool, Usage};

use super::DIALECT;

const INPUT: &str = "input_tokens";
const OUTPUT: &str = "output_tokens";
const CACHE_READ: &str = "cache_read_input_tokens";
const CACHE_WRITE: &str = "cache_creation_input_tokens";
const DETAILS: &str = "output_tokens_details";
const THINKING: &str = "thinking_tokens";
const SERVER_TOOLS: &str = "server_tool_use";
/// The server-tool calls that this API counts.
const COUNTED: [(ProviderTool, &str); 2] =
    [(ProviderTool::WebSearch, "web_search_requests"), (ProviderTool::WebFetch, "web_fetch_requests")];

/// Reads a `usage` object. Whatever is not a count stays in `provider_data`, field by field; `absent` in its shape
/// lists the missing counts.
pub(super) fn decode(mut fields: Fields) -> Usage {
    let count = |json: &Json| json::count(json.text());
    let of = |name: &str| fields.get(name).and_then(count);
    let details: Fields = fields.get(DETAILS).and_then(|details| details.to().ok()).unwrap_or_default();
    // The API counts the thinking inside the output. The documents that define the format show a separate count, on top
    // of the others.
    let inside = details.get(THINKING).and_then(count);
    let thinking = inside.or_else(|| of(THINKING)).unwrap_or(0);
    let mut usage = Usage {
        input_tokens: of(INPUT).unwrap_or(0),
        output_tokens: of(OUTPUT).unwrap_or(0).saturating_sub(inside.unwrap_or(0)),
        thinking_tokens: thinking,
        cache_read_tokens: of(CACHE_READ).unwrap_or(0),
        cache_write_tokens: of(CACHE_WRITE).unwrap_or(0),
        ..Usage::default()
    };
    let ran: Fields = fields.get(SERVER_TOOLS).and_then(|ran| ran.to().ok()).unwrap_or_default();
    for (tool, name) in COUNTED {
        usage.provider_calls.extend(ran.get(name).and_then(count).map(|count| (tool, count)));
    }
    let counts = [INPUT, OUTPUT, CACHE_WRITE, CACHE_READ];
    let absent: Vec<&str> = counts.into_iter().filter(|name| fields.get(name).is_none()).collect();
    if !absent.is_empty() {
        let absent = Json::of(&absent).unwrap_or_default();
        usage.provider_data.set_part(DIALECT, Part::Shape, "absent", absent);
    }
    fields.retain(|name, value| match name {
        INPUT | OUTPUT | CACHE_READ | CACHE_WRITE => count(value).is_none(),
        // A zero is written only if one was read.
        DETAILS => thinking == 0 || details.len() != 1,
        _ => true,
    });
    usage.provider_data.extend_part(DIALECT, Part::Answer, fields);
    usage
}

/// Writes a `usage` object; all zeros if there are no counts.
pub(super) fn encode(usage: Option<&Usage>) -> Raw<'static> {
    let nobody = Usage::default();
    let usage = usage.unwrap_or(&nobody);
    let own = usage.provider_data.part(DIALECT, Part::Answer);
    let mut rest = own.clone();
    let absent = usage.provider_data.part(DIALECT, Part::Shape).get("absent");
    let absent: Vec<String> = absent.and_then(|absent| absent.to().ok()).unwrap_or_default();
    let was_given = |name: &str| own.get(name).is_none() && !absent.iter().any(|absent| absent == name);
    // A count that has since changed must not come back from an old copy.
    let thinking = usage.thinking_tokens;
    let is_old = |fields: &Fields| fields.get(THINKING).is_some_and(|count| count.to().ok() != Some(thinking));
    let beside = thinking > 0 && rest.get(THINKING).is_some() && !is_old(&rest);
    let output = if beside { usage.output_tokens } else { usage.completion_tokens() };
    let mut fields = Fields::default();
    let counts = [
        (INPUT, usage.input_tokens),
        (CACHE_WRITE, usage.cache_write_tokens),
        (CACHE_READ, usage.cache_read_tokens),
        (OUTPUT, output),
    ];
    for (name, count) in counts.into_iter().filter(|(name, count)| *count > 0 || was_given(name)) {
        fields.push(name, number(count));
        rest.remove(name);
    }
    if is_old(&rest) {
        rest.remove(THINKING);
    }
    let details: Option<Fields> = rest.get(DETAILS).and_then(|details| details.to().ok());
    if thinking > 0 && !beside {
        let mut details = details.unwrap_or_default();
        details.set(THINKING, number(thinking));
        rest.set(DETAILS, details);
    } else if details.is_some_and(|details| is_old(&details)) {
        rest.remove(DETAILS);
    }
    if rest.get(SERVER_TOOLS).is_none() {
        let count = |tool: &ProviderTool| usage.provider_calls.get(tool).copied();
        // Clients expect both or neither.
        if COUNTED.iter().any(|(tool, _)| count(tool).is_some()) {
            let ran = COUNTED.iter().map(|(tool, name)| ((*name).to_owned(), number(count(tool).unwrap_or(0))));
            rest.push(SERVER_TOOLS, ran.collect::<Fields>());
        }
    }
    fields.merge(rest);
    Raw::of(&fields)
}

fn number(count: u64) -> Json {
    Json::of(&count).unwrap_or_default()
}
