//! JSON that arrives in pieces, assembled into its form in a whole answer.
//!
//! Strings grow, lists grow, objects are filled field by field; anything else is replaced by later values. Pieces of
//! one list item share its index, and its type if they name one: a text and an encrypted item of `reasoning_details`
//! may have the same index.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::dialect::openai_chat::wire::Detail;
use crate::json::loose::read_raw;
use crate::json::text::unescape;
use crate::json::wire::{Raw, Text};
use crate::{Fields, Json};

/// The strings that come in pieces. Others, such as ids and names, are only repeated.
const TEXTS: [&str; 12] = [
    "arguments",
    "content",
    "data",
    "input",
    "reasoning",
    "reasoning_content",
    "reasoning_text",
    "refusal",
    "summary",
    "text",
    "thinking",
    "transcript",
];

/// Whether repeating a value changes the result: lists grow, and so do some strings.
pub(super) fn grows(name: &str, value: &RawValue) -> bool {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'"') => TEXTS.contains(&name),
        Some(b'[') => text != "[]",
        // A quick check, which may have false positives.
        Some(b'{') => text.contains(['[', '\\']) || TEXTS.iter().any(|name| text.contains(name)),
        _ => false,
    }
}

/// The approximate size of a field or an item, without its text.
const ENTRY: usize = 200;

/// An object assembled so far.
#[derive(Debug, Default)]
pub(super) struct Merged {
    fields: Vec<(String, Grown)>,
    places: HashMap<String, usize>,
    /// The index of the field after the last one: fields usually come in the same order again.
    next: usize,
    items: ItemKind,
}

/// The kind of items in an object's lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ItemKind {
    /// Items that may come in pieces.
    #[default]
    Pieces,
    /// Items that come whole, kept as text.
    Whole,
}

impl Merged {
    /// Sets a value, replacing any earlier one; a null only fills a gap.
    pub(super) fn set(&mut self, name: &str, value: &RawValue) {
        match self.find(name) {
            Some(Grown::Value(known)) if known.text() == value.get() || value.get() == "null" => {}
            Some(known) => *known = Grown::Value(Json::copy(value)),
            None => self.push(name, value),
        }
    }

    /// Adds a piece of a value; a null only fills a gap.
    pub(super) fn grow(&mut self, name: &str, value: &RawValue) {
        let items = self.items;
        match self.find(name) {
            Some(_) if value.get() == "null" => {}
            Some(known) => known.grow(name, value, items),
            None => self.push(name, value),
        }
    }

    fn find(&mut self, name: &str) -> Option<&mut Grown> {
        let is_next = self.fields.get(self.next).is_some_and(|(own, _)| own == name);
        let place = if is_next { self.next } else { *self.places.get(name)? };
        self.next = (place + 1) % self.fields.len().max(1);
        self.fields.get_mut(place).map(|(_, value)| value)
    }

    fn push(&mut self, name: &str, value: &RawValue) {
        self.places.insert(name.to_owned(), self.fields.len());
        self.fields.push((name.to_owned(), Grown::Value(Json::copy(value))));
    }

    fn grow_all(&mut self, object: &str) {
        each_field(object, |name, value| self.grow(name, value));
    }

    /// Returns roughly how many bytes it takes.
    pub(super) fn held(&self) -> usize {
        // Each name is stored twice.
        self.fields.iter().map(|(name, value)| ENTRY + 2 * name.len() + value.held()).sum()
    }

    pub(super) fn into_fields(self) -> Fields {
        self.fields.into_iter().map(|(name, value)| (name, value.into_json())).collect()
    }
}

/// Calls `take` with each field of an object; does nothing for other values.
fn each_field(object: &str, take: impl FnMut(&str, &RawValue)) {
    struct EachField<F>(F);
    impl<'de, F: FnMut(&str, &RawValue)> Visitor<'de> for EachField<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while let Some((name, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                (self.0)(name.as_str(), value);
            }
            Ok(())
        }
    }
    // It has already been read as part of a chunk, so it is valid JSON.
    let _ = serde_json::Deserializer::from_str(object).deserialize_map(EachField(take));
}

/// A list assembled so far.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<Grown>,
    /// The last item of each type and index; each is also listed without its type.
    places: HashMap<(String, Option<u64>), usize>,
}

