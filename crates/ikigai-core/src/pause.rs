//! Answers that a provider pauses while it runs its own tools: how often they are continued, and how they end then.
//!
//! A paused answer ([`Response::is_paused`](crate::Response::is_paused)) is sent back as the last message, and the
//! provider continues it. If an answer pauses once more after [`MOST_CONTINUATIONS`] continuations, it is incomplete
//! because of a limit: it ends as at a token limit ([`GIVEN_UP`]), with a warning ([`given_up`]).

use crate::{Dialect, FinishReason, Loss, LossCode, Part, ProviderData};

/// How often one answer is continued.
pub const MOST_CONTINUATIONS: u32 = 10;

/// The finish reason of an answer that pauses once more.
pub const GIVEN_UP: FinishReason = FinishReason::Length;

/// The warning for such an answer.
pub fn given_up() -> Loss {
    let why = format!(
        "the provider paused its turn more than {MOST_CONTINUATIONS} times; the rest of the answer is left out"
    );
    Loss::new(LossCode::OutOfRange, "answer", "finish_reason", why)
}

/// Whether this is what an answer ends with that is paused.
pub(crate) fn is_pause(data: &ProviderData) -> bool {
    data.part_str(Dialect::Anthropic, Part::Answer, "stop_reason").as_deref() == Some("pause_turn")
}
