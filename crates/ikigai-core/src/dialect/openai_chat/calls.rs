//! Tool calls in every spelling of the family.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::notes::{self, DIALECT, EXTRA_CONTENT, ID_GENERATED, Notes, Side, bound_shape, shape};
use super::wire::{self, Call, Function, Message, Written};
use crate::fit::{Spelling, StateUse};
use crate::json::loose::{Item, Loose as _, Words};
use crate::json::wire::{Raw, Text};
use crate::wire::Ids;
use crate::{Arguments, Block, Fields, Json, Part, ProviderData, ToolCall};

/// Shape of calls, in the document that they were found in.
const NO_TYPE: &str = "no_type";
const NO_ID: &str = "no_id";
const NO_ARGUMENTS: &str = "no_arguments";
const ARGUMENTS_OBJECT: &str = "arguments_object";
const FUNCTION_CALL: &str = "function_call";
/// Shape: a custom tool, which takes any text.
const CUSTOM: &str = "custom";
/// Shape of a message: entries of `tool_calls` that are not calls of functions, with their places.
const OTHER_CALLS: &str = "other_calls";

/// Reads the calls of a message, in the older form and in today's.
pub(super) fn decode(message: &mut Message<'_>, side: Side, ids: &mut Ids, blocks: &mut Vec<Block>, notes: &mut Notes) {
    let is_named = |function: &Function<'_>| function.name.as_ref().is_some_and(|name| !name.as_str().is_empty());
    if message.function_call.as_deref().is_some_and(is_named)
        && let Some(function) = message.function_call.take()
    {
        let mut call = ToolCall { id: ids.next_id(), ..ToolCall::default() };
        let mut notes = Notes::default();
        notes.mark(FUNCTION_CALL);
        notes.extra = read_function(*function, &mut call, &mut notes.shape);
        call.provider_data = notes.into_bound_data(side);
        call.provider_data.set_part(DIALECT, Part::Shape, ID_GENERATED, true);
        blocks.push(Block::ToolCall(call));
    }
    let mut others = Vec::new();
    for (at, item) in std::mem::take(&mut message.tool_calls).into_iter().enumerate() {
        match item {
            Item::Fits(call) if is_call(&call) => blocks.push(Block::ToolCall(read_call(call, side, ids))),
            other => others.push(OtherCall { at, call: Raw::of(&other) }),
        }
    }
    if !others.is_empty() {
        notes.shape.set(OTHER_CALLS, Json::of(&others).unwrap_or_default());
    }
}

/// An entry of `tool_calls` that is not a call of a function, and its place.
#[derive(Debug, Serialize, Deserialize)]
struct OtherCall<'a> {
    at: usize,
    #[serde(borrow)]
    call: Raw<'a>,
}

fn is_custom(call: &Call<'_>) -> bool {
    call.kind.as_ref().is_some_and(|kind| kind.as_str() == CUSTOM)
}

fn is_call(call: &Call<'_>) -> bool {
    if is_custom(call) { call.custom.is_some() } else { call.function.is_some() }
}

fn read_call(mut wire: Call<'_>, side: Side, ids: &mut Ids) -> ToolCall {
    let mut call = ToolCall::default();
    let mut notes = Notes::default();
    let has_id = match wire.id.take() {
        Some(id) => {
            call.id = id.into_owned();
            true
        }
        None => {
            call.id = ids.next_id();
            if wire::find(&wire.rest, "id").is_none() {
                notes.mark(NO_ID);
            }
            false
        }
    };
    let custom = is_custom(&wire);
    match wire.kind.as_ref().map(Text::as_str) {
        Some("function" | CUSTOM) => wire.kind = None,
        _ => notes.mark(NO_TYPE),
    }
    if let Some(state) = wire.extra_content.take() {
        notes.state.set(EXTRA_CONTENT, state.to_json());
    }
    let inner = if custom { CUSTOM } else { "function" };
    let rest = if custom {
        let mut function = wire.custom.take().unwrap_or_default();
        call.name = function.name.take().map(Text::into_string).unwrap_or_default();
        call.arguments = Arguments::from_text(function.input.take().map(Text::into_string).unwrap_or_default());
        function.leftovers()
    } else {
        let function = wire.function.take().unwrap_or_default();
        read_function(*function, &mut call, &mut notes.shape)
    };
    let extra = wire.leftovers();
    extra.into_iter().for_each(|(name, value)| notes.extra.push(name, value));
    // Below its own name, to be told from the fields around it.
    notes.keep_inner(inner, rest);
    call.provider_data = notes.into_bound_data(side);
    if custom {
        call.provider_data.set_part(DIALECT, Part::Shape, CUSTOM, true);
    }
    if !has_id {
        call.provider_data.set_part(DIALECT, Part::Shape, ID_GENERATED, true);
    }
    call
}

