//! Writes the fields around an answer as a chunk.

use crate::dialect::openai_chat::notes::inner;
use crate::dialect::openai_chat::response::{CHOICE, CHOICES, MESSAGE};
use crate::json::tagged::Object;
use crate::json::wire::{Raw, Rest, append};
use crate::{Fields, Json};

/// Fields of a message that would open something in a delta. Any that a whole answer kept are meaningless there: speech
/// without audio, a call without a name.
const OPENING: [&str; 7] = ["role", "content", "refusal", "audio", "function_call", "tool_calls", "reasoning_content"];

/// Writes the beginning of a chunk, up to and including `"choices":[`.
pub(super) fn write_head(id: &Json, created: &Json, model: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"id\":");
    append(id, out);
    out.extend_from_slice(b",\"object\":\"chat.completion.chunk\",\"created\":");
    append(created, out);
    out.extend_from_slice(b",\"model\":");
    append(model, out);
    out.extend_from_slice(b",\"choices\":[");
}

/// Writes the rest of a chunk, with the finish reason and this dialect's own fields around the answer (`own`, and the
/// message's `state`).
pub(super) fn write_around(mut own: Fields, state: &Fields, word: Option<&str>, out: &mut Vec<u8>) {
    let others = own.remove(CHOICES);
    // A whole answer also keeps empty values, to be written back the same way.
    own.retain(|_, value| !matches!(value.text(), "null" | "\"\"" | "[]" | "{}"));
    let said = |object: &str, written: &[&str]| -> Rest<'_> {
        inner(&own, object).into_iter().filter(|(name, _)| !written.contains(&name.as_ref())).collect()
    };
    let mut delta = Object(said(MESSAGE, &OPENING));
    delta.0.extend(state.as_rest());
    let mut choice = Object::default();
    choice.push("index", Raw::of(&0));
    choice.push("delta", Raw::of(&delta));
    choice.push("finish_reason", Raw::of(&word));
    choice.0.extend(said(CHOICE, &["index", "message", "delta", "finish_reason"]));
    append(&choice, out);
    for mut other in others.and_then(|others| others.to::<Vec<Fields>>().ok()).unwrap_or_default() {
        if let Some(message) = other.remove("message") {
            other.set("delta", message);
        }
        out.push(b',');
        append(&other, out);
    }
    out.push(b']');
    let written = ["id", "object", "created", "model", "usage"];
    let is_beside =
        |name: &str| !written.contains(&name) && !name.starts_with("choice.") && !name.starts_with("message.");
    for (name, value) in own.iter().filter(|(name, _)| is_beside(name)) {
        out.push(b',');
        append(name, out);
        out.push(b':');
        append(value, out);
    }
    out.push(b'}');
}
