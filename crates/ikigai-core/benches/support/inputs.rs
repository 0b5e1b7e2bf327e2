//! The inputs: streams of a thousand text deltas, and small and large requests, in every dialect.

use std::fmt::Write as _;

use ikigai_core::catalog::Rules;
use ikigai_core::provider::Quirks;
use ikigai_core::wire::Target;
use ikigai_core::{Block, Dialect, Limits, Message, Request, Role, Tool};
use serde_json::{Map, Value, json};

/// The number of text deltas in a stream.
pub(crate) const DELTAS: usize = 1_000;

/// Returns the bytes of a stream, written by hand so that they are the provider's and not our encoder's.
pub(crate) fn stream(dialect: Dialect) -> Vec<u8> {
    let mut out = String::new();
    match dialect {
        Dialect::Anthropic => anthropic(&mut out),
        Dialect::OpenaiChat => openai_chat(&mut out),
        Dialect::OpenaiResponses => openai_responses(&mut out),
        Dialect::Gemini => gemini(&mut out),
        Dialect::BedrockConverse => bedrock_converse(&mut out),
        _ => {}
    }
    out.into_bytes()
}

/// Returns a piece of an answer, about as long as a token; every tenth one contains something to escape.
fn piece(at: usize) -> &'static str {
    match at % 10 {
        0 => "Hello",
        1 => " world",
        2 => ", this",
        3 => " is",
        4 => " a",
        5 => " piece",
        6 => " of",
        7 => " text",
        8 => " grüße",
        _ => ".\\n",
    }
}

fn event(out: &mut String, name: &str, data: impl std::fmt::Display) {
    // Writing to a String cannot fail.
    let _ = write!(out, "event: {name}\ndata: {data}\n\n");
}

fn anthropic(out: &mut String) {
    event(
        out,
        "message_start",
        r#"{"type":"message_start","message":{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}"#,
    );
    event(
        out,
        "content_block_start",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    );
    for at in 0..DELTAS {
        event(
            out,
            "content_block_delta",
            format_args!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{}"}}}}"#,
                piece(at)
            ),
        );
    }
    event(out, "content_block_stop", r#"{"type":"content_block_stop","index":0}"#);
    event(
        out,
        "message_delta",
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1000}}"#,
    );
    event(out, "message_stop", r#"{"type":"message_stop"}"#);
}

