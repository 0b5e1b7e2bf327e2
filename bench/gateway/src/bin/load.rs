//! Sends requests to a proxy and measures what it takes: `load ADDRESS PID MODEL BYTES CONNECTIONS REQUESTS`, one line
//! of JSON. With a keyword as REQUESTS, each connection gets one: `idle` opens slow streams and measures the memory
//! they take, `slow` also reads them to their ends, `vanish` leaves each answer after its first bytes.

use std::time::{Duration, Instant};

use gateway_bench::question;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::json;

type Fault = Box<dyn std::error::Error + Send + Sync>;
type Sender = hyper::client::conn::http1::SendRequest<Full<Bytes>>;

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, pid, model, bytes, connections, requests] = words.as_slice() else {
        return Err("load ADDRESS PID MODEL BYTES CONNECTIONS REQUESTS".into());
    };
    let (bytes, connections): (usize, usize) = (bytes.parse()?, connections.parse()?);
    let streams = !model.ends_with("small");
    let body = question(model, bytes, streams);
    match requests.as_str() {
        "idle" => return slow(address, pid, &body, connections, false).await,
        "slow" => return slow(address, pid, &body, connections, true).await,
        "vanish" => return vanish(address, &body, connections).await,
        _ => {}
    }
    let requests: usize = requests.parse()?;
    // Anything that has to be learned first is learned now.
    ask(&mut connect(address).await?, &body, address).await?;
    let (before, began) = (cpu(pid)?, Instant::now());
    let each = requests.div_ceil(connections);
    let tasks: Vec<_> = (0..connections)
        .map(|_| {
            let (address, body) = (address.clone(), body.clone());
            tokio::spawn(async move {
                let mut times = Vec::with_capacity(each);
                let mut sender = connect(&address).await?;
                for _ in 0..each {
                    let began = Instant::now();
                    ask(&mut sender, &body, &address).await?;
                    times.push(began.elapsed());
                }
                Ok::<_, Fault>(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    times.sort();
    let took = cpu(pid)? - before;
    let p50 = times.get(times.len() / 2).copied().unwrap_or_default();
    println!(
        "{}",
        json!({"requests": times.len(), "cpu_us": took.as_secs_f64() * 1e6 / times.len() as f64,
               "seconds": began.elapsed().as_secs_f64(), "p50_ms": p50.as_secs_f64() * 1e3})
    );
    Ok(())
}

async fn slow(address: &str, pid: &str, body: &Bytes, streams: usize, to_the_end: bool) -> Result<(), Fault> {
    let before = memory(pid)?;
    let began = Instant::now();
    let mut open = Vec::new();
    for _ in 0..streams {
        let mut sender = connect(address).await?;
        let answer = tokio::spawn({
            let request = request(body, address)?;
            async move { Ok::<_, Fault>((sender.send_request(request).await?, sender)) }
        });
        open.push(answer);
    }
    let mut answers = Vec::new();
    for answer in open {
        let (mut answer, sender) = answer.await??;
        // The answer has begun.
        answer.frame().await;
        answers.push((answer, sender));
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let each = (memory(pid)?.saturating_sub(before)) as f64 / streams as f64;
    let mut failed = 0;
    if to_the_end {
        let reading: Vec<_> = answers
            .into_iter()
            .map(|(mut answer, sender)| {
                tokio::spawn(async move {
                    let mut last = Bytes::new();
                    while let Some(frame) = answer.frame().await {
                        match frame.map(|frame| frame.into_data()) {
                            Ok(Ok(data)) => last = data,
                            Ok(Err(_)) => {}
                            Err(_) => return false,
                        }
                    }
                    drop(sender);
                    answer.status().is_success() && last.ends_with(b"data: [DONE]\n\n")
                })
            })
            .collect();
        for task in reading {
            failed += usize::from(!task.await?);
        }
    }
    let seconds = began.elapsed().as_secs();
    println!("{}", json!({"streams": streams, "kb_each": each / 1024.0, "failed": failed, "seconds": seconds}));
    Ok(())
}

/// Clients that leave in the middle of an answer, a few hundred at a time.
async fn vanish(address: &str, body: &Bytes, clients: usize) -> Result<(), Fault> {
    for _ in 0..clients.div_ceil(250) {
        let group: Vec<_> = (0..250)
            .map(|_| {
                let (address, body) = (address.to_owned(), body.clone());
                tokio::spawn(async move {
                    let mut sender = connect(&address).await?;
                    let mut answer = sender.send_request(request(&body, &address)?).await?;
                    answer.frame().await;
                    Ok::<_, Fault>(())
                })
            })
            .collect();
        for client in group {
            client.await??;
        }
    }
    println!("{}", json!({"clients": clients}));
    Ok(())
}

async fn connect(address: &str) -> Result<Sender, Fault> {
    let stream = tokio::net::TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

fn request(body: &Bytes, address: &str) -> Result<Request<Full<Bytes>>, http::Error> {
    Request::post("/v1/chat/completions")
        .header("host", address)
        .header("authorization", "Bearer the-key-of-the-benchmark")
        .header("content-type", "application/json")
        .body(Full::new(body.clone()))
}

async fn ask(sender: &mut Sender, body: &Bytes, address: &str) -> Result<(), Fault> {
    sender.ready().await?;
    let mut answer = sender.send_request(request(body, address)?).await?;
    let status = answer.status();
    let mut last = Bytes::new();
    while let Some(frame) = answer.frame().await {
        if let Ok(data) = frame?.into_data() {
            last = data;
        }
    }
    if !status.is_success() || last.is_empty() {
        return Err(format!("{status}: {}", String::from_utf8_lossy(&last)).into());
    }
    Ok(())
}

/// The processor time that processes and their children have used.
fn cpu(pids: &str) -> Result<Duration, Fault> {
    let mut ticks = 0;
    for pid in pids.split(',') {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        ticks += fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    }
    Ok(Duration::from_millis(ticks * 10))
}

/// The memory that processes hold.
fn memory(pids: &str) -> Result<usize, Fault> {
    let mut pages = 0;
    for pid in pids.split(',') {
        let statm = std::fs::read_to_string(format!("/proc/{pid}/statm"))?;
        pages += statm.split(' ').nth(1).unwrap_or("0").parse::<usize>()?;
    }
    Ok(pages * 4096)
}
