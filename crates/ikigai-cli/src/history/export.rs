//! `ikigai history export`.

use std::error::Error as _;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ikigai_store::{ConversationId, Exported, Selection, Store};

use super::{count, which};
use crate::exit::Failure;
use crate::output::Out;

/// Write conversations to a file or to standard output
///
/// JSON Lines have everything, and `ikigai history import` restores the same conversations from them: ids, times, forks,
/// attachments, and the reasoning state that providers seal. Markdown is for reading.
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("chosen").required(true).args(["ids", "all"]),
    after_long_help = "\
Examples:
  ikigai history export --all -o conversations.jsonl
  ikigai history export last -o answer.md
  ikigai history export 6c2a1b3d 91d4b0f6 --format markdown
  ikigai history export --all | gzip > conversations.jsonl.gz

A fork that is exported alone includes the messages that it shares with others. Settings, keys and typed lines are not
exported. A new file can be read by its owner only."
)]
pub(crate) struct Export {
    /// Which conversations: the beginnings or the ends of their ids, or `last`
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Every conversation, with all forks as they are
    #[arg(long)]
    all: bool,
    /// Write to this file, which must not exist yet
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// The format; by default Markdown for a file that ends in .md, otherwise JSON Lines
    #[arg(long, value_enum, value_name = "FORM")]
    format: Option<Format>,
}

/// In which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// JSON Lines, with everything
    Jsonl,
    /// For reading
    Markdown,
}

impl Export {
    fn form(&self) -> Format {
        let ending = self.output.as_deref().and_then(Path::extension);
        let is_markdown = ending.is_some_and(|ending| ending == "md" || ending == "markdown");
        self.format.unwrap_or(if is_markdown { Format::Markdown } else { Format::Jsonl })
    }
}

pub(crate) async fn run(export: &Export, store: &dyn Store, out: &mut Out) -> Result<(), Failure> {
    // All of them are looked up before anything is written.
    let mut ids = Vec::new();
    for word in &export.ids {
        let id = which(store, word).await?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let Some(path) = &export.output else {
        let exported = write(export, store, &ids, &mut std::io::stdout()).await?;
        return complete(&exported, out);
    };
    if !export.force && path.try_exists().unwrap_or(false) {
        return Err(there(path));
    }
    let failed = |error: &std::io::Error| Failure::file("write", path, error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Written next to it first, so that an existing file is always either completely old or completely new.
    let mut fresh = tempfile::Builder::new().prefix(".ikigai-").tempfile_in(folder).map_err(|error| failed(&error))?;
    let exported = write(export, store, &ids, &mut BufWriter::new(fresh.as_file_mut())).await?;
    fresh.as_file().sync_all().map_err(|error| failed(&error))?;
    if export.force {
        fresh.persist(path).map_err(|error| failed(&error.error))?;
    } else {
        fresh.persist_noclobber(path).map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => there(path),
            _ => failed(&error.error),
        })?;
    }
    let (conversations, messages) =
        (count(exported.conversations, "conversation"), count(exported.messages, "message"));
    out.text(&format!("Exported {conversations} with {messages} to {}\n", path.display()))?;
    complete(&exported, out)
}

/// Reports what could not be read, and makes the export fail although the rest was written.
fn complete(exported: &Exported, out: &mut Out) -> Result<(), Failure> {
    for what in &exported.unreadable {
        out.warning(what);
    }
    match exported.unreadable.len() {
        0 => Ok(()),
        several => Err(Failure::new(format!("{} could not be exported", count(several as u64, "item")))
            .hint("Everything else was. `ikigai doctor` checks the database.")),
    }
}

fn there(path: &Path) -> Failure {
    Failure::new(format!("{} already exists", path.display())).hint("Choose another name, or replace it with --force.")
}

async fn write(
    export: &Export,
    store: &dyn Store,
    ids: &[ConversationId],
    to: &mut (dyn Write + Send),
) -> Result<Exported, Failure> {
    match export.form() {
        Format::Jsonl if export.all => ikigai_store::export(store, Selection::All, to).await.map_err(unwritten),
        Format::Jsonl => some(store, ids, to).await,
        Format::Markdown => {
            let ids = if export.all { everything(store).await? } else { ids.to_vec() };
            markdown(store, &ids, to).await
        }
    }
}

/// Exports several conversations under one header.
async fn some(store: &dyn Store, ids: &[ConversationId], to: &mut (dyn Write + Send)) -> Result<Exported, Failure> {
    let mut all = Exported::default();
    for id in ids {
        let mut lines = Vec::new();
        let exported = ikigai_store::export(store, Selection::One(*id), &mut lines).await?;
        let header = lines.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let skipped = if all.conversations == 0 { 0 } else { header };
        to.write_all(lines.get(skipped..).unwrap_or_default()).map_err(|error| Failure::writing(&error))?;
        all.conversations += exported.conversations;
        all.messages += exported.messages;
    }
    to.flush().map_err(|error| Failure::writing(&error))?;
    Ok(all)
}

/// Returns every conversation, oldest first.
async fn everything(store: &dyn Store) -> Result<Vec<ConversationId>, Failure> {
    Ok(store.outline().await?.into_iter().map(|(id, _)| id).collect())
}

async fn markdown(store: &dyn Store, ids: &[ConversationId], to: &mut (dyn Write + Send)) -> Result<Exported, Failure> {
    let mut all = Exported::default();
    for id in ids {
        let read = async { Ok((store.conversation(*id).await?, store.thread(*id).await?)) };
        let (conversation, thread) = match read.await {
            Ok(read) => read,
            Err(error) => {
                let error: ikigai_store::Error = error;
                all.unreadable.push(format!("conversation {id}: {error}"));
                continue;
            }
        };
        let text = ikigai_store::markdown(&conversation, &thread);
        let between = if all.conversations == 0 { "" } else { "\n" };
        to.write_all(format!("{between}{text}").as_bytes()).map_err(|error| Failure::writing(&error))?;
        all.conversations += 1;
        all.messages += thread.len() as u64;
    }
    to.flush().map_err(|error| Failure::writing(&error))?;
    Ok(all)
}

/// A reader that is gone is not the store's fault.
fn unwritten(error: ikigai_store::Error) -> Failure {
    match error.source().and_then(|source| source.downcast_ref::<std::io::Error>()) {
        Some(error) => Failure::writing(error),
        None => Failure::from(error),
    }
}
