//! `ikigai wire encode`: canonical to wire.

use clap::Args;
use ikigai_core::wire::{Ids, Reply, StreamEncoder};
use ikigai_core::{
    Collector, Dialect, Error, Event, FinishReason, Json, Limits, Loss, Request, Severity, events, unknown_fields,
};
use serde_json::Value;

use super::args::{self, Input, Kind, Other};
use super::item::{self, Canonical, Item, Outcome, Product, Refusal, Translated};
use super::target::Targets;
use crate::exit::Failure;
use crate::output::Out;

/// Read canonical JSON, print a wire format
///
/// What cannot be carried is listed on standard error, one per line.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai wire encode --dialect gemini --kind request < canonical.json
  ikigai wire encode --dialect openai-chat --provider deepseek --model deepseek-chat --kind request --full < canonical.json
      As that provider takes it, with path and headers.
  ikigai wire encode --dialect anthropic --kind stream < events.json
      From {\"events\": […]}, a list of events, or a whole response: the text of an event stream.")]
pub(crate) struct Encode {
    /// The wire format
    #[arg(long, value_name = "DIALECT", value_parser = args::dialect())]
    dialect: Dialect,
    /// What the input is
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Kind,
    #[command(flatten)]
    other: Other,
    #[command(flatten)]
    input: Input,
}

pub(crate) fn run(encode: Encode, out: &mut Out) -> Result<(), Failure> {
    let Encode { dialect, kind, other, input } = encode;
    kind.check_written(dialect)?;
    let targets = Targets::new(dialect, &other, out)?;
    let writer = Writer { dialect, targets: &targets, other: &other, issuer: other.provider.as_deref() };
    super::run_all(&input, Item::default(), out, |item| {
        writer.write(canonical(kind, item)?, unknown(kind, item)?, item)
    })
}

/// Returns the fields of a document that the format does not have.
fn unknown(kind: Kind, item: &Item<'_>) -> Result<Vec<Loss>, Error> {
    let kind = match kind {
        Kind::Request => "Request",
        Kind::Response => "Response",
        Kind::Error => "Error",
        Kind::Stream => return Ok(stream_unknown(&item.json()?)),
    };
    Ok(unknown_fields(&item.json()?, kind))
}

fn stream_unknown(value: &Value) -> Vec<Loss> {
    let Some(list) = value.get("events").unwrap_or(value).as_array() else { return unknown_fields(value, "Response") };
    let events = list.iter().enumerate().flat_map(|(index, event)| {
        let found = unknown_fields(event, "Event").into_iter();
        found.map(move |mut loss| {
            loss.place = format!("events[{index}].{}", loss.place);
            loss
        })
    });
    events.collect()
}

/// Reads a canonical document.
fn canonical(kind: Kind, item: &Item<'_>) -> Result<Canonical, Error> {
    Ok(match kind {
        Kind::Request => Canonical::Request(item.canonical("request")?),
        Kind::Response => Canonical::Response(item.canonical("response")?),
        Kind::Error => Canonical::Error(item.canonical("error")?),
        Kind::Stream => Canonical::Stream(stream(item.json()?)?),
    })
}

/// Reads events in any of the forms that we print or that people have: an object, a list, a complete answer.
fn stream(value: Value) -> Result<Vec<Event>, Error> {
    let list = match value {
        Value::Object(mut fields) if fields.contains_key("events") => fields.remove("events").unwrap_or_default(),
        Value::Array(list) => Value::Array(list),
        whole => return Ok(events(&item::read(whole, "response")?)),
    };
    let list: Vec<Event> = item::read(list, "list of events")?;
    in_order(&list)?;
    Ok(list)
}

/// Checks the order of events: encoders may rely on it, but input from people may not follow it.
fn in_order(events: &[Event]) -> Result<(), Error> {
    let mut collector = Collector::default();
    collector.extend(events.iter().cloned());
    let response = collector.finish();
    let told = events.last().is_some_and(|event| matches!(event, Event::Error { .. }));
    match response.error {
        Some(error) if response.finish_reason == FinishReason::Error && !told => {
            Err(Error::invalid_request(format!("these events are not a valid stream: {}", error.message)))
        }
        _ => Ok(()),
    }
}

/// Writes documents of a dialect.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) targets: &'a Targets,
    pub(crate) other: &'a Other,
    /// The provider that issued the sealed state of an answer.
    pub(crate) issuer: Option<&'a str>,
}

impl Writer<'_> {
    /// Writes a document. `found` are the losses from reading it.
    pub(crate) fn write(&self, canonical: Canonical, found: Vec<Loss>, item: &Item<'_>) -> Translated {
        match canonical {
            Canonical::Request(request) => self.request(*request, found),
            Canonical::Response(response) => {
                let wire = self.dialect.encode_response(&response, &self.reply(item.ids()));
                let losses = found.into_iter().chain(response.warnings).chain(wire.losses).collect();
                self.carried(Product::wire(&wire.body)?, losses, "answer")
            }
            Canonical::Error(error) => {
                let wire = self.dialect.encode_error(&error);
                let product = if self.other.full {
                    Product::Wire(Json::of(&wire).unwrap_or_default())
                } else {
                    Product::wire(&wire.body)?
                };
                self.carried(product, found, "error")
            }
            Canonical::Stream(events) => {
                let mut encoder = StreamEncoder::new(self.dialect, self.reply(item.stream_ids()));
                let mut bytes = Vec::new();
                for event in &events {
                    encoder.push(event, &mut bytes);
                }
                let text = Product::Text(String::from_utf8_lossy(&bytes).into_owned());
                self.carried(text, found.into_iter().chain(encoder.losses().iter().cloned()).collect(), "stream")
            }
        }
    }

    fn request(&self, mut request: Request, found: Vec<Loss>) -> Translated {
        let target = self.targets.aim(&mut request)?;
        let mut wire = self.dialect.encode_request(&request, &target.target(), &Limits::client())?;
        let losses = std::mem::take(&mut wire.losses);
        let product = match self.other.full {
            true => Product::Wire(Json::of(&wire).unwrap_or_default()),
            false => Product::wire(&wire.body)?,
        };
        self.carried(product, found.into_iter().chain(losses).collect(), "request")
    }

    /// Returns what was written; in strict mode only if nothing was lost.
    fn carried(&self, product: Product, losses: Vec<Loss>, what: &str) -> Translated {
        let lost = losses.iter().filter(|loss| loss.severity == Severity::Loss).count();
        if self.other.strict && lost > 0 {
            let things = if lost == 1 { "one thing".to_owned() } else { format!("{lost} things") };
            let message = format!("strict: {} cannot carry {things} of this {what}", self.dialect);
            return Err(Refusal { error: Error::invalid_request(message), losses });
        }
        Ok(Outcome { product, losses })
    }

    /// Returns what a server would know besides the answer.
    pub(crate) fn reply(&self, ids: Ids) -> Reply {
        let mut reply = Reply::default();
        reply.ids = ids;
        reply.created = self.other.created.unwrap_or_else(now);
        reply.model.clone_from(&self.other.model);
        // Requested, so that the counts are not lost.
        reply.stream_usage = true;
        reply.provider = self.issuer.map(str::to_owned);
        reply
    }
}

fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
