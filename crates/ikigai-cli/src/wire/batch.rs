//! `--batch`: one JSON object per line in, one per line out.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;

use ikigai_core::{Error, Loss};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::item::{Item, Product, Refusal, Translated};
use super::lines::{LIMIT, Line, Lines};
use crate::exit::Failure;
use crate::output::Out;

/// One line of the input.
#[derive(Debug, Deserialize)]
struct Entry<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow)]
    body: &'a RawValue,
    path: Option<String>,
    status: Option<u16>,
    #[serde(default)]
    headers: Headers,
}

/// Headers as people write them down.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Headers {
    Map(BTreeMap<String, OneOrMany>),
    Pairs(Vec<(String, String)>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// One line of the output.
#[derive(Debug, Default, Serialize)]
struct Answer {
    id: Value,
    /// The number of an input line that could not be read, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<Product>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Error>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    losses: Vec<Loss>,
}

/// Runs the whole input through a translation, line by line. `defaults` applies to whatever a line leaves out.
pub(crate) fn run(
    input: impl BufRead,
    defaults: &Item<'_>,
    out: &mut Out,
    translate: impl Fn(&Item<'_>) -> Translated,
) -> Result<(), Failure> {
    let mut lines = Lines::new(input, LIMIT);
    let mut number = 0;
    while let Some(line) =
        lines.next().map_err(|error| Failure::new(format!("cannot read the input after line {number}: {error}")))?
    {
        number += 1;
        let answer = match line {
            Line::TooLong => refused(Value::Null, number, format!("line {number}: longer than {LIMIT} bytes")),
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => continue,
            Line::Whole(bytes) => answer(bytes, number, defaults, &translate),
        };
        out.json_line(&answer)?;
        // A program that feeds us line by line waits for this one before it sends the next.
        out.flush()?;
    }
    Ok(())
}

fn answer(line: &[u8], number: u64, defaults: &Item<'_>, translate: impl Fn(&Item<'_>) -> Translated) -> Answer {
    let entry: Entry<'_> = match serde_json::from_slice(line) {
        Ok(entry) => entry,
        Err(error) => return refused(id_of(line), number, describe(number, &error)),
    };
    let Some(body) = body(entry.body) else {
        return refused(entry.id, number, format!("line {number}: the body's text cannot be read"));
    };
    let headers: Vec<(String, String)> = entry.headers.into();
    let item = Item {
        body,
        path: entry.path.or_else(|| defaults.path.clone()),
        status: entry.status.or(defaults.status),
        headers: if headers.is_empty() { defaults.headers.clone() } else { headers },
    };
    let id = entry.id;
    match translate(&item) {
        Ok(outcome) => Answer { id, ok: Some(outcome.product), losses: outcome.losses, ..Answer::default() },
        Err(Refusal { error, losses }) => Answer { id, error: Some(error), losses, ..Answer::default() },
    }
}

/// Returns the body's text: the content of a string, or else the JSON unchanged.
fn body(raw: &RawValue) -> Option<Cow<'_, [u8]>> {
    if raw.get().starts_with('"') {
        let text: String = serde_json::from_str(raw.get()).ok()?;
        return Some(Cow::Owned(text.into_bytes()));
    }
    Some(Cow::Borrowed(raw.get().as_bytes()))
}

fn refused(id: Value, number: u64, message: String) -> Answer {
    Answer { id, line: Some(number), error: Some(Error::invalid_request(message)), ..Answer::default() }
}

/// Returns the id of a line that is JSON but otherwise invalid.
fn id_of(line: &[u8]) -> Value {
    #[derive(Deserialize)]
    struct Id {
        id: Value,
    }
    serde_json::from_slice::<Id>(line).map_or(Value::Null, |line| line.id)
}

/// Describes an error with the number of the input line: the parser only sees a single line, so it always says 1.
fn describe(number: u64, error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())) {
        Some(what) => format!("line {number}, column {}: {what}", error.column()),
        None => format!("line {number}: {text}"),
    }
}

impl Default for Headers {
    fn default() -> Self {
        Headers::Pairs(Vec::new())
    }
}

impl From<Headers> for Vec<(String, String)> {
    fn from(headers: Headers) -> Self {
        let pairs: Vec<(String, String)> = match headers {
            Headers::Pairs(pairs) => pairs,
            Headers::Map(map) => map
                .into_iter()
                .flat_map(|(name, values)| {
                    let values = match values {
                        OneOrMany::One(value) => vec![value],
                        OneOrMany::Many(values) => values,
                    };
                    values.into_iter().map(move |value| (name.clone(), value))
                })
                .collect(),
        };
        pairs.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect()
    }
}
