//! Malicious clients: what they hold on to, what they make the gateway do, and what they cannot reach.

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{House, KEY, question, to};

const CHAT: ikigai::Dialect = ikigai::Dialect::ALL[1];

/// How HTTP/2 begins, with empty settings.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

async fn connected(house: &House, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(house.gateway.address()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// Reads until the other end closes; panics if it does not.
async fn closed(mut stream: TcpStream, case: &str) -> Vec<u8> {
    let mut read = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut read)).await;
    assert!(ended.is_ok(), "{case}: the connection stays open: {:?}", String::from_utf8_lossy(&read));
    read
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_on_which_nothing_comes_is_given_up() {
    let house = House::new("timeouts.head = 0.5").await;
    let mut silent = Vec::new();
    for (case, bytes) in [
        ("nothing", &b""[..]),
        ("one byte that both versions begin with", b"P"),
        ("half of what HTTP/2 begins with", b"PRI * HTTP/2.0\r\n"),
        ("HTTP/2 that asks for nothing and answers no ping", PREFACE),
    ] {
        silent.push((case, connected(&house, bytes).await));
    }
    for (case, stream) in silent {
        closed(stream, case).await;
    }
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Headers without compression.
fn fields(pairs: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    pairs.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}

/// A request on a stream of HTTP/2.
fn request(stream: u32, (path, body): &(String, serde_json::Value)) -> Vec<u8> {
    let key = format!("Bearer {KEY}");
    let head = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path.as_str()),
        (":authority", "x"),
        ("authorization", &key),
        ("content-type", "application/json"),
    ];
    [frame(1, 4, stream, &fields(&head)), frame(0, 1, stream, body.to_string().as_bytes())].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_not_kept_for_a_client_whose_window_stays_closed() {
    for window in [0_u32, 1] {
        for streams in [false, true] {
            let house = House::new("timeouts.write = 0.5\ntimeouts.head = 60.0").await;
            // Settings with a window that holds nothing, or almost nothing; no ping has to be answered for a minute.
            let settings = frame(4, 0, 0, &[&[0, 4][..], &window.to_be_bytes()].concat());
            let asked = request(1, &question(CHAT, &to(CHAT), "Hello", streams));
            let preface = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &settings, &frame(4, 1, 0, b""), &asked].concat();
            let stream = connected(&house, &preface).await;
            let read = closed(stream, &format!("a window of {window}, streams: {streams}")).await;
            assert!(!read.is_empty());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_no_model_has_is_refused_and_not_kept() {
    let house = House::with("[models.\"any-*\"]\ntargets = [\"sim:claude-sonnet-4-5\"]").await;
    for (length, status) in [(2000, 200), (3000, 400), (3_000_000, 400)] {
        let model = format!("any-{}", "x".repeat(length));
        let answer =
            house.post(&question(CHAT, &model, "Hello", false).0, &question(CHAT, &model, "Hello", false).1).await;
        assert_eq!(answer.status, status, "{length}");
        assert!(answer.body.len() < 10_000, "{length}: the error is as long as the name");
    }
    let path = format!("/v1/models/any-{}", "x".repeat(3000));
    let answer = house.send("GET", &path, &[("authorization", &format!("Bearer {KEY}"))], "").await;
    assert_eq!(answer.status, 400, "{}", answer.text());
}

/// A provider that answers everything with these bytes.
pub(crate) async fn provider(answer: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut read = vec![0; 64 << 10];
                let _ = stream.read(&mut read).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    url
}

const SITE: &str = "access-control-allow-origin: *\r\naccess-control-allow-credentials: true\r\nalt-svc: h3=\":1\"\r\n\
    strict-transport-security: max-age=1\r\nclear-site-data: \"*\"\r\nset-cookie: a=b\r\nx-ikigai-losses: none\r\nx-mine: kept\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_says_about_its_own_site_is_not_said_about_ours() {
    let whole = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
    let stream = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let error = r#"{"error":{"message":"no","type":"invalid_request_error"}}"#;
    for (status, kind, body, streams) in [
        ("200 OK", "application/json", whole, false),
        ("200 OK", "text/event-stream", stream, true),
        ("400 Bad Request", "application/json", error, false),
    ] {
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{SITE}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let url = provider(answer.leak()).await;
        let house = House::with(&format!("[providers.mine]\nbase_url = \"{url}\"\nauth = \"none\"")).await;
        let (path, body) = question(CHAT, "mine:m", "Hello", streams);
        let answer = house.post(&path, &body).await;
        assert_eq!(
            (answer.status.to_string().as_str(), answer.header("x-mine")),
            (&status[..3], "kept"),
            "{}",
            answer.text()
        );
        let told: Vec<&str> = answer.headers.keys().map(http::HeaderName::as_str).collect();
        for name in SITE.lines().filter_map(|line| line.split(':').next()).filter(|name| *name != "x-mine") {
            assert!(!told.contains(&name), "{status}: {name} of {told:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_an_unknown_origin_cannot_use_an_open_gateway() {
    let sim = ikigai_sim::Sim::start().await.unwrap();
    let environment = crate::support::environment();
    let text = format!(
        "listen = \"127.0.0.1:0\"\nauth.mode = \"open\"\ncors.origins = [\"https://app.example\"]\n{}",
        crate::support::models()
    );
    let config = ikigai_gateway::Config::read("test.toml", &text, &environment).unwrap();
    let setup = ikigai_gateway::Setup::new(environment).unwrap().simulator(sim.url());
    let gateway = ikigai_gateway::Gateway::start(config, setup).await.unwrap();
    let (path, body) = question(CHAT, &to(CHAT), "Hello", false);
    let body = body.to_string();
    for (origin, status) in [
        ("", 200),
        ("origin: https://app.example\r\n", 200),
        ("origin: https://evil.example\r\n", 403),
        ("origin: null\r\n", 403),
    ] {
        // A page can send a body without a type, and the browser does not ask first.
        let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\n{origin}connection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await.unwrap();
        let answer = String::from_utf8(closed(stream, origin).await).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{origin}: {answer}");
    }
    assert_eq!(sim.requests().len(), 2);
    // A page whose name was made to point to this machine reads from its own host, without an origin.
    for (site, status) in [("same-origin", 403), ("cross-site", 403), ("none", 200)] {
        let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
        let head = format!(
            "GET /v1/models HTTP/1.1\r\nhost: evil.example\r\nsec-fetch-site: {site}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = String::from_utf8(closed(stream, site).await).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{site}: {answer}");
    }
}

/// What a proxy before the gateway and the gateway itself might read differently is refused, or read as one request.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_not_two() {
    let house = House::new("timeouts.body = 0.5").await;
    let (path, body) = question(CHAT, &to(CHAT), "Hello", false);
    let body = body.to_string();
    let (length, hex) = (body.len(), format!("{:x}", body.len()));
    let hidden = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    for (case, framing, payload) in [
        ("two lengths", format!("content-length: {length}\r\ncontent-length: 5\r\n"), body.clone()),
        ("a list of lengths", format!("content-length: {length}, 5\r\n"), body.clone()),
        ("a length with a sign", format!("content-length: +{length}\r\n"), body.clone()),
        ("a negative length", "content-length: -1\r\n".to_owned(), body.clone()),
        ("a length beyond numbers", "content-length: 18446744073709551616\r\n".to_owned(), body.clone()),
        ("a hexadecimal length", format!("content-length: 0x{hex}\r\n"), body.clone()),
        ("a folded header", format!("x-a: b\r\n content-length: 5\r\ncontent-length: {length}\r\n"), body.clone()),
        ("a space before the colon", format!("content-length : {length}\r\n"), body.clone()),
        ("a chunk with a sign", "transfer-encoding: chunked\r\n".to_owned(), format!("+{hex}\r\n{body}\r\n0\r\n\r\n")),
        ("a chunk with 0x", "transfer-encoding: chunked\r\n".to_owned(), format!("0x{hex}\r\n{body}\r\n0\r\n\r\n")),
        (
            "a chunk beyond numbers",
            "transfer-encoding: chunked\r\n".to_owned(),
            format!("fffffffffffffffff\r\n{body}\r\n0\r\n\r\n"),
        ),
        (
            "two codings",
            "transfer-encoding: chunked, identity\r\n".to_owned(),
            format!("{hex}\r\n{body}\r\n0\r\n\r\n{hidden}"),
        ),
        (
            "chunked twice",
            "transfer-encoding: xchunked\r\n".to_owned(),
            format!("{hex}\r\n{body}\r\n0\r\n\r\n{hidden}"),
        ),
    ] {
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n{framing}\r\n{payload}");
        let answer = String::from_utf8(closed(connected(&house, head.as_bytes()).await, case).await).unwrap();
        assert!(answer.starts_with("HTTP/1.1 4") || answer.is_empty(), "{case}: {answer}");
        assert!(!answer.contains("\"ok\""), "{case}: what is inside a request was answered: {answer}");
    }
    assert_eq!(house.sim.requests().len(), 0);
    // Both a length and chunks: the chunks count, and nothing follows on this connection.
    let both = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n\
         {hex}\r\n{body}\r\n0\r\n\r\n{hidden}"
    );
    let answer = String::from_utf8(closed(connected(&house, both.as_bytes()).await, "both").await).unwrap();
    assert!(!answer.contains("\"ok\""), "{answer}");
}

/// Nothing that a client writes leads anywhere but to the configured address, or gets there as a key.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_chooses_neither_host_nor_path_nor_key() {
    let house = House::new("").await;
    let (path, body) = question(CHAT, &to(CHAT), "Hello", false);
    for target in [
        "http://evil.example/v1/chat/completions",
        "//evil.example/v1/chat/completions",
        "/v1/chat/completions#@evil.example/",
        "/v1/chat/completions/../../../etc/passwd",
        "/v1/../v1/chat/completions",
    ] {
        let body = body.to_string();
        let head = format!(
            "POST {target} HTTP/1.1\r\nhost: evil.example\r\nx-forwarded-host: evil.example\r\nforwarded: host=evil.example\r\n\
             authorization: Bearer {KEY}\r\nx-api-key: theirs-x-api-key\r\napi-key: theirs-api-key\r\ncookie: theirs-cookie\r\n\
             x-goog-api-key: theirs-goog-key\r\ncf-access-client-secret: theirs-secret\r\nx-auth-token: theirs-token\r\n\
             x-forwarded-access-token: theirs-forwarded-token\r\nproxy-authorization: theirs-proxy-key\r\n\
             connection: close, x-api-key, authorization, content-type, anthropic-version\r\nte: trailers\r\nexpect: 100-continue\r\n\
             x-http-method-override: DELETE\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        closed(connected(&house, head.as_bytes()).await, target).await;
    }
    for query in [
        "key=theirs-in-query",
        "%6bey=theirs-in-query",
        "k%65y=theirs-in-query",
        "API_KEY=theirs-in-query",
        "Access_Token=theirs-in-query",
    ] {
        house.post(&format!("{path}?{query}"), &body).await;
    }
    let models = [
        "../../v1/files",
        "m?x=y",
        "m#f",
        "m/../../x",
        "%2e%2e/%2e%2e/x",
        "a@evil.example/x",
        "..",
        ".",
        "m\r\nx-evil: 1",
        "\u{202e}m",
        "m:generateContent/../../x",
    ];
    for model in models {
        for dialect in ikigai::Dialect::ALL {
            let (path, body) = question(CHAT, &format!("sim:{model}"), "Hello", false);
            house.post(&path, &body).await;
            let escaped: String = format!("sim:{model}").bytes().map(|byte| format!("%{byte:02x}")).collect();
            let (path, mut body) =
                question(dialect, if dialect == ikigai::Dialect::ALL[3] { &escaped } else { "x" }, "Hello", false);
            if dialect != ikigai::Dialect::ALL[3] {
                body["model"] = json!(format!("sim:{model}"));
            }
            house.post(&path, &body).await;
        }
    }
    let allowed = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];
    let received = house.sim.requests();
    assert!(!received.is_empty());
    for request in received {
        let path = request.path.split('?').next().unwrap_or_default();
        let is_gemini = path
            .strip_prefix("/v1beta/models/")
            .is_some_and(|rest| !rest.contains('/') && rest.ends_with(":generateContent"));
        assert!(allowed.contains(&path) || is_gemini, "{}", request.path);
        let told = format!("{} {:?}", request.path, request.headers);
        for word in ["theirs", "evil.example\"", KEY] {
            assert!(!told.contains(word), "{word}: {told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_is_no_answer_is_not_one_for_the_client_either() {
    for (status, kept) in [("101 Switching Protocols", 502), ("999 Go Away", 502), ("308 Moved", 400)] {
        let far = "x".repeat(100_000);
        let head =
            format!("upgrade: x\r\nlocation: http://evil.example/{far}\r\ncontent-length: 0\r\nconnection: close");
        let url = provider(format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n").leak()).await;
        let house = House::with(&format!("[providers.mine]\nbase_url = \"{url}\"\nauth = \"none\"")).await;
        let (path, body) = question(CHAT, "mine:m", "Hello", false);
        let answer = house.post(&path, &body).await;
        assert_eq!(answer.status, kept, "{status}: {}", answer.text());
        assert!(answer.body.len() < 1000, "{status}: {} bytes", answer.body.len());
    }
}

/// Without a status, clients would send the request again.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_at_once_has_a_status() {
    for (answer, status, body) in [
        ("HTTP/1.1 204 No Content\r\n\r\n", 502, "cannot be read"),
        ("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 0\r\n\r\n", 502, "cannot be read"),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n{\"id\":\"c",
            200,
            "{\"id\":\"c",
        ),
    ] {
        let url = provider(answer).await;
        let house = House::with(&format!("[providers.mine]\nbase_url = \"{url}\"\nauth = \"none\"")).await;
        let (path, asked) = question(CHAT, "mine:m", "Hello", true);
        let told = house.post(&path, &asked).await;
        assert_eq!((told.status, told.broken), (status, status == 200), "{answer}: {}", told.text());
        assert!(told.text().contains(body), "{answer}: {}", told.text());
    }
}

/// Clients that read on after the end would take a complete answer for a failed one.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_after_the_end_of_an_answer_does_not_break_the_answer() {
    let stream = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    // The last chunk is missing.
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let url = provider(format!("{head}{:x}\r\n{stream}\r\n", stream.len()).leak()).await;
    let house = House::with(&format!("[providers.mine]\nbase_url = \"{url}\"\nauth = \"none\"")).await;
    let (path, body) = question(CHAT, "mine:m", "Hello", true);
    let answer = house.post(&path, &body).await;
    assert_eq!((answer.text(), answer.broken), (stream.to_owned(), false));
}
