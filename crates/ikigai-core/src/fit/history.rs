//! The system prompt and the messages.

use std::borrow::Cow;
use std::collections::HashSet;

use super::abilities::{Beginning, SystemMessages, ThinkingBack};
use super::foreign::is_foreign;
use super::issuer::Issuer;
use super::{FittedBlock, FittedMessage, Fitting, Place, Spelling, StateUse, Within};
use crate::provider::{ReasoningField, ReplayReasoning};
use crate::{Block, Loss, LossCode, Message, Part, ProviderData, Role, Text, ThinkingBlock, Tool};

/// Added if a conversation may not end with the assistant.
const GO_ON: &str = "Continue.";
/// Added where the user should have begun.
const BEGIN: &str = "(begin)";

/// An empty message, for those that are added here.
static OURS: Message = Message {
    role: Role::User,
    content: Vec::new(),
    provider: None,
    model: None,
    thinking: None,
    sources: Vec::new(),
    provider_data: ProviderData::NONE,
};

/// The conversation as its target accepts it.
#[derive(Debug, Default)]
pub(super) struct Conversation<'a> {
    pub(super) system: Vec<FittedBlock<'a>>,
    pub(super) messages: Vec<FittedMessage<'a>>,
    /// Thinking was left out that its model expects back.
    pub(super) lost_thinking: bool,
}

