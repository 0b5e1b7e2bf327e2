//! A limit on the total size of a stream.

use std::mem::size_of;

use crate::dialect::weight::{Weigh as _, whole};
use crate::limits::limit_reached;
use crate::{Block, Error, Event, Limits};

/// What the events of a stream have added up to so far, once collected.
#[derive(Debug)]
pub(super) struct Budget {
    limits: Limits,
    /// How many blocks have begun, and how many of them are still open.
    blocks: usize,
    open: usize,
    /// How many bytes they hold.
    content: usize,
    /// How many values the calls' arguments hold.
    values: usize,
    /// How many bytes had been read when the reader was last checked, and how much it held then.
    looked_at: usize,
    held: usize,
}

/// The reader is checked after this share of the limit on its size, and again after half as many bytes as it held.
const SHARE: usize = 32;

/// The most bytes of token counts in an event. Every event may repeat them in full.
const MOST_COUNTS: usize = 16 << 10;

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        Budget { limits: *limits, blocks: 0, open: 0, content: 0, values: 0, looked_at: 0, held: 0 }
    }

    /// Counts an event against the limits.
    #[inline]
    pub(super) fn take(&mut self, event: &Event) -> Result<(), Error> {
        match event {
            Event::TextDelta { text, .. } | Event::ThinkingDelta { text, .. } => self.hold(text.len()),
            // The decoder also keeps them, for the end of the call.
            Event::ToolCallDelta { arguments, .. } => self.hold(2 * arguments.len()),
            Event::BlockStart { block, .. } => self.open(block.weight()),
            Event::ToolCallStart { id, name, provider_data, .. } => {
                self.open(id.weight() + name.weight() + provider_data.weight())
            }
            Event::BlockReplaced { block, .. } => self.hold(block.weight()),
            Event::Citation { citation, .. } => self.hold(whole(citation.as_ref())),
            // They replace any earlier ones.
            Event::Sources { sources } => self.limits.check_content(self.content.saturating_add(sources.weight())),
            Event::ToolCallDone { arguments, provider_data, .. } => {
                // Some wires send them whole, without deltas.
                self.close(arguments.text().len() + provider_data.weight())?;
                self.limits.check_arguments(arguments, &mut self.values)
            }
            Event::BlockDone { provider_data, .. } => self.close(provider_data.weight()),
            Event::Start { provider_data, .. } | Event::Done { provider_data, .. } => self.hold(provider_data.weight()),
            Event::Usage { usage } if usage.weight() > MOST_COUNTS => {
                Err(limit_reached(format!("the counts of tokens have more than {MOST_COUNTS} bytes")))
            }
            Event::Usage { .. } | Event::Error { .. } | Event::Other { .. } => Ok(()),
        }
    }

    /// Checks from time to time how much the reader holds. `bytes` have been read so far.
    #[inline]
    pub(super) fn look_into(&mut self, bytes: usize, held: impl FnOnce() -> usize) -> Result<(), Error> {
        if bytes - self.looked_at <= (self.limits.body / SHARE).max(self.held / 2) {
            return Ok(());
        }
        self.looked_at = bytes;
        self.held = held();
        self.limits.check_content(self.content.saturating_add(self.held))
    }

    fn open(&mut self, bytes: usize) -> Result<(), Error> {
        self.blocks += 1;
        self.open += 1;
        self.limits.check_answer_blocks(self.blocks)?;
        self.limits.check_open(self.open)?;
        self.hold(size_of::<Block>() + bytes)
    }

    fn close(&mut self, bytes: usize) -> Result<(), Error> {
        self.open = self.open.saturating_sub(1);
        self.hold(bytes)
    }

    fn hold(&mut self, bytes: usize) -> Result<(), Error> {
        self.content = self.content.saturating_add(bytes);
        self.limits.check_content(self.content)
    }
}
