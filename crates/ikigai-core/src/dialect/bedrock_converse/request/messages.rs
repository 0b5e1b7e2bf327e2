//! Writes messages.
//!
//! The wire has only user and assistant roles, which alternate: consecutive messages of one side are one message. Tool
//! results come from the user, and come first in the message.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::dialect::allowed::{BEGIN, BLANK, WHY_BEGIN, own_data, refusal};
use crate::fit::{Fitted, FittedBlock, FittedMessage, Place, StateUse};
use crate::json::tagged::{Object, Tagged};
use crate::json::wire::{Raw, Text};
use crate::{Block, CacheHint, Loss, LossCode, Part, ProviderData, Role, ThinkingBlock, ToolCall, ToolResult};

use super::super::DIALECT;
use super::super::stream::own::is_in_pieces;
use super::super::wire::{self, Cited, CitedText, Content, Reasoning, ReasoningText, ToolUse, Written};
use super::extra;
use super::layout::{Layout, is_document};
use super::media::{self, Names};

/// The text added to a document without one.
const SEE: &str = "See the attached document.";

/// The writer of the conversation.
pub(super) struct Writer<'a> {
    fitted: &'a Fitted<'a>,
    losses: Vec<Loss>,
    names: Names,
    /// The tools that are called, in the order of their first call.
    called: Vec<&'a str>,
    seen: HashSet<&'a str>,
}

/// A block to be written, with the cache mark after it.
struct Item<'a> {
    content: Content<'a>,
    mark: Option<CacheHint>,
    place: Place,
}

impl<'a> Writer<'a> {
    pub(super) fn new(fitted: &'a Fitted<'a>) -> Self {
        Writer { fitted, losses: Vec::new(), names: Names::default(), called: Vec::new(), seen: HashSet::new() }
    }

    /// Returns the losses, and the tools that are called.
    pub(super) fn finish(self) -> (Vec<Loss>, Vec<&'a str>) {
        (self.losses, self.called)
    }

    fn lose(&mut self, code: LossCode, what: &str, place: Place, why: impl Into<String>) {
        self.losses.push(Loss::new(code, what, place.to_string(), why));
    }

    fn note(&mut self, code: LossCode, what: &str, place: Place, why: impl Into<String>) {
        self.losses.push(Loss::info(code, what, place.to_string(), why));
    }

