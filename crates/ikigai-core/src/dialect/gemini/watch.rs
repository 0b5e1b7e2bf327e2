//! What matters in an answer that passes through.

use crate::dialect::watch::{Field, List, Watched, value, within, words};
use crate::server::alike::Holes;

pub(crate) static WATCHED: Watched = Watched {
    holes: Some(Holes { texts: &["text"], values: &["usageMetadata", "usage_metadata"] }),
    list: List::Frames,
    ..Watched::new(FRAME)
};

const FRAME: &[Field] = &[
    within("candidates", CANDIDATE),
    value("usageMetadata"),
    value("usage_metadata"),
    value("modelVersion"),
    value("model_version"),
    value("responseId"),
    value("response_id"),
    value("error"),
    within("promptFeedback", FEEDBACK),
    within("prompt_feedback", FEEDBACK),
];

const FEEDBACK: &[Field] = &[value("blockReason"), value("block_reason")];

const CANDIDATE: &[Field] =
    &[value("index"), value("finishReason"), value("finish_reason"), within("content", CONTENT)];

const CONTENT: &[Field] = &[within("parts", PART)];

/// A part of any other kind is content as well: its object is there, but empty.
const PART: &[Field] = &[words("text"), within("functionCall", CALL), within("function_call", CALL)];

const CALL: &[Field] = &[words("name"), value("willContinue"), value("will_continue")];
