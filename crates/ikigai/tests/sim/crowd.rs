//! Two thousand streams in one process. The simulator runs in another, so that only the client's memory is measured.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ikigai::config::Environment;
use ikigai::transport::Http;
use ikigai::{Client, FinishReason, Retry};
use ikigai_sim::Sim;
use pretty_assertions::assert_eq;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinSet, spawn_blocking};

const STREAMS: usize = 2_000;
/// Bytes per open stream. Far above what is measured (see `docs/performance.md`), so that only a mistake exceeds it.
const LIMIT: u64 = 80 << 10;
/// How many may be connecting at once: systems drop connections beyond the length of their queue, and retries are slow.
const AT_ONCE: usize = 200;
/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Tells the ignored test below to run the simulator.
const ROLE: &str = "IKIGAI_TEST_CROWD";
const WORDS: usize = 60;
/// After this many pieces, the first words of an answer have been sent and the last ones have not.
const PIECES_FIRST: usize = 6;

/// A simulator in a separate process, whose clock stands still until it is told otherwise.
struct Apart {
    process: Child,
    orders: ChildStdin,
    told: mpsc::UnboundedReceiver<String>,
}

impl Apart {
    fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crowd::simulator", "--ignored", "--nocapture"])
            .env(ROLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = process.stdin.take().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let (tell, told) = mpsc::unbounded_channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Apart { process, orders, told }
    }

    async fn told(&mut self) -> String {
        let line = tokio::time::timeout(PATIENCE, self.told.recv()).await;
        line.expect("the simulator is silent").expect("the simulator is gone")
    }

    fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn tell(line: &str) {
    let mut out = std::io::stderr();
    writeln!(out, "{line}").unwrap();
}

/// Not a test: the simulator for the one below, in a separate process.
#[tokio::test(flavor = "current_thread", start_paused = true)]
#[ignore = "started by the test of many streams"]
async fn simulator() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let sim = Arc::new(Sim::start().await.unwrap());
    tell(&sim.url());
    // While a blocking task runs, a paused clock does not jump to the next timer.
    let ordered = spawn_blocking(|| std::io::stdin().lines().next());
    let all_are_here = spawn_blocking({
        let sim = Arc::clone(&sim);
        move || {
            let mut seen = 0;
            // A request arrives a moment after its connection. Requests are counted last, because that takes work.
            while seen < STREAMS || sim.requests().len() < STREAMS {
                std::thread::sleep(Duration::from_millis(20));
                let now = sim.connections();
                if now > seen {
                    seen = now;
                    tell(&seen.to_string());
                }
            }
            tell("all");
        }
    });
    all_are_here.await.unwrap();
    for _ in 0..PIECES_FIRST {
        tokio::time::advance(Duration::from_millis(6)).await;
        // Every stream sends a piece before the clock continues.
        for _ in 0..STREAMS {
            tokio::task::yield_now().await;
        }
    }
    ordered.await.unwrap();
    tokio::time::resume();
    // Until the test ends this process.
    let _ = spawn_blocking(|| std::io::stdin().lines().next()).await;
}

/// Returns the memory of this process in bytes; `None` if the system does not report it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Each connection needs a file descriptor. The child process inherits the limit.
#[cfg(unix)]
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let wanted = STREAMS as u64 + 200;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
        let outcome = setrlimit(Resource::Nofile, raised);
        assert!(outcome.is_ok(), "{STREAMS} streams need {wanted} open files, and the limit is {:?}", limit.maximum);
    }
}

#[cfg(not(unix))]
fn raise_file_limit() {}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_streams_at_once_end_whole() {
    raise_file_limit();
    let mut sim = Apart::start();
    let url = sim.told().await;
    let variables = [("DEEPSEEK_API_KEY", "key".to_owned()), ("DEEPSEEK_BASE_URL", format!("{url}/v1"))];
    let client = Client::builder()
        .transport(Http::builder().no_proxy().connect_timeout(PATIENCE).build().unwrap())
        .environment(Environment::of(variables))
        .retry(Retry::never())
        .build()
        .unwrap();
    let words: Vec<String> = (0..WORDS).map(|word| format!("word{word}")).collect();
    let whole = words.join(" ");
    let model = client.model("deepseek:deepseek-chat").unwrap().header("x-sim-fault", "slow_drip,ms=5");
    // One-time allocations are not counted: the catalogue, the rules, the encoder's tables.
    client.model("deepseek:deepseek-chat").unwrap().base_url("http://127.0.0.1:1").ask("Hi.").await.unwrap_err();

    let before = resident();
    let began = Instant::now();
    let (opened, mut open) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    let mut running = JoinSet::new();
    let begin = |running: &mut JoinSet<_>| {
        let (model, prompt) = (model.clone(), format!("say {whole}"));
        let (opened, gate) = (opened.clone(), Arc::clone(&gate));
        running.spawn(async move {
            let mut stream = model.stream(prompt).await.unwrap();
            let mut text = stream.text().await.unwrap().unwrap();
            opened.send(()).unwrap();
            drop(gate.acquire().await);
            while let Some(more) = stream.text().await.unwrap() {
                text.push_str(&more);
            }
            let ended = Instant::now();
            let answer = stream.finish().await.unwrap();
            assert_eq!((answer.finish_reason(), answer.text()), (FinishReason::Stop, text.clone()));
            (text, ended)
        });
    };
    let mut arrived = 0;
    while arrived < STREAMS {
        while running.len() < STREAMS.min(arrived + AT_ONCE) {
            begin(&mut running);
        }
        arrived = sim.told().await.parse().unwrap();
    }
    assert_eq!((arrived, sim.told().await.as_str()), (STREAMS, "all"), "every stream has its connection");
    for seen in 0..STREAMS {
        let one = tokio::time::timeout(PATIENCE, open.recv()).await;
        one.unwrap_or_else(|_| panic!("{seen} of {STREAMS} streams are open")).unwrap();
    }
    let after = resident();
    let opening = began.elapsed();

    let released = Instant::now();
    gate.add_permits(STREAMS);
    sim.order("go on");
    let mut ends = Vec::new();
    while let Some(ended) = tokio::time::timeout(PATIENCE, running.join_next()).await.expect("a stream is starved") {
        let (text, ended) = ended.unwrap();
        assert_eq!(text, whole);
        ends.push(ended.duration_since(released));
    }
    assert_eq!(ends.len(), STREAMS);
    ends.sort();
    let (first, last) = (ends[0], ends[STREAMS - 1]);
    let mut out = std::io::stdout();
    writeln!(out, "{STREAMS} streams open after {opening:?}; the first ended {first:?} later, the last {last:?}")
        .unwrap();
    if let (Some(before), Some(after)) = (before, after) {
        let each = after.saturating_sub(before) / STREAMS as u64;
        writeln!(out, "{each} bytes for each open stream").unwrap();
        assert!(each < LIMIT, "{each} bytes for each open stream, and the limit is {LIMIT}");
    }
}
