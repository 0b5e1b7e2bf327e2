//! Tool calls put together from their pieces.
//!
//! Pieces are told apart by `index`, else by `id`, else they go on with the last call. A new id on a used index is a
//! new call: some servers give every call the index 0. Id and name come once; a repetition is not a continuation.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::super::wire::{Arguments, Call, Function};
use crate::dialect::openai_chat::assistant::Spelling;
use crate::dialect::openai_chat::marks::{DIALECT, EXTRA_CONTENT};
use crate::{Event, Ids, ProviderData, ToolCall};

#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Tracked>,
    broken: bool,
    fault: Option<&'static str>,
}

/// What the end of the answer depends on.
pub(super) struct Found {
    pub(super) any: bool,
    pub(super) broken: bool,
    /// What cannot be told as a call.
    pub(super) fault: Option<&'static str>,
}

#[derive(Debug)]
struct Tracked {
    /// The number on the wire, where there is one.
    wire: Option<u64>,
    /// The id on the wire, where there is one.
    id: Option<String>,
    kind: Kind,
    /// The block's number, once its name is known.
    block: Option<usize>,
    arguments: String,
    /// Google's slot for signatures, until it is given on.
    state: Option<Value>,
    done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Function,
    /// No `type` said so.
    Untyped,
    Custom,
    /// The older form of a single call, `function_call`.
    Older,
}

impl Calls {
    /// Takes one piece.
    pub(super) fn piece(&mut self, piece: Call<'_>, next: &mut usize, ids: &mut Ids, out: &mut Vec<Event>) {
        let id = piece.id.as_some();
        let at = self.find(piece.index.0, id, names(&piece));
        let kind = match piece.kind.0.as_deref() {
            Some("custom") => Kind::Custom,
            Some(_) => Kind::Function,
            None => Kind::Untyped,
        };
        let at = at.unwrap_or_else(|| self.begin(piece.index.0, kind, out));
        let Some(call) = self.calls.get_mut(at) else { return };
        if call.id.is_none() && call.block.is_none() {
            call.id = id.map(str::to_owned);
        }
        if let Some(state) = piece.extra_content.and_then(read) {
            call.state = Some(state);
        }
        if let Some(function) = piece.function.or(piece.custom) {
            let fault = call.function(function, next, ids, out).err();
            self.fault = self.fault.or(fault);
        }
    }

    /// Takes one piece of the older form, which knows a single call.
    pub(super) fn older_form(&mut self, function: Function<'_>, next: &mut usize, ids: &mut Ids, out: &mut Vec<Event>) {
        let at = self.calls.iter().position(|call| call.kind == Kind::Older);
        let empty = function.name.as_some().is_none() && matches!(function.arguments, Arguments::None);
        if at.is_none() && empty {
            return;
        }
        let at = at.unwrap_or_else(|| self.begin(None, Kind::Older, out));
        if let Some(call) = self.calls.get_mut(at) {
            let fault = call.function(function, next, ids, out).err();
            self.fault = self.fault.or(fault);
        }
    }

    fn find(&self, wire: Option<u64>, id: Option<&str>, named: bool) -> Option<usize> {
        let last = |is: &dyn Fn(&Tracked) -> bool| self.calls.iter().rposition(is);
        match (wire, id) {
            (Some(wire), id) => {
                let at = last(&|call| call.wire == Some(wire))?;
                let known = self.calls.get(at)?.id.as_deref();
                match (known, id) {
                    (Some(known), Some(id)) if known != id => last(&|call| call.id.as_deref() == Some(id)),
                    _ => Some(at),
                }
            }
            (None, Some(id)) => last(&|call| call.id.as_deref() == Some(id)),
            // Neither number nor id: a name begins a call, the rest goes on.
            (None, None) if named => None,
            (None, None) => self.calls.len().checked_sub(1),
        }
    }

    fn begin(&mut self, wire: Option<u64>, kind: Kind, out: &mut Vec<Event>) -> usize {
        // What has whole arguments is over now. The rest may still grow.
        for call in &mut self.calls {
            if !call.done && call.block.is_some() && is_object(&call.arguments) {
                self.broken |= !call.close(out);
            }
        }
        self.calls.push(Tracked {
            wire,
            id: None,
            kind,
            block: None,
            arguments: String::new(),
            state: None,
            done: false,
        });
        self.calls.len() - 1
    }

    /// Closes every call.
    pub(super) fn finish(&mut self, out: &mut Vec<Event>) -> Found {
        for call in &mut self.calls {
            if call.block.is_none() {
                self.fault.get_or_insert("a tool call came without the tool's name");
            } else if !call.done {
                self.broken |= !call.close(out);
            }
        }
        Found { any: !self.calls.is_empty(), broken: self.broken, fault: self.fault }
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
        let more = match function.arguments {
            Arguments::None => None,
            Arguments::Text(text) => Some(text.into_owned()),
            Arguments::Object(object) => serde_json::to_string(&object).ok(),
        }
        .filter(|more| !more.is_empty());
        if self.block.is_none()
            && let Some(name) = function.name.take()
        {
            self.start(name.into_owned(), next, ids, out);
        }
        let Some(more) = more else { return Ok(()) };
        if self.done {
            // Its arguments were whole when the next call began. Only white space can follow.
            return if more.trim().is_empty() { Ok(()) } else { Err("arguments came for a tool call that was whole") };
        }
        self.arguments.push_str(&more);
        if let Some(index) = self.block {
            out.push(Event::ToolCallDelta { index, arguments: more });
        }
        Ok(())
    }

    fn start(&mut self, name: String, next: &mut usize, ids: &mut Ids, out: &mut Vec<Event>) {
        let index = *next;
        *next += 1;
        self.block = Some(index);
        let spelling = Spelling {
            without_id: self.id.is_none(),
            without_type: self.kind == Kind::Untyped,
            custom: self.kind == Kind::Custom,
            older_form: self.kind == Kind::Older,
        };
        let mut provider_data = spelling.marks();
        if let Some(state) = self.state.take() {
            provider_data.set(DIALECT, EXTRA_CONTENT, state);
        }
        let id = self.id.clone().unwrap_or_else(|| ids.next_id());
        out.push(Event::ToolCallStart { index, id, name, provider_data });
        if !self.arguments.is_empty() {
            out.push(Event::ToolCallDelta { index, arguments: self.arguments.clone() });
        }
    }

    /// Ends the call; says whether its arguments are whole.
    fn close(&mut self, out: &mut Vec<Event>) -> bool {
        self.done = true;
        let Some(index) = self.block else { return true };
        let mut call = ToolCall::default();
        call.arguments = crate::Arguments::from_text(std::mem::take(&mut self.arguments));
        let mut provider_data = ProviderData::default();
        if let Some(state) = self.state.take() {
            provider_data.set(DIALECT, EXTRA_CONTENT, state);
        }
        let whole = call.is_complete();
        let ToolCall { arguments, .. } = call;
        out.push(Event::ToolCallDone { index, arguments, provider_data });
        whole
    }
}

fn names(piece: &Call<'_>) -> bool {
    piece.function.as_ref().or(piece.custom.as_ref()).is_some_and(|function| function.name.as_some().is_some())
}

fn is_object(arguments: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
}

fn read(raw: &RawValue) -> Option<Value> {
    serde_json::from_str(raw.get()).ok()
}
