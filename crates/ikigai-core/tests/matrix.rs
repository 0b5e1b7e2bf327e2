//! The golden matrix: each fixture is read into the format, and written in every other dialect.
//!
//! A fixture is named for what is unusual about it. One snapshot shows its canonical form; one for each other dialect
//! shows what goes over the wire there, with the losses. In its own dialect it must come out unchanged. Sealed state is
//! shown open: `{"sealed": record}` represents the text that is really sent. To add a case, add a file under
//! `fixtures/` and a line to the table.

#![cfg(test)]

mod support {
    pub(crate) mod seals;
    pub(crate) mod wire;
}

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ikigai_core::catalog::rules_for;
use ikigai_core::wire::StreamEncoder;
use ikigai_core::{Block, Collector, Dialect, Part, Response};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::seals::unsealed;
use support::wire::{OfValues as _, collect, decode, encode, provider, reply, target};

const CASES: &[(Dialect, &[&str])] = &[
    (
        Dialect::Anthropic,
        &[
            "adaptive-effort-and-schema.request.json",
            "cache-marks-and-mixed-results.request.json",
            "every-source.request.json",
            "signed-thinking-and-server-tools.request.json",
            "thinking-budget-and-sampling.request.json",
            "refusal-without-content.response.json",
            "stop-sequence-and-citations.response.json",
            "thinking-redacted-and-cut-call.response.json",
            "overloaded-in-mid-answer.sse",
            "signature-delta-and-empty-arguments.sse",
            "searched-and-cited.response.json",
            "searched-and-cited.sse",
            "overloaded.529.error.json",
        ],
    ),
    (
        Dialect::OpenaiChat,
        &[
            "developer-parts-and-schema.request.json",
            "legacy-functions.request.json",
            "parallel-calls-with-helper-fields.request.json",
            "reasoning-details-replayed.request.json",
            "refusal.response.json",
            "stop-with-calls-without-ids.response.json",
            "thinking-as-a-content-part.response.json",
            "call-pieces-and-usage-after-the-finish.sse",
            "comments-and-reasoning-details.sse",
            "error-in-a-chunk.sse",
            "reasoning-text-and-error-in-the-choice.sse",
            "searched-and-cited.response.json",
            "searched-and-cited.sse",
            "context-too-long.400.error.json",
        ],
    ),
    (
        Dialect::OpenaiResponses,
        &[
            "encrypted-reasoning-and-calls.request.json",
            "files-and-images.request.json",
            "hosted-and-custom-tools.request.json",
            "string-input.request.json",
            "incomplete-in-a-call.response.json",
            "several-summaries-and-a-refusal.response.json",
            "failed-after-an-error-event.sse",
            "reasoning-text-and-call.sse",
            "searched-and-cited.response.json",
            "searched-and-cited.sse",
            "unknown-parameter.400.error.json",
        ],
    ),
    (
        Dialect::Gemini,
        &[
            "media-and-hosted-tools.request.json",
            "parallel-calls-one-signature.request.json",
            "snake-case-and-capital-types.request.json",
            "thinking-level-and-schema.request.json",
            "blocked-prompt.response.json",
            "calls-code-and-image.response.json",
            "signed-image.response.json",
            "thoughts-and-a-signed-text.response.json",
            "calls-in-an-array.sse",
            "error-object-in-mid-answer.sse",
            "signature-on-an-empty-text.sse",
            "grounded-in-a-search.response.json",
            "grounded-in-a-search.sse",
            "quota-with-a-delay.429.error.json",
        ],
    ),
];

/// Returns where a client of each dialect sends its requests.
fn path(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "/v1/messages",
        Dialect::OpenaiChat => "/chat/completions",
        Dialect::OpenaiResponses => "/responses",
        Dialect::Gemini => "/v1beta/models/gemini-3-pro-preview:generateContent",
        // No client speaks it.
        Dialect::BedrockConverse => "",
        _ => panic!("the path of {dialect} is missing here"),
    }
}

/// Returns the model to which a request is forwarded.
fn model(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "claude-sonnet-4-5",
        Dialect::OpenaiChat => "gpt-4.1",
        Dialect::OpenaiResponses => "gpt-5.1",
        Dialect::Gemini => "gemini-2.5-pro",
        Dialect::BedrockConverse => "us.amazon.nova-2-lite-v1:0",
        _ => panic!("a model of {dialect} is missing here"),
    }
}

