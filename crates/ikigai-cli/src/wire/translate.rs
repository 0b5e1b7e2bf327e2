//! `ikigai wire translate`: wire to wire, through the canonical format.

use std::io::Read;

use clap::Args;
use ikigai_core::wire::{StreamDecoder, StreamEncoder};
use ikigai_core::{Dialect, Limits};

use super::args::{self, Http, Input, Kind, Other};
use super::encode::Writer;
use super::item::{self, Item};
use super::target::Targets;
use super::{decode, unreadable};
use crate::exit::Failure;
use crate::output::Out;

/// Read one wire format, print another
///
/// What cannot be carried is listed on standard error, one per line.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai wire translate --from openai-chat --to anthropic --kind request --model claude-sonnet-4-5 < request.json
  ikigai wire translate --from anthropic --to openai-chat --kind response < answer.json
  some-program | ikigai wire translate --from gemini --to openai-responses --kind stream
      Event by event, while it arrives.")]
pub(crate) struct Translate {
    /// The wire format of the input
    #[arg(long, value_name = "DIALECT", value_parser = args::dialect())]
    from: Dialect,
    /// The wire format of the output
    #[arg(long, value_name = "DIALECT", value_parser = args::dialect())]
    to: Dialect,
    /// What the input is
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Kind,
    #[command(flatten)]
    http: Http,
    #[command(flatten)]
    other: Other,
    #[command(flatten)]
    input: Input,
}

pub(crate) fn run(translate: Translate, out: &mut Out) -> Result<(), Failure> {
    let Translate { from, to, kind, http, other, input } = translate;
    kind.check_read(from)?;
    kind.check_written(to)?;
    let targets = Targets::new(to, &other, out)?;
    // An answer comes from the provider, which speaks the input's dialect.
    let writer = Writer { dialect: to, targets: &targets, other: &other, issuer: Some(targets.issuer(from)) };
    let defaults: Item<'_> = http.into();
    if kind == Kind::Stream && !input.batch && !defaults.is_failure() {
        let reader = input.open(out)?;
        return stream(from, &writer, reader, out);
    }
    super::run_all(&input, defaults, out, |item| writer.write(decode::read(from, kind, item)?, Vec::new(), item))
}

/// Translates a single stream while it arrives, without ever holding all of it.
fn stream(from: Dialect, writer: &Writer<'_>, mut input: impl Read, out: &mut Out) -> Result<(), Failure> {
    let mut opening = Vec::new();
    let mut bytes = vec![0; 64 << 10];
    let mut ended = false;
    while !ended && item::opening(&opening).is_none() {
        let length = read(&mut input, &mut bytes)?;
        opening.extend_from_slice(bytes.get(..length).unwrap_or_default());
        ended = length == 0;
    }
    let first = Item { body: opening.into(), ..Item::default() };
    let mut decoder = StreamDecoder::new(from, first.stream_ids(), &Limits::client());
    let mut encoder = StreamEncoder::new(writer.dialect, writer.reply(first.stream_ids()));
    let (mut events, mut written) = (Vec::new(), Vec::new());
    decoder.feed(&first.body, &mut events);
    loop {
        if ended {
            decoder.end(&mut events);
        }
        for event in events.drain(..) {
            encoder.push(&event, &mut written);
        }
        out.data(&written)?;
        out.flush()?;
        written.clear();
        if ended {
            super::tell(encoder.losses(), out);
            return Ok(());
        }
        let length = read(&mut input, &mut bytes)?;
        decoder.feed(bytes.get(..length).unwrap_or_default(), &mut events);
        ended = length == 0;
    }
}

/// Reads what has arrived, at least one byte; nothing at the end.
fn read(input: &mut impl Read, bytes: &mut [u8]) -> Result<usize, Failure> {
    loop {
        match input.read(bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            result => return result.map_err(|error| unreadable(&error)),
        }
    }
}
