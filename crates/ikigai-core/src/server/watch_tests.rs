use pretty_assertions::assert_eq;

use super::*;
use crate::wire::{Ids, StreamDecoder};
use crate::{ErrorKind, Event};

fn watched<'a>(dialect: Dialect, delivery: Delivery, pieces: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let mut watch = Watch::new(dialect, delivery);
    for piece in pieces {
        watch.feed(piece);
    }
    watch.finish()
}

fn stream(dialect: Dialect, text: &str) -> Seen {
    let seen = watched(dialect, Delivery::Stream, [text.as_bytes()]);
    for size in [1, 5, 4096, 10_000] {
        assert_eq!(watched(dialect, Delivery::Stream, text.as_bytes().chunks(size)), seen, "in pieces of {size}");
    }
    seen
}

/// Returns what decoding gives: the usage, and why the answer ended.
fn decoded(dialect: Dialect, text: &str) -> (Option<Usage>, Option<FinishReason>) {
    let mut decoder = StreamDecoder::new(dialect, Ids::default(), &crate::Limits::default());
    let mut events = Vec::new();
    decoder.feed(text.as_bytes(), &mut events);
    decoder.end(&mut events);
    let mut account = (None, None);
    for event in events {
        match event {
            Event::Usage { usage } => account.0 = Some(usage),
            Event::Done { finish_reason, .. } => account.1 = Some(finish_reason),
            _ => {}
        }
    }
    account
}

/// Frames that are too large to be held are read nevertheless.
#[test]
fn large_frames_are_read_piece_by_piece() {
    let long = "Wörter \\\"und\\\" mehr \\\\ ".repeat(4_000);
    let anthropic = format!(
        "event: message_start\ndata: {{\"message\":{{\"content\":[],\"x\":\"{long}\",\"id\":\"m1\",\"usage\":{{\"input_tokens\":3}}}},\"type\":\"message_start\"}}\n\n\
         event: content_block_delta\ndata: {{\"delta\":{{\"text\":\"{long}\",\"type\":\"text_delta\"}},\"index\":0,\"type\":\"content_block_delta\"}}\n\n\
         data: {{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{{\"a\":\"{long}\"}}}}}}\n\n\
         data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\"}},\"usage\":{{\"output_tokens\":5}}}}\n\n\
         data: {{\"type\":\"message_stop\"}}\n\n"
    );
    let item = format!(
        "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\"text\":\"{long}\"}}]}}"
    );
    let responses = format!(
        "data: {{\"type\":\"response.created\",\"response\":{{\"instructions\":\"{long}\",\"id\":\"r1\",\"model\":\"m\"}}}}\n\n\
         data: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{item}}}\n\n\
         data: {{\"type\":\"response.completed\",\"response\":{{\"id\":\"r1\",\"status\":\"completed\",\"output\":[{item}],\
         \"usage\":{{\"input_tokens\":9,\"output_tokens\":4}}}}}}\n\n"
    );
    let gemini = format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"inlineData\":{{\"mimeType\":\"image/png\",\"data\":\"{}\"}}}}]}},\
         \"finishReason\":\"STOP\"}}],\"usageMetadata\":{{\"promptTokenCount\":1,\"candidatesTokenCount\":2,\"totalTokenCount\":3}}}}\n\n",
        "QUJD".repeat(50_000)
    );
    let chat = format!(
        "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{long}\"}},\"finish_reason\":\"length\"}}],\
         \"usage\":{{\"prompt_tokens\":1,\"completion_tokens\":2}}}}\n\ndata: [DONE]\n\n"
    );
    for (dialect, text) in [
        (Dialect::Anthropic, anthropic),
        (Dialect::OpenaiResponses, responses),
        (Dialect::Gemini, gemini),
        (Dialect::OpenaiChat, chat),
    ] {
        let seen = stream(dialect, &text);
        assert!(seen.ended && seen.has_output && seen.usage.is_some(), "{dialect}: {seen:?}");
        assert_eq!((seen.usage, seen.finish_reason), decoded(dialect, &text), "{dialect}");
    }
}

#[test]
fn large_errors_are_errors() {
    let long = "detail ".repeat(5_000);
    let chat = format!("data: {{\"error\":{{\"message\":\"Overloaded\",\"code\":\"x\",\"more\":\"{long}\"}}}}\n\n");
    let responses =
        format!("data: {{\"type\":\"error\",\"error\":{{\"message\":\"Overloaded\",\"more\":\"{long}\"}}}}\n\n");
    let gemini = format!("data: {{\"error\":{{\"code\":503,\"message\":\"Overloaded\",\"more\":\"{long}\"}}}}\n\n");
    for (dialect, text) in [
        (Dialect::Anthropic, responses.clone()),
        (Dialect::OpenaiChat, chat),
        (Dialect::OpenaiResponses, responses),
        (Dialect::Gemini, gemini),
    ] {
        let seen = stream(dialect, &text);
        assert_eq!(seen.error.map(|error| error.message).as_deref(), Some("Overloaded"), "{dialect}");
        assert_eq!((seen.finish_reason, seen.ended), (Some(FinishReason::Error), false), "{dialect}");
    }
}

