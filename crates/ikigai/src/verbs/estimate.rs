//! Estimates of how many tokens a request has.

use ikigai_core::{Block, Request, Source};

/// Estimates how many tokens a request has, from its size alone: four bytes of text per token, and a flat amount for
/// pictures and other files, as providers charge it. Real counts differ by a third or more, especially for languages
/// other than English.
pub fn estimate_tokens(request: &Request) -> u64 {
    let tools: usize = request.tools.iter().map(|tool| serde_json::to_string(tool).map_or(0, |text| text.len())).sum();
    let system: u64 = request.system.iter().map(block).sum();
    let messages: u64 = request.messages.iter().map(|message| 4 + message.content.iter().map(block).sum::<u64>()).sum();
    text(tools) + system + messages
}

fn block(block: &Block) -> u64 {
    match block {
        Block::Text(inner) => text(inner.text.len()),
        Block::Thinking(inner) => text(inner.text.len()),
        Block::ToolCall(call) => 10 + text(call.name.len() + call.arguments.text().len()),
        Block::ToolResult(result) => 10 + result.content.iter().map(self::block).sum::<u64>(),
        Block::Image(_) => 1500,
        Block::Document(document) => source(&document.source),
        Block::Audio(audio) => source(&audio.source),
        Block::Other(other) => text(other.data.to_string().len()),
        _ => 0,
    }
}

/// Estimates a file: text as text; a PDF at 2,500 tokens per page of about 100 KB; one page if it is stored elsewhere.
fn source(source: &Source) -> u64 {
    match source {
        Source::Text { text: inner, .. } => text(inner.len()),
        Source::Base64 { data, .. } => 2500.max(data.len() as u64 / 53),
        _ => 2500,
    }
}

fn text(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}
