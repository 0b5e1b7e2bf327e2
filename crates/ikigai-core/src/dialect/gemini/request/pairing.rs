//! Ids for calls and results without any.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use super::super::DIALECT;
use super::super::content::GENERATED;
use super::super::result::NAME;
use crate::wire::Ids;
use crate::{Block, Message, Part, ProviderData, Role, ToolCall, ToolResult};

/// Gives calls and results without an id one: results are matched with the calls of the turn before them, by name and
/// order. The ids depend only on the order, so that a conversation keeps them from turn to turn.
pub(super) fn name_calls(messages: &mut [Message]) {
    if !messages.iter().flat_map(|message| &message.content).filter_map(Block::call_id).any(str::is_empty) {
        return;
    }
    let mut ids = FreshIds::new(messages);
    let mut turn = Turn::default();
    let mut last_role = None;
    for message in messages {
        // Consecutive contents of the model are one turn.
        if message.role == Role::Assistant && last_role != Some(Role::Assistant) {
            turn.clear();
        }
        last_role = Some(message.role);
        for block in &mut message.content {
            if let Block::ToolCall(call) = block {
                turn.add(call, &mut ids);
            } else if let Block::ToolResult(result) = block {
                turn.answer(result, &mut ids);
            }
        }
    }
}

fn mark(data: &mut ProviderData) {
    data.set_part(DIALECT, Part::Shape, GENERATED, true);
}

/// Generates ids that no call or result has yet.
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

/// The calls of one turn of the model, indexed so that a call is found without searching all of them.
#[derive(Default)]
struct Turn<'m> {
    calls: Vec<Call<'m>>,
    /// Those with an id from the wire: no result refers to one of ours.
    by_id: BTreeMap<String, usize>,
    by_name: BTreeMap<&'m str, Named>,
    /// All calls before this one are answered.
    open_from: usize,
}

/// The calls with one name, linked in order.
struct Named {
    /// All before this one are answered.
    open_from: usize,
    /// All before this one are answered or came with an id.
    without_id_from: usize,
    last: usize,
}

struct Call<'m> {
    id: &'m mut String,
    came_with_id: bool,
    answered: bool,
    next_of_name: Option<usize>,
}

impl<'m> Turn<'m> {
    /// Forgets the calls, but keeps the allocations: turns are many and short.
    fn clear(&mut self) {
        self.calls.clear();
        self.by_id.clear();
        self.by_name.clear();
        self.open_from = 0;
    }

    fn add(&mut self, call: &'m mut ToolCall, ids: &mut FreshIds) {
        let place = self.calls.len();
        let came_with_id = !call.id.is_empty();
        if came_with_id {
            self.by_id.entry(call.id.clone()).or_insert(place);
        } else {
            call.id = ids.next();
            mark(&mut call.provider_data);
        }
        match self.by_name.entry(&call.name) {
            Entry::Occupied(mut named) => {
                let before = std::mem::replace(&mut named.get_mut().last, place);
                if let Some(before) = self.calls.get_mut(before) {
                    before.next_of_name = Some(place);
                }
            }
            Entry::Vacant(named) => {
                named.insert(Named { open_from: place, without_id_from: place, last: place });
            }
        }
        self.calls.push(Call { id: &mut call.id, came_with_id, answered: false, next_of_name: None });
    }

    /// Matches a result with the call that has its id; else with the first open one of its name; else, if the result
    /// has no id, with the first open one. A result with an id can only match a call that has none of its own.
    fn answer(&mut self, result: &mut ToolResult, ids: &mut FreshIds) {
        let has_id = !result.tool_call_id.is_empty();
        let known = self.by_id.get(&result.tool_call_id).copied();
        let place = known.or_else(|| {
            let name = result.provider_data.part_str(DIALECT, Part::Shape, NAME).unwrap_or_default();
            let named = self.by_name.get_mut(name.as_ref());
            if has_id {
                return named?.first_without_id(&self.calls);
            }
            named.and_then(|named| named.first_open(&self.calls)).or_else(|| {
                self.open_from += self.calls.iter().skip(self.open_from).take_while(|call| call.answered).count();
                (self.open_from < self.calls.len()).then_some(self.open_from)
            })
        });
        match place.and_then(|place| Some((place, self.calls.get_mut(place)?))) {
            Some((place, call)) if has_id => {
                call.answered = true;
                call.id.clone_from(&result.tool_call_id);
                self.by_id.entry(result.tool_call_id.clone()).or_insert(place);
            }
            None if has_id => {}
            found => {
                result.tool_call_id = match found {
                    Some((_, call)) => {
                        call.answered = true;
                        call.id.clone()
                    }
                    None => ids.next(),
                };
                mark(&mut result.provider_data);
            }
        }
    }
}

impl Named {
    /// Returns the first unanswered call.
    fn first_open(&mut self, calls: &[Call<'_>]) -> Option<usize> {
        go_on(&mut self.open_from, calls, |call| !call.answered)
    }

    /// Returns the first unanswered call that came without an id.
    fn first_without_id(&mut self, calls: &[Call<'_>]) -> Option<usize> {
        go_on(&mut self.without_id_from, calls, |call| !call.answered && !call.came_with_id)
    }
}

/// Advances to the first matching call of the name. Calls before it are not checked again.
fn go_on(from: &mut usize, calls: &[Call<'_>], is_meant: impl Fn(&Call<'_>) -> bool) -> Option<usize> {
    loop {
        let call = calls.get(*from)?;
        if is_meant(call) {
            return Some(*from);
        }
        *from = call.next_of_name?;
    }
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
