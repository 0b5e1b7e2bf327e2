//! The talker: answers by rules, always the same way, and shows that it understood.
//!
//! It is no model. It calls the tools that a prompt names, fills schemas, does sums, remembers what it was told, and
//! says back the rest.

mod arithmetic;
mod calls;
mod finish;
mod sample;
mod thoughts;
mod tokens;
mod words;

use ikigai_core::wire::Ids;
use ikigai_core::{Block, Dialect, FinishReason, OutputFormat, Request, Response, Role, ToolChoice};

use crate::memory::Memory;

pub(crate) use finish::finish;
pub(crate) use tokens::prompt_tokens;

/// Who is talked to, and with what memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Talk<'a> {
    pub(crate) dialect: Dialect,
    /// Follows from the request: the same request gets the same ids.
    pub(crate) seed: u64,
    pub(crate) memory: &'a Memory,
}

impl Talk<'_> {
    /// An id for a tool call, in the form that this dialect's provider gives.
    pub(crate) fn call_id(&self, ids: &mut Ids) -> String {
        let id = ids.next_id();
        match self.dialect {
            Dialect::Anthropic => format!("toolu_{id}"),
            Dialect::OpenaiChat | Dialect::OpenaiResponses => format!("call_{id}"),
            Dialect::Gemini | Dialect::BedrockConverse => id,
        }
    }
}

/// The answer to a request.
pub(crate) fn answer(request: &Request, talk: &Talk<'_>) -> Response {
    let calls = calls::wanted(request);
    if !calls.is_empty() {
        let mut ids = Ids::seeded(talk.seed);
        let content = calls
            .into_iter()
            .map(|(name, arguments)| Block::tool_call(talk.call_id(&mut ids), name, arguments))
            .collect();
        return finish(content, FinishReason::ToolUse, request, talk);
    }
    finish(vec![Block::text(text(request))], FinishReason::Stop, request, talk)
}

fn text(request: &Request) -> String {
    let prompt = prompt(request);
    match &request.output_format {
        Some(OutputFormat::JsonSchema(format)) => sample::from_prompt(format.schema.value(), &prompt).to_string(),
        Some(OutputFormat::Json) => serde_json::json!({"answer": plain(request, &prompt)}).to_string(),
        Some(OutputFormat::Text) | None => plain(request, &prompt),
        // A form that did not exist when this was written: text is what every model can do.
        Some(_) => plain(request, &prompt),
    }
}

fn plain(request: &Request, prompt: &str) -> String {
    match calls::results(request) {
        Some(results) => results,
        None => words::reply(request, prompt),
    }
}

/// What the user last said.
pub(crate) fn prompt(request: &Request) -> String {
    let last = request.messages.iter().rev().find(|message| message.role == Role::User);
    last.map(ikigai_core::Message::text).unwrap_or_default()
}

/// May the model call tools, and must it?
fn choice(request: &Request) -> ToolChoice {
    request.tool_choice.clone().unwrap_or_default()
}
