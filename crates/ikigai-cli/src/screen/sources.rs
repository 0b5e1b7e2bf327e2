//! The sources of an answer: marks in its text, and a numbered list below it.

use std::collections::{BTreeMap, HashSet};

use anstyle::Style;
use ikigai::{Block, Footnotes, FoundSource, ProviderCall, ProviderResult, ProviderTool};

use super::look::{DIM, Look};
use super::markdown::markdown;
use super::text::{Inline, Row, Span, fill, paint, shorten, width};
use super::{links, notice};

/// The maximum number of rows for a title, a URL or a quotation.
const MOST_ROWS: usize = 3;

/// Returns the numbering of sources, for a text that is drawn as Markdown.
pub(crate) fn footnotes() -> Footnotes {
    Footnotes::new(|number| format!("\\[{number}\\]"))
}

/// Draws an answer with its marks, the provider's tool calls, and the sources below it.
pub(crate) fn answer(content: &[Block], found: &[FoundSource], look: Look) -> String {
    let mut notes = footnotes();
    let (mut shown, mut text) = (String::new(), String::new());
    for block in content {
        match block {
            Block::Text(said) => text.push_str(&notes.text(said)),
            Block::ProviderCall(call) => {
                shown.push_str(&markdown(&std::mem::take(&mut text), look));
                shown.push_str(&called(call, look));
            }
            Block::ProviderResult(result) => shown.push_str(&failed(result, look)),
            _ => {}
        }
    }
    shown + &markdown(&text, look) + &list(notes.sources(), found, look)
}

/// Lists the sources with their numbers, after a blank line; for an answer that cites none, those that were found.
pub(crate) fn list(cited: &[FoundSource], found: &[FoundSource], look: Look) -> String {
    let sources = if cited.is_empty() { found } else { cited };
    let lines = sources.iter().enumerate().map(|(place, source)| line(place + 1, source, look));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Lists all sources of an answer: those it cites, with quotations, and others that were found.
pub(crate) fn details(content: &[Block], found: &[FoundSource], look: Look) -> String {
    let mut notes = footnotes();
    let mut quotations: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let texts = content.iter().filter_map(|block| match block {
        Block::Text(text) => Some(&text.citations),
        _ => None,
    });
    for citation in texts.flatten() {
        if let (Some(number), Some(words)) = (notes.number(citation), citation.cited_text.as_deref()) {
            let quoted = quotations.entry(number).or_default();
            if !words.trim().is_empty() && quoted.last() != Some(&words) {
                quoted.push(words);
            }
        }
    }
    let results = content.iter().filter_map(|block| match block {
        Block::ProviderResult(result) => Some(&result.sources),
        _ => None,
    });
    let mut seen: HashSet<&str> = notes.sources().iter().filter_map(FoundSource::key).collect();
    let others = results.flatten().chain(found).filter(|source| source.key().is_some_and(|key| seen.insert(key)));
    let others: Vec<&FoundSource> = others.collect();
    let cited = notes.sources().iter().enumerate().map(|(place, source)| {
        let words = quotations.get(&(place + 1)).map(Vec::as_slice).unwrap_or_default();
        quoted(place + 1, source, words, look)
    });
    let mut shown: String = cited.collect();
    if !shown.is_empty() && !others.is_empty() {
        shown.push_str(&notice::info("Found, but not cited:", look));
    }
    let first = notes.sources().len() + 1;
    for (place, source) in others.into_iter().enumerate() {
        shown.push_str(&quoted(first + place, source, &Vec::from_iter(source.snippet.as_deref()), look));
    }
    shown
}

/// Draws a source, its URL, and quotations from it.
fn quoted(number: usize, source: &FoundSource, quotations: &[&str], look: Look) -> String {
    let mut shown = line(number, source, look);
    let indent = width(&mark(number));
    if look.links
        && let Some(url) = &source.url
    {
        shown.push_str(&hanging(indent, &short(url, look), links::web(url), look));
    }
    for words in quotations {
        let words = format!("{}{}{}", look.sign("“", "\""), short(words, look), look.sign("”", "\""));
        shown.push_str(&hanging(indent, &words, None, look));
    }
    shown
}

/// Draws a call of a provider-run tool.
pub(crate) fn called(call: &ProviderCall, look: Look) -> String {
    let subject = call.subject().map(|subject| format!(" {}", short(subject, look))).unwrap_or_default();
    let name = if call.tool == ProviderTool::Other { call.name.as_str() } else { call.tool.as_str() };
    let sign = look.sign("●", "*");
    notice::info(&format!("{sign} {}{subject}", shorten(name, look.width, look)), look)
}

/// Describes why it failed, if it did.
pub(crate) fn failed(result: &ProviderResult, look: Look) -> String {
    match &result.error {
        Some(error) => {
            let words = error.message.as_deref().filter(|words| !words.is_empty()).unwrap_or(&error.code);
            notice::error(&format!("{}: {}", result.tool, short(words, look)), None, look)
        }
        None => String::new(),
    }
}

/// Draws `[1] Statistics Norway · www.ssb.no`. If links cannot be opened, the complete URL replaces the host.
fn line(number: usize, source: &FoundSource, look: Look) -> String {
    let link = source.url.as_deref().and_then(links::web);
    let place = source.url.as_deref().map(|url| match (look.links, host(url)) {
        (true, Some(host)) => host,
        _ => url,
    });
    let title = source.title.as_deref().map(str::trim).filter(|title| !title.is_empty() && Some(*title) != place);
    let (name, more) = match (title, place) {
        (Some(title), place) => (title, place),
        (None, Some(place)) => (place, None),
        (None, None) => (source.file_id.as_deref().unwrap_or_default(), None),
    };
    let mut text = vec![Inline::Text(Span::linked(&short(name, look), Style::new(), link.clone()))];
    if let Some(more) = more {
        text.push(Inline::new(look.sign(" · ", " - "), DIM));
        text.push(Inline::Text(Span::linked(&short(more, look), DIM, link)));
    }
    let mark = mark(number);
    rows(&Span::new(&mark, DIM), &text, look)
}

fn mark(number: usize) -> String {
    format!("[{number}] ")
}

fn hanging(indent: usize, text: &str, link: Option<std::sync::Arc<str>>, look: Look) -> String {
    rows(&Span::plain(&" ".repeat(indent)), &[Inline::Text(Span::linked(text, DIM, link))], look)
}

/// Draws text, aligned after its start.
fn rows(start: &Span, text: &[Inline], look: Look) -> String {
    let indent = width(start.text());
    let mut shown = String::new();
    for (place, row) in fill(text, look.width.saturating_sub(indent)).into_iter().enumerate() {
        let mut line: Row = if place == 0 { vec![start.clone()] } else { vec![Span::plain(&" ".repeat(indent))] };
        line.extend(row);
        shown.push_str(&paint(&line, look));
        shown.push('\n');
    }
    shown
}

fn short(text: &str, look: Look) -> String {
    shorten(text.trim(), look.width.saturating_mul(MOST_ROWS), look)
}

/// Returns the host in a URL, as browsers read it.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
