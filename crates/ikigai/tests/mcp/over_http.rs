//! Servers at a URL.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use ikigai::ErrorKind;
use ikigai::mcp::{Connection, Server};
use ikigai::transport::Http;
use pretty_assertions::assert_eq;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::server::TestServer;
use crate::support::{call, names, text};

const KEY: &str = "very-secret-key";

/// A server that requires a key. Dropping it closes every connection.
struct Remote {
    port: u16,
    /// The values of a header that clients may send.
    seen: Arc<Mutex<Vec<Option<String>>>>,
    running: tokio::task::JoinSet<()>,
}

impl Remote {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = TestServer::default();
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let seen: Arc<Mutex<Vec<Option<String>>>> = Arc::default();
        let log = Arc::clone(&seen);
        let mut running = tokio::task::JoinSet::new();
        running.spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (service, log) = (service.clone(), Arc::clone(&log));
                let answer = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                    let (service, log) = (service.clone(), Arc::clone(&log));
                    async move {
                        let header =
                            |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
                        log.lock().unwrap().push(header("x-team"));
                        let empty = |status: u16| {
                            let body = http_body_util::Empty::new().boxed();
                            http::Response::builder().status(status).body(body).unwrap()
                        };
                        if request.uri().path() == "/moved" {
                            let mut response = empty(307);
                            response.headers_mut().insert("location", "/mcp".parse().unwrap());
                            return Ok::<_, Infallible>(response);
                        }
                        if request.uri().path() == "/away" {
                            let mut response = empty(307);
                            let elsewhere = header("host").unwrap().replace("127.0.0.1", "http://localhost") + "/mcp";
                            response.headers_mut().insert("location", elsewhere.parse().unwrap());
                            return Ok(response);
                        }
                        if request.uri().path() != "/mcp" {
                            return Ok(empty(404));
                        }
                        if header("authorization") != Some(format!("Bearer {KEY}")) {
                            return Ok(empty(401));
                        }
                        Ok(service.handle(request).await)
                    }
                });
                connections.spawn(async move {
                    let builder = auto::Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        Remote { port, seen, running }
    }

    fn server(&self, path: &str) -> Server {
        Server::url(format!("http://127.0.0.1:{}{path}", self.port)).http(Http::builder().no_proxy())
    }

    async fn connect(&self) -> Connection {
        self.server("/mcp").bearer(KEY).header("x-team", "blue-as-the-sky").name("web").connect().await.unwrap()
    }
}

#[tokio::test]
async fn a_model_uses_the_tools_of_a_server_at_an_address() {
    let remote = Remote::start().await;
    let server = remote.connect().await;
    let tools = server.tools().await.unwrap();
    assert_eq!((names(&tools).len(), names(&tools)[0]), (10, "web__echo"));
    assert_eq!(text(&call(&tools, "web__echo with text=\"hello\"").await), "hello");
    assert_eq!(server.instructions().as_deref(), Some("Use echo first."));
    let seen = remote.seen.lock().unwrap().clone();
    assert!(seen.len() >= 4 && seen.iter().all(|team| team.as_deref() == Some("blue-as-the-sky")), "{seen:?}");
    assert!(!format!("{server:?}").contains(KEY));
}

#[tokio::test]
async fn changes_of_the_list_are_told_over_http_too() {
    let remote = Remote::start().await;
    let mut server = remote.connect().await;
    let tools = server.tools().await.unwrap();
    assert_eq!(text(&call(&tools, "web__grow").await), "grown");
    assert!(tokio::time::timeout(Duration::from_secs(10), server.changed()).await.unwrap());
    assert_eq!(names(&server.tools().await.unwrap()).len(), 11);
}

#[tokio::test]
async fn without_the_key_the_way_out_is_told() {
    let remote = Remote::start().await;
    for server in [remote.server("/mcp"), remote.server("/mcp").bearer("another-secret-key")] {
        let error = server.connect().await.unwrap_err();
        let told = error.to_string();
        assert!(told.ends_with("needs a valid key; set one with `bearer` or `header`"), "{told}");
        assert_eq!(error.kind(), ErrorKind::Auth);
        assert!(!format!("{error:#?}").contains("another-secret"));
    }
}

#[tokio::test]
async fn an_address_where_nobody_speaks_mcp_is_an_error() {
    let remote = Remote::start().await;
    let error = remote.server("/elsewhere?key=query-secret").connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    let port = remote.port;
    let expected =
        format!("the MCP server `http://127.0.0.1:{port}/elsewhere` was not found: nothing at this address speaks MCP");
    assert_eq!(error.to_string(), expected);
    drop(remote);
    let gone = Server::url(format!("http://127.0.0.1:{port}/mcp?key=query-secret")).http(Http::builder().no_proxy());
    let error = gone.connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network, "{error}");
    assert!(error.to_string().contains("cannot be reached: "), "{error}");
    assert!(!format!("{error} {error:#?}").contains("query-secret"), "{error:#?}");
    let error = Server::url("example.org/mcp").connect().await.unwrap_err();
    assert!(error.to_string().ends_with("needs an address that begins with https:// or http://"), "{error}");
    let error = Server::url("http://localhost/mcp").header("no header", "x").connect().await.unwrap_err();
    assert!(
        error.to_string().ends_with("cannot be used with the header `no header`: that is not a valid header name"),
        "{error}"
    );
}

