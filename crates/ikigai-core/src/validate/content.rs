//! Rules about single blocks: where each kind is allowed, and what pictures, documents and sounds must be.

use super::{At, Problem};
use crate::{Block, BlockKind, Role, Source, Span, ToolCall};

/// The container of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Prompt,
    Message(Role),
    Result,
    Answer,
}

pub(super) fn block(at: At, block: &Block, inside: Inside, problems: &mut Vec<Problem>) {
    if let Some(way_out) = misplaced(block.kind(), inside) {
        problems.push(match (block.kind(), inside) {
            (BlockKind::Text, Inside::Message(Role::Tool)) => Problem::ResultWithoutCallId { at: at.to_string() },
            (kind, _) => Problem::Misplaced { at: at.to_string(), kind, inside: inside.words(), way_out },
        });
        return;
    }
    match block {
        Block::Text(text) => {
            // An empty text may exist for the state that it carries.
            if text.text.trim().is_empty() && text.provider_data.is_empty() {
                problems.push(Problem::EmptyText { at: at.to_string() });
            }
            let outside = |span: &Span| text.text.get(span.start..span.end).is_none();
            if text.citations.iter().filter_map(|citation| citation.span.as_ref()).any(outside) {
                problems.push(Problem::SpanOutside { at: at.to_string() });
            }
        }
        Block::Image(image) => source(at, &image.source, BlockKind::Image, problems),
        Block::Document(document) => source(at, &document.source, BlockKind::Document, problems),
        Block::Audio(audio) => source(at, &audio.source, BlockKind::Audio, problems),
        Block::ToolCall(tool_call) => call(at, tool_call, problems),
        Block::ToolResult(result) => {
            if let At::Block(message, place) = at {
                for (inner, block_inside) in result.content.iter().enumerate() {
                    block_in_result(At::Inner(message, place, inner), block_inside, problems);
                }
            }
        }
        Block::ProviderResult(result) => {
            if let At::Block(message, place) = at {
                for (inner, block_inside) in result.content.iter().enumerate() {
                    block_in_result(At::Inner(message, place, inner), block_inside, problems);
                }
            }
        }
        Block::Thinking(_) | Block::ProviderCall(_) | Block::Other(_) => {}
    }
}

/// Results contain no results, so this does not recurse further.
fn block_in_result(at: At, inner: &Block, problems: &mut Vec<Problem>) {
    block(at, inner, Inside::Result, problems);
}

fn call(at: At, call: &ToolCall, problems: &mut Vec<Problem>) {
    if call.id.trim().is_empty() {
        problems.push(Problem::CallWithoutId { at: at.to_string() });
    }
    if call.name.trim().is_empty() {
        problems.push(Problem::CallWithoutName { at: at.to_string() });
    }
    if !call.is_complete() {
        problems.push(Problem::BrokenCall { at: at.to_string(), name: call.name.clone() });
    }
}

/// Returns what to do instead if a block is not allowed where it is.
fn misplaced(kind: BlockKind, inside: Inside) -> Option<&'static str> {
    const TO_USER: &str = "put it into a user message";
    const TO_ASSISTANT: &str = "only the assistant's messages have it";
    const TO_TOOL: &str = "put it into a tool message";
    const ONLY_TEXT: &str = "use text";
    match (inside, kind) {
        (_, BlockKind::Other) => None,
        (Inside::Prompt | Inside::Message(Role::System), BlockKind::Text) => None,
        (
            Inside::Prompt | Inside::Message(Role::System | Role::Tool | Role::User),
            BlockKind::ToolCall | BlockKind::Thinking | BlockKind::ProviderCall | BlockKind::ProviderResult,
        ) => Some(TO_ASSISTANT),
        (Inside::Prompt | Inside::Message(Role::System), BlockKind::ToolResult) => Some(TO_TOOL),
        (Inside::Prompt | Inside::Message(Role::System), BlockKind::Image | BlockKind::Document | BlockKind::Audio) => {
            Some(TO_USER)
        }
        (Inside::Message(Role::Tool), BlockKind::ToolResult) => None,
        (Inside::Message(Role::Tool), BlockKind::Text | BlockKind::Image | BlockKind::Document | BlockKind::Audio) => {
            Some("put it into the content of a tool_result block")
        }
        (
            Inside::Message(Role::User),
            BlockKind::Text | BlockKind::Image | BlockKind::Document | BlockKind::Audio | BlockKind::ToolResult,
        ) => None,
        (Inside::Message(Role::Assistant) | Inside::Answer, BlockKind::ToolResult) => Some(TO_TOOL),
        (
            Inside::Message(Role::Assistant) | Inside::Answer,
            BlockKind::Text
            | BlockKind::Image
            | BlockKind::Document
            | BlockKind::Audio
            | BlockKind::ToolCall
            | BlockKind::Thinking
            | BlockKind::ProviderCall
            | BlockKind::ProviderResult,
        ) => None,
        (
            Inside::Result,
            BlockKind::ToolCall
            | BlockKind::ToolResult
            | BlockKind::Thinking
            | BlockKind::ProviderCall
            | BlockKind::ProviderResult,
        ) => Some(ONLY_TEXT),
        (Inside::Result, BlockKind::Text | BlockKind::Image | BlockKind::Document | BlockKind::Audio) => None,
    }
}

