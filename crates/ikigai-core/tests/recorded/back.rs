//! Answers of other dialects come back with their state from clients of Gemini, whether they keep an answer as a whole
//! or each frame of a stream as a separate content.

use ikigai_core::{Block, Dialect, FinishReason, Part, ProviderCall, ProviderResult, ProviderTool, Response, events};
use serde_json::{Value, json};

use crate::support::findings::Findings;
use crate::support::recordings::exchanges;
use crate::support::wire::{OfValues as _, encode, reply};

/// Returns the answer as it is in the history of a client.
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

/// Returns the blocks that count: neither the empty part at a stream's end nor calls that were cut off.
fn blocks(content: &[Block]) -> Vec<Block> {
    let counts = |block: &&Block| match block {
        Block::Text(text) => !text.text.is_empty() || text.provider_data.parts(Part::State).next().is_some(),
        Block::ToolCall(call) => call.is_complete(),
        // Reported as a loss.
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

/// Removes what is not preserved: arguments are only an object on the wire, so their spelling is lost; and of a
/// dialect's data on a block, only state is kept, without ids that serve no purpose.
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
        // They go back to their issuer unchanged; the rest is by now in the terms of this API.
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