#[test]
fn memory_does_not_grow_with_the_answer() {
    let held = |watch: &Watch| watch.0.as_ref().map_or(0, |follower| follower.held());
    let part = b"0123456789abcdef".repeat(1024);
    for (dialect, start) in [
        (Dialect::Gemini, &br#"data: {"candidates":[{"content":{"parts":[{"text":""#[..]),
        (Dialect::OpenaiChat, br#"data: {"usage":""#),
        (Dialect::OpenaiChat, b"event: "),
        (Dialect::OpenaiChat, b"data: {\""),
        (Dialect::Gemini, br#"[{"usageMetadata":["#),
    ] {
        let mut watch = Watch::new(dialect, Delivery::Stream);
        watch.feed(start);
        for _ in 0..1_000 {
            watch.feed(&part);
        }
        assert!(held(&watch) < 256 << 10, "{dialect}: {} bytes are held", held(&watch));
    }
}

const GEMINI: [&str; 3] = [
    r#"{"candidates":[{"content":{"parts":[{"text":"Hel"}]}}],"usageMetadata":{"promptTokenCount":3,"promptTokensDetails":[{"modality":"TEXT"}]},"modelVersion":"m","responseId":"r"}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"lo"}]}}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}],"usageMetadata":{"thoughtsTokenCount":2}}"#,
];

#[test]
fn a_growing_array_is_a_stream() {
    let events = GEMINI.map(|frame| format!("data: {frame}\r\n\r\n")).concat();
    let expected = stream(Dialect::Gemini, &events);
    assert_eq!((expected.usage.clone(), expected.finish_reason), decoded(Dialect::Gemini, &events));
    assert_eq!(expected.finish_reason, Some(FinishReason::ToolUse));
    let pretty = GEMINI.map(|frame| serde_json::from_str::<serde_json::Value>(frame).unwrap());
    let pretty = serde_json::to_string_pretty(&pretty).unwrap();
    let google = format!("[{}\n]\n", GEMINI.join("\n,\r\n"));
    for array in [format!("[{}]", GEMINI.join(",")), pretty, google, GEMINI.join("\n")] {
        assert_eq!(stream(Dialect::Gemini, &array), expected, "{array}");
    }
    let whole = format!("[{}]", GEMINI.join(","));
    assert_eq!(watched(Dialect::Gemini, Delivery::Whole, whole.as_bytes().chunks(3)), expected);
    // Cut off within the last frame: what had arrived counts.
    let cut = stream(Dialect::Gemini, &whole[..whole.len() - 20]);
    assert_eq!((cut.ended, cut.finish_reason, cut.has_output), (false, None, true));
    assert_eq!(cut.usage.map(|usage| usage.total_tokens()), Some(4));
}

#[test]
fn snake_case_is_followed_like_camel_case() {
    let text = |count: u64| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"x{count}\"}}]}}}}],\"usage_metadata\":{{\"prompt_token_count\":3,\"candidates_token_count\":{count},\"total_token_count\":{}}},\"model_version\":\"m\",\"response_id\":\"r\"}}\n\n",
            count + 3
        )
    };
    // Cut off after frames of one form: the counts of the last one are the right ones.
    let cut = (1..9).map(text).collect::<String>();
    let end = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"function_call\":{\"name\":\"f\"}}]},\"finish_reason\":\"STOP\"}]}\n\n";
    let whole = format!("{cut}{end}");
    for stream_text in [&cut, &whole] {
        let camel = stream_text
            .replace("usage_metadata", "usageMetadata")
            .replace("prompt_token_count", "promptTokenCount")
            .replace("candidates_token_count", "candidatesTokenCount")
            .replace("total_token_count", "totalTokenCount")
            .replace("model_version", "modelVersion")
            .replace("response_id", "responseId")
            .replace("function_call", "functionCall")
            .replace("finish_reason", "finishReason");
        let bare = |mut seen: Seen| {
            if let Some(usage) = &mut seen.usage {
                usage.provider_data = crate::ProviderData::default();
            }
            seen
        };
        let seen = bare(stream(Dialect::Gemini, stream_text));
        assert_eq!(seen, bare(stream(Dialect::Gemini, &camel)));
        assert_eq!(seen.usage.map(|usage| usage.total_tokens()), Some(11));
        assert_eq!((seen.id.as_deref(), seen.model.as_deref()), (Some("r"), Some("m")));
    }
    assert_eq!(stream(Dialect::Gemini, &whole).finish_reason, Some(FinishReason::ToolUse));
    let blocked = watched(Dialect::Gemini, Delivery::Whole, [&br#"{"prompt_feedback":{"block_reason":"SAFETY"}}"#[..]]);
    assert_eq!(blocked.finish_reason, Some(FinishReason::ContentFilter));
}

#[test]
fn framing_is_what_decoders_accept() {
    let end = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}\n\n";
    let expected = stream(Dialect::OpenaiChat, end);
    assert!(expected.ended && expected.usage.is_some());
    let lines = end.replacen("\"finish_reason\"", "\ndata: \"finish_reason\"", 1);
    for same in [
        end.replace('\n', "\r\n"),
        end.replace('\n', "\r"),
        format!("\u{feff}{end}"),
        format!(": comment\n\nid: 1\nretry: 5\nevent: x\n{end}"),
        format!("{end}data: [DONE]\n\n"),
        format!("data:\n\n{end}data:[DONE] \n\ndata: {{\"error\":{{\"message\":\"late\"}}}}\n\n"),
        end.trim_end().to_owned(),
        end.replace("data: ", "data:"),
        lines,
    ] {
        assert_eq!(stream(Dialect::OpenaiChat, &same), expected, "{same}");
        assert_eq!((expected.usage.clone(), expected.finish_reason), decoded(Dialect::OpenaiChat, &same), "{same}");
    }
}

#[test]
fn what_makes_no_sense_ends_the_watch() {
    let good = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    for broken in ["data: nonsense\n\n", "data: {\"choices\":\n\n", "data: {\"id\" 1}\n\n", "data: {} x\n\n"] {
        let seen = stream(Dialect::OpenaiChat, &format!("{good}{broken}{end}"));
        assert_eq!((seen.ended, seen.error, seen.finish_reason), (false, None, None), "{broken}");
    }
    for page in ["<html><body>Bad gateway</body></html>", "", "\n\n\n", "{", "null", "[]", "\"x\""] {
        for dialect in Dialect::ALL {
            assert_eq!(stream(dialect, page), Seen::default(), "{dialect}: {page}");
            assert_eq!(watched(dialect, Delivery::Whole, [page.as_bytes()]), Seen::default(), "{dialect}: {page}");
        }
    }
}

#[test]
fn the_first_output_is_noticed_at_once() {
    let mut watch = Watch::new(Dialect::Anthropic, Delivery::Stream);
    watch.feed(b"data: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\n");
    assert!(!watch.has_output());
    watch.feed(b"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{}}\n");
    assert!(watch.has_output());
}

#[test]
fn running_counts_of_chat_chunks_are_the_last_ones() {
    let chunk = |text: &str, count: u32| {
        format!(
            "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}],\
             \"usage\":{{\"prompt_tokens\":9,\"completion_tokens\":{count}}}}}\n\n"
        )
    };
    let text: String = (1..20).map(|count| chunk("word", count)).collect();
    let cut = stream(Dialect::OpenaiChat, &text);
    assert_eq!((cut.ended, cut.usage), (false, decoded(Dialect::OpenaiChat, &text).0));
    let done = stream(Dialect::OpenaiChat, &format!("{text}data: [DONE]\n\n"));
    assert_eq!(done.usage.map(|usage| usage.output_tokens), Some(19));
    assert_eq!((done.ended, done.finish_reason), (true, Some(FinishReason::Unknown)));
}

/// The frames of another choice are like those of the first one, but the end of one is not the end of the other.
#[test]
fn choices_are_not_confused() {
    let says = |index: u32| format!(r#"data: {{"choices":[{{"index":{index},"delta":{{"content":"x"}}}}]}}"#);
    let ends =
        |index: u32| format!(r#"data: {{"choices":[{{"index":{index},"delta":{{}},"finish_reason":"length"}}]}}"#);
    let frames = [says(0), says(1), says(0), ends(1), ends(0), "data: [DONE]".to_owned()];
    let text = frames.join("\n\n") + "\n\n";
    let seen = stream(Dialect::OpenaiChat, &text);
    assert_eq!((seen.usage, seen.finish_reason), decoded(Dialect::OpenaiChat, &text));
    assert_eq!(seen.finish_reason, Some(FinishReason::Length));
}

#[test]
fn errors_in_whole_answers_are_reported() {
    for (dialect, body, kind) in [
        (
            Dialect::Anthropic,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}"#,
            ErrorKind::RateLimit,
        ),
        (Dialect::OpenaiChat, r#"{"error":{"message":"slow","code":"rate_limit_exceeded"}}"#, ErrorKind::RateLimit),
        (
            Dialect::OpenaiResponses,
            r#"{"object":"response","status":"failed","output":[],"error":{"code":"rate_limit_exceeded","message":"slow"}}"#,
            ErrorKind::RateLimit,
        ),
        (Dialect::Gemini, r#"{"error":{"code":503,"message":"slow","status":"UNAVAILABLE"}}"#, ErrorKind::Overloaded),
    ] {
        for size in [1, body.len()] {
            let seen = watched(dialect, Delivery::Whole, body.as_bytes().chunks(size));
            let error = seen.error.map(|error| (error.kind, error.message));
            assert_eq!(error, Some((kind, "slow".to_owned())), "{dialect}");
            assert_eq!((seen.ended, seen.finish_reason), (false, Some(FinishReason::Error)), "{dialect}");
        }
    }
}
