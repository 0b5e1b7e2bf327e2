//! Streams in the order in which providers send them, if that says more than a whole answer does: what a tool is doing
//! while it runs, and when citations arrive.

use bytes::Bytes;
use ikigai_core::Dialect;
use serde_json::{Value, json};

use crate::models;
use crate::tree::{at, set};

/// The frames of a stream of this model, as its provider sends them.
pub(crate) fn as_sent(dialect: Dialect, model: &str, frames: Vec<Bytes>) -> Vec<Bytes> {
    let rearranged = match dialect {
        Dialect::Anthropic => citations_first(events(&frames)),
        Dialect::OpenaiResponses => with_progress(events(&frames)),
        Dialect::OpenaiChat if !models::is_openais(model) => sources_first(events(&frames)),
        // The others are sent as they are written.
        _ => return frames,
    };
    rearranged.iter().map(Event::write).collect()
}

/// An event of a stream.
struct Event {
    name: Option<String>,
    data: Value,
    /// The text of the data, in case it is not JSON.
    text: String,
}

impl Event {
    fn kind(&self) -> &str {
        at(&self.data, "/type").as_str().unwrap_or_default()
    }

    fn write(&self) -> Bytes {
        let name = self.name.as_ref().map(|name| format!("event: {name}\n")).unwrap_or_default();
        let data = if self.data.is_null() { self.text.clone() } else { self.data.to_string() };
        format!("{name}data: {data}\n\n").into()
    }
}

fn events(frames: &[Bytes]) -> Vec<Event> {
    let text = String::from_utf8_lossy(&frames.concat()).into_owned();
    let frame = |frame: &str| {
        let name = frame.lines().find_map(|line| line.strip_prefix("event: ")).map(str::to_owned);
        let text = frame.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default().to_owned();
        Event { name, data: serde_json::from_str(&text).unwrap_or_default(), text }
    };
    text.split_terminator("\n\n").map(frame).collect()
}

/// The Messages API sends the citations of a block before its text, and begins a call with an empty piece.
fn citations_first(events: Vec<Event>) -> Vec<Event> {
    let mut sent: Vec<Event> = Vec::with_capacity(events.len());
    let mut begun = 0;
    for mut event in events {
        if event.kind() == "content_block_start" {
            begun = sent.len();
            let is_call = at(&event.data, "/content_block/type") == "server_tool_use";
            let index = at(&event.data, "/index").clone();
            sent.push(event);
            if is_call {
                let delta = json!({"type": "input_json_delta", "partial_json": ""});
                sent.push(Event {
                    name: Some("content_block_delta".to_owned()),
                    data: json!({"type": "content_block_delta", "index": index, "delta": delta}),
                    text: String::new(),
                });
            }
            continue;
        }
        if at(&event.data, "/delta/type") == "citations_delta" {
            if let Some(start) =
                sent.get_mut(begun).and_then(|start| start.data.get_mut("content_block")?.as_object_mut())
            {
                start.insert("citations".to_owned(), json!([]));
            }
            let is_citation = |event: &&Event| at(&event.data, "/delta/type") == "citations_delta";
            let known = sent.get(begun + 1..).unwrap_or_default().iter().take_while(is_citation).count();
            event.text.clear();
            sent.insert(begun + 1 + known, event);
            continue;
        }
        sent.push(event);
    }
    sent
}

/// OpenRouter sends one source after the other, before any text.
fn sources_first(events: Vec<Event>) -> Vec<Event> {
    let mut sent: Vec<Event> = Vec::with_capacity(events.len());
    for mut event in events {
        let delta = event.data.pointer_mut("/choices/0/delta").and_then(Value::as_object_mut);
        let Some(Value::Array(sources)) = delta.and_then(|delta| delta.remove("annotations")) else {
            sent.push(event);
            continue;
        };
        // The first frame states the role.
        let first = sent.len().min(1);
        for (place, source) in sources.into_iter().enumerate() {
            let mut data = event.data.clone();
            if let Some(choice) = data.pointer_mut("/choices/0") {
                set(choice, "delta", json!({"role": "assistant", "content": "", "annotations": [source]}));
                set(choice, "finish_reason", Value::Null);
            }
            sent.insert(first + place, Event { name: None, data, text: String::new() });
        }
        if event.data.pointer("/choices/0/finish_reason").is_some_and(|reason| !reason.is_null()) {
            sent.push(event);
        }
    }
    sent
}

