//! Answers of other dialects come back, with their state, from clients of Gemini: from those that keep an answer whole, and
//! from those that keep each frame of a stream as a content of its own.

use ikigai_core::{Block, Dialect, FinishReason, Part, ProviderCall, ProviderResult, ProviderTool, Response, events};
use serde_json::{Value, json};

use crate::support::findings::Findings;
use crate::support::recordings::exchanges;
use crate::support::wire::{OfValues as _, encode, reply};

/// The answer in the history of a client.
fn in_history(response: &Response, streamed: bool, from: Dialect) -> Vec<Value> {
    if !streamed {
        let wire = Dialect::Gemini.write_response(response, &reply(from));
        return vec![wire["candidates"][0]["content"].clone()];
    }
    let text = String::from_utf8(encode(Dialect::Gemini, from, &events(response))).unwrap();
    let frames = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let frames = frames.map(|frame| serde_json::from_str::<Value>(frame).unwrap());
    frames.map(|frame| frame["candidates"][0]["content"].clone()).collect()
}

/// The blocks that count: not the empty part at a stream's end, and no calls that were cut off.
fn blocks(content: &[Block]) -> Vec<Block> {
    let counts = |block: &&Block| match block {
        Block::Text(text) => !text.text.is_empty() || text.provider_data.parts(Part::State).next().is_some(),
        Block::ToolCall(call) => call.is_complete(),
        // Told as a loss.
        Block::Other(other) => other.dialect == Dialect::Gemini,
        Block::ProviderCall(ProviderCall { tool, .. }) | Block::ProviderResult(ProviderResult { tool, .. }) => {
            !matches!(
                tool,
                ProviderTool::Other | ProviderTool::Mcp | ProviderTool::ToolSearch | ProviderTool::ImageGeneration
            )
        }
        _ => true,
    };
    content.iter().filter(counts).cloned().map(plain).collect()
}

/// The wire has arguments as an object alone, so how the model wrote them does not come along; and of what a dialect left
/// on a block only state does, without ids that nobody wants back.
fn plain(mut block: Block) -> Block {
    let thinking = matches!(block, Block::Thinking(_));
    if let Some(data) = block.provider_data_mut() {
        for dialect in Dialect::ALL {
            for part in [Part::Extra, Part::Answer, Part::Shape] {
                data.take_part(dialect, part);
            }
            if !thinking {
                data.remove_part(dialect, Part::State, "id");
            }
        }
    }
    match &mut block {
        Block::ToolCall(call) => call.arguments = call.arguments.object().clone().into(),
        // Clients do not send the grounding of an answer back.
        Block::Text(text) => text.citations.clear(),
        // To who issued them they go as they came; the rest is in the words of this API by now.
        Block::ProviderCall(call) => {
            let kept = std::mem::take(call);
            call.provider_data = kept.provider_data;
        }
        Block::ProviderResult(result) => {
            let kept = std::mem::take(result);
            result.provider_data = kept.provider_data;
        }
        _ => {}
    }
    block
}

#[test]
fn answers_come_back_from_clients_of_gemini() {
    let mut findings = Findings::default();
    for from in [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        for exchange in exchanges(from) {
            let Some(Ok(response)) = exchange.response.body().map(|body| from.read_response(&body)) else { continue };
            if response.finish_reason == FinishReason::Error || blocks(&response.content).is_empty() {
                continue;
            }
            findings.case();
            for streamed in [false, true] {
                let contents = in_history(&response, streamed, from);
                let request = Dialect::Gemini.read_request(None, &json!({"contents": contents})).unwrap();
                let history: Vec<Block> = request.messages.into_iter().flat_map(|message| message.content).collect();
                let what = if streamed { "streamed" } else { "whole" };
                findings.same(&exchange.id, what, &blocks(&history), &blocks(&response.content));
            }
        }
    }
    findings.report();
}
