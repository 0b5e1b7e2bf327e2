//! A transport that answers from a list.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use bytes::Bytes;
use ikigai_core::wire::StreamEncoder;
use ikigai_core::{Block, Dialect, FinishReason, Response, Usage, events};

use crate::config::Environment;
use crate::testing::TestClock;
use crate::transport::{Body, Failure, Sending, Transport, TransportError};
use crate::{Client, ClientBuilder};

/// The answer to one request.
#[derive(Clone)]
pub(crate) enum Reply {
    Head { status: u16, headers: Vec<(&'static str, String)>, pieces: Vec<Piece> },
    Fail(Failure),
}

/// The next piece of a body.
#[derive(Clone)]
pub(crate) enum Piece {
    Bytes(Bytes),
    Fail(Failure),
    Stall,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Reply::Head { status, headers: Vec::new(), pieces: vec![Piece::Bytes(body.into())] }
    }

    /// A complete answer, as a provider of the dialect writes it.
    pub(crate) fn whole(dialect: Dialect, response: &Response) -> Self {
        let body = dialect.encode_response(response, &ikigai_core::wire::Reply::default());
        Reply::new(200, body.body)
    }

    /// A stream in pieces of one event each.
    pub(crate) fn stream(dialect: Dialect, response: &Response) -> Self {
        Reply::pieces(frames(dialect, response).into_iter().map(Piece::Bytes))
    }

    pub(crate) fn pieces(pieces: impl IntoIterator<Item = Piece>) -> Self {
        Reply::Head { status: 200, headers: Vec::new(), pieces: pieces.into_iter().collect() }
    }

    /// Changes the text in its pieces.
    pub(crate) fn map(mut self, change: impl Fn(&str) -> String) -> Self {
        if let Reply::Head { pieces, .. } = &mut self {
            for piece in pieces {
                if let Piece::Bytes(bytes) = piece {
                    *bytes = change(std::str::from_utf8(bytes).unwrap()).into();
                }
            }
        }
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Reply::Head { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }
}

/// Returns the bytes of a stream, one piece for each event that has any.
pub(crate) fn frames(dialect: Dialect, response: &Response) -> Vec<Bytes> {
    let mut reply = ikigai_core::wire::Reply::default();
    reply.stream_usage = true;
    let mut encoder = StreamEncoder::new(dialect, reply);
    let mut pieces = Vec::new();
    for event in events(response) {
        let mut bytes = Vec::new();
        encoder.push(&event, &mut bytes);
        if !bytes.is_empty() {
            pieces.push(Bytes::from(bytes));
        }
    }
    pieces
}

/// Returns a text answer with some usage.
pub(crate) fn says(text: &str) -> Response {
    let mut response = Response::new(text, FinishReason::Stop);
    response.id = Some("r1".to_owned());
    response.model = "m".to_owned();
    response.usage = Some(Usage::new(10, 5));
    response
}

/// Returns an answer that calls tools.
pub(crate) fn calls(calls: &[(&str, &str, serde_json::Value)]) -> Response {
    let block = |(id, name, arguments): &(&str, &str, serde_json::Value)| {
        Block::tool_call(*id, *name, arguments.as_object().cloned().unwrap_or_default())
    };
    let mut response = says("");
    response.content = calls.iter().map(block).collect();
    response.finish_reason = FinishReason::ToolUse;
    response
}

/// A transport that answers from a list and records the requests.
#[derive(Clone, Default)]
pub(crate) struct Scripted {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    replies: VecDeque<Reply>,
    requests: Vec<http::Request<Bytes>>,
    open: usize,
}

impl Scripted {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let scripted = Scripted::default();
        scripted.state.lock().unwrap().replies.extend(replies);
        scripted
    }

    /// Returns a client that uses it, with keys for several providers and a clock whose waits end at once.
    pub(crate) fn client(&self) -> Client {
        self.client_with(TestClock::skipping())
    }

    pub(crate) fn client_with(&self, clock: TestClock) -> Client {
        self.builder(clock).build().unwrap()
    }

    pub(crate) fn builder(&self, clock: TestClock) -> ClientBuilder {
        let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "DEEPSEEK_API_KEY"];
        Client::builder()
            .transport(self.clone())
            .clock(clock)
            .environment(Environment::of(keys.map(|name| (name, format!("sk-secret-of-{name}")))))
    }

    pub(crate) fn requests(&self) -> Vec<http::Request<Bytes>> {
        self.state.lock().unwrap().requests.clone()
    }

    /// Returns the JSON body of a request, by its index.
    pub(crate) fn body(&self, place: usize) -> serde_json::Value {
        serde_json::from_slice(self.requests()[place].body()).unwrap()
    }

    /// Returns how many bodies have neither ended nor been dropped.
    pub(crate) fn open(&self) -> usize {
        self.state.lock().unwrap().open
    }
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripted")
    }
}

/// Counts a body as open while it exists.
struct Open(Arc<Mutex<State>>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.lock().unwrap().open -= 1;
    }
}

impl Transport for Scripted {
    fn send(&self, request: http::Request<Bytes>) -> Sending<'_> {
        let mut state = self.state.lock().unwrap();
        state.requests.push(request);
        let reply = state.replies.pop_front().expect("no reply is left for this request");
        let answer = match reply {
            Reply::Fail(failure) => Err(TransportError::new(failure, "it failed on its way")),
            Reply::Head { status, headers, pieces } => {
                state.open += 1;
                let mut open = Some(Open(Arc::clone(&self.state)));
                let mut pieces = VecDeque::from(pieces);
                let body = Body::poll_fn(move |_| match pieces.pop_front() {
                    Some(Piece::Bytes(bytes)) => Poll::Ready(Some(Ok(bytes))),
                    Some(Piece::Fail(failure)) => Poll::Ready(Some(Err(TransportError::new(failure, "it broke")))),
                    Some(Piece::Stall) => {
                        pieces.push_front(Piece::Stall);
                        Poll::Pending
                    }
                    None => {
                        drop(open.take());
                        Poll::Ready(None)
                    }
                });
                let mut response = http::Response::new(body);
                *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
                for (name, value) in headers {
                    response.headers_mut().append(name, value.parse().unwrap());
                }
                Ok(response)
            }
        };
        Box::pin(std::future::ready(answer))
    }
}
