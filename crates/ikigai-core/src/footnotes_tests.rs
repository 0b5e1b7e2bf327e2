use super::*;
use crate::{ProviderData, Span};
use pretty_assertions::assert_eq;

fn cites(name: &str, span: Option<(usize, usize)>) -> Citation {
    Citation { span: span.map(|(start, end)| Span::new(start, end)), ..Citation::url(name) }
}

fn text(text: &str, citations: Vec<Citation>) -> Text {
    Text { text: text.into(), citations, ..Text::default() }
}

fn footnotes() -> Footnotes {
    Footnotes::new(|number| format!("[{number}]"))
}

fn streamed(events: impl IntoIterator<Item = Event>) -> String {
    let mut footnotes = footnotes();
    events.into_iter().map(|event| footnotes.event(&event)).collect()
}

fn start() -> Event {
    Event::BlockStart { index: 0, block: Block::text("") }
}

fn delta(text: &str) -> Event {
    Event::TextDelta { index: 0, text: text.into() }
}

fn citation(citation: Citation) -> Event {
    Event::Citation { index: 0, citation: Box::new(citation) }
}

fn done() -> [Event; 2] {
    let provider_data = ProviderData::default();
    let end = Event::Done { finish_reason: crate::FinishReason::Stop, provider_data: provider_data.clone() };
    [Event::BlockDone { index: 0, provider_data }, end]
}

#[test]
fn a_mark_follows_its_passage_and_a_source_keeps_its_number() {
    let mut notes = footnotes();
    let said = "Å is a letter. So is B. And C.";
    let citations = vec![cites("a", Some((0, 15))), cites("b", Some((16, 24))), cites("a", None), cites("b", None)];
    assert_eq!(notes.text(&text(said, citations)), "Å is a letter.[1] So is B.[2] And C.[1][2]");
    assert_eq!(notes.text(&text("D.", vec![cites("b", None)])), "D.[2]");
    assert_eq!(notes.sources(), [FoundSource::url("a"), FoundSource::url("b")]);
}

#[test]
fn spans_that_are_not_in_the_text_do_no_harm() {
    for (span, expected) in [
        ((0, 99), "Å b.[1]\n"),
        ((1, 1), "[1]Å b.\n"),
        ((3, 1), "[1]Å b.\n"),
        ((99, 99), "Å b.[1]\n"),
        ((0, 6), "Å b.[1]\n"),
    ] {
        assert_eq!(footnotes().text(&text("Å b.\n", vec![cites("a", Some(span))])), expected, "{span:?}");
    }
    let nameless = Citation::default();
    assert_eq!(footnotes().text(&text("a", vec![nameless])), "a");
    let source = CitedSource::Document { index: Some(0), title: None, file_id: None };
    let document = Citation { source, ..Citation::default() };
    assert_eq!(footnotes().text(&text("a", vec![document])), "a[1]");
}

#[test]
fn citations_before_the_text_mark_its_end_before_the_spaces() {
    let events = [start(), citation(cites("a", None)), delta("Oslo "), delta("is a city. \n"), delta("\n")];
    assert_eq!(streamed(events.into_iter().chain(done())), "Oslo is a city.[1] \n\n");
}

#[test]
fn citations_after_their_passage_mark_it_if_it_has_just_come() {
    let events = [
        start(),
        delta("Oslo (ssb.no)"),
        citation(cites("a", Some((5, 13)))),
        delta(" is. Bergen"),
        delta("."),
        citation(cites("b", Some((18, 24)))),
        delta(" Too late"),
        citation(cites("c", Some((18, 24)))),
    ];
    assert_eq!(streamed(events.into_iter().chain(done())), "Oslo (ssb.no)[1] is. Bergen.[2] Too late");
}

#[test]
fn what_follows_a_printed_link_waits_for_its_citation() {
    let events = [
        start(),
        delta("Oslo is large. ([ssb.no](htt"),
        delta("ps://ssb.no))\n- (Bergen)"),
        citation(cites("a", Some((15, 41)))),
        delta(" is not ([it](https://b.no)) either"),
        delta(", they say."),
    ];
    assert_eq!(
        streamed(events.into_iter().chain(done())),
        "Oslo is large. ([ssb.no](https://ssb.no))[1]\n- (Bergen) is not ([it](https://b.no)) either, they say."
    );
    let file = text("See [it](sandbox:/a.csv) now", vec![cites("a", Some((9, 23)))]);
    assert_eq!(footnotes().text(&file), "See [it](sandbox:/a.csv)[1] now");
}

#[test]
fn a_stream_in_any_pieces_is_the_whole_text() {
    let said = "Å is.\n\n- b\n- c\n";
    let citations = vec![cites("a", Some((0, 6))), cites("b", Some((8, 11))), cites("c", None)];
    let whole = footnotes().text(&text(said, citations.clone()));
    assert_eq!(whole, "Å is.[1]\n\n- b[2]\n- c[3]\n");
    let pieces = said.split_inclusive(|_| true).map(delta);
    let events = std::iter::once(start()).chain(citations.into_iter().map(citation)).chain(pieces).chain(done());
    assert_eq!(streamed(events), whole);
}

#[test]
fn code_stays_as_it_is() {
    let marked = |said: &str, end: usize| footnotes().text(&text(said, vec![cites("a", Some((0, end)))]));
    assert_eq!(marked("```sh\nls\n```", 13), "```sh\nls\n```\n[1]");
    assert_eq!(marked("```sh\nls\n```", 8), "```sh\nls\n```");
    assert_eq!(marked("```sh\nls\n```", 5), "```sh\nls\n```");
    assert_eq!(marked("~~~\n```\n~~~\nb", 13), "~~~\n```\n~~~\nb[1]");
}
