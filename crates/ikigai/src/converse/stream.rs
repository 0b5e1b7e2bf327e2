//! Streams: events of Converse to those of Anthropic's Messages.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::response::{finish, read_call, read_redacted, read_usage, start};
use super::{Fields, OWN, str_of};

/// What a block is of which there is more than its start.
#[derive(Debug)]
enum Kind {
    Text,
    Thinking,
    Call,
    /// Its bytes are handed on when they are whole.
    Redacted(Vec<u8>),
    /// A block that only Converse knows, handed on whole.
    Own {
        start: Option<Value>,
        deltas: Vec<Value>,
    },
}

#[derive(Debug)]
struct Open {
    /// Its number among the dialect's blocks.
    number: u64,
    kind: Kind,
}

/// Reads the events of one answer.
#[derive(Debug)]
pub(crate) struct Reader {
    model: String,
    /// The open blocks by Converse's number.
    open: BTreeMap<u64, Open>,
    opened: u64,
    /// What the end says, once it is there: the counts come behind it.
    end: Option<Fields>,
}

impl Reader {
    pub(super) fn new(model: &str) -> Self {
        Reader { model: model.to_owned(), open: BTreeMap::new(), opened: 0, end: None }
    }

    /// One event by its name. Writes the server-sent events that it is in the dialect.
    pub(crate) fn event(&mut self, kind: &str, payload: &[u8], out: &mut Vec<u8>) {
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(payload) else {
            // The dialect says what is wrong with it.
            return write_raw("content_block_delta", &String::from_utf8_lossy(payload), out);
        };
        // Filler, against those who guess from the lengths of frames.
        fields.shift_remove("p");
        let index = fields.get("contentBlockIndex").and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "messageStart" => {
                let mut message = start(&self.model);
                message.insert("content".to_owned(), json!([]));
                write("message_start", json!({"message": message}), out);
            }
            "contentBlockStart" => {
                self.close(index, out);
                self.start(index, fields.shift_remove("start").unwrap_or_default(), out);
            }
            "contentBlockDelta" => self.delta(index, fields.shift_remove("delta").unwrap_or_default(), out),
            "contentBlockStop" => self.close(index, out),
            "messageStop" => self.end.get_or_insert_default().extend(fields),
            "metadata" => {
                self.end.get_or_insert_default().extend(fields);
                self.end(out);
            }
            _ => write(OWN, json!({"event": {kind: fields}}), out),
        }
    }

    /// The end of the bytes. An answer without its end is left without one.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        let Some(mut fields) = self.end.take_if(|fields| fields.contains_key("stopReason")) else { return };
        let usage = fields.shift_remove("usage");
        for index in self.open.keys().copied().collect::<Vec<_>>() {
            self.close(index, out);
        }
        let mut delta = Fields::new();
        finish(fields, &mut delta);
        let mut event = json!({"delta": delta});
        if let (Some(Value::Object(usage)), Some(event)) = (usage, event.as_object_mut()) {
            event.insert("usage".to_owned(), read_usage(usage));
        }
        write("message_delta", event, out);
        write("message_stop", json!({}), out);
    }

    fn start(&mut self, index: u64, said: Value, out: &mut Vec<u8>) {
        match said.get("toolUse").and_then(Value::as_object) {
            Some(call) => self.open(index, Kind::Call, read_call(call), out),
            None if said.as_object().is_some_and(|said| !said.is_empty()) => {
                self.hold(index, Kind::Own { start: Some(said), deltas: Vec::new() });
            }
            // It says nothing: what the block is, its first piece tells.
            None => {}
        }
    }

    /// Opens a block that is handed on piece by piece.
    fn open(&mut self, index: u64, kind: Kind, content: Value, out: &mut Vec<u8>) {
        write("content_block_start", json!({"index": self.opened, "content_block": content}), out);
        self.hold(index, kind);
    }

    fn hold(&mut self, index: u64, kind: Kind) {
        self.open.insert(index, Open { number: self.opened, kind });
        self.opened += 1;
    }

    fn delta(&mut self, index: u64, delta: Value, out: &mut Vec<u8>) {
        let Value::Object(mut fields) = delta else { return };
        if let Some(text) = fields.get_mut("text").filter(|text| text.is_string()).map(Value::take) {
            self.begin(index, |kind| matches!(kind, Kind::Text), Kind::Text, json!({"type": "text", "text": ""}), out);
            return self.piece(index, json!({"type": "text_delta", "text": text}), out);
        }
        if let Some(citation) = fields.get_mut("citation").map(Value::take) {
            self.begin(index, |kind| matches!(kind, Kind::Text), Kind::Text, json!({"type": "text", "text": ""}), out);
            return self.piece(index, json!({"type": "citations_delta", "citation": citation}), out);
        }
        if let Some(Value::String(input)) = fields.get("toolUse").and_then(|call| call.get("input"))
            && self.open.get(&index).is_some_and(|open| matches!(open.kind, Kind::Call))
        {
            return self.piece(index, json!({"type": "input_json_delta", "partial_json": input}), out);
        }
        if let Some(thinking) = fields.get("reasoningContent").and_then(Value::as_object)
            && self.thinking(index, thinking, out)
        {
            return;
        }
        let is_own = |kind: &Kind| matches!(kind, Kind::Own { .. });
        if !self.open.get(&index).is_some_and(|open| is_own(&open.kind)) {
            self.close(index, out);
            self.hold(index, Kind::Own { start: None, deltas: Vec::new() });
        }
        if let Some(Open { kind: Kind::Own { deltas, .. }, .. }) = self.open.get_mut(&index) {
            deltas.push(Value::Object(fields));
        }
    }

    /// A piece of thinking. Is it one that is known?
    fn thinking(&mut self, index: u64, fields: &Fields, out: &mut Vec<u8>) -> bool {
        if let Some(Value::String(bytes)) = fields.get("redactedContent") {
            let Ok(bytes) = STANDARD.decode(bytes) else { return false };
            if !self.open.get(&index).is_some_and(|open| matches!(open.kind, Kind::Redacted(_))) {
                self.close(index, out);
                self.hold(index, Kind::Redacted(Vec::new()));
            }
            if let Some(Open { kind: Kind::Redacted(whole), .. }) = self.open.get_mut(&index) {
                whole.extend(bytes);
            }
            return true;
        }
        let (text, signature) = (str_of(fields, "text"), str_of(fields, "signature"));
        if !fields.contains_key("text") && !fields.contains_key("signature") {
            return false;
        }
        let is_same = |kind: &Kind| matches!(kind, Kind::Thinking);
        self.begin(index, is_same, Kind::Thinking, json!({"type": "thinking", "thinking": ""}), out);
        if !text.is_empty() {
            self.piece(index, json!({"type": "thinking_delta", "thinking": text}), out);
        }
        if !signature.is_empty() {
            self.piece(index, json!({"type": "signature_delta", "signature": signature}), out);
        }
        true
    }

    /// Sees to it that a block of this kind is open. Converse announces only calls.
    fn begin(&mut self, index: u64, is_same: impl Fn(&Kind) -> bool, kind: Kind, content: Value, out: &mut Vec<u8>) {
        if !self.open.get(&index).is_some_and(|open| is_same(&open.kind)) {
            self.close(index, out);
            self.open(index, kind, content, out);
        }
    }

    fn piece(&mut self, index: u64, delta: Value, out: &mut Vec<u8>) {
        if let Some(open) = self.open.get(&index) {
            write("content_block_delta", json!({"index": open.number, "delta": delta}), out);
        }
    }

    fn close(&mut self, index: u64, out: &mut Vec<u8>) {
        let Some(Open { number, kind }) = self.open.remove(&index) else { return };
        let whole = match kind {
            Kind::Text | Kind::Thinking | Kind::Call => None,
            Kind::Redacted(bytes) => Some(read_redacted(&STANDARD.encode(bytes))),
            Kind::Own { start, deltas } => Some(put_together(start, deltas)),
        };
        if let Some(content) = whole {
            write("content_block_start", json!({"index": number, "content_block": content}), out);
        }
        write("content_block_stop", json!({"index": number}), out);
    }
}

/// A block that only Converse knows: whole where its form is known, else with its pieces.
fn put_together(start: Option<Value>, deltas: Vec<Value>) -> Value {
    let mut result = start.as_ref().and_then(|start| start.get("toolResult")?.as_object().cloned());
    let pieces = deltas.iter().map(|delta| delta.get("toolResult")?.as_array());
    if let (Some(result), Some(pieces)) = (&mut result, pieces.collect::<Option<Vec<_>>>()) {
        result.insert("content".to_owned(), pieces.into_iter().flatten().cloned().collect());
        return json!({"type": OWN, "block": {"toolResult": result}});
    }
    json!({"type": OWN, "start": start, "deltas": deltas})
}

/// Writes an event; its type goes first.
fn write(kind: &str, fields: Value, out: &mut Vec<u8>) {
    let mut event = Fields::new();
    event.insert("type".to_owned(), kind.into());
    if let Value::Object(fields) = fields {
        event.extend(fields);
    }
    write_raw(kind, &Value::Object(event).to_string(), out);
}

fn write_raw(kind: &str, data: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    // One line, whatever is in it: a line end would end the event.
    out.extend(data.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
