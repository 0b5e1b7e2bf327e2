//! Whole answers: a body of Converse to one of Anthropic's Messages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::messages::BYTES;
use super::{Fields, OWN, str_of};

/// Writes an answer anew. What is no answer stays as it is, for the dialect to tell.
pub(super) fn rewrite(body: Value, model: &str) -> Value {
    let Value::Object(mut fields) = body else { return body };
    let Some(Value::Object(mut output)) = fields.shift_remove("output") else { return Value::Object(fields) };
    let content = match output.get_mut("message").and_then(|message| message.get_mut("content")).map(Value::take) {
        Some(Value::Array(blocks)) => blocks.into_iter().map(read_block).collect(),
        _ => Vec::new(),
    };
    let mut answer = start(model);
    answer.insert("content".to_owned(), Value::Array(content));
    let usage = fields.shift_remove("usage");
    finish(fields, &mut answer);
    if let Some(Value::Object(usage)) = usage {
        answer.insert("usage".to_owned(), read_usage(usage));
    }
    Value::Object(answer)
}

/// What every answer begins with. Converse gives no id, and does not repeat the model.
pub(super) fn start(model: &str) -> Fields {
    let head = [("type", "message"), ("role", "assistant"), ("model", model)];
    head.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

/// Why the answer ended; what else stands beside it (`metrics`, `trace` and so on) is kept together.
pub(super) fn finish(mut fields: Fields, answer: &mut Fields) {
    if let Some(Value::String(word)) = fields.get("stopReason") {
        let known = match word.as_str() {
            "guardrail_intervened" | "content_filtered" => "refusal",
            other => other,
        };
        answer.insert("stop_reason".to_owned(), known.into());
        if known == word {
            fields.shift_remove("stopReason");
        }
    }
    if !fields.is_empty() {
        answer.insert(OWN.to_owned(), Value::Object(fields));
    }
}

/// The counts. Those of the cache stand beside the input's here as there; the total and the older names say nothing more.
pub(super) fn read_usage(mut counts: Fields) -> Value {
    let mut usage = Fields::new();
    let names = [
        ("inputTokens", "input_tokens"),
        ("cacheWriteInputTokens", "cache_creation_input_tokens"),
        ("cacheReadInputTokens", "cache_read_input_tokens"),
        ("outputTokens", "output_tokens"),
    ];
    for (theirs, ours) in names {
        if let Some(count) = counts.shift_remove(theirs) {
            usage.insert(ours.to_owned(), count);
        }
    }
    for said in ["totalTokens", "cacheReadInputTokenCount", "cacheWriteInputTokenCount"] {
        counts.shift_remove(said);
    }
    if let Some(Value::Array(details)) = counts.shift_remove("cacheDetails") {
        let lasting = |ttl: &str| {
            let counts = details.iter().filter(|detail| detail.get("ttl").and_then(Value::as_str) == Some(ttl));
            counts.filter_map(|detail| detail.get("inputTokens")?.as_u64()).sum::<u64>()
        };
        let split = json!({"ephemeral_5m_input_tokens": lasting("5m"), "ephemeral_1h_input_tokens": lasting("1h")});
        usage.insert("cache_creation".to_owned(), split);
    }
    counts.retain(|_, value| value.as_object().is_none_or(|inner| !inner.is_empty()));
    usage.extend(counts);
    Value::Object(usage)
}

/// A block in the dialect's words; one that only Converse knows is kept as it is.
pub(super) fn read_block(content: Value) -> Value {
    let Value::Object(fields) = &content else { return keep(content) };
    let inner = |key: &str| fields.get(key).and_then(Value::as_object);
    if let Some(text) = fields.get("text").and_then(Value::as_str) {
        return json!({"type": "text", "text": text});
    }
    if let Some(call) = inner("toolUse") {
        return read_call(call);
    }
    if let Some(thinking) = inner("reasoningContent") {
        if let Some(text) = thinking.get("reasoningText").and_then(Value::as_object) {
            let mut block = json!({"type": "thinking", "thinking": str_of(text, "text")});
            if let (Some(block), Some(signature)) = (block.as_object_mut(), text.get("signature")) {
                block.insert("signature".to_owned(), signature.clone());
            }
            return block;
        }
        if let Some(bytes) = thinking.get("redactedContent").and_then(Value::as_str) {
            return read_redacted(bytes);
        }
    }
    if let Some(cited) = inner("citationsContent") {
        let texts = cited.get("content").and_then(Value::as_array).into_iter().flatten();
        let text: String = texts.filter_map(|inner| inner.get("text")?.as_str()).collect();
        let citations = cited.get("citations").cloned().unwrap_or_else(|| json!([]));
        return json!({"type": "text", "text": text, "citations": citations});
    }
    keep(content)
}

fn keep(content: Value) -> Value {
    json!({"type": OWN, "block": content})
}

/// A call: of ours, or of a tool that the provider runs itself.
pub(super) fn read_call(call: &Fields) -> Value {
    let kind = if str_of(call, "type") == "server_tool_use" { "server_tool_use" } else { "tool_use" };
    let input = call.get("input").cloned().unwrap_or_else(|| json!({}));
    json!({"type": kind, "id": str_of(call, "toolUseId"), "name": str_of(call, "name"), "input": input})
}

/// Redacted thinking is a text inside the bytes; where it is none, it stays as it came.
pub(super) fn read_redacted(bytes: &str) -> Value {
    let text = STANDARD.decode(bytes).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.filter(|text| !text.starts_with(BYTES)).unwrap_or_else(|| format!("{BYTES}{bytes}"));
    json!({"type": "redacted_thinking", "data": text})
}
