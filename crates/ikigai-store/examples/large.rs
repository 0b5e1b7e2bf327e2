//! How fast a large database is compared with an empty one: 100,000 messages in 1,000 conversations.
//!
//! ```console
//! cargo run --release -p ikigai-ai-store --example large
//! cargo run --release -p ikigai-ai-store --all-features --example large -- postgres://…/an_empty_database
//! ```

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::time::{Duration, Instant};

use ikigai_core::{Message, Role, Usage};
use ikigai_store::{Details, Entry, Listing, ModelChoice, Result, Search, open};

const CONVERSATIONS: u64 = 1000;
const MESSAGES: u64 = 100;
/// Each figure is the median of this many, with the minimum next to it: whatever else the machine does only adds.
const TIMES: usize = 21;

/// What is searched for, and how common it is.
const SEARCHES: [(&str, &str); 7] = [
    ("w1", "in nearly every message"),
    ("w7", "a common word, in two of three messages"),
    ("w400", "a rarer word"),
    ("needle77042", "a word that is there once"),
    ("\"w7 w3\"", "two common words together"),
    ("needle770*", "a beginning"),
    ("nowhere", "a word that is not there"),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let location = std::env::args().nth(1).unwrap_or_else(|| folder.path().join("large.db").display().to_string());
    if location.starts_with('-') {
        return Err("usage: large [DATABASE]".into());
    }
    let empty = start(&location).await?;

    let began = Instant::now();
    fill(&location).await?;
    println!(
        "{} messages in {CONVERSATIONS} conversations: written in {:.0?}",
        CONVERSATIONS * MESSAGES,
        began.elapsed()
    );
    let full = start(&location).await?;
    println!("start to prompt, empty: {empty:>10.2?}");
    println!(
        "start to prompt, full:  {full:>10.2?}, {:.2} of the empty one, {:+.2} ms",
        full.as_secs_f64() / empty.as_secs_f64(),
        (full.as_secs_f64() - empty.as_secs_f64()) * 1000.0
    );

    let store = open(&location).await?;
    for (text, what) in SEARCHES {
        let mut times = Vec::new();
        let mut hits = 0;
        for _ in 0..TIMES {
            let began = Instant::now();
            hits = store.search(Search::new(text)).await?.len();
            times.push(began.elapsed());
        }
        let mut newest = Vec::new();
        for _ in 0..TIMES {
            let began = Instant::now();
            store.search(Search::new(text).newest_first()).await?;
            newest.push(began.elapsed());
        }
        let (best, newest) = (shown(times), shown(newest));
        println!("search {text:<12} {hits:>2} hits: best first {best}, newest first {newest} ({what})");
    }
    println!("size: {} MB", store.stats().await?.size / 1_000_000);
    store.close().await?;
    Ok(())
}

/// What a chat does before its prompt appears: opens the store, lists the latest conversations, reads the last one.
async fn start(location: &str) -> Result<Duration> {
    open(location).await?.close().await?;
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let began = Instant::now();
        let store = open(location).await?;
        store.list(Listing::newest(20)).await?;
        if let Some(last) = store.latest().await? {
            store.thread(last.id).await?;
        }
        times.push(began.elapsed());
        store.close().await?;
    }
    Ok(middle(&mut times))
}

async fn fill(location: &str) -> Result<()> {
    let store = open(location).await?;
    let mut chance = 1_u64;
    for conversation in 0..CONVERSATIONS {
        let model = ModelChoice::new("anthropic", "claude-sonnet-4-5");
        let chat = store.create(Details::default().title(format!("Chat {conversation}")).model(model)).await?.id;
        let mut entries = Vec::new();
        for message in 0..MESSAGES {
            let number = conversation * MESSAGES + message;
            let (role, length) = if message % 2 == 0 { (Role::User, 30) } else { (Role::Assistant, 200) };
            let text = format!("needle{number} {}", words(length, &mut chance));
            let usage = Usage::new(1000, length);
            entries.push(Entry::new(Message::new(role, text)).usage(usage));
        }
        store.append_all(chat, entries).await?;
    }
    store.close().await
}

/// Words as in a natural language: a few are everywhere, most are rare.
fn words(count: u64, chance: &mut u64) -> String {
    let mut text = String::new();
    for _ in 0..count {
        *chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let even = (*chance >> 33) as f64 / f64::from(1_u32 << 31);
        text.push_str(&format!("w{} ", (20_000_f64.powf(even)) as u64));
    }
    text
}

fn middle(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn shown(mut times: Vec<Duration>) -> String {
    let middle = middle(&mut times);
    format!("{middle:.2?} (least {:.2?})", times.first().copied().unwrap_or_default())
}
