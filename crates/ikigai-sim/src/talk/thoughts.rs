//! Thinking, with the sealed state that each provider adds to it.

use ikigai_core::catalog::{ThinkingKind, ThinkingOff, rules_for};
use ikigai_core::wire::Ids;
use ikigai_core::{Block, Dialect, Level, Part, ProviderData, Request, ThinkingBlock};

use super::{Talk, Turn, tokens};
use crate::seals::Purpose;

/// What was thought about a request.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    /// The block that goes before the answer, if the provider shows or seals one.
    pub(super) block: Option<Block>,
    /// The tokens it took.
    pub(super) tokens: u64,
    /// Whether the model thought at all.
    pub(super) happened: bool,
}

/// Thinks about a request, if it asks for that or the model does so by default.
pub(super) fn about(request: &Request, content: &[Block], talk: &Talk<'_>) -> Thoughts {
    let rules = rules_for(&request.model);
    if !thinks(request) {
        return Thoughts::default();
    }
    let text = text(request, content);
    let tokens = tokens::of_text(&text);
    let shown = match &request.thinking {
        Some(thinking) => thinking.include_summary,
        None => rules.thinking.display != ikigai_core::catalog::ThinkingDisplay::OnRequest,
    };
    let visible = if shown { text.clone() } else { String::new() };
    let mut data = ProviderData::default();
    let block = match talk.dialect {
        Dialect::Anthropic => {
            let seal = talk.memory.seals.seal(Purpose::Thinking, &[&request.model, &visible], "");
            data.set_part(Dialect::Anthropic, Part::State, "signature", seal);
            Some(visible)
        }
        Dialect::OpenaiResponses => {
            data.set_part(
                Dialect::OpenaiResponses,
                Part::State,
                "id",
                format!("rs_{}", Ids::seeded(!talk.seed).next_id()),
            );
            let seal = talk.memory.seals.seal(Purpose::Reasoning, &[], &request.model);
            data.set_part(Dialect::OpenaiResponses, Part::State, "encrypted_content", seal);
            Some(visible)
        }
        // OpenAI's own models do not show their thinking here; models behind copies of the API do.
        Dialect::OpenaiChat => (!rules.responses_api).then_some(text),
        _ => shown.then_some(visible),
    };
    let block = block.map(|text| {
        let mut thinking = ThinkingBlock::new(text);
        thinking.provider_data = data;
        Block::Thinking(thinking)
    });
    Thoughts { block, tokens, happened: true }
}

/// Whether the model thinks about this request.
fn thinks(request: &Request) -> bool {
    let rule = &rules_for(&request.model).thinking;
    if rule.kind == ThinkingKind::None {
        return false;
    }
    match &request.thinking {
        None => rule.thinks_by_default(),
        Some(thinking) => match (thinking.budget, thinking.level) {
            (Some(budget), _) => budget != 0,
            (None, Some(Level::None)) => rule.off == ThinkingOff::Impossible,
            (None, Some(_)) => true,
            (None, None) => rule.thinks_by_default(),
        },
    }
}

fn text(request: &Request, content: &[Block]) -> String {
    let scripted = content.iter().find_map(|block| match block {
        Block::Thinking(thinking) => Some(thinking.text.clone()),
        _ => None,
    });
    if let Some(scripted) = scripted {
        return scripted;
    }
    let said: String = Turn::of(request).prompt.chars().take(120).collect();
    let calls: Vec<&str> = content.iter().filter_map(Block::as_tool_call).map(|call| call.name.as_str()).collect();
    let plan =
        if calls.is_empty() { "I will answer".to_owned() } else { format!("I will call {}", calls.join(" and ")) };
    format!("The user says: {said}\n{plan}.")
}

/// Puts thought signatures where Gemini puts them: on the first call, else on the last text.
pub(super) fn sign(content: &mut [Block], thought: bool, request: &Request, talk: &Talk<'_>) {
    if talk.dialect != Dialect::Gemini || !(thought || rules_for(&request.model).signatures_required) {
        return;
    }
    let first_call = content.iter().position(|block| matches!(block, Block::ToolCall(_)));
    let place = first_call.or_else(|| content.iter().rposition(|block| matches!(block, Block::Text(_))));
    let Some(block) = place.and_then(|place| content.get_mut(place)) else { return };
    let name = block.as_tool_call().map(|call| call.name.clone()).unwrap_or_default();
    let seal = talk.memory.seals.seal(Purpose::Thought, &[&name], &request.model);
    if let Some(data) = block.provider_data_mut() {
        data.set_part(Dialect::Gemini, Part::State, "thought_signature", seal);
    }
}
