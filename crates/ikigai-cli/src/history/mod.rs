//! `ikigai history`: the saved conversations.

mod delete;
mod export;
mod import;
mod list;
mod search;
mod show;
pub(crate) mod when;

use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use ikigai_store::{ConversationId, Store};

use crate::conversations;
use crate::exit::Failure;
use crate::output::Out;
use crate::places::Places;
use crate::settings::{self, Database, Settings};

/// List, read, search, move and delete saved conversations
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai history list
  ikigai history show last
  ikigai history search '\"tool call\" gemini'
  ikigai history export --all -o conversations.jsonl
  ikigai history delete 6c2a1b3d

An ID is the beginning or the end of a conversation's id, as `ikigai history list` shows it; `last` is the newest one.
To continue one: ikigai --resume ID")]
pub(crate) struct History {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::List),
    Show(show::Show),
    Search(search::Search),
    Export(export::Export),
    Import(import::Import),
    Delete(delete::Delete),
}

pub(crate) fn run(history: History, out: &mut Out) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    runtime.block_on(act(history.command, out))
}

async fn act(command: Command, out: &mut Out) -> Result<(), Failure> {
    let (settings, warnings) = settings::load()?;
    for warning in warnings {
        out.warning(&warning.to_string());
    }
    let store = open(settings, matches!(command, Command::Import(_))).await?;
    let outcome = match command {
        Command::List(list) => list::run(list, &*store, out).await,
        Command::Show(show) => show::run(&show, &*store, out).await,
        Command::Search(search) => search::run(&search, &*store, out).await,
        Command::Export(export) => export::run(&export, &*store, out).await,
        Command::Import(import) => import::run(&import, &*store, out).await,
        Command::Delete(delete) => delete::run(&delete, &*store, out).await,
    };
    let closed = store.close().await;
    outcome?;
    Ok(closed?)
}

/// Opens the database, whether or not new conversations are saved in it. Reading a missing one does not create it.
async fn open(settings: Settings, writes: bool) -> Result<Arc<dyn Store>, Failure> {
    let is_missing = |path: &Path| !path.try_exists().unwrap_or(true);
    let missing = match settings.database(&Places::required()?) {
        Database::File(path) => is_missing(&path),
        Database::Postgres(_) => false,
    };
    conversations::open(&Settings { save: true, ..settings }, missing && !writes).await
}

/// Finds the conversation that a word means: a part of its id, or `last`.
async fn which(store: &dyn Store, word: &str) -> Result<ConversationId, Failure> {
    if word != "last" {
        return conversations::find(store, word).await;
    }
    let last = store.latest().await?;
    last.map(|conversation| conversation.id)
        .ok_or_else(|| Failure::new("there are no conversations yet").hint("Start one with `ikigai` or `ikigai ask`."))
}

/// Formats a count: `1 message`, `2 messages`.
fn count(number: u64, noun: &str) -> String {
    let number_text = crate::screen::notice::count(number);
    if number == 1 { format!("1 {noun}") } else { format!("{number_text} {noun}s") }
}
