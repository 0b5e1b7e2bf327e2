//! Ids of calls that this API takes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Block, Loss, Message};

/// The longest id of a call.
const LONGEST: usize = 64;

/// New ids for calls whose own ones are refused here, the same for a call and its result.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    new: BTreeMap<String, String>,
}

impl CallIds {
    /// Looks through the conversation once, so that no new id is one that is already there.
    pub(super) fn of(messages: &[Message], losses: &mut Vec<Loss>) -> Self {
        let there = messages.iter().flat_map(|message| &message.content).filter_map(id_of);
        let mut taken: BTreeSet<String> = there.map(str::to_owned).collect();
        let mut ids = CallIds::default();
        for (at, message) in messages.iter().enumerate() {
            for (index, block) in message.content.iter().enumerate() {
                let Some(id) = id_of(block).filter(|id| !fits(id) && !ids.new.contains_key(*id)) else { continue };
                let mut hash = fnv(id.as_bytes());
                let new = loop {
                    let new = format!("call_{hash:016x}");
                    if taken.insert(new.clone()) {
                        break new;
                    }
                    hash = hash.wrapping_add(1);
                };
                let why = format!("ids have 1 to {LONGEST} characters here; `{new}` is sent in call and result");
                losses.push(Loss::uncoded_info("tool_call.id", format!("messages[{at}].content[{index}]"), why));
                ids.new.insert(id.to_owned(), new);
            }
        }
        ids
    }

    /// The id to send.
    pub(super) fn get<'a>(&'a self, id: &'a str) -> &'a str {
        self.new.get(id).map_or(id, String::as_str)
    }
}

fn id_of(block: &Block) -> Option<&str> {
    match block {
        Block::ToolCall(call) => Some(&call.id),
        Block::ToolResult(result) => Some(&result.tool_call_id),
        Block::Text(_)
        | Block::Image(_)
        | Block::Document(_)
        | Block::Audio(_)
        | Block::Thinking(_)
        | Block::Other(_) => None,
    }
}

fn fits(id: &str) -> bool {
    !id.is_empty() && id.chars().count() <= LONGEST
}

/// FNV-1a, so that the same id always becomes the same.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
