//! What matters in an answer that passes through.

use crate::dialect::watch::{Field, Watched, value, within, words};
use crate::server::alike::Holes;

pub(crate) static WATCHED: Watched = Watched {
    holes: Some(Holes {
        texts: &["content", "reasoning_content", "reasoning", "reasoning_text", "text", "arguments", "obfuscation"],
        values: &["usage"],
    }),
    ..Watched::new(CHUNK)
};

const CHUNK: &[Field] = &[
    value("id"),
    value("model"),
    value("usage"),
    within("choices", CHOICE),
    // Groq's own field, where its counts used to be.
    within("x_groq", &[value("usage")]),
    // Failures, in any form.
    value("object"),
    value("error"),
    value("errors"),
    value("message"),
    value("detail"),
    value("base_resp"),
];

const CHOICE: &[Field] = &[
    value("index"),
    value("finish_reason"),
    value("usage"),
    value("error"),
    within("delta", MESSAGE),
    within("message", MESSAGE),
];

const MESSAGE: &[Field] = &[
    within("content", PART),
    words("reasoning_content"),
    words("reasoning"),
    words("reasoning_text"),
    within("reasoning_details", &[value("type"), words("text"), words("summary")]),
    within("thinking_blocks", &[value("type"), words("thinking")]),
    words("refusal"),
    within("images", PART),
    within("tool_calls", CALL),
    within("function_call", FUNCTION),
];

const PART: &[Field] = &[
    value("type"),
    words("text"),
    words("refusal"),
    words("thinking"),
    within("summary", &[words("text")]),
    within("image_url", &[words("url")]),
];

const CALL: &[Field] =
    &[value("index"), value("id"), value("type"), within("function", FUNCTION), within("custom", FUNCTION)];

/// Arguments are left out, like those of a call that needs none.
const FUNCTION: &[Field] = &[words("name")];
