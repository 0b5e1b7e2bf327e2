//! The fields of a wire object, in whichever case the client wrote them.
//!
//! The wire is protobuf's JSON: lowerCamelCase is what we write, snake_case is accepted too, and clients mix both.
//! Reading takes fields out by their camelCase name and remembers which ones were spelt otherwise; what nobody took,
//! explicit `null`s included, is left over and goes back in its place.

use serde_json::{Map, Value};

use crate::{Dialect, ProviderData};

/// The key under which left-over fields are kept.
pub(super) const EXTRA: &str = "extra";
/// The key under which left-over fields are kept that say nothing: `null`, empty, `false`, a default. Other dialects
/// need not tell that they left them out.
const DEFAULTS: &str = "defaults";
/// The key under which the fields in snake_case are listed, by their camelCase path: `inlineData.mimeType`.
const SNAKE: &str = "snake";

/// An object being read.
#[derive(Debug, Default)]
pub(super) struct Fields {
    rest: Map<String, Value>,
    defaults: Map<String, Value>,
    snake: Vec<String>,
}

impl Fields {
    pub(super) fn new(object: Map<String, Value>) -> Self {
        Fields { rest: object, ..Fields::default() }
    }

    /// A field, left where it is.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        find(&self.rest, name)
    }

    /// Is the field there, and not `null`?
    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Takes a field out. A `null` stays left over.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let (key, _) = entry(&self.rest, name)?;
        if key == name {
            return self.rest.shift_remove(name);
        }
        let key = key.to_owned();
        self.snake.push(name.to_owned());
        self.rest.shift_remove(&key)
    }

    /// Takes a text out; anything else stays left over.
    pub(super) fn take_text(&mut self, name: &str) -> Option<String> {
        match self.get(name)? {
            Value::String(_) => match self.take(name)? {
                Value::String(text) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Takes an object out, to read it in turn; anything else stays left over. [`close`](Fields::close) ends it.
    pub(super) fn take_object(&mut self, name: &str) -> Option<Fields> {
        match self.get(name)? {
            Value::Object(_) => match self.take(name)? {
                Value::Object(object) => Some(Fields::new(object)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Ends the reading of an object inside this one: what it left over is left over here, under its name.
    pub(super) fn close(&mut self, name: &str, inner: Fields) {
        self.snake.extend(inner.snake.into_iter().map(|path| format!("{name}.{path}")));
        if !inner.rest.is_empty() {
            self.rest.insert(name.to_owned(), Value::Object(inner.rest));
        }
        if !inner.defaults.is_empty() {
            self.defaults.insert(name.to_owned(), Value::Object(inner.defaults));
        }
    }

    /// Says of a left-over field that it only repeats the default.
    pub(super) fn is_default(&mut self, name: &str) {
        if let Some(value) = self.take(name) {
            self.defaults.insert(name.to_owned(), value);
        }
    }

    /// Leaves a value over under a camelCase name.
    pub(super) fn leave(&mut self, name: &str, value: Value) {
        self.rest.insert(name.to_owned(), value);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The fields that nobody took.
    pub(super) fn into_rest(self) -> Map<String, Value> {
        self.rest
    }

    /// Keeps what is left over, and the spelling.
    pub(super) fn keep(self, data: &mut ProviderData) {
        let (rest, mut defaults) = without_defaults(self.rest);
        put_back(&mut defaults, &self.defaults, &[]);
        if !rest.is_empty() {
            data.set(Dialect::Gemini, EXTRA, rest);
        }
        if !defaults.is_empty() {
            data.set(Dialect::Gemini, DEFAULTS, defaults);
        }
        if !self.snake.is_empty() {
            data.set(Dialect::Gemini, SNAKE, self.snake);
        }
    }
}

/// A field in either case; none when it is absent or `null`.
pub(super) fn find<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    entry(object, name).map(|(_, value)| value)
}

fn entry<'a>(object: &'a Map<String, Value>, name: &str) -> Option<(&'a String, &'a Value)> {
    let own = object.get_key_value(name).filter(|(_, value)| !value.is_null());
    own.or_else(|| object.iter().find(|(key, value)| !value.is_null() && is_snake_of(key, name)))
}

/// Parts what says something from what says nothing.
fn without_defaults(fields: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    let (mut rest, mut defaults) = (Map::new(), Map::new());
    for (name, value) in fields {
        match value {
            Value::Object(object) if !object.is_empty() => {
                let (inner, nothing) = without_defaults(object);
                if !inner.is_empty() {
                    rest.insert(name.clone(), inner.into());
                }
                if !nothing.is_empty() {
                    defaults.insert(name, nothing.into());
                }
            }
            Value::Null | Value::Bool(false) | Value::Object(_) => {
                defaults.insert(name, value);
            }
            Value::Array(list) if list.is_empty() => {
                defaults.insert(name, list.into());
            }
            value => {
                rest.insert(name, value);
            }
        }
    }
    (rest, defaults)
}

/// Puts left-over fields back, where the target has nothing of its own. Objects are filled up; an object that the
/// target lacks is made anew, unless its name is in `only_filled`.
pub(super) fn put_back(target: &mut Map<String, Value>, extra: &Map<String, Value>, only_filled: &[&str]) {
    for (name, value) in extra {
        match (target.get_mut(name), value) {
            (Some(Value::Object(own)), Value::Object(value)) => put_back(own, value, &[]),
            (Some(_), _) => {}
            (None, Value::Object(_)) if only_filled.contains(&name.as_str()) => {}
            (None, _) => {
                target.insert(name.clone(), value.clone());
            }
        }
    }
}

/// The left-over fields of this dialect that say something.
pub(super) fn extra(data: &ProviderData) -> Option<&Map<String, Value>> {
    data.value(Dialect::Gemini, EXTRA)?.as_object()
}

/// Puts everything back that was left over.
pub(super) fn put_back_all(target: &mut Map<String, Value>, data: &ProviderData, only_filled: &[&str]) {
    for key in [EXTRA, DEFAULTS] {
        if let Some(fields) = data.value(Dialect::Gemini, key).and_then(Value::as_object) {
            put_back(target, fields, only_filled);
        }
    }
}

/// Gives fields their snake_case names again, as they were read.
pub(super) fn respell(target: &mut Map<String, Value>, data: &ProviderData) {
    let Some(list) = data.value(Dialect::Gemini, SNAKE).and_then(Value::as_array) else { return };
    let mut paths: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
    // Inner names first: the way to them leads over the camelCase names.
    paths.sort_by_key(|path| std::cmp::Reverse(path.matches('.').count()));
    for path in paths {
        rename(target, path);
    }
}

fn rename(target: &mut Map<String, Value>, path: &str) {
    match path.split_once('.') {
        Some((outer, inner)) => {
            if let Some(Value::Object(object)) = target.get_mut(outer) {
                rename(object, inner);
            }
        }
        None if target.contains_key(path) => {
            let named = std::mem::take(target);
            target.extend(
                named.into_iter().map(|(key, value)| if key == path { (snake(&key), value) } else { (key, value) }),
            );
        }
        None => {}
    }
}

fn snake(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// Is `key` the snake_case spelling of the camelCase `name`?
fn is_snake_of(key: &str, name: &str) -> bool {
    if !key.contains('_') {
        return false;
    }
    let mut key = key.bytes();
    for byte in name.bytes() {
        if byte.is_ascii_uppercase() && key.next() != Some(b'_') {
            return false;
        }
        if key.next() != Some(byte.to_ascii_lowercase()) {
            return false;
        }
    }
    key.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn both_cases_are_read_and_come_back_as_they_were() {
        let wire = object(json!({
            "inline_data": {"mime_type": "image/png", "data": "AA==", "display_name": "x"}, "thought": null, "other_thing": 1,
        }));
        let mut fields = Fields::new(wire.clone());
        let mut inner = fields.take_object("inlineData").unwrap();
        assert_eq!(inner.take_text("mimeType").as_deref(), Some("image/png"));
        assert_eq!(inner.take_text("data").as_deref(), Some("AA=="));
        assert_eq!(inner.take_text("nothing"), None);
        fields.close("inlineData", inner);
        let mut data = ProviderData::default();
        fields.keep(&mut data);
        assert_eq!(
            serde_json::to_value(&data).unwrap(),
            json!({"gemini": {
                "extra": {"other_thing": 1, "inlineData": {"display_name": "x"}},
                "defaults": {"thought": null},
                "snake": ["inlineData", "inlineData.mimeType"],
            }}),
        );

        let mut part = object(json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}}));
        put_back_all(&mut part, &data, &["inlineData"]);
        respell(&mut part, &data);
        assert_eq!(Value::Object(part), Value::Object(wire));
    }

    #[test]
    fn what_is_left_over_never_overrides_nor_invents_a_data_member() {
        let mut part = object(json!({"fileData": {"fileUri": "gs://x"}, "thought": true}));
        put_back(&mut part, &object(json!({"inlineData": {"displayName": "x"}, "thought": false})), &["inlineData"]);
        assert_eq!(Value::Object(part), json!({"fileData": {"fileUri": "gs://x"}, "thought": true}));
    }

    #[test]
    fn a_field_in_both_cases_keeps_both() {
        let mut fields = Fields::new(object(json!({"top_p": 0.1, "topP": 0.2})));
        assert_eq!(fields.take("topP"), Some(json!(0.2)));
        assert_eq!(Value::Object(fields.into_rest()), json!({"top_p": 0.1}));
    }
}
