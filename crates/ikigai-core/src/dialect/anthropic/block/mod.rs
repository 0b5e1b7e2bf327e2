//! Content blocks, which look the same in requests and in answers.

mod decode;
mod encode;

use serde_json::{Map, Value};

use crate::{Block, CacheHint, Dialect, Other, ProviderData, Text};

use super::DIALECT;

pub(super) use decode::{Reading, decode, is_short, read_source};
pub(super) use encode::{put_back, redacted, source, text, thinking, tool_use};

/// Wire fields that the format has no place for, on their way into `provider_data`.
#[derive(Debug, Default)]
pub(super) struct Own {
    named: Map<String, Value>,
    extra: Map<String, Value>,
}

impl Own {
    /// Keeps a value under a name that this dialect reads again.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.named.insert(key.to_owned(), value.into());
    }

    /// Keeps a wire field to be put back as it was.
    pub(super) fn extra(&mut self, key: String, value: Value) {
        self.extra.insert(key, value);
    }

    /// A `cache_control`: the hint where it says no more than a hint can, else a field to put back.
    pub(super) fn cache(&mut self, value: Value) -> Option<CacheHint> {
        let hint = read_cache(&value);
        if hint.is_none() {
            self.extra("cache_control".to_owned(), value);
        }
        hint
    }

    pub(super) fn into_data(mut self) -> ProviderData {
        if !self.extra.is_empty() {
            self.named.insert("extra".to_owned(), Value::Object(self.extra));
        }
        let mut data = ProviderData::default();
        data.extend(DIALECT, self.named);
        data
    }
}

/// A hint, from a `cache_control` that holds nothing else.
pub(super) fn read_cache(value: &Value) -> Option<CacheHint> {
    let fields = value.as_object()?;
    if fields.get("type")?.as_str()? != "ephemeral" {
        return None;
    }
    match fields.get("ttl") {
        None if fields.len() == 1 => Some(CacheHint::default()),
        Some(Value::String(ttl)) if fields.len() == 2 => Some(CacheHint { ttl: Some(ttl.clone()) }),
        _ => None,
    }
}

/// A hint as `cache_control`.
pub(super) fn write_cache(hint: &CacheHint) -> Value {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), "ephemeral".into());
    if let Some(ttl) = &hint.ttl {
        fields.insert("ttl".to_owned(), ttl.as_str().into());
    }
    Value::Object(fields)
}

/// Can this text go as a plain string in the place of a list of blocks?
pub(super) fn is_plain(text: &Text) -> bool {
    let own = text.provider_data.get(DIALECT);
    text.cache.is_none() && own.is_none_or(|own| !own.contains_key("citations") && !own.contains_key("extra"))
}

/// A block of this dialect, kept whole.
pub(super) fn other(fields: Map<String, Value>) -> Block {
    Block::Other(Other { dialect: DIALECT, data: Value::Object(fields).into() })
}

/// Does a block carry sealed state of other dialects, which they want back?
pub(super) fn has_foreign_state(data: &ProviderData) -> bool {
    data.iter().filter(|(name, _)| *name != DIALECT.as_str()).any(|(_, fields)| fields.iter().any(is_state))
}

/// Sealed state is told by the name that it bears in each dialect.
fn is_state((key, value): (&String, &Value)) -> bool {
    !value.is_null()
        && (key.ends_with("signature")
            || key.starts_with("encrypted")
            || key.starts_with("redacted")
            || key == "reasoning_details"
            || key == "extra_content")
}

/// What other dialects left on a block or a message, without what belongs to this one.
pub(super) fn foreign(data: &ProviderData) -> ProviderData {
    let mut foreign = data.clone();
    let keys: Vec<String> = foreign.get(DIALECT).map(|own| own.keys().cloned().collect()).unwrap_or_default();
    for key in keys {
        foreign.remove(DIALECT, &key);
    }
    foreign
}

/// What this dialect itself left on a block.
pub(super) fn own_only(data: &ProviderData) -> ProviderData {
    let mut own = ProviderData::default();
    own.extend(DIALECT, data.get(DIALECT).cloned().unwrap_or_default());
    own
}

/// The names of wire fields that other dialects left here to be put back.
pub(super) fn foreign_fields(data: &ProviderData) -> Vec<String> {
    let mut names = Vec::new();
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != DIALECT) {
        let extra = data.value(dialect, "extra").and_then(Value::as_object);
        let fields = extra.into_iter().flatten().filter(|(_, value)| !value.is_null());
        names.extend(fields.map(|(key, _)| key.clone()));
    }
    names
}
