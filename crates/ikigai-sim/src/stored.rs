//! Answers that the Responses API stores: reading, deleting and continuing them.

use ikigai_core::wire::WireError;
use ikigai_core::{Dialect, ErrorKind};
use serde_json::{Value, json};

use crate::deliver::Answer;
use crate::memory::{Memory, Stored};
use crate::service::refuse;

/// Whether the answer is to be stored. The Responses API stores answers unless it is told not to.
pub(crate) fn wanted(dialect: Dialect, body: &Value) -> bool {
    dialect == Dialect::OpenaiResponses && body.get("store").and_then(Value::as_bool).unwrap_or(true)
}

/// Puts the conversation of a stored answer before the input of a request that continues it.
pub(crate) fn with_history(memory: &Memory, dialect: Dialect, mut body: Value) -> Value {
    let previous = body.get("previous_response_id").and_then(Value::as_str);
    let Some(stored) = previous.filter(|_| dialect == Dialect::OpenaiResponses).and_then(|id| memory.stored(id)) else {
        return body;
    };
    let mut items = stored.input.clone();
    items.extend_from_slice(stored.output());
    items.extend(input(&body));
    if let Some(fields) = body.as_object_mut() {
        fields.insert("input".to_owned(), Value::Array(items));
    }
    body
}

/// The input as items; plain text is one user message.
pub(crate) fn input(body: &Value) -> Vec<Value> {
    match body.get("input") {
        Some(Value::Array(items)) => items.clone(),
        Some(Value::String(text)) => vec![json!({"role": "user", "content": text})],
        _ => Vec::new(),
    }
}

/// Stores an answer.
pub(crate) fn keep(memory: &Memory, response: Value, input: Vec<Value>) {
    if let Some(id) = response.get("id").and_then(Value::as_str) {
        let id = id.to_owned();
        memory.store(&id, Stored { response, input });
    }
}

/// Returns a stored answer.
pub(crate) fn retrieve(memory: &Memory, id: &str) -> Answer {
    match memory.stored(id) {
        Some(stored) => Answer::json(&stored.response),
        None => unknown(id).into(),
    }
}

/// Deletes a stored answer.
pub(crate) fn delete(memory: &Memory, id: &str) -> Answer {
    if memory.forget(id) {
        Answer::json(&json!({"id": id, "object": "response", "deleted": true}))
    } else {
        unknown(id).into()
    }
}

fn unknown(id: &str) -> WireError {
    refuse(Dialect::OpenaiResponses, ErrorKind::NotFound, format!("Response with id '{id}' not found."))
}
