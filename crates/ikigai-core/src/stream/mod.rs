//! Streamed answers.
//!
//! Every stream follows this grammar, which decoders guarantee and encoders may rely on:
//!
//! ```text
//! stream = start, { block | citation | sources | usage | other }, ( done | error )
//! block  = block_start, { text_delta | thinking_delta | block_replaced }, block_done        any block but a tool call
//!        | tool_call_start, { tool_call_delta }, tool_call_done                             a tool call
//! ```
//!
//! A citation belongs to a text block that has begun, and may come before its text, after it, or after the block's end.
//! Calls of provider-run tools and their results may be incomplete when they open; `block_replaced` then contains them
//! in full.
//!
//! A dialect's own block (`other`) may be incomplete when it opens. Its `block_done` then contains the complete wire
//! object, in `provider_data` under that dialect as `shape.data`, which replaces the one that it opened with.
//!
//! Blocks are numbered as they open, from 0, and that number is their place in [`Response::content`]. Blocks may be
//! open at the same time; each is closed before `done`. An error may end a stream at any place, even the first.
//!
//! [`Response::content`]: crate::Response::content

mod collect;
mod read;
mod view;

use serde::Serialize;

use crate::{Arguments, Block, Citation, Dialect, Error, FinishReason, FoundSource, Json, ProviderData, Usage, pause};

pub(crate) use collect::block_events;
pub use collect::{Collector, events};
pub use view::Chunk;

/// One step of an answer as it arrives.
///
/// Usage is a snapshot: a later one replaces an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The answer begins.
    Start {
        /// The provider's id of the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The model that answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Data that only one dialect has.
        #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
        provider_data: ProviderData,
    },
    /// A block opens. If its kind has no deltas (an image), it is already complete; a dialect's own block may still be
    /// replaced at its end.
    BlockStart {
        /// Its place in the answer's content.
        index: usize,
        /// The block as it opens, usually with an empty text.
        block: Block,
    },
    /// More text.
    TextDelta {
        /// The block it belongs to.
        index: usize,
        /// The text to append.
        text: String,
    },
    /// More thinking.
    ThinkingDelta {
        /// The block it belongs to.
        index: usize,
        /// The text to append.
        text: String,
    },
    /// A tool call opens.
    ToolCallStart {
        /// Its place in the answer's content.
        index: usize,
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Data that only one dialect has.
        #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
        provider_data: ProviderData,
    },
    /// More of a call's arguments, as JSON text. Even if the text so far parses, the call is not complete.
    ToolCallDelta {
        /// The call it belongs to.
        index: usize,
        /// The text to append.
        arguments: String,
    },
    /// A tool call is complete.
    ToolCallDone {
        /// The call.
        index: usize,
        /// Its complete arguments.
        #[serde(flatten)]
        arguments: Arguments,
        /// What a dialect adds at the end, such as a signature.
        #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
        provider_data: ProviderData,
    },
    /// Replaces an open block of a provider-run tool with the complete one.
    BlockReplaced {
        /// Its place in the answer's content.
        index: usize,
        /// The block, of the same kind.
        block: Block,
    },
    /// A source of a text.
    Citation {
        /// The text block, open or not.
        index: usize,
        /// The citation, which is added to those that the block already has.
        citation: Box<Citation>,
    },
    /// Sources that the provider found but did not tie to a passage.
    Sources {
        /// All sources so far, replacing earlier ones.
        sources: Vec<FoundSource>,
    },
    /// A block is complete.
    BlockDone {
        /// The block.
        index: usize,
        /// What a dialect adds at the end, such as a signature.
        #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
        provider_data: ProviderData,
    },
    /// Tokens so far.
    Usage {
        /// The counts, replacing earlier ones.
        usage: Usage,
    },
    /// The answer is complete.
    Done {
        /// Why it ended.
        finish_reason: FinishReason,
        /// Data that only one dialect has, such as its own name for the reason.
        #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
        provider_data: ProviderData,
    },
    /// The answer broke off.
    Error {
        /// What happened.
        error: Box<Error>,
    },
    /// Something that only one dialect understands.
    Other {
        /// The block it belongs to, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
        /// The dialect it belongs to.
        dialect: Dialect,
        /// The unchanged wire event.
        data: Json,
    },
}

impl Event {
    /// Returns whether the answer ends here because the provider paused: see
    /// [`Response::is_paused`](crate::Response::is_paused).
    pub fn is_pause(&self) -> bool {
        matches!(self, Event::Done { provider_data, .. } if pause::is_pause(provider_data))
    }

    /// Returns whether this is the end of the stream.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Event::Done { .. } | Event::Error { .. })
    }

    /// Returns the index of the block that this event is about, so that it can be changed when several answers are
    /// combined into one. `None` for an event that is not about a block.
    ///
    /// ```
    /// use ikigai_core::Event;
    ///
    /// let mut event = Event::TextDelta { index: 0, text: "Hello".into() };
    /// if let Some(index) = event.index_mut() {
    ///     *index += 2;
    /// }
    /// assert_eq!(event, Event::TextDelta { index: 2, text: "Hello".into() });
    /// ```
    pub fn index_mut(&mut self) -> Option<&mut usize> {
        match self {
            Event::BlockStart { index, .. }
            | Event::TextDelta { index, .. }
            | Event::ThinkingDelta { index, .. }
            | Event::ToolCallStart { index, .. }
            | Event::ToolCallDelta { index, .. }
            | Event::ToolCallDone { index, .. }
            | Event::BlockReplaced { index, .. }
            | Event::Citation { index, .. }
            | Event::BlockDone { index, .. } => Some(index),
            Event::Other { index, .. } => index.as_mut(),
            Event::Start { .. }
            | Event::Sources { .. }
            | Event::Usage { .. }
            | Event::Done { .. }
            | Event::Error { .. } => None,
        }
    }
}
