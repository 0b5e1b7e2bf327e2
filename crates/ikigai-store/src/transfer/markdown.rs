//! Conversations for people to read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ikigai_core::{Block, Footnotes, FoundSource, Message, Role, Source, Usage};

use crate::conversation::Conversation;
use crate::{State, Stored};

/// Returns a conversation as Markdown. It is for reading: it lacks sealed state and the bytes of attachments, and
/// cannot be imported. Citations in answers become footnotes.
///
/// ```
/// # #[cfg(feature = "sqlite")]
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use ikigai_core::{Message, Role};
/// use ikigai_store::{Details, Sqlite, Store, markdown};
///
/// let store = Sqlite::memory().await?;
/// let chat = store.create(Details::default()).await?.id;
/// store.append(chat, Message::new(Role::User, "Why is the sky blue?").into()).await?;
/// let text = markdown(&store.conversation(chat).await?, &store.thread(chat).await?);
/// assert!(text.ends_with("## You\n\nWhy is the sky blue?\n"));
/// # Ok::<(), ikigai_store::Error>(()) }).unwrap();
/// ```
pub fn markdown(conversation: &Conversation, messages: &[Stored]) -> String {
    let mut parts = vec![format!("# {}", conversation.title.as_deref().unwrap_or("Conversation"))];
    parts.push(format!("*{} · {}*", conversation.created, conversation.id));
    let mut names = BTreeMap::new();
    let mut notes = Footnotes::new(|number| format!("[^{number}]"));
    if !conversation.system.is_empty() {
        parts.push("## System".to_owned());
        blocks(&conversation.system, &mut names, &mut notes, &mut parts);
    }
    for stored in messages {
        let message = &stored.entry.message;
        parts.push(heading(message));
        blocks(&message.content, &mut names, &mut notes, &mut parts);
        if !message.sources.is_empty() {
            let sources: Vec<String> = message.sources.iter().map(|found| format!("- {}", source(found))).collect();
            parts.push(format!("Sources:\n\n{}", sources.join("\n")));
        }
        match stored.entry.state {
            State::Complete => {}
            State::Partial => parts.push("*(not finished)*".to_owned()),
            State::Cut => parts.push("*(cut off)*".to_owned()),
        }
        if let Some(usage) = &stored.entry.usage {
            let cost = stored.entry.cost.map(|cost| format!(" · {cost}")).unwrap_or_default();
            parts.push(format!("*{}{cost}*", tokens(usage)));
        }
    }
    let cited = notes.sources().iter().enumerate().map(|(place, found)| format!("[^{}]: {}", place + 1, source(found)));
    let cited: Vec<String> = cited.collect();
    parts.extend((!cited.is_empty()).then(|| cited.join("\n")));
    parts.join("\n\n") + "\n"
}

/// A source on one line, as a link if it is a page on the web.
fn source(source: &FoundSource) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = source.title.as_deref().filter(|title| !title.trim().is_empty()).or(source.key()).unwrap_or_default();
    let name: String =
        one_line(name).chars().flat_map(|c| SIGNS.contains(c).then_some('\\').into_iter().chain([c])).collect();
    let is_web = |url: &&str| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        matches!(scheme.as_deref(), Some("http" | "https")) && !url.contains(['<', '>', '\n', '\r'])
    };
    match source.url.as_deref().filter(is_web) {
        Some(url) => format!("[{name}](<{url}>)"),
        None => name,
    }
}

/// Characters with a meaning in the text of a link.
const SIGNS: &str = "\\[]*_`<";

fn heading(message: &Message) -> String {
    match message.role {
        Role::User => "## You".to_owned(),
        Role::Tool => "## Tools".to_owned(),
        Role::System => "## System".to_owned(),
        Role::Assistant => {
            let mut heading = format!("## {}", message.model.as_deref().unwrap_or("Assistant"));
            let level = message.thinking.map(|level| format!("thinking {level}"));
            let details: Vec<String> = message.provider.iter().cloned().chain(level).collect();
            if !details.is_empty() {
                let _ = write!(heading, " ({})", details.join(", "));
            }
            heading
        }
        other => format!("## {other}"),
    }
}

