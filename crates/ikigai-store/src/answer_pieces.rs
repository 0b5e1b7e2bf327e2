//! An answer as it grows: the events of its stream, in pieces.

use ikigai_core::{Collector, Event};

use crate::Entry;
use crate::error::Result;
use crate::json;

/// Joins consecutive deltas of one block: one row per token would be wasteful.
pub(crate) fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut kept: Vec<Event> = Vec::with_capacity(events.len());
    for event in events {
        match (kept.last_mut(), &event) {
            (Some(Event::TextDelta { index, text }), Event::TextDelta { index: same, text: more })
            | (Some(Event::ThinkingDelta { index, text }), Event::ThinkingDelta { index: same, text: more })
            | (
                Some(Event::ToolCallDelta { index, arguments: text }),
                Event::ToolCallDelta { index: same, arguments: more },
            ) if index == same => text.push_str(more),
            _ => kept.push(event),
        }
    }
    kept
}

/// Writes events as a piece to store.
pub(crate) fn piece(events: Vec<Event>) -> Result<String> {
    json::write("the piece of the answer", &joined(events))
}

/// Assembles the answer so far from what it began with and the pieces since.
pub(crate) fn assemble(begun: Entry, pieces: &[String]) -> std::result::Result<Entry, String> {
    let mut collector = Collector::default();
    for piece in pieces {
        collector.extend(json::read::<Vec<Event>>(piece)?);
    }
    let ended = collector.is_done();
    let mut response = collector.finish();
    if !ended {
        // The answer has not ended yet, which is not an error of the stream.
        response.error = None;
    }
    let mut entry = Entry::answer(response, "");
    if !ended {
        entry.finish_reason = None;
    }
    entry.state = begun.state;
    entry.usage = entry.usage.or(begun.usage);
    entry.cost = begun.cost;
    entry.message.role = begun.message.role;
    entry.message.provider = begun.message.provider;
    entry.message.model = entry.message.model.or(begun.message.model);
    entry.message.thinking = begun.message.thinking;
    let mut provider_data = begun.message.provider_data;
    provider_data.merge(entry.message.provider_data);
    entry.message.provider_data = provider_data;
    let mut metadata = begun.metadata;
    metadata.extend(entry.metadata);
    entry.metadata = metadata;
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use ikigai_core::{Block, Dialect, FinishReason, Level, Message, ProviderData, Role, Usage};
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::State;
    use ikigai_core::Part;

    fn text(index: usize, text: &str) -> Event {
        Event::TextDelta { index, text: text.into() }
    }

    fn thinking(index: usize, text: &str) -> Event {
        Event::ThinkingDelta { index, text: text.into() }
    }

    fn arguments(index: usize, text: &str) -> Event {
        Event::ToolCallDelta { index, arguments: text.into() }
    }

    #[test]
    fn only_neighbours_of_one_block_are_joined() {
        let events = vec![
            text(0, "a"),
            text(0, "b"),
            text(1, "c"),
            thinking(1, "d"),
            thinking(1, "e"),
            text(1, "f"),
            arguments(2, "{"),
            arguments(2, "}"),
            Event::Usage { usage: Usage::default() },
            arguments(2, "g"),
        ];
        let expected = vec![
            text(0, "ab"),
            text(1, "c"),
            thinking(1, "de"),
            text(1, "f"),
            arguments(2, "{}"),
            Event::Usage { usage: Usage::default() },
            arguments(2, "g"),
        ];
        assert_eq!(joined(events), expected);
    }

    #[test]
    fn an_answer_is_what_it_began_with_and_what_came() {
        let mut begun = Message::new(Role::Assistant, Vec::new());
        (begun.provider, begun.model, begun.thinking) = (Some("p".into()), Some("asked".into()), Some(Level::High));
        begun.provider_data.set_part(Dialect::Gemini, Part::Extra, "a", "1");
        let begun = Entry::new(begun).state(State::Partial);
        let mut came = ProviderData::default();
        came.set_part(Dialect::Gemini, Part::Extra, "b", "2");
        let start = Event::Start { id: Some("r".into()), model: Some("answered".into()), provider_data: came };
        let first = piece(vec![start, Event::BlockStart { index: 0, block: Block::text("") }]).unwrap();
        let second = piece(vec![text(0, "Hel"), text(0, "lo")]).unwrap();
        let third = piece(vec![
            Event::ToolCallStart { index: 1, id: "c".into(), name: "f".into(), provider_data: Default::default() },
            arguments(1, "{\"a\": "),
        ])
        .unwrap();

        let call = Block::tool_call("c", "f", ikigai_core::Arguments::from_text("{\"a\": "));
        let mut expected = begun.clone();
        expected.message.content = vec![Block::text("Hello"), call];
        expected.message.model = Some("answered".into());
        expected.message.provider_data.set_part(Dialect::Gemini, Part::Extra, "b", "2");
        expected.metadata.insert("response_id".into(), "r".into());
        let pieces = [first, second, third];
        assert_eq!(assemble(begun.clone(), &pieces), Ok(expected));

        let end = [
            Event::Usage { usage: Usage::new(0, 2) },
            Event::Done { finish_reason: FinishReason::Stop, provider_data: Default::default() },
        ];
        let whole = assemble(begun.clone(), &[piece(end.to_vec()).unwrap()]).unwrap();
        assert_eq!((whole.state, whole.finish_reason), (State::Partial, Some(FinishReason::Stop)));
        assert_eq!(whole.usage.map(|usage| usage.output_tokens), Some(2));
        assert!(assemble(begun, &["[{\"type\": \"nonsense\"}]".to_owned()]).is_err());
    }
}
