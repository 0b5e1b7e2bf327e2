//! Writes messages.
//!
//! The wire has only user and assistant roles. Tool results come from the user, all in the one message that follows the
//! calls, where they come first. Nothing may come between calls and their results, not even instructions.

use crate::dialect::allowed::{BEGIN, BLANK, WHY_BEGIN, own_data, refusal};
use crate::dialect::seal::may_be_state_alone;
use crate::fit::{Fitted, FittedBlock, FittedMessage, Place, Spelling, StateUse};
use crate::json::tagged::Object;
use crate::json::wire::{Raw, Text};
use crate::{Block, BlockKind, Loss, LossCode, Part, ProviderData, Role, Source, ToolResult};

use super::super::super::wire::{self, Content, Item, Written};
use super::super::super::{DIALECT, content};
use super::media::{fit_document, fit_image, note_type};

/// One wire message: a role, and the messages that it is made of, usually one.
struct Turn<'a> {
    role: &'static str,
    first: &'a FittedMessage<'a>,
    others: Vec<&'a FittedMessage<'a>>,
}

impl<'a> Turn<'a> {
    fn new(role: &'static str, first: &'a FittedMessage<'a>) -> Self {
        Turn { role, first, others: Vec::new() }
    }
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

    /// Notes a harmless change.
    fn note(&mut self, what: &str, place: Place, why: &str) {
        self.losses.push(Loss::info(LossCode::Changed, what, place.to_string(), why));
    }

