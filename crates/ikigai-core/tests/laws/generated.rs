//! Round trips of generated requests and answers.

use ikigai_core::validate::EventChecker;
use ikigai_core::{Block, Dialect, Request, Response, events};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::cases::cases;
use crate::support::conversation;
use crate::support::findings::Findings;
use crate::support::generate::{Reach, request, response, streamed};
use crate::support::summary::{Summary, summary};
use crate::support::wire::{OfValues as _, collect, decode, decode_pieces, encode, reply, target};

/// Everything that was not reported as a loss is on the other side.
fn what_is_not_lost_survives(dialect: Dialect, request: &Request) {
    let wire = dialect.write_request(request, &target(dialect)).unwrap();
    let arrived = dialect
        .read_request(Some(&wire.path), &wire.body)
        .unwrap_or_else(|error| panic!("{dialect}: {error}\n{}", wire.body));
    let mut findings = Findings::default();
    findings.case();
    conversation::compare("conversation", request, &arrived, &wire.losses, &mut findings);
    let (sent, arrived) = (serde_json::to_value(request).unwrap(), serde_json::to_value(&arrived).unwrap());
    for (key, before) in sent.as_object().unwrap() {
        // The conversation is compared above; another law covers leftovers.
        if ["messages", "system", "tools", "provider_data", "model"].contains(&key.as_str()) {
            continue;
        }
        let after = arrived.get(key).unwrap_or(&Value::Null);
        if !carried(before, after) && !conversation::is_lost(&wire.losses, key) {
            findings.add(key, format!("{before} became {after} without a word; the losses: {:?}", wire.losses));
        }
    }
    findings.report();
}

/// Returns whether it is the same, or an absence that means the same.
fn carried(before: &Value, after: &Value) -> bool {
    let unsaid = [Value::from("text"), Value::from("auto"), Value::from(true), Value::from(false)];
    match (before, after) {
        (before, after) if before == after => true,
        // Off, and absent; then there is nothing to hide or show either.
        (before, Value::Null) if before.get("include_summary").is_some() => match before.get("budget") {
            Some(budget) => budget == 0,
            None => before.get("level").is_none_or(|level| level == "none"),
        },
        (before, Value::Null) => unsaid.contains(before) || before.as_object().is_some_and(serde_json::Map::is_empty),
        (Value::Object(before), Value::Object(after)) => {
            before.iter().all(|(key, value)| carried(value, after.get(key).unwrap_or(&Value::Null)))
        }
        _ => false,
    }
}

/// Returns what a dialect can express of a generated answer.
fn said(response: &Response, dialect: Dialect) -> Summary {
    let mut summary = summary(response);
    summary.text.push_str(&std::mem::take(&mut summary.refusal));
    if dialect == Dialect::Gemini
        && let Some([_, _, _, _, write]) = &mut summary.usage
    {
        // There, cache writes are part of the prompt's count.
        *write = 0;
    }
    summary
}

/// A complete answer and its stream, sent by the same server, are the same answer to the client.
fn a_stream_is_its_response(dialect: Dialect, response: &Response) {
    let body = dialect.write_response(response, &reply(dialect));
    let whole = dialect.read_response(&body).unwrap_or_else(|error| panic!("{dialect}: {error}\n{body}"));
    let bytes = encode(dialect, dialect, &events(response));
    let decoded = decode(dialect, &bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert_eq!(EventChecker::check(&decoded), Ok(()), "{dialect}\n{text}");
    let streamed = collect(decoded);
    assert_eq!(said(&streamed, dialect), said(&whole, dialect), "{dialect}: stream and whole\n{text}\n{body}");
    if response.usage.is_some() {
        assert_eq!(said(&whole, dialect), said(response, dialect), "{dialect}: whole and original\n{body}");
    }
    let kinds = |response: &Response| response.content.iter().map(Block::kind).collect::<Vec<_>>();
    assert_eq!(kinds(&streamed), kinds(&whole), "{dialect}\n{text}\n{body}");
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn what_was_not_reported_as_a_loss_survives(request in request(Reach::Plain)) {
        for dialect in Dialect::ALL {
            what_is_not_lost_survives(dialect, &request);
        }
    }

    /// Anything that the format can hold can be sent, and the other side can read what was sent.
    #[test]
    fn every_request_can_be_sent_and_read(request in request(Reach::Everything)) {
        for dialect in Dialect::PROVIDERS {
            if let Ok(wire) = dialect.write_request(&request, &target(dialect)) {
                let text = wire.body.to_string();
                let read = dialect.read_request(Some(&wire.path), &wire.body);
                prop_assert!(read.is_ok() == dialect.serves_clients(), "{}: {:?}\n{}", dialect, read, text);
            }
        }
    }

    #[test]
    fn a_stream_sent_is_the_response_sent(response in response(Reach::Plain)) {
        for dialect in Dialect::ALL {
            a_stream_is_its_response(dialect, &response);
        }
    }

    /// However the deltas are split and the blocks interleaved, the client sees the same answer.
    #[test]
    fn the_order_of_events_does_not_change_the_answer((response, events) in streamed(Reach::Plain)) {
        for dialect in Dialect::ALL {
            let collected = collect(decode(dialect, &encode(dialect, dialect, &events)));
            let mut found = said(&collected, dialect);
            if response.usage.is_none() {
                found.usage = None;
            }
            prop_assert_eq!(found, said(&response, dialect), "{}", dialect);
        }
    }

    #[test]
    fn cuts_in_the_bytes_do_not_change_the_events(
        (_, events) in streamed(Reach::Everything),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        for dialect in Dialect::ALL {
            let bytes = encode(dialect, dialect, &events);
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            ends.extend([0, bytes.len()]);
            ends.sort_unstable();
            let pieces = ends.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(decode_pieces(dialect, pieces), decode(dialect, &bytes), "{}", dialect);
        }
    }
}
