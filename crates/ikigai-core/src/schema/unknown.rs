//! Unknown fields in canonical documents.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::near::{close, did_you_mean};
use crate::{Loss, LossCode};

static SCHEMA: LazyLock<Value> = LazyLock::new(super::schema);

/// Lists the unknown fields of a canonical document, which are ignored when it is read: each as a loss, with the name
/// that was probably meant. `kind` is `Request`, `Response`, `Event` or `Error`.
///
/// ```
/// let request = serde_json::json!({"model": "m", "messages": [], "temprature": 0.5});
/// let unknown = ikigai_core::unknown_fields(&request, "Request");
/// assert_eq!(
///     unknown[0].to_string(),
///     "temprature at temprature: the format has no such field, so it is ignored; did you mean `temperature`?"
/// );
/// ```
pub fn unknown_fields(document: &Value, kind: &str) -> Vec<Loss> {
    let mut losses = Vec::new();
    if let Some(schema) = SCHEMA.pointer(&format!("/$defs/{kind}")) {
        walk(document, schema, &mut String::new(), &mut losses);
    }
    losses
}

fn walk(value: &Value, schema: &Value, place: &mut String, losses: &mut Vec<Loss>) {
    let end = place.len();
    match value {
        Value::Object(fields) => {
            let known = known_fields(fields, schema);
            if known.is_empty() {
                // Anything is allowed here.
                return;
            }
            for (name, value) in fields {
                if !place.is_empty() {
                    place.push('.');
                }
                place.push_str(name);
                match known.iter().find(|(own, _)| *own == name) {
                    Some((_, schema)) => walk(value, schema, place, losses),
                    None => {
                        let meant = meant(name, &known);
                        let why = format!("the format has no such field, so it is ignored{}", did_you_mean(meant));
                        losses.push(Loss::new(LossCode::UnknownField, name.as_str(), place.as_str(), why));
                    }
                }
                place.truncate(end);
            }
        }
        Value::Array(list) => {
            let Some(items) = alternatives(schema).find_map(|schema| schema.get("items")) else { return };
            for (index, value) in list.iter().enumerate() {
                place.push_str(&format!("[{index}]"));
                walk(value, items, place, losses);
                place.truncate(end);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the field that was probably meant: one that is spelled similarly, or that contains all its words.
fn meant<'s>(name: &str, known: &[(&'s String, &Value)]) -> Option<&'s str> {
    let names = || known.iter().map(|(own, _)| own.as_str());
    let has_words = |own: &&str| name.split('_').all(|word| own.split('_').any(|part| part == word));
    close(name, names()).or_else(|| names().find(has_words))
}

/// Returns the fields that the schema allows in an object; empty if it allows any.
fn known_fields<'s>(fields: &Map<String, Value>, schema: &'s Value) -> Vec<(&'s String, &'s Value)> {
    let mut fitting = alternatives(schema).filter(|schema| fits(fields, schema));
    let mut known = fitting.next().map(own_fields).unwrap_or_default();
    if known.is_empty() {
        known = fitting.find_map(|schema| Some(own_fields(schema)).filter(|own| !own.is_empty())).unwrap_or_default();
    }
    known
}

/// Returns the schema itself, or the branches that it leaves open.
fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let schema = target(schema);
    let branches = ["oneOf", "anyOf"].into_iter().filter_map(|word| schema.get(word)?.as_array()).flatten();
    let mut branches: Vec<&Value> = branches.collect();
    // A branch may itself be a choice: a list of strings or blocks that may be absent.
    if let Some(nested) = branches.iter().position(|branch| is_choice(target(branch))) {
        let inner = branches.remove(nested);
        let inner = target(inner);
        branches.extend(["oneOf", "anyOf"].into_iter().filter_map(|word| inner.get(word)?.as_array()).flatten());
    }
    if branches.is_empty() {
        branches.push(schema);
    }
    branches.into_iter()
}

