//! Tool calls in every spelling of the family.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::DIALECT;
use super::notes::{self, EXTRA_CONTENT, ID_GENERATED, Notes, Side, bound_shape, shape};
use super::wire::{self, Call, Function, Message};
use crate::fit::{Spelling, StateUse};
use crate::json::loose::{Item, Loose as _, Words};
use crate::json::wire::{Raw, Text};
use crate::wire::Ids;
use crate::{Arguments, Block, Fields, Json, Loss, LossCode, Part, ProviderData, ToolCall};

/// Shape of calls, in the document that they were read from.
const NO_TYPE: &str = "no_type";
const NO_ID: &str = "no_id";
const NO_ARGUMENTS: &str = "no_arguments";
const ARGUMENTS_OBJECT: &str = "arguments_object";
pub(super) const FUNCTION_CALL: &str = "function_call";
/// Shape: a custom tool, which accepts any text.
const CUSTOM: &str = "custom";
/// Shape of a message: entries of `tool_calls` that are not function calls, with their indices.
const OTHER_CALLS: &str = "other_calls";

/// Reads the calls of a message, in the older form and in the current one.
pub(super) fn decode(message: &mut Message<'_>, side: Side, ids: &mut Ids, blocks: &mut Vec<Block>, notes: &mut Notes) {
    if message.function_call.as_deref().is_some_and(is_named)
        && let Some(function) = message.function_call.take()
    {
        blocks.push(Block::ToolCall(read_older_form(*function, side, ids)));
    }
    let mut others = Vec::new();
    for (at, mut item) in std::mem::take(&mut message.tool_calls).into_iter().enumerate() {
        let has_function = match &mut item {
            Item::Fits(call) => inner(call).1.is_some(),
            Item::Odd(_) => false,
        };
        match item {
            Item::Fits(call) if has_function => blocks.push(Block::ToolCall(read_call(call, side, ids))),
            other => others.push(OtherCall { at, call: Raw::of(&other) }),
        }
    }
    if !others.is_empty() {
        notes.shape.set(OTHER_CALLS, Json::of(&others).unwrap_or_default());
    }
}

/// An entry of `tool_calls` that is not a function call, and its index.
#[derive(Debug, Serialize, Deserialize)]
struct OtherCall<'a> {
    at: usize,
    #[serde(borrow)]
    call: Raw<'a>,
}

/// Whether a function, or a piece of one, has a name.
pub(super) fn is_named(function: &Function<'_>) -> bool {
    function.name.as_ref().is_some_and(|name| !name.as_str().is_empty())
}

/// Returns the object with name and arguments for the call's type: its field and its content.
pub(super) fn inner<'c, 'a>(call: &'c mut Call<'a>) -> (&'static str, &'c mut Option<Box<Function<'a>>>) {
    match call.kind.as_ref().map(Text::as_str) {
        Some(CUSTOM) => (CUSTOM, &mut call.custom),
        Some(_) | None => ("function", &mut call.function),
    }
}

/// Reads a call in the older form, `function_call`, which has no id.
pub(super) fn read_older_form(function: Function<'_>, side: Side, ids: &mut Ids) -> ToolCall {
    let mut call = ToolCall { id: ids.next_id(), ..ToolCall::default() };
    let mut notes = Notes::default();
    notes.mark(FUNCTION_CALL);
    notes.extra = read_function(function, &mut call, &mut notes.shape);
    call.provider_data = notes.into_bound_data(side);
    call.provider_data.set_part(DIALECT, Part::Shape, ID_GENERATED, true);
    call
}

/// Reads one entry of `tool_calls`.
pub(super) fn read_call(mut wire: Call<'_>, side: Side, ids: &mut Ids) -> ToolCall {
    let mut call = ToolCall::default();
    let mut notes = Notes::default();
    let id = wire.id.take().map(Cow::into_owned);
    if id.is_none() && wire::find(&wire.rest, "id").is_none() {
        notes.mark(NO_ID);
    }
    if let Some(state) = wire.extra_content.take() {
        notes.state.set(EXTRA_CONTENT, state.to_json());
    }
    let (name, function) = inner(&mut wire);
    let mut function = *function.take().unwrap_or_default();
    if name == CUSTOM {
        function.arguments = function.input.take().map(|text| Raw::of(&text));
    }
    let rest = read_function(function, &mut call, &mut notes.shape);
    match wire.kind.as_ref().map(Text::as_str) {
        Some("function" | CUSTOM) => wire.kind = None,
        Some(_) | None => notes.mark(NO_TYPE),
    }
    wire.leftovers().into_iter().for_each(|(name, value)| notes.extra.push(name, value));
    // Under its own name, to distinguish it from the fields around it.
    notes.keep_inner(name, rest);
    call.provider_data = notes.into_bound_data(side);
    let marks = [(name == CUSTOM, CUSTOM), (id.is_none(), ID_GENERATED)];
    for (_, mark) in marks.into_iter().filter(|(holds, _)| *holds) {
        call.provider_data.set_part(DIALECT, Part::Shape, mark, true);
    }
    call.id = id.unwrap_or_else(|| ids.next_id());
    call
}

