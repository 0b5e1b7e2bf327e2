//! Content blocks, which look the same in requests and in answers.

mod encode;

use serde_json::{Map, Value};

use crate::{CacheHint, Dialect, Part, ProviderData};

use super::DIALECT;

pub(super) use encode::{put_back, redacted, source, text, thinking, tool_use};

/// A hint as `cache_control`.
pub(super) fn write_cache(hint: &CacheHint) -> Value {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), "ephemeral".into());
    if let Some(ttl) = &hint.ttl {
        fields.insert("ttl".to_owned(), ttl.as_str().into());
    }
    Value::Object(fields)
}

/// Does a block carry sealed state of other dialects, which they want back?
pub(super) fn has_foreign_state(data: &ProviderData) -> bool {
    data.parts(Part::State).any(|(name, _)| name != DIALECT.as_str())
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
