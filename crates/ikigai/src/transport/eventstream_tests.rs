//! Frames of every kind, including those that Amazon really sent.

#[path = "../../../ikigai-core/tests/support/folder.rs"]
mod folder;

use std::path::PathBuf;
use std::task::Poll;

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ikigai_core::wire::{Ids, StreamDecoder};
use ikigai_core::{Collector, Dialect, Event, FinishReason, Limits};
use pretty_assertions::assert_eq;
use serde_json::Value;

use folder::recordings;

use super::{Inside, unframed};
use crate::transport::{Body, TransportError};

/// Returns the text of a stream of frames that arrives in these pieces.
async fn text(mut pieces: Vec<Bytes>, inside: Inside) -> Result<String, TransportError> {
    pieces.reverse();
    let body = Body::poll_fn(move |_| Poll::Ready(pieces.pop().map(Ok)));
    let mut body = unframed(body, inside);
    let mut text = Vec::new();
    while let Some(bytes) = body.next().await {
        text.extend_from_slice(&bytes?);
    }
    Ok(String::from_utf8(text).unwrap())
}

fn frame(headers: &[(&'static str, &'static str)], payload: &'static str) -> Bytes {
    let headers = headers.iter().map(|(name, value)| Header::new(*name, HeaderValue::String((*value).into())));
    let message = Message::new_from_parts(headers.collect(), Bytes::from(payload));
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).unwrap();
    bytes.into()
}

#[tokio::test]
async fn a_member_of_the_union_is_one_event() {
    let frames = vec![
        frame(&[(":event-type", "messageStart")], "{\"role\":\n\"assistant\"}"),
        frame(&[], "{}"),
        frame(&[(":exception-type", "throttlingException")], "{\"message\":\"Too many\"}"),
        frame(&[(":exception-type", "modelStreamErrorException")], "oh no"),
        frame(&[(":error-code", "InternalFailure"), (":error-message", "Broke")], ""),
    ];
    assert_eq!(
        text(frames, Inside::Union).await.unwrap(),
        "data: {\"messageStart\":{\"role\": \"assistant\"}}\n\n\
         data: {\"throttlingException\":{\"message\":\"Too many\"}}\n\n\
         data: {\"modelStreamErrorException\":{\"message\":\"oh no\"}}\n\n\
         data: {\"error\":{\"code\":\"InternalFailure\",\"message\":\"Broke\"}}\n\n"
    );
}

#[tokio::test]
async fn a_frame_that_is_cut_off_is_an_error() {
    let whole = frame(&[(":event-type", "messageStart")], "{}");
    let error = text(vec![whole.slice(..whole.len() - 1)], Inside::Union).await.unwrap_err();
    assert!(error.to_string().contains("cut off"), "{error}");
}

/// Returns the recorded streams, byte for byte; empty if there are no recordings.
fn recorded() -> Vec<(String, Bytes)> {
    let Some(folder) = recordings() else { return Vec::new() };
    let entries = folder.join("bedrock-converse").read_dir().unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let exchanges = paths.iter().map(|path| std::fs::read_to_string(path).unwrap());
    let exchanges = exchanges.map(|text| serde_json::from_str::<Value>(&text).unwrap());
    let stream = |exchange: Value| {
        let bytes = STANDARD.decode(exchange["response"]["eventstream_b64"].as_str()?).unwrap();
        Some((exchange["id"].as_str().unwrap().to_owned(), bytes.into()))
    };
    let streams: Vec<(String, Bytes)> = exchanges.filter_map(stream).collect();
    assert_eq!(streams.len(), 9);
    streams
}

fn events(text: &str) -> Vec<Event> {
    let mut decoder = StreamDecoder::new(Dialect::BedrockConverse, Ids::seeded(7), &Limits::default());
    let mut events = Vec::new();
    decoder.feed(text.as_bytes(), &mut events);
    decoder.end(&mut events);
    events
}

#[tokio::test]
async fn a_stream_means_the_same_wherever_it_is_cut() {
    let (streams, mut cuts) = (recorded(), 0);
    for (id, bytes) in &streams {
        let whole = text(vec![bytes.clone()], Inside::Union).await.unwrap();
        let mut collector = Collector::default();
        collector.extend(events(&whole));
        assert_ne!(collector.finish().finish_reason, FinishReason::Unknown, "{id}");
        let single = bytes.chunks(1).map(Bytes::copy_from_slice).collect();
        assert_eq!(text(single, Inside::Union).await.unwrap(), whole, "{id}: byte by byte");
        // Every position in the short ones.
        let places = if bytes.len() < 4096 { 1 } else { 97 };
        for place in (0..bytes.len()).step_by(places) {
            let pieces = vec![bytes.slice(..place), bytes.slice(place..)];
            assert_eq!(text(pieces, Inside::Union).await.unwrap(), whole, "{id}: cut at {place}");
            cuts += 1;
        }
    }
    assert!(streams.is_empty() || cuts > 4000, "{cuts}");
}
