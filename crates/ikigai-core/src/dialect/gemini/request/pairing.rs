//! Ids for calls and results that came without.

use std::collections::{HashMap, HashSet, VecDeque};

use super::super::DIALECT;
use super::super::content::GENERATED;
use super::super::result::NAME;
use crate::wire::Ids;
use crate::{Block, Message, Part, ProviderData, Role, ToolResult};

/// Gives calls and results without an id one: results are paired with the calls of the turn before them, by name and
/// order. The ids follow from the order alone, so that a conversation keeps them from turn to turn.
pub(super) fn name_calls(messages: &mut [Message]) {
    let mut ids = FreshIds::new(messages);
    let mut turn = Turn::default();
    // Ids of calls that came with their results: they are set at the end.
    let mut given: Vec<(usize, usize, String)> = Vec::new();
    let mut last_role = None;
    for (place, message) in messages.iter_mut().enumerate() {
        // The model's contents in a row are one turn.
        if message.role == Role::Assistant && last_role != Some(Role::Assistant) {
            turn = Turn::default();
        }
        last_role = Some(message.role);
        for (block, content) in message.content.iter_mut().enumerate() {
            match content {
                Block::ToolCall(call) => {
                    let generated = call.id.is_empty();
                    if generated {
                        call.id = ids.next();
                        mark(&mut call.provider_data);
                    }
                    turn.add(
                        Call { place: (place, block), id: call.id.clone(), generated, answered: false },
                        &call.name,
                    );
                }
                Block::ToolResult(result) => given.extend(turn.answer(result, &mut ids)),
                Block::Text(_)
                | Block::Image(_)
                | Block::Document(_)
                | Block::Audio(_)
                | Block::Thinking(_)
                | Block::Other(_) => {}
            }
        }
    }
    for (message, block, id) in given {
        let call = messages.get_mut(message).and_then(|message| message.content.get_mut(block));
        if let Some(Block::ToolCall(call)) = call {
            call.id = id;
        }
    }
}

fn mark(data: &mut ProviderData) {
    data.set_part(DIALECT, Part::Shape, GENERATED, true);
}

/// Ids that no call or result has yet.
struct FreshIds {
    taken: HashSet<String>,
    ids: Ids,
}

impl FreshIds {
    fn new(messages: &[Message]) -> Self {
        let blocks = messages.iter().flat_map(|message| &message.content);
        let id = |block: &Block| match block {
            Block::ToolCall(call) => Some(call.id.clone()),
            Block::ToolResult(result) => Some(result.tool_call_id.clone()),
            _ => None,
        };
        FreshIds { taken: blocks.filter_map(id).collect(), ids: Ids::default() }
    }

    fn next(&mut self) -> String {
        loop {
            let id = self.ids.next_id();
            if !self.taken.contains(&id) {
                return id;
            }
        }
    }
}

/// The calls of a turn of the model, found without looking through all of them: each queue gives up the calls that are
/// answered when it comes to them.
#[derive(Default)]
struct Turn {
    calls: Vec<Call>,
    by_id: HashMap<String, usize>,
    open: VecDeque<usize>,
    by_name: HashMap<String, VecDeque<usize>>,
    /// Those that came without an id.
    nameless: HashMap<String, VecDeque<usize>>,
}

struct Call {
    /// Its message and its block.
    place: (usize, usize),
    id: String,
    generated: bool,
    answered: bool,
}

impl Turn {
    fn add(&mut self, call: Call, name: &str) {
        let place = self.calls.len();
        self.by_id.entry(call.id.clone()).or_insert(place);
        self.open.push_back(place);
        self.by_name.entry(name.to_owned()).or_default().push_back(place);
        if call.generated {
            self.nameless.entry(name.to_owned()).or_default().push_back(place);
        }
        self.calls.push(call);
    }

    /// Pairs a result with its call. Gives the call's place and its id, if the call came without it and the result has one.
    fn answer(&mut self, result: &mut ToolResult, ids: &mut FreshIds) -> Option<(usize, usize, String)> {
        let name = result.provider_data.part_str(DIALECT, Part::Shape, NAME).unwrap_or_default().into_owned();
        let partner = self.partner(&result.tool_call_id, &name);
        let Some((place, call)) = partner.and_then(|place| Some((place, self.calls.get_mut(place)?))) else {
            if result.tool_call_id.is_empty() {
                result.tool_call_id = ids.next();
                mark(&mut result.provider_data);
            }
            return None;
        };
        call.answered = true;
        if result.tool_call_id.is_empty() {
            result.tool_call_id.clone_from(&call.id);
            mark(&mut result.provider_data);
            return None;
        }
        if call.id == result.tool_call_id {
            return None;
        }
        call.id.clone_from(&result.tool_call_id);
        self.by_id.entry(call.id.clone()).or_insert(place);
        Some((call.place.0, call.place.1, call.id.clone()))
    }

    /// The call that a result answers: the one with its id; else the first open one of its name; else, for a result
    /// without an id, the first open one. A result with an id can only belong to a call that has none of its own.
    fn partner(&mut self, id: &str, name: &str) -> Option<usize> {
        if !id.is_empty() {
            let known = self.by_id.get(id).copied();
            return known.or_else(|| first_open(self.nameless.get_mut(name)?, &self.calls));
        }
        let named = self.by_name.get_mut(name).and_then(|queue| first_open(queue, &self.calls));
        named.or_else(|| first_open(&mut self.open, &self.calls))
    }
}

/// The first call of a queue that is not answered yet; those that are leave it.
fn first_open(queue: &mut VecDeque<usize>, calls: &[Call]) -> Option<usize> {
    while let Some(place) = queue.front() {
        if calls.get(*place).is_some_and(|call| !call.answered) {
            return Some(*place);
        }
        queue.pop_front();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each step of a queue takes a call out of it or finds one, so that N results look at no more than N answered calls.
    #[test]
    fn the_work_grows_with_the_calls_and_not_with_their_square() {
        let mut turn = Turn::default();
        let count = 10_000;
        for place in 0..count {
            turn.add(Call { place: (0, place), id: format!("c{place}"), generated: true, answered: false }, "f");
        }
        let left = |turn: &Turn| turn.open.len() + turn.by_name.values().map(VecDeque::len).sum::<usize>();
        let mut ids = FreshIds { taken: HashSet::new(), ids: Ids::default() };
        for answered in 0..count {
            let mut result = ToolResult::default();
            result.provider_data.set_part(DIALECT, Part::Shape, NAME, "f");
            turn.answer(&mut result, &mut ids);
            assert_eq!(result.tool_call_id, format!("c{answered}"));
            // Only the answered calls before this one have left the queue of their name.
            assert_eq!(left(&turn), 2 * count - answered, "after {answered}");
        }
    }
}
