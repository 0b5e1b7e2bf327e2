//! A proxy in one dialect: `cargo run -p ikigai-ai --example proxy -- [MODEL]`, and point a client at the address it prints.
//!
//! Bytes pass through unchanged, streams as they arrive, and a client that disconnects cancels its request.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, service::service_fn};
use hyper_util::{rt::TokioExecutor, rt::TokioIo, server::conn::auto::Builder};
use ikigai::{Client, Error, Upstream, Wanted, transport::Body};

type Fault = Box<dyn std::error::Error + Send + Sync>;

async fn pass(upstream: Upstream, request: Request<Incoming>) -> Result<Response<Body>, Fault> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, 32 << 20).collect().await?.to_bytes();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let (status, headers, body) = match upstream.send(path, &head.headers, body, Wanted::Stream).await {
        Ok(exchange) => (exchange.status, exchange.headers, exchange.body),
        Err(error) => failed(&error),
    };
    let mut response = Response::new(body);
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    Ok(response)
}

/// Returns the provider's own response, if there is one: the client speaks its dialect.
fn failed(error: &Error) -> (StatusCode, hyper::HeaderMap, Body) {
    match error.response() {
        Some(failed) => (failed.status, failed.headers.clone(), Body::whole(failed.body.clone())),
        None => (StatusCode::BAD_GATEWAY, hyper::HeaderMap::new(), Body::whole(error.to_string())),
    }
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "anthropic:claude-haiku-4-5".to_owned());
    let upstream = Client::new()?.upstream(&model)?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{} speaks {}", listener.local_addr()?, upstream.dialect());
    loop {
        let (stream, _) = listener.accept().await?;
        let upstream = upstream.clone();
        let service = service_fn(move |request| pass(upstream.clone(), request));
        tokio::spawn(async move {
            Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await
        });
    }
}