fn openai_chat(out: &mut String) {
    let mut chunk = |choices: std::fmt::Arguments<'_>, usage: &str| {
        let _ = write!(
            out,
            r#"data: {{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz","object":"chat.completion.chunk","created":1770933883,"model":"gpt-4.1-nano-2025-04-14","service_tier":"default","system_fingerprint":"fp_1234567890","choices":{choices},"usage":{usage}}}"#
        );
        out.push_str("\n\n");
    };
    chunk(
        format_args!(
            r#"[{{"index":0,"delta":{{"role":"assistant","content":"","refusal":null}},"logprobs":null,"finish_reason":null}}]"#
        ),
        "null",
    );
    for at in 0..DELTAS {
        let text = piece(at);
        chunk(
            format_args!(r#"[{{"index":0,"delta":{{"content":"{text}"}},"logprobs":null,"finish_reason":null}}]"#),
            "null",
        );
    }
    chunk(format_args!(r#"[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":"stop"}}]"#), "null");
    chunk(
        format_args!("[]"),
        r#"{"prompt_tokens":25,"completion_tokens":1000,"total_tokens":1025,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}"#,
    );
    out.push_str("data: [DONE]\n\n");
}

fn openai_responses(out: &mut String) {
    let response = |status: &str, output: &str, usage: &str| {
        format!(
            r#"{{"id":"resp_0123456789abcdef","object":"response","created_at":1765552659,"status":"{status}","error":null,"incomplete_details":null,"instructions":null,"model":"gpt-5.1-2025-11-13","output":{output},"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"temperature":1,"top_p":1,"metadata":{{}},"usage":{usage}}}"#
        )
    };
    let mut number = 0;
    let mut push = |kind: &str, fields: std::fmt::Arguments<'_>| {
        event(out, kind, format_args!(r#"{{"type":"{kind}","sequence_number":{number},{fields}}}"#));
        number += 1;
    };
    let begun = response("in_progress", "[]", "null");
    push("response.created", format_args!(r#""response":{begun}"#));
    push("response.in_progress", format_args!(r#""response":{begun}"#));
    push(
        "response.output_item.added",
        format_args!(
            r#""output_index":0,"item":{{"id":"msg_01","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#
        ),
    );
    push(
        "response.content_part.added",
        format_args!(
            r#""item_id":"msg_01","output_index":0,"content_index":0,"part":{{"type":"output_text","annotations":[],"logprobs":[],"text":""}}"#
        ),
    );
    let mut whole = String::new();
    for at in 0..DELTAS {
        let text = piece(at);
        whole.push_str(text);
        push(
            "response.output_text.delta",
            format_args!(
                r#""item_id":"msg_01","output_index":0,"content_index":0,"delta":"{text}","logprobs":[],"obfuscation":"a1B2c3D4""#
            ),
        );
    }
    push(
        "response.output_text.done",
        format_args!(r#""item_id":"msg_01","output_index":0,"content_index":0,"text":"{whole}","logprobs":[]"#),
    );
    let part = format!(r#"{{"type":"output_text","annotations":[],"logprobs":[],"text":"{whole}"}}"#);
    push(
        "response.content_part.done",
        format_args!(r#""item_id":"msg_01","output_index":0,"content_index":0,"part":{part}"#),
    );
    let item =
        format!(r#"{{"id":"msg_01","type":"message","status":"completed","content":[{part}],"role":"assistant"}}"#);
    push("response.output_item.done", format_args!(r#""output_index":0,"item":{item}"#));
    let done = response(
        "completed",
        &format!("[{item}]"),
        r#"{"input_tokens":25,"input_tokens_details":{"cached_tokens":0},"output_tokens":1000,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":1025}"#,
    );
    push("response.completed", format_args!(r#""response":{done}"#));
}

fn gemini(out: &mut String) {
    for at in 0..=DELTAS {
        let (text, finish) = if at < DELTAS { (piece(at), "") } else { ("", r#","finishReason":"STOP""#) };
        let _ = write!(
            out,
            r#"data: {{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}],"role":"model"}}{finish},"index":0}}],"usageMetadata":{{"promptTokenCount":25,"candidatesTokenCount":{at},"totalTokenCount":{},"promptTokensDetails":[{{"modality":"TEXT","tokenCount":25}}]}},"modelVersion":"gemini-2.5-flash","responseId":"QHiLaZ3qDcW1xs0P5o6H4Ac"}}"#,
            at + 25
        );
        out.push_str("\r\n\r\n");
    }
}

fn bedrock_converse(out: &mut String) {
    for at in 0..DELTAS {
        let text = piece(at);
        let _ = write!(
            out,
            r#"data: {{"contentBlockDelta":{{"contentBlockIndex":0,"delta":{{"text":"{text}"}},"p":"abcdefghijkl"}}}}"#
        );
        out.push_str("\n\n");
    }
    out.push_str("data: {\"contentBlockStop\":{\"contentBlockIndex\":0}}\n\n");
    out.push_str("data: {\"messageStop\":{\"stopReason\":\"end_turn\"}}\n\n");
    out.push_str(
        "data: {\"metadata\":{\"usage\":{\"inputTokens\":25,\"outputTokens\":1000,\"totalTokens\":1025}}}\n\n",
    );
}

/// The size of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Size {
    /// One question.
    Small,
    /// About 200 KB: twenty tools and two hundred turns with calls and results.
    Large,
}

/// Returns a request in the canonical format.
pub(crate) fn request(size: Size) -> Request {
    let request = Request::new("some-model").system("You are helpful.").max_output_tokens(4096);
    match size {
        Size::Small => request.user("What is the capital of France?"),
        Size::Large => large(request),
    }
}

fn large(mut request: Request) -> Request {
    let paragraph = "The quick brown fox jumps over the lazy dog, \"again\" and again.\n".repeat(6);
    for at in 0..20 {
        request = request.tool(
            Tool::new(format!("tool_{at}"), "Does one of the twenty things that can be done here.").parameters(json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Where it is."},
                    "mode": {"type": "string", "enum": ["read", "write", "append"]},
                    "lines": {"type": "array", "items": {"type": "integer"}},
                    "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}, "required": ["deep"], "additionalProperties": false},
                },
                "required": ["path", "mode", "lines", "options"],
                "additionalProperties": false,
            })),
        );
    }
    for at in 0..100 {
        let id = format!("call_{at}");
        let arguments = Map::from_iter([
            ("path".to_owned(), Value::from(format!("/srv/data/{at}.txt"))),
            ("mode".to_owned(), Value::from("read")),
            ("lines".to_owned(), json!([1, 2, 3, 4, 5, 6, 7, 8])),
            ("options".to_owned(), json!({"deep": true})),
        ]);
        let call = Block::tool_call(&id, format!("tool_{}", at % 20), arguments);
        request = request
            .user(paragraph.as_str())
            .message(Message::new(Role::Assistant, [Block::text(paragraph.as_str()), call]))
            .tool_result(id, paragraph.repeat(2))
            .assistant(paragraph.as_str());
    }
    request.user("And now?")
}

/// Returns a request on the wire: its path and the bytes of its body.
pub(crate) fn wire_request(dialect: Dialect, size: Size) -> (String, Vec<u8>) {
    match with_target(|target| dialect.encode_request(&request(size), target, &Limits::default()).ok()) {
        Some(wire) => (wire.path, wire.body),
        None => (String::new(), Vec::new()),
    }
}

/// Calls `action` with a model about which nothing is known.
pub(crate) fn with_target<T>(action: impl FnOnce(&Target<'_>) -> T) -> T {
    let (quirks, rules) = (Quirks::default(), Rules::default());
    action(&Target::new("bench", &quirks, &rules))
}
