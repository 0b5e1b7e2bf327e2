//! Citations, sources and provider-run tools in recorded answers.

use crate::support::findings::Findings;
use crate::support::recordings::{exchanges, recordings};
use crate::support::wire::{OfValues as _, collect, decode, encode, reply};
use ikigai_core::{Block, CitedSource, Dialect, FinishReason, Footnotes, Marks, Part, Response};
use serde_json::Value;

/// Recordings whose text was changed after the provider had counted its bytes.
const ALTERED: [&str; 2] = ["093fa665", "15556f0d"];

/// A recording in which a result names a different call from the one that was made.
const RENAMED: &str = "e9cf228f";

/// Returns every answer of a dialect, complete and streamed.
fn answers(dialect: Dialect) -> Vec<(String, Response)> {
    let mut answers = Vec::new();
    for exchange in exchanges(dialect) {
        if let Some(sse) = &exchange.response.sse {
            answers.push((exchange.id.clone(), collect(decode(dialect, sse.as_bytes()))));
        } else if let Some(Ok(answer)) = exchange.response.body().map(|body| dialect.read_response(&body)) {
            answers.push((exchange.id.clone(), answer));
        }
    }
    answers.retain(|(_, answer)| answer.finish_reason != FinishReason::Error);
    answers
}

fn grounding(answer: &Response) -> Option<Value> {
    let kept = answer.provider_data.part(Dialect::Gemini, Part::Answer).get("groundingMetadata")?;
    Some(kept.value().clone())
}

/// Returns the passages that the supports of an answer name, once for each chunk, in order.
fn segments(grounding: &Value) -> Vec<String> {
    let chunks = grounding["groundingChunks"].as_array().map_or(0, Vec::len) as u64;
    let supports = grounding["groundingSupports"].as_array().into_iter().flatten();
    let named = supports.flat_map(|support| {
        let text = support["segment"]["text"].as_str().unwrap_or_default().to_owned();
        let numbers = support["groundingChunkIndices"].as_array().into_iter().flatten();
        numbers
            .filter(|number| number.as_u64().is_some_and(|number| number < chunks))
            .map(move |_| text.clone())
            .collect::<Vec<_>>()
    });
    named.collect()
}

fn passages(answer: &Response) -> Vec<String> {
    answer.citations().map(|(passage, _)| passage.to_owned()).collect()
}

#[test]
fn the_passages_of_gemini_are_the_segments_that_it_names_also_after_a_way_through_each_other_dialect() {
    let mut findings = Findings::default();
    for (id, answer) in answers(Dialect::Gemini) {
        let Some(wanted) = grounding(&answer).map(|grounding| segments(&grounding)).filter(|list| !list.is_empty())
        else {
            continue;
        };
        if ALTERED.iter().any(|altered| id.ends_with(altered)) {
            continue;
        }
        findings.case();
        findings.same(&id, "passages", &passages(&answer), &wanted);
        for through in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
            let there = through.write_response(&answer, &reply(Dialect::Gemini));
            let there = through.read_response(&there).unwrap();
            let cited: Vec<String> = answer
                .citations()
                .filter(|(_, citation)| citation.source.as_url().is_some())
                .map(|(passage, _)| passage.to_owned())
                .collect();
            let found: Vec<String> = there
                .citations()
                .filter(|(_, citation)| citation.source.as_url().is_some())
                .map(|(passage, _)| passage.to_owned())
                .collect();
            findings.same(&id, through.as_str(), &found, &cited);
        }
    }
    findings.report();
}

#[test]
fn a_printed_link_of_openai_holds_its_address_also_for_clients_of_other_dialects() {
    let mut findings = Findings::default();
    for (id, answer) in answers(Dialect::OpenaiResponses) {
        let holds = |answer: &Response| -> Vec<(String, bool)> {
            let links = answer.citations().filter(|(_, citation)| citation.source.as_url().is_some());
            links
                .map(|(passage, citation)| {
                    let url = citation.source.as_url().unwrap_or_default();
                    (url.to_owned(), passage.contains(url))
                })
                .collect()
        };
        let is_link = |answer: &Response| answer.citations().any(|(_, citation)| citation.marks == Marks::Link);
        if !is_link(&answer) {
            continue;
        }
        findings.case();
        let wanted: Vec<(String, bool)> = holds(&answer).into_iter().map(|(url, _)| (url, true)).collect();
        if !answer.citations().any(|(_, citation)| matches!(citation.source, CitedSource::File { .. })) {
            findings.same(&id, "links", &holds(&answer), &wanted);
        }
        for to in [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::Gemini] {
            let there = to.read_response(&to.write_response(&answer, &reply(Dialect::OpenaiResponses))).unwrap();
            findings.same(&id, to.as_str(), &holds(&there), &holds(&answer));
        }
    }
    findings.report();
}

