//! `reasoning_details` put together from their pieces.
//!
//! Pieces of one item share its type and its index; a text and an encrypted item may share an index. Text grows, the
//! other fields are replaced by what comes later.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::wire::Detail;

/// The items so far, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Details {
    items: Vec<Map<String, Value>>,
}

impl Details {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes everything out.
    pub(super) fn take(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.items).into_iter().map(Value::Object).collect()
    }

    pub(super) fn push(&mut self, piece: &Detail<'_>) {
        let kind = piece.kind.0.as_deref().unwrap_or_default();
        let index = piece.index.0;
        let grows = piece.text.0.is_some() || piece.summary.0.is_some() || index.is_some();
        let known = self.items.iter_mut().rev().find(|item| {
            item.get("type").and_then(Value::as_str).unwrap_or_default() == kind
                && item.get("index").and_then(Value::as_u64) == index
        });
        let item = match known {
            // Without an index, only text is known to go on.
            Some(item) if grows => item,
            _ => {
                self.items.push(Map::new());
                let Some(item) = self.items.last_mut() else { return };
                if piece.kind.0.is_some() {
                    item.insert("type".to_owned(), kind.into());
                }
                if let Some(index) = index {
                    item.insert("index".to_owned(), index.into());
                }
                item
            }
        };
        for (key, more) in [("text", &piece.text), ("summary", &piece.summary), ("data", &piece.data)] {
            let Some(more) = more.0.as_deref() else { continue };
            match item.get_mut(key) {
                Some(Value::String(text)) => text.push_str(more),
                _ => {
                    item.insert(key.to_owned(), more.into());
                }
            }
        }
        for (key, raw) in [("id", piece.id), ("format", piece.format), ("signature", piece.signature)] {
            if let Some(raw) = raw {
                replace(item, key, raw);
            }
        }
        for (key, raw) in &piece.rest {
            replace(item, key, raw);
        }
    }
}

/// A later value replaces an earlier one; a null only fills a gap.
fn replace(item: &mut Map<String, Value>, key: &str, raw: &RawValue) {
    let text = raw.get();
    if text == "null" {
        item.entry(key.to_owned()).or_insert(Value::Null);
        return;
    }
    // Mostly the same as before, on every piece: nothing to do then.
    let same = item.get(key).and_then(Value::as_str).is_some_and(|old| {
        text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).is_some_and(|plain| plain == old)
    });
    if !same && let Ok(value) = serde_json::from_str(text) {
        item.insert(key.to_owned(), value);
    }
}
