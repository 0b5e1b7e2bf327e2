//! Tool calls assembled from their pieces.
//!
//! Pieces are matched by `index`, or else by `id`; otherwise they continue the last call. A new id on a used index is a
//! new call: some servers give every call the index 0. So is a name with arguments, if nothing has an id and the call's
//! arguments are complete. Id and name are sent once; a repetition is not a continuation.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::calls;
use crate::dialect::openai_chat::notes::{EXTRA_CONTENT, Side};
use crate::dialect::openai_chat::response::Holds;
use crate::dialect::openai_chat::wire::{Call, Function, Message};
use crate::dialect::weight::Weigh;
use crate::json::loose::{Item, Words};
use crate::json::wire::{Raw, Text};
use crate::wire::Ids;
use crate::{Arguments, Event, Json, Part, ProviderData};

/// The index of the call in the older form, of which there can be only one.
const OLDER: Option<u64> = Some(u64::MAX);

#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Tracked>,
    /// The last call for each index and each id on the wire.
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
    /// The calls that have grown since the last one began.
    grown: BTreeSet<usize>,
    broken: bool,
    fault: Option<&'static str>,
}

#[derive(Debug, Default)]
struct Tracked {
    /// The id on the wire, if there is one.
    id: Option<String>,
    /// The type on the wire, if there is one.
    kind: Option<String>,
    /// The block's index, once the name is known.
    block: Option<usize>,
    arguments: String,
    /// The length of the arguments when they were last found to be incomplete.
    checked: usize,
    /// Google's slot for signatures, until it is passed on.
    state: Option<Json>,
    done: bool,
}

impl Weigh for Tracked {
    fn weight(&self) -> usize {
        // Arguments are counted with their events, once they have any.
        let arguments = if self.block.is_none() { self.arguments.weight() } else { 0 };
        // The id is also in a map.
        2 * self.id.weight() + self.kind.weight() + self.state.weight() + arguments
    }
}

impl Calls {
    /// Returns roughly how many bytes the calls take.
    pub(super) fn held(&self) -> usize {
        self.calls.weight() + self.by_id.capacity() * size_of::<(String, usize)>() + self.by_index.capacity() * 16
    }

    /// Adds the pieces of a delta.
    pub(super) fn take(&mut self, delta: &mut Message<'_>, next: &mut usize, ids: &mut Ids, out: &mut Vec<Event>) {
        for item in std::mem::take(&mut delta.tool_calls) {
            if let Item::Fits(piece) = item {
                self.piece(piece, next, ids, out);
            }
        }
        let older = delta.function_call.take();
        let older = older.filter(|function| calls::is_named(function) || function.arguments.is_some());
        if older.is_some() {
            let kind = Some(calls::FUNCTION_CALL.into());
            self.piece(Call { index: OLDER, kind, function: older, ..Call::default() }, next, ids, out);
        }
    }

    /// Adds one piece.
    fn piece(&mut self, mut piece: Call<'_>, next: &mut usize, ids: &mut Ids, out: &mut Vec<Event>) {
        let id = piece.id.as_deref();
        let at = self.find(&piece).filter(|at| !self.is_another(*at, &piece)).unwrap_or_else(|| self.begin(out));
        if let Some(index) = piece.index {
            self.by_index.insert(index, at);
        }
        let Some(call) = self.calls.get_mut(at) else { return };
        if let Some(id) = id.filter(|_| call.id.is_none() && call.block.is_none()) {
            call.id = Some(id.to_owned());
            self.by_id.insert(id.to_owned(), at);
        }
        if call.kind.is_none() {
            call.kind = piece.kind.take().map(Text::into_string);
        }
        if let Some(state) = piece.extra_content.take() {
            call.state = Some(state.to_json());
        }
        if let Some(function) = piece.function.or(piece.custom) {
            self.grown.insert(at);
            if let Err(fault) = call.function(*function, next, ids, out) {
                self.fault.get_or_insert(fault);
            }
        }
    }

    /// Returns the call that a piece belongs to, if it has begun.
    fn find(&self, piece: &Call<'_>) -> Option<usize> {
        let by_id = |id: &str| self.by_id.get(id).copied();
        let named = piece.function.as_deref().or(piece.custom.as_deref()).is_some_and(calls::is_named);
        match (piece.index, piece.id.as_deref()) {
            (Some(index), id) => {
                let at = *self.by_index.get(&index)?;
                match (self.calls.get(at)?.id.as_deref(), id) {
                    (Some(known), Some(id)) if known != id => by_id(id),
                    _ => Some(at),
                }
            }
            (None, Some(id)) => by_id(id),
            // Neither index nor id: a name begins a call, anything else continues one.
            (None, None) if named => None,
            (None, None) => self.calls.len().checked_sub(1),
        }
    }

