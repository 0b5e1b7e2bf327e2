//! The subset of JSON Schema that strict tools and structured output take.
//!
//! A schema outside it is refused together with the whole request, so the check errs on the safe side: a keyword that
//! nobody has seen accepted counts as refused.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Schemas inside schemas; only keeps the walk from running out of stack.
const MAX_DEPTH: usize = 64;

/// Keywords that the subset takes whatever they say.
const FREE: [&str; 10] =
    ["title", "description", "default", "examples", "$schema", "$id", "$comment", "required", "$defs", "definitions"];

const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// What a schema takes of the limits of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Parameters that may be missing.
    pub(super) optional: usize,
    /// Parameters with several types.
    pub(super) unions: usize,
}

/// Does the schema fit as it is?
///
/// # Errors
/// The first rule that it breaks, with the place.
pub(super) fn fits(schema: &Value) -> Result<Count, String> {
    let Some(root) = schema.as_object() else { return Err("the schema is not an object".to_owned()) };
    if root.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the schema's root is not of type `object`".to_owned());
    }
    let mut walk = Walk { root, count: Count::default(), within: Vec::new(), done: HashSet::new() };
    walk.schema(schema, "the root", 0)?;
    Ok(walk.count)
}

struct Walk<'a> {
    root: &'a Map<String, Value>,
    count: Count,
    /// References that are being followed: meeting one again is a recursion.
    within: Vec<&'a str>,
    /// References that were followed to their end; each counts once, and costs once.
    done: HashSet<&'a str>,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, schema: &'a Value, place: &str, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("the schema is more than {MAX_DEPTH} levels deep"));
        }
        let Some(fields) = schema.as_object() else { return Err(format!("{place} is no schema object")) };
        let says = ["type", "anyOf", "allOf", "$ref", "enum", "const"].iter().any(|key| fields.contains_key(*key));
        if !says {
            return Err(format!("{place} takes anything"));
        }
        for (key, value) in fields {
            self.keyword(fields, key, value, place, depth)?;
        }
        let is_object = fields.get("type").is_some_and(|kind| kind == "object" || holds(kind, "object"));
        if is_object && fields.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Err(format!("{place} lacks `additionalProperties: false`"));
        }
        Ok(())
    }

    fn keyword(
        &mut self,
        fields: &'a Map<String, Value>,
        key: &str,
        value: &'a Value,
        place: &str,
        depth: usize,
    ) -> Result<(), String> {
        let taken = match key {
            "properties" => return self.properties(fields, value, place, depth),
            "items" => return self.schema(value, &format!("the items of {place}"), depth + 1),
            "anyOf" | "allOf" => {
                for choice in value.as_array().into_iter().flatten() {
                    if key == "allOf" && choice.get("$ref").is_some() {
                        return Err(format!("{place} has an `allOf` with a reference"));
                    }
                    self.schema(choice, &format!("a choice of {place}"), depth + 1)?;
                }
                value.is_array()
            }
            "$ref" => return self.reference(value, place, depth),
            "additionalProperties" => *value == Value::Bool(false),
            "type" => value.is_string() || value.is_array(),
            "enum" => value.as_array().is_some_and(|values| values.iter().all(is_scalar)),
            "const" => is_scalar(value),
            "minItems" => value.as_u64().is_some_and(|least| least <= 1),
            "format" => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
            "pattern" => value.as_str().is_some_and(is_plain_pattern),
            _ => FREE.contains(&key),
        };
        if taken { Ok(()) } else { Err(format!("{place} has a `{key}` that is not taken")) }
    }

    fn properties(
        &mut self,
        fields: &Map<String, Value>,
        value: &'a Value,
        place: &str,
        depth: usize,
    ) -> Result<(), String> {
        let Some(properties) = value.as_object() else {
            return Err(format!("{place} has `properties` that are no object"));
        };
        let required = fields.get("required");
        for (name, property) in properties {
            self.count.optional += usize::from(!required.is_some_and(|required| holds(required, name)));
            let several = property.get("anyOf").is_some() || property.get("type").is_some_and(Value::is_array);
            self.count.unions += usize::from(several);
            self.schema(property, &format!("`{name}`"), depth + 1)?;
        }
        Ok(())
    }

    fn reference(&mut self, value: &'a Value, place: &str, depth: usize) -> Result<(), String> {
        let Some(name) = value.as_str() else { return Err(format!("{place} has a `$ref` that is no text")) };
        if self.within.contains(&name) {
            return Err(format!("{place} is recursive"));
        }
        if self.done.contains(name) {
            return Ok(());
        }
        let target =
            resolve(self.root, name).ok_or_else(|| format!("{place} refers to `{name}`, which is not there"))?;
        self.within.push(name);
        self.schema(target, &format!("`{name}`"), depth + 1)?;
        self.within.pop();
        self.done.insert(name);
        Ok(())
    }
}

/// The schema that a reference inside the document points to.
fn resolve<'a>(root: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let mut parts = name.strip_prefix("#/")?.split('/').map(|part| part.replace("~1", "/").replace("~0", "~"));
    let first = root.get(&parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(&part))
}

fn holds(list: &Value, word: &str) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(|value| value == word))
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// Patterns have no look-around, no references back and no word boundaries.
fn is_plain_pattern(pattern: &str) -> bool {
    let looks_around = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|word| pattern.contains(word));
    let mut escaped = false;
    let refers = pattern.chars().any(|c| {
        let special = escaped && (matches!(c, '1'..='9' | 'b' | 'B' | 'k'));
        escaped = c == '\\' && !escaped;
        special
    });
    !looks_around && !refers
}

/// A schema for the answer, made to fit: closed objects, and without the keywords that are not taken. The second part
/// names what was taken out; the model may then write what the schema forbids.
///
/// # Errors
/// Why it cannot be made to fit.
pub(super) fn make_fit(schema: &Value) -> Result<(Value, Vec<String>), String> {
    if fits(schema).is_ok() {
        return Ok((schema.clone(), Vec::new()));
    }
    let mut whole = schema.clone();
    let mut removed = Vec::new();
    trim(&mut whole, &mut removed, 0);
    fits(&whole)?;
    removed.sort();
    removed.dedup();
    Ok((whole, removed))
}

fn trim(schema: &mut Value, removed: &mut Vec<String>, depth: usize) {
    let Some(fields) = schema.as_object_mut().filter(|_| depth <= MAX_DEPTH) else { return };
    let is_object = fields.get("type").is_some_and(|kind| kind == "object");
    // An object that names no properties takes any: closing it would leave nothing of it.
    if is_object && fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
        fields.insert("additionalProperties".to_owned(), false.into());
    }
    let refused: Vec<String> =
        fields.iter().filter(|(key, value)| is_droppable(key, value)).map(|(key, _)| key.clone()).collect();
    for key in refused {
        fields.shift_remove(&key);
        removed.push(key);
    }
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                schemas.values_mut().for_each(|schema| trim(schema, removed, depth + 1));
            }
            ("items", schema) => trim(schema, removed, depth + 1),
            ("anyOf" | "allOf", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| trim(schema, removed, depth + 1));
            }
            _ => {}
        }
    }
}

/// Keywords that only narrow a value: without them the answer has the same form.
fn is_droppable(key: &str, value: &Value) -> bool {
    match key {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minLength" | "maxLength"
        | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" => true,
        "minItems" => value.as_u64().is_none_or(|least| least > 1),
        "format" => !value.as_str().is_some_and(|format| FORMATS.contains(&format)),
        "pattern" => !value.as_str().is_some_and(is_plain_pattern),
        _ => false,
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