impl<'a> Fitting<'a> {
    /// Returns the system prompt and the messages; `note` is added to the system prompt.
    pub(super) fn conversation(&mut self, note: Option<String>) -> Conversation<'a> {
        let request = self.request;
        let mut done = Conversation::default();
        for (index, block) in request.system.iter().enumerate() {
            done.system.extend(self.block(block, Place::System(index), Issuer::Unknown));
        }
        let leading = self.leading_system_messages();
        done.messages.reserve(request.messages.len());
        let last_user = request.messages.iter().rposition(|message| message.role == Role::User);
        let mut run = Run { has_user: false, results_follow: self.results_follow() };
        for (index, message) in request.messages.iter().enumerate() {
            let mut fitted = self.message(index, message, last_user, &mut done.lost_thinking);
            if index < leading {
                done.system.append(&mut fitted.content);
                continue;
            }
            if self.spelling == Spelling::Ours {
                self.place_instructions(&mut fitted, &mut run);
                if fitted.content.is_empty() && !message.content.is_empty() {
                    let why = "this API cannot express anything in this message; left out";
                    let place = Place::Message(index).to_string();
                    self.losses.push(Loss::info(LossCode::Changed, "messages", place, why));
                    continue;
                }
            }
            done.messages.push(fitted);
        }
        done.system.extend(note.map(|note| ours(note, Place::System(request.system.len()))));
        if self.spelling == Spelling::Ours {
            self.move_system(&mut done);
            self.let_the_user_begin(&mut done);
            self.note_respelled();
        }
        done
    }

    fn message(
        &mut self,
        index: usize,
        message: &'a Message,
        last_user: Option<usize>,
        lost_thinking: &mut bool,
    ) -> FittedMessage<'a> {
        let issuer = Issuer::of(message, self.target, &self.rules, &self.request.model);
        let place = Place::Message(index);
        self.foreign_fields(&message.provider_data, place);
        let state = self.state(&message.provider_data, place, issuer);
        let own_state = message.provider_data.part(self.dialect, Part::State);
        if state == StateUse::Own && !own_state.is_empty() && !self.abilities.message_state.is_taken() {
            let names: Vec<&str> = own_state.names().collect();
            let why = format!("state belongs to blocks here, not to messages; {} is left out", names.join(", "));
            self.losses.push(Loss::new(LossCode::NotInDialect, "thinking", place.to_string(), why));
        }
        let mut content = Vec::with_capacity(message.content.len());
        for (inner, block) in message.content.iter().enumerate() {
            let place = Place::Block(index, inner);
            let fitted = match block {
                Block::Thinking(thinking) => {
                    let in_loop = last_user.is_none_or(|last| index > last);
                    let goes = self.thinking_goes_back(thinking, place, issuer, in_loop);
                    *lost_thinking |= !goes;
                    goes.then(|| FittedBlock { block: Cow::Borrowed(block), place, state: StateUse::Own })
                }
                block => self.block(block, place, issuer),
            };
            content.extend(fitted);
        }
        FittedMessage { message, index, role: message.role, state, content }
    }

    fn block(&mut self, block: &'a Block, place: Place, issuer: Issuer) -> Option<FittedBlock<'a>> {
        if block.is_provider_run() {
            return self.provider_run(block, place, issuer);
        }
        let Some(data) = block.provider_data() else {
            let Block::Other(other) = block else { return None };
            let known = self.knows(other, place, issuer);
            return known.then(|| FittedBlock { block: Cow::Borrowed(block), place, state: StateUse::Own });
        };
        let within = match block {
            Block::Image(_) => Within::Picture,
            Block::ToolResult(_) => Within::Result,
            _ => Within::Elsewhere,
        };
        self.foreign_fields_within(within, data, place);
        let state = self.state(data, place, issuer);
        let mut cited = Vec::new();
        if let Block::ToolResult(result) = block {
            for (index, inner) in result.content.iter().enumerate() {
                // It is not left out here, so that the rest keeps its place; the dialect leaves it out.
                let fitted = self.block(inner, place.inner(index), issuer);
                if let Some(Cow::Owned(text @ Block::Text(_))) = fitted.map(|fitted| fitted.block) {
                    cited.push((index, text));
                }
            }
        }
        let mut block = match block {
            Block::Text(text) if !text.citations.is_empty() => self.cited(block, text, place, state),
            block if self.spelling == Spelling::Ours => self.renamed(block),
            block => Cow::Borrowed(block),
        };
        if !cited.is_empty()
            && let Block::ToolResult(result) = block.to_mut()
        {
            for (index, text) in cited {
                result.content.get_mut(index).into_iter().for_each(|inner| inner.clone_from(&text));
            }
        }
        Some(FittedBlock { block, place, state })
    }

    /// Returns a call or a result with the name and the id that are sent.
    fn renamed(&mut self, block: &'a Block) -> Cow<'a, Block> {
        match block {
            Block::ToolCall(call) => {
                let id = self.ids.of_call(&call.id);
                if id.is_none() && !self.names.changes(&call.name) {
                    return Cow::Borrowed(block);
                }
                let mut sent = call.clone();
                sent.name = self.names.get(&call.name).into_owned();
                sent.id = id.unwrap_or(sent.id);
                Cow::Owned(Block::ToolCall(sent))
            }
            Block::ToolResult(result) => match self.ids.of_result(&result.tool_call_id) {
                Some(id) => {
                    let mut sent = result.clone();
                    sent.tool_call_id = id;
                    Cow::Owned(Block::ToolResult(sent))
                }
                None => Cow::Borrowed(block),
            },
            Block::Text(_)
            | Block::Image(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::Thinking(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_)
            | Block::Other(_) => Cow::Borrowed(block),
        }
    }

    fn note_respelled(&mut self) {
        let changes = self.ids.changes();
        if changes > 0 {
            let why = format!("{changes} ids do not have the form that this API accepts; others are sent");
            self.losses.push(Loss::info(LossCode::Renamed, "tool_call", "messages", why));
        }
        // Names of offered tools are reported with the tools.
        let offered: HashSet<&str> = self.request.tools.iter().filter_map(Tool::name).collect();
        let told = offered.iter().filter(|name| self.names.changes(name)).count();
        let only_called = self.names.changes_in_all().saturating_sub(told);
        if only_called > 0 {
            let why = format!("{only_called} names of tools that are not offered are refused here; others are sent");
            self.losses.push(Loss::info(LossCode::Renamed, "name", "messages", why));
        }
    }

    /// Returns whether thinking goes back: only to its issuer, and only if it is wanted.
    fn thinking_goes_back(&mut self, thinking: &ThinkingBlock, place: Place, issuer: Issuer, in_loop: bool) -> bool {
        let data = &thinking.provider_data;
        let from_elsewhere = is_foreign(data, self.dialect);
        if from_elsewhere || !issuer.is_own() {
            let why = match issuer {
                Issuer::OtherModel if !from_elsewhere => "thinking that this model cannot read is left out",
                Issuer::OtherModel | Issuer::OtherProvider | Issuer::Target | Issuer::Unknown => {
                    "thinking of another provider is left out"
                }
            };
            self.losses.push(Loss::new(LossCode::ForeignState, "thinking", place.to_string(), why));
            return false;
        }
        if self.spelling == Spelling::AsItCame {
            return true;
        }
        let refusal = match self.abilities.thinking_back {
            ThinkingBack::Text => {
                let wanted = match self.quirks.chat.replay_reasoning {
                    ReplayReasoning::Never => false,
                    ReplayReasoning::Always => true,
                    ReplayReasoning::ToolLoop => in_loop,
                };
                let taken = wanted && self.quirks.chat.reasoning_field != ReasoningField::Nothing;
                // What its issuer sealed is meant to come back.
                let taken = taken || !data.part(self.dialect, Part::State).is_empty();
                (!taken)
                    .then_some((LossCode::RefusedByProvider, "this provider does not accept thinking back; left out"))
            }
            // Thinking that the target itself sent unsealed may go back unsealed.
            ThinkingBack::Sealed => {
                let goes = issuer == Issuer::Target || !data.part(self.dialect, Part::State).is_empty();
                (!goes).then_some((
                    LossCode::NotInDialect,
                    "thinking can only go back with its original seal, and this has none; left out",
                ))
            }
        };
        let Some((code, why)) = refusal else { return true };
        let made_here = issuer == Issuer::Target || !data.part(self.dialect, Part::Shape).is_empty();
        self.losses.push(match made_here {
            true => Loss::info(code, "thinking", place.to_string(), why),
            false => Loss::new(code, "thinking", place.to_string(), why),
        });
        false
    }

    /// Returns how many leading system messages belong to the system prompt.
    fn leading_system_messages(&self) -> usize {
        let stay = self.rules.system_messages && self.abilities.system_messages == SystemMessages::Anywhere;
        if stay || self.spelling == Spelling::AsItCame {
            return 0;
        }
        self.request.messages.iter().take_while(|message| message.role == Role::System).count()
    }

    /// Returns whether tool results follow each message before the model speaks again; empty if that does not matter.
    fn results_follow(&self) -> Vec<bool> {
        if self.abilities.system_messages != SystemMessages::AfterUser {
            return Vec::new();
        }
        let mut follow = vec![false; self.request.messages.len()];
        let mut seen = false;
        for (message, follow) in self.request.messages.iter().zip(&mut follow).rev() {
            seen &= message.role != Role::Assistant;
            *follow = seen;
            seen |= has_results(message);
        }
        follow
    }

    /// Keeps instructions within a conversation where the target accepts them; otherwise they become the user's.
    fn place_instructions(&mut self, fitted: &mut FittedMessage<'a>, run: &mut Run) {
        if fitted.role != Role::System {
            run.has_user = fitted.role != Role::Assistant;
            return;
        }
        let here = match self.abilities.system_messages {
            SystemMessages::Anywhere => true,
            SystemMessages::AfterUser => run.has_user || run.results_follow.get(fitted.index) == Some(&true),
            SystemMessages::Nowhere => false,
        };
        let (code, why) = match (self.abilities.system_messages, self.rules.system_messages) {
            (SystemMessages::Nowhere, _) => (
                LossCode::NotInDialect,
                "system messages are not allowed inside a conversation here; it is sent as the user's",
            ),
            (_, false) => (
                LossCode::RefusedByModel,
                "this model accepts no system messages in a conversation; it is sent as the user's",
            ),
            (_, true) if here => return,
            (_, true) => (LossCode::NotInDialect, "a system message is not allowed there; it is sent as the user's"),
        };
        self.losses.push(Loss::new(code, "system", Place::Message(fitted.index).to_string(), why));
        fitted.role = Role::User;
        run.has_user = true;
        for block in &mut fitted.content {
            if let Block::Text(text) = block.block.as_ref() {
                let told = format!("<system-reminder>\n{}\n</system-reminder>", text.text);
                block.block = Cow::Owned(Block::Text(Text { text: told, ..text.clone() }));
            }
        }
    }

    /// For models without system prompts: moves it in front of the first user message.
    fn move_system(&mut self, done: &mut Conversation<'a>) {
        if self.rules.system_prompt || done.system.is_empty() {
            return;
        }
        let why = "this model accepts no system prompt; it is put at the beginning of the user's first message";
        self.losses.push(Loss::new(LossCode::RefusedByModel, "system", "system", why));
        let system = std::mem::take(&mut done.system);
        match done.messages.first_mut().filter(|first| first.role == Role::User) {
            Some(first) => drop(first.content.splice(0..0, system)),
            None => done.messages.insert(0, message_of_ours(Role::User, 0, system)),
        }
    }

    /// Some targets require the user to speak first, and something to answer.
    fn let_the_user_begin(&mut self, done: &mut Conversation<'a>) {
        let fine = match done.messages.first() {
            Some(first) => first.role != Role::Assistant,
            None => done.system.is_empty() && self.request.messages.is_empty(),
        };
        if fine || self.abilities.beginning == Beginning::Anyone {
            return;
        }
        let begin = vec![ours(BEGIN.to_owned(), Place::Message(0))];
        done.messages.insert(0, message_of_ours(Role::User, 0, begin));
        let why = "the user must send the first message here; a placeholder is sent before it";
        self.losses.push(Loss::info(LossCode::Changed, "messages", "messages[0]", why));
    }

    /// Adapts the end of the conversation. Returns whether it is the beginning of the answer. `has_schema`: whether the
    /// answer must follow a schema.
    pub(super) fn ending(&mut self, messages: &mut Vec<FittedMessage<'a>>, has_schema: bool) -> bool {
        let Some(last) = messages.last_mut().filter(|last| last.role == Role::Assistant) else { return false };
        // A turn that ends with a dialect's own block is sent again unchanged, to be continued.
        match last.content.last().map(|block| block.block.as_ref()) {
            Some(Block::Other(_) | Block::ToolCall(_)) | None => return false,
            Some(_) => {}
        }
        let at = last.index;
        let clash = has_schema && !self.abilities.schema_format.beside_prefill.is_taken();
        if clash || !self.rules.prefill {
            let (code, why) = match self.rules.prefill {
                true => (LossCode::Conflict, "an answer that must follow a schema cannot be begun by the caller"),
                false => (LossCode::RefusedByModel, "this model refuses conversations that end with the assistant"),
            };
            let why = format!("{why}; the model is asked to continue");
            self.losses.push(Loss::new(code, "prefill", Place::Message(at).to_string(), why));
            messages.push(message_of_ours(Role::User, at + 1, vec![ours(GO_ON.to_owned(), Place::Message(at + 1))]));
            return false;
        }
        let begins_with_thinking =
            last.content.first().is_some_and(|block| matches!(block.block.as_ref(), Block::Thinking(_)));
        if !self.abilities.prefill.trailing_blanks.is_taken()
            && let Some(block) = last.content.last_mut()
            && let Block::Text(text) = block.block.as_ref()
            && text.text.trim_end().len() < text.text.len()
        {
            let trimmed = text.text.trim_end().to_owned();
            block.block = Cow::Owned(Block::Text(Text { text: trimmed, ..text.clone() }));
            let why = "spaces at its end are refused here; left out";
            self.losses.push(Loss::info(LossCode::Changed, "prefill", Place::Message(at).to_string(), why));
        }
        !begins_with_thinking
    }
}

/// The messages since the model last spoke.
#[derive(Debug, Default)]
struct Run {
    has_user: bool,
    /// For each message, whether tool results follow before the model speaks again.
    results_follow: Vec<bool>,
}

fn has_results(message: &Message) -> bool {
    message.role == Role::Tool
        || message
            .content
            .iter()
            .any(|block| matches!(block, Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_)))
}

/// Creates a text of our own.
fn ours(text: String, place: Place) -> FittedBlock<'static> {
    FittedBlock { block: Cow::Owned(Block::text(text)), place, state: StateUse::Own }
}

fn message_of_ours(role: Role, index: usize, content: Vec<FittedBlock<'_>>) -> FittedMessage<'_> {
    FittedMessage { message: &OURS, index, role, state: StateUse::Own, content }
}
