//! `ikigai history delete`.

use std::io::IsTerminal as _;

use clap::Args;
use ikigai_store::{ConversationId, ErrorKind, Store};

use super::{count, which};
use crate::conversations;
use crate::exit::Failure;
use crate::output::Out;
use crate::screen;

/// Delete conversations permanently
///
/// Their messages are overwritten in the database, and attachments that no other conversation needs go with them. Forks
/// stay complete: they keep what they share with a deleted conversation.
#[derive(Debug, Args)]
#[command(
    visible_alias = "rm",
    group = clap::ArgGroup::new("chosen").required(true).args(["ids", "all"]),
    after_long_help = "\
Examples:
  ikigai history delete 6c2a1b3d
  ikigai history delete last --yes
  ikigai history delete --all --yes

On a terminal it asks first; elsewhere it needs --yes. This cannot be undone; `ikigai history export` makes a copy."
)]
pub(crate) struct Delete {
    /// Which conversations: the beginnings or the ends of their ids, or `last`
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Every conversation; needs --yes
    #[arg(long, requires = "yes")]
    all: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(crate) async fn run(delete: &Delete, store: &dyn Store, out: &mut Out) -> Result<(), Failure> {
    let mut ids: Vec<ConversationId> = Vec::new();
    if delete.all {
        // Forks before their parents, so that nothing has to be copied to them.
        ids = store.outline().await?.into_iter().rev().map(|(id, _)| id).collect();
    }
    for word in &delete.ids {
        let id = which(store, word).await?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if !delete.yes && !agreed(store, &ids, out).await? {
        out.note("Nothing was deleted.\n");
        return Ok(());
    }
    let mut gone: u64 = 0;
    for id in ids {
        match store.delete(id).await {
            Ok(()) => gone += 1,
            // Another process has deleted it already.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Failure::from(error).hint(format!("{} deleted before that.", count(gone, "conversation"))));
            }
        }
    }
    out.text(&match gone {
        0 => "Nothing to delete.\n".to_owned(),
        1 => "Deleted 1 conversation permanently.\n".to_owned(),
        several => format!("Deleted {} permanently.\n", count(several, "conversation")),
    })
}

/// Asks the user for confirmation.
async fn agreed(store: &dyn Store, ids: &[ConversationId], out: &mut Out) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::usage("cannot ask for confirmation: this is not a terminal")
            .hint("Add --yes to delete without being asked."));
    }
    for id in ids {
        let line = conversations::line(&store.conversation(*id).await?);
        out.note(&format!("  {}\n", screen::clean(&line)));
    }
    let these = if ids.len() == 1 { "this conversation" } else { "these conversations" };
    out.note(&format!("Delete {these} permanently? [y/N] "));
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|error| Failure::new(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
