//! What a stream may add up to.

use crate::{Block, Citation, Error, Event, Limits, Source};

/// What the events of a stream have added up to so far, in the hands of whoever collects them.
#[derive(Debug)]
pub(super) struct Budget {
    limits: Limits,
    /// How many blocks have begun, and how many of them have not ended.
    blocks: usize,
    open: usize,
    /// How many bytes they hold.
    content: usize,
    /// How many values the arguments of calls hold.
    values: usize,
    /// How many bytes had come when the reader was last looked into, and what it held then.
    looked_at: usize,
    held: usize,
}

/// After this share of what it may hold the reader is looked into, and again when there is half as much more as it held.
const SHARE: usize = 32;

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        Budget { limits: *limits, blocks: 0, open: 0, content: 0, values: 0, looked_at: 0, held: 0 }
    }

    /// Counts an event.
    #[inline]
    pub(super) fn take(&mut self, event: &Event) -> Result<(), Error> {
        match event {
            Event::TextDelta { text, .. } | Event::ThinkingDelta { text, .. } => self.hold(text.len()),
            // The decoder keeps them as well, for the end of the call.
            Event::ToolCallDelta { arguments, .. } => self.hold(2 * arguments.len()),
            Event::BlockStart { block, .. } => {
                self.open()?;
                self.hold(size(block))
            }
            Event::BlockReplaced { block, .. } => self.hold(size(block)),
            Event::Citation { citation, .. } => {
                self.hold(size_of::<Citation>() + citation.cited_text.as_ref().map_or(0, String::len))
            }
            // They take the place of those before them.
            Event::Sources { sources } => {
                self.limits.check_content(self.content.saturating_add(size_of_val(sources.as_slice())))
            }
            Event::ToolCallStart { id, name, .. } => {
                self.open()?;
                self.hold(id.len() + name.len())
            }
            Event::ToolCallDone { arguments, .. } => {
                self.open = self.open.saturating_sub(1);
                // Some wires bring them whole, without deltas.
                self.hold(arguments.text().len())?;
                self.limits.check_arguments(arguments, &mut self.values)
            }
            Event::BlockDone { .. } => {
                self.open = self.open.saturating_sub(1);
                Ok(())
            }
            Event::Start { .. }
            | Event::Usage { .. }
            | Event::Done { .. }
            | Event::Error { .. }
            | Event::Other { .. } => Ok(()),
        }
    }

    /// Checks what the reader holds, from time to time. `bytes` have come so far.
    #[inline]
    pub(super) fn look_into(&mut self, bytes: usize, held: impl FnOnce() -> usize) -> Result<(), Error> {
        if bytes - self.looked_at <= (self.limits.body / SHARE).max(self.held / 2) {
            return Ok(());
        }
        self.looked_at = bytes;
        self.held = held();
        // It is copied at the end.
        self.limits.check_content(self.held.saturating_mul(2))
    }

    fn open(&mut self) -> Result<(), Error> {
        self.blocks += 1;
        self.open += 1;
        self.limits.check_answer_blocks(self.blocks)?;
        self.limits.check_open(self.open)
    }

    fn hold(&mut self, bytes: usize) -> Result<(), Error> {
        self.content = self.content.saturating_add(bytes);
        self.limits.check_content(self.content)
    }
}

/// How many bytes a block holds as it opens, apart from what is always small.
fn size(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.text.len(),
        Block::Thinking(thinking) => thinking.text.len(),
        Block::ToolCall(call) => call.arguments.text().len(),
        Block::ToolResult(result) => result.content.iter().map(size).sum(),
        Block::Image(image) => held_by(&image.source),
        Block::Document(document) => held_by(&document.source),
        Block::Audio(audio) => held_by(&audio.source),
        Block::ProviderCall(call) => call.arguments.text().len(),
        Block::ProviderResult(result) => {
            size_of_val(result.sources.as_slice()) + result.content.iter().map(size).sum::<usize>()
        }
        Block::Other(other) => other.data.text().len(),
    }
}

fn held_by(source: &Source) -> usize {
    match source {
        Source::Base64 { data, .. } => data.len(),
        Source::Text { text, .. } => text.len(),
        Source::Url { url, .. } => url.len(),
        Source::File { id, .. } => id.len(),
    }
}
