//! Checks that a conversation is the same on the other side.

use ikigai_core::{Block, Loss, Message, Request};
use serde_json::{Map, Value};

use super::findings::Findings;

/// Compares what was said, called, answered and offered. Anything missing must be in the losses.
pub(crate) fn compare(id: &str, sent: &Request, arrived: &Request, losses: &[Loss], findings: &mut Findings) {
    let arrived_blocks = arrived.system.iter().chain(arrived.messages.iter().flat_map(|message| &message.content));
    let all_texts: String = arrived_blocks.filter_map(Block::as_text).map(|text| format!("{text}\n")).collect();
    let mut look_for = |place: String, block: &Block| {
        if let Some(text) = block.as_text()
            && !all_texts.contains(text.trim())
            && !is_lost(losses, &place)
        {
            findings
                .add(id, format!("{place} is gone without a loss: {:?}", text.chars().take(60).collect::<String>()));
        }
    };
    for (at, block) in sent.system.iter().enumerate() {
        look_for(format!("system[{at}]"), block);
    }
    for (at, message) in sent.messages.iter().enumerate() {
        for (within, block) in message.content.iter().enumerate() {
            look_for(format!("messages[{at}].content[{within}]"), block);
        }
    }
    findings.same(id, "calls", &calls(&arrived.messages), &calls(&sent.messages));
    findings.same(id, "results", &results(&arrived.messages), &results(&sent.messages));
    let names = |request: &Request| -> Vec<String> {
        request.tools.iter().filter_map(|tool| tool.name().map(str::to_owned)).collect()
    };
    findings.same(id, "tools", &names(arrived), &names(sent));
}

/// Returns whether a loss names this place, something around it, or something in it.
pub(crate) fn is_lost(losses: &[Loss], place: &str) -> bool {
    let place = place.trim_start_matches('.');
    losses.iter().any(|loss| place.starts_with(loss.place.as_str()) || loss.place.starts_with(place))
}

/// Returns names and arguments. Arguments that are not an object are not compared: not every dialect can express them.
fn calls(messages: &[Message]) -> Vec<(String, Map<String, Value>)> {
    let calls = messages.iter().flat_map(|message| &message.content).filter_map(Block::as_tool_call);
    calls.map(|call| (call.name.clone(), call.arguments.object().clone())).collect()
}

fn results(messages: &[Message]) -> usize {
    messages.iter().flat_map(|message| &message.content).filter_map(Block::as_tool_result).count()
}
