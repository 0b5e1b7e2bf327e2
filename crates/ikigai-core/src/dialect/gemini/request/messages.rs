//! The conversation: contents to messages, and messages to contents.
//!
//! The rules of the API: two roles; all results for one turn of the model in one content, in the order of its calls and
//! without anything else; no empty contents; a signature on the first call of every step of the current turn if the
//! model requires it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;

use super::super::leftovers::{Kept, Leftovers};
use super::super::wire::{Content, OneOrMany, Part};
use super::super::{DIALECT, content, state};
use super::refuse;
use crate::fit::{Fitted, FittedBlock, FittedMessage, Place, Spelling, StateUse};
use crate::json::wire::{Raw, Rest, Text, keep};
use crate::order::by_number;
use crate::{
    Block, BlockKind, Error, ErrorKind, Fields, Json, Limits, Loss, LossCode, Message, Part as DataPart, ProviderData,
    Role, ToolCall,
};

/// In a message's shape: the role as written, `null` if there was none.
const ROLE: &str = "role";
/// In a message's shape: how its parts were written, if not as a non-empty list: `one`, `flat`, `empty`.
const PARTS: &str = "parts";

/// Reads the contents.
pub(super) fn decode(contents: OneOrMany<Content<'_>>, limits: &Limits) -> Result<Vec<Message>, Error> {
    let mut blocks = 0;
    let mut messages = Vec::with_capacity(contents.len());
    for (index, content) in contents.into_iter().enumerate() {
        let message = message(content, index)?;
        blocks += message.content.len();
        limits.check_blocks(blocks, ErrorKind::InvalidRequest)?;
        messages.push(message);
    }
    Ok(messages)
}

fn message(mut content: Content<'_>, index: usize) -> Result<Message, Error> {
    let place = format_args!("contents[{index}]");
    let mut data = ProviderData::default();
    let mut shape = |key, value: &str| data.set_part(DIALECT, DataPart::Shape, key, value);
    let mut blocks = Vec::new();
    match content.parts.take() {
        Some(parts) => {
            if let Some(form) = parts.form() {
                shape(PARTS, form);
            }
            blocks.reserve_exact(parts.len());
            for (inner, part) in parts.into_iter().enumerate() {
                blocks.push(block(part, format_args!("{place}.parts[{inner}]"))?);
            }
        }
        None => {
            if let Some(part) = flat(&mut content.rest) {
                let part: Part<'_> = part.to().map_err(|fault| refuse(place, &fault.to_string()))?;
                blocks.push(block(part, place)?);
                shape(PARTS, "flat");
            }
        }
    }
    let written = content.role.as_ref().map(|role| role.as_str());
    let role = role(written, &blocks).ok_or_else(|| {
        let place = format_args!("{place}.role");
        refuse(place, "must be `user` or `model` (`function` and `tool` are read as `user`)")
    })?;
    if written != Some(usual_role(role)) {
        data.set_part(DIALECT, DataPart::Shape, ROLE, written.map_or_else(Json::null, Json::from));
    }
    let mut left = Leftovers::default();
    left.take(keep(content.rest));
    left.keep(&mut data);
    let mut message = Message::new(role, blocks);
    message.provider_data = data;
    Ok(message)
}

/// Takes a part that is directly in a content, as in the earliest documents.
fn flat(rest: &mut Rest<'_>) -> Option<Json> {
    const MEMBERS: [&str; 5] = ["text", "functionCall", "functionResponse", "function_call", "function_response"];
    let is_part = rest.iter().any(|(name, raw)| MEMBERS.contains(&name.as_ref()) && raw.get() != "null");
    is_part.then(|| Json::from(keep(std::mem::take(rest))))
}

/// Reads a client's part as a block.
pub(super) fn block(part: Part<'_>, place: impl Display) -> Result<Block, Error> {
    match content::fault(&part) {
        Some(fault) => Err(refuse(place, fault)),
        None => Ok(content::decode(part)),
    }
}

/// Returns the role on the wire.
fn usual_role(role: Role) -> &'static str {
    match role {
        Role::Assistant => "model",
        Role::User | Role::Tool | Role::System => "user",
    }
}

/// Returns the role: a content of only results is the tools'. `None` for an unknown role.
fn role(written: Option<&str>, blocks: &[Block]) -> Option<Role> {
    match written {
        None | Some("user" | "function" | "tool") => {
            let results = !blocks.is_empty()
                && blocks.iter().all(|block| {
                    matches!(block, Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_))
                });
            Some(if results { Role::Tool } else { Role::User })
        }
        Some("model" | "assistant") => Some(Role::Assistant),
        Some("system") => Some(Role::System),
        Some(_) => None,
    }
}

/// Writes the contents, with a loss for anything that has no place in them.
pub(super) fn encode<'a>(fitted: &'a Fitted<'_>, losses: &mut Vec<Loss>) -> Result<Vec<Content<'a>>, Error> {
    let mut writer = Writer { fitted, losses, calls: HashMap::new() };
    match fitted.spelling {
        Spelling::AsItCame => fitted.messages.iter().map(|message| writer.as_it_came(message)).collect(),
        Spelling::Ours => writer.turns(),
    }
}