/// Reads name and arguments, and gives what else there is.
fn read_function(mut function: Function<'_>, call: &mut ToolCall, shape: &mut Fields) -> Fields {
    call.name = function.name.take().map(Text::into_string).unwrap_or_default();
    match std::mem::take(&mut function.arguments) {
        Written::Text(text) => call.arguments = Arguments::from_text(text.into_string()),
        Written::Object(raw) => {
            call.arguments = Arguments::from_text(raw.get());
            shape.set(ARGUMENTS_OBJECT, true);
        }
        // Null, or not at all: no arguments. A null stays with the rest.
        Written::Absent => shape.set(NO_ARGUMENTS, true),
    }
    function.leftovers()
}

/// How a streamed call was spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Function,
    /// No `type` said so.
    Untyped,
    Custom,
    /// The older form of a single call, `function_call`.
    Older,
}

impl Form {
    /// What a whole answer would note about such a call; `id` is the one on the wire.
    pub(super) fn notes(self, id: Option<&str>) -> ProviderData {
        let mut notes = Notes::default();
        match self {
            Form::Function | Form::Custom => {}
            Form::Untyped => notes.mark(NO_TYPE),
            Form::Older => notes.mark(FUNCTION_CALL),
        }
        if id.is_none() && self != Form::Older {
            notes.mark(NO_ID);
        }
        let mut data = notes.into_bound_data(Side::Response);
        if self == Form::Custom {
            data.set_part(DIALECT, Part::Shape, CUSTOM, true);
        }
        if id.is_none() {
            data.set_part(DIALECT, Part::Shape, ID_GENERATED, true);
        }
        data
    }
}

/// How a call was spelled, where that is followed.
fn followed(data: &ProviderData, side: Side, spelling: Spelling) -> Cow<'_, Fields> {
    match spelling {
        Spelling::AsItCame => bound_shape(data, side),
        Spelling::Ours => Cow::Borrowed(Fields::NONE),
    }
}

/// The older form of a call that came in it.
pub(super) fn write_older_form(call: &ToolCall, side: Side, spelling: Spelling) -> Option<Function<'_>> {
    let shape = followed(&call.provider_data, side, spelling);
    shape
        .flag(FUNCTION_CALL)
        .then(|| Function { rest: notes::extra(&call.provider_data, side).as_rest(), ..write_function(call, &shape) })
}

/// One entry of `tool_calls`, with the provider's own state.
pub(super) fn write_call(call: &ToolCall, side: Side, spelling: Spelling, state: StateUse) -> Call<'_> {
    let data = &call.provider_data;
    let bound = followed(data, side, spelling);
    let extra = notes::extra(data, side);
    let is_custom = shape(data).flag(CUSTOM);
    let kind = if is_custom { CUSTOM } else { "function" };
    let known = Function { rest: notes::inner(extra, kind), ..Function::default() };
    let mut wire = Call { rest: notes::around(extra, kind), ..Call::default() };
    // The provider gave none, or an empty one, and is given that again.
    let unnamed = spelling == Spelling::AsItCame
        && shape(data).flag(ID_GENERATED)
        && (bound.flag(NO_ID) || extra.get("id").is_some());
    if !unnamed {
        wire.id = Words(Some(call.id.as_str().into()));
    }
    if !bound.flag(NO_TYPE) {
        wire.kind = Some(kind.into());
    }
    if is_custom {
        let (name, input) = (Some(call.name.as_str().into()), Some(call.arguments.text().into()));
        wire.custom = Some(Box::new(Function { name, input, ..known }));
    } else {
        let Function { name, arguments, .. } = write_function(call, &bound);
        wire.function = Some(Box::new(Function { name, arguments, ..known }));
    }
    wire.extra_content = call_state(data).filter(|_| state == StateUse::Own).map(Raw::from);
    wire
}

fn write_function<'a>(call: &'a ToolCall, shape: &Fields) -> Function<'a> {
    let text = call.arguments.text();
    let arguments = if shape.flag(NO_ARGUMENTS) && text == "{}" {
        Written::Absent
    } else {
        match call.arguments.to_raw().filter(|_| shape.flag(ARGUMENTS_OBJECT) && text.starts_with('{')) {
            Some(raw) => Written::Object(Cow::Owned(raw)),
            None => Written::Text(text.into()),
        }
    };
    Function { name: Some(call.name.as_str().into()), arguments, ..Function::default() }
}

/// Puts entries of `tool_calls` that are not calls of functions back into their places.
pub(super) fn put_others(shape: &Fields, calls: &mut Vec<Item<'_, Call<'_>>>) {
    let others: Option<Vec<OtherCall<'_>>> = shape.get(OTHER_CALLS).and_then(|others| others.to().ok());
    let Some(others) = others else { return };
    let mut merged = Vec::with_capacity(calls.len() + others.len());
    let mut own = std::mem::take(calls).into_iter();
    for other in others {
        merged.extend(own.by_ref().take(other.at.saturating_sub(merged.len())));
        merged.push(Item::Odd(Cow::Owned(other.call.0.into_owned())));
    }
    merged.extend(own);
    *calls = merged;
}

/// The state that a call brings along, for its provider.
pub(super) fn call_state(data: &ProviderData) -> Option<&Json> {
    data.part(DIALECT, Part::State).get(EXTRA_CONTENT)
}
