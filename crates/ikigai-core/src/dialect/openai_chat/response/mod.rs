//! Whole answers.

mod decode;
mod encode;

use crate::dialect::openai_error;
use crate::{Block, Error, ErrorKind, FinishReason};

pub(crate) use decode::decode_response;
pub(super) use decode::{Around, broken, failure, failure_of, listed_failure, usage_elsewhere};
pub(crate) use encode::encode_response;
pub(super) use encode::{note_media, service_tier, unsaid};

/// Shape: the provider's own finish reason.
pub(super) const FINISH_REASON: &str = "finish_reason";
/// The prefixes, before a dot, of the names of fields of the choice and of the message; fields of the body have none.
pub(super) const CHOICE: &str = "choice";
pub(super) const MESSAGE: &str = "message";
/// The other choices.
pub(super) const CHOICES: &str = "choices";
/// Shape: when the answer was made.
const CREATED: &str = "created";
/// Shape: the index of our choice, if it is not the first.
const CHOICE_AT: &str = "choice_at";
/// Shape: standard fields that this answer does not have.
const ABSENT: &str = "absent";

/// The content of an answer, as far as its finish reason depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Holds {
    pub(super) calls: bool,
    /// A call whose arguments are cut off.
    pub(super) broken_call: bool,
    pub(super) refusal: bool,
}

impl Holds {
    fn of(content: &[Block]) -> Self {
        let calls = || content.iter().filter_map(Block::as_tool_call);
        Holds {
            calls: calls().next().is_some(),
            broken_call: calls().any(|call| !call.is_complete()),
            refusal: content.iter().any(|block| matches!(block, Block::Text(text) if text.is_refusal())),
        }
    }
}

/// Determines why the answer ended, from the provider's finish reason and the content.
///
/// Several servers send `stop` with tool calls, or nothing: complete calls are there to be run.
pub(super) fn finish(word: Option<&str>, holds: Holds) -> FinishReason {
    // Servers that pass on another API's reason may write it in capitals, or, as Google's, after a word of their own.
    let word = word.unwrap_or_default().to_ascii_lowercase();
    match word.split_once(':').map_or(word.as_str(), |(word, _)| word) {
        "stop" | "complete" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "tool_calls" | "tool_call"
        | "tool_use" | "function_call" => {
            if holds.calls {
                FinishReason::ToolUse
            } else if holds.refusal {
                FinishReason::ContentFilter
            } else {
                FinishReason::Stop
            }
        }
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => FinishReason::Length,
        "content_filter" | "refusal" | "safety" | "sensitive" => FinishReason::ContentFilter,
        "error" | "abort" | "insufficient_system_resource" | "network_error" | "function_call_filter" => {
            FinishReason::Error
        }
        "" if holds.calls && !holds.broken_call => FinishReason::ToolUse,
        _ => FinishReason::Unknown,
    }
}

/// Returns this dialect's finish reason, or `None` for an unknown one.
///
/// None of OpenAI's says that an answer failed, and strict clients accept no other. `length` says at least that the answer
/// is not whole; [`failed`] is next to it.
pub(super) fn word_of(reason: FinishReason) -> Option<&'static str> {
    match reason {
        FinishReason::Stop => Some("stop"),
        FinishReason::Length => Some("length"),
        FinishReason::ToolUse => Some("tool_calls"),
        FinishReason::ContentFilter => Some("content_filter"),
        FinishReason::Error => Some("length"),
        FinishReason::Unknown => None,
    }
}

/// The field of a choice in which relays say how an answer failed that has no failure next to it.
pub(super) const ERROR: &str = "error";

/// Returns what it contains.
pub(super) fn failed(error: Option<&Error>) -> serde_json::Value {
    let unknown = || Error::new(ErrorKind::Server, "the model's answer broke off");
    openai_error::object(error.unwrap_or(&unknown()))
}

#[cfg(test)]
mod response_tests;
