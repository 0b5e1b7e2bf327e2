//! Answers, whole.

mod decode;
mod encode;

use crate::{Block, FinishReason};

pub(crate) use decode::decode_response;
pub(super) use decode::{Around, broken, failure, usage_elsewhere};
pub(crate) use encode::encode_response;
pub(super) use encode::{foreign_fields, note_block, service_tier};

/// Shape: the provider's own word for the end.
pub(in crate::dialect::openai_chat) const FINISH_REASON: &str = "finish_reason";
/// Before the names of fields that stood in the choice, or in the message; those of the body have nothing before them.
pub(in crate::dialect::openai_chat) const CHOICE: &str = "choice.";
pub(in crate::dialect::openai_chat) const MESSAGE: &str = "message.";
/// The other choices.
pub(in crate::dialect::openai_chat) const CHOICES: &str = "choices";
/// Shape: when the answer was made.
pub(in crate::dialect::openai_chat) const CREATED: &str = "created";
/// Shape: the place of our choice among them, where it is not the first.
pub(super) const CHOICE_AT: &str = "choice_at";
/// Shape: fields that everybody has, but not this answer.
pub(super) const ABSENT: &str = "absent";

/// What an answer holds, as far as its end depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::dialect::openai_chat) struct Holds {
    pub(in crate::dialect::openai_chat) calls: bool,
    /// A call whose arguments are cut off.
    pub(in crate::dialect::openai_chat) broken_call: bool,
    pub(in crate::dialect::openai_chat) refusal: bool,
}

impl Holds {
    pub(super) fn of(content: &[Block]) -> Self {
        let mut holds = Holds::default();
        for block in content {
            match block {
                Block::ToolCall(call) => {
                    holds.calls = true;
                    holds.broken_call |= !call.is_complete();
                }
                Block::Text(text) => holds.refusal |= text.is_refusal(),
                Block::Image(_)
                | Block::Document(_)
                | Block::Audio(_)
                | Block::ToolResult(_)
                | Block::Thinking(_)
                | Block::Other(_) => {}
            }
        }
        holds
    }
}

/// Why the answer ended, by the provider's word and by what it holds.
///
/// Several servers say `stop` beside tool calls, or nothing: calls that are whole are there to be run.
pub(in crate::dialect::openai_chat) fn finish(word: Option<&str>, holds: Holds) -> FinishReason {
    match word.unwrap_or_default() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "tool_calls" | "tool_use" | "function_call" => {
            if holds.calls {
                FinishReason::ToolUse
            } else if holds.refusal {
                FinishReason::ContentFilter
            } else {
                FinishReason::Stop
            }
        }
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "refusal" | "safety" => FinishReason::ContentFilter,
        "error" | "insufficient_system_resource" => FinishReason::Error,
        "" if holds.calls && !holds.broken_call => FinishReason::ToolUse,
        _ => FinishReason::Unknown,
    }
}

/// This dialect's word for each reason; `None` for an unknown reason.
pub(in crate::dialect::openai_chat) fn word_of(reason: FinishReason) -> Option<&'static str> {
    match reason {
        FinishReason::Stop => Some("stop"),
        FinishReason::Length => Some("length"),
        FinishReason::ToolUse => Some("tool_calls"),
        FinishReason::ContentFilter => Some("content_filter"),
        FinishReason::Error => Some("error"),
        FinishReason::Unknown => None,
    }
}

#[cfg(test)]
mod response_tests;
