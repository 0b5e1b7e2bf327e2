//! Pictures and documents.

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::{Block, Dialect, Other, Request, Source};
use serde_json::{Value, json};

use super::{Fields, block, str_of};

/// The longest name of a document.
const LONGEST_NAME: usize = 200;

/// Converse's word for a document's media type.
fn paper_format(media_type: &str) -> Option<&'static str> {
    Some(match media_type.split(';').next().unwrap_or_default().trim() {
        "application/pdf" => "pdf",
        "text/csv" => "csv",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "text/html" => "html",
        "text/markdown" => "md",
        "text/plain" => "txt",
        _ => return None,
    })
}

/// A request whose documents keep their types: the dialect would refuse some of them, and call others plain text.
pub(super) fn keep_papers(request: &Request) -> Cow<'_, Request> {
    let inside = |content: &[Block]| content.iter().any(|block| as_other(block).is_some());
    let has_papers = request.messages.iter().any(|message| {
        inside(&message.content)
            || message.content.iter().any(|block| matches!(block, Block::ToolResult(result) if inside(&result.content)))
    });
    if !has_papers {
        return Cow::Borrowed(request);
    }
    let replace = |content: &mut Vec<Block>| {
        for block in content {
            if let Some(other) = as_other(block) {
                *block = other;
            }
        }
    };
    let mut request = request.clone();
    for message in &mut request.messages {
        replace(&mut message.content);
        for block in &mut message.content {
            if let Block::ToolResult(result) = block {
                replace(&mut result.content);
            }
        }
    }
    Cow::Owned(request)
}

/// A document that Converse takes and Anthropic does not, as a block that the dialect passes on.
fn as_other(content: &Block) -> Option<Block> {
    let Block::Document(document) = content else { return None };
    let source = match &document.source {
        Source::Base64 { media_type, data } => json!({"type": "base64", "media_type": media_type, "data": data}),
        Source::Text { media_type, text } => json!({"type": "text", "media_type": media_type, "data": text}),
        Source::Url { .. } | Source::File { .. } => return None,
        // A kind of source that is newer than this list is the dialect's business.
        _ => return None,
    };
    // These two the dialect takes as they are, with what else stands on them.
    paper_format(str_of(source.as_object()?, "media_type")).filter(|format| !matches!(*format, "pdf" | "txt"))?;
    let mut data = json!({"type": "document", "source": source});
    let fields = data.as_object_mut()?;
    if let Some(name) = &document.name {
        fields.insert("title".to_owned(), name.as_str().into());
    }
    if let Some(hint) = &document.cache {
        let mut mark = json!({"type": "ephemeral"});
        if let (Some(ttl), Some(mark)) = (&hint.ttl, mark.as_object_mut()) {
            mark.insert("ttl".to_owned(), ttl.as_str().into());
        }
        fields.insert("cache_control".to_owned(), mark);
    }
    Some(Block::Other(Other { dialect: Dialect::Anthropic, data: data.into() }))
}

/// A picture, or why there can be none.
pub(super) fn image(fields: &Fields) -> Result<Value, String> {
    let source = fields.get("source").and_then(Value::as_object).ok_or("it has no source")?;
    let (format, place) = match str_of(source, "type") {
        "base64" => {
            let media_type = str_of(source, "media_type");
            let format = media_type.strip_prefix("image/").unwrap_or(media_type);
            (format.to_owned(), block("bytes", str_of(source, "data")))
        }
        "url" => {
            let (end, place) = stored(str_of(source, "url"))?;
            (if end == "jpg" { "jpeg".to_owned() } else { end }, place)
        }
        other => return Err(format!("Converse takes pictures as bytes, not from a source of type `{other}`")),
    };
    Ok(block("image", json!({"format": format, "source": place})))
}

/// A document, or why there can be none.
pub(super) fn document(fields: &Fields, names: &mut Names) -> Result<Value, String> {
    let source = fields.get("source").and_then(Value::as_object).ok_or("it has no source")?;
    let media_type = str_of(source, "media_type");
    let by_type =
        || paper_format(media_type).ok_or_else(|| format!("Converse takes no documents of type {media_type}"));
    let (format, place) = match str_of(source, "type") {
        "base64" => (by_type()?.to_owned(), block("bytes", str_of(source, "data"))),
        "text" => (by_type()?.to_owned(), block("bytes", STANDARD.encode(str_of(source, "data")))),
        "url" => stored(str_of(source, "url"))?,
        other => return Err(format!("Converse takes documents as bytes, not from a source of type `{other}`")),
    };
    let name = names.name(fields.get("title").and_then(Value::as_str));
    let mut document = json!({"name": name, "format": format, "source": place});
    if let Some(document) = document.as_object_mut() {
        for key in ["context", "citations"] {
            if let Some(value) = fields.get(key).filter(|value| !value.is_null()) {
                document.insert(key.to_owned(), value.clone());
            }
        }
    }
    Ok(block("document", document))
}

/// What lies in Amazon's store: the end of its name, and its place.
fn stored(url: &str) -> Result<(String, Value), String> {
    if !url.starts_with("s3://") {
        return Err(
            "Converse fetches nothing from the web; attach the file itself, or give an s3:// address".to_owned()
        );
    }
    let file = url.rsplit('/').next().unwrap_or_default();
    let Some((_, end)) = file.rsplit_once('.') else {
        return Err("the address must end with the kind of the file, such as .png".to_owned());
    };
    Ok((end.to_ascii_lowercase(), block("s3Location", block("uri", url))))
}

/// The names of a request's documents: of few kinds of characters, and no two alike.
#[derive(Debug, Default)]
pub(super) struct Names {
    given: HashSet<String>,
}

impl Names {
    fn name(&mut self, title: Option<&str>) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '(' | ')' | '[' | ']');
        let title: String = title.unwrap_or_default().chars().map(|c| if plain(c) { c } else { ' ' }).collect();
        // No two blanks in a row.
        let words: Vec<&str> = title.split_whitespace().collect();
        let mut name: String = words.join(" ").chars().take(LONGEST_NAME).collect();
        if name.is_empty() {
            name = format!("Document {}", self.given.len() + 1);
        }
        let mut count = 1;
        let mut whole = name.clone();
        while !self.given.insert(whole.to_lowercase()) {
            count += 1;
            whole = format!("{name} ({count})");
        }
        whole
    }
}
