//! Bedrock: signatures, and answers in frames.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use aws_smithy_types::str_bytes::StrBytes;
use base64::Engine as _;
use bytes::Bytes;
use hmac::{KeyInit as _, Mac as _};
use ikigai_core::{Dialect, ErrorKind};
use pretty_assertions::assert_eq;
use sha2::Digest as _;

use super::{client, whole};
use crate::Client;
use crate::testing::{Answer, Server, frames, says};

pub(super) const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const MODEL: &str = "bedrock:anthropic.claude-haiku-4-5-20251001-v1:0";

fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn escape(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Checks that the request is signed with Signature Version 4. Computed from the specification, not with the library.
pub(super) fn is_signed(request: &http::Request<Bytes>, region: &str) -> Result<(), String> {
    let header = |name: &str| {
        request.headers().get(name).and_then(|value| value.to_str().ok()).ok_or_else(|| format!("no {name}"))
    };
    let authorization = header("authorization")?;
    let rest = authorization.strip_prefix("AWS4-HMAC-SHA256 ").ok_or("another algorithm")?;
    let part = |name: &str| {
        rest.split(", ").find_map(|part| part.strip_prefix(&format!("{name}="))).ok_or_else(|| format!("no {name}"))
    };
    let date = header("x-amz-date")?;
    let day = &date[..8];
    let scope = format!("{day}/{region}/bedrock/aws4_request");
    let credential = part("Credential")?;
    if credential != format!("AKIDEXAMPLE/{scope}") {
        return Err(format!("the credential is {credential}"));
    }
    let names = part("SignedHeaders")?;
    for needed in ["host", "x-amz-date", "content-type"] {
        if !names.split(';').any(|name| name == needed) {
            return Err(format!("{needed} is not signed"));
        }
    }
    let mut headers = String::new();
    for name in names.split(';') {
        headers.push_str(&format!("{name}:{}\n", header(name)?.trim()));
    }
    // The path is escaped once more, as sent.
    let canonical = format!(
        "{}\n{}\n{}\n{headers}\n{names}\n{}",
        request.method(),
        escape(request.uri().path()),
        request.uri().query().unwrap_or_default(),
        hex(sha2::Sha256::digest(request.body()))
    );
    let to_sign = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", hex(sha2::Sha256::digest(canonical.as_bytes())));
    let key = [day, region, "bedrock", "aws4_request"]
        .iter()
        .fold(format!("AWS4{SECRET}").into_bytes(), |key, text| hmac(&key, text));
    let expected = hex(hmac(&key, &to_sign));
    let signature = part("Signature")?;
    if signature == expected { Ok(()) } else { Err(format!("{signature} is not {expected}\n{canonical}")) }
}

pub(super) fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let headers = headers
        .iter()
        .map(|(name, value)| Header::new((*name).to_owned(), HeaderValue::String(StrBytes::from((*value).to_owned()))));
    let message = Message::new_from_parts(headers.collect(), payload.to_owned());
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).unwrap();
    bytes
}

/// Returns a stream framed like Bedrock's.
fn framed() -> Vec<Vec<u8>> {
    let event = |sse: &Bytes| {
        let text = String::from_utf8(sse.to_vec()).unwrap();
        let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        let payload = |data: &str| {
            let bytes = base64::engine::general_purpose::STANDARD.encode(data);
            serde_json::json!({"bytes": bytes, "p": "abcdefg"}).to_string()
        };
        let headers = [(":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")];
        data.into_iter().flat_map(|data| frame(&headers, &payload(data))).collect::<Vec<u8>>()
    };
    frames(Dialect::Anthropic, &says("Hello.")).iter().map(event).collect()
}

