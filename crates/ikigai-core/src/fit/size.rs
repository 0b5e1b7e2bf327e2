//! An estimate of the size of a request.

use super::{Fitted, FittedTool};
use crate::content::{Block, Source};

/// The bytes around a text: field names, brackets, a role.
const AROUND: usize = 64;

impl Fitted<'_> {
    /// Returns roughly how many bytes this is on the wire. That much is allocated at once: a buffer that grows by
    /// doubling is copied while it grows, and takes up to three times its size then.
    pub(crate) fn bytes(&self) -> usize {
        let messages = self.messages.iter().flat_map(|message| &message.content);
        let blocks = self.system.iter().chain(messages).map(|fitted| block(&fitted.block));
        let tools = self.tools.iter().map(|tool| match tool {
            FittedTool::Function { function, parameters, .. } => {
                function.description.as_ref().map_or(0, String::len) + parameters.text().len() + 2 * AROUND
            }
            FittedTool::Own(_) => AROUND,
        });
        blocks.chain(tools).fold(4 * AROUND, usize::saturating_add)
    }
}

fn block(block: &Block) -> usize {
    match block {
        Block::ToolResult(result) => result.content.iter().map(leaf).fold(AROUND, usize::saturating_add),
        block => leaf(block),
    }
}

fn leaf(block: &Block) -> usize {
    AROUND
        + match block {
            Block::Text(text) => escaped(&text.text),
            Block::Thinking(thinking) => escaped(&thinking.text),
            Block::ToolCall(call) => AROUND + escaped(call.arguments.text()),
            Block::Image(image) => source(&image.source),
            Block::Document(document) => source(&document.source),
            Block::Audio(audio) => source(&audio.source),
            Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_) | Block::Other(_) => 0,
        }
}

fn source(source: &Source) -> usize {
    match source {
        Source::Base64 { data, .. } => data.len(),
        Source::Text { text, .. } => escaped(text),
        Source::Url { url, .. } => url.len(),
        Source::File { id, .. } => id.len(),
    }
}

/// Includes some escapes.
fn escaped(text: &str) -> usize {
    text.len() + text.len() / 16
}
