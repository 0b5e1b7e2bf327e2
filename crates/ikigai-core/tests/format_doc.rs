//! Every example in `docs/format.md` is correct: it can be read, is written back the same, and matches the schema.

#![cfg(all(feature = "schema", feature = "validate"))]

use std::collections::BTreeMap;

use ikigai_core::{Block, Collector, Error, Event, FinishReason, Loss, Request, Response, Thinking, Tool};
use pretty_assertions::assert_eq;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../docs/format.md");

#[test]
fn every_example_reads_and_writes_back_the_same() {
    let mut seen = BTreeMap::new();
    for (line, kind, text) in examples() {
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("line {line}: {error}"));
        let written = match kind.as_str() {
            "request" => round::<Request>(&value),
            "response" => round::<Response>(&value),
            "event" => round::<Event>(&value),
            "events" => round::<Vec<Event>>(&value),
            "error" => round::<Error>(&value),
            "block" => round::<Block>(&value),
            "tool" => round::<Tool>(&value),
            "thinking" => round::<Thinking>(&value),
            "loss" => round::<Loss>(&value),
            _ => panic!("line {line}: no kind of example: {kind:?}"),
        };
        // Compared as text: the order of keys is part of the format.
        assert_eq!(written, Ok(serde_json::to_string(&value).unwrap()), "line {line}");
        *seen.entry(kind).or_insert(0) += 1;
    }
    let kinds: Vec<&str> = seen.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["block", "error", "event", "events", "loss", "request", "response", "thinking", "tool"]);
}

#[test]
fn every_example_fits_the_schema() {
    let schema = ikigai_core::schema();
    for (line, kind, text) in examples() {
        let reference = match kind.as_str() {
            "request" => "Request",
            "response" => "Response",
            "event" | "events" => "Event",
            "error" => "Error",
            "block" => "Block",
            "tool" => "Tool",
            "thinking" => "Thinking",
            "loss" => "Loss",
            _ => panic!("line {line}: no kind of example: {kind:?}"),
        };
        let mut document = schema.clone();
        document["anyOf"] = json!([{"$ref": format!("#/$defs/{reference}")}]);
        let validator = jsonschema::validator_for(&document).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let values = if kind == "events" { value.as_array().unwrap().clone() } else { vec![value] };
        for value in values {
            let faults: Vec<String> = validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
            assert_eq!(faults, Vec::<String>::new(), "line {line}");
        }
    }
}

#[test]
fn the_events_on_the_page_are_a_stream() {
    let (_, _, text) = examples().into_iter().find(|(_, kind, _)| kind == "events").unwrap();
    let mut collector = Collector::default();
    collector.extend(serde_json::from_str::<Vec<Event>>(&text).unwrap());
    let response = collector.finish();
    assert_eq!((response.finish_reason, response.error), (FinishReason::ToolUse, None));
    assert_eq!(response.content.len(), 3);
}

#[test]
fn the_page_names_every_kind_of_error_and_whether_to_try_again() {
    let rows: Vec<(&str, bool)> = PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .filter_map(|(kind, rest)| Some((kind, rest.strip_suffix(" |")?.rsplit(" | ").next()?)))
        .filter(|(_, again)| ["yes", "no"].contains(again))
        .map(|(kind, again)| (kind, again == "yes"))
        .collect();
    assert_eq!(rows.len(), 14);
    for (kind, again) in rows {
        let error: Error = serde_json::from_value(json!({"kind": kind, "message": ""})).unwrap();
        assert_eq!(error.is_retryable(), again, "{kind}");
    }
}

fn round<T: DeserializeOwned + Serialize>(value: &Value) -> Result<String, String> {
    let read: T = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    serde_json::to_string(&read).map_err(|error| error.to_string())
}

/// Returns the examples: line, kind, text.
fn examples() -> Vec<(usize, String, String)> {
    let mut examples = Vec::new();
    let mut open: Option<(usize, String, String)> = None;
    for (number, line) in PAGE.lines().enumerate() {
        match &mut open {
            None => {
                if let Some(kind) = line.strip_prefix("```json") {
                    open = Some((number + 1, kind.trim().to_owned(), String::new()));
                }
            }
            Some((_, _, text)) => {
                if line == "```" {
                    examples.extend(open.take());
                } else {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    assert!(open.is_none() && !examples.is_empty());
    examples
}
