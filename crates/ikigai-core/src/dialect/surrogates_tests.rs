use super::*;
use crate::wire::{Ids, StreamDecoder};
use crate::{Collector, Dialect, Limits, ProviderData};
use pretty_assertions::assert_eq;

fn marked(data: &str) -> String {
    Surrogates::default().mark(data).into_owned()
}

#[test]
fn only_halves_that_stand_alone_are_marked() {
    for whole in [r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\\ud83d"}"#, r#"{"a":"\u00e9 x"}"#, "\\", "\\u", r"\ud8"] {
        assert_eq!(marked(whole), whole);
    }
    assert_eq!(marked(r#"{"a":"\ud83d"}"#), "{\"a\":\"\u{10f83d}\"}");
    assert_eq!(marked(r#"{"a":"\uDE00\ud83d\uDE00\uD83D"}"#), "{\"a\":\"\u{10fe00}\\ud83d\\uDE00\u{10f83d}\"}");
}

fn text(index: usize, text: &str) -> Event {
    Event::TextDelta { index, text: text.into() }
}

#[test]
fn halves_meet_within_their_block_and_lone_ones_are_replaced() {
    let mut halves = Surrogates { seen: true, ..Surrogates::default() };
    let mut events = vec![
        text(0, "a\u{10f83d}"),
        text(1, "b\u{10f83d}"),
        text(0, "\u{10fe00}c"),
        text(1, "x\u{10fe00}"),
        text(1, "\u{10f83d}"),
        Event::BlockDone { index: 1, provider_data: ProviderData::default() },
    ];
    halves.join(&mut events, 0);
    let done = Event::BlockDone { index: 1, provider_data: ProviderData::default() };
    let expected = [
        text(0, "a"),
        text(1, "b"),
        text(0, "😀c"),
        text(1, "\u{fffd}x\u{fffd}"),
        text(1, ""),
        text(1, "\u{fffd}"),
        done,
    ];
    assert_eq!(events, expected);
}

/// The same two deltas in each dialect: one character, cut between its UTF-16 units.
#[test]
fn every_dialect_joins_a_character_that_was_cut() {
    let streams = [
        (
            Dialect::Anthropic,
            concat!(
                "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n\n",
                "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
                "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\\ud83d\"}}\n\n",
                "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\ude00b\"}}\n\n",
                "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
                "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
                "data: {\"type\":\"message_stop\"}\n\n",
            ),
        ),
        (
            Dialect::OpenaiChat,
            concat!(
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\ud83d\"}}]}\n\n",
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ude00b\"}}]}\n\n",
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
                "data: [DONE]\n\n",
            ),
        ),
        (
            Dialect::OpenaiResponses,
            concat!(
                "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"output\":[]}}\n\n",
                "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"i\",\"role\":\"assistant\",\"content\":[]}}\n\n",
                "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"a\\ud83d\"}\n\n",
                "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"\\ude00b\"}\n\n",
                "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"id\":\"i\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"a\\ud83d\\ude00b\"}]}]}}\n\n",
            ),
        ),
        (
            Dialect::Gemini,
            concat!(
                "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\\ud83d\"}]}}]}\n\n",
                "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\\ude00b\"}]},\"finishReason\":\"STOP\"}]}\n\n",
            ),
        ),
    ];
    for (dialect, stream) in streams {
        let mut decoder = StreamDecoder::new(dialect, Ids::default(), &Limits::default());
        let mut collector = Collector::default();
        let mut events = Vec::new();
        for piece in stream.as_bytes().chunks(7) {
            decoder.feed(piece, &mut events);
        }
        decoder.end(&mut events);
        collector.extend(events);
        let response = collector.finish();
        assert_eq!((response.text().as_str(), &response.error), ("a😀b", &None), "{dialect}");
    }
}
