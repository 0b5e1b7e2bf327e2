//! No answer makes the client use more than four times the configured limit, whatever a server sends.
//!
//! A separate binary, because its allocator counts.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may panic and tell as tests may")]

mod http2;
mod streams;

use std::fmt::Debug;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use bytes::Bytes;
use ikigai::config::Environment;
use ikigai::transport::{Body, Sending, Transport};
use ikigai::{Client, Limits, Retry};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Only one test can be measured at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Returns the limits of the tests: an eighth of the usual ones, so that the tests take an eighth of the time.
fn limits() -> Limits {
    let mut limits = Limits::client();
    limits.body /= 8;
    limits.event /= 8;
    limits.stream /= 8;
    limits.values /= 8;
    limits.blocks /= 8;
    limits
}

/// A body with a beginning, a unit repeated up to a length, and an end. It is never in memory as a whole.
#[derive(Clone)]
struct Made {
    beginning: Bytes,
    unit: Bytes,
    length: usize,
    end: Bytes,
    /// Whether each `#####` of a unit is replaced by another number.
    numbered: bool,
}

fn made(beginning: &str, unit: &str, length: usize, end: &str) -> Made {
    let many = unit.repeat((16 << 10) / unit.len() + 1);
    Made {
        beginning: beginning.to_owned().into(),
        unit: many.into(),
        length,
        end: end.to_owned().into(),
        numbered: unit.contains("#####"),
    }
}

impl Made {
    fn body(&self) -> Body {
        let Made { beginning, unit, length, end, numbered } = self.clone();
        let mut number = 0;
        let (mut first, mut last, mut left) = (Some(beginning), Some(end), length);
        Body::poll_fn(move |_| {
            if let Some(first) = first.take().filter(|first| !first.is_empty()) {
                return Poll::Ready(Some(Ok(first)));
            }
            if left > 0 {
                left = left.saturating_sub(unit.len());
                if numbered {
                    let mut text = String::with_capacity(unit.len() * 2);
                    for part in std::str::from_utf8(&unit).unwrap().split("#####") {
                        number += 1;
                        text.push_str(part);
                        text.push_str(&number.to_string());
                    }
                    return Poll::Ready(Some(Ok(text.into())));
                }
                return Poll::Ready(Some(Ok(unit.clone())));
            }
            Poll::Ready(last.take().map(Ok))
        })
    }

    /// Compresses it with gzip.
    fn packed(&self) -> Made {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&self.beginning).unwrap();
        for _ in 0..self.length / self.unit.len() {
            encoder.write_all(&self.unit).unwrap();
        }
        encoder.write_all(&self.end).unwrap();
        let packed = encoder.finish().unwrap();
        Made { beginning: packed.into(), unit: Bytes::new(), length: 0, end: Bytes::new(), numbered: false }
    }
}

/// A server that answers every request in the same way.
struct Hostile {
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: Made,
}

impl Debug for Hostile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hostile")
    }
}

impl Transport for Hostile {
    fn send(&self, _: http::Request<Bytes>) -> Sending<'_> {
        let mut response = http::Response::new(self.body.body());
        *response.status_mut() = http::StatusCode::from_u16(self.status).unwrap();
        for (name, value) in &self.headers {
            response.headers_mut().append(*name, value.parse().unwrap());
        }
        Box::pin(std::future::ready(Ok(response)))
    }
}

fn client(hostile: Hostile) -> Client {
    let keys =
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "DEEPSEEK_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"];
    Client::builder()
        .transport(hostile)
        .environment(Environment::of(keys.map(|name| (name, "sk-something-secret"))))
        .retry(Retry::never())
        .limits(limits())
        .build()
        .unwrap()
}

/// Runs a piece of work, and checks how much additional memory it uses.
fn within<T, F: Future<Output = T>>(case: &str, limit: usize, work: impl FnOnce() -> F) -> T {
    let (outcome, share) = share(limit, work);
    println!("{share:5.2} x the limit: {case}");
    assert!(share < 4.0, "{case}: {share:.2} times the limit");
    outcome
}

