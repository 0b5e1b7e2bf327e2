//! Amazon's event-stream frames, as the server-sent events that are inside them.

use std::task::{Poll, ready};

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use aws_smithy_types::event_stream::Message;
use base64::Engine as _;
use bytes::{Bytes, BytesMut};
use serde_json::{Value, json};

use super::{Body, Failure, TransportError};

/// The largest frame; Amazon's limit is 16 MB.
const LARGEST: usize = 24 << 20;

/// A body of frames, each with an event of the model's own stream in it, as a body of server-sent events.
pub(crate) fn unframed(mut body: Body) -> Body {
    let mut decoder = MessageFrameDecoder::new();
    let mut waiting = BytesMut::new();
    let mut over = false;
    Body::poll_fn(move |cx| {
        if over {
            return Poll::Ready(None);
        }
        loop {
            match decoder.decode_frame(&mut waiting) {
                Ok(DecodedFrame::Complete(message)) => match event(&message) {
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
                    let rest = (!waiting.is_empty()).then(|| Err(broken("the last frame is cut off")));
                    return Poll::Ready(rest);
                }
            }
        }
    })
}

fn broken(what: &str) -> TransportError {
    TransportError::new(Failure::Broken, what)
}

/// What a frame carries: an event of the stream, or a failure; none when there is nothing in it.
fn event(message: &Message) -> Option<Bytes> {
    let header = |name: &str| {
        let header = message.headers().iter().find(|header| header.name().as_str() == name)?;
        header.value().as_string().ok().map(|text| text.as_str().to_owned())
    };
    let payload: Value = serde_json::from_slice(message.payload()).unwrap_or_default();
    let kind = header(":exception-type").or_else(|| header(":error-code"));
    if let Some(kind) = kind {
        let said = payload.get("message").or_else(|| payload.get("Message")).and_then(Value::as_str);
        let said = said.map(str::to_owned).or_else(|| header(":error-message")).unwrap_or_default();
        let error = json!({"type": "error", "error": {"type": capital(&kind), "message": said}});
        return Some(Bytes::from(format!("event: error\ndata: {error}\n\n")));
    }
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
