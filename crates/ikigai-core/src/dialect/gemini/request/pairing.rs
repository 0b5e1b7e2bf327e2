//! Ids for calls and results that came without.

use std::collections::{BTreeMap, HashSet, VecDeque};

use super::super::DIALECT;
use super::super::content::GENERATED;
use super::super::result::NAME;
use crate::wire::Ids;
use crate::{Block, Message, Part, ProviderData, Role, ToolCall, ToolResult};

/// Gives calls and results without an id one: results are paired with the calls of the turn before them, by name and
/// order. The ids follow from the order alone, so that a conversation keeps them from turn to turn.
pub(super) fn name_calls(messages: &mut [Message]) {
    if !messages.iter().flat_map(|message| &message.content).filter_map(Block::call_id).any(str::is_empty) {
        return;
    }
    let mut ids = FreshIds::new(messages);
    let mut turn = Turn::default();
    let mut last_role = None;
    for message in messages {
        // The model's contents in a row are one turn.
        if message.role == Role::Assistant && last_role != Some(Role::Assistant) {
            turn = Turn::default();
        }
        last_role = Some(message.role);
        for block in &mut message.content {
            match block {
                Block::ToolCall(call) => turn.add(call, &mut ids),
                Block::ToolResult(result) => turn.answer(result, &mut ids),
                Block::Text(_)
                | Block::Image(_)
                | Block::Document(_)
                | Block::Audio(_)
                | Block::Thinking(_)
                | Block::Other(_) => {}
            }
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
        let given = blocks.filter_map(Block::call_id).filter(|id| !id.is_empty());
        FreshIds { taken: given.map(str::to_owned).collect(), ids: Ids::default() }
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

/// The calls of a turn of the model, found without looking through all of them.
#[derive(Default)]
struct Turn<'m> {
    calls: Vec<Call<'m>>,
    by_id: BTreeMap<String, usize>,
    by_name: BTreeMap<String, Named>,
    /// All calls before this one are answered.
    open_from: usize,
}

/// The calls of one name, in order. A queue gives up those that are answered when it comes to them.
#[derive(Default)]
struct Named {
    all: VecDeque<usize>,
    without_id: VecDeque<usize>,
}

struct Call<'m> {
    call: &'m mut ToolCall,
    answered: bool,
}

impl<'m> Turn<'m> {
    fn add(&mut self, call: &'m mut ToolCall, ids: &mut FreshIds) {
        let place = self.calls.len();
        let named = self.by_name.entry(call.name.clone()).or_default();
        named.all.push_back(place);
        if call.id.is_empty() {
            call.id = ids.next();
            mark(&mut call.provider_data);
            named.without_id.push_back(place);
        }
        self.by_id.entry(call.id.clone()).or_insert(place);
        self.calls.push(Call { call, answered: false });
    }

    /// Pairs a result with the call that has its id; else with the first open one of its name; else, for a result without
    /// an id, with the first open one. A result with an id can only belong to a call that has none of its own.
    fn answer(&mut self, result: &mut ToolResult, ids: &mut FreshIds) {
        let has_id = !result.tool_call_id.is_empty();
        let known = self.by_id.get(&result.tool_call_id).copied();
        let place = known.or_else(|| {
            let name = result.provider_data.part_str(DIALECT, Part::Shape, NAME).unwrap_or_default();
            let named = self.by_name.get_mut(name.as_ref());
            if has_id {
                return first_open(&self.calls, &mut named?.without_id);
            }
            named.and_then(|named| first_open(&self.calls, &mut named.all)).or_else(|| {
                let answered = self.calls.iter().skip(self.open_from).take_while(|call| call.answered).count();
                self.open_from += answered;
                (self.open_from < self.calls.len()).then_some(self.open_from)
            })
        });
        match place.and_then(|place| Some((place, self.calls.get_mut(place)?))) {
            Some((place, call)) if has_id => {
                call.answered = true;
                call.call.id.clone_from(&result.tool_call_id);
                self.by_id.entry(result.tool_call_id.clone()).or_insert(place);
            }
            None if has_id => {}
            found => {
                result.tool_call_id = match found {
                    Some((_, call)) => {
                        call.answered = true;
                        call.call.id.clone()
                    }
                    None => ids.next(),
                };
                mark(&mut result.provider_data);
            }
        }
    }
}

/// The first call of a queue that is not answered yet; those that are leave it.
fn first_open(calls: &[Call<'_>], queue: &mut VecDeque<usize>) -> Option<usize> {
    while let Some(place) = queue.front() {
        if calls.get(*place).is_some_and(|call| !call.answered) {
            return Some(*place);
        }
        queue.pop_front();
    }
    None
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