    /// Whether a piece on a call's index begins another call, although neither has an id: it has a name, and arguments
    /// although the call's are complete.
    fn is_another(&mut self, at: usize, piece: &Call<'_>) -> bool {
        let Some(call) = self.calls.get_mut(at).filter(|call| call.id.is_none() && call.block.is_some()) else {
            return false;
        };
        let function = piece.function.as_deref().filter(|function| calls::is_named(function));
        let brings = function.and_then(|function| function.arguments.as_ref()).is_some_and(|arguments| {
            arguments.as_str().unwrap_or_else(|| arguments.text().into()).trim_start().starts_with('{')
        });
        brings && piece.id.as_deref().is_none() && call.is_whole()
    }

    fn begin(&mut self, out: &mut Vec<Event>) -> usize {
        // Calls with a name and complete arguments are over now. The others may still grow.
        for at in std::mem::take(&mut self.grown) {
            if let Some(call) = self.calls.get_mut(at).filter(|call| call.block.is_some() && !call.done)
                && call.is_whole()
            {
                self.broken |= !call.close(out);
            }
        }
        self.calls.push(Tracked::default());
        self.calls.len() - 1
    }

    /// Closes every call. Returns what the finish reason depends on, or what is wrong with a call.
    pub(super) fn finish(&mut self, out: &mut Vec<Event>) -> Result<Holds, &'static str> {
        for call in &mut self.calls {
            if call.block.is_none() {
                self.fault.get_or_insert("a tool call came without the tool's name");
            } else if !call.done {
                self.broken |= !call.close(out);
            }
        }
        let holds = Holds { calls: !self.calls.is_empty(), broken_call: self.broken, refusal: false };
        self.fault.map_or(Ok(holds), Err)
    }
}

impl Tracked {
    fn function(
        &mut self,
        mut function: Function<'_>,
        next: &mut usize,
        ids: &mut Ids,
        out: &mut Vec<Event>,
    ) -> Result<(), &'static str> {
        let more = match function.arguments.take() {
            Some(raw) => raw.as_str().map_or_else(|| raw.text().to_owned(), Cow::into_owned),
            // A custom tool's input is free text in another field.
            None => function.input.take().map(Text::into_string).unwrap_or_default(),
        };
        if self.block.is_none() && calls::is_named(&function) {
            self.start(function.name.take().map(Text::into_string).unwrap_or_default(), next, ids, out);
        }
        if more.is_empty() {
            return Ok(());
        }
        if self.done {
            // Its arguments were complete when the next call began. Only whitespace can follow.
            return if more.trim().is_empty() { Ok(()) } else { Err("arguments came for a tool call that was whole") };
        }
        self.arguments.push_str(&more);
        if let Some(index) = self.block {
            out.push(Event::ToolCallDelta { index, arguments: more });
        }
        Ok(())
    }

    /// Begins the block the way a whole answer has the call.
    fn start(&mut self, name: String, next: &mut usize, ids: &mut Ids, out: &mut Vec<Event>) {
        let index = *next;
        *next += 1;
        self.block = Some(index);
        let function = Function { name: Some(name.into()), arguments: Some(Raw::of("")), ..Function::default() };
        let call = if self.kind.as_deref() == Some(calls::FUNCTION_CALL) {
            calls::read_older_form(function, Side::Response, ids)
        } else {
            let id = Words(self.id.as_deref().map(Text::from));
            let mut wire = Call { id, kind: self.kind.as_deref().map(Text::from), ..Call::default() };
            *calls::inner(&mut wire).1 = Some(Box::new(function));
            calls::read_call(wire, Side::Response, ids)
        };
        let (id, name, mut provider_data) = (call.id, call.name, call.provider_data);
        self.give_state(&mut provider_data);
        out.push(Event::ToolCallStart { index, id, name, provider_data });
        if !self.arguments.is_empty() {
            out.push(Event::ToolCallDelta { index, arguments: self.arguments.clone() });
        }
    }

    fn give_state(&mut self, data: &mut ProviderData) {
        if let Some(state) = self.state.take() {
            data.set_part(DIALECT, Part::State, EXTRA_CONTENT, state);
        }
    }

    /// Ends the call. Returns whether its arguments are complete.
    fn close(&mut self, out: &mut Vec<Event>) -> bool {
        self.done = true;
        let Some(index) = self.block else { return true };
        let arguments = Arguments::from_text(std::mem::take(&mut self.arguments));
        let mut provider_data = ProviderData::default();
        self.give_state(&mut provider_data);
        let whole = arguments.is_complete();
        out.push(Event::ToolCallDone { index, arguments, provider_data });
        whole
    }

    /// Whether the arguments are a complete object. Incomplete ones are checked again only when they are twice as long,
    /// so that the time does not grow with the number of calls.
    fn is_whole(&mut self) -> bool {
        if self.arguments.len() < self.checked.saturating_mul(2) {
            return false;
        }
        self.checked = self.arguments.len();
        self.arguments.trim_start().starts_with('{')
            && serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}
