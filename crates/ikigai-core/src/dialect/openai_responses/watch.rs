//! What matters in an answer that passes through.

use crate::dialect::watch::{Field, Outline, value, within, words};

pub(crate) static OUTLINE: Outline =
    Outline { is_piece: |kind| kind.starts_with(b"response.") && kind.ends_with(b".delta"), ..Outline::new(FRAME) };

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
    value("object"),
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
