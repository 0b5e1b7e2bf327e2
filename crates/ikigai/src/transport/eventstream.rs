//! Amazon's event-stream frames, converted to the server-sent events they contain.

use std::borrow::Cow;
use std::task::{Poll, ready};

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use aws_smithy_types::event_stream::Message;
use base64::Engine as _;
use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{Body, Failure, TransportError};

/// The largest frame; Amazon's limit is 16 MB.
const LARGEST: usize = 16 << 20;

/// What the frames contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    /// Events of the model's own stream, each in a wrapper (InvokeModel).
    Chunks,
    /// The members of a union, whose names are in the frames' headers (Converse).
    Union,
}

/// Converts a body of frames, each containing an event, to a body of server-sent events: those of the model's own stream,
/// or one for each member of the union, whose data is `{"name": payload}`.
pub(crate) fn unframed(mut body: Body, inside: Inside) -> Body {
    let mut decoder = MessageFrameDecoder::new();
    let mut waiting = BytesMut::new();
    let mut over = false;
    Body::poll_fn(move |cx| {
        if over {
            return Poll::Ready(None);
        }
        loop {
            match decoder.decode_frame(&mut waiting) {
                Ok(DecodedFrame::Complete(message)) => match inside.event(&message) {
                    Some(event) => return Poll::Ready(Some(Ok(event))),
                    None => continue,
                },
                Ok(DecodedFrame::Incomplete) if waiting.len() <= LARGEST => {}
                Ok(DecodedFrame::Incomplete) | Err(_) => {
                    over = true;
                    return Poll::Ready(Some(Err(broken("a frame is damaged"))));
                }
            }
            match ready!(body.poll_next(cx)) {
                Some(Ok(bytes)) => waiting.extend_from_slice(&bytes),
                Some(Err(error)) => {
                    over = true;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    over = true;
                    let cut = !waiting.is_empty();
                    return Poll::Ready(cut.then(|| Err(broken("the last frame is cut off"))));
                }
            }
        }
    })
}

/// The payload of a frame that contains an event of the model's own stream.
#[derive(Deserialize)]
struct Wrapped<'a> {
    #[serde(borrow)]
    bytes: Cow<'a, str>,
}

/// The payload of a frame that contains a failure.
#[derive(Default, Deserialize)]
struct Said<'a> {
    #[serde(borrow, alias = "Message")]
    message: Option<Cow<'a, str>>,
}

fn broken(what: &str) -> TransportError {
    TransportError::new(Failure::Broken, what)
}

impl Inside {
    /// Returns the event or failure in a frame. `None` if there is neither.
    fn event(self, message: &Message) -> Option<Bytes> {
        let failure = header(message, ":exception-type").or_else(|| header(message, ":error-code"));
        match (self, failure) {
            (Inside::Chunks, Some(kind)) => Some(failed_chunk(message, kind)),
            (Inside::Chunks, None) => wrapped(message),
            (Inside::Union, Some(_)) if header(message, ":exception-type").is_none() => {
                let (code, said) = (header(message, ":error-code"), header(message, ":error-message"));
                Some(member("error", json!({"code": code, "message": said}).to_string().as_bytes()))
            }
            (Inside::Union, Some(kind)) if serde_json::from_slice::<IgnoredAny>(message.payload()).is_err() => {
                let said = json!({"message": String::from_utf8_lossy(message.payload())});
                Some(member(kind, said.to_string().as_bytes()))
            }
            (Inside::Union, Some(kind)) => Some(member(kind, message.payload())),
            (Inside::Union, None) => Some(member(header(message, ":event-type")?, message.payload())),
        }
    }
}

/// Returns the event for a member of a union.
fn member(name: &str, payload: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(payload.len() + name.len() + 16);
    event.extend_from_slice(b"data: {");
    event.extend_from_slice(Value::from(name).to_string().as_bytes());
    event.push(b':');
    extend_line(&mut event, payload);
    event.extend_from_slice(b"}\n\n");
    Bytes::from(event)
}

/// Adds JSON on one line, because a line break would end the event. JSON strings never contain one.
fn extend_line(event: &mut Vec<u8>, json: &[u8]) {
    event.extend(json.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
}

fn header<'a>(message: &'a Message, name: &str) -> Option<&'a str> {
    let header = message.headers().iter().find(|header| header.name().as_str() == name)?;
    header.value().as_string().ok().map(|text| text.as_str())
}

/// Returns a failure in the format of the model's own stream.
fn failed_chunk(message: &Message, kind: &str) -> Bytes {
    let payload: Said = serde_json::from_slice(message.payload()).unwrap_or_default();
    let said = payload.message.as_deref().or_else(|| header(message, ":error-message")).unwrap_or_default();
    let error = json!({"type": "error", "error": {"type": capital(kind), "message": said}});
    Bytes::from(format!("event: error\ndata: {error}\n\n"))
}

/// Returns an event of the model's own stream, without its wrapper.
fn wrapped(message: &Message) -> Option<Bytes> {
    let payload: Wrapped = serde_json::from_slice(message.payload()).ok()?;
    let inner = base64::engine::general_purpose::STANDARD.decode(payload.bytes.as_ref()).ok()?;
    let mut event = Vec::with_capacity(inner.len() + 8);
    event.extend_from_slice(b"data: ");
    extend_line(&mut event, &inner);
    event.extend_from_slice(b"\n\n");
    Some(Bytes::from(event))
}

/// Capitalises a kind: `throttlingException` is written with a capital letter everywhere else.
fn capital(kind: &str) -> String {
    let mut letters = kind.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

#[cfg(test)]
#[path = "eventstream_tests.rs"]
mod tests;
