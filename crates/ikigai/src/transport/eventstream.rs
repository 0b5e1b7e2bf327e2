//! Amazon's event-stream frames, as the server-sent events that are inside them.

use std::task::{Poll, ready};

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use aws_smithy_types::event_stream::Message;
use base64::Engine as _;
use bytes::{Bytes, BytesMut};
use serde_json::{Value, json};

use super::{Body, Failure, TransportError};
use crate::converse::stream::Reader;

/// The largest frame; Amazon's limit is 16 MB.
const LARGEST: usize = 24 << 20;

/// What the frames hold.
#[derive(Debug)]
pub(crate) enum Inside {
    /// Events of the model's own stream.
    Events,
    /// Events of Converse.
    Converse(Reader),
}

/// A body of frames, each with an event in it, as a body of server-sent events.
pub(crate) fn unframed(mut body: Body, mut inside: Inside) -> Body {
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
                    if !waiting.is_empty() {
                        return Poll::Ready(Some(Err(broken("the last frame is cut off"))));
                    }
                    return Poll::Ready(inside.end().map(Ok));
                }
            }
        }
    })
}

fn broken(what: &str) -> TransportError {
    TransportError::new(Failure::Broken, what)
}

impl Inside {
    /// What a frame carries: an event of the stream, or a failure; none when there is nothing in it.
    fn event(&mut self, message: &Message) -> Option<Bytes> {
        if let Some(kind) = header(message, ":exception-type").or_else(|| header(message, ":error-code")) {
            return Some(failure(message, kind));
        }
        match self {
            Inside::Events => wrapped(message),
            Inside::Converse(reader) => {
                let mut events = Vec::new();
                reader.event(header(message, ":event-type").unwrap_or_default(), message.payload(), &mut events);
                (!events.is_empty()).then(|| events.into())
            }
        }
    }

    /// What is owed when the frames are over.
    fn end(&mut self) -> Option<Bytes> {
        let mut events = Vec::new();
        if let Inside::Converse(reader) = self {
            reader.end(&mut events);
        }
        (!events.is_empty()).then(|| events.into())
    }
}

fn header<'a>(message: &'a Message, name: &str) -> Option<&'a str> {
    let header = message.headers().iter().find(|header| header.name().as_str() == name)?;
    header.value().as_string().ok().map(|text| text.as_str())
}

fn failure(message: &Message, kind: &str) -> Bytes {
    let payload: Value = serde_json::from_slice(message.payload()).unwrap_or_default();
    let said = payload.get("message").or_else(|| payload.get("Message")).and_then(Value::as_str);
    let said = said.or_else(|| header(message, ":error-message")).unwrap_or_default();
    let error = json!({"type": "error", "error": {"type": capital(kind), "message": said}});
    Bytes::from(format!("event: error\ndata: {error}\n\n"))
}

/// An event of the model's own stream, which is wrapped once more.
fn wrapped(message: &Message) -> Option<Bytes> {
    let payload: Value = serde_json::from_slice(message.payload()).ok()?;
    let inner = payload.get("bytes").and_then(Value::as_str)?;
    let inner = base64::engine::general_purpose::STANDARD.decode(inner).ok()?;
    let mut event = Vec::with_capacity(inner.len() + 8);
    event.extend_from_slice(b"data: ");
    // One line, whatever is in it: a line end would end the event.
    event.extend(inner.into_iter().map(|byte| if byte == b'\n' || byte == b'\r' { b' ' } else { byte }));
    event.extend_from_slice(b"\n\n");
    Some(Bytes::from(event))
}

/// `throttlingException` as it is written everywhere else.
fn capital(kind: &str) -> String {
    let mut letters = kind.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
