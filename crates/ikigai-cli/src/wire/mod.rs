//! `ikigai wire`: the translations as commands.

mod args;
mod batch;
mod decode;
mod encode;
mod item;
mod lines;
mod schema;
mod target;
mod translate;

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _, Read as _};

use clap::{Args, Subcommand};

use self::args::{Http, Input};
use self::item::{Item, Product, Refusal, Translated};
use crate::exit::Failure;
use crate::output::Out;

/// Translate between the canonical format and the wire formats
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai wire decode --dialect anthropic --kind response < answer.json
  ikigai wire encode --dialect gemini --kind request < canonical.json
  ikigai wire translate --from openai-chat --to anthropic --kind request < request.json

The wire formats (dialects): anthropic, openai-chat, openai-responses, gemini; and bedrock-converse, which only
providers speak: its requests can be written, its answers, streams and errors can be read.")]
pub(crate) struct Wire {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Decode(decode::Decode),
    Encode(Box<encode::Encode>),
    Translate(Box<translate::Translate>),
    Schema(schema::Schema),
}

pub(crate) fn run(wire: Wire, out: &mut Out) -> Result<(), Failure> {
    match wire.command {
        Command::Decode(decode) => decode::run(decode, out),
        Command::Encode(encode) => encode::run(*encode, out),
        Command::Translate(translate) => translate::run(*translate, out),
        Command::Schema(schema) => schema::run(&schema, out),
    }
}

/// Runs the input through a translation: one document, or a batch of lines.
fn run_all(
    input: &Input,
    defaults: Item<'_>,
    out: &mut Out,
    translate: impl Fn(&Item<'_>) -> Translated,
) -> Result<(), Failure> {
    let mut reader = input.open(out)?;
    if input.batch {
        return batch::run(reader, &defaults, out, translate);
    }
    let mut body = Vec::new();
    let most = u64::try_from(lines::LIMIT).unwrap_or(u64::MAX);
    reader.by_ref().take(most.saturating_add(1)).read_to_end(&mut body).map_err(|error| unreadable(&error))?;
    if body.len() > lines::LIMIT {
        return Err(Failure::new(format!("the input is longer than {} bytes", lines::LIMIT)));
    }
    match translate(&Item { body: body.into(), ..defaults }) {
        Ok(outcome) => {
            tell(&outcome.losses, out);
            match outcome.product {
                Product::Text(text) => out.data(text.as_bytes()),
                product => out.json(&product),
            }
        }
        Err(Refusal { error, losses }) => {
            tell(&losses, out);
            Err(Failure::new(error.to_string()))
        }
    }
}

/// Reports what was lost, one loss per line.
fn tell(losses: &[ikigai_core::Loss], out: &mut Out) {
    for loss in losses {
        out.loss(loss);
    }
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot read the input: {error}"))
}

impl Input {
    fn open(&self, out: &mut Out) -> Result<Box<dyn BufRead>, Failure> {
        match &self.file {
            None => {
                if std::io::stdin().is_terminal() {
                    out.note("Reading from the terminal; Ctrl-D on an empty line ends the input.\n");
                }
                Ok(Box::new(std::io::stdin().lock()))
            }
            Some(path) => {
                let file = File::open(path)
                    .map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))?;
                Ok(Box::new(BufReader::new(file)))
            }
        }
    }
}

impl From<Http> for Item<'_> {
    fn from(http: Http) -> Self {
        Item { body: Vec::new().into(), path: http.path, status: http.status, headers: http.headers }
    }
}
