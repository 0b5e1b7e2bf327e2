//! Watchers: what each dialect looks for in an answer that passes through unchanged.
//!
//! A watcher sees single values of each frame, picked out of its JSON, and never a text. What happens to cuts, broken
//! frames and the end of the bytes is decided by whoever drives it, once for all dialects.

use crate::server::picks::Picks;
use crate::server::{Delivery, Seen};

pub(crate) use super::anthropic::watch::Watcher as Anthropic;
pub(crate) use super::gemini::watch::Watcher as Gemini;
pub(crate) use super::openai_chat::watch::Watcher as OpenaiChat;
pub(crate) use super::openai_responses::watch::Watcher as OpenaiResponses;

/// Stands for an error, as JSON, that is too large to be held.
pub(crate) const LARGE_ERROR: &str = r#""the provider's error is too large to be read""#;

/// A dialect's watcher of one answer.
pub(crate) trait Watcher: Picks {
    fn new(delivery: Delivery) -> Self;

    /// What was seen so far.
    fn seen(&self) -> &Seen;

    /// Takes a frame that is a piece of text and nothing else, if that can be told at a glance. Others are picked from.
    fn glance(&mut self, frame: &[u8]) -> bool;

    /// A frame is over, or the document if the answer is whole. `json` is its text, unless that is too large to be held.
    fn frame(&mut self, frame: Frame<'_>);

    /// The frame `[DONE]`.
    fn done(&mut self);

    /// A whole answer turns out to be a list of frames.
    fn is_list(&mut self);

    /// Is there nothing more to come: has the answer ended or failed?
    fn is_over(&self) -> bool;

    /// The end of the bytes. `Rest::Broken`: not all of them made sense.
    fn end(self, rest: Rest) -> Seen;
}

/// One frame, whose values have been picked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// The name of the event.
    pub(crate) name: Option<&'a str>,
    pub(crate) json: Option<&'a str>,
}

/// How the bytes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// With a whole frame, or with nothing.
    Whole,
    /// With something that is not a frame, or not one any more.
    Broken,
}
