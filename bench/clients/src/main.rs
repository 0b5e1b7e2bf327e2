//! One streamed answer through one client, counted.
//!
//! Built once for each client, with only that client's feature (see `run`):
//!
//! ```text
//! ikigai-bench-clients serve DELTAS whole|pieces     a simulator whose answers have so many deltas; prints its address
//! ikigai-bench-clients ask DIALECT ADDRESS           one streamed answer; prints what came (deltas, bytes), the allocations,
//!                                                    the processor time in µs and the most memory in KB
//! ```

#![forbid(unsafe_code)]

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[cfg(feature = "async-openai")]
#[path = "clients/async_openai.rs"]
mod client;
#[cfg(feature = "bare")]
#[path = "clients/bare.rs"]
mod client;
#[cfg(feature = "genai")]
#[path = "clients/genai.rs"]
mod client;
#[cfg(feature = "ikigai")]
#[path = "clients/ikigai.rs"]
mod client;
#[cfg(feature = "rig")]
#[path = "clients/rig.rs"]
mod client;
#[cfg(feature = "serve")]
mod serve;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

type Failure = Box<dyn std::error::Error>;

/// The API to use.
#[cfg_attr(feature = "serve", expect(dead_code, reason = "the simulator speaks all of them"))]
#[derive(Debug, Clone, Copy)]
enum Dialect {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
}

/// What arrived of an answer.
#[derive(Debug, Default)]
struct Came {
    deltas: usize,
    bytes: usize,
}

impl Came {
    #[cfg_attr(feature = "serve", expect(dead_code, reason = "the simulator reads no answers"))]
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.deltas += 1;
            self.bytes += text.len();
        }
    }
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // One thread: this measures the work, not how it is spread.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match words.as_slice() {
        #[cfg(feature = "serve")]
        ["serve", deltas, mode] => runtime.block_on(serve::serve(deltas.parse()?, *mode == "whole")),
        #[cfg(not(feature = "serve"))]
        ["ask", dialect, address] => {
            let dialect = match *dialect {
                "anthropic" => Dialect::Anthropic,
                "openai-chat" => Dialect::OpenaiChat,
                "openai-responses" => Dialect::OpenaiResponses,
                other => return Err(format!("no such dialect: {other}").into()),
            };
            let region = stats_alloc::Region::new(ALLOCATOR);
            let came = runtime.block_on(client::ask(dialect, address))?;
            let counted = region.change();
            let allocations = counted.allocations + counted.reallocations;
            let cpu = cpu_time::ProcessTime::now().as_duration().as_micros();
            println!("{} {} {allocations} {cpu} {}", came.deltas, came.bytes, peak_memory()?);
            Ok(())
        }
        _ => Err("see the first lines of src/main.rs".into()),
    }
}

/// The peak resident memory, in KB.
#[cfg(not(feature = "serve"))]
fn peak_memory() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
