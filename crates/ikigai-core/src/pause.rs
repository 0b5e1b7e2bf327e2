//! Answers that a provider pauses while it runs its own tools: how often they are continued, and what happens then.
//!
//! A paused answer ([`Response::is_paused`](crate::Response::is_paused)) is sent back as the last message, and the
//! provider continues it. An answer that pauses again after [`MOST_CONTINUATIONS`] continuations is incomplete because
//! of a limit: it ends as at a token limit ([`GIVEN_UP`]), with a warning ([`given_up`]).

use crate::{Dialect, FinishReason, Loss, LossCode, Part, ProviderData};

/// The maximum number of continuations of one answer.
pub const MOST_CONTINUATIONS: u32 = 10;

/// The finish reason of an answer that pauses again after that.
pub const GIVEN_UP: FinishReason = FinishReason::Length;

/// Returns the warning for such an answer.
pub fn given_up() -> Loss {
    let why = format!(
        "the provider paused its turn more than {MOST_CONTINUATIONS} times; the rest of the answer is left out"
    );
    Loss::new(LossCode::OutOfRange, "answer", "finish_reason", why)
}

/// Returns whether the data at the end of an answer says that it is paused.
pub(crate) fn is_pause(data: &ProviderData) -> bool {
    data.part_str(Dialect::Anthropic, Part::Answer, "stop_reason").as_deref() == Some("pause_turn")
}
