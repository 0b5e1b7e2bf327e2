//! HTTP/2 servers that end a stream or connection early: each causes the right error, and nothing is paid for twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use h2::server::SendResponse;
use pretty_assertions::assert_eq;
use tokio::net::{TcpListener, TcpStream};

use super::{Http, Transport as _};
use crate::{Client, Error, ErrorKind, Retry, Wanted};

const WHOLE: &str = r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;
const STREAM: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\"}}\n\n\
    event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Hello\"}}\n\n\
    event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
    event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n\
    event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// What a server does with a request.
#[derive(Debug, Clone, Copy)]
enum Does {
    Answers,
    /// Resets the stream before the head of an answer.
    Resets(Reason),
    /// Sends the head and part of the body, then resets the stream.
    ResetsLater(Reason),
    /// Closes the connection before the head of an answer.
    Leaves(Reason),
    /// Sends the head and part of the body, then closes the connection.
    LeavesLater(Reason),
    /// Announces in the middle of an answer that it accepts no more requests on the connection, then finishes it.
    Closes,
}

struct Server {
    url: String,
    requests: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server that does these things, one per request, and repeats the last one.
    async fn start(script: &'static [Does]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (requests, connections) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let server = Server { url, requests: Arc::clone(&requests), connections: Arc::clone(&connections) };
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(socket, script, Arc::clone(&requests)));
            }
        });
        server
    }

    fn client(&self) -> Client {
        Client::builder()
            .transport(Http::builder().no_proxy().http2_only().build().unwrap())
            .key("anthropic", "sk-something-secret")
            .base_url("anthropic", &self.url)
            .retry(Retry::default().first_wait(Duration::from_millis(1)))
            .build()
            .unwrap()
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

async fn serve(socket: TcpStream, script: &'static [Does], requests: Arc<AtomicUsize>) {
    let Ok(mut connection) = h2::server::handshake(socket).await else { return };
    let (leave, mut leaves) = tokio::sync::mpsc::unbounded_channel::<Reason>();
    loop {
        let (request, respond) = tokio::select! {
            reason = leaves.recv() => match reason {
                Some(Reason::NO_ERROR) => {
                    connection.graceful_shutdown();
                    continue;
                }
                Some(reason) => {
                    connection.abrupt_shutdown(reason);
                    continue;
                }
                None => return,
            },
            accepted = connection.accept() => match accepted {
                Some(Ok(accepted)) => accepted,
                Some(Err(_)) | None => return,
            },
        };
        let place = requests.fetch_add(1, Ordering::SeqCst).min(script.len() - 1);
        let leave = leave.clone();
        tokio::spawn(async move {
            let body = read_all(request.into_body()).await;
            let text = if body.contains("\"stream\":true") { STREAM } else { WHOLE };
            answer(script[place], text, respond, &leave).await;
        });
    }
}

async fn answer(
    does: Does,
    text: &'static str,
    mut respond: SendResponse<Bytes>,
    leave: &tokio::sync::mpsc::UnboundedSender<Reason>,
) {
    match does {
        Does::Resets(reason) => return respond.send_reset(reason),
        Does::Leaves(reason) => return leave.send(reason).unwrap(),
        Does::Answers | Does::ResetsLater(_) | Does::LeavesLater(_) | Does::Closes => {}
    }
    let kind = if text == STREAM { "text/event-stream" } else { "application/json" };
    let head = http::Response::builder().header("content-type", kind).body(()).unwrap();
    let mut body = respond.send_response(head, false).unwrap();
    let (first, rest) = text.split_at(text.len() / 2);
    body.send_data(first.into(), false).unwrap();
    written().await;
    match does {
        Does::ResetsLater(reason) => return body.send_reset(reason),
        Does::LeavesLater(reason) => return leave.send(reason).unwrap(),
        Does::Closes => leave.send(Reason::NO_ERROR).unwrap(),
        Does::Answers | Does::Resets(_) | Does::Leaves(_) => {}
    }
    written().await;
    body.send_data(rest.into(), true).unwrap();
}

async fn read_all(mut body: h2::RecvStream) -> String {
    let mut text = String::new();
    while let Some(Ok(bytes)) = body.data().await {
        let _ = body.flow_control().release_capacity(bytes.len());
        text.push_str(std::str::from_utf8(&bytes).unwrap());
    }
    text
}

/// Lets the connection's task write its data; everything runs on one thread.
async fn written() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

async fn asked(client: &Client, wanted: Wanted) -> Result<String, Error> {
    let model = client.model("anthropic:claude-haiku-4-5").unwrap();
    match wanted {
        Wanted::Whole => Ok(model.ask("Hi").await?.text()),
        Wanted::Stream => Ok(model.stream("Hi").await?.finish().await?.text()),
    }
}

const BOTH: [Wanted; 2] = [Wanted::Whole, Wanted::Stream];

#[tokio::test]
async fn a_request_that_was_refused_unread_is_sent_again() {
    for wanted in BOTH {
        let server = Server::start(&[Does::Resets(Reason::REFUSED_STREAM), Does::Answers]).await;
        assert_eq!(asked(&server.client(), wanted).await.unwrap(), "Hello", "{wanted:?}");
        assert_eq!(server.requests(), 2, "{wanted:?}");
        let server = Server::start(&[Does::Resets(Reason::REFUSED_STREAM)]).await;
        let error = asked(&server.client(), wanted).await.unwrap_err();
        assert_eq!((error.kind(), server.requests()), (ErrorKind::Network, 3), "{wanted:?}: {error}");
        assert!(error.to_string().contains("the server refused the request unread"), "{error}");
    }
}

#[tokio::test]
async fn a_request_that_may_have_been_read_is_not_sent_again() {
    // A stream that is reset without an error ends as if its body did, so what has arrived is incomplete.
    for (does, kind) in [
        (&[Does::Resets(Reason::INTERNAL_ERROR), Does::Answers], ErrorKind::Network),
        (&[Does::Resets(Reason::CANCEL), Does::Answers], ErrorKind::Network),
        (&[Does::Resets(Reason::NO_ERROR), Does::Answers], ErrorKind::Network),
        (&[Does::ResetsLater(Reason::REFUSED_STREAM), Does::Answers], ErrorKind::Network),
        (&[Does::ResetsLater(Reason::INTERNAL_ERROR), Does::Answers], ErrorKind::Network),
        (&[Does::ResetsLater(Reason::CANCEL), Does::Answers], ErrorKind::Network),
        (&[Does::ResetsLater(Reason::NO_ERROR), Does::Answers], ErrorKind::Protocol),
        (&[Does::Leaves(Reason::INTERNAL_ERROR), Does::Answers], ErrorKind::Network),
        (&[Does::Leaves(Reason::ENHANCE_YOUR_CALM), Does::Answers], ErrorKind::Network),
        (&[Does::LeavesLater(Reason::INTERNAL_ERROR), Does::Answers], ErrorKind::Network),
    ] as [(&'static [Does; 2], ErrorKind); 10]
    {
        for wanted in BOTH {
            let server = Server::start(does).await;
            let error = asked(&server.client(), wanted).await.unwrap_err();
            assert_eq!((error.kind(), server.requests()), (kind, 1), "{does:?}, {wanted:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_server_that_takes_no_more_requests_finishes_the_answer() {
    for wanted in BOTH {
        let server = Server::start(&[Does::Closes, Does::Answers]).await;
        let client = server.client();
        assert_eq!(asked(&client, wanted).await.unwrap(), "Hello", "{wanted:?}");
        assert_eq!((server.requests(), server.connections.load(Ordering::SeqCst)), (1, 1), "{wanted:?}");
        assert_eq!(asked(&client, wanted).await.unwrap(), "Hello", "{wanted:?}");
        assert_eq!((server.requests(), server.connections.load(Ordering::SeqCst)), (2, 2), "{wanted:?}");
    }
}

#[tokio::test]
async fn a_slow_reader_of_many_small_events_gets_all_of_them() {
    const EVENT: &[u8] = &[b'e'; 100];
    const COUNT: usize = 3000;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/x", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let mut connection = h2::server::handshake(socket).await.unwrap();
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                let mut body = respond.send_response(http::Response::new(()), false).unwrap();
                tokio::spawn(async move {
                    for number in 0..COUNT {
                        // Every event has a frame of its own, as soon as there is room.
                        body.reserve_capacity(EVENT.len());
                        while body.capacity() < EVENT.len() {
                            if std::future::poll_fn(|cx| body.poll_capacity(cx)).await.is_none() {
                                return;
                            }
                        }
                        body.send_data(EVENT.into(), number + 1 == COUNT).unwrap();
                        written().await;
                    }
                });
            }
        }
    });
    let http = Http::builder().no_proxy().http2_only().build().unwrap();
    let ask = || http::Request::post(&url).body(Bytes::new()).unwrap();
    let (slow, mut quick) = (http.send(ask()).await.unwrap().into_body(), http.send(ask()).await.unwrap().into_body());
    // Meanwhile, as much of the other one arrives as it may without being read.
    let mut length = 0;
    while let Some(bytes) = quick.next().await {
        length += bytes.unwrap().len();
    }
    assert_eq!(length, EVENT.len() * COUNT);
    assert_eq!(slow.read(1 << 20).await.unwrap().len(), EVENT.len() * COUNT);
}
