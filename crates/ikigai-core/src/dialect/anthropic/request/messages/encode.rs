//! Messages on their way to the wire.
//!
//! The wire knows users and assistants. Tool results are a user's, all in the one message that follows the calls, and
//! stand first in it. Nothing may stand between calls and their results, instructions included.

use crate::fit::{Fitted, FittedBlock, FittedMessage, Place, Spelling, StateUse};
use crate::json::tagged::Object;
use crate::json::wire::Raw;
use crate::{Block, Loss, LossCode, Part, ProviderData, Role, Source, ToolCall, ToolResult};

use super::super::super::wire::{self, Content, Item, Written};
use super::super::super::{DIALECT, content};
use super::media::{fit_document, fit_image, note_type};

/// What stands where the user should have begun.
const BEGIN: &str = "(begin)";
/// What a block has whose data stays behind.
static NOTHING: ProviderData = ProviderData::NONE;

/// One wire message: a role, and the messages that it is made of.
struct Turn<'a> {
    role: &'static str,
    parts: Vec<&'a FittedMessage<'a>>,
}

/// Writes the conversation.
pub(in super::super) struct Writer<'a> {
    fitted: &'a Fitted<'a>,
    pub(in super::super) losses: Vec<Loss>,
}

impl<'a> Writer<'a> {
    pub(in super::super) fn new(fitted: &'a Fitted<'a>) -> Self {
        Writer { fitted, losses: Vec::new() }
    }

    fn as_it_came(&self) -> bool {
        self.fitted.spelling == Spelling::AsItCame
    }

    fn lose(&mut self, code: LossCode, what: &str, place: Place, why: impl Into<String>) {
        self.losses.push(Loss::new(code, what, place.to_string(), why));
    }

    fn note(&mut self, code: LossCode, what: &str, place: Place, why: impl Into<String>) {
        self.losses.push(Loss::info(code, what, place.to_string(), why));
    }