/// Returns the calls and results of an answer, without the data that only one dialect has.
fn runs(answer: &Response) -> Vec<(&'static str, String, usize)> {
    let run = |block: &Block| match block {
        Block::ProviderCall(call) => Some(("call", call.tool.to_string(), 0)),
        Block::ProviderResult(result) => Some(("result", result.tool.to_string(), result.sources.len())),
        _ => None,
    };
    answer.content.iter().filter_map(run).collect()
}

#[test]
fn searches_of_anthropic_and_openai_are_searches_for_each_others_clients() {
    let mut findings = Findings::default();
    for (from, to) in [(Dialect::Anthropic, Dialect::OpenaiResponses), (Dialect::OpenaiResponses, Dialect::Anthropic)] {
        for (id, answer) in answers(from) {
            let searches = |answer: &Response| -> Vec<(&'static str, String, usize)> {
                let mut runs = runs(answer);
                runs.retain(|(_, tool, _)| tool == "web_search");
                runs
            };
            let dangling = runs(&answer).iter().filter(|(what, ..)| *what == "call").count()
                != runs(&answer).iter().filter(|(what, ..)| *what == "result").count();
            // Sources that are not pages cannot be expressed there.
            let pages = answer.content.iter().all(|block| match block {
                Block::ProviderResult(result) => result.sources.iter().all(|source| source.url.is_some()),
                _ => true,
            });
            if searches(&answer).is_empty() || dangling || !pages || id.ends_with(RENAMED) {
                continue;
            }
            findings.case();
            let sent_with_calls_first = |mut runs: Vec<(&'static str, String, usize)>| {
                runs.sort();
                runs
            };
            let wanted = sent_with_calls_first(searches(&answer));
            let whole = to.read_response(&to.write_response(&answer, &reply(from))).unwrap();
            findings.same(&id, "whole", &sent_with_calls_first(searches(&whole)), &wanted);
            let bytes = encode(to, from, &ikigai_core::events(&answer));
            let streamed = collect(decode(to, &bytes));
            findings.same(&id, "streamed", &sent_with_calls_first(searches(&streamed)), &wanted);
        }
    }
    findings.report();
}

/// Streams of OpenAI whose citations come long after their text.
const LATE: [&str; 2] = ["efb9f16d", "84fdfe6b"];

/// A mark that occurs in no recorded text.
const MARK: char = '†';

/// In a stream, marks are in the same places as in the complete answer if citations come with their text. Gemini's come
/// after it: they get numbers, but no marks.
#[test]
fn marks_in_a_stream_are_those_of_the_whole_answer() {
    let marks = || Footnotes::new(|number| format!("{MARK}{number}"));
    let mut findings = Findings::default();
    for dialect in [Dialect::Anthropic, Dialect::OpenaiResponses, Dialect::Gemini] {
        for exchange in exchanges(dialect) {
            let Some(sse) = &exchange.response.sse else { continue };
            let events = decode(dialect, sse.as_bytes());
            let (mut live, mut late) = (marks(), marks());
            let streamed: String = events.iter().map(|event| live.event(event)).collect();
            let texts = collect(events).content;
            let texts = texts.iter().filter_map(|block| if let Block::Text(text) = block { Some(text) } else { None });
            let whole: String = texts.map(|text| late.text(text)).collect();
            if !whole.contains(MARK) {
                continue;
            }
            findings.case();
            findings.same(&exchange.id, "sources", &live.sources(), &late.sources());
            match dialect {
                _ if LATE.iter().any(|late| exchange.id.ends_with(late)) => {
                    findings.same(&exchange.id, "text", &plain(&streamed), &plain(&whole));
                }
                Dialect::Gemini => findings.same(&exchange.id, "text", &plain(&streamed), &plain(&whole)),
                _ => findings.same(&exchange.id, "text", &streamed, &whole),
            }
        }
    }
    findings.report();
}

/// Returns the text without its marks.
fn plain(text: &str) -> String {
    let mut pieces = text.split(MARK);
    let first = pieces.next().unwrap_or_default().to_owned();
    first + &pieces.map(|piece| piece.trim_start_matches(|c: char| c.is_ascii_digit())).collect::<String>()
}

#[test]
fn there_are_citations_sources_and_calls_in_every_dialect_that_has_them() {
    let least = if recordings().is_some() { 5 } else { 1 };
    for (dialect, wants_calls) in [
        (Dialect::Anthropic, true),
        (Dialect::OpenaiChat, false),
        (Dialect::OpenaiResponses, true),
        (Dialect::Gemini, true),
    ] {
        let answers = answers(dialect);
        let sources = answers.iter().filter(|(_, answer)| !answer.sources().is_empty()).count();
        let calls = answers.iter().filter(|(_, answer)| !runs(answer).is_empty()).count();
        assert!(sources >= least, "{dialect}: {sources} answers with sources");
        assert!(!wants_calls || calls >= least, "{dialect}: {calls} answers with calls");
    }
}
