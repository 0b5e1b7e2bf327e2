//! What the programs of the benchmark share: requests, answers and connections.

use bytes::Bytes;
use serde_json::{Value, json};

/// How many deltas a paced stream has, and how far apart they are.
pub const PACED: (usize, u64) = (50, 10);
/// How many deltas a burst has.
pub const BURST: usize = 100;

/// A Chat Completions request of about this many bytes. The model's name tells the provider how to answer.
pub fn question(model: &str, bytes: usize, streams: bool) -> Bytes {
    let mut messages = vec![json!({"role": "system", "content": "You are helpful."})];
    let mut turn = 0;
    let mut length = 0;
    while length < bytes {
        turn += 1;
        let text = format!("Line {turn} of \"a file\":\n\tlet value = compute(x, y) + {turn};\n").repeat(20);
        length += text.len() * 11 / 10 + 300;
        let id = format!("call_{turn:08}");
        let call = json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": format!("{{\"path\": \"src/file_{turn}.rs\"}}")}});
        messages.push(json!({"role": "user", "content": format!("What is in file {turn}?")}));
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
        messages.push(json!({"role": "assistant", "content": "It holds a computation."}));
    }
    messages.push(json!({"role": "user", "content": "Say hello."}));
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tool = json!({"type": "function", "function": {"name": "read_file", "description": "Reads a file.", "parameters": parameters}});
    let body = json!({"model": model, "stream": streams, "messages": messages, "tools": [tool]});
    body.to_string().into()
}

/// A whole answer, of Messages if `is_messages` is set, otherwise of Chat Completions.
pub fn answer(is_messages: bool) -> Bytes {
    let body = if is_messages {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
               "content": [{"type": "text", "text": "Hello! How can I help you today?"}], "stop_reason": "end_turn",
               "stop_sequence": null, "usage": {"input_tokens": 12, "output_tokens": 9}})
    } else {
        json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4.1", "choices": [{"index": 0,
               "message": {"role": "assistant", "content": "Hello! How can I help you today?", "refusal": null},
               "logprobs": null, "finish_reason": "stop"}],
               "usage": {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}})
    };
    body.to_string().into()
}

/// The events of a streamed answer.
pub fn events(is_messages: bool, deltas: usize) -> Vec<Bytes> {
    let event = |name: &str, data: Value| match name {
        "" => Bytes::from(format!("data: {data}\n\n")),
        name => Bytes::from(format!("event: {name}\ndata: {data}\n\n")),
    };
    let mut events = Vec::new();
    if is_messages {
        events.push(event("message_start", json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
            "role": "assistant", "model": "claude-sonnet-4-5", "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 12, "output_tokens": 1}}})));
        events.push(event(
            "content_block_start",
            json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}}),
        ));
        for place in 0..deltas {
            events.push(event(
                "content_block_delta",
                json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": format!(" word{place}")}}),
            ));
        }
        events.push(event("content_block_stop", json!({"type": "content_block_stop", "index": 0})));
        events.push(event(
            "message_delta",
            json!({"type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": deltas}}),
        ));
        events.push(event("message_stop", json!({"type": "message_stop"})));
        return events;
    }
    let chunk = |delta: Value, finish: Value| {
        event(
            "",
            json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1",
            "system_fingerprint": "fp_1", "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]}),
        )
    };
    events.push(chunk(json!({"role": "assistant", "content": ""}), Value::Null));
    events.extend((0..deltas).map(|place| chunk(json!({"content": format!(" word{place}")}), Value::Null)));
    events.push(chunk(json!({}), json!("stop")));
    events.push(Bytes::from_static(b"data: [DONE]\n\n"));
    events
}
