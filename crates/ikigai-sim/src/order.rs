//! The order of the pieces of a streamed answer.

use std::collections::{BTreeMap, VecDeque};

use ikigai_core::{Block, Event};

/// How the pieces of adjacent tool calls are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// A call is complete before the next one opens.
    OneByOne,
    /// All are open at once, and each gets one piece in turn. Every API with numbered blocks allows that.
    InTurns,
}

impl Order {
    pub(crate) fn arrange(self, events: impl Iterator<Item = Event>) -> Vec<Event> {
        if self == Order::OneByOne {
            return events.collect();
        }
        let mut arranged = Vec::new();
        let mut open: BTreeMap<usize, VecDeque<Event>> = BTreeMap::new();
        for event in events {
            match &event {
                Event::ToolCallStart { index, .. }
                | Event::ToolCallDelta { index, .. }
                | Event::ToolCallDone { index, .. } => open.entry(*index).or_default().push_back(event),
                _ => {
                    in_turns(&mut open, &mut arranged);
                    arranged.push(event);
                }
            }
        }
        in_turns(&mut open, &mut arranged);
        arranged
    }
}

/// Moves what a provider notes on a text to its end: Gemini signs a streamed text after its last piece, and a signature
/// on the first one would make it a separate block.
pub(crate) fn signed_at_the_end(mut events: Vec<Event>) -> Vec<Event> {
    let mut notes = BTreeMap::new();
    for event in &mut events {
        match event {
            Event::BlockStart { index, block: Block::Text(text) } => {
                notes.insert(*index, std::mem::take(&mut text.provider_data));
            }
            Event::BlockDone { index, provider_data } => {
                provider_data.merge(notes.remove(index).unwrap_or_default());
            }
            _ => {}
        }
    }
    events
}

fn in_turns(open: &mut BTreeMap<usize, VecDeque<Event>>, arranged: &mut Vec<Event>) {
    while !open.is_empty() {
        arranged.extend(open.values_mut().filter_map(VecDeque::pop_front));
        open.retain(|_, events| !events.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use ikigai_core::{Dialect, FinishReason, Part, Response, events};
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_text_is_signed_at_its_end() {
        let mut block = Block::text("Hi");
        if let Some(data) = block.provider_data_mut() {
            data.set_part(Dialect::Gemini, Part::State, "thought_signature", "sig");
        }
        let response = Response::new(block, FinishReason::Stop);
        let signed = |event: &Event| match event {
            Event::BlockStart { block, .. } => block.provider_data().is_some_and(|data| !data.is_empty()),
            Event::BlockDone { provider_data, .. } => !provider_data.is_empty(),
            _ => false,
        };
        let places = |events: &[Event]| events.iter().position(signed);
        let plain = events(&response);
        let end = plain.iter().position(|event| matches!(event, Event::BlockDone { .. }));
        assert_eq!((places(&plain) < end, places(&signed_at_the_end(plain))), (true, end));
    }

    #[test]
    fn calls_side_by_side_take_turns_and_nothing_else_moves() {
        let call = |id: &str| Block::tool_call(id, "f", serde_json::Map::new());
        let content = vec![Block::text("a"), call("1"), call("2"), Block::text("b"), call("3")];
        let response = Response::new(content, FinishReason::ToolUse);
        let steps = |order: Order| -> Vec<String> {
            let places = |event: &Event| match serde_json::to_value(event) {
                Ok(event) => format!("{} {}", event["type"].as_str().unwrap_or(""), event["index"]),
                Err(error) => error.to_string(),
            };
            order.arrange(events(&response).into_iter()).iter().map(places).collect()
        };
        let call = |index: usize| {
            [format!("tool_call_start {index}"), format!("tool_call_delta {index}"), format!("tool_call_done {index}")]
        };
        let one_by_one = steps(Order::OneByOne);
        let place = one_by_one.iter().position(|step| *step == call(1)[0]).unwrap();
        assert_eq!(one_by_one[place..place + 6], [call(1), call(2)].concat());
        let mut expected = one_by_one.clone();
        for (turn, steps) in call(1).into_iter().zip(call(2)).enumerate() {
            (expected[place + 2 * turn], expected[place + 2 * turn + 1]) = steps;
        }
        assert_eq!(steps(Order::InTurns), expected);
    }
}