/// Runs a piece of work, and returns how much additional memory it uses, as a share of the limit.
fn share<T, F: Future<Output = T>>(limit: usize, work: impl FnOnce() -> F) -> (T, f64) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let outcome = runtime.block_on(work());
    let taken = MEMORY.peak_usage().saturating_sub(before);
    (outcome, taken as f64 / limit as f64)
}

const CHAT: &str = "deepseek:deepseek-chat";
const CLAUDE: &str = "anthropic:claude-haiku-4-5";
const RESPONSES: &str = "openai:gpt-5.4";
const GEMINI: &str = "google:gemini-2.5-flash";
const CONVERSE: &str = "bedrock:us.amazon.nova-lite-v1:0";

/// Asks for a complete answer, runs the tools that it calls, and reads all of it.
fn ask(case: &str, model: &'static str, body: Made) {
    let packed = body.packed();
    for (how, body, headers) in [("plain", body, vec![]), ("packed", packed, vec![("content-encoding", "gzip")])] {
        let client = client(Hostile { status: 200, headers, body });
        within(&format!("{case}, whole, {how}"), limits().body, || async move {
            let outcome = client.model(model).unwrap().tool(anything()).max_steps(2).ask("Hi").await;
            drop(outcome);
        });
    }
}

/// Reads a stream to its end.
fn stream(case: &str, model: &'static str, body: Made) {
    let client = client(Hostile { status: 200, headers: vec![("content-type", "text/event-stream")], body });
    within(&format!("{case}, stream"), limits().body, || read_stream(client, model));
}

async fn read_stream(client: Client, model: &'static str) {
    let outcome = match client.model(model).unwrap().tool(anything()).max_steps(2).stream("Hi").await {
        Ok(stream) => stream.finish().await,
        Err(error) => Err(error),
    };
    drop(outcome);
}

/// Returns a tool that accepts anything.
fn anything() -> ikigai::Callable {
    let tool = ikigai::Tool::new("t", "Takes anything.").parameters(serde_json::json!({"type": "object"}));
    ikigai::Callable::new(tool, |call: ikigai::ToolCall| async move { call.arguments.object().len().to_string() })
}

const SIZES: [usize; 2] = [7 << 19, 40 << 20];

