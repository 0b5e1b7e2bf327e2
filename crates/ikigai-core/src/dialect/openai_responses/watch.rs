//! What matters in an answer that passes through.

use crate::dialect::watch::{Field, Watched, value, within, words};

pub(crate) static WATCHED: Watched = Watched { is_piece, ..Watched::new(FRAME) };

/// Whether this is a piece of an item, or repeats one: a complete item has all of it.
fn is_piece(kind: &[u8]) -> bool {
    match kind.strip_prefix(b"response.") {
        Some(b"content_part.added") => true,
        Some(b"output_item.done") | None => false,
        Some(kind) => kind.ends_with(b".delta") || kind.ends_with(b".done"),
    }
}

/// A whole answer has the same fields as the response object in a frame.
const FRAME: &[Field] = &[
    value("type"),
    value("output_index"),
    value("content_index"),
    words("delta"),
    within("part", PART),
    within("item", ITEM),
    within("response", RESPONSE),
    value("object"),
    value("id"),
    value("model"),
    value("status"),
    value("incomplete_details"),
    value("usage"),
    value("tool_usage"),
    within("output", ITEM),
    // Failures, in any form.
    value("error"),
    value("errors"),
    value("message"),
    value("detail"),
    value("base_resp"),
];

const RESPONSE: &[Field] = &[
    value("id"),
    value("model"),
    value("status"),
    value("incomplete_details"),
    value("error"),
    value("usage"),
    value("tool_usage"),
    within("output", ITEM),
];

const ITEM: &[Field] = &[
    value("type"),
    value("id"),
    value("role"),
    within("content", PART),
    within("summary", PART),
    words("call_id"),
    words("name"),
    words("arguments"),
    // Where it is run.
    value("execution"),
    within("environment", &[value("type")]),
];

const PART: &[Field] = &[value("type"), words("text"), words("refusal")];
