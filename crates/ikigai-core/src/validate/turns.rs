//! Calls and results: every call is answered once, right after it was made.

use std::collections::{HashMap, HashSet};

use super::{At, Problem};
use crate::{Block, Message, Role};

/// The calls of one assistant turn, and which of them were answered.
#[derive(Default)]
struct Turn<'a> {
    calls: Vec<(&'a str, &'a str, At)>,
    ids: HashSet<&'a str>,
    answered: HashSet<&'a str>,
    has_results: bool,
}

pub(super) fn check(messages: &[Message], problems: &mut Vec<Problem>) {
    let mut first_use: HashMap<&str, At> = HashMap::new();
    let mut turn = Turn::default();
    // The result of a provider-run tool may be in a later message than its call.
    let mut provider_calls: HashMap<&str, At> = HashMap::new();
    for (index, message) in messages.iter().enumerate() {
        let results = message.content.iter().any(|block| block.as_tool_result().is_some());
        match message.role {
            // Assistant messages in a row are one turn.
            Role::Assistant if !turn.has_results => {}
            Role::User | Role::Tool if results => turn.has_results = true,
            Role::User | Role::Assistant | Role::Tool | Role::System => std::mem::take(&mut turn).close(problems),
        }
        for (place, block) in message.content.iter().enumerate() {
            let at = At::Block(index, place);
            match block {
                Block::ToolCall(call) if message.role == Role::Assistant && !call.id.is_empty() => {
                    let same_turn = !turn.ids.insert(&call.id);
                    let first = *first_use.entry(&call.id).or_insert(at);
                    if first != at {
                        problems.push(Problem::DuplicateCallId {
                            at: at.to_string(),
                            id: call.id.clone(),
                            first: first.to_string(),
                            same_turn,
                        });
                    }
                    if !same_turn {
                        turn.calls.push((&call.id, &call.name, at));
                    }
                }
                Block::ToolResult(result) if matches!(message.role, Role::User | Role::Tool) => {
                    let id = result.tool_call_id.as_str();
                    let place = || at.to_string();
                    if id.trim().is_empty() {
                        problems.push(Problem::ResultWithoutCallId { at: place() });
                    } else if !turn.ids.contains(id) {
                        problems.push(Problem::ResultWithoutCall { at: place(), id: id.to_owned() });
                    } else if !turn.answered.insert(id) {
                        problems.push(Problem::DuplicateResult { at: place(), id: id.to_owned() });
                    }
                }
                Block::ProviderCall(call) => {
                    let first = *provider_calls.entry(&call.id).or_insert(at);
                    if first != at && !call.id.is_empty() {
                        let (at, id, first) = (at.to_string(), call.id.clone(), first.to_string());
                        // Only the provider can say whether the ids are unique.
                        problems.push(Problem::DuplicateCallId { at, id, first, same_turn: false });
                    }
                }
                Block::ProviderResult(result) if !provider_calls.contains_key(result.call_id.as_str()) => {
                    let id = result.call_id.clone();
                    problems.push(Problem::ProviderResultWithoutCall { at: at.to_string(), id });
                }
                _ => {}
            }
        }
    }
    turn.close(problems);
}

impl Turn<'_> {
    fn close(self, problems: &mut Vec<Problem>) {
        for (id, name, at) in self.calls {
            if !self.answered.contains(id) {
                problems.push(Problem::CallWithoutResult {
                    at: at.to_string(),
                    id: id.to_owned(),
                    name: name.to_owned(),
                });
            }
        }
    }
}