fn tokens(usage: &Usage) -> String {
    let counts = [
        ("input", usage.input_tokens),
        ("cached", usage.cached_tokens()),
        ("output", usage.output_tokens),
        ("thinking", usage.thinking_tokens),
    ];
    let told = counts.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} {count}"));
    format!("tokens: {}", told.collect::<Vec<_>>().join(", "))
}

/// Adds each block as one or more paragraphs; consecutive text blocks are one. `names` maps calls to their tools.
fn blocks(content: &[Block], names: &mut BTreeMap<String, String>, notes: &mut Footnotes, parts: &mut Vec<String>) {
    let mut text = String::new();
    for (place, block) in content.iter().enumerate() {
        match block {
            Block::Text(said) => {
                text.push_str(&notes.text(said));
                if !matches!(content.get(place + 1), Some(Block::Text(_))) {
                    let said = std::mem::take(&mut text);
                    parts.extend((!said.is_empty()).then(|| said.trim_end().to_owned()));
                }
            }
            Block::Thinking(thinking) if thinking.text.is_empty() => {}
            Block::Thinking(thinking) => {
                let text = thinking.text.trim();
                parts.push(format!("<details><summary>Thinking</summary>\n\n{text}\n\n</details>"));
            }
            Block::Image(image) => parts.push(attached("image", None, &image.source)),
            Block::Audio(audio) => parts.push(attached("audio", None, &audio.source)),
            Block::Document(document) => {
                parts.push(attached("document", document.name.as_deref(), &document.source));
            }
            Block::ToolCall(call) => {
                names.insert(call.id.clone(), call.name.clone());
                let pretty = || serde_json::to_string_pretty(call.arguments.object()).ok();
                let arguments = if call.arguments.is_plain() { pretty() } else { None };
                let arguments = arguments.unwrap_or_else(|| call.arguments.text().to_owned());
                parts.push(format!("Calls `{}`:\n\n{}", call.name, fenced("json", &arguments)));
            }
            Block::ToolResult(result) => {
                let name = names.get(&result.tool_call_id).unwrap_or(&result.tool_call_id);
                let how = if result.is_error { "fails" } else { "answers" };
                parts.push(format!("`{name}` {how}:"));
                let mut inner = Vec::new();
                for block in &result.content {
                    match block {
                        Block::Text(text) => inner.push(fenced("", &text.text)),
                        other => blocks(std::slice::from_ref(other), names, notes, &mut inner),
                    }
                }
                parts.append(&mut inner);
            }
            Block::ProviderCall(call) => {
                let asked = call.subject().map(|subject| format!(": {subject}")).unwrap_or_default();
                parts.push(format!("*[{}{asked}]*", call.tool));
            }
            Block::ProviderResult(result) => {
                let failed = result.error.as_ref().map(|error| format!("*[{} failed: {}]*", result.tool, error.code));
                parts.extend(failed);
            }
            // A dialect's own block, or a kind newer than this code.
            _ => parts.push(format!("*[{}]*", block.kind())),
        }
    }
}

fn attached(kind: &str, name: Option<&str>, source: &Source) -> String {
    let (what, size) = match source {
        Source::Base64 { media_type, data } => (media_type.clone(), Some(data.trim_end_matches('=').len() * 3 / 4)),
        Source::Text { media_type, text } => (media_type.clone(), Some(text.len())),
        Source::Url { url, .. } => return format!("[{}]({url})", name.unwrap_or(kind)),
        Source::File { id, .. } => (format!("file {id}"), None),
        _ => (kind.to_owned(), None),
    };
    let size = size.map(|bytes| format!("{bytes} bytes"));
    let details: Vec<String> = name.map(str::to_owned).into_iter().chain([what]).chain(size).collect();
    format!("*[{kind}: {}]*", details.join(", "))
}

/// A code block whose fence is longer than any in it.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}
