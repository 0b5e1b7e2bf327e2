//! Streams of the Responses API: the last event repeats the answer, and the official client accepts what we write.

use ikigai_core::{Block, Dialect, Part};
use serde_json::Value;

use crate::support::findings::Findings;
use crate::support::recordings::exchanges;
use crate::support::responses_client::check_as_client;
use crate::support::wire::{OfValues as _, collect, decode, encode};

const DIALECT: Dialect = Dialect::OpenaiResponses;

/// Collecting a stream gives the same answer as its last event, read as a complete answer. The wire makes these differ:
///
/// - the terminal event encrypts reasoning and other opaque state again: different bytes, same meaning;
/// - some relays give every event new ids, and end with an empty list of items;
/// - some relays add fields next to the response object;
/// - one recording has the bytes of a picture only at the end, because its source removed them elsewhere.
#[test]
fn a_stream_is_the_answer_in_its_last_event() {
    let mut findings = Findings::default();
    for exchange in exchanges(DIALECT) {
        let Some(sse) = &exchange.response.sse else { continue };
        let frames = sse.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut terminal = frames.filter_map(|data| {
            let mut event: Value = serde_json::from_str(data).ok()?;
            let is_last = ["response.completed", "response.incomplete"].iter().any(|kind| event["type"] == *kind);
            is_last.then(|| event["response"].take())
        });
        let Some(last) = terminal.next_back() else { continue };
        findings.case();
        let mut whole = DIALECT.read_response(&last).unwrap();
        let mut streamed = collect(decode(DIALECT, sse.as_bytes()));
        whole.warnings.clear();
        if whole.content.is_empty() {
            whole.content = streamed.content.clone();
            whole.finish_reason = streamed.finish_reason;
        }
        let relay = exchange.id.starts_with("copilot-");
        for response in [&mut whole, &mut streamed] {
            response.content.iter_mut().for_each(|block| without_what_differs(block, relay));
            response.id.take_if(|_| relay);
            response.provider_data.remove_part(DIALECT, Part::Answer, "copilot_usage");
        }
        findings.same(&exchange.id, "answer", &streamed, &whole);
    }
    findings.report();
}

fn without_what_differs(block: &mut Block, relay: bool) {
    if let Block::Other(other) = block {
        for key in ["encrypted_content", "fingerprint", "result"] {
            let mut item = other.data.value().clone();
            item.as_object_mut().unwrap().shift_remove(key);
            other.data = item.into();
        }
    }
    if let Block::ProviderResult(result) = block {
        result.content.retain(|block| !matches!(block, Block::Image(_)));
    }
    let Some(data) = block.provider_data_mut() else { return };
    data.remove_part(DIALECT, Part::State, "encrypted_content");
    if let Some(wire) = data.part(DIALECT, Part::State).get("wire") {
        let mut item = wire.value().clone();
        for key in ["encrypted_content", "fingerprint", "result"] {
            item.as_object_mut().unwrap().shift_remove(key);
        }
        data.set_part(DIALECT, Part::State, "wire", item);
    }
    if relay {
        data.remove_part(DIALECT, Part::State, "id");
        data.remove_part(DIALECT, Part::Shape, "id");
        data.remove_part(DIALECT, Part::Shape, "item");
    }
}

#[test]
fn what_is_written_is_what_the_official_client_takes() {
    let mut findings = Findings::default();
    for from in Dialect::ALL {
        for exchange in exchanges(from) {
            let Some(sse) = &exchange.response.sse else { continue };
            findings.case();
            let written = encode(DIALECT, from, &decode(from, sse.as_bytes()));
            if let Err(fault) = check_as_client(std::str::from_utf8(&written).unwrap()) {
                findings.add(&exchange.id, fault);
            }
        }
    }
    findings.report();
}
