//! How fast canned answers are, compared with a bare hyper server that sends the same bytes.
//!
//! `cargo run --release -p ikigai-ai-sim --example speed`

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use ikigai_sim::{Config, Sim};

const CONNECTIONS: usize = 8;
const REQUESTS: usize = 4_000;
const ROUNDS: usize = 5;

fn request() -> String {
    let body = r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"count to 20"}]}"#;
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: sim\r\nauthorization: Bearer key\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Reads one answer and returns its body.
fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Vec<u8>> {
    let mut piece = [0; 8192];
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(buffer.get(..end).unwrap_or_default()).into_owned();
            let length: usize =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
            if buffer.len() >= end + 4 + length {
                let body = buffer.get(end + 4..end + 4 + length).unwrap_or_default().to_vec();
                buffer.drain(..end + 4 + length);
                return Ok(body);
            }
        }
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        buffer.extend_from_slice(piece.get(..read).unwrap_or_default());
    }
}

/// How long all requests take.
fn load(address: SocketAddr) -> Duration {
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| -> std::io::Result<()> {
                let mut stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                let (request, mut buffer) = (request(), Vec::new());
                for _ in 0..REQUESTS / CONNECTIONS {
                    stream.write_all(request.as_bytes())?;
                    answer(&mut stream, &mut buffer)?;
                }
                Ok(())
            });
        }
    });
    began.elapsed()
}

/// A server that reads the request and sends the same bytes every time.
async fn bare(body: Bytes) -> std::io::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let body = body.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let body = body.clone();
                async move {
                    let _ = request.into_body().collect().await;
                    Ok::<_, Infallible>(Response::new(Full::new(body)))
                }
            });
            tokio::spawn(async move {
                let builder = auto::Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    Ok(address)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut config = Config::default();
    config.canned = true;
    let sim = Sim::with(config).await?;
    let canned: SocketAddr = sim.url().trim_start_matches("http://").parse()?;
    let body = tokio::task::spawn_blocking(move || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(canned)?;
        stream.write_all(request().as_bytes())?;
        answer(&mut stream, &mut Vec::new())
    })
    .await??;
    let bare = bare(body.into()).await?;
    let rounds = tokio::task::spawn_blocking(move || -> Vec<(Duration, Duration)> {
        (0..ROUNDS).map(|_| (load(bare), load(canned))).collect()
    })
    .await?;
    let mut ratios: Vec<f64> = rounds.iter().map(|(bare, canned)| canned.as_secs_f64() / bare.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let mut out = std::io::stdout().lock();
    for (bare, canned) in &rounds {
        let rate = |time: &Duration| REQUESTS as f64 / time.as_secs_f64();
        writeln!(out, "bare {:.0} requests/s, canned {:.0} requests/s", rate(bare), rate(canned))?;
    }
    writeln!(
        out,
        "the canned answer takes {:.2} × the time of the bare one (median)",
        ratios.get(ROUNDS / 2).unwrap_or(&0.0)
    )?;
    Ok(())
}