fn throttled() -> Vec<u8> {
    let headers = [(":exception-type", "throttlingException"), (":message-type", "exception")];
    frame(&headers, r#"{"message": "Too many requests"}"#)
}

fn bedrock(request: &http::Request<Bytes>) -> Answer {
    if let Err(why) = is_signed(request, "eu-west-1") {
        let body = serde_json::json!({"message": format!("The request signature we calculated does not match: {why}")});
        return Answer::new(403, body.to_string()).header("x-amzn-errortype", "InvalidSignatureException:http://x/");
    }
    let body: serde_json::Value = serde_json::from_slice(request.body()).unwrap();
    if body["anthropic_version"] != "bedrock-2023-05-31" || body.get("model").is_some() {
        return Answer::new(400, r#"{"message": "Malformed input request"}"#);
    }
    let said = body["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
    match request.uri().path() {
        "/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke" => Answer::ok(whole(Dialect::Anthropic)),
        "/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke-with-response-stream" => {
            let mut frames = framed();
            match said.as_str() {
                "throttle" => frames.insert(3, throttled()),
                "throttle first" => frames.insert(0, throttled()),
                "cut" => {
                    frames.truncate(4);
                    frames[3].truncate(20);
                }
                "damage" => frames[3][30] ^= 1,
                _ => {}
            }
            Answer::ok(frames.concat()).header("content-type", "application/vnd.amazon.eventstream")
        }
        other => Answer::new(404, format!(r#"{{"message": "no {other}"}}"#)),
    }
}

async fn start() -> (Server, Client) {
    let server = Server::start(bedrock).await;
    let client = client(&[
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", "a/session+token=="),
        ("AWS_REGION", "eu-west-1"),
        ("BEDROCK_BASE_URL", &server.url()),
    ]);
    (server, client)
}

#[tokio::test]
async fn requests_are_signed_and_answers_come() {
    let (server, client) = start().await;
    assert_eq!(client.ask(MODEL, "Hi").await.unwrap().text(), "Hello.");
    let request = server.requests().await.remove(0);
    assert_eq!(request.headers()["x-amz-security-token"], "a/session+token==");
}

#[tokio::test]
async fn streams_come_out_of_their_frames() {
    let (_server, client) = start().await;
    let mut stream = client.model(MODEL).unwrap().stream("Hi").await.unwrap();
    assert_eq!(stream.text().await.unwrap().as_deref(), Some("Hello."));
    let answer = stream.finish().await.unwrap();
    assert_eq!(answer.usage().unwrap().total_tokens(), 15);
}

#[tokio::test]
async fn failures_in_frames_are_failures() {
    let (_server, client) = start().await;
    let model = client.model(MODEL).unwrap();
    let error = model.stream("throttle first").await.unwrap_err();
    assert_eq!((error.kind(), error.excerpt()), (ErrorKind::RateLimit, Some("Too many requests")));
    for (said, kind) in
        [("throttle", ErrorKind::RateLimit), ("cut", ErrorKind::Network), ("damage", ErrorKind::Network)]
    {
        let error = match model.stream(said).await {
            Err(error) => error,
            Ok(stream) => stream.finish().await.unwrap_err(),
        };
        assert_eq!(error.kind(), kind, "{said}: {error}");
    }
}

#[tokio::test]
async fn a_wrong_secret_is_refused_and_a_token_goes_before_signing() {
    let server = Server::start(bedrock).await;
    let wrong = client(&[
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "another"),
        ("AWS_REGION", "eu-west-1"),
        ("BEDROCK_BASE_URL", &server.url()),
    ]);
    let error = wrong.ask(MODEL, "Hi").await.unwrap_err();
    assert_eq!(error.status(), Some(403), "{error}");

    let server = Server::start(|request| match request.headers().get("authorization") {
        Some(value) if value == "Bearer bedrock-api-key-1" => Answer::ok(whole(Dialect::Anthropic)),
        _ => Answer::new(403, "{}"),
    })
    .await;
    let client = client(&[("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-1"), ("BEDROCK_BASE_URL", &server.url())]);
    assert_eq!(client.ask(MODEL, "Hi").await.unwrap().text(), "Hello.");
}

#[tokio::test]
async fn without_any_key_the_way_out_is_told() {
    let error = client(&[]).ask(MODEL, "Hi").await.unwrap_err();
    assert!(error.to_string().contains("set AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID"), "{error}");
}

/// Repeats every header of the request in its answer.
pub(super) fn repeats(request: &http::Request<Bytes>) -> Answer {
    let headers: Vec<&str> = request.headers().values().filter_map(|value| value.to_str().ok()).collect();
    Answer::new(403, serde_json::json!({"message": headers.join(" | ")}).to_string())
}

#[tokio::test]
async fn signatures_and_session_tokens_are_in_no_error() {
    let server = Server::start(repeats).await;
    let client = client(&[
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", "a/session+token=="),
        ("BEDROCK_BASE_URL", &server.url()),
    ]);
    let error = client.ask(MODEL, "Hi").await.unwrap_err();
    let sent = server.requests().await.remove(0);
    let signature = sent.headers()["authorization"].to_str().unwrap().rsplit_once("Signature=").unwrap().1.to_owned();
    let body = String::from_utf8(error.response().unwrap().body.to_vec()).unwrap();
    let shown = format!("{error} {error:#?} {body}");
    assert!(shown.contains("[key]") && body.contains("application/json"), "{shown}");
    assert!(!shown.contains(&signature) && !shown.contains("session"), "{shown}");
}

#[tokio::test]
async fn bytes_that_pass_through_are_signed_and_come_out_of_their_frames() {
    let (_server, client) = start().await;
    let upstream = client.upstream(MODEL).unwrap();
    let path = "/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke-with-response-stream";
    let body = Bytes::from(r#"{"anthropic_version":"bedrock-2023-05-31","messages":[{"role":"user","content":"Hi"}]}"#);
    let exchange = upstream.send(path, &http::HeaderMap::new(), body, crate::Wanted::Stream).await.unwrap();
    assert_eq!(exchange.headers["content-type"], "text/event-stream");
    let data = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("data: ")).map(str::to_owned).collect()
    };
    let sent = String::from_utf8(frames(Dialect::Anthropic, &says("Hello.")).concat()).unwrap();
    let came = String::from_utf8(exchange.bytes().await.unwrap().to_vec()).unwrap();
    assert_eq!(data(&came), data(&sent));
}

#[tokio::test]
async fn the_file_of_key_pairs_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials");
    let keys = format!("[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = {SECRET}\n");
    std::fs::write(&file, keys).unwrap();
    let server = Server::start(bedrock).await;
    let variables = [
        ("AWS_SHARED_CREDENTIALS_FILE", file.to_str().unwrap()),
        ("AWS_REGION", "eu-west-1"),
        ("BEDROCK_BASE_URL", &server.url()),
    ];
    let old = client(&variables);
    for provider in ["bedrock", "bedrock-converse"] {
        let found = old.key_of(provider).unwrap().unwrap();
        assert_eq!(found.from, crate::config::KeySource::File(file.clone()), "{provider}");
    }
    assert_eq!(old.ask(MODEL, "Hi").await.unwrap().text(), "Hello.");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(old.ask(MODEL, "Hi").await.unwrap().text(), "Hello.");
    assert_eq!(client(&variables).ask(MODEL, "Hi").await.unwrap_err().kind(), ErrorKind::Auth);
}