fn is_choice(schema: &Value) -> bool {
    schema.get("oneOf").is_some() || schema.get("anyOf").is_some()
}

/// Returns what a schema refers to, unless it also has properties itself.
fn target(schema: &Value) -> &Value {
    let only_refers = schema.get("properties").is_none();
    match reference(schema).filter(|_| only_refers) {
        Some(found) => found,
        None => schema,
    }
}

fn reference(schema: &Value) -> Option<&'static Value> {
    SCHEMA.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// Returns whether the object has the constants and fields that the branch requires.
fn fits(fields: &Map<String, Value>, schema: &Value) -> bool {
    let constants = own_fields(schema).into_iter().all(|(name, field)| match field.get("const") {
        Some(constant) => fields.get(name) == Some(constant),
        None => true,
    });
    let required = [Some(schema), reference(schema)].into_iter().flatten();
    let mut required = required.filter_map(|schema| schema.get("required")?.as_array()).flatten();
    constants && required.all(|name| name.as_str().is_some_and(|name| fields.contains_key(name)))
}

/// Returns the fields of a schema and of what it refers to.
fn own_fields(schema: &Value) -> Vec<(&String, &Value)> {
    let schemas = [Some(schema), reference(schema)].into_iter().flatten();
    schemas.filter_map(|schema| schema.get("properties")?.as_object()).flatten().collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn told(document: Value, kind: &str) -> Vec<String> {
        unknown_fields(&document, kind).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn misspelled_fields_are_found_wherever_they_stand() {
        let request = json!({
            "model": "m",
            "max_tokens": 5,
            "system": [{"type": "text", "txt": "x", "text": "y"}],
            "messages": [
                {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u", "mediatype": "x"}}]},
                {"role": "assistant", "contents": [], "content": [
                    {"type": "tool_call", "id": "c", "name": "f", "arguments": {"any": {"thing": 1}}}]},
                {"role": "tool", "content": [
                    {"type": "tool_result", "tool_call_id": "c", "iserror": true, "content": [{"type": "text", "text": "", "x": 1}]}]},
            ],
            "tools": [{"name": "f", "parametres": {}, "parameters": {"any": 1}}],
            "thinking": {"lvl": "med", "level": "med"},
            "output_format": {"json_schema": {"name": "n", "schema": {"any": 1}, "strct": true}},
            "metadata": {"any": "thing"},
            "provider_data": {"openai-chat": {"logit_bias": {}}},
        });
        let ignored = "the format has no such field, so it is ignored";
        assert_eq!(
            told(request, "Request"),
            [
                format!("max_tokens at max_tokens: {ignored}; did you mean `max_output_tokens`?"),
                format!("txt at system[0].txt: {ignored}; did you mean `text`?"),
                format!("mediatype at messages[0].content[0].source.mediatype: {ignored}; did you mean `media_type`?"),
                format!("contents at messages[1].contents: {ignored}; did you mean `content`?"),
                format!("iserror at messages[2].content[0].iserror: {ignored}; did you mean `is_error`?"),
                format!("x at messages[2].content[0].content[0].x: {ignored}"),
                format!("parametres at tools[0].parametres: {ignored}; did you mean `parameters`?"),
                format!("lvl at thinking.lvl: {ignored}"),
                format!("strct at output_format.json_schema.strct: {ignored}; did you mean `strict`?"),
            ]
        );
    }

    #[test]
    fn known_fields_and_free_forms_are_not_told() {
        let response = json!({"model": "m", "content": [{"type": "other", "dialect": "gemini", "data": {"any": 1}}],
            "finish_reason": "stop", "usage": {"input_tokens": 1, "provider_data": {"gemini": {"x": 1}}}});
        assert_eq!(told(response, "Response"), Vec::<String>::new());
        assert_eq!(told(json!({"messages": "not a list", "system": "text"}), "Request"), Vec::<String>::new());
        assert_eq!(told(json!(5), "Request"), Vec::<String>::new());
    }
}
