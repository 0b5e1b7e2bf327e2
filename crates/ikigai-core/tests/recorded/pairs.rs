//! Translated to each other dialect, a conversation stays the same.

use crate::support::conversation;
use crate::support::findings::Findings;
use crate::support::opaque::sealed;
use crate::support::recordings::{exchanges, failed};
use crate::support::summary::{Summary, summary};
use crate::support::wire::{OfValues as _, collect, decode, encode, reply, target};
use ikigai_core::{Block, Dialect, Event, FinishReason, Request, Response};
use serde_json::json;

/// Every request can be sent in the other dialect, whose servers can read it; anything missing there is in the losses.
fn requests_arrive(from: Dialect, to: Dialect) {
    let exchanges = exchanges(from);
    let mut findings = Findings::default();
    for (id, asked) in exchanges.iter().filter_map(|exchange| Some((&exchange.id, exchange.request.as_ref()?))) {
        // Another test checks that it can be read.
        let Ok(request) = from.read_request(Some(&asked.path), &asked.body()) else {
            continue;
        };
        findings.case();
        let wire = match to.write_request(&request, &target(to)) {
            Ok(wire) => wire,
            // A result whose call is in the other provider's store cannot name its tool, which Gemini requires.
            Err(_) if to == Dialect::Gemini && has_stray_result(&request) => continue,
            Err(error) => {
                findings.add(id, format!("is not written: {error}"));
                continue;
            }
        };
        let text = wire.body.to_string();
        for state in sealed(&request.messages, from) {
            if text.contains(&state) {
                findings.add(id, format!("foreign state is on the wire: {}", &state[..40]));
            }
        }
        match to.read_request(Some(&wire.path), &wire.body) {
            Ok(arrived) => conversation::compare(id, &request, &arrived, &wire.losses, &mut findings),
            Err(error) => findings.add(id, format!("is not read by the other side: {error}")),
        }
    }
    findings.report();
}

fn has_stray_result(request: &Request) -> bool {
    let blocks = || request.messages.iter().flat_map(|message| &message.content);
    blocks()
        .filter_map(Block::as_tool_result)
        .any(|result| !blocks().filter_map(Block::as_tool_call).any(|call| call.id == result.tool_call_id))
}

/// Every answer can be forwarded to a client of the other dialect, and is the same answer there.
fn answers_arrive(from: Dialect, to: Dialect) {
    let exchanges = exchanges(from);
    let mut findings = Findings::default();
    for exchange in exchanges.iter().filter(|exchange| exchange.response.status < 400) {
        let Some(body) = exchange.response.body() else { continue };
        let Ok(sent) = from.read_response(&body) else { continue };
        findings.case();
        let wire = to.write_response(&sent, &reply(from));
        no_raw_state(&exchange.id, &sent, from, &wire.to_string(), &mut findings);
        let arrived = to.read_response(&wire).unwrap_or_else(failed);
        compare_answers(&exchange.id, &sent, &arrived, to, &mut findings);
    }
    findings.report();
}

/// The same for streams.
fn streams_arrive(from: Dialect, to: Dialect) {
    let exchanges = exchanges(from);
    let mut findings = Findings::default();
    for exchange in &exchanges {
        let Some(sse) = &exchange.response.sse else { continue };
        findings.case();
        let events: Vec<Event> = decode(from, sse.as_bytes());
        let bytes = encode(to, from, &events);
        let sent = collect(events);
        no_raw_state(&exchange.id, &sent, from, &String::from_utf8_lossy(&bytes), &mut findings);
        compare_answers(&exchange.id, &sent, &collect(decode(to, &bytes)), to, &mut findings);
    }
    findings.report();
}

/// A provider's state reaches clients of another dialect sealed, never unchanged: they would send it to the wrong one.
fn no_raw_state(id: &str, sent: &Response, from: Dialect, wire: &str, findings: &mut Findings) {
    let message = sent.clone().into_message("anybody");
    for state in sealed([&message], from) {
        if wire.contains(&state) {
            findings.add(id, format!("foreign state is on the wire: {}", &state[..40]));
        }
    }
}

