//! Small tools for wire objects.

use serde_json::Value;

use super::{ME, Object};
use crate::{Dialect, Loss, Other, ProviderData};

/// Takes a text out; anything else stays where it is.
pub(super) fn take_text(object: &mut Object, key: &str) -> Option<String> {
    match take_if(object, key, Value::is_string)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Takes a list out; anything else stays where it is.
pub(super) fn take_list(object: &mut Object, key: &str) -> Option<Vec<Value>> {
    match take_if(object, key, Value::is_array)? {
        Value::Array(list) => Some(list),
        _ => None,
    }
}

/// Takes an object out; anything else stays where it is.
pub(super) fn take_object(object: &mut Object, key: &str) -> Option<Object> {
    match take_if(object, key, Value::is_object)? {
        Value::Object(inner) => Some(inner),
        _ => None,
    }
}

fn take_if(object: &mut Object, key: &str, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    if object.get(key).is_some_and(fits) { object.shift_remove(key) } else { None }
}

/// A text, where there is one.
pub(super) fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// What this dialect left.
pub(super) fn own(data: &ProviderData) -> Option<&Object> {
    data.get(ME)
}

/// An object that this dialect left.
pub(super) fn own_object<'a>(data: &'a ProviderData, key: &str) -> Option<&'a Object> {
    data.value(ME, key).and_then(Value::as_object)
}

/// Keeps the fields that are left, if any.
pub(super) fn keep(data: &mut ProviderData, key: &str, rest: Object) {
    if !rest.is_empty() {
        data.set(ME, key, Value::Object(rest));
    }
}

/// Puts fields back beside those that are there already, which win.
pub(super) fn put_back(object: &mut Object, fields: Option<&Object>) {
    for (key, value) in fields.into_iter().flatten() {
        if !object.contains_key(key) {
            object.insert(key.clone(), value.clone());
        }
    }
}

/// Something of this dialect alone.
pub(super) fn other(data: Object) -> Other {
    Other { dialect: ME, data: Value::Object(data).into() }
}

/// A wire object from pairs.
pub(super) fn object<const N: usize>(pairs: [(&str, Value); N]) -> Object {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Entries of other dialects.
pub(super) fn foreign(data: &ProviderData) -> impl Iterator<Item = (&str, &Object)> {
    data.iter().filter(|(name, _)| *name != ME.as_str())
}

/// Only the entries of other dialects.
pub(super) fn foreign_part(data: &ProviderData) -> ProviderData {
    let mut part = ProviderData::default();
    for dialect in Dialect::ALL {
        if let Some(fields) = data.get(dialect).filter(|_| dialect != ME) {
            part.extend(dialect, fields.clone());
        }
    }
    part
}

/// Is there sealed state of another dialect, such as a signature? Marks and citations are none.
pub(super) fn has_foreign_state(data: &ProviderData) -> bool {
    foreign(data).any(|(_, fields)| {
        fields.keys().any(|key| {
            let key = key.to_ascii_lowercase();
            key.contains("signature") || key.contains("encrypted")
        })
    })
}

/// Notes the wire fields of other dialects, which have no place here.
pub(super) fn note_foreign_fields(data: &ProviderData, place: &str, losses: &mut Vec<Loss>) {
    for (name, fields) in foreign(data) {
        let Some(Value::Object(extra)) = fields.get("extra") else { continue };
        let keys: Vec<&str> = extra.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str()).collect();
        if !keys.is_empty() {
            losses.push(Loss::uncoded(
                "provider_data",
                place,
                format!("fields of {name} that this API does not have were left out: {}", keys.join(", ")),
            ));
        }
    }
}
