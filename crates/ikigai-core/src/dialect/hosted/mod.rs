//! Provider-run tools and citations: what all dialects share.
//!
//! Each dialect's `hosted.rs` has the tables: what its objects mean in the format, and what it writes for the format's.
//! Objects are read in the dialects, where they are found. They are written here: before an answer is written, whole
//! ([`lower`]) or as events ([`Lowering`]), citations, sources, calls and results become fields and blocks of the
//! dialect, which its writers then write unchanged.

mod asked;
mod lower;
mod stream;
mod texts;
mod writer;

use serde_json::Value;

use super::{anthropic, gemini, openai_chat, openai_responses};
use crate::citation::WIRE;
use crate::fit::Spelling;
use crate::wire::Target;
use crate::{
    Block, BuiltIn, Citation, Dialect, Fields, FoundSource, Json, Loss, LossCode, Other, Part, ProviderData,
    ProviderTool, Request, Response, Text, Tool, Usage,
};

pub(crate) use asked::{Asked, Company, approximate, domains, number, say, user_location};
pub(crate) use lower::{lower, or_same};
pub(crate) use stream::Lowering;
pub(crate) use texts::Texts;

/// In a result's state: marks that the result and its call are one wire object, which is on the call.
pub(crate) const HALF: &str = "half";

/// Marks the ids that we made up for calls sent to a client: no provider knows them.
const OURS: &str = "ikg1_";

/// The sources and citations of an answer as a whole.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Citations, with the indices of their blocks.
    pub(crate) citations: Vec<(usize, Citation)>,
    pub(crate) sources: Vec<FoundSource>,
}

/// Whether this block is the second half of a wire object that is written with its call.
pub(crate) fn is_half(block: &Block, dialect: Dialect) -> bool {
    block.provider_data().is_some_and(|data| data.part(dialect, Part::State).flag(HALF))
}

/// Keeps a whole wire object.
pub(crate) fn keep_wire(data: &mut ProviderData, dialect: Dialect, wire: Json) {
    data.set_part(dialect, Part::State, WIRE, wire);
}

/// Returns a value inside a wire object, or `null` if it is absent.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    value.pointer(path).unwrap_or(&Value::Null)
}

/// Returns a string from a wire object.
pub(crate) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Returns a call's id for a client of another dialect, with that dialect's prefix.
pub(crate) fn our_id(prefix: &str, id: &str) -> String {
    let safe: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(64).collect();
    format!("{prefix}{OURS}{safe}")
}

/// Returns what the fields around an answer say about its text.
pub(crate) fn found(dialect: Dialect, data: &ProviderData, texts: &Texts) -> Found {
    match dialect {
        Dialect::OpenaiChat => openai_chat::hosted::found(data, texts),
        Dialect::Gemini => gemini::hosted::found(data, texts),
        Dialect::Anthropic | Dialect::OpenaiResponses | Dialect::BedrockConverse => Found::default(),
    }
}

/// Whether this dialect lists sources next to an answer, with positions counted through all of its text.
pub(crate) fn is_around(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::OpenaiChat | Dialect::Gemini)
}

/// Attaches the sources listed next to an answer to its text blocks.
pub(crate) fn read_answer(response: &mut Response, dialect: Dialect) {
    if !is_around(dialect) || response.provider_data.part(dialect, Part::Answer).is_empty() {
        return;
    }
    let is_cited = |block: &Block| matches!(block, Block::Text(text) if !text.citations.is_empty());
    if response.content.iter().any(is_cited) {
        // It came in the frames of a stream, which have been read.
        return;
    }
    let found = found(dialect, &response.provider_data, &Texts::of(&response.content));
    for (index, citation) in found.citations {
        if let Some(Block::Text(text)) = response.content.get_mut(index) {
            text.citations.push(citation);
        }
    }
    response.sources = found.sources;
}

/// In a request's shape: what else its answer should include, so that it shows the results of provider-run tools.
pub(crate) const INCLUDE: &str = "include";

/// In a tool's shape: its entry as received.
const ENTRY: &str = "entry";

/// Reads a request's tool entry: as a tool that several providers have, or kept whole.
pub(crate) fn read_tool(other: Other) -> Tool {
    let read = match other.dialect {
        Dialect::Anthropic => anthropic::built_in::read(&other.data),
        Dialect::OpenaiChat => openai_chat::built_in::read(&other.data),
        Dialect::OpenaiResponses => openai_responses::built_in::read(&other.data),
        Dialect::Gemini => gemini::built_in::read(&other.data),
        Dialect::BedrockConverse => None,
    };
    let Some((mut tool, known)) = read else { return Tool::other(other) };
    let unknown: Fields = other.data.to().unwrap_or_default();
    let unknown = unknown.into_iter().filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
    let data = tool.provider_data_mut();
    data.extend_part(other.dialect, Part::Extra, unknown.collect());
    data.set_part(other.dialect, Part::Shape, ENTRY, other.data);
    Tool::BuiltIn(tool)
}

