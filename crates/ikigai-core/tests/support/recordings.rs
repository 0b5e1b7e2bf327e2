//! Exchanges on the wire: our own fixtures, which are always available, and recorded answers of providers, read from
//! the folder of recordings. Those are data of the test machine, not part of the project.

#[path = "folder.rs"]
mod folder;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ikigai_core::{Dialect, Error, FinishReason, Response};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use folder::recordings;

/// One recorded exchange.
#[derive(Debug, Deserialize)]
pub(crate) struct Exchange {
    pub(crate) id: String,
    pub(crate) request: Option<Asked>,
    pub(crate) response: Answered,
}

/// A sent request. The body stays text until a test needs it.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    pub(crate) path: String,
    body: Box<RawValue>,
}

/// An answer: a body, or the text of an event stream.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    headers: HashMap<String, String>,
    body: Option<Box<RawValue>>,
    /// A body that is not JSON.
    text: Option<String>,
    pub(crate) sse: Option<String>,
}

/// A line of `expected.jsonl` about an answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Expected {
    id: String,
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) tool_calls: Vec<ExpectedCall>,
    pub(crate) finish: String,
    pub(crate) usage: Option<ExpectedUsage>,
    /// Fields that are a matter of judgement, excluded from a strict comparison.
    #[serde(default)]
    pub(crate) uncertain: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ExpectedCall {
    pub(crate) name: String,
    pub(crate) arguments: Value,
    pub(crate) arguments_raw: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ExpectedUsage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) thinking: u64,
    pub(crate) cached: Option<u64>,
}

impl Asked {
    pub(crate) fn body(&self) -> Value {
        serde_json::from_str(self.body.get()).unwrap()
    }
}

impl Answered {
    pub(crate) fn body(&self) -> Option<Value> {
        self.body.as_ref().map(|body| serde_json::from_str(body.get()).unwrap())
    }

    pub(crate) fn body_text(&self) -> &str {
        self.body.as_ref().map(|body| body.get()).or(self.text.as_deref()).unwrap_or_default()
    }

    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        self.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Returns all exchanges of a dialect: the fixtures, and the recordings if they are available.
pub(crate) fn exchanges(dialect: Dialect) -> Vec<Exchange> {
    let mut all = fixtures(dialect);
    if let Some(folder) = recordings() {
        let read = |file: &PathBuf| {
            let text = std::fs::read_to_string(file).unwrap();
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        };
        all.extend(files(&folder.join(dialect.as_str())).iter().map(read));
    }
    all
}

/// Returns the folder of the fixtures.
fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn fixtures(dialect: Dialect) -> Vec<Exchange> {
    let read = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(file).unwrap();
        let mut exchange = Exchange { id: format!("{dialect}/{name}"), request: None, response: Answered::default() };
        if name.ends_with(".sse") {
            exchange.response = Answered { status: 200, sse: Some(text), ..Answered::default() };
        } else if let Some(name) = name.strip_suffix(".error.json") {
            let (_, status) = name.rsplit_once('.').unwrap();
            let body = Some(RawValue::from_string(text).unwrap());
            exchange.response = Answered { status: status.parse().unwrap(), body, ..Answered::default() };
        } else if name.ends_with(".response.json") {
            exchange.response =
                Answered { status: 200, body: Some(RawValue::from_string(text).unwrap()), ..Answered::default() };
        } else {
            exchange.request =
                Some(Asked { path: path(dialect).to_owned(), body: RawValue::from_string(text).unwrap() });
        }
        exchange
    };
    files(&own().join(dialect.as_str())).iter().map(read).collect()
}

/// Returns where a client of each dialect sends its requests.
fn path(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Gemini => "/v1beta/models/gemini-3-pro-preview:generateContent",
        _ => "/",
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Returns the expected lines by id.
pub(crate) fn expected() -> HashMap<String, Expected> {
    let read = |line: &str| {
        let expected: Expected = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        (expected.id.clone(), expected)
    };
    let lines = [Some(own()), recordings()].into_iter().flatten().flat_map(|folder| {
        let text = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
        text.lines().map(read).collect::<Vec<_>>()
    });
    lines.collect()
}

/// Returns an answer that failed.
pub(crate) fn failed(error: Error) -> Response {
    let mut response = Response::new(Vec::new(), FinishReason::Error);
    response.error = Some(Box::new(error));
    response
}
