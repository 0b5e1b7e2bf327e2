//! Follows an answer that passes through unchanged.

use super::follow::Follower;
use super::watcher::Watcher;
use crate::dialect::watch::Watched;
use crate::{Dialect, Error, FinishReason, Usage};

/// How an answer arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As one JSON document.
    Whole,
    /// As a stream: server-sent events, or a growing JSON array.
    Stream,
}

/// Watches an answer that passes through unchanged, for its usage, how it ended, and what went wrong.
///
/// It takes the bytes as they arrive, split anywhere, and keeps none of the text, so its memory is bounded however long
/// the answer is. It reports what decoding the bytes would report. It does not check the content, so an answer whose
/// content no decoder would accept may still be reported as complete.
///
/// ```
/// use ikigai_core::server::{Delivery, Watch};
/// use ikigai_core::{Dialect, FinishReason};
///
/// let stream = concat!(
///     "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n",
///     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
///     "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n",
///     "data: [DONE]\n\n",
/// );
/// let mut watch = Watch::new(Dialect::OpenaiChat, Delivery::Stream);
/// for piece in stream.as_bytes().chunks(7) {
///     watch.feed(piece);
/// }
/// let seen = watch.finish();
/// assert_eq!(seen.finish_reason, Some(FinishReason::Stop));
/// assert_eq!(seen.usage.map(|usage| usage.total_tokens()), Some(11));
/// assert!(seen.ended);
/// ```
#[derive(Debug)]
pub struct Watch(Option<Box<Follower>>);

/// What a [`Watch`] saw of an answer.
///
/// ```
/// use ikigai_core::server::{Delivery, Watch};
/// use ikigai_core::Dialect;
///
/// let mut watch = Watch::new(Dialect::Anthropic, Delivery::Stream);
/// watch.feed(b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n");
/// let seen = watch.finish();
/// assert_eq!(seen.error.map(|error| error.message).as_deref(), Some("Overloaded"));
/// assert!(!seen.ended);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Seen {
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The tokens used, if the provider reported them. For an answer that broke off, the counts known by then.
    pub usage: Option<Usage>,
    /// Why it ended; `None` if it was cut off.
    pub finish_reason: Option<FinishReason>,
    /// The failure that the provider reports. An answer that was merely cut off has none; it just is not `ended`.
    pub error: Option<Error>,
    /// The answer is complete: its end marker arrived, or something that the dialect's clients accept as one.
    pub ended: bool,
    /// The answer had begun.
    pub started: bool,
    /// Some of its content has arrived: text, thinking, a call.
    pub has_output: bool,
}

impl Watch {
    /// Creates a watch for one answer. It sees nothing in a dialect that no client speaks
    /// ([`Dialect::serves_clients`]).
    pub fn new(dialect: Dialect, delivery: Delivery) -> Self {
        let watcher = |watched| Watcher::new(dialect, watched, delivery);
        Watch(Watched::of(dialect).map(|watched| Box::new(Follower::new(watcher(watched), delivery))))
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let Some(follower) = &mut self.0 {
            follower.feed(bytes);
        }
    }

    /// Returns whether any content has arrived yet, to measure the time to the first token.
    pub fn has_output(&self) -> bool {
        self.0.as_ref().is_some_and(|follower| follower.seen().has_output)
    }

    /// Returns whether the provider has reported a failure, or sent something that cannot be read.
    pub fn has_failed(&self) -> bool {
        self.0.as_ref().is_some_and(|follower| follower.has_failed())
    }

    /// Returns whether the answer has ended or failed. Bytes that come after that are not read.
    pub fn is_over(&self) -> bool {
        self.0.as_ref().is_some_and(|follower| follower.is_over())
    }

    /// Ends the input, and returns what was seen.
    pub fn finish(self) -> Seen {
        self.0.map_or_else(Seen::default, |follower| follower.finish())
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