/// Returns the entry a tool was read from, if the tool is unchanged.
pub(crate) fn as_it_came(tool: &BuiltIn, dialect: Dialect) -> Option<&Json> {
    let entry = entry(tool, dialect)?;
    let again = read_tool(Other { dialect, data: entry.clone() });
    (again == Tool::BuiltIn(tool.clone())).then_some(entry)
}

fn entry(tool: &BuiltIn, dialect: Dialect) -> Option<&Json> {
    tool.provider_data().part(dialect, Part::Shape).get(ENTRY)
}

/// Places an unchanged entry where it belongs: usually among the tools.
pub(crate) fn placed(entry: &Json, dialect: Dialect) -> Asked {
    match dialect {
        Dialect::OpenaiChat => openai_chat::built_in::placed(entry),
        _ => Asked { tool: Some(entry.clone()), ..Asked::default() },
    }
}

/// Adds features to those that a request's header names.
pub(crate) fn name_features(data: &mut ProviderData, dialect: Dialect, betas: &[&'static str]) {
    if betas.is_empty() {
        return;
    }
    let named = data.part(dialect, Part::Extra).get("betas").and_then(|list| list.to::<Vec<String>>().ok());
    let mut named = named.unwrap_or_default();
    named.extend(betas.iter().map(|beta| (*beta).to_owned()).filter(|beta| !named.contains(beta)).collect::<Vec<_>>());
    data.set_part(dialect, Part::Extra, "betas", Json::of(&named).unwrap_or_default());
}

/// Returns the request for a tool; `None` if the dialect has no such tool.
pub(crate) fn ask(tool: &BuiltIn, dialect: Dialect, company: Company, target: &Target<'_>) -> Option<Asked> {
    let quirks = target.quirks;
    let version = entry(tool, dialect).and_then(|entry| text(at(entry.value(), "/type")));
    match dialect {
        Dialect::Anthropic => anthropic::built_in::write(tool, version.as_deref()),
        Dialect::OpenaiChat if quirks.chat.web_search_tool => openai_chat::built_in::write_tool(tool),
        Dialect::OpenaiChat if quirks.chat.web_search_options || target.rules.search_in_chat => {
            openai_chat::built_in::write_options(tool)
        }
        Dialect::OpenaiResponses if quirks.responses.flat_tools => openai_responses::built_in::write_flat(tool),
        Dialect::OpenaiResponses => openai_responses::built_in::write(tool, version.as_deref(), company),
        Dialect::Gemini => gemini::built_in::write(tool, &quirks.gemini),
        Dialect::OpenaiChat | Dialect::BedrockConverse => None,
    }
}

/// Returns the loss if counts of calls have no place in a dialect.
pub(crate) fn uncounted(usage: Option<&Usage>, to: Dialect) -> Option<Loss> {
    let usage = usage.filter(|usage| !usage.provider_calls.is_empty() && !usage.provider_data.is_of(to))?;
    let counted = to == Dialect::Anthropic
        && usage.provider_calls.keys().all(|tool| matches!(tool, ProviderTool::WebSearch | ProviderTool::WebFetch));
    let why = "this API does not count what its tools did in this way; left out";
    (!counted).then(|| Loss::info(LossCode::NotInDialect, "provider_calls", "usage.provider_calls", why))
}

/// Removes what we made up for clients: the wire objects of calls that no provider of this dialect made.
pub(crate) fn disown(request: &mut Request, dialect: Dialect) {
    for block in request.messages.iter_mut().flat_map(|message| &mut message.content) {
        let is_ours = match block {
            Block::ProviderCall(call) => call.id.contains(OURS),
            Block::ProviderResult(result) => result.call_id.contains(OURS),
            _ => false,
        };
        if let Some(data) = block.provider_data_mut().filter(|_| is_ours) {
            data.remove_part(dialect, Part::State, WIRE);
        }
    }
}

/// Returns a request's text block with its citations as this dialect wrote them; `None` if they have no place there.
pub(crate) fn with_own_citations(text: &Text, dialect: Dialect, spelling: Spelling) -> Option<Text> {
    let name = match (dialect, spelling) {
        (Dialect::Anthropic, _) => "citations",
        (Dialect::OpenaiResponses, Spelling::AsItCame) => "annotations",
        (Dialect::OpenaiResponses | Dialect::OpenaiChat | Dialect::Gemini | Dialect::BedrockConverse, _) => {
            return None;
        }
    };
    let wires: Vec<&Json> = text.citations.iter().filter_map(|citation| citation.wire(dialect)).collect();
    if wires.is_empty() {
        return None;
    }
    let mut own = Text { citations: Vec::new(), ..text.clone() };
    own.provider_data.set_part(dialect, Part::Extra, name, Json::of(&wires).unwrap_or_default());
    Some(own)
}

#[cfg(test)]
mod edge_tests;
#[cfg(test)]
mod tests;
