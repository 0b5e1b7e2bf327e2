//! Outgoing answers: whole or frame by frame, as fast or as broken as they are meant to be.

use std::borrow::Cow;
use std::io;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderName, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::Frame;
use ikigai_core::wire::WireError;

use crate::fault::{self, Fault, Pacing};
use crate::net::Breaker;

pub(crate) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// An answer before it is sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) content_type: Cow<'static, str>,
    pub(crate) body: Payload,
}

/// The body of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Payload {
    /// All at once.
    Whole(Bytes),
    /// Frame by frame, with the frame to send for an error in the middle.
    Frames { frames: Vec<Bytes>, error: Vec<u8> },
}

impl Answer {
    /// A JSON answer.
    pub(crate) fn json(body: &serde_json::Value) -> Self {
        Answer::bytes(serde_json::to_vec(body).unwrap_or_default())
    }

    /// A whole answer whose JSON is already written.
    pub(crate) fn bytes(body: Vec<u8>) -> Self {
        Answer {
            status: 200,
            headers: Vec::new(),
            content_type: "application/json".into(),
            body: Payload::Whole(body.into()),
        }
    }

    /// A stream.
    pub(crate) fn frames(content_type: &'static str, frames: Vec<Bytes>, error: Vec<u8>) -> Self {
        Answer {
            status: 200,
            headers: Vec::new(),
            content_type: content_type.into(),
            body: Payload::Frames { frames, error },
        }
    }

    /// The same bytes, sent at once.
    pub(crate) fn in_one_piece(self) -> Self {
        let body = match self.body {
            Payload::Frames { frames, .. } => Payload::Whole(frames.concat().into()),
            whole @ Payload::Whole(_) => whole,
        };
        Answer { body, ..self }
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

impl From<WireError> for Answer {
    fn from(error: WireError) -> Self {
        Answer { status: error.status, headers: error.headers, ..Answer::bytes(error.body) }
    }
}

/// Turns an answer into what the server sends, broken as `fault` says.
pub(crate) fn deliver(answer: Answer, fault: Option<&Fault>, breaker: &Breaker) -> Response<Body> {
    let body = match (answer.body, fault) {
        (Payload::Whole(bytes), None) => Full::new(bytes).map_err(|never| match never {}).boxed_unsync(),
        (Payload::Whole(bytes), Some(fault)) => {
            // A whole body breaks as a stream of four pieces would.
            let mut pieces = in_pieces(&bytes, 4);
            let pacing = fault::apply(fault, &mut pieces, Vec::new);
            paced(pieces, pacing, breaker.clone())
        }
        (Payload::Frames { frames, .. }, None) => paced(frames, Pacing::default(), breaker.clone()),
        (Payload::Frames { mut frames, error }, Some(fault)) => {
            let pacing = fault::apply(fault, &mut frames, || error);
            paced(frames, pacing, breaker.clone())
        }
    };
    match fault {
        Some(Fault::CutBeforeHeaders) => breaker.close_after(0),
        Some(Fault::CutMidHeader) => breaker.close_after(40),
        _ => {}
    }
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let content_type = match fault {
        Some(Fault::WrongContentType) => Cow::Borrowed("text/html; charset=utf-8"),
        _ => answer.content_type,
    };
    if let Some(content_type) = HeaderValue::from_str(&content_type).ok().filter(|value| !value.is_empty()) {
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn in_pieces(bytes: &Bytes, count: usize) -> Vec<Bytes> {
    let size = bytes.len().div_ceil(count).max(1);
    bytes.chunks(size).map(|piece| bytes.slice_ref(piece)).collect()
}

/// The frames as a body that waits, stalls or breaks off as told.
fn paced(frames: Vec<Bytes>, pacing: Pacing, breaker: Breaker) -> Body {
    StreamBody::new(frames_of(frames, pacing, breaker)).boxed_unsync()
}

fn frames_of(frames: Vec<Bytes>, pacing: Pacing, breaker: Breaker) -> impl Stream<Item = io::Result<Frame<Bytes>>> {
    let queue = frames.into_iter().enumerate();
    stream::unfold((queue, pacing, breaker), |(mut queue, pacing, breaker)| async move {
        let (place, frame) = queue.next()?;
        if let Some(wait) = pacing.before.filter(|_| place == 0) {
            tokio::time::sleep(wait).await;
        }
        if let Some(wait) = pacing.between {
            tokio::time::sleep(wait).await;
        }
        if pacing.stall_after == Some(place) {
            std::future::pending::<()>().await;
        }
        if let Some(cut) = pacing.cut_after.filter(|cut| cut.frames == place) {
            // What was written so far goes out first; then the connection has room for this many more bytes.
            tokio::task::yield_now().await;
            // The chunk's own framing (its length in hexadecimal) takes a few bytes before the frame's.
            if cut.reset { breaker.reset_after(cut.bytes) } else { breaker.close_after(cut.bytes) }
        }
        Some((Ok(Frame::data(frame)), (queue, pacing, breaker)))
    })
}