fn compare_answers(id: &str, sent: &Response, arrived: &Response, to: Dialect, findings: &mut Findings) {
    let (wanted, found) = (as_carried(summary(sent), sent, to), as_carried(summary(arrived), arrived, to));
    findings.same(id, "finish", &found.finish, &wanted.finish);
    if wanted.finish == FinishReason::Error {
        // A broken answer is an error object there; a complete one then has no content.
        return;
    }
    // If a picture or a sound cannot be sent, a text says so.
    if sent.content.iter().all(|block| !matches!(block, Block::Image(_) | Block::Audio(_) | Block::Document(_))) {
        findings.same(id, "text", &(found.text + &found.refusal), &(wanted.text + &wanted.refusal));
    }
    findings.same(id, "thinking", &found.thinking, &wanted.thinking);
    findings.same(id, "calls", &found.calls, &wanted.calls);
    if wanted.usage.is_some() {
        findings.same(id, "usage (prompt, output, thinking, read, write)", &found.usage, &wanted.usage);
    }
}

/// Removes what a dialect cannot express of an answer: the only differences that are not findings.
fn as_carried(mut summary: Summary, response: &Response, to: Dialect) -> Summary {
    // A custom tool's call with its free text exists in only one dialect.
    summary.calls.retain(|(name, _)| response.tool_calls().any(|call| call.name == *name));
    // Arguments are an object there. A call that was cut off has none in Anthropic, and is left out in Gemini.
    match to {
        Dialect::Anthropic => {
            for (_, arguments) in summary.calls.iter_mut().filter(|(_, arguments)| !arguments.is_object()) {
                *arguments = json!({});
            }
        }
        Dialect::Gemini => {
            // Some write `null` if there are no arguments.
            for (_, arguments) in summary.calls.iter_mut().filter(|(_, arguments)| arguments.is_null()) {
                *arguments = json!({});
            }
            summary.calls.retain(|(_, arguments)| arguments.is_object());
        }
        _ => {}
    }
    match summary.finish {
        // Only Gemini has values for an unknown reason and for calls that cannot be run.
        FinishReason::Unknown if to != Dialect::Gemini => summary.finish = FinishReason::Stop,
        FinishReason::ToolUse if summary.calls.is_empty() && to == Dialect::Gemini => {
            summary.finish = FinishReason::Error;
        }
        FinishReason::ToolUse if summary.calls.is_empty() => summary.finish = FinishReason::Stop,
        _ => {}
    }
    if let Some([_, _, _, _, write]) = &mut summary.usage
        && to == Dialect::Gemini
    {
        // There, cache writes are part of the prompt's count.
        *write = 0;
    }
    summary
}

macro_rules! pairs {
    ($($name:ident: $from:ident => $to:ident),* $(,)?) => {
        const TESTED: &[(Dialect, Dialect)] = &[$((Dialect::$from, Dialect::$to)),*];

        $(mod $name {
            use super::*;

            #[test]
            fn requests_arrive() {
                super::requests_arrive(Dialect::$from, Dialect::$to);
            }

            #[test]
            fn answers_arrive() {
                super::answers_arrive(Dialect::$from, Dialect::$to);
            }

            #[test]
            fn streams_arrive() {
                super::streams_arrive(Dialect::$from, Dialect::$to);
            }
        })*
    };
}

pairs! {
    anthropic_to_chat: Anthropic => OpenaiChat,
    anthropic_to_responses: Anthropic => OpenaiResponses,
    anthropic_to_gemini: Anthropic => Gemini,
    chat_to_anthropic: OpenaiChat => Anthropic,
    chat_to_responses: OpenaiChat => OpenaiResponses,
    chat_to_gemini: OpenaiChat => Gemini,
    responses_to_anthropic: OpenaiResponses => Anthropic,
    responses_to_chat: OpenaiResponses => OpenaiChat,
    responses_to_gemini: OpenaiResponses => Gemini,
    gemini_to_anthropic: Gemini => Anthropic,
    gemini_to_chat: Gemini => OpenaiChat,
    gemini_to_responses: Gemini => OpenaiResponses,
}

#[test]
fn every_pair_is_tested() {
    let others = |from| Dialect::ALL.into_iter().filter(move |to| *to != from).map(move |to| (from, to));
    assert_eq!(TESTED, Dialect::ALL.into_iter().flat_map(others).collect::<Vec<_>>());
}