#[test]
fn texts_of_any_length() {
    for size in SIZES {
        let chat = made(r#"{"choices":[{"finish_reason":"stop","message":{"content":""#, "a", size, "\"}}]}");
        ask(&format!("a text of {size} bytes"), CHAT, chat);
    }
    let blanks = made(r#"{"choices":[{"finish_reason":"stop","message":{"content":"a"}}]"#, "   ", 7 << 19, "}");
    ask("blanks", CHAT, blanks);
    let escapes =
        made(r#"{"content":[{"type":"text","text":""#, "\\u0061", 7 << 19, r#""}],"stop_reason":"end_turn"}"#);
    ask("escapes", CLAUDE, escapes);
}

#[test]
fn many_tiny_values() {
    // More than the limits allow, and about as much as they do.
    for size in [7 << 19, 7 << 16, 110 << 10] {
        tiny_values(size);
    }
}

fn tiny_values(size: usize) {
    let blocks = made(
        r#"{"stop_reason":"end_turn","content":["#,
        r#"{"type":"text","text":""},"#,
        size,
        r#"{"type":"text","text":"a"}]}"#,
    );
    ask("blocks", CLAUDE, blocks);
    let unknown = made(r#"{"stop_reason":"end_turn","content":["#, r#"{"type":"x"},"#, size, r#"{"type":"x"}]}"#);
    ask("unknown blocks", CLAUDE, unknown);
    let fields = made(r#"{"x":1,"#, r#""y":1,"#, size, r#""stop_reason":"end_turn","content":[]}"#);
    ask("unknown fields", CLAUDE, fields);
    let arguments = made(
        r#"{"stop_reason":"tool_use","content":[{"type":"tool_use","id":"i","name":"t","input":{"a":["#,
        "1,",
        size,
        r#"1]}}]}"#,
    );
    ask("arguments", CLAUDE, arguments);
    let in_text = made(
        r#"{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"i","type":"function","function":{"name":"t","arguments":"{\"a\":["#,
        "1,",
        size,
        r#"1]}"}}]}}]}"#,
    );
    ask("arguments in a text", CHAT, in_text);
    let calls = made(
        r#"{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":["#,
        r#"{"id":"i","type":"function","function":{"name":"t","arguments":"{}"}},"#,
        size,
        r#"{"id":"j","type":"function","function":{"name":"t","arguments":"{}"}}]}}]}"#,
    );
    ask("calls", CHAT, calls);
    let logprobs = made(
        r#"{"choices":[{"finish_reason":"stop","message":{"content":"a"},"logprobs":{"content":["#,
        r#"{"token":"a","logprob":-1,"bytes":[1],"top_logprobs":[]},"#,
        size,
        r#"{"token":"a","logprob":-1}]}}]}"#,
    );
    ask("log probabilities", CHAT, logprobs);
    let parts = made(
        r#"{"candidates":[{"content":{"parts":["#,
        r#"{"text":""},"#,
        size,
        r#"{"text":"a"}]},"finishReason":"STOP"}]}"#,
    );
    ask("parts", GEMINI, parts);
    let items = made(r#"{"status":"completed","output":["#, r#"{"type":"x"},"#, size, r#"{"type":"x"}]}"#);
    ask("items", RESPONSES, items);
}

#[test]
fn deep_nesting() {
    for model in [CHAT, CLAUDE, RESPONSES, GEMINI] {
        ask("arrays", model, made(r#"{"x":"#, "[", 7 << 19, ""));
        ask("objects", model, made(r#"{"x":"#, r#"{"a":"#, 7 << 19, ""));
        stream("arrays", model, made("data: {\"x\":", "[", 3 << 19, "\n\n"));
    }
}

#[test]
fn endless_streams() {
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\"}}\n\n";
    let open = format!(
        "{start}event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\n"
    );
    let endless = 40 << 20;
    stream("one event without an end", CLAUDE, made("data: {\"type\":\"", "a", endless, ""));
    stream(
        "one event of as much as is allowed",
        CHAT,
        made("data: {\"choices\":[{\"delta\":{\"content\":\"", "a", (2 << 20) - (64 << 10), "\"}}]}\n\n"),
    );
    stream("an event of many lines", CLAUDE, made("", "data: a\n", endless, ""));
    stream("a name without an end", CLAUDE, made("event: ", "a", endless, ""));
    stream("an id without an end", CLAUDE, made("id: ", "a", endless, ""));
    stream("a comment without an end", CLAUDE, made(": ", "a", endless, ""));
    stream("comments", CLAUDE, made("", ": a\n\n", endless, ""));
    stream("pings", CLAUDE, made(start, "event: ping\ndata: {\"type\":\"ping\"}\n\n", endless, ""));
    stream("unknown events before the start", CLAUDE, made("", "data: {\"type\":\"x\"}\n\n", endless, ""));
    stream("unknown events behind the start", CLAUDE, made(start, "data: {\"type\":\"x\"}\n\n", endless, ""));
    stream("empty objects", CHAT, made("", "data: {}\n\n", endless, ""));
    stream(
        "usage without an end",
        CHAT,
        made("", "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n", endless, ""),
    );
    let delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}\n\n";
    stream("words", CLAUDE, made(&open, delta, endless, ""));
    let chat = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    stream("letters", CHAT, made("", chat, endless, ""));
    let call = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}]}}]}\n\n";
    stream("arguments", CHAT, made("", call, endless, ""));
    let gemini =
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"t\",\"args\":{}}}]}}]}\n\n";
    stream("calls", GEMINI, made("", gemini, endless, ""));
    let image = format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"inlineData\":{{\"mimeType\":\"image/png\",\"data\":\"{}\"}}}}]}}}}]}}\n\n",
        "A".repeat(200_000)
    );
    stream("images", GEMINI, made("", &image, endless, ""));
    stream("a whole answer", CHAT, made("{\"choices\":[{\"message\":{\"content\":\"", "a", endless, ""));
    let item = "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"x\"}}\n\n";
    stream("items", RESPONSES, made("", item, endless, ""));
    let packed = made(&open, delta, endless, "").packed();
    let headers = vec![("content-type", "text/event-stream"), ("content-encoding", "gzip")];
    let client = client(Hostile { status: 200, headers, body: packed });
    let error = within("a stream that unpacks to very much", limits().body, || async move {
        client.model(CLAUDE).unwrap().stream("Hi").await.unwrap().finish().await.unwrap_err()
    });
    assert_eq!(error.to_string(), "anthropic: the answer decompresses to more than 100 times its size");
}

#[test]
fn failures_lists_counts_and_vectors() {
    let (tiny, long) = (made("{\"error\":{\"message\":[", "1,", 40 << 20, ""), made("", "a", 40 << 20, ""));
    for (case, body) in [("tiny values", tiny.clone()), ("a long text", long.clone())] {
        for (status, packed) in [(400, false), (500, true)] {
            let headers = if packed { vec![("content-encoding", "gzip")] } else { vec![] };
            let body = if packed { body.packed() } else { body.clone() };
            let client = client(Hostile { status, headers, body });
            within(&format!("a failure with {case}"), limits().body, || async move {
                client.model(CLAUDE).unwrap().ask("Hi").await.unwrap_err()
            });
        }
    }
    let lists = [
        ("tiny models", made("{\"data\":[", "{\"id\":\"a\"},", 7 << 19, "{\"id\":\"a\"}]}")),
        (
            "a list in pages",
            made("{\"has_more\":true,\"last_id\":\"x\",\"data\":[", "{\"id\":\"a\"},", 300 << 10, "{\"id\":\"a\"}]}"),
        ),
        ("tiny values", tiny),
        ("a long text", long),
    ];
    for (case, body) in lists {
        let client = Arc::new(client(Hostile { status: 200, headers: vec![], body }));
        let listing = Arc::clone(&client);
        within(&format!("a list of models: {case}"), limits().body, || async move {
            drop(listing.models("anthropic").await)
        });
        within(&format!("a count: {case}"), limits().body, || async move {
            drop(client.model(CLAUDE).unwrap().count_tokens("Hi").await);
        });
    }
    let vectors = [
        ("one vector", made("{\"data\":[{\"embedding\":[", "1,", 7 << 19, "1]}]}")),
        ("many vectors", made("{\"data\":[", "{\"embedding\":[]},", 7 << 19, "{\"embedding\":[]}]}")),
        (
            "long vectors",
            made("{\"data\":[", &format!("{{\"embedding\":[{}1]}},", "1,".repeat(60_000)), 7 << 19, "{}]}"),
        ),
        ("tiny values", made("{\"x\":[", "1,", 7 << 19, "1],\"data\":[]}")),
    ];
    for (case, body) in vectors {
        let client = client(Hostile { status: 200, headers: vec![], body });
        within(&format!("vectors: {case}"), limits().body, || async move {
            drop(client.model("openai:text-embedding-3-small").unwrap().embed(["a"]).await);
        });
    }
}

#[test]
fn pictures_and_sounds() {
    const PAINTER: &str = "google:gemini-2.5-flash-image";
    let gemini = |kind: &str, unit: &str| {
        let beginning = format!(
            "{{\"candidates\":[{{\"finishReason\":\"STOP\",\"content\":{{\"parts\":[{{\"inlineData\":{{\"mimeType\":\"{kind}\",\"data\":\""
        );
        made(&beginning, unit, 7 << 19, "\"}}]}}]}")
    };
    let cases = [
        ("a picture", made("{\"data\":[{\"b64_json\":\"", "YWJj", 7 << 19, "\"}]}")),
        ("a picture in another alphabet", made("{\"data\":[{\"b64_json\":\"", "-_-_", 7 << 19, "\"}]}")),
        ("many pictures", made("{\"data\":[", "{\"b64_json\":\"YQ==\"},", 7 << 19, "{}]}")),
        ("many keys", made("{", "\"a\":1,", 7 << 19, "\"a\":1}")),
        ("a long failure", made("{\"error\":[", "1,", 100 << 10, "1]}")),
        ("addresses", made("{\"data\":[", "{\"url\":\"a\"},", 7 << 19, "{}]}")),
        ("tiny values", made("{\"x\":[", "1,", 7 << 19, "1],\"data\":[]}")),
        ("a long text", made("{\"text\":\"", "word ", 7 << 19, "\"}")),
        ("Gemini's picture", gemini("image/png", "YWJj")),
        ("Gemini's picture in another alphabet", gemini("image/png", "-_-_")),
        ("Gemini's sound", gemini("audio/L16;rate=24000", "YWJj")),
        ("something else", made("", "abc ", 7 << 19, "")),
    ];
    for (case, body) in cases {
        let client = Arc::new(client(Hostile { status: 200, headers: vec![], body }));
        for name in ["openai:gpt-image-2", "google:imagen-4", PAINTER] {
            let client = Arc::clone(&client);
            within(&format!("{name} draws: {case}"), limits().body, || async move {
                drop(client.model(name).unwrap().draw("a fox").await);
            });
        }
        for name in ["openai:gpt-4o-mini-tts", PAINTER] {
            let client = Arc::clone(&client);
            within(&format!("{name} speaks: {case}"), limits().body, || async move {
                drop(client.model(name).unwrap().speak("Hi").await);
            });
        }
        for name in ["openai:whisper-1", PAINTER] {
            let client = Arc::clone(&client);
            within(&format!("{name} listens: {case}"), limits().body, || async move {
                drop(client.model(name).unwrap().transcribe((*b"RIFF", "audio/wav")).await);
            });
        }
    }
}

#[test]
fn values_that_are_extracted() {
    let schema = serde_json::json!({"type": "object"});
    for size in [7 << 19, 100 << 10] {
        let text = made(
            r#"{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"{\"a\":["#,
            "1,",
            size,
            r#"1]}"}]}]}"#,
        );
        let client = client(Hostile { status: 200, headers: vec![], body: text });
        let schema = schema.clone();
        within(&format!("a value of {size} bytes"), limits().body, || async move {
            drop(client.model(RESPONSES).unwrap().extract_json(schema, "Hi").await);
        });
    }
}

/// Starts a server that sends a beginning and then one piece forever, or until nobody reads it.
fn raw(beginning: &'static str, piece: &'static str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let _ = std::io::Read::read(&mut stream, &mut request);
            let _ = stream.write_all(beginning.as_bytes());
            while !piece.is_empty() && stream.write_all(piece.as_bytes()).is_ok() {}
        }
    });
    url
}

