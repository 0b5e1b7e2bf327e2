//! What matters in an answer that passes through.

use crate::dialect::watch::{Field, Watched, value, within, words};

pub(crate) static WATCHED: Watched = Watched { is_piece: |kind| kind == b"content_block_delta", ..Watched::new(FRAME) };

/// A frame with the fields of an answer is an answer.
const FRAME: &[Field] = &[
    value("type"),
    value("index"),
    value("error"),
    within("message", MESSAGE),
    within("delta", DELTA),
    within("content_block", BLOCK),
    value("id"),
    value("model"),
    within("content", BLOCK),
    value("stop_reason"),
    value("usage"),
];

const MESSAGE: &[Field] =
    &[value("id"), value("model"), within("content", BLOCK), value("stop_reason"), value("usage")];

const DELTA: &[Field] =
    &[value("type"), words("text"), words("thinking"), words("partial_json"), value("stop_reason"), value("usage")];

const BLOCK: &[Field] = &[value("type"), words("text"), words("thinking"), words("data"), words("name")];
