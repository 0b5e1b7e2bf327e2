use ikigai::{Citation, CitedSource, Span, Text};
use pretty_assertions::assert_eq;

use super::*;
use crate::screen::testing::plain;

fn source(title: &str, url: &str) -> FoundSource {
    let mut source = FoundSource::url(url);
    source.title = (!title.is_empty()).then(|| title.to_owned());
    source
}

fn linked(width: usize) -> Look {
    Look { links: true, ..plain(width) }
}

fn cites(title: &str, url: &str, words: &str) -> Citation {
    let mut citation = Citation::default();
    citation.source = CitedSource::Url { url: url.to_owned(), title: Some(title.to_owned()) };
    citation.cited_text = Some(words.to_owned());
    citation
}

/// Returns an answer from a provider that splits a sentence to attach citations.
fn cited_answer() -> Vec<Block> {
    let call = serde_json::from_value(serde_json::json!({
        "type": "provider_call", "id": "c", "tool": "web_search", "name": "web_search",
        "arguments": {"query": "population of Oslo"}
    }));
    let mut result = ProviderResult::default();
    (result.call_id, result.tool) = ("c".to_owned(), ProviderTool::WebSearch);
    result.sources = vec![source("Statistics Norway", "https://www.ssb.no/en"), source("", "https://example.org/more")];
    let text = |text: &str, citations: Vec<Citation>| {
        let mut text = Text::new(text);
        text.citations = citations;
        Block::Text(text)
    };
    let ssb = cites("Statistics Norway", "https://www.ssb.no/en", "Oslo: 717 710");
    let wiki = cites("Oslo", "https://en.wikipedia.org/wiki/Oslo", "the capital of Norway");
    vec![
        text("Let me look.", vec![]),
        call.unwrap(),
        Block::ProviderResult(result),
        text("Oslo, ", vec![]),
        text("the capital", vec![wiki.clone()]),
        text(", has 717 710 people.", vec![ssb.clone(), wiki, ssb]),
    ]
}

#[test]
fn an_answer_has_marks_and_a_list_of_its_sources() {
    assert_eq!(
        answer(&cited_answer(), &[], plain(60)),
        "Let me look.\n\
         ● web_search population of Oslo\n\
         Oslo, the capital[1], has 717 710 people.[1][2]\n\
         \n\
         [1] Oslo · https://en.wikipedia.org/wiki/Oslo\n\
         [2] Statistics Norway · https://www.ssb.no/en\n"
    );
    assert_eq!(answer(&[Block::text("No sources.")], &[], plain(60)), "No sources.\n");
}

#[test]
fn where_links_can_be_opened_the_host_is_enough() {
    let found = [source("Statistics Norway", "https://www.ssb.no/en?q=1"), source("", "https://a.b/c")];
    assert_eq!(
        list(&[], &found, linked(60)),
        "\n[1] \x1b]8;;https://www.ssb.no/en?q=1\x1b\\Statistics Norway\x1b]8;;\x1b\\ · \
         \x1b]8;;https://www.ssb.no/en?q=1\x1b\\www.ssb.no\x1b]8;;\x1b\\\n\
         [2] \x1b]8;;https://a.b/c\x1b\\a.b\x1b]8;;\x1b\\\n"
    );
}

#[test]
fn a_host_is_the_one_that_a_browser_opens() {
    for (url, expected) in [
        ("https://ssb.no@evil.example/a", Some("evil.example")),
        ("https://evil.example\\@ssb.no", Some("evil.example")),
        ("https://ssb.no:8080?x=//a", Some("ssb.no:8080")),
        ("https:///path", None),
        ("no address", None),
    ] {
        assert_eq!(host(url), expected, "{url}");
    }
}

/// Everything that a title, a URL or a quotation could do to a terminal.
#[test]
fn nothing_in_a_source_reaches_the_terminal_as_it_is() {
    let hostile = "a\x1b]0;t\x07b\u{202e}c\x1b[2J\r\u{9b}31m\x1b]8;;https://evil.example\x1b\\d";
    let mut citation = cites(hostile, &format!("https://x.example/{hostile}"), hostile);
    citation.span = Some(Span::new(0, 1));
    let mut text = Text::new("Claim");
    text.citations.push(citation);
    let mut call = ProviderCall::default();
    call.name = hostile.to_owned();
    for look in [plain(80), linked(80)] {
        let content = [Block::Text(text.clone()), Block::ProviderCall(call.clone())];
        for shown in [answer(&content, &[], look), details(&content, &[], look)] {
            assert!(!shown.contains(['\x1b', '\x07', '\r', '\u{202e}', '\u{9b}']), "{shown:?}");
        }
    }
}

#[test]
fn only_pages_on_the_web_become_links() {
    for url in ["javascript:alert(1)", "file:///etc/passwd", "mailto:a@b.c", "data:text/html,x", "vbscript://x"] {
        let shown = list(&[source("Click me", url)], &[], linked(80));
        assert_eq!(shown, format!("\n[1] Click me · {}\n", host(url).unwrap_or(url)), "{url}");
    }
}

#[test]
fn a_long_title_takes_a_few_rows_and_no_more() {
    let shown = list(&[source(&"word ".repeat(10_000), "https://a.b")], &[], linked(40));
    assert!(shown.lines().count() <= 2 + MOST_ROWS + 1, "{}", shown.lines().count());
    assert!(shown.contains('…'));
}

#[test]
fn details_have_the_words_and_what_was_not_cited() {
    assert_eq!(
        details(&cited_answer(), &[source("Perplexed", "https://p.example")], plain(60)),
        "[1] Oslo · https://en.wikipedia.org/wiki/Oslo\n    \
             “the capital of Norway”\n\
         [2] Statistics Norway · https://www.ssb.no/en\n    \
             “Oslo: 717 710”\n\
         Found, but not cited:\n\
         [3] https://example.org/more\n\
         [4] Perplexed · https://p.example\n"
    );
    assert_eq!(details(&[Block::text("a")], &[], plain(60)), "");
}
