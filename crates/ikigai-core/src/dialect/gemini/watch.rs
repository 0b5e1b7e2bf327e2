//! What matters in an answer that passes through.

use crate::dialect::watch::{Field, List, Watched, value, within, words};
use crate::server::alike::Holes;

pub(crate) static WATCHED: Watched = Watched {
    holes: Some(Holes { texts: &["text"], value: Some("usageMetadata") }),
    list: List::Frames,
    ..Watched::new(FRAME)
};

const FRAME: &[Field] = &[
    within("candidates", CANDIDATE),
    value("usageMetadata"),
    value("modelVersion"),
    value("responseId"),
    value("error"),
    within("promptFeedback", &[value("blockReason")]),
];

const CANDIDATE: &[Field] = &[value("index"), value("finishReason"), within("content", CONTENT)];

const CONTENT: &[Field] = &[within("parts", PART)];

/// A part of any other kind is content as well: its object is there, but empty.
const PART: &[Field] = &[words("text"), within("functionCall", &[words("name"), value("willContinue")])];