    /// Writes the system prompt.
    pub(super) fn system(&mut self) -> Vec<Content<'a>> {
        let fitted = self.fitted;
        let items = self.items(&fitted.system, Role::System);
        self.lay_out(items, None)
    }

    /// Writes the wire's messages.
    pub(super) fn messages(&mut self) -> Vec<wire::Message<'a>> {
        let fitted = self.fitted;
        let mut messages = Vec::new();
        let runs = fitted.messages.chunk_by(|one, next| wire_role(one.role) == wire_role(next.role));
        let last = fitted.messages.len();
        let mut read = 0;
        for run in runs {
            read += run.len();
            let automatic = fitted.automatic_cache.as_ref().filter(|_| read == last);
            messages.extend(self.message(run, automatic));
        }
        self.begin(&mut messages);
        messages
    }

    /// Makes the user begin, even if nothing is left of what the user said.
    fn begin(&mut self, messages: &mut Vec<wire::Message<'a>>) {
        let begins = match messages.first() {
            Some(first) => first.role.as_ref().is_some_and(|role| role.as_str() == "user"),
            None => self.fitted.messages.is_empty(),
        };
        if !begins {
            let content = Some(Written(vec![text_block(BEGIN)]));
            messages.insert(0, wire::Message { role: Some("user".into()), content, rest: Vec::new() });
            self.note(LossCode::Changed, "messages", Place::Message(0), WHY_BEGIN);
        }
    }

    /// Writes one wire message. Returns `None` if nothing is left of it.
    fn message(&mut self, run: &'a [FittedMessage<'a>], automatic: Option<&CacheHint>) -> Option<wire::Message<'a>> {
        let first = run.first()?;
        let mut items = Vec::new();
        for message in run {
            items.append(&mut self.items(&message.content, message.role));
        }
        let place = Place::Message(first.index);
        if items.is_empty() {
            self.note(LossCode::Changed, "message", place, "nothing is left of it, so it is not sent");
            return None;
        }
        let role = wire_role(first.role);
        if role == "user" {
            let (results, others): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| is_result(&item.content));
            items = results;
            items.extend(others);
        }
        if items.iter().any(|item| is_document(&item.content)) && !items.iter().any(|item| is_text(&item.content)) {
            items.insert(0, Item { content: text_block(SEE), mark: None, place });
            self.note(LossCode::Other, "document", place, "a document needs text beside it here; some is added");
        }
        let rest = match first.state {
            StateUse::Own => extra(&first.message.provider_data).as_rest(),
            StateUse::Foreign => Vec::new(),
        };
        let content = Some(Written(self.lay_out(items, automatic)));
        Some(wire::Message { role: Some(role.into()), content, rest })
    }

    fn items(&mut self, blocks: &'a [FittedBlock<'a>], role: Role) -> Vec<Item<'a>> {
        let mut items = Vec::with_capacity(blocks.len());
        for fitted in blocks {
            let (block, place) = (fitted.block.as_ref(), fitted.place);
            if let Some(content) = self.block(block, place, fitted.state, role) {
                items.push(Item { content, mark: self.mark(block, place), place });
            }
        }
        items
    }

    /// Returns the cache mark for a block. Marks go after a tool's result, never inside.
    fn mark(&self, block: &'a Block, place: Place) -> Option<CacheHint> {
        let marks = &self.fitted.marks;
        let inside = || {
            let result = block.as_tool_result()?;
            let mut inner = result.content.iter().enumerate();
            inner.find_map(|(index, block)| marks.at(place.inner(index), block.cache()))
        };
        marks.at(place, block.cache()).or_else(inside).cloned()
    }

    /// Lays out the blocks, with marks after those that are to be cached.
    fn lay_out(&mut self, items: Vec<Item<'a>>, automatic: Option<&CacheHint>) -> Vec<Content<'a>> {
        let mut layout = Layout::default();
        for Item { content, mark, place } in items {
            layout.push(content);
            if let Some(mark) = mark {
                self.losses.extend(layout.cache(&mark, &place.to_string()));
            }
        }
        if let Some(mark) = automatic {
            self.losses.extend(layout.cache(mark, "cache.automatic"));
        }
        layout.blocks
    }

    /// Writes one block. Returns `None`, and notes a loss, if it has no form on this wire.
    fn block(&mut self, block: &'a Block, place: Place, state: StateUse, role: Role) -> Option<Content<'a>> {
        let data = own_data(block, DIALECT, place, state, &mut self.losses);
        if let Some(loss) = refusal(block, place, role) {
            self.losses.push(loss);
            return None;
        }
        let empty = wire::Block::default();
        Some(Tagged::Known(match block {
            Block::Text(text) => {
                let is_inner = matches!(place, Place::Inner(..));
                // A blank one is accepted if it has the cache mark after a document.
                let holds_point = !text.text.is_empty() && self.mark(block, place).is_some();
                if !is_inner && !holds_point && text.text.trim().is_empty() {
                    self.note(LossCode::NotInDialect, "text", place, BLANK);
                    return None;
                }
                write_text(&text.text, data)
            }
            Block::Image(image) => {
                let media = media::image(&image.source).map_err(|why| self.refuse("image", place, &why)).ok()?;
                wire::Block { image: Some(wire::Media { rest: extra(data).as_rest(), ..media }), ..empty }
            }
            Block::Document(document) => {
                let media =
                    media::document(&document.source).map_err(|why| self.refuse("document", place, &why)).ok()?;
                let name = self.document_name(document.name.as_deref(), place);
                let media = wire::Media { name: Some(name.into()), rest: extra(data).as_rest(), ..media };
                wire::Block { document: Some(media), ..empty }
            }
            Block::Thinking(thinking) => write_thinking(thinking),
            Block::ToolCall(call) => {
                if self.seen.insert(&call.name) {
                    self.called.push(&call.name);
                }
                let input = Some(self.arguments(call, place));
                let (id, name) = (Some(call.id.as_str().into()), Some(call.name.as_str().into()));
                let call = ToolUse { id, name, input, kind: None, rest: extra(data).as_rest() };
                wire::Block { tool_use: Some(call), ..empty }
            }
            Block::ToolResult(result) => {
                let content = Some(Written(self.result_content(result, place, state)));
                let status = Some(if result.is_error { "error" } else { "success" }.into());
                let id = Some(result.tool_call_id.as_str().into());
                let result = wire::ToolResult { id, content, status, rest: extra(data).as_rest() };
                wire::Block { tool_result: Some(result), ..empty }
            }
            Block::Other(other) => return self.other(other, place),
            // They are already in the losses.
            Block::Audio(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => return None,
        }))
    }

    fn refuse(&mut self, what: &str, place: Place, why: &str) {
        self.lose(LossCode::Media, what, place, format!("{why}; left out"));
    }

    /// Writes a block of a dialect's own. Those of other dialects are already in the losses.
    fn other(&mut self, other: &'a crate::Other, place: Place) -> Option<Content<'a>> {
        if other.dialect != DIALECT {
            return None;
        }
        if !other.data.is_object() || is_in_pieces(&other.data) {
            let why = "it is not a block that can be sent; left out";
            self.lose(LossCode::NotInDialect, "other", place, why);
            return None;
        }
        Some(Tagged::Whole(Raw::from(&other.data)))
    }

    fn document_name(&mut self, title: Option<&str>, place: Place) -> String {
        let name = self.names.name(title);
        if title.is_some_and(|title| title != name) {
            let why = format!("names have letters, digits, blanks, - ( ) [ ], no two alike here; `{name}` is sent");
            self.note(LossCode::Renamed, "document.name", place, why);
        }
        name
    }

    fn arguments(&mut self, call: &'a ToolCall, place: Place) -> Raw<'a> {
        match call.arguments.as_raw() {
            Some(raw) => Raw(raw),
            None => {
                let why = "the call was cut off; it is sent without arguments";
                self.lose(LossCode::Changed, "arguments", place, why);
                Raw::of(&Object::default())
            }
        }
    }

    /// Writes a tool's result: text, pictures and documents.
    fn result_content(&mut self, result: &'a ToolResult, place: Place, state: StateUse) -> Vec<Content<'a>> {
        let blocks = result.content.iter().enumerate();
        // Pictures in a result are a tool's, whichever message they are in.
        let written = blocks.filter_map(|(index, block)| self.block(block, place.inner(index), state, Role::Tool));
        let mut written: Vec<Content<'a>> = written.collect();
        let before = written.len();
        if before > 1 {
            written.retain(|block| !is_blank(block));
        }
        if written.len() < before {
            self.note(LossCode::NotInDialect, "text", place, BLANK);
        }
        written
    }
}

fn text_block<'a>(text: &'a str) -> Content<'a> {
    Tagged::Known(wire::Block { text: Some(text.into()), ..wire::Block::default() })
}

/// Writes a text, with its citations if it has any.
fn write_text<'a>(text: &'a str, data: &'a ProviderData) -> wire::Block<'a> {
    let extra = extra(data);
    if extra.is_empty() {
        return wire::Block { text: Some(text.into()), ..wire::Block::default() };
    }
    let content = Some(vec![CitedText { text: Some(text.into()), rest: Vec::new() }]);
    wire::Block { cited: Some(Cited { content, rest: extra.as_rest() }), ..wire::Block::default() }
}

fn write_thinking(thinking: &ThinkingBlock) -> wire::Block<'_> {
    let data = &thinking.provider_data;
    let state = |name: &str| data.part_str(DIALECT, Part::State, name).map(Text);
    let reasoning = match state("redacted_data") {
        Some(redacted) => Reasoning { redacted: Some(redacted), ..Reasoning::default() },
        None => {
            // Unsigned thinking is sent back unsigned.
            let text = Some(Text(Cow::Borrowed(thinking.text.as_str())));
            let text = ReasoningText { text, signature: state("signature"), rest: extra(data).as_rest() };
            Reasoning { text: Some(text), ..Reasoning::default() }
        }
    };
    wire::Block { reasoning: Some(reasoning), ..wire::Block::default() }
}

fn wire_role(role: Role) -> &'static str {
    match role {
        Role::User | Role::Tool | Role::System => "user",
        Role::Assistant => "assistant",
    }
}

fn is_result(content: &Content<'_>) -> bool {
    matches!(content, Tagged::Known(block) if block.tool_result.is_some())
}

fn is_text(content: &Content<'_>) -> bool {
    matches!(content, Tagged::Known(block) if block.text.is_some() || block.cited.is_some())
}

fn is_blank(content: &Content<'_>) -> bool {
    matches!(content, Tagged::Known(block) if block.text.as_ref().is_some_and(|text| text.as_str().trim().is_empty()))
}
