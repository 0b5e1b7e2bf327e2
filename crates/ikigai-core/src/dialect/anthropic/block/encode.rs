//! Canonical blocks to wire ones: the parts that requests and answers share.

use serde_json::{Map, Value};

use crate::{Source, ToolCall};

type Fields = Map<String, Value>;

fn start(kind: &str) -> Fields {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), kind.into());
    fields
}

/// Puts the wire fields back that the format had no place for, unless something stands there now.
pub(in super::super) fn put_back(fields: &mut Fields, own: Option<&Fields>) {
    let Some(extra) = own.and_then(|own| own.get("extra")).and_then(Value::as_object) else { return };
    for (key, value) in extra {
        if !fields.contains_key(key) {
            fields.insert(key.clone(), value.clone());
        }
    }
}

pub(in super::super) fn text(text: &str, cache: Option<Value>, own: Option<&Fields>) -> Fields {
    let mut fields = start("text");
    fields.insert("text".to_owned(), text.into());
    if let Some(cache) = cache {
        fields.insert("cache_control".to_owned(), cache);
    }
    put_back(&mut fields, own);
    fields
}

pub(in super::super) fn thinking(text: &str, signature: Option<&str>, own: Option<&Fields>) -> Fields {
    let mut fields = start("thinking");
    fields.insert("thinking".to_owned(), text.into());
    if let Some(signature) = signature {
        fields.insert("signature".to_owned(), signature.into());
    }
    put_back(&mut fields, own);
    fields
}

pub(in super::super) fn redacted(data: &Value, own: Option<&Fields>) -> Fields {
    let mut fields = start("redacted_thinking");
    fields.insert("data".to_owned(), data.clone());
    put_back(&mut fields, own);
    fields
}

pub(in super::super) fn tool_use(
    call: &ToolCall,
    id: &str,
    name: &str,
    cache: Option<Value>,
    own: Option<&Fields>,
) -> Fields {
    let mut fields = start("tool_use");
    fields.insert("id".to_owned(), id.into());
    fields.insert("name".to_owned(), name.into());
    if let Some(input) = input(call, own) {
        fields.insert("input".to_owned(), input);
    }
    if let Some(cache) = cache {
        fields.insert("cache_control".to_owned(), cache);
    }
    put_back(&mut fields, own);
    fields
}

/// The arguments as the wire has them: an object, or what stood there when the call is still what it was.
fn input(call: &ToolCall, own: Option<&Fields>) -> Option<Value> {
    if !call.arguments.is_complete()
        && let Ok(raw) = serde_json::from_str(call.arguments.text())
    {
        return Some(raw);
    }
    let was_absent = own.and_then(|own| own.get("no_input")).is_some();
    (!was_absent || !call.arguments.is_empty()).then(|| Value::Object(call.arguments.object().clone()))
}

/// A source, as it came where it still means the same.
pub(in super::super) fn source(source: &Source) -> Value {
    let (kind, pairs): (&str, Vec<(&str, &str)>) = match source {
        Source::Base64 { media_type, data } => ("base64", vec![("media_type", media_type), ("data", data)]),
        Source::Text { media_type, text } => ("text", vec![("media_type", media_type), ("data", text)]),
        Source::Url { url, .. } => ("url", vec![("url", url)]),
        Source::File { id, .. } => ("file", vec![("file_id", id)]),
    };
    let mut fields = start(kind);
    for (key, value) in pairs {
        fields.insert(key.to_owned(), value.into());
    }
    Value::Object(fields)
}