impl Items {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds an item, or a piece of one.
    pub(super) fn push(&mut self, item: &RawValue) {
        if let Some(piece) = read_raw::<Detail<'_>>(item) {
            let key = (piece.kind.map(Text::into_string).unwrap_or_default(), piece.index);
            // Without an index, only the text of reasoning is known to continue.
            let is_text = key.0.starts_with("reasoning.") && piece.text.or(piece.summary).is_some();
            let grows = piece.index.is_some() || is_text;
            let known = self.places.get(&key).filter(|_| grows).and_then(|place| self.items.get_mut(*place));
            if let Some(known) = known {
                return known.grow("", item, ItemKind::Pieces);
            }
            self.places.insert((String::new(), key.1), self.items.len());
            self.places.insert(key, self.items.len());
        }
        self.items.push(Grown::Value(Json::copy(item)));
    }

    fn push_all(&mut self, list: &str) {
        let items: Vec<Raw<'_>> = serde_json::from_str(list).unwrap_or_default();
        items.iter().for_each(|item| self.push(&item.0));
    }

    /// Returns roughly how many bytes it takes.
    pub(super) fn held(&self) -> usize {
        // Each may be listed twice.
        self.items.iter().map(|item| 2 * ENTRY + item.held()).sum()
    }

    /// Takes all items out.
    pub(super) fn take(&mut self) -> Vec<Json> {
        std::mem::take(self).items.into_iter().map(Grown::into_json).collect()
    }
}

/// A value assembled so far. A value that came once keeps its spelling.
#[derive(Debug)]
enum Grown {
    Value(Json),
    Text(String),
    List(Items),
    /// The items of a list, separated by commas.
    WholeItems(String),
    Object(Merged),
}

impl Grown {
    fn grow(&mut self, name: &str, more: &RawValue, items: ItemKind) {
        if let Grown::Value(known) = self {
            *self = Grown::opened(name, std::mem::take(known), items);
        }
        match self {
            Grown::Text(text) if more.get().starts_with('"') => {
                text.push_str(&unescape(more.get()).unwrap_or_default());
            }
            Grown::List(items) if more.get().starts_with('[') => items.push_all(more.get()),
            Grown::WholeItems(known) if more.get().starts_with('[') => {
                let (comma, items) = (if known.is_empty() { "" } else { "," }, between_brackets(more.get()));
                if !items.is_empty() {
                    known.push_str(comma);
                    known.push_str(items);
                }
            }
            Grown::Object(object) if more.get().starts_with('{') => object.grow_all(more.get()),
            Grown::Value(_) | Grown::Text(_) | Grown::List(_) | Grown::WholeItems(_) | Grown::Object(_) => {
                *self = Grown::Value(Json::copy(more));
            }
        }
    }

    /// Converts a value to its growing form, if it has one.
    fn opened(name: &str, known: Json, items: ItemKind) -> Self {
        match known.text().as_bytes().first() {
            Some(b'"') if TEXTS.contains(&name) => Grown::Text(known.as_str().unwrap_or_default().into_owned()),
            Some(b'[') if items == ItemKind::Whole => Grown::WholeItems(between_brackets(known.text()).to_owned()),
            Some(b'[') => {
                let mut items = Items::default();
                items.push_all(known.text());
                Grown::List(items)
            }
            Some(b'{') => {
                // Its lists have an item for each token.
                let items = if name == "logprobs" { ItemKind::Whole } else { items };
                let mut object = Merged { items, ..Merged::default() };
                object.grow_all(known.text());
                Grown::Object(object)
            }
            _ => Grown::Value(known),
        }
    }

    fn held(&self) -> usize {
        match self {
            Grown::Value(value) => value.text().len(),
            Grown::Text(text) | Grown::WholeItems(text) => text.len(),
            Grown::List(items) => items.held(),
            Grown::Object(object) => object.held(),
        }
    }

    fn into_json(self) -> Json {
        match self {
            Grown::Value(value) => value,
            Grown::Text(text) => text.into(),
            Grown::List(mut items) => Json::of(&items.take()).unwrap_or_default(),
            Grown::WholeItems(items) => Json::parse(format!("[{items}]")).unwrap_or_default(),
            Grown::Object(object) => object.into_fields().into(),
        }
    }
}

/// Returns the items of a list as written.
fn between_brackets(list: &str) -> &str {
    list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or_default().trim_ascii()
}
