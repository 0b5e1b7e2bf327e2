//! The baseline for Rust: a pass-through on hyper that looks at nothing. `floor PROVIDER`

use http::Uri;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, service::service_fn};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};

type Fault = Box<dyn std::error::Error + Send + Sync>;

async fn pass(
    client: Client<HttpConnector, Full<Bytes>>,
    provider: String,
    request: Request<Incoming>,
) -> Result<Response<Incoming>, Fault> {
    let (mut head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = format!("http://{provider}{path}").parse::<Uri>()?;
    head.headers.remove("host");
    Ok(client.request(Request::from_parts(head, Full::new(body))).await?)
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let provider = std::env::args().nth(1).ok_or("floor PROVIDER")?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (client, provider) = (client.clone(), provider.clone());
        let service = service_fn(move |request| pass(client.clone(), provider.clone(), request));
        tokio::spawn(async move {
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
