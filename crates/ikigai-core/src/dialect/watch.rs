//! Watchers: what each dialect looks for in an answer that passes through unchanged.
//!
//! A watcher sees single values picked out of each frame's JSON, never a whole text. The driver of the watcher decides
//! about cuts, broken frames and the end of the bytes, once for all dialects.

use crate::server::picks::Picks;
use crate::server::{Delivery, Seen};

pub(crate) use super::anthropic::watch::Watcher as Anthropic;
pub(crate) use super::gemini::watch::Watcher as Gemini;
pub(crate) use super::openai_chat::watch::Watcher as OpenaiChat;
pub(crate) use super::openai_responses::watch::Watcher as OpenaiResponses;

/// Replaces, as JSON, an error that is too large to hold.
pub(crate) const LARGE_ERROR: &str = r#""the provider's error is too large to be read""#;

/// A dialect's watcher of one answer.
pub(crate) trait Watcher: Picks {
    fn new(delivery: Delivery) -> Self;

    /// Returns what has been seen so far.
    fn seen(&self) -> &Seen;

    /// Reads a frame that is obviously just a piece of text. Returns `false` for others, whose values must be picked.
    fn glance(&mut self, frame: &[u8]) -> bool;

    /// Ends a frame, or a document that is not a stream. `json` is its text, unless that is too large to hold.
    fn frame(&mut self, frame: Frame<'_>);

    /// Handles the frame `[DONE]`.
    fn done(&mut self);

    /// Notes that an answer that is not a stream turns out to be a list of frames.
    fn is_list(&mut self);

    /// Whether nothing more is to come, because the answer has ended or failed.
    fn is_over(&self) -> bool;

    /// Ends the input. `Rest::Broken`: not all bytes could be read.
    fn end(self, rest: Rest) -> Seen;
}

/// One frame, after its values have been picked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// The name of the event.
    pub(crate) name: Option<&'a str>,
    pub(crate) json: Option<&'a str>,
}

/// How the bytes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// With a complete frame, or with nothing.
    Whole,
    /// With something that is not a frame, or with an incomplete one.
    Broken,
}
