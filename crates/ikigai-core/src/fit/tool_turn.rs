//! Tool turns that are not finished.

use super::FittedMessage;
use crate::{Block, Role};

/// Returns whether there is an unfinished tool turn that does not begin with thinking.
///
/// The turn is everything since the user last spoke without tool results. Everything between two assistant messages
/// counts as one message: on the wire, results and the user's words after them are one message.
pub(super) fn is_unsigned_tool_turn(messages: &[FittedMessage<'_>]) -> bool {
    let mut first: Option<&FittedMessage<'_>> = None;
    let mut between = Between::Nothing;
    for message in messages.iter().rev() {
        match (message.role, between) {
            (Role::Assistant, Between::Words) => break,
            (Role::Assistant, Between::Nothing) if first.is_none() => break,
            (Role::Assistant, Between::Nothing | Between::Results) => {
                first = Some(message);
                between = Between::Nothing;
            }
            (Role::User | Role::Tool, Between::Nothing | Between::Words) => {
                let results = message.content.iter().any(|block| {
                    matches!(*block.block, Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_))
                });
                between = if results { Between::Results } else { Between::Words };
            }
            (Role::User | Role::Tool, Between::Results) | (Role::System, _) => {}
        }
    }
    let Some(first) = first else { return false };
    !first.content.first().is_some_and(|block| matches!(*block.block, Block::Thinking(_)))
}

/// What is between two assistant messages, or after the last one.
#[derive(Debug, Clone, Copy)]
enum Between {
    Nothing,
    Words,
    Results,
}
