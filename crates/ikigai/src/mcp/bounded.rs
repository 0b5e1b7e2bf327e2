//! The SDK's HTTP client, with limits on what a server sends.
//!
//! The SDK's own client reads a JSON reply completely, however long, into a tree that takes many times its size.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt as _};
use http::{HeaderName, HeaderValue, StatusCode, header};
use ikigai_core::Limits;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tokio::time::Instant;

use super::connection::LONGEST;
use crate::error::beginning;

/// How much of a failed response is read: its beginning says what failed.
const LONGEST_FAILURE: usize = 64 << 10;
const SESSION: &str = "mcp-session-id";
/// Headers that belong to the protocol.
const RESERVED: [&str; 3] = ["accept", SESSION, "last-event-id"];
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

type Fault = StreamableHttpError<reqwest::Error>;

/// The least time between two requests for a stream of events. The SDK asks again at once if a stream breaks, and after
/// as little time as the server says if it ends.
const BETWEEN_STREAMS: Duration = Duration::from_millis(500);

/// A client whose replies have limits.
#[derive(Debug, Clone)]
pub(super) struct Bounded {
    client: reqwest::Client,
    /// When the next stream of events may be requested.
    next_stream: Arc<Mutex<Option<Instant>>>,
}

impl Bounded {
    pub(super) fn new(client: reqwest::Client) -> Self {
        Bounded { client, next_stream: Arc::default() }
    }

    /// Waits until another stream of events may be requested.
    async fn stream_is_due(&self) {
        let due = {
            let mut next = self.next_stream.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let due = next.map_or(now, |next| next.max(now));
            *next = Some(due + BETWEEN_STREAMS);
            due
        };
        tokio::time::sleep_until(due).await;
    }
}

impl StreamableHttpClient for Bounded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let mut request = self.client.post(uri.as_ref()).header(header::ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            if RESERVED.contains(&name.as_str()) {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        let in_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION, session.as_ref());
        }
        let response = request
            .header(header::CONTENT_TYPE, JSON)
            .header(header::ACCEPT_ENCODING, "identity")
            .body(serde_json::to_vec(&message)?)
            .send()
            .await?;
        if response.status() == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let owed = if matches!(message, JsonRpcMessage::Request(_)) { Owed::Reply } else { Owed::Nothing };
        read(response, owed).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Fault> {
        // The response is not read.
        self.client.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        self.stream_is_due().await;
        let opened = self.client.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, LONGEST);
        Ok(checked(opened.await?))
    }
}

/// What a server owes in reply to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owed {
    Reply,
    Nothing,
}

/// Reads the reply to a message.
async fn read(response: reqwest::Response, owed: Owed) -> Result<StreamableHttpPostResponse, Fault> {
    let (status, headers) = (response.status(), response.headers().clone());
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let challenge = text(header::WWW_AUTHENTICATE).to_owned();
    match status {
        StatusCode::UNAUTHORIZED if !challenge.is_empty() => {
            return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
        }
        StatusCode::FORBIDDEN if !challenge.is_empty() => {
            return Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)));
        }
        StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(StreamableHttpPostResponse::Accepted),
        StatusCode::TOO_MANY_REQUESTS => return Err(HttpStatusError::new(status.as_u16(), None).into()),
        _ => {}
    }
    let encoding = text(header::CONTENT_ENCODING);
    if !matches!(encoding, "" | "identity") {
        return Err(unusable(format!("it is compressed as `{}`, which was not requested", beginning(encoding, 40))));
    }
    let kind = text(header::CONTENT_TYPE);
    let session = headers.get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    if !status.is_success() {
        let is_failure_of_a_call = kind.starts_with(JSON)
            && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND);
        if is_failure_of_a_call
            && let Ok(body) = whole(response, LONGEST_FAILURE).await
            && Limits::client().check_answer(&body).is_ok()
            && let Ok(message @ JsonRpcMessage::Error(_)) = serde_json::from_slice::<ServerJsonRpcMessage>(&body)
        {
            return Ok(StreamableHttpPostResponse::Json(message, session));
        }
        return Err(HttpStatusError::new(status.as_u16(), None).into());
    }
    if kind.starts_with(EVENTS) {
        let mut size = EventSize::default();
        let events = response.bytes_stream().map(move |bytes| match bytes {
            Ok(bytes) if size.take(&bytes) > LONGEST => Err(std::io::Error::other(too_long())),
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(std::io::Error::other(error)),
        });
        return Ok(StreamableHttpPostResponse::Sse(checked(SseStream::from_bytes_stream(events).boxed()), session));
    }
    if !kind.starts_with(JSON) {
        // Some servers answer a notification with an empty response.
        let is_empty = response.content_length() == Some(0) && owed == Owed::Nothing;
        let other = || StreamableHttpError::UnexpectedContentType(Some(beginning(kind, 100).to_owned()));
        return if is_empty { Ok(StreamableHttpPostResponse::Accepted) } else { Err(other()) };
    }
    let body = whole(response, LONGEST).await?;
    match message(&body) {
        Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
        Err(_) if owed == Owed::Nothing => Ok(StreamableHttpPostResponse::Accepted),
        Err(why) => Err(unusable(why)),
    }
}

/// Parses a message, if it is within the limits.
fn message(body: &[u8]) -> Result<ServerJsonRpcMessage, String> {
    Limits::client().check_answer(body).map_err(|error| error.message)?;
    serde_json::from_slice(body).map_err(|fault| {
        let begins = String::from_utf8_lossy(body.get(..200).unwrap_or(body));
        format!("it is not a message ({fault}); it begins: {begins}")
    })
}

/// Reads a complete body, up to a limit.
async fn whole(mut response: reqwest::Response, limit: usize) -> Result<Bytes, Fault> {
    let mut all = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if all.len() + chunk.len() > limit {
            return Err(unusable(too_long()));
        }
        if all.capacity() < all.len() + chunk.len() {
            all.reserve_exact((2 * (all.len() + chunk.len())).min(limit) - all.len());
        }
        all.extend_from_slice(&chunk);
    }
    Ok(all.into())
}

/// Checks that the data of each event is within the limits.
fn checked(events: BoxStream<'static, Result<Sse, SseError>>) -> BoxStream<'static, Result<Sse, SseError>> {
    let check = |event: Sse| match Limits::client().check_answer(event.data.as_deref().unwrap_or_default().as_bytes()) {
        Ok(()) => Ok(event),
        Err(reached) => Err(SseError::Body(reached.message.into())),
    };
    events.map(move |event| event.and_then(check)).boxed()
}

fn too_long() -> String {
    format!("it is longer than {LONGEST} bytes")
}

fn unusable(why: String) -> Fault {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(why))
}

/// The length of the event that is being read; a blank line ends it.
#[derive(Default)]
struct EventSize {
    event: usize,
    line: usize,
}

impl EventSize {
    /// Counts these bytes, and returns the length of the longest event among them.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let mut longest = self.event;
        for byte in bytes {
            match byte {
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                // Part of the line ending.
                b'\r' => {}
                _ => {
                    self.line += 1;
                    self.event += 1;
                    longest = longest.max(self.event);
                }
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_blank_line_ends_an_event_however_the_bytes_are_cut() {
        let mut size = EventSize::default();
        assert_eq!(size.take(b"data: abc\n\ndata: d"), 9);
        assert_eq!(size.take(b"efg\r\n\r\n"), 10);
        assert_eq!((size.event, size.line), (0, 0));
    }
}
