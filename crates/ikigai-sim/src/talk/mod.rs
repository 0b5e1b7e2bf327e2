//! The talker: answers by rules, always the same way, and shows that it understood.
//!
//! It is not a model. It calls the tools that a prompt asks for, fills schemas, does sums, remembers what it was told,
//! and repeats the rest.

mod arithmetic;
mod asked;
mod calls;
mod finish;
pub(crate) mod hosted;
mod sample;
mod schema;
mod thoughts;
mod tokens;
mod turn;
mod words;

use ikigai_core::wire::Ids;
use ikigai_core::{Block, Dialect, FinishReason, OutputFormat, Request, Response, ToolChoice};

use crate::memory::Memory;

pub(crate) use finish::{complete, finish, found};
pub(crate) use tokens::{of_block as block_tokens, prompt_tokens};
pub(crate) use turn::Turn;

/// The dialect, seed and memory of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Talk<'a> {
    pub(crate) dialect: Dialect,
    /// Derived from the request: the same request gets the same ids.
    pub(crate) seed: u64,
    pub(crate) memory: &'a Memory,
}

impl Talk<'_> {
    /// Makes an id for a tool call, in the form of this dialect's provider.
    pub(crate) fn call_id(&self, ids: &mut Ids) -> String {
        let id = ids.next_id();
        match self.dialect {
            Dialect::Anthropic => format!("toolu_{id}"),
            Dialect::OpenaiChat | Dialect::OpenaiResponses => format!("call_{id}"),
            _ => id,
        }
    }
}

/// The longest text, in characters: a prompt that is repeated can be of any length, and an answer in pieces takes many
/// times its memory.
const LONGEST: usize = 1 << 18;

/// The answer to a request.
pub(crate) fn answer(request: &Request, talk: &Talk<'_>) -> Response {
    let turn = Turn::of(request);
    let mut ids = Ids::seeded(talk.seed);
    let calls: Vec<Block> = calls::wanted(request, &turn)
        .into_iter()
        .map(|(name, arguments)| Block::tool_call(talk.call_id(&mut ids), name, arguments))
        .collect();
    if let Some(response) = hosted::answer(request, &turn, calls.clone(), talk) {
        return response;
    }
    if !calls.is_empty() {
        return finish(calls, FinishReason::ToolUse, request, talk);
    }
    let mut text = text(request, &turn);
    let mut reason = FinishReason::Stop;
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        reason = FinishReason::Length;
    }
    finish(vec![Block::text(text)], reason, request, talk)
}

fn text(request: &Request, turn: &Turn<'_>) -> String {
    match &request.output_format {
        Some(OutputFormat::JsonSchema(format)) => sample::from_prompt(format.schema.value(), &turn.prompt).to_string(),
        Some(OutputFormat::Json) => match schema::anywhere(request, &turn.prompt) {
            Some(found) => found.filled(),
            None => serde_json::json!({"answer": plain(request, turn)}).to_string(),
        },
        // Clients whose model has no structured output write the schema into the prompt.
        Some(OutputFormat::Text) | None => match schema::asked_for(request, &turn.prompt) {
            Some(found) => found.filled(),
            None => plain(request, turn),
        },
        // A format newer than this code: every model can write text.
        Some(_) => plain(request, turn),
    }
}

fn plain(request: &Request, turn: &Turn<'_>) -> String {
    match turn.results {
        Some(results) => calls::told(request, results),
        None => words::reply(request, turn),
    }
}

/// Whether the model may call tools, and whether it must.
fn choice(request: &Request) -> ToolChoice {
    request.tool_choice.clone().unwrap_or_default()
}
