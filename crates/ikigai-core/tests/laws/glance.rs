//! Frames that look like the previous one are read without a parser, and give the same result as the parser.

use ikigai_core::{Dialect, Event};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::cases::cases;
use crate::support::wire::decode;

/// Returns frames with a placeholder for a text and one for a number: the beginning of a stream, frames that may follow
/// in any order, and its end.
fn frames(dialect: Dialect) -> (&'static [&'static str], &'static [&'static str], &'static [&'static str]) {
    match dialect {
        Dialect::Anthropic => (
            &[
                r#"{"type":"message_start","message":{"id":"a","model":"m","content":[]}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}"#,
            ],
            &[
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":TEXT}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":TEXT}}"#,
                r#"{"type":"content_block_delta","index":NUMBER,"delta":{"type":"text_delta","text":TEXT}}"#,
            ],
            &[r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#, r#"{"type":"message_stop"}"#],
        ),
        Dialect::OpenaiChat => (
            &[
                r#"{"id":"a","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            ],
            &[
                r#"{"id":"a","created":1,"choices":[{"index":0,"delta":{"content":TEXT},"logprobs":null}],"usage":null}"#,
                r#"{"id":TEXT,"created":NUMBER,"choices":[{"index":0,"delta":{"content":"said"}}],"p":"abc"}"#,
                r#"{"id":"a","choices":[{"index":0,"delta":{"content":TEXT}}],"usage":{"prompt_tokens":2,"completion_tokens":NUMBER}}"#,
                r#"{"id":"a","choices":[{"index":0,"delta":{"content":"said"},"logprobs":{"content":[{"token":TEXT,"bytes":[NUMBER]}],"refusal":null}}]}"#,
                r#"{"id":"a","choices":[{"index":0,"delta":{"content":"said"},"logprobs":{"content":[],"refusal":[{"token":TEXT}]}}]}"#,
                r#"{"id":"a","choices":[{"index":0,"delta":{"content":"","reasoning_content":TEXT}}]}"#,
                r#"{"id":"a","choices":[{"index":0,"delta":{"reasoning":TEXT}}],"tier":NUMBER}"#,
                r#"{"id":"a","choices":[{"index":0,"delta":{"content":TEXT,"thinking":"so far"},"mark":{"text":"b"}}]}"#,
                r#"{"id":"a","choices":[{"index":0,"delta":{"content":TEXT},"mark":{"a":[1]}}],"obfuscation":TEXT}"#,
                r#"{"id":"a","choices":[{"index":NUMBER,"delta":{"content":TEXT}}]}"#,
                r#"{"id":"a","choices":[{"index":0,"delta":{"content":TEXT,"refusal":TEXT}}],"tier":"x"}"#,
            ],
            &[r#"{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"],
        ),
        Dialect::OpenaiResponses => (
            &[
                r#"{"type":"response.created","response":{"id":"a","model":"m","output":[]}}"#,
                r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"f","call_id":"c","name":"n","arguments":""}}"#,
            ],
            &[
                r#"{"type":"response.output_text.delta","sequence_number":NUMBER,"item_id":"i","output_index":0,"content_index":0,"delta":TEXT,"logprobs":[],"obfuscation":"ab"}"#,
                r#"{"type":"response.output_text.delta","item_id":TEXT,"output_index":0,"content_index":0,"delta":"said"}"#,
                r#"{"type":"response.output_text.delta","output_index":0,"content_index":NUMBER,"delta":TEXT}"#,
                r#"{"type":"response.output_text.delta","content_index":0,"delta":TEXT}"#,
                r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":TEXT}"#,
                r#"{"type":"response.reasoning_summary_text.delta","output_index":2,"summary_index":0,"delta":TEXT}"#,
            ],
            &[r#"{"type":"response.completed","response":{"id":"a","model":"m","status":"completed"}}"#],
        ),
        Dialect::Gemini => (
            &[r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"modelVersion":"m","responseId":"a"}"#],
            &[
                r#"{"candidates":[{"content":{"parts":[{"text":TEXT}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":NUMBER,"totalTokenCount":NUMBER}}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":TEXT}]}}],"usageMetadata":{"promptTokenCount":5,"promptTokensDetails":[{"tokenCount":NUMBER}]}}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":TEXT,"thought":true}]}}]}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":TEXT}]},"avgLogprobs":NUMBER}],"usageMetadata":{"promptTokenCount":"NUMBER"}}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":TEXT,"thoughtSignature":"s"}]}}]}"#,
                r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":TEXT}}}]}}]}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":TEXT},{"text":TEXT}]}}]}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":TEXT}]},"index":NUMBER}],"createTime":TEXT}"#,
            ],
            &[r#"{"candidates":[{"finishReason":"STOP"}]}"#],
        ),
        _ => panic!("frames of {dialect} are missing here"),
    }
}

/// Returns the events of a stream, without the message of an error, which quotes the frame.
fn read(dialect: Dialect, frames: &[String]) -> Vec<Event> {
    let sse: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
    let mut events = decode(dialect, sse.as_bytes());
    if let Some(Event::Error { error }) = events.last_mut() {
        error.message.clear();
    }
    events
}

/// The values for one frame: its text, whether that is escaped, its number, and something in the wrong place.
type Filling = (String, bool, u64, Option<(usize, String)>);

fn filled(template: &str, (text, escaped, number, junk): &Filling) -> String {
    let text = if *escaped {
        // Half a character may be left over.
        let units = text.encode_utf16().skip(usize::from(*number == 1));
        format!("\"{}\"", units.map(|unit| format!("\\u{unit:04x}")).collect::<String>())
    } else {
        Value::from(text.as_str()).to_string()
    };
    let mut frame = template.replace("NUMBER", &number.to_string()).replace("TEXT", &text);
    if let Some((at, junk)) = junk {
        frame.insert_str(frame.floor_char_boundary(at % frame.len()), junk);
    }
    frame
}

fn filling() -> impl Strategy<Value = Filling> {
    let junk = proptest::option::weighted(0.02, (any::<usize>(), "[\"{}:,0-9a\\\\]{1,2}"));
    (".{0,6}", any::<bool>(), 0..4_u64, junk)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn what_is_read_at_a_glance_is_what_the_parser_reads(
        runs in proptest::collection::vec((any::<usize>(), proptest::collection::vec(filling(), 1..5)), 1..6),
    ) {
        for dialect in Dialect::ALL {
            let (start, templates, end) = frames(dialect);
            let mut all: Vec<String> = start.iter().map(|frame| (*frame).to_owned()).collect();
            for (which, fillings) in &runs {
                let template = templates[which % templates.len()];
                all.extend(fillings.iter().map(|filling| filled(template, filling)));
            }
            all.extend(end.iter().map(|frame| (*frame).to_owned()));
            // With blanks that differ from frame to frame, no frame is like the previous one.
            let blanks = |number: usize| format!("{{{}", " ".repeat(1 + number % 2));
            let unlike: Vec<String> =
                all.iter().enumerate().map(|(number, frame)| frame.replacen('{', &blanks(number), 1)).collect();
            assert_eq!(read(dialect, &all), read(dialect, &unlike), "{all:#?}");
        }
    }
}
