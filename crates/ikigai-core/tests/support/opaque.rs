//! The sealed state of a provider, as a test sees it: long texts that nobody was meant to read.

use ikigai_core::{Block, Dialect, Fields, Message, Part, ProviderData};
use serde_json::Value;

/// Returns every sealed text that a dialect left in the blocks of a conversation. Short values (ids, marks) and values
/// that are visible anyway are not state.
pub(crate) fn sealed<'a>(messages: impl IntoIterator<Item = &'a Message>, dialect: Dialect) -> Vec<String> {
    let mut found = Vec::new();
    let mut visible = String::new();
    for message in messages {
        for block in &message.content {
            visible.push_str(&serde_json::to_string(&without_data(block)).unwrap());
            for part in [Part::State, Part::Shape, Part::Extra, Part::Answer] {
                let own = block.provider_data().map(|data| data.part(dialect, part));
                own.into_iter().flat_map(Fields::iter).for_each(|(_, value)| long_texts(value.value(), &mut found));
            }
        }
    }
    found.retain(|text| !visible.contains(text.as_str()));
    found
}

fn long_texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() >= 60 && !text.contains(' ') => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| long_texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| long_texts(field, found)),
        _ => {}
    }
}

fn without_data(block: &Block) -> Block {
    let mut block = block.clone();
    if let Some(data) = block.provider_data_mut() {
        *data = ProviderData::default();
    }
    block
}
