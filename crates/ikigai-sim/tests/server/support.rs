//! What the tests share: requests over a real socket, and what arrived of their answers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use ikigai_core::wire::{Ids, StreamDecoder};
use ikigai_core::{Collector, Dialect, Event};
use ikigai_sim::Sim;
use serde_json::{Value, json};

/// An answer, as far as it arrived.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Whether the connection ended as HTTP says it should.
    pub(crate) whole: bool,
    pub(crate) error: Option<std::io::ErrorKind>,
}

impl Got {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The body as a stream of a dialect, decoded.
    pub(crate) fn response(&self, dialect: Dialect) -> ikigai_core::Response {
        let mut decoder = StreamDecoder::new(dialect, Ids::default(), &ikigai_core::Limits::default());
        let mut events: Vec<Event> = Vec::new();
        decoder.feed(&self.body, &mut events);
        decoder.end(&mut events);
        let mut collector = Collector::default();
        collector.extend(events);
        collector.finish()
    }
}

/// Sends a request with the key `key`.
pub(crate) fn send(sim: &Sim, path: &str, headers: &str, body: &Value) -> Got {
    send_with(sim, path, &format!("authorization: Bearer key\r\n{headers}"), body)
}

/// Uses one of the simulator's own controls.
pub(crate) fn control(sim: &Sim, verb: &str, body: &Value) -> Got {
    send_with(sim, &format!("/_sim/{verb}"), &format!("authorization: Bearer {}\r\n", sim.token()), body)
}

/// Sends a request with these headers and no other key.
pub(crate) fn send_with(sim: &Sim, path: &str, headers: &str, body: &Value) -> Got {
    // Enough for a busy machine.
    send_for(Duration::from_secs(60), sim, path, headers, body)
}

/// The same, with another limit on how long to wait.
pub(crate) fn send_for(patience: Duration, sim: &Sim, path: &str, headers: &str, body: &Value) -> Got {
    let mut stream = TcpStream::connect(sim.url().strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(patience)).unwrap();
    let body = body.to_string();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: sim\r\nanthropic-version: 2023-06-01\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .unwrap();
    let (mut raw, mut buffer, mut error) = (Vec::new(), [0; 4096], None);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => raw.extend_from_slice(&buffer[..read]),
            Err(failed) => {
                error = Some(failed.kind());
                break;
            }
        }
    }
    split(&raw, error)
}

pub(crate) fn split(raw: &[u8], error: Option<std::io::ErrorKind>) -> Got {
    let Some(end) = raw.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Got { head: String::from_utf8_lossy(raw).into_owned(), body: Vec::new(), whole: false, error };
    };
    let head = String::from_utf8_lossy(&raw[..end]).into_owned();
    let rest = &raw[end + 4..];
    if !head.contains("transfer-encoding: chunked") {
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        return Got { head, body: rest.to_vec(), whole: length == Some(rest.len()), error };
    }
    let (mut body, mut rest, mut whole) = (Vec::new(), rest, false);
    while let Some(line) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
        rest = &rest[line + 2..];
        if size == 0 {
            whole = true;
            break;
        }
        let available = size.min(rest.len());
        body.extend_from_slice(&rest[..available]);
        rest = rest.get(size + 2..).unwrap_or_default();
    }
    Got { head, body, whole, error }
}

pub(crate) fn ask(dialect: Dialect, text: &str, stream: bool) -> (String, Value) {
    match dialect {
        Dialect::Anthropic => (
            "/v1/messages".into(),
            json!({"model": "claude-sonnet-4-5", "max_tokens": 4096, "stream": stream, "messages": [{"role": "user", "content": text}]}),
        ),
        Dialect::OpenaiChat => (
            "/v1/chat/completions".into(),
            json!({"model": "gpt-4.1", "stream": stream, "messages": [{"role": "user", "content": text}]}),
        ),
        Dialect::OpenaiResponses => {
            ("/v1/responses".into(), json!({"model": "gpt-4.1", "stream": stream, "input": text}))
        }
        Dialect::Gemini => {
            let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            (
                format!("/v1beta/models/gemini-2.5-flash:{method}"),
                json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
            )
        }
        _ => panic!("no client speaks {dialect}, or a question is missing here"),
    }
}