#[tokio::test]
async fn a_redirect_on_the_same_host_is_followed() {
    let remote = Remote::start().await;
    let server = remote.server("/moved").bearer(KEY).connect().await.unwrap();
    assert_eq!(server.tools().await.unwrap().len(), 10);
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed_with_the_key() {
    let remote = Remote::start().await;
    let error = remote.server("/away").bearer(KEY).connect().await.unwrap_err();
    assert_eq!((error.kind(), remote.seen.lock().unwrap().len()), (ErrorKind::InvalidRequest, 1), "{error}");
    assert!(error.to_string().ends_with("has moved to another host (status 307); use the new address"), "{error}");
}

#[tokio::test]
async fn a_server_that_goes_away_in_a_call_is_an_error_and_no_hang() {
    let mut remote = Remote::start().await;
    let tools = remote.connect().await.tools().await.unwrap();
    let going = tools.clone();
    let hung = tokio::spawn(async move { call(&going, "web__hang").await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    remote.running.shutdown().await;
    let hung = hung.await.unwrap();
    assert!(hung.is_error, "{hung:?}");
    let told = text(&hung);
    assert!(told.starts_with("the MCP server `web` "), "{told}");
    let after = call(&tools, "web__echo with text=\"hello\"").await;
    assert!(after.is_error && text(&after).contains("the MCP server `web`"), "{after:?}");
}

/// Starts a server that answers every request in the same way.
async fn answering(
    headers: &'static [(&'static str, &'static str)],
    body: impl Fn() -> Vec<u8> + Send + Sync + 'static,
) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let body = Arc::new(body);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let body = Arc::clone(&body);
            let answer = service_fn(move |_: http::Request<hyper::body::Incoming>| {
                let mut response = http::Response::new(http_body_util::Full::new(bytes::Bytes::from(body())));
                for (name, value) in headers {
                    response.headers_mut().insert(*name, value.parse().unwrap());
                }
                async move { Ok::<_, Infallible>(response) }
            });
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    Server::url(format!("http://127.0.0.1:{port}/mcp")).http(Http::builder().no_proxy()).name("web")
}

#[tokio::test]
async fn replies_have_limits() {
    let reply = |middle: &str, times: usize| {
        format!(r#"{{"jsonrpc":"2.0","id":0,"result":{{"x":[{}1]}}}}"#, middle.repeat(times)).into_bytes()
    };
    const JSON: &[(&str, &str)] = &[("content-type", "application/json")];
    const EVENTS: &[(&str, &str)] = &[("content-type", "text/event-stream")];
    const PACKED: &[(&str, &str)] = &[("content-type", "application/json"), ("content-encoding", "gzip")];
    let event = |body: Vec<u8>| [b"data: ", body.as_slice(), b"\n\n"].concat();
    let too_long = "it is longer than 16777216 bytes";
    for (case, server, words) in [
        (
            "long",
            answering(JSON, move || reply("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",", 400_000)).await,
            too_long,
        ),
        ("tiny values", answering(JSON, move || reply("1,", 600_000)).await, "the answer has more than 500000 values"),
        ("deep", answering(JSON, move || reply("[", 10_000)).await, "the answer is nested more than 512 levels deep"),
        ("packed", answering(PACKED, Vec::new).await, "it is compressed as `gzip`, which was not requested"),
        ("a long event", answering(EVENTS, move || event(vec![b'a'; 17 << 20])).await, ""),
        ("an event of tiny values", answering(EVENTS, move || event(reply("1,", 600_000))).await, ""),
    ] {
        let error = server.connect_timeout(Duration::from_secs(20)).connect().await.unwrap_err();
        assert!(error.to_string().contains(words), "{case}: {error}");
    }
}

/// A server whose stream of events ends as soon as it has begun, or breaks, and asks to be called again at once.
async fn streaming(breaks: bool) -> (Server, Arc<Mutex<Vec<std::time::Instant>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked: Arc<Mutex<Vec<std::time::Instant>>> = Arc::default();
    let log = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let log = Arc::clone(&log);
            let answer = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let log = Arc::clone(&log);
                async move {
                    let is_stream = request.method() == http::Method::GET;
                    let sent = request.into_body().collect().await.unwrap().to_bytes();
                    let asks = !is_stream && sent.windows(4).any(|word| word == b"\"id\"");
                    let (status, kind, body) = match (is_stream, asks) {
                        (true, _) => (200, "text/event-stream", "id: 1\nretry: 0\ndata: x\n\n"),
                        (false, true) => (
                            200,
                            "application/json",
                            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}"#,
                        ),
                        (false, false) => (202, "application/json", ""),
                    };
                    let frame = Ok(hyper::body::Frame::data(bytes::Bytes::from(body)));
                    let cut = (is_stream && breaks).then(|| Err(std::io::Error::other("it breaks")));
                    // What has come is sent before it breaks.
                    let frames = futures_util::stream::iter([frame].into_iter().chain(cut)).then(|frame| async {
                        for _ in 0..100 {
                            tokio::task::yield_now().await;
                        }
                        frame
                    });
                    let mut response = http::Response::new(http_body_util::StreamBody::new(frames));
                    *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
                    response.headers_mut().insert("content-type", kind.parse().unwrap());
                    response.headers_mut().insert("mcp-session-id", "s".parse().unwrap());
                    if is_stream {
                        log.lock().unwrap().push(std::time::Instant::now());
                    }
                    Ok::<_, Infallible>(response)
                }
            });
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    (Server::url(format!("http://127.0.0.1:{port}/mcp")).http(Http::builder().no_proxy()).name("web"), asked)
}

#[tokio::test]
async fn a_stream_that_ends_at_once_is_not_requested_without_a_pause() {
    for breaks in [false, true] {
        let (server, asked) = streaming(breaks).await;
        let server = server.connect().await.unwrap();
        crate::support::until("the fourth stream", || asked.lock().unwrap().len() >= 4).await;
        let asked = asked.lock().unwrap().clone();
        assert!(asked[3] - asked[0] >= Duration::from_millis(1400), "{:?}", asked[3] - asked[0]);
        drop(server);
    }
}