    /// Writes the system prompt, if there is one.
    pub(in super::super) fn system(&mut self) -> Option<Vec<Item<'a>>> {
        let mut blocks = Vec::new();
        self.add_blocks(&self.fitted.system, Role::System, &mut blocks);
        (!blocks.is_empty()).then_some(blocks)
    }

    /// Writes the wire's messages.
    pub(in super::super) fn messages(&mut self) -> Vec<wire::Message<'a>> {
        let turns = turns(&self.fitted.messages, self.fitted.spelling);
        let mut messages: Vec<_> = turns.into_iter().filter_map(|turn| self.turn(&turn)).collect();
        self.begin(&mut messages);
        messages
    }

    /// Makes the user begin, even if nothing is left of what the user said.
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
        self.note("messages", Place::Message(0), WHY_BEGIN);
    }

    /// Writes one wire message. Returns `None` if nothing is left of it.
    fn turn(&mut self, turn: &Turn<'a>) -> Option<wire::Message<'a>> {
        let first = turn.first;
        let mut blocks = Vec::new();
        for part in std::iter::once(&first).chain(&turn.others) {
            self.add_blocks(&part.content, part.role, &mut blocks);
        }
        if !self.as_it_came() {
            if turn.role == "user" {
                let (results, others): (Vec<_>, Vec<_>) = blocks.into_iter().partition(is_result);
                blocks = results;
                blocks.extend(others);
            }
            if blocks.is_empty() {
                let why = "nothing is left of it, so it is not sent";
                self.note("message", Place::Message(first.index), why);
                return None;
            }
        }
        let data = &first.message.provider_data;
        let rest = match first.state {
            StateUse::Own => content::extra(data).as_rest(),
            StateUse::Foreign => Vec::new(),
        };
        let content = content::short(blocks, data.part(DIALECT, Part::Shape), "blocks");
        Some(wire::Message { role: Some(turn.role.into()), content: Some(content), rest })
    }

    fn add_blocks(&mut self, blocks: &'a [FittedBlock<'a>], role: Role, written: &mut Vec<Item<'a>>) {
        written.reserve(blocks.len());
        for fitted in blocks {
            written.extend(self.block(&fitted.block, fitted.place, fitted.state, role));
        }
    }

    /// Writes one block. Returns `None`, and notes a loss, if it has no form on this wire.
    fn block(&mut self, block: &'a Block, place: Place, state: StateUse, role: Role) -> Option<Item<'a>> {
        let data = own_data(block, DIALECT, place, state, &mut self.losses);
        if let Some(loss) = self.refusal(block, place, role) {
            self.losses.push(loss);
            return None;
        }
        let cache = self.fitted.marks.at(place, block.cache());
        let start = |kind: &'static str| content::start(kind, cache, data);
        let written = match block {
            Block::Text(text) => Written { text: Some(text.text.as_str().into()), ..start("text") },
            Block::Image(image) => {
                let source = Some(self.source(block, &image.source, data, place)?);
                Written { source, ..start("image") }
            }
            Block::Document(document) => {
                let source = Some(self.source(block, &document.source, data, place)?);
                let title = document.name.as_deref().map(Text::from);
                Written { source, title, ..start("document") }
            }
            Block::Thinking(thinking) => content::write_thinking(thinking, || None),
            Block::ToolCall(call) => {
                let arguments = content::arguments(call);
                let is_complete = arguments.as_ref().is_some_and(|raw| raw.text().starts_with('{'));
                let mut written = content::write_call(call, arguments, cache, data);
                if !self.as_it_came() {
                    let none = || Raw::of(&Object::default());
                    if !is_complete {
                        let why = "the call was cut off; it is sent without arguments";
                        self.losses.push(Loss::new(LossCode::Changed, "arguments", place.to_string(), why));
                        written.input = Some(none());
                    }
                    written.input.get_or_insert_with(none);
                }
                written
            }
            Block::ToolResult(result) => Written {
                tool_use_id: Some(result.tool_call_id.as_str().into()),
                content: self.result_content(result, place, state),
                is_error: result.is_error.then_some(true),
                ..start("tool_result")
            },
            Block::Other(other) => return (other.dialect == DIALECT).then(|| Item::from(&other.data)),
            // Those of provider-run tools became `other` blocks of this API when the request was fitted.
            Block::Audio(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => return None,
        };
        Some(written.into())
    }

    /// Returns why a block cannot be sent. The losses already contain `other` blocks of other dialects.
    fn refusal(&self, block: &Block, place: Place, role: Role) -> Option<Loss> {
        match block {
            Block::Other(other) if other.dialect == DIALECT && !other.data.is_object() => {
                let why = "it is not an object; left out";
                Some(Loss::new(LossCode::NotInDialect, "other", place.to_string(), why))
            }
            Block::Audio(_) => refusal(block, place, role),
            // It was not written as a text.
            Block::Text(text) if !text.provider_data.is_empty() && may_be_state_alone(text, DIALECT) => {
                Some(Loss::info(LossCode::NotInDialect, "text", place.to_string(), BLANK))
            }
            _ if self.as_it_came() => None,
            Block::Text(text) if !matches!(place, Place::Inner(..)) && text.text.trim().is_empty() => {
                Some(Loss::info(LossCode::NotInDialect, "text", place.to_string(), BLANK))
            }
            _ => refusal(block, place, role),
        }
    }

    /// Writes a source in a form that the API accepts.
    fn source(&mut self, block: &Block, source: &'a Source, data: &'a ProviderData, place: Place) -> Option<Item<'a>> {
        if self.as_it_came() {
            return Some(content::write_source(source, data));
        }
        match if block.kind() == BlockKind::Image { fit_image(source) } else { fit_document(source) } {
            Ok(fitted) => {
                if let Some(note) = note_type(source) {
                    self.note("media_type", place, note);
                }
                Some(fitted.map_or_else(|| content::write_source(source, data), Item::from))
            }
            Err(why) => {
                let (kind, why) = (block.kind().as_str(), format!("{why}; left out"));
                self.losses.push(Loss::new(LossCode::Media, kind, place.to_string(), why));
                None
            }
        }
    }

    /// Writes a tool's result: text, pictures and documents.
    fn result_content(&mut self, result: &'a ToolResult, place: Place, state: StateUse) -> Option<Content<'a>> {
        let blocks = result.content.iter().enumerate();
        // Pictures in a result are a tool's, whichever message they are in.
        let written = blocks.filter_map(|(index, block)| self.block(block, place.inner(index), state, Role::Tool));
        let mut written: Vec<Item<'a>> = written.collect();
        if !self.as_it_came() && written.len() > 1 {
            let before = written.len();
            written.retain(|block| !is_blank(block));
            if written.len() < before {
                self.losses.push(Loss::info(LossCode::NotInDialect, "text", place.to_string(), BLANK));
            }
        }
        let shape = result.provider_data.part(DIALECT, Part::Shape);
        (shape.flag("blocks") || !written.is_empty()).then(|| content::short(written, shape, "blocks"))
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
    message
        .content
        .iter()
        .any(|block| matches!(*block.block, Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_)))
}

/// Whether a message was part of the previous one.
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

/// Groups messages into wire messages: as they were when the request was read, or by this API's rules for other
/// conversations.
fn turns<'a>(messages: &'a [FittedMessage<'a>], spelling: Spelling) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(messages.len());
    for run in messages.chunk_by(|one, next| one.role != Role::Assistant && next.role != Role::Assistant) {
        let last_result = match spelling {
            Spelling::AsItCame => None,
            Spelling::Ours => run.iter().rposition(has_results),
        };
        user_turns(run, last_result, &mut turns);
    }
    turns
}

/// Groups the messages between two answers, or one answer, into wire messages. Everything up to the last result is one
/// message, together with what the user says right after it.
fn user_turns<'a>(run: &'a [FittedMessage<'a>], last_result: Option<usize>, turns: &mut Vec<Turn<'a>>) {
    let first = turns.len();
    let (mut instructions, mut with_results) = (Vec::new(), None);
    for (at, message) in run.iter().enumerate() {
        let role = wire_role(message.role);
        if role == "system" && last_result.is_some_and(|last| at < last) {
            instructions.push(Turn::new(role, message));
            continue;
        }
        let up_to_results = last_result.is_some_and(|last| at <= last);
        let joins = up_to_results || with_results == Some(turns.len()) || continues(message);
        let last = turns.get_mut(first..).and_then(<[Turn<'a>]>::last_mut);
        match last.filter(|last| joins && role == "user" && last.role == role) {
            Some(last) => last.others.push(message),
            None => turns.push(Turn::new(role, message)),
        }
        if last_result == Some(at) {
            with_results = Some(turns.len());
            turns.append(&mut instructions);
        }
    }
}
