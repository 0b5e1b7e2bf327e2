//! Sources in this API and its many copies, both ways. Tools that they run themselves leave no other trace.

use serde_json::{Value, json};

use crate::dialect::hosted::{Found, Texts, at, text};
use crate::{Citation, CitedSource, FoundSource, Json, Marks, Part, ProviderData};

use super::DIALECT;

/// The name under which an answer keeps its message's annotations.
pub(crate) const ANNOTATIONS: &str = "message.annotations";

/// Returns what the fields around an answer say about its text.
pub(crate) fn found(data: &ProviderData, texts: &Texts) -> Found {
    let mut found = Found::default();
    let kept = data.part(DIALECT, Part::Answer);
    let list = |name: &str| kept.get(name).and_then(|list| list.to::<Vec<Json>>().ok()).unwrap_or_default();
    for wire in list(ANNOTATIONS) {
        annotation(wire, texts, &mut found);
    }
    let results = list("search_results");
    for wire in &results {
        let value = wire.value();
        found.sources.push(FoundSource {
            url: text(&value["url"]),
            title: text(&value["title"]),
            snippet: text(&value["snippet"]).filter(|text| !text.is_empty()),
            date: text(&value["date"]),
            ..FoundSource::default()
        });
    }
    // Usually the same URLs without details; rarely one that is not among the results.
    let is_new = |url: &String| results.iter().all(|result| result.value()["url"] != **url);
    let cited = list("citations");
    found.sources.extend(cited.iter().filter_map(|url| text(url.value())).filter(is_new).map(FoundSource::url));
    for tool in list("message.executed_tools") {
        let results = at(tool.value(), "/search_results/results").as_array().cloned().unwrap_or_default();
        found.sources.extend(results.iter().map(|value| FoundSource {
            url: text(&value["url"]),
            title: text(&value["title"]),
            snippet: text(&value["content"]),
            ..FoundSource::default()
        }));
    }
    found
}

fn annotation(wire: Json, texts: &Texts, found: &mut Found) {
    let value = wire.value();
    let cited = &value["url_citation"];
    let Some(url) = text(&cited["url"]).filter(|_| value["type"] == "url_citation") else { return };
    let title = text(&cited["title"]);
    let snippet = text(&cited["content"]);
    let range = cited["start_index"].as_u64().zip(cited["end_index"].as_u64()).filter(|(_, end)| *end > 0);
    let span = range.and_then(|(start, end)| texts.span_of_chars(start, end));
    if span.is_none() || texts.last().is_none() {
        found.sources.push(FoundSource { title, snippet, ..FoundSource::url(url) });
        return;
    }
    let source = CitedSource::Url { url, title };
    let citation = Citation { source, marks: Marks::Link, cited_text: snippet, ..Citation::default() };
    found.citations.extend(texts.cite(span, &citation));
}

/// Writes a citation of these characters for a client. Returns `None` if it has no URL.
pub(crate) fn write_citation(citation: &Citation, start: usize, end: usize) -> Option<Value> {
    let CitedSource::Url { url, title } = &citation.source else { return None };
    Some(annotate(url, title.as_deref(), citation.cited_text.as_deref(), (start, end)))
}

/// Writes a source that no passage cites, for a client.
pub(crate) fn write_source(source: &FoundSource) -> Option<Value> {
    Some(annotate(source.url.as_deref()?, source.title.as_deref(), source.snippet.as_deref(), (0, 0)))
}

/// Writes an annotation. Strict clients require a title and a range.
fn annotate(url: &str, title: Option<&str>, content: Option<&str>, (start, end): (usize, usize)) -> Value {
    let mut cited = json!({"url": url, "title": title.unwrap_or_default(), "start_index": start, "end_index": end});
    if let (Some(content), Some(fields)) = (content, cited.as_object_mut()) {
        fields.insert("content".to_owned(), json!(content));
    }
    json!({"type": "url_citation", "url_citation": cited})
}