#[test]
fn answers_that_are_not_even_http() {
    for (case, beginning, piece) in [
        ("headers without an end", "HTTP/1.1 200 OK\r\n", "x-a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n"),
        ("one header without an end", "HTTP/1.1 200 OK\r\nx-a: ", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"),
        ("interim answers without an end", "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"),
        ("a status line without an end", "HTTP/1.1 200 ", "OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO"),
        ("chunk extensions", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", "a=b;a=b;a=b;a=b;a=b;a=b;a=b"),
        (
            "trailers",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n",
            "x-a: bbbbbbbbbbbbbbbb\r\n",
        ),
        ("tiny chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\n \r\n"),
        ("a body of no length", "HTTP/1.1 200 OK\r\n\r\n", "                                        "),
        ("a length that is a lie", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n{}", ""),
        ("two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}", ""),
        ("a failure without an end", "HTTP/1.1 500 No\r\n\r\n", "                                        "),
    ] {
        let http = ikigai::transport::Http::builder().no_proxy().build().unwrap();
        ask_in_vain(case, http, raw(beginning, piece), std::time::Duration::from_secs(2));
    }
}

/// Asks a server that gives no good answer, whole and streamed: both fail in time, and within the limit on memory.
fn ask_in_vain(case: &str, http: ikigai::transport::Http, url: String, total: std::time::Duration) {
    let soon = std::time::Duration::from_millis(500);
    let timeouts = ikigai::transport::Timeouts::default().head(soon).first_event(soon).idle(soon);
    let client = Client::builder()
        .transport(http)
        .key("anthropic", "sk-something-secret")
        .base_url("anthropic", url)
        .retry(Retry::never())
        .limits(limits())
        .timeouts(timeouts.total(total))
        .build()
        .unwrap();
    within(case, limits().body, || async move {
        let model = client.model(CLAUDE).unwrap();
        let whole = model.ask("Hi").await.unwrap_err();
        let streamed = match model.stream("Hi").await {
            Ok(stream) => stream.finish().await.unwrap_err(),
            Err(error) => error,
        };
        println!("{case}: {whole}; {streamed}");
    });
}
