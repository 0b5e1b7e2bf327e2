//! What providers really answered, read from the folder of recordings. They are data of the test machine and no part
//! of the project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ikigai_core::Dialect;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One recorded exchange.
#[derive(Debug, Deserialize)]
pub(crate) struct Exchange {
    pub(crate) id: String,
    pub(crate) request: Option<Asked>,
    pub(crate) response: Answered,
}

/// What was sent. The body stays text until a test wants it.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    pub(crate) path: String,
    body: Box<RawValue>,
}

/// What came back: a body, or the text of an event stream.
#[derive(Debug, Deserialize)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    headers: HashMap<String, String>,
    body: Option<Box<RawValue>>,
    pub(crate) sse: Option<String>,
}

/// What a line of `expected.jsonl` says about an answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Expected {
    id: String,
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) tool_calls: Vec<ExpectedCall>,
    pub(crate) finish: String,
    pub(crate) usage: Option<ExpectedUsage>,
    /// Fields that are a judgement, left out of a strict comparison.
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
        self.body.as_ref().map_or("", |body| body.get())
    }

    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        self.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// All exchanges of a dialect, in the order of their ids. None when there is no folder of recordings, except where
/// everything has to run: there it is a failure.
pub(crate) fn exchanges(dialect: Dialect) -> Option<Vec<Exchange>> {
    let mut files: Vec<PathBuf> = match std::fs::read_dir(folder()?.join(dialect.as_str())) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(error) => panic!("the recordings of {dialect} cannot be read: {error}"),
    };
    files.sort();
    let read = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    Some(files.iter().map(read).collect())
}

/// The expected lines by id.
pub(crate) fn expected() -> HashMap<String, Expected> {
    let Some(folder) = folder() else { return HashMap::new() };
    let text = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let read = |line: &str| {
        let expected: Expected = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        (expected.id.clone(), expected)
    };
    text.lines().map(read).collect()
}

#[expect(clippy::print_stderr, reason = "a part that was not run has to be seen")]
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("IKIGAI_RECORDINGS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "there are no recordings at {}", folder.display());
    eprintln!("not run: there are no recordings at {}", folder.display());
    None
}