/// The Responses API reports the progress of its tools, and sends a link's annotation right after it.
fn with_progress(events: Vec<Event>) -> Vec<Event> {
    let mut sent: Vec<Event> = Vec::with_capacity(events.len());
    for event in events {
        let item = at(&event.data, "/item");
        let kind = at(item, "/type").as_str().unwrap_or_default().to_owned();
        match (event.kind(), steps(&kind)) {
            ("response.output_item.added", Some(steps)) => {
                let step = |step: &&&str| **step != "completed" || at(item, "/status") == "completed";
                let told: Vec<Event> = steps.iter().filter(step).map(|step| progress(&kind, step, &event)).collect();
                sent.push(begun(event));
                sent.extend(told);
            }
            // What comes in between belongs to the code that is running.
            ("response.code_interpreter_call_code.done", _) => {
                let told = ["interpreting", "completed"].map(|step| progress("code_interpreter_call", step, &event));
                sent.push(event);
                sent.extend(told);
            }
            ("response.output_text.annotation.added", _) => {
                let place = behind_its_link(&sent, &event);
                sent.insert(place, event);
            }
            _ => sent.push(event),
        }
    }
    for (number, event) in sent.iter_mut().enumerate() {
        if let Some(fields) = event.data.as_object_mut()
            && fields.contains_key("sequence_number")
        {
            fields.insert("sequence_number".to_owned(), json!(number));
        }
    }
    sent
}

/// The event that reports a step of an item's tool.
fn progress(kind: &str, step: &str, event: &Event) -> Event {
    let id = event.data.get("item_id").unwrap_or_else(|| at(&event.data, "/item/id"));
    let name = format!("response.{kind}.{step}");
    let data = json!({
        "type": name, "item_id": id, "output_index": at(&event.data, "/output_index"), "sequence_number": 0,
    });
    Event { name: Some(name), data, text: String::new() }
}

/// The steps that are reported while a tool runs.
fn steps(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "web_search_call" | "file_search_call" => Some(&["in_progress", "searching", "completed"]),
        // The rest is reported when its code is done.
        "code_interpreter_call" => Some(&["in_progress"]),
        _ => None,
    }
}

/// The item as it was before its tool ran.
fn begun(mut event: Event) -> Event {
    if let Some(item) = event.data.get_mut("item").and_then(Value::as_object_mut) {
        item.insert("status".to_owned(), json!("in_progress"));
        item.remove("action");
        if item.contains_key("code") {
            item.insert("code".to_owned(), json!(""));
        }
        for name in ["outputs", "results"] {
            if item.contains_key(name) {
                item.insert(name.to_owned(), Value::Null);
            }
        }
        if item.contains_key("queries") {
            item.insert("queries".to_owned(), json!([]));
        }
    }
    event
}

/// The place right after the piece of text in which the passage of an annotation ends.
fn behind_its_link(sent: &[Event], annotation: &Event) -> usize {
    let index = |name: &str| at(&annotation.data, &format!("/annotation/{name}")).as_u64();
    let end = index("end_index").or_else(|| index("index")).unwrap_or_default();
    let same = |event: &Event, name: &str| event.data.get(name) == annotation.data.get(name);
    let mut length = 0;
    let mut place = sent.len();
    for (number, event) in sent.iter().enumerate() {
        if event.kind() != "response.output_text.delta" || !same(event, "item_id") || !same(event, "content_index") {
            continue;
        }
        length += at(&event.data, "/delta").as_str().unwrap_or_default().chars().count() as u64;
        if length >= end {
            place = number + 1;
            break;
        }
    }
    // After those that were already sent there.
    let told = sent.get(place..).unwrap_or_default().iter();
    place + told.take_while(|event| event.kind() == "response.output_text.annotation.added").count()
}
