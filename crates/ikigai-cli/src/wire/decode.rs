//! `ikigai wire decode`: wire to canonical.

use clap::Args;
use ikigai_core::wire::{Incoming, StreamDecoder};
use ikigai_core::{Collector, Dialect, Error, Event, Limits};

use super::args::{self, Http, Input, Kind};
use super::item::{Canonical, Item, Outcome, Product};
use crate::exit::Failure;
use crate::output::Out;

/// Read a wire format, print the canonical JSON
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai wire decode --dialect anthropic --kind request < request.json
  ikigai wire decode --dialect gemini --kind request --path /v1beta/models/gemini-2.5-pro:generateContent < request.json
  ikigai wire decode --dialect openai-responses --kind stream < answer.sse
      Prints {\"events\": […], \"response\": {…}}: every step, and the answer that they make.
  ikigai wire decode --dialect openai-chat --kind error --status 429 --header 'retry-after: 3' < error.json
  ikigai wire decode --dialect bedrock-converse --kind stream < events.txt
      Out of Amazon's binary frames, one line for each event: data: {\"contentBlockDelta\": {…}}, and a blank line.")]
pub(crate) struct Decode {
    /// The wire format
    #[arg(long, value_name = "DIALECT", value_parser = args::dialect())]
    dialect: Dialect,
    /// What the input is
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Kind,
    #[command(flatten)]
    http: Http,
    #[command(flatten)]
    input: Input,
}

pub(crate) fn run(decode: Decode, out: &mut Out) -> Result<(), Failure> {
    let Decode { dialect, kind, http, input } = decode;
    kind.check_read(dialect)?;
    super::run_all(&input, http.into(), out, |item| Ok(show(read(dialect, kind, item)?)))
}

/// Decodes one document of a dialect.
pub(crate) fn read(dialect: Dialect, kind: Kind, item: &Item<'_>) -> Result<Canonical, Error> {
    let failure = || dialect.decode_error(item.status, &item.headers, &item.text());
    match kind {
        Kind::Request => {
            let mut incoming = Incoming::new(item.bytes()?);
            incoming.path = item.path.as_deref();
            Ok(Canonical::Request(Box::new(dialect.decode_request(incoming, &Limits::client())?.0)))
        }
        Kind::Error => Ok(Canonical::Error(Box::new(failure()))),
        Kind::Response | Kind::Stream if item.is_failure() => Err(failure()),
        Kind::Response => {
            let response = dialect.decode_response(item.bytes()?, &mut item.ids(), &Limits::client())?;
            Ok(Canonical::Response(Box::new(response)))
        }
        Kind::Stream => {
            let mut decoder = StreamDecoder::new(dialect, item.stream_ids(), &Limits::client());
            let mut events = Vec::new();
            decoder.feed(&item.body, &mut events);
            decoder.end(&mut events);
            Ok(Canonical::Stream(events))
        }
    }
}

fn show(canonical: Canonical) -> Outcome {
    match canonical {
        Canonical::Request(request) => Product::Request(request),
        Canonical::Response(response) => Product::Response(response),
        Canonical::Error(error) => Product::Error(error),
        Canonical::Stream(events) => collected(events),
    }
    .without_losses()
}

fn collected(events: Vec<Event>) -> Product {
    let mut collector = Collector::default();
    collector.extend(events.iter().cloned());
    Product::Stream { events, response: Box::new(collector.finish()) }
}
