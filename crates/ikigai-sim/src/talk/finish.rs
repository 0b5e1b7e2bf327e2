//! The end of an answer: thinking added, limits applied, tokens counted.

use ikigai_core::catalog::rules_for;
use ikigai_core::wire::Ids;
use ikigai_core::{Arguments, Block, Dialect, FinishReason, Json, Part, Request, Response};

use super::{Talk, thoughts, tokens};

/// Turns content into the whole answer.
pub(crate) fn finish(content: Vec<Block>, reason: FinishReason, request: &Request, talk: &Talk<'_>) -> Response {
    complete(Response::new(content, reason), request, talk)
}

/// Turns a draft into the whole answer.
pub(crate) fn complete(draft: Response, request: &Request, talk: &Talk<'_>) -> Response {
    let Response { mut content, finish_reason: reason, mut provider_data, .. } = draft;
    let thoughts = thoughts::about(request, &content, talk);
    if thoughts.happened {
        // A script's thinking is in the thoughts, sealed.
        content.retain(|block| !matches!(block, Block::Thinking(_)));
    }
    let mut answer = Limited { content, reason, stopped_by: None, is_cut: false };
    answer.stop_at(&request.stop);
    thoughts::sign(&mut answer.content, thoughts.happened, request, talk);
    if let Some(limit) = limit(request) {
        answer.cut_to(limit.saturating_sub(thoughts.tokens));
    }
    if answer.is_cut {
        // This data describes the text as a whole.
        provider_data = Default::default();
        answer.forget_citations();
    }
    let mut usage = tokens::prompt_usage(request, talk);
    // The model reads what its provider's tools found.
    usage.input_tokens += found(&answer.content);
    usage.output_tokens = answer.content.iter().filter(|block| !is_found(block)).map(tokens::of_block).sum();
    usage.thinking_tokens = thoughts.tokens;
    if let Some(drafted) = draft.usage {
        usage.provider_calls = drafted.provider_calls;
        usage.provider_data = drafted.provider_data;
    }
    let content: Vec<Block> = thoughts.block.into_iter().chain(answer.content).collect();
    let mut response = Response::new(content, answer.reason);
    response.id = Some(id(talk));
    response.model.clone_from(&request.model);
    response.usage = Some(usage);
    response.sources = draft.sources;
    response.provider_data = provider_data;
    if let Some(stop) = answer.stopped_by {
        let said = [
            ("stop_reason", Json::from("stop_sequence")),
            ("stop_sequence", Json::from(stop)),
            ("stop_details", Json::null()),
        ];
        for (name, value) in said {
            response.provider_data.set_part(Dialect::Anthropic, Part::Answer, name, value);
        }
    }
    response
}

/// The token limit of the answer, including thinking.
fn limit(request: &Request) -> Option<u64> {
    let asked = request.max_output_tokens.and_then(|limit| u64::try_from(limit).ok());
    asked.or(rules_for(&request.model).max_output.map(u64::from))
}

fn id(talk: &Talk<'_>) -> String {
    let id = Ids::seeded(talk.seed.rotate_left(17)).next_id();
    match talk.dialect {
        Dialect::Anthropic => format!("msg_{id}"),
        Dialect::OpenaiChat => format!("chatcmpl-{id}"),
        Dialect::OpenaiResponses => format!("resp_{id}"),
        _ => id,
    }
}

/// Content that is being cut to the limits of the request.
struct Limited {
    content: Vec<Block>,
    reason: FinishReason,
    stopped_by: Option<String>,
    /// Whether part of it is left out.
    is_cut: bool,
}

/// The tokens of what the provider's tools found.
pub(crate) fn found(content: &[Block]) -> u64 {
    content.iter().filter(|block| is_found(block)).map(tokens::of_block).sum()
}

fn is_found(block: &Block) -> bool {
    matches!(block, Block::ProviderResult(_))
}

impl Limited {
    fn forget_citations(&mut self) {
        for block in &mut self.content {
            if let Block::Text(text) = block {
                text.citations.clear();
            }
        }
    }

    /// Ends the text before the first stop sequence.
    fn stop_at(&mut self, stops: &[String]) {
        for place in 0..self.content.len() {
            let Some(Block::Text(block)) = self.content.get_mut(place) else { continue };
            let first = stops
                .iter()
                .filter(|stop| !stop.is_empty())
                .filter_map(|stop| Some((block.text.find(stop.as_str())?, stop)))
                .min_by_key(|(start, _)| *start);
            if let Some((start, stop)) = first {
                block.text.truncate(start);
                self.stopped_by = Some(stop.clone());
                self.is_cut = true;
                self.reason = FinishReason::Stop;
                self.content.truncate(place + 1);
                return;
            }
        }
    }

    /// Ends the answer after this many tokens.
    fn cut_to(&mut self, limit: u64) {
        let mut left = limit;
        for place in 0..self.content.len() {
            let Some(block) = self.content.get_mut(place) else { return };
            let cost = if is_found(block) { 0 } else { tokens::of_block(block) };
            if cost <= left {
                left -= cost;
                continue;
            }
            let characters = usize::try_from(left.saturating_mul(4)).unwrap_or(usize::MAX);
            match block {
                Block::Text(text) => text.text = text.text.chars().take(characters).collect(),
                Block::ToolCall(call) => {
                    let beginning: String = call.arguments.text().chars().take(characters).collect();
                    call.arguments = Arguments::from_text(beginning);
                }
                _ => {}
            }
            self.content.truncate(place + 1);
            self.is_cut = true;
            self.reason = FinishReason::Length;
            return;
        }
    }
}
