//! A provider that answers at once, always with the same bytes: whole, in a burst, or paced, by the model's name.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use gateway_bench::{BURST, PACED, answer, events};
use http_body_util::{BodyExt as _, Either, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

/// Connections that are open, and streams that are being written.
static OPEN: AtomicUsize = AtomicUsize::new(0);
static STREAMS: AtomicUsize = AtomicUsize::new(0);

/// One stream, for as long as it is written.
struct Writing;

impl Writing {
    fn new() -> Self {
        STREAMS.fetch_add(1, Ordering::Relaxed);
        Writing
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        STREAMS.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Answers {
    whole: [Bytes; 2],
    burst: [Vec<Bytes>; 2],
    paced: [Vec<Bytes>; 2],
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let answers = Arc::new(Answers {
        whole: [false, true].map(answer),
        burst: [false, true].map(|is_messages| events(is_messages, BURST)),
        paced: [false, true].map(|is_messages| events(is_messages, PACED.0)),
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answers = Arc::clone(&answers);
        OPEN.fetch_add(1, Ordering::Relaxed);
        let service = service_fn(move |request| serve(Arc::clone(&answers), request));
        tokio::spawn(async move {
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            OPEN.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

type Body = Either<
    Full<Bytes>,
    StreamBody<std::pin::Pin<Box<dyn stream::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>>,
>;

async fn serve(answers: Arc<Answers>, request: Request<Incoming>) -> Result<Response<Body>, hyper::Error> {
    if request.uri().path() == "/open" {
        let (open, streams) = (OPEN.load(Ordering::Relaxed), STREAMS.load(Ordering::Relaxed));
        return Ok(Response::new(Either::Left(Full::new(format!("{open} {streams}\n").into()))));
    }
    let kind = usize::from(request.uri().path().ends_with("/messages"));
    let body = request.into_body().collect().await?.to_bytes();
    // The model's name is near one of the ends.
    let has = |word: &str| {
        let word = word.as_bytes();
        let head = &body[..body.len().min(400)];
        let tail = &body[body.len().saturating_sub(400)..];
        head.windows(word.len()).chain(tail.windows(word.len())).any(|part| part == word)
    };
    let (media_type, body) = if has("bench-burst") {
        let events = stream::iter(answers.burst[kind].clone().into_iter().map(|event| Ok(Frame::data(event))));
        let events: std::pin::Pin<Box<dyn stream::Stream<Item = _> + Send>> = Box::pin(events);
        ("text/event-stream", Either::Right(StreamBody::new(events)))
    } else if has("bench-paced") || has("bench-slow") {
        let wait = if has("bench-slow") { 2_500 } else { PACED.1 };
        let queue = (answers.paced[kind].clone().into_iter(), Writing::new());
        let events = stream::unfold(queue, move |(mut queue, writing)| async move {
            let event = queue.next()?;
            tokio::time::sleep(Duration::from_millis(wait)).await;
            Some((Ok(Frame::data(event)), (queue, writing)))
        });
        let events: std::pin::Pin<Box<dyn stream::Stream<Item = _> + Send>> = Box::pin(events);
        ("text/event-stream", Either::Right(StreamBody::new(events)))
    } else {
        ("application/json", Either::Left(Full::new(answers.whole[kind].clone())))
    };
    let mut response = Response::new(body);
    response.headers_mut().insert("content-type", http::HeaderValue::from_static(media_type));
    Ok(response)
}
