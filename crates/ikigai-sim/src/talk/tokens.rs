//! Tokens: an estimate of four characters each, the same everywhere.

use ikigai_core::{Block, Dialect, Request, Source, Usage};

use super::Talk;
use crate::generate::fingerprint;

/// The fewest tokens that a provider caches.
const LEAST_CACHED: u64 = 1024;
/// OpenAI caches in steps of this many tokens.
const OPENAI_STEP: u64 = 128;
/// What each message costs besides its content.
const PER_MESSAGE: u64 = 4;

/// The tokens of a text.
pub(crate) fn of_text(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

/// The tokens of a block.
pub(crate) fn of_block(block: &Block) -> u64 {
    match block {
        Block::Text(text) => of_text(&text.text),
        Block::Thinking(thinking) => of_text(&thinking.text),
        Block::ToolCall(call) => of_text(&call.name) + of_text(call.arguments.text()),
        Block::ToolResult(result) => result.content.iter().map(of_block).sum::<u64>() + PER_MESSAGE,
        Block::Image(_) => 258,
        Block::Document(document) => match &document.source {
            Source::Text { text, .. } => of_text(text),
            _ => 1500,
        },
        Block::Audio(_) => 320,
        other => of_text(&serde_json::to_string(other).unwrap_or_default()),
    }
}

/// The tokens of a whole prompt.
pub(crate) fn prompt_tokens(request: &Request) -> u64 {
    boundaries(request).last().map_or(0, |last| last.tokens)
}

/// A place in a prompt where a cache entry can end.
struct Boundary {
    /// Of everything up to here.
    fingerprint: u64,
    tokens: u64,
    marked: bool,
}

/// Every place where a cache entry can end, in the order of the prompt: tools, system, messages.
fn boundaries(request: &Request) -> Vec<Boundary> {
    let mut found = Vec::new();
    let mut fingerprint_so_far = fingerprint(request.model.as_bytes());
    let mut tokens = 3;
    let mut add = |json: String, cost: u64, marked: bool| {
        fingerprint_so_far = fingerprint(format!("{fingerprint_so_far:x}{json}").as_bytes());
        tokens += cost;
        found.push(Boundary { fingerprint: fingerprint_so_far, tokens, marked });
    };
    for tool in &request.tools {
        let marked = tool.as_function().is_some_and(|function| function.cache.is_some());
        let json = serde_json::to_string(tool).unwrap_or_default();
        let cost = of_text(&json);
        add(json, cost, marked);
    }
    for block in &request.system {
        add(unmarked(block), of_block(block), block.cache().is_some());
    }
    for message in &request.messages {
        for (place, block) in message.content.iter().enumerate() {
            let cost = of_block(block) + if place == 0 { PER_MESSAGE } else { 0 };
            add(unmarked(block), cost, block.cache().is_some());
        }
    }
    if let Some(last) = found.last_mut()
        && request.cache.as_ref().is_some_and(|cache| cache.automatic.is_some())
    {
        last.marked = true;
    }
    found
}

/// A block's JSON without its cache mark, which moves from turn to turn and is not part of what is cached.
fn unmarked(block: &Block) -> String {
    let mut value = serde_json::to_value(block).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.shift_remove("cache");
    }
    value.to_string()
}

/// What a prompt takes, including what the provider's cache had of it. Remembers the prompt.
pub(super) fn prompt_usage(request: &Request, talk: &Talk<'_>) -> Usage {
    let boundaries = boundaries(request);
    let total = boundaries.last().map_or(0, |last| last.tokens);
    let (read, write) = match talk.dialect {
        Dialect::Anthropic => by_marks(&boundaries, talk),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            let read = by_itself(&boundaries, talk);
            (read / OPENAI_STEP * OPENAI_STEP, 0)
        }
        _ => (by_itself(&boundaries, talk), 0),
    };
    let mut usage = Usage::new(total.saturating_sub(read + write), 0);
    (usage.cache_read_tokens, usage.cache_write_tokens) = (read, write);
    usage
}

/// Anthropic caches up to a mark, and looks back from it for what it has.
fn by_marks(boundaries: &[Boundary], talk: &Talk<'_>) -> (u64, u64) {
    let Some(last) = boundaries.iter().rposition(|boundary| boundary.marked) else { return (0, 0) };
    let reach = boundaries.get(..=last).unwrap_or(boundaries);
    let known = |boundary: &&Boundary| boundary.tokens >= LEAST_CACHED && talk.memory.cache_knows(boundary.fingerprint);
    let read = reach.iter().rev().find(known).map_or(0, |boundary| boundary.tokens);
    let upto = reach.last().map_or(0, |boundary| boundary.tokens);
    for boundary in reach.iter().filter(|boundary| boundary.marked && boundary.tokens >= LEAST_CACHED) {
        talk.memory.cache_keep(boundary.fingerprint);
    }
    if upto < LEAST_CACHED { (0, 0) } else { (read, upto.saturating_sub(read)) }
}

/// OpenAI and Google cache automatically.
fn by_itself(boundaries: &[Boundary], talk: &Talk<'_>) -> u64 {
    let long: Vec<&Boundary> = boundaries.iter().filter(|boundary| boundary.tokens >= LEAST_CACHED).collect();
    let known = long.iter().rev().find(|boundary| talk.memory.cache_knows(boundary.fingerprint));
    let read = known.map_or(0, |boundary| boundary.tokens);
    for boundary in &long {
        talk.memory.cache_keep(boundary.fingerprint);
    }
    read
}