/// Reads name and arguments, and returns the remaining fields.
fn read_function(mut function: Function<'_>, call: &mut ToolCall, shape: &mut Fields) -> Fields {
    call.name = function.name.take().map(Text::into_string).unwrap_or_default();
    match function.arguments.take() {
        Some(raw) if raw.text().starts_with('{') => {
            call.arguments = Arguments::from_text(raw.text());
            shape.set(ARGUMENTS_OBJECT, true);
        }
        // Null, something else, or missing: no arguments. Whatever is there stays with the rest.
        other => match other.as_ref().and_then(Raw::as_str) {
            Some(text) => call.arguments = Arguments::from_text(text),
            None => {
                function.arguments = other;
                shape.set(NO_ARGUMENTS, true);
            }
        },
    }
    function.leftovers()
}

/// Returns a call's original spelling, if it is to be followed.
fn followed(data: &ProviderData, side: Side, spelling: Spelling) -> Cow<'_, Fields> {
    match spelling {
        Spelling::AsItCame => bound_shape(data, side),
        Spelling::Ours => Cow::Borrowed(Fields::NONE),
    }
}

/// Writes a call in the older form if it came in that form.
pub(super) fn write_older_form(call: &ToolCall, side: Side, spelling: Spelling) -> Option<Function<'_>> {
    let shape = followed(&call.provider_data, side, spelling);
    shape
        .flag(FUNCTION_CALL)
        .then(|| Function { rest: notes::extra(&call.provider_data, side).as_rest(), ..write_function(call, &shape) })
}

/// Puts the call of an answer into the older form, which has room for one, and for nothing but its name and arguments.
pub(super) fn use_older_form(message: &mut Message<'_>, losses: &mut Vec<Loss>) {
    for item in std::mem::take(&mut message.tool_calls) {
        let Item::Fits(mut call) = item else {
            losses.push(second_call());
            continue;
        };
        match inner(&mut call).1.take() {
            Some(function) if message.function_call.is_none() => {
                message.function_call = Some(function);
                losses.extend(call.extra_content.map(|_| stateless_call()));
            }
            Some(_) | None => losses.push(second_call()),
        }
    }
}

/// The loss of a call after the first, for a client that knows only `function_call`.
pub(super) fn second_call() -> Loss {
    Loss::new(
        LossCode::NotInDialect,
        "tool_call",
        "content",
        "`function_call` has room for one call; the others are left out",
    )
}

/// The loss of a call's state, for a client that knows only `function_call`.
pub(super) fn stateless_call() -> Loss {
    Loss::new(
        LossCode::NotInDialect,
        "tool_call",
        "content",
        "`function_call` has no room for a call's state; left out",
    )
}

/// Writes one entry of `tool_calls`, with the provider's own state.
pub(super) fn write_call(call: &ToolCall, side: Side, spelling: Spelling, state: StateUse) -> Call<'_> {
    let data = &call.provider_data;
    let bound = followed(data, side, spelling);
    let extra = notes::extra(data, side);
    let is_custom = shape(data).flag(CUSTOM);
    let kind = if is_custom { CUSTOM } else { "function" };
    let mut function = Function { rest: notes::inner(extra, kind), ..write_function(call, &bound) };
    if is_custom {
        (function.arguments, function.input) = (None, Some(call.arguments.text().into()));
    }
    let mut wire = Call { kind: Some(kind.into()), rest: notes::around(extra, kind), ..Call::default() };
    *inner(&mut wire).1 = Some(Box::new(function));
    wire.kind.take_if(|_| bound.flag(NO_TYPE));
    // The provider sent no id, or an empty one, and gets the same back.
    let unnamed = spelling == Spelling::AsItCame
        && shape(data).flag(ID_GENERATED)
        && (bound.flag(NO_ID) || extra.get("id").is_some());
    if !unnamed {
        wire.id = Words(Some(call.id.as_str().into()));
    }
    wire.extra_content = call_state(data).filter(|_| state == StateUse::Own).map(Raw::from);
    wire
}

fn write_function<'a>(call: &'a ToolCall, shape: &Fields) -> Function<'a> {
    let text = call.arguments.text();
    let object = if shape.flag(ARGUMENTS_OBJECT) { call.arguments.to_raw() } else { None };
    let arguments = match object.filter(|raw| raw.get().starts_with('{')) {
        Some(raw) => Some(Raw(Cow::Owned(raw))),
        None if shape.flag(NO_ARGUMENTS) && text == "{}" => None,
        None => Some(Raw::of(text)),
    };
    Function { name: Some(call.name.as_str().into()), arguments, ..Function::default() }
}

/// Puts entries of `tool_calls` that are not function calls back into their places.
pub(super) fn put_others(shape: &Fields, calls: &mut Vec<Item<'_, Call<'_>>>) {
    let others: Option<Vec<OtherCall<'_>>> = shape.get(OTHER_CALLS).and_then(|others| others.to().ok());
    let owned = |other: OtherCall<'_>| (other.at, Item::Odd(Cow::Owned(other.call.0.into_owned())));
    notes::put_in_places(calls, others.unwrap_or_default().into_iter().map(owned));
}

/// Returns the state that a call carries for its provider.
pub(super) fn call_state(data: &ProviderData) -> Option<&Json> {
    data.part(DIALECT, Part::State).get(EXTRA_CONTENT)
}