pub(super) struct Writer<'a, 'l> {
    pub(super) fitted: &'a Fitted<'a>,
    pub(super) losses: &'l mut Vec<Loss>,
    /// The calls so far, by id.
    pub(super) calls: HashMap<&'a str, Called<'a>>,
}

#[derive(Clone, Copy)]
pub(super) struct Called<'a> {
    pub(super) name: &'a str,
    /// Its id on the wire.
    pub(super) id: Option<&'a str>,
    /// Its index among all calls.
    pub(super) order: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Speaker {
    Model,
    User,
    Results,
}

/// A content being assembled.
struct Turn<'a> {
    speaker: Speaker,
    /// The index of its first message.
    message: usize,
    /// The parts, each with the index of the call that it answers, if any.
    parts: Vec<(usize, Part<'a>)>,
}

impl<'a> Turn<'a> {
    fn content(mut self) -> Content<'a> {
        let role = if self.speaker == Speaker::Model { "model" } else { "user" };
        by_number(&mut self.parts, |(order, _)| *order);
        let parts = self.parts.into_iter().map(|(_, part)| part).collect();
        Content { role: Some(role.into()), parts: Some(OneOrMany::Many(parts)), ..Content::default() }
    }
}

impl<'a> Writer<'a, '_> {
    /// Writes one content for one message, in its original form.
    fn as_it_came(&mut self, fitted: &'a FittedMessage<'a>) -> Result<Content<'a>, Error> {
        let mut parts = Vec::with_capacity(fitted.content.len());
        for block in &fitted.content {
            match block.block.as_ref() {
                Block::ToolResult(result) => {
                    let (_, part) = self.result(result, block, &mut Vec::new())?;
                    parts.push(part);
                }
                other => parts.extend(self.parts(other, block)),
            }
        }
        let message = fitted.message;
        let shape = message.provider_data.part(DIALECT, DataPart::Shape);
        let written = shape.get(ROLE).map(Json::as_str);
        let role = match written {
            Some(written) if role(written.as_deref(), &message.content) == Some(message.role) => written.map(Text),
            _ => {
                if message.role == Role::System {
                    let why = "system messages are not allowed inside a conversation here; it is sent as the user's";
                    self.lost(LossCode::NotInDialect, "system", Place::Message(fitted.index), why);
                }
                Some(usual_role(message.role).into())
            }
        };
        let kept = Kept::of(&message.provider_data, Spelling::AsItCame);
        let mut content = Content { role, rest: kept.rest(&[]), ..Content::default() };
        match (shape.str(PARTS).as_deref(), parts.len()) {
            (Some("flat"), 1) => {
                let fields: Fields = Raw::of(&parts.remove(0)).to().unwrap_or_default();
                let owned = |(name, value): (String, Json)| (name.into(), Cow::Owned(value.raw().to_owned()));
                content.rest.extend(fields.into_iter().map(owned));
            }
            (form, _) => content.parts = OneOrMany::in_form(parts, form),
        }
        Ok(content)
    }

    /// Writes the contents for a conversation from anywhere.
    fn turns(&mut self) -> Result<Vec<Content<'a>>, Error> {
        let fitted = self.fitted;
        let mut turns: Vec<Turn<'a>> = Vec::with_capacity(fitted.messages.len() + 1);
        // Media from results, which follow once all results for a turn are there.
        let mut moved = Vec::new();
        for message in &fitted.messages {
            self.message_losses(message);
            let (mut answers, mut parts) = (Vec::new(), Vec::new());
            for block in &message.content {
                match block.block.as_ref() {
                    Block::ToolResult(result) => answers.push(self.result(result, block, &mut moved)?),
                    other => parts.extend(self.parts(other, block).into_iter().map(|part| (0, part))),
                }
            }
            let speaker = match message.role {
                Role::Assistant => Speaker::Model,
                Role::User | Role::Tool | Role::System => Speaker::User,
            };
            add(&mut turns, Speaker::Results, message.index, answers);
            if !parts.is_empty() {
                add(&mut turns, Speaker::User, message.index, moved.drain(..).map(|part| (0, part)).collect());
            }
            add(&mut turns, speaker, message.index, parts);
        }
        let end = fitted.messages.last().map_or(0, |message| message.index + 1);
        add(&mut turns, Speaker::User, end, moved.into_iter().map(|part| (0, part)).collect());
        if fitted.takes.signatures {
            self.sign_current_turn(&mut turns);
        }
        Ok(turns.into_iter().map(Turn::content).collect())
    }

    pub(super) fn lost(&mut self, code: LossCode, what: &str, place: Place, why: &str) {
        self.losses.push(Loss::new(code, what, place.to_string(), why));
    }

    /// Notes the fields of contents, which have no place in rewritten ones.
    fn message_losses(&mut self, fitted: &FittedMessage<'_>) {
        let names: Vec<&str> = fitted.message.provider_data.part(DIALECT, DataPart::Extra).names().collect();
        if !names.is_empty() {
            let why = format!("the content is written anew for this model, without {}", names.join(", "));
            self.lost(LossCode::Changed, "provider_data", Place::Message(fitted.index), &why);
        }
    }

    /// Returns the parts of a block that is not a result.
    fn parts(&mut self, block: &'a Block, fitted: &'a FittedBlock<'a>) -> Vec<Part<'a>> {
        let spelling = self.fitted.spelling;
        let mut parts = match block {
            Block::Text(text)
                if text.text.is_empty() && self.signature(fitted).is_none() && spelling == Spelling::Ours =>
            {
                return Vec::new();
            }
            Block::Text(text) => content::texts(&text.text, BlockKind::Text, &text.provider_data),
            Block::Thinking(_) if spelling == Spelling::Ours && self.signature(fitted).is_none() => {
                let why = "the API ignores thoughts that come back without a signature; left out";
                self.losses.push(Loss::info(LossCode::NotInDialect, "thinking", fitted.place.to_string(), why));
                return Vec::new();
            }
            Block::Thinking(thinking) => content::texts(&thinking.text, BlockKind::Thinking, &thinking.provider_data),
            Block::Image(_) | Block::Audio(_) | Block::Document(_) => self.media(block, fitted.place),
            Block::ToolCall(call) => vec![self.call(call, fitted.place)],
            // Results are handled separately.
            Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => Vec::new(),
            Block::Other(other) => {
                let mut part = content::whole(other);
                if let Some(part) = part.as_mut().filter(|_| fitted.state == StateUse::Foreign) {
                    part.rest.retain(|(name, _)| name != "thoughtSignature" && name != "thought_signature");
                }
                return part.into_iter().collect();
            }
        };
        if let (Some(last), Some(data)) = (parts.last_mut(), block.provider_data()) {
            last.signature = self.signature(fitted).map(Text);
            content::dress(last, data, spelling);
        }
        parts
    }

    /// Returns the signature to send with a block.
    pub(super) fn signature(&self, fitted: &'a FittedBlock<'a>) -> Option<Cow<'a, str>> {
        let data = fitted.block.provider_data()?;
        let own = state::own_signature(data).filter(|_| fitted.state == StateUse::Own);
        own.or_else(|| match self.fitted.spelling {
            Spelling::AsItCame => data.part_str(DIALECT, DataPart::Shape, state::DUMMY_KEPT),
            Spelling::Ours => None,
        })
    }

    fn call(&mut self, call: &'a ToolCall, place: Place) -> Part<'a> {
        let args = call.arguments.as_raw();
        if args.is_none() {
            let why = "the arguments are cut off, and only an object can be sent; none are sent";
            self.lost(LossCode::NotInDialect, "arguments", place, why);
        }
        let id = content::wire_id(call).filter(|_| self.fitted.takes.call_ids);
        let order = self.calls.len();
        self.calls.insert(&call.id, Called { name: &call.name, id, order });
        content::call(call, args, id)
    }

    pub(super) fn media(&mut self, block: &'a Block, place: Place) -> Vec<Part<'a>> {
        let spelling = self.fitted.spelling;
        if spelling == Spelling::Ours && matches!(block, Block::Document(document) if document.name.is_some()) {
            self.lost(LossCode::NotInDialect, "name", place, "the API has no names for documents; left out");
        }
        match content::media(block, spelling) {
            Ok(part) => vec![part],
            Err(why) => {
                self.lost(LossCode::Media, block.kind().as_str(), place, &format!("{why}; left out"));
                Vec::new()
            }
        }
    }

    /// Puts the documented dummy on the first call of each step of the current turn if it has no signature. The turn
    /// began with the user's last message.
    fn sign_current_turn(&mut self, turns: &mut [Turn<'a>]) {
        let start = turns.iter().rposition(|turn| turn.speaker == Speaker::User).map_or(0, |place| place + 1);
        for turn in turns.iter_mut().skip(start).filter(|turn| turn.speaker == Speaker::Model) {
            let first = turn.parts.iter_mut().map(|(_, part)| part).find(|part| part.call.is_some());
            if let Some(first) = first.filter(|part| part.signature.is_none()) {
                first.signature = Some(state::DUMMY.into());
                let why = "the model wants a thought signature here; the documented dummy is sent in its place";
                let place = Place::Message(turn.message).to_string();
                self.losses.push(Loss::info(LossCode::Changed, "thinking", place, why));
            }
        }
    }
}

/// Adds parts to the conversation. Consecutive messages of the model are one turn, and so are consecutive results.
fn add<'a>(turns: &mut Vec<Turn<'a>>, speaker: Speaker, message: usize, parts: Vec<(usize, Part<'a>)>) {
    if parts.is_empty() {
        return;
    }
    match turns.last_mut() {
        Some(last) if last.speaker == speaker && speaker != Speaker::User => last.parts.extend(parts),
        _ => turns.push(Turn { speaker, message, parts }),
    }
}