fn folder(dialect: Dialect) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(dialect.as_str())
}

fn read(dialect: Dialect, file: &str) -> String {
    std::fs::read_to_string(folder(dialect).join(file)).unwrap()
}

fn json(dialect: Dialect, file: &str) -> Value {
    serde_json::from_str(&read(dialect, file)).unwrap()
}

/// Compares with the snapshot of a case, which is stored with those of the same fixture.
fn snapshot(dialect: Dialect, file: &str, to: &str, value: &Value) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("snapshots/{dialect}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_input_file(folder(dialect).join(file));
    settings.set_omit_expression(true);
    let mut value = value.clone();
    open_seals(&mut value);
    settings.bind(|| insta::assert_json_snapshot!(format!("{file}@{to}"), value));
}

/// Replaces the text of each seal with its content. Returns the records.
fn open_seals(value: &mut Value) -> Vec<Value> {
    match value {
        Value::Object(fields) => fields.values_mut().flat_map(open_seals).collect(),
        Value::Array(items) => items.iter_mut().flat_map(open_seals).collect(),
        Value::String(text) => {
            let Some(record) = unsealed(text) else { return Vec::new() };
            *value = json!({"sealed": record});
            vec![record]
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns the state of every block of an answer, by dialect and name, as `gemini.thought_signature = "…"`.
fn state(response: &Response) -> BTreeSet<String> {
    let data = response.content.iter().filter_map(Block::provider_data);
    let parts = data.flat_map(|data| data.parts(Part::State));
    // As values: a fixture's JSON has spaces that a seal's does not have.
    let line = |dialect: &str, name: &str, value: &ikigai_core::Json| {
        format!("{dialect}.{name} = {}", serde_json::to_value(value).unwrap())
    };
    parts.flat_map(|(dialect, fields)| fields.iter().map(move |(name, value)| line(dialect, name, value))).collect()
}

/// Checks that seals hold only state of the answer and name its issuer, and that an answer without state has none.
fn check_seals(from: Dialect, sent: &Response, written: &Value) {
    let state = state(sent);
    for record in open_seals(&mut written.clone()) {
        assert_eq!((&record["p"], &record["m"]), (&json!(provider(from)), &json!(sent.model)), "{record}");
        let sealed = record["d"].as_object().unwrap();
        assert!(!sealed.is_empty(), "a seal around nothing");
        for (dialect, fields) in sealed {
            for (name, value) in fields.as_object().unwrap() {
                assert!(state.contains(&format!("{dialect}.{name} = {value}")), "{name} is not state: {record}");
            }
        }
    }
}

fn requests(dialect: Dialect, file: &str) {
    let body = json(dialect, file);
    let request = dialect.read_request(Some(path(dialect)), &body).unwrap();
    snapshot(dialect, file, "canonical", &serde_json::to_value(&request).unwrap());
    let own = dialect.write_request(&request, &target(dialect)).unwrap();
    assert_eq!((own.body, own.losses), (body, vec![]), "{dialect} {file}");
    for to in Dialect::ALL.into_iter().filter(|to| *to != dialect) {
        let mut request = request.clone();
        request.model = model(to).to_owned();
        let mut target = target(to);
        target.rules = rules_for(model(to));
        let wire = to.write_request(&request, &target).unwrap();
        snapshot(dialect, file, to.as_str(), &serde_json::to_value(&wire).unwrap());
    }
}

fn responses(dialect: Dialect, file: &str) {
    let body = json(dialect, file);
    let response = dialect.read_response(&body).unwrap();
    snapshot(dialect, file, "canonical", &serde_json::to_value(&response).unwrap());
    assert_eq!(dialect.write_response(&response, &reply(dialect)), body, "{dialect} {file}");
    for to in Dialect::ALL.into_iter().filter(|to| *to != dialect) {
        let wire = to.encode_response(&response, &reply(dialect));
        let body: Value = serde_json::from_slice(&wire.body).unwrap();
        check_seals(dialect, &response, &body);
        let told = if wire.losses.is_empty() { body } else { json!({"body": body, "losses": wire.losses}) };
        snapshot(dialect, file, to.as_str(), &told);
    }
}

fn streams(dialect: Dialect, file: &str) {
    let events = decode(dialect, read(dialect, file).as_bytes());
    let mut collector = Collector::default();
    collector.extend(events.clone());
    let response = collector.finish();
    snapshot(dialect, file, "canonical", &json!({"events": events, "response": response}));
    let again = collect(decode(dialect, &encode(dialect, dialect, &events)));
    // The data around the answer (times, prices, the provider's own words for an error) is the server's own.
    let failure = |response: &Response| response.error.as_ref().map(|error| (error.kind, error.message.clone()));
    assert_eq!(
        (&again.content, again.finish_reason, failure(&again)),
        (&response.content, response.finish_reason, failure(&response)),
        "{dialect} {file}"
    );
    for to in Dialect::ALL.into_iter().filter(|to| *to != dialect) {
        let mut encoder = StreamEncoder::new(to, reply(dialect));
        let mut bytes = Vec::new();
        events.iter().for_each(|event| encoder.push(event, &mut bytes));
        let frames = json!(frames(&String::from_utf8(bytes).unwrap()));
        check_seals(dialect, &response, &frames);
        let losses = encoder.losses();
        let told = if losses.is_empty() { frames } else { json!({"frames": frames, "losses": losses}) };
        snapshot(dialect, file, to.as_str(), &told);
    }
}

fn failures(dialect: Dialect, file: &str) {
    let (_, status) = file.trim_end_matches(".error.json").rsplit_once('.').unwrap();
    let error = dialect.decode_error(status.parse().ok(), &[], &read(dialect, file));
    snapshot(dialect, file, "canonical", &serde_json::to_value(&error).unwrap());
    for to in Dialect::ALL {
        let wire = to.encode_error(&error);
        let body: Value = serde_json::from_slice(&wire.body).unwrap();
        let told = json!({"status": wire.status, "headers": wire.headers, "body": body});
        snapshot(dialect, file, to.as_str(), &told);
    }
}

/// Returns the frames of a stream, each with its name if it has one.
fn frames(text: &str) -> Vec<Value> {
    let mut frames = Vec::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(event) = line.strip_prefix("event: ") {
            name = Some(event.to_owned());
        } else if let Some(data) = line.strip_prefix("data: ") {
            let data = serde_json::from_str(data).unwrap_or_else(|_| Value::from(data));
            frames.push(match name.take() {
                Some(name) => json!({"event": name, "data": data}),
                None => data,
            });
        } else {
            assert_eq!(line, "", "a line that is no frame");
        }
    }
    frames
}

fn matrix(dialect: Dialect) {
    let files = CASES.iter().find(|(named, _)| *named == dialect).map(|(_, files)| *files).unwrap();
    for file in files {
        if file.ends_with(".request.json") {
            requests(dialect, file);
        } else if file.ends_with(".response.json") {
            responses(dialect, file);
        } else if file.ends_with(".error.json") {
            failures(dialect, file);
        } else {
            streams(dialect, file);
        }
    }
}

/// Each dialect is a separate test, so that they run in parallel.
macro_rules! dialects {
    ($($name:ident = $dialect:ident),* $(,)?) => {
        const TESTED: &[Dialect] = &[$(Dialect::$dialect),*];

        $(#[test]
        fn $name() {
            matrix(Dialect::$dialect);
        })*
    };
}

dialects!(anthropic = Anthropic, openai_chat = OpenaiChat, openai_responses = OpenaiResponses, gemini = Gemini);

#[test]
fn every_dialect_is_in_the_table_and_tested() {
    let listed: Vec<Dialect> = CASES.iter().map(|(dialect, _)| *dialect).collect();
    assert_eq!((listed.as_slice(), TESTED), (Dialect::ALL.as_slice(), Dialect::ALL.as_slice()));
}

#[test]
fn every_fixture_is_in_the_table() {
    for (dialect, files) in CASES.iter().copied() {
        let mut found: Vec<String> = std::fs::read_dir(folder(dialect))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        found.sort();
        let mut listed: Vec<&str> = files.to_vec();
        listed.sort_unstable();
        assert_eq!(found, listed, "{dialect}");
    }
}
