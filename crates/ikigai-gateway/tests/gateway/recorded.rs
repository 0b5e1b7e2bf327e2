//! Pass-through is exact: every recorded exchange goes through the gateway byte for byte, except for the model's name.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use ikigai::Dialect;
use ikigai_core::server::{Delivery, Edit, Envelope, Watch};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{House, models};

/// Recorded exchanges, or our own if there are none.
fn exchanges() -> Vec<Value> {
    let folder = match std::env::var("IKIGAI_RECORDINGS") {
        Ok(folder) if folder == "none" => return own(),
        Ok(folder) => PathBuf::from(folder),
        Err(_) => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings"),
    };
    let mut exchanges = own();
    for dialect in Dialect::ALL {
        let Ok(files) = std::fs::read_dir(folder.join(dialect.as_str())) else { continue };
        for file in files {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            exchanges.push(serde_json::from_str(&text).unwrap());
        }
    }
    exchanges
}

/// Exchanges with unknown fields, in an unusual order.
fn own() -> Vec<Value> {
    let exchange = |dialect: &str, path: &str, body: Value, answer: Value| {
        json!({"id": dialect, "dialect": dialect, "request": {"path": path, "body": body},
               "response": {"status": 200, "content_type": "application/json", "body": answer}})
    };
    vec![
        exchange(
            "anthropic",
            "/v1/messages",
            json!({"zzz": [1, 2.0, 1e5], "messages": [{"role": "user", "content": "Hi"}], "model": "claude-x", "max_tokens": 5}),
            json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "new": {"field": 1.50},
                   "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}),
        ),
        exchange(
            "openai-chat",
            "/v1/chat/completions",
            json!({"unknown": null, "model": "gpt-x", "messages": [{"role": "user", "content": "Hi", "name": "\u{1F600}"}]}),
            json!({"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-x", "future": true,
                   "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}),
        ),
    ]
}

/// What the provider should answer next, and what it was asked.
#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<(u16, String, Bytes)>>,
    asked: Mutex<Option<(String, Bytes)>>,
}

/// A provider that answers as told.
async fn provider(script: Arc<Script>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let script = Arc::clone(&script);
            let service = service_fn(move |request| serve(Arc::clone(&script), request));
            let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    format!("http://{address}")
}

async fn serve(script: Arc<Script>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().to_string();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    *script.asked.lock().unwrap() = Some((path, body));
    let (status, media_type, body) = script.answers.lock().unwrap().pop_front().unwrap();
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status.try_into().unwrap();
    response.headers_mut().insert("content-type", media_type.parse().unwrap());
    Ok(response)
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "how much was compared is worth knowing with --no-capture")]
async fn every_recorded_exchange_passes_through_byte_for_byte() {
    let script = Arc::new(Script::default());
    let url = provider(Arc::clone(&script)).await;
    let row = |id: &str, dialect: Dialect| {
        format!("[providers.{id}]\nbase_url = \"{url}\"\ndialect = \"{dialect}\"\nauth = \"none\"\n")
    };
    let rows = Dialect::ALL.map(|dialect| row(&format!("p-{dialect}"), dialect)).concat();
    let house = House::with(&format!("attempts = 1\n{rows}{}", models())).await;
    let (mut passed, mut broken, mut wrong) = (0, Vec::new(), Vec::new());
    for exchange in exchanges() {
        let id = exchange["id"].as_str().unwrap().to_owned();
        let dialect: Dialect = exchange["dialect"].as_str().unwrap().parse().unwrap();
        let (request, response) = (&exchange["request"], &exchange["response"]);
        let Some((path, target)) = target(dialect, request) else { continue };
        let (media_type, answer) = match (response["sse"].as_str(), &response["body"]) {
            (Some(events), _) => ("text/event-stream", Bytes::from(events.to_owned())),
            (None, body) if !body.is_null() => ("application/json", Bytes::from(body.to_string())),
            _ => continue,
        };
        let status = u16::try_from(response["status"].as_u64().unwrap_or(200)).unwrap();
        // A client must not follow redirects.
        if !(200..300).contains(&status) && status < 400 {
            continue;
        }
        script.answers.lock().unwrap().push_back((status, media_type.to_owned(), answer.clone()));
        let sent = target.body.clone();
        let bearer = format!("Bearer {}", crate::support::KEY);
        let got = house.send("POST", &path, &[("authorization", &bearer)], sent).await;
        let Some((_, received)) = script.asked.lock().unwrap().take() else {
            wrong.push(format!("{id}: nothing was sent: {} {}", got.status, got.text()));
            script.answers.lock().unwrap().clear();
            continue;
        };
        if received != target.expected(&received) {
            wrong.push(format!("{id}: the request changed"));
        }
        let streams = media_type == "text/event-stream";
        if got.status == status && got.body == answer {
            passed += 1;
        } else if status == 200 && !is_complete(dialect, &answer, streams) {
            // Some recordings are cut off, and the client is told so.
            broken.push(id);
        } else {
            wrong.push(format!("{id}: {} {}\n   for {}", got.status, got.text(), String::from_utf8_lossy(&answer)));
        }
    }
    let shown: Vec<String> = wrong.iter().take(5).map(|one| one.chars().take(600).collect()).collect();
    assert_eq!(shown, Vec::<String>::new(), "{} differ, {passed} pass", wrong.len());
    assert!(passed >= 2);
    println!("{passed} exchanges pass through; {} recordings are not complete themselves: {broken:?}", broken.len());
}

fn is_complete(dialect: Dialect, answer: &[u8], streams: bool) -> bool {
    let mut watch = Watch::new(dialect, if streams { Delivery::Stream } else { Delivery::Whole });
    watch.feed(answer);
    let seen = watch.finish();
    seen.ended || seen.error.is_some()
}

/// A request as it is sent to the gateway, for a model of its dialect's provider.
struct Target {
    body: Bytes,
    original: Bytes,
    in_body: bool,
}

impl Target {
    /// What the provider should receive. The catalogue may have the model under another name.
    fn expected(&self, received: &Bytes) -> Bytes {
        if !self.in_body {
            return self.original.clone();
        }
        let model = Envelope::read(received).ok().and_then(|envelope| envelope.model()).unwrap_or_default();
        Envelope::read(&self.original).unwrap().with(&[("model", Edit::Text(&model))]).into()
    }
}

fn target(dialect: Dialect, request: &Value) -> Option<(String, Target)> {
    let path = request["path"].as_str()?;
    let original = Bytes::from(request["body"].as_object().map(|_| request["body"].to_string())?);
    let path = format!("/{}", path.trim_start_matches('/'));
    let endpoint = |path: &str| ikigai_core::server::Endpoint::of("POST", path, |_| false);
    match request["body"]["model"].as_str() {
        Some(model) if dialect.as_str() != "gemini" => {
            let own = match dialect.as_str() {
                "anthropic" => "/v1/messages",
                "openai-chat" => "/v1/chat/completions",
                _ => "/v1/responses",
            };
            // Only operations that write answers; recordings have others, too.
            path.ends_with(own.trim_start_matches("/v1")).then_some(())?;
            let edited =
                Envelope::read(&original).ok()?.with(&[("model", Edit::Text(&format!("p-{dialect}:{model}")))]);
            Some((own.to_owned(), Target { body: edited.into(), original, in_body: true }))
        }
        _ => {
            let endpoint = endpoint(&path)?;
            let model = endpoint.model.as_deref()?;
            let path = path.replacen(model, &format!("p-{dialect}:{model}"), 1);
            Some((path, Target { body: original.clone(), original, in_body: false }))
        }
    }
}
