//! The sealed state of a provider, as a test sees it: long texts that nobody was meant to read.

use ikigai_core::{Block, Dialect, Message, ProviderData};
use serde_json::Value;

/// Every sealed text in the blocks of a conversation that a dialect left there. Short values (ids, marks) and what is
/// visible anyway are no state.
pub(crate) fn sealed<'a>(messages: impl IntoIterator<Item = &'a Message>, dialect: Dialect) -> Vec<String> {
    let mut found = Vec::new();
    let mut visible = String::new();
    for message in messages {
        for block in &message.content {
            visible.push_str(&serde_json::to_string(&without_data(block)).unwrap());
            if let Some(own) = block.provider_data().and_then(|data| data.get(dialect)) {
                own.values().for_each(|value| long_texts(value, &mut found));
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
