//! `ikigai man`: the man pages, generated from the same definitions as the help.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::cli::Cli;
use crate::exit::Failure;
use crate::output::Out;

/// Print the man page
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai man | man -l -
      Read it now.
  ikigai man --dir ~/.local/share/man/man1
      Write one page for each command; `man ikigai-models` finds it.")]
pub(crate) struct Man {
    /// Write a page for each command into this folder instead
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

pub(crate) fn run(man: &Man, out: &mut Out) -> Result<(), Failure> {
    match &man.dir {
        Some(folder) => write_pages(folder),
        None => out.data(&page(Cli::command())?),
    }
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    Page::new(command).render(&mut text).map_err(|error| Failure::new(format!("cannot make the man page: {error}")))?;
    Ok(text)
}

fn write_pages(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .map_err(|error| Failure::new(format!("cannot write the man pages to {}: {error}", folder.display())))
}
