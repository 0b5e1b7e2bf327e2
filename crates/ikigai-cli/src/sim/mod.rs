//! `ikigai sim`: the simulator as a server, and the recorder of exchanges with real providers.

mod upstream;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use ikigai_sim::{Config, Fault, FaultRule, Recorder, Recordings, Script, Sim as Server, Source};

use crate::exit::Failure;
use crate::output::Out;
use crate::places;

/// Run a strict, faithful, offline provider in all four dialects
///
/// Point an SDK or a program at it in place of Anthropic, OpenAI or Google. It checks requests as the real APIs do,
/// refuses what they refuse in their words, and answers by rules: it does sums, calls the tools that a prompt asks for,
/// fills schemas, and echoes everything else. The same request always gets the same answer. Any key
/// will do.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_LONG_HELP)]
pub(crate) struct Sim {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    host: IpAddr,
    /// The port; 0 is any free one
    #[arg(long, default_value_t = 4010)]
    port: u16,
    /// The seed for everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A key to accept; without any, every key is accepted
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// The token for the controls under /_sim/; without it and without keys, a random one that is printed
    #[arg(long, value_name = "TOKEN", env = "IKIGAI_SIM_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Scripted replies, as TOML or JSON
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Inject a fault: FAULT, FAULT@RATE or FAULT#N
    #[arg(long = "fault", value_name = "FAULT", value_parser = fault_rule)]
    faults: Vec<FaultRule>,
    /// Answer every request of a kind with the same prepared bytes, for load tests
    #[arg(long)]
    canned: bool,
    /// Forward requests to --upstream, and record each exchange in DIR, without its keys
    #[arg(long, value_name = "DIR", requires = "upstream", conflicts_with_all = ["replay", "script", "canned", "faults"])]
    record: Option<PathBuf>,
    /// The provider to record, such as https://api.openai.com
    #[arg(long, value_name = "URL", requires = "record", value_parser = web_address)]
    upstream: Option<String>,
    /// Answer from the exchanges in DIR, byte for byte
    #[arg(long, value_name = "DIR", conflicts_with_all = ["script", "canned"])]
    replay: Option<PathBuf>,
}

const AFTER_LONG_HELP: &str = "\
Examples:
  ikigai sim --port 0
      On a free port; the address is the one line that it prints.
  ANTHROPIC_BASE_URL=http://127.0.0.1:4010 your-program
  OPENAI_BASE_URL=http://127.0.0.1:4010/v1 your-program
  GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4010 your-program
      Programs that use it in place of the real thing.
  ikigai sim --fault status=429@0.1 --fault cut_mid_event#3
      Every tenth request is told to wait, the third breaks off in the middle.
  ikigai sim --script replies.toml
      Replies of your own for the requests that match.

  ikigai sim --record recordings --upstream https://api.openai.com
      Programs that use it get the answers of the real thing, and each exchange is kept.
  ikigai sim --replay recordings
      The same answers again, without a key and without a network.

Faults:
  status=N[,retry_after_ms=N]  slow_first_byte,ms=N  slow_drip,ms=N  stall  cut_before_headers  cut_mid_header
  cut_mid_event  cut_before_end  end_without_end  malformed_json  wrong_content_type  error_event
  duplicate_events  out_of_order_events  giant_event,bytes=N  invalid_utf8  reset
  One request alone: the header `x-sim-fault: cut_mid_event`.";

/// Reads `FAULT`, `FAULT@RATE` or `FAULT#N`.
fn fault_rule(text: &str) -> Result<FaultRule, String> {
    let (fault, rate, nth) = if let Some((fault, rate)) = text.rsplit_once('@') {
        let rate: f64 = rate.parse().map_err(|_| format!("invalid rate `{rate}`: use a number from 0 to 1"))?;
        if !(0.0..=1.0).contains(&rate) {
            return Err(format!("invalid rate `{rate}`: use a number from 0 to 1"));
        }
        (fault, Some(rate), None)
    } else if let Some((fault, nth)) = text.rsplit_once('#') {
        let nth: u64 = nth.parse().map_err(|_| format!("`{nth}` is not the number of a request"))?;
        (fault, None, Some(nth))
    } else {
        (text, None, None)
    };
    let fault: Fault = fault.parse().map_err(|error: ikigai_sim::UnknownFault| error.to_string())?;
    Ok(FaultRule { fault, rate, nth })
}

/// Parses the URL of a server.
fn web_address(text: &str) -> Result<String, String> {
    let has_host = |rest: &str| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(['?', '#', ' ']);
    match text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) {
        Some(rest) if has_host(rest) => Ok(text.to_owned()),
        _ => Err("use an address such as https://api.openai.com".to_owned()),
    }
}

/// Returns the source of the answers.
fn source(sim: &Sim) -> Result<Source, Failure> {
    if let (Some(folder), Some(url)) = (&sim.record, &sim.upstream) {
        let provider = upstream::Provider::new()
            .map_err(|error| Failure::new(format!("cannot set up the connection to {url}: {error}")))?;
        let recorder = Recorder::new(folder, url, provider)
            .map_err(|error| Failure::new(format!("cannot record into {}: {error}", folder.display())))?;
        return Ok(Source::Record(recorder));
    }
    match &sim.replay {
        Some(folder) => Ok(Source::Replay(Recordings::read(folder).map_err(|error| Failure::new(error.to_string()))?)),
        None => Ok(Source::Talker),
    }
}

pub(crate) fn run(sim: Sim, out: &mut Out) -> Result<(), Failure> {
    let script = match &sim.script {
        Some(file) => read_script(file)?,
        None => Script::default(),
    };
    let mut config = Config::default();
    config.source = source(&sim)?;
    config.address = SocketAddr::new(sim.host, sim.port);
    config.seed = sim.seed;
    let random_token = sim.token.is_none() && sim.keys.is_empty();
    config.keys = sim.keys;
    config.token = sim.token;
    config.script = script;
    config.faults = sim.faults;
    config.canned = sim.canned;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        let server = Server::with(config).await.map_err(|error| {
            Failure::new(error.to_string()).hint("choose another port with --port, or --port 0 for any free one")
        })?;
        out.text(&format!("{}\n", server.url()))?;
        out.flush()?;
        if random_token {
            out.note(&format!("controls under /_sim/ need: Authorization: Bearer {}\n", server.token()));
        }
        let _ = tokio::signal::ctrl_c().await;
        server.stop().await;
        Ok(())
    })
}

fn read_script(file: &std::path::Path) -> Result<Script, Failure> {
    let name = file.display().to_string();
    let text = places::read(file).map_err(|error| Failure::new(format!("cannot read {error}")))?;
    let text = text.ok_or_else(|| Failure::file("read", file, &std::io::ErrorKind::NotFound.into()))?;
    Script::read(&text, &name).map_err(|error| Failure::new(error.to_string()))
}