impl Inside {
    fn words(self) -> &'static str {
        match self {
            Inside::Prompt => "the system prompt",
            Inside::Message(Role::User) => "a user message",
            Inside::Message(Role::Assistant) => "an assistant message",
            Inside::Message(Role::Tool) => "a tool message",
            Inside::Message(Role::System) => "a system message",
            Inside::Result => "a tool result",
            Inside::Answer => "an answer",
        }
    }
}

fn source(at: At, source: &Source, kind: BlockKind, problems: &mut Vec<Problem>) {
    let at = || at.to_string();
    if let Some(given) = source.media_type() {
        media_type(&at, given, kind, problems);
    }
    match source {
        Source::Base64 { data, .. } if data.is_empty() => problems.push(Problem::NoData { at: at() }),
        Source::Base64 { data, .. } if data.starts_with("data:") => problems.push(Problem::DataUrl { at: at() }),
        Source::Base64 { data, .. } => {
            if let Some(why) = base64_fault(data.as_bytes()) {
                problems.push(Problem::NotBase64 { at: at(), why });
            }
        }
        Source::Text { text, .. } => {
            if text.trim().is_empty() {
                problems.push(Problem::EmptyText { at: at() });
            }
        }
        Source::Url { url, .. } => {
            let fetchable = url.split_once("://").is_some_and(|(scheme, rest)| {
                !rest.is_empty() && !scheme.is_empty() && !scheme.eq_ignore_ascii_case("file")
            });
            if !fetchable {
                let url = url.chars().take(60).collect();
                problems.push(Problem::BadUrl { at: at(), url });
            }
        }
        Source::File { id, .. } => {
            if id.trim().is_empty() {
                problems.push(Problem::NoFileId { at: at() });
            }
        }
    }
}

fn media_type(at: &impl Fn() -> String, given: &str, kind: BlockKind, problems: &mut Vec<Problem>) {
    let token =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+*".contains(&b));
    let plain = given.split(';').next().unwrap_or_default().trim();
    let Some((class, _)) = plain.split_once('/').filter(|(class, subtype)| token(class) && token(subtype)) else {
        return problems.push(Problem::BadMediaType { at: at(), media_type: given.to_owned() });
    };
    let way_out = match (kind, class.to_ascii_lowercase().as_str()) {
        (BlockKind::Image, "image") | (BlockKind::Audio, "audio") => return,
        (BlockKind::Document, "image") | (BlockKind::Audio, "image") => "use an image block",
        (BlockKind::Document, "audio") | (BlockKind::Image, "audio") => "use an audio block",
        (BlockKind::Image | BlockKind::Audio, _) => "use a document block",
        (
            BlockKind::Document
            | BlockKind::Text
            | BlockKind::ToolCall
            | BlockKind::ToolResult
            | BlockKind::Thinking
            | BlockKind::ProviderCall
            | BlockKind::ProviderResult
            | BlockKind::Other,
            _,
        ) => return,
    };
    problems.push(Problem::WrongMediaType { at: at(), media_type: plain.to_owned(), kind, way_out });
}

/// Returns what is wrong with data that should be padded standard base64. Nothing is decoded: pictures are large.
fn base64_fault(data: &[u8]) -> Option<String> {
    let content = data.strip_suffix(b"==").or_else(|| data.strip_suffix(b"=")).unwrap_or(data);
    let wrong = content.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'+' || *b == b'/'));
    match wrong.and_then(|place| content.get(place).map(|b| (place, *b))) {
        Some((place, b'\n' | b'\r' | b' ' | b'\t')) => {
            Some(format!("there is a line break or blank at {place}; take them out"))
        }
        Some((place, b'-' | b'_')) => Some(format!("at {place} it is in the URL-safe alphabet; use `+` and `/`")),
        Some((place, b'=')) => Some(format!("its padding at {place} is not at the end")),
        Some((place, _)) => Some(format!("the character at {place} does not belong there")),
        None if !data.len().is_multiple_of(4) => {
            Some("its length is no multiple of four; it is cut off or lacks its padding".to_owned())
        }
        None => None,
    }
}
