//! Results of a server's tools, as blocks.

use ikigai_core::{Block, Source};
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;

use crate::tools::Output;

/// Converts a result to blocks. An error reported by the server remains one.
pub(super) fn output(result: CallToolResult) -> Output {
    let is_error = result.is_error == Some(true);
    let mut blocks: Vec<Block> = result.content.into_iter().map(block).collect();
    if let Some(structured) = result.structured_content
        && !say(&blocks, &structured)
    {
        blocks.push(Block::text(structured.to_string()));
    }
    if blocks.is_empty() {
        blocks.push(Block::text(if is_error { "the tool failed without saying why" } else { "done" }));
    }
    let mut output = Output::new(blocks);
    output.is_error = is_error;
    output
}

/// Whether the blocks already contain this value: servers repeat structured content as text for clients without support.
/// The official SDKs wrap a value that is not an object as `{"result": …}`, and write a list as one text per item.
fn say(blocks: &[Block], value: &Value) -> bool {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    let same = |text: &str, value: &Value| match value {
        Value::String(told) if told == text => true,
        value => serde_json::from_str::<Value>(text).is_ok_and(|told| told == *value),
    };
    if texts.iter().any(|text| same(text, value)) {
        return true;
    }
    let wrapped = value.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.get("result"));
    match wrapped {
        Some(Value::Array(items)) if items.len() == texts.len() => {
            items.iter().zip(&texts).all(|(item, text)| same(text, item))
        }
        Some(inner) => texts.iter().any(|text| same(text, inner)),
        None => false,
    }
}

fn block(content: ContentBlock) -> Block {
    match content {
        ContentBlock::Text(text) => Block::text(text.text),
        ContentBlock::Image(image) => Block::image(Source::Base64 { media_type: image.mime_type, data: image.data }),
        ContentBlock::Audio(audio) => Block::audio(Source::Base64 { media_type: audio.mime_type, data: audio.data }),
        ContentBlock::Resource(embedded) => resource(embedded.resource),
        ContentBlock::ResourceLink(link) => Block::text(linked(&link)),
        // A newer kind of content: the model reads its JSON.
        other => Block::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

fn resource(contents: ResourceContents) -> Block {
    match contents {
        ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            let media_type = mime_type.unwrap_or_else(|| "text/plain".to_owned());
            Block::document(Source::Text { media_type, text }, uri)
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let media_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
            let source = Source::Base64 { media_type: media_type.clone(), data: blob };
            match media_type.split('/').next() {
                Some("image") => Block::image(source),
                Some("audio") => Block::audio(source),
                _ => Block::document(source, uri),
            }
        }
        other => Block::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

/// Describes a link in words: its name, its URL, its content.
fn linked(link: &Resource) -> String {
    let mut told = format!("{}: {}", link.title.as_deref().unwrap_or(&link.name), link.uri);
    if let Some(media_type) = &link.mime_type {
        told.push_str(&format!(" ({media_type})"));
    }
    if let Some(description) = &link.description {
        told.push_str(&format!("\n{description}"));
    }
    told
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn of(result: Value) -> Output {
        output(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn every_kind_of_content_has_its_block() {
        let made = of(json!({"content": [
            {"type": "text", "text": "Here:"},
            {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
            {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a.md", "mimeType": "text/markdown", "text": "# A"}},
            {"type": "resource", "resource": {"uri": "file:///b.pdf", "mimeType": "application/pdf", "blob": "JVBERg=="}},
            {"type": "resource", "resource": {"uri": "file:///c.png", "mimeType": "image/png", "blob": "iVBORw0KGgo="}},
            {"type": "resource_link", "uri": "file:///d.txt", "name": "d", "mimeType": "text/plain", "description": "Notes"},
        ]}));
        let base64 = |media_type: &str, data: &str| Source::Base64 { media_type: media_type.into(), data: data.into() };
        let markdown = Source::Text { media_type: "text/markdown".into(), text: "# A".into() };
        let expected = vec![
            Block::text("Here:"),
            Block::image(base64("image/png", "iVBORw0KGgo=")),
            Block::audio(base64("audio/wav", "UklGRg==")),
            Block::document(markdown, "file:///a.md"),
            Block::document(base64("application/pdf", "JVBERg=="), "file:///b.pdf"),
            Block::image(base64("image/png", "iVBORw0KGgo=")),
            Block::text("d: file:///d.txt (text/plain)\nNotes"),
        ];
        assert_eq!((made.content, made.is_error), (expected, false));
    }

    #[test]
    fn structured_content_is_kept_once() {
        let value = json!({"degrees": 4, "sky": "grey"});
        let text = |text: &str| json!({"type": "text", "text": text});
        let alone = of(json!({"structuredContent": value}));
        assert_eq!(alone.content, [Block::text(r#"{"degrees":4,"sky":"grey"}"#)]);
        let twice = of(json!({"content": [text("{\"sky\": \"grey\",\n\"degrees\": 4}")], "structuredContent": value}));
        assert_eq!(twice.content.len(), 1, "the text says the same");
        for (texts, result) in [
            (vec!["hello"], json!("hello")),
            (vec!["4"], json!(4)),
            (vec!["a", "b"], json!(["a", "b"])),
            (vec!["{\"a\":1}", "2"], json!([{"a": 1}, 2])),
        ] {
            let content: Vec<Value> = texts.iter().map(|told| text(told)).collect();
            let wrapped = of(json!({"content": content, "structuredContent": {"result": result}}));
            assert_eq!(wrapped.content.len(), texts.len(), "as the official SDKs wrap {result}");
        }
        let more = of(json!({"content": [text("hello")], "structuredContent": {"result": "hello", "more": 1}}));
        assert_eq!(more.content.len(), 2);
        let beside = of(json!({"content": [text("4 degrees")], "structuredContent": value}));
        assert_eq!(beside.content.len(), 2);
    }

    #[test]
    fn an_error_stays_one_and_silence_is_told() {
        let failed = of(json!({"content": [{"type": "text", "text": "no such city"}], "isError": true}));
        assert_eq!((failed.content, failed.is_error), (vec![Block::text("no such city")], true));
        let silent = of(json!({"content": [], "isError": true}));
        assert_eq!(silent.content, [Block::text("the tool failed without saying why")]);
        assert_eq!(of(json!({"content": []})).content, [Block::text("done")]);
    }
}