    /// The system prompt, if there is one.
    pub(in super::super) fn system(&mut self) -> Option<Vec<Item<'a>>> {
        let blocks = self.blocks(&self.fitted.system, Role::System);
        (!blocks.is_empty()).then_some(blocks)
    }

    /// The messages of the wire.
    pub(in super::super) fn messages(&mut self) -> Vec<wire::Message<'a>> {
        let turns = match self.fitted.spelling {
            Spelling::AsItCame => turns_as_they_came(&self.fitted.messages),
            Spelling::Ours => turns(&self.fitted.messages),
        };
        let mut messages: Vec<_> = turns.into_iter().filter_map(|turn| self.turn(&turn)).collect();
        self.begin(&mut messages);
        messages
    }

    /// The user must begin, also where nothing is left of what the user said.
    fn begin(&mut self, messages: &mut Vec<wire::Message<'a>>) {
        let begins = match messages.first() {
            Some(first) => first.role.as_ref().is_some_and(|role| role.as_str() == "user"),
            None => self.fitted.messages.is_empty(),
        };
        if self.as_it_came() || begins {
            return;
        }
        let content = Some(Content::Text(BEGIN.into()));
        messages.insert(0, wire::Message { role: Some("user".into()), content, rest: Vec::new() });
        let why = "the user must begin here; a placeholder is sent before it";
        self.note(LossCode::Changed, "messages", Place::Message(0), why);
    }

    /// One wire message; `None` if nothing is left of it.
    fn turn(&mut self, turn: &Turn<'a>) -> Option<wire::Message<'a>> {
        let first = turn.parts.first()?;
        let mut blocks = Vec::new();
        for part in &turn.parts {
            blocks.append(&mut self.blocks(&part.content, part.role));
        }
        if !self.as_it_came() {
            if turn.role == "user" {
                blocks.sort_by_key(|block| !is_result(block));
            }
            if blocks.is_empty() {
                let why = "nothing is left of it, so it is not sent";
                self.note(LossCode::Changed, "message", Place::Message(first.index), why);
                return None;
            }
        }
        let data = &first.message.provider_data;
        let rest = match first.state {
            StateUse::Own => content::extra(data).as_rest(),
            StateUse::Foreign => Vec::new(),
        };
        let content = content::short(blocks, data.part(DIALECT, Part::Shape));
        Some(wire::Message { role: Some(turn.role.into()), content: Some(content), rest })
    }

    fn blocks(&mut self, blocks: &'a [FittedBlock<'a>], role: Role) -> Vec<Item<'a>> {
        let mut written = Vec::with_capacity(blocks.len());
        for fitted in blocks {
            written.extend(self.block(&fitted.block, fitted.place, fitted.state, role));
        }
        written
    }

    /// One block; `None` if it has no form on this wire, which is then among the losses.
    fn block(&mut self, block: &'a Block, place: Place, state: StateUse, role: Role) -> Option<Item<'a>> {
        let cache = self.fitted.marks.at(place, block.cache());
        let data = self.own(block.provider_data().unwrap_or(&NOTHING), place, state);
        let fields = match block {
            Block::Text(text) => {
                let is_inner = matches!(place, Place::Inner(..));
                if !self.as_it_came() && !is_inner && text.text.trim().is_empty() {
                    let why = "texts of nothing but blanks are refused; left out";
                    self.note(LossCode::NotInDialect, "text", place, why);
                    return None;
                }
                content::write_text(&text.text, cache, data)
            }
            Block::Image(image) => {
                let source = Some(self.source("image", &image.source, data, place, role)?);
                Written { source, ..content::start("image", cache, data) }
            }
            Block::Document(document) => {
                let source = Some(self.source("document", &document.source, data, place, role)?);
                let title = document.name.as_deref().map(Into::into);
                Written { source, title, ..content::start("document", cache, data) }
            }
            Block::Audio(_) => {
                self.lose(LossCode::Media, "audio", place, "this API takes no sound; left out");
                return None;
            }
            Block::Thinking(_) if role != Role::Assistant && !self.as_it_came() => {
                self.lose(LossCode::NotInDialect, "thinking", place, "only the assistant can think here; left out");
                return None;
            }
            Block::Thinking(thinking) => content::write_thinking(thinking, || None),
            Block::ToolCall(call) => {
                let input = self.arguments(call, place);
                content::write_call(call, call.id.as_str().into(), input, cache, data)
            }
            Block::ToolResult(result) => Written {
                tool_use_id: Some(result.tool_call_id.as_str().into()),
                content: self.result_content(result, place, state),
                is_error: result.is_error.then_some(true),
                ..content::start("tool_result", cache, data)
            },
            Block::Other(other) => return self.other(other, place),
        };
        Some(fields.into())
    }

    /// What this dialect left on a block, unless another provider of the same dialect did.
    fn own(&mut self, data: &'a ProviderData, place: Place, state: StateUse) -> &'a ProviderData {
        if state == StateUse::Own {
            return data;
        }
        let names: Vec<&str> = content::extra(data).names().collect();
        if !names.is_empty() {
            let why = format!("what another provider left here stays behind: {}", names.join(", "));
            self.lose(LossCode::ForeignContent, "provider_data", place, why);
        }
        &NOTHING
    }

    /// A block of a dialect's own. Others' are in the losses already.
    fn other(&mut self, other: &'a crate::Other, place: Place) -> Option<Item<'a>> {
        if other.dialect != DIALECT {
            return None;
        }
        if !other.data.is_object() {
            self.lose(LossCode::NotInDialect, "other", place, "it is not an object; left out");
            return None;
        }
        Some(Item::from(&other.data))
    }

    /// A source in a form that the API takes.
    fn source(
        &mut self,
        kind: &str,
        source: &'a Source,
        data: &'a ProviderData,
        place: Place,
        role: Role,
    ) -> Option<Item<'a>> {
        if self.as_it_came() {
            return Some(content::write_source(source, data));
        }
        if matches!(role, Role::Assistant | Role::System) {
            let why = format!("only users and tools can send {kind} blocks here; left out");
            self.lose(LossCode::Media, kind, place, why);
            return None;
        }
        match if kind == "image" { fit_image(source) } else { fit_document(source) } {
            Ok(fitted) => {
                if let Some(note) = note_type(source) {
                    self.note(LossCode::Changed, "media_type", place, note);
                }
                Some(fitted.map_or_else(|| content::write_source(source, data), Item::from))
            }
            Err(why) => {
                self.lose(LossCode::Media, kind, place, format!("{why}; left out"));
                None
            }
        }
    }

    /// The arguments as the wire has them: an object, or what stood there in a request that goes out as it came.
    fn arguments(&mut self, call: &'a ToolCall, place: Place) -> Option<Raw<'a>> {
        let raw = content::arguments(call);
        if self.as_it_came() {
            return raw.filter(|raw| !content::was_without(call, raw));
        }
        if call.is_complete() {
            return raw;
        }
        self.lose(LossCode::Changed, "arguments", place, "the call was cut off; it is sent without arguments");
        Some(Raw::of(&Object::default()))
    }

    /// What a tool answered: text, pictures and documents.
    fn result_content(&mut self, result: &'a ToolResult, place: Place, state: StateUse) -> Option<Content<'a>> {
        let mut written = Vec::with_capacity(result.content.len());
        for (index, block) in result.content.iter().enumerate() {
            let inner = place.inner(index);
            let is_taken = match block {
                Block::Text(_) | Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::Other(_) => true,
                Block::ToolCall(_) | Block::ToolResult(_) | Block::Thinking(_) => self.as_it_came(),
            };
            if is_taken {
                // A tool's pictures are a tool's, whichever message they are in.
                written.extend(self.block(block, inner, state, Role::Tool));
            } else {
                let why = "tool results hold text, pictures and documents; left out";
                self.lose(LossCode::NotInDialect, block.kind().as_str(), inner, why);
            }
        }
        if !self.as_it_came() && written.len() > 1 {
            let before = written.len();
            written.retain(|block| !is_blank(block));
            if written.len() < before {
                let why = "texts of nothing but blanks are refused; left out";
                self.note(LossCode::NotInDialect, "text", place, why);
            }
        }
        let shape = result.provider_data.part(DIALECT, Part::Shape);
        (shape.flag("blocks") || !written.is_empty()).then(|| content::short(written, shape))
    }
}

fn is_result(block: &Item<'_>) -> bool {
    block.as_written().is_some_and(|written| written.tool_use_id.is_some())
}

fn is_blank(block: &Item<'_>) -> bool {
    let text = block.as_written().and_then(|written| written.text.as_ref());
    text.is_some_and(|text| text.as_str().trim().is_empty())
}

fn has_results(message: &FittedMessage<'_>) -> bool {
    message.content.iter().any(|block| matches!(*block.block, Block::ToolResult(_)))
}

/// Whether a message was one with the message before.
fn continues(message: &FittedMessage<'_>) -> bool {
    message.message.provider_data.part(DIALECT, Part::Shape).flag("continues")
}

fn wire_role(role: Role) -> &'static str {
    match role {
        Role::User | Role::Tool => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
    }
}

/// The wire messages as they were when the request was read.
fn turns_as_they_came<'a>(messages: &'a [FittedMessage<'a>]) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(messages.len());
    for message in messages {
        let role = wire_role(message.role);
        match turns.last_mut().filter(|last| role == "user" && last.role == role && continues(message)) {
            Some(last) => last.parts.push(message),
            None => turns.push(Turn { role, parts: vec![message] }),
        }
    }
    turns
}

/// The wire messages of a conversation that was not written for this API.
fn turns<'a>(messages: &'a [FittedMessage<'a>]) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(messages.len());
    for run in messages.chunk_by(|one, next| one.role != Role::Assistant && next.role != Role::Assistant) {
        user_turns(run, &mut turns);
    }
    turns
}

/// The wire messages of what is said between two answers, or of one answer. Everything up to the last result is one
/// message, with what the user says right behind it.
fn user_turns<'a>(run: &'a [FittedMessage<'a>], turns: &mut Vec<Turn<'a>>) {
    let last_result = run.iter().rposition(has_results);
    let first = turns.len();
    let (mut instructions, mut with_results) = (Vec::new(), None);
    for (at, message) in run.iter().enumerate() {
        let role = wire_role(message.role);
        if role == "system" && last_result.is_some_and(|last| at < last) {
            instructions.push(Turn { role, parts: vec![message] });
            continue;
        }
        let up_to_results = last_result.is_some_and(|last| at <= last);
        let joins = up_to_results || with_results == Some(turns.len()) || continues(message);
        let last = turns.get_mut(first..).and_then(<[Turn<'a>]>::last_mut);
        match last.filter(|last| joins && role == "user" && last.role == role) {
            Some(last) => last.parts.push(message),
            None => turns.push(Turn { role, parts: vec![message] }),
        }
        if last_result == Some(at) {
            with_results = Some(turns.len());
            turns.append(&mut instructions);
        }
    }
}
