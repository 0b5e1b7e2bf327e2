//! Unknown, broken, cut-off and late frames are handled the same in all dialects.

use pretty_assertions::assert_eq;

use crate::dialect::testing::{collect, events_of, events_within};
use crate::wire::Ids;
use crate::{Dialect, Event, Limits};

/// Returns a stream of each dialect that says "Hi": its start and its end.
fn hello(dialect: Dialect) -> (&'static str, &'static str) {
    match dialect {
        Dialect::Anthropic => (
            concat!(
                r#"data: {"type":"message_start","message":{"id":"a","model":"m","content":[]}}"#,
                "\n\n",
                r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}"#,
                "\n\n",
            ),
            concat!(
                r#"data: {"type":"content_block_stop","index":0}"#,
                "\n\n",
                r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
                "\n\n",
                r#"data: {"type":"message_stop"}"#,
                "\n\n",
            ),
        ),
        Dialect::OpenaiChat => (
            concat!(r#"data: {"id":"a","model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}"#, "\n\n"),
            concat!(
                r#"data: {"id":"a","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                "\n\ndata: [DONE]\n\n",
            ),
        ),
        Dialect::OpenaiResponses => (
            concat!(
                r#"data: {"type":"response.created","response":{"id":"a","model":"m","output":[]}}"#,
                "\n\n",
                r#"data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hi"}"#,
                "\n\n",
            ),
            concat!(
                r#"data: {"type":"response.completed","response":{"id":"a","model":"m","status":"completed","output":[]}}"#,
                "\n\n",
            ),
        ),
        Dialect::Gemini => (
            concat!(r#"data: {"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"}}]}"#, "\n\n"),
            concat!(r#"data: {"candidates":[{"finishReason":"STOP","index":0}]}"#, "\n\n"),
        ),
        Dialect::BedrockConverse => (
            concat!(r#"data: {"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"Hi"}}}"#, "\n\n"),
            concat!(
                r#"data: {"messageStop":{"stopReason":"end_turn"}}"#,
                "\n\n",
                r#"data: {"metadata":{"metrics":{"latencyMs":1}}}"#,
                "\n\n",
            ),
        ),
    }
}

/// Returns the code and message of the error that the stream ends with, if any.
fn failure(events: &[Event]) -> Option<(Option<String>, String)> {
    match events.last() {
        Some(Event::Error { error }) => Some((error.code.clone(), error.message.clone())),
        _ => None,
    }
}

fn others(events: &[Event]) -> Vec<&str> {
    let data = events.iter().filter_map(|event| match event {
        Event::Other { data, .. } => Some(data.text()),
        _ => None,
    });
    data.collect()
}

#[test]
fn a_stream_that_is_cut_off_says_so() {
    for dialect in Dialect::PROVIDERS {
        let (begin, end) = hello(dialect);
        assert_eq!(failure(&events_of(dialect, &[begin, end].concat())), None, "{dialect}");
        let cut = events_of(dialect, begin);
        let expected = "the stream ended before the answer did: it is cut off".to_owned();
        assert_eq!(failure(&cut), Some((Some("truncated".to_owned()), expected)), "{dialect}");
        assert_eq!(collect(cut).text(), "Hi", "{dialect}");
        let expected = "the stream ended before the answer began".to_owned();
        assert_eq!(failure(&events_of(dialect, "")), Some((Some("truncated".to_owned()), expected)), "{dialect}");
    }
}

#[test]
fn a_broken_frame_ends_the_stream_with_its_number_and_its_beginning() {
    for dialect in Dialect::PROVIDERS {
        let (begin, end) = hello(dialect);
        let number = begin.matches("data:").count() + 1;
        for broken in ["{\"type\": \"x", "17", "\"text\"", "nonsense", &format!("{{{}", "é".repeat(1000))] {
            let events = events_of(dialect, &format!("{begin}data: {broken}\n\n{end}"));
            let (code, message) = failure(&events).unwrap();
            let expected = format!("event {number} of the stream cannot be read (");
            assert!(code.is_none() && message.starts_with(&expected), "{dialect}: {message}");
            let excerpt: String = broken.chars().take(200).collect();
            assert!(message.ends_with(&format!("; it begins: {excerpt}")), "{dialect}: {message}");
            assert_eq!(collect(events).text(), "Hi", "{dialect}");
        }
    }
}

#[test]
fn an_unknown_frame_is_passed_on_behind_the_start() {
    for dialect in [Dialect::Anthropic, Dialect::OpenaiResponses, Dialect::BedrockConverse] {
        let (begin, end) = hello(dialect);
        let unknown = r#"{"type":"brand.new","n":1.50}"#;
        for stream in [format!("{begin}data: {unknown}\n\n{end}"), format!("data: {unknown}\n\n{begin}{end}")] {
            let events = events_of(dialect, &stream);
            assert_eq!((failure(&events), others(&events)), (None, vec![unknown]), "{dialect}");
            assert_eq!(collect(events).text(), "Hi", "{dialect}");
        }
    }
}

#[test]
fn nothing_is_read_after_the_end() {
    // A Gemini stream ends only with its bytes.
    for dialect in Dialect::PROVIDERS.into_iter().filter(|dialect| *dialect != Dialect::Gemini) {
        let (begin, end) = hello(dialect);
        let once = events_of(dialect, &[begin, end].concat());
        let again = events_of(dialect, &[begin, end, begin, end, "data: nonsense\n\n"].concat());
        assert_eq!(again, once, "{dialect}");
    }
}

#[test]
fn blocks_are_bounded() {
    let limits = Limits { blocks: 0, ..Limits::default() };
    for dialect in Dialect::PROVIDERS {
        let (begin, end) = hello(dialect);
        let (code, _) = failure(&events_within(dialect, &[begin, end].concat(), &limits)).unwrap();
        assert_eq!(code.as_deref(), Some("limit_reached"), "{dialect}");
    }
}

/// Returns a complete answer of each dialect that says "Hi".
fn whole(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => {
            r#"{"type":"message","id":"a","model":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}"#
        }
        Dialect::OpenaiChat => {
            r#"{"id":"a","model":"m","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}"#
        }
        Dialect::OpenaiResponses => concat!(
            r#"{"object":"response","id":"a","model":"m","status":"completed","error":null,"output":"#,
            r#"[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]}"#
        ),
        Dialect::Gemini => {
            r#"{"responseId":"a","modelVersion":"m","candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}"#
        }
        Dialect::BedrockConverse => {
            r#"{"output":{"message":{"content":[{"text":"Hi"}]}},"stopReason":"end_turn","usage":{"inputTokens":1}}"#
        }
    }
}

#[test]
fn an_answer_in_one_piece_is_its_events() {
    for dialect in Dialect::PROVIDERS {
        let body = whole(dialect);
        let response = dialect.decode_response(body.as_bytes(), &mut Ids::default(), &Limits::default()).unwrap();
        for sse in [body.to_owned(), format!("data: {body}\n\n"), body.replace(":{", ":\n  {")] {
            let events = events_of(dialect, &sse);
            assert_eq!(collect(events.clone()).text(), "Hi", "{dialect}: {sse}");
            // A whole answer of Gemini is a frame like any other.
            if dialect != Dialect::Gemini {
                assert_eq!(events, crate::events(&response), "{dialect}: {sse}");
            }
        }
    }
}

#[test]
fn an_answer_in_one_piece_that_is_cut_off_or_comes_late_is_not_an_answer() {
    for dialect in Dialect::PROVIDERS {
        let (begin, _) = hello(dialect);
        let cut = whole(dialect).split_at(whole(dialect).len() - 9).0;
        let expected = Some((Some("truncated".to_owned()), "the stream ended before the answer began".to_owned()));
        assert_eq!(failure(&events_of(dialect, cut)), expected, "{dialect}");
        if ![Dialect::Gemini, Dialect::OpenaiChat].contains(&dialect) {
            let late = events_of(dialect, &format!("{begin}data: {}\n\n", whole(dialect)));
            assert_eq!(others(&late), [whole(dialect)], "{dialect}");
            assert_eq!(failure(&late).unwrap().0.as_deref(), Some("truncated"), "{dialect}");
        }
    }
}

#[test]
fn a_failure_in_place_of_a_stream_is_that_failure() {
    for dialect in Dialect::PROVIDERS {
        let bodies = match dialect {
            Dialect::Anthropic => {
                [r#"{"type":"error","error":{"type":"api_error","message":"down"}}"#, r#"{"error":"down"}"#]
            }
            Dialect::OpenaiChat | Dialect::OpenaiResponses => {
                [r#"{"error":{"message":"down"}}"#, r#"{"detail":"down"}"#]
            }
            Dialect::Gemini => {
                [r#"{"error":{"code":500,"message":"down","status":"INTERNAL"}}"#, r#"[{"error":{"message":"down"}}]"#]
            }
            Dialect::BedrockConverse => [r#"{"message":"down"}"#, r#"{"Message":"down","__type":"x"}"#],
        };
        for body in bodies {
            let events = events_of(dialect, body);
            assert!(failure(&events).is_some_and(|(_, message)| message.contains("down")), "{dialect}: {events:?}");
            assert_eq!(events.len(), 1, "{dialect}: {body}");
        }
    }
}
