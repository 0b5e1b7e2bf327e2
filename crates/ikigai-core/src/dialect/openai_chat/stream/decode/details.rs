//! `reasoning_details` put together from their pieces.
//!
//! Pieces of one item share its type and its index; a text and an encrypted item may share an index. Text grows, the
//! other fields are replaced by what comes later.

use std::collections::HashMap;

use super::kept::Later;
use crate::Json;
use crate::dialect::openai_chat::wire::Detail;
use crate::json::loose::Loose as _;
use crate::json::wire::Text;

/// The items so far, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Details {
    items: Vec<Item>,
    /// The last item of each type and index.
    places: HashMap<(String, Option<u64>), usize>,
}

#[derive(Debug, Default)]
struct Item {
    kind: Option<String>,
    index: Option<u64>,
    /// `text`, `summary` and `data`, as far as they have come.
    texts: [Option<String>; 3],
    rest: Later,
}

const TEXTS: [&str; 3] = ["text", "summary", "data"];

impl Details {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes everything out, as a list.
    pub(super) fn take(&mut self) -> Json {
        self.places.clear();
        let items: Vec<Json> = std::mem::take(&mut self.items).into_iter().map(Item::into_json).collect();
        Json::of(&items).unwrap_or_default()
    }

    pub(super) fn push(&mut self, mut piece: Detail<'_>) {
        let kind = piece.kind.take().map(Text::into_string);
        let index = piece.index.take();
        let texts = [piece.text.take(), piece.summary.take(), piece.data.take()];
        // Without an index, only text is known to go on.
        let grows = texts.iter().take(2).any(Option::is_some) || index.is_some();
        let key = (kind.clone().unwrap_or_default(), index);
        let known = self.places.get(&key).copied().filter(|_| grows);
        let place = known.unwrap_or_else(|| {
            self.items.push(Item { kind, index, ..Item::default() });
            self.items.len() - 1
        });
        self.places.insert(key, place);
        let Some(item) = self.items.get_mut(place) else { return };
        for (so_far, more) in item.texts.iter_mut().zip(texts) {
            if let Some(more) = more {
                so_far.get_or_insert_default().push_str(more.as_str());
            }
        }
        for (name, value) in piece.leftovers() {
            item.rest.set(name, value);
        }
    }
}

impl Item {
    fn into_json(self) -> Json {
        let mut fields = crate::Fields::default();
        if let Some(kind) = self.kind {
            fields.push("type", kind);
        }
        if let Some(index) = self.index {
            fields.push("index", Json::of(&index).unwrap_or_default());
        }
        for (name, text) in TEXTS.into_iter().zip(self.texts) {
            if let Some(text) = text {
                fields.push(name, text);
            }
        }
        self.rest.into_fields().into_iter().for_each(|(name, value)| fields.push(name, value));
        fields.into()
    }
}
