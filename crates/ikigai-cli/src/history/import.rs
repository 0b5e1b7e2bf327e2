//! `ikigai history import`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use clap::Args;
use ikigai_store::{ErrorKind, Imported, Store};

use super::count;
use crate::exit::Failure;
use crate::output::Out;

/// Import conversations that were exported
///
/// A conversation that already exists is left as it is, so importing twice changes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai history import conversations.jsonl
  gzip -dc conversations.jsonl.gz | ikigai history import -

Each conversation is imported completely or not at all. A line that cannot be read stops the import; the conversations
before it are kept.")]
pub(crate) struct Import {
    /// A file of JSON Lines from `ikigai history export`; - is standard input
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
}

pub(crate) async fn run(import: &Import, store: &dyn Store, out: &mut Out) -> Result<(), Failure> {
    let is_input = import.file.as_os_str() == "-";
    let name = if is_input { "standard input".to_owned() } else { import.file.display().to_string() };
    let mut from: Box<dyn BufRead + Send> = if is_input {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        let file = File::open(&import.file).map_err(|error| Failure::file("read", &import.file, &error))?;
        Box::new(BufReader::new(file))
    };
    let imported = ikigai_store::import(store, &mut *from).await.map_err(|error| match error.kind() {
        ErrorKind::Import => Failure::new(format!("{name}: {}", error.message())).hint(
            "The conversations before that line were imported. Fix the line and import the file again; they will not change.",
        ),
        _ => Failure::from(error),
    })?;
    out.text(&format!("{}\n", told(imported)))
}

fn told(imported: Imported) -> String {
    let Imported { conversations, messages, already } = imported;
    let new = format!("Imported {} with {}", count(conversations, "conversation"), count(messages, "message"));
    match (conversations, already) {
        (_, 0) => new,
        (0, 1) => "Nothing new: 1 conversation already existed".to_owned(),
        (0, several) => format!("Nothing new: {several} conversations already existed"),
        (_, 1) => format!("{new}; 1 already existed"),
        (_, several) => format!("{new}; {several} already existed"),
    }
}
