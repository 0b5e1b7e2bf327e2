//! ikigai in the terminal.

#![forbid(unsafe_code)]

mod access;
mod ask;
mod chat;
mod cli;
mod compare;
mod completions;
mod conversations;
mod digest;
mod doctor;
mod exit;
mod files;
mod flow;
mod history;
mod keys;
mod levels;
mod licenses;
mod man;
mod models;
mod names;
mod output;
mod places;
mod project;
mod record;
mod redact;
mod screen;
mod serve;
mod settings;
mod sim;
mod table;
mod tools;
mod trust;
mod watch;
mod wire;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};
use crate::output::{Color, Out};

/// With it, the gateway takes a fifth less time, and a third less for large requests.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let mut out = Out::new(Color::from_arguments(&arguments));
    let run = |out: &mut Out| if completions::answered()? { Ok(Exit::Ok) } else { run(arguments, out) };
    match run(&mut out).and_then(|exit| out.flush().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // Whatever was written before the failure is due to the reader, and has to come before the error message.
            let _ = out.flush();
            out.failure(&failure);
            failure.exit.into()
        }
    }
}

fn run(arguments: Vec<OsString>, out: &mut Out) -> Result<Exit, Failure> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // The parser reports help and version as "errors", too; only those go to standard output.
            let text = error.render().ansi().to_string();
            return if error.use_stderr() {
                out.note(&text);
                Ok(Exit::Usage)
            } else {
                out.text(&text).map(|()| Exit::Ok)
            };
        }
    };
    match cli.command {
        None => chat::run(cli.chat, out)?,
        Some(Command::Chat(chat)) => chat::run(chat, out)?,
        Some(Command::Ask(ask)) => return ask::run(*ask, out),
        Some(Command::Models(models)) => models::run(models, out)?,
        Some(Command::Wire(wire)) => wire::run(wire, out)?,
        Some(Command::Serve(serve)) => serve::run(serve, out)?,
        Some(Command::Sim(sim)) => sim::run(sim, out)?,
        Some(Command::History(history)) => history::run(history, out)?,
        Some(Command::Trust(trust)) => trust::run(&trust, out)?,
        Some(Command::Keys(keys)) => keys::run(keys, out)?,
        Some(Command::Config(config)) => settings::run(config, out)?,
        Some(Command::Doctor(doctor)) => return doctor::run(&doctor, out),
        Some(Command::Completions(completions)) => completions::run(completions, out)?,
        Some(Command::Licenses(licenses)) => licenses::run(&licenses, out)?,
        Some(Command::Man(man)) => man::run(&man, out)?,
    }
    Ok(Exit::Ok)
}
