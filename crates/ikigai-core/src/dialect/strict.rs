//! OpenAI's strict subset of JSON Schema: may `strict: true` go beside this schema?
//!
//! A strict schema that does not fit is refused as a whole, so the check errs on the safe side: a keyword that nobody
//! has seen accepted counts as refused. Used by both of OpenAI's dialects, for tools and for structured output.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Properties in the whole schema.
const MAX_PROPERTIES: usize = 5000;
/// Objects inside objects.
const MAX_LEVELS: usize = 10;
/// Enum values in the whole schema.
const MAX_ENUM_VALUES: usize = 1000;
/// Schemas inside schemas of any kind; only keeps the walk from running out of stack.
const MAX_DEPTH: usize = 64;

/// Keywords that the subset knows. `$ref` stands apart: it bears no other keyword beside it.
const KEYWORDS: [&str; 21] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "$defs",
    "definitions",
    "title",
    "description",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

/// String formats that the subset knows.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Does the schema meet the strict rules as it is?
///
/// # Errors
/// The first rule that it breaks, with the place.
pub(crate) fn check(schema: &Value) -> Result<(), String> {
    let Some(root) = schema.as_object() else { return Err("the schema is not an object".to_owned()) };
    if root.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the root is not of type `object`".to_owned());
    }
    if root.contains_key("anyOf") {
        return Err("the root has an `anyOf`".to_owned());
    }
    let mut walk = Walk { root, properties: 0, enum_values: 0 };
    walk.schema(schema, &Place::Root, 0, 0)
}

/// The schema as it can go on the wire with `strict: true`: as it is, or closed with `additionalProperties: false`
/// where it says nothing about further properties. That does not change what the model reads.
///
/// An object inside that names no properties takes any, so closing it would change its meaning: it is left open, and
/// the check reports it. The root alone is closed also then, because a tool without properties takes no arguments.
///
/// # Errors
/// Why the schema cannot be strict without a change of meaning.
pub(crate) fn strictify(schema: &Value) -> Result<Cow<'_, Value>, String> {
    if check(schema).is_ok() {
        return Ok(Cow::Borrowed(schema));
    }
    let mut closed = schema.clone();
    if let Value::Object(root) = &mut closed {
        if is_object(root) {
            root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
            root.entry("additionalProperties").or_insert(Value::Bool(false));
        }
        close(root, 0);
    }
    check(&closed)?;
    Ok(Cow::Owned(closed))
}

/// Adds `additionalProperties: false` to every object schema that names properties and says nothing about others.
fn close(schema: &mut Map<String, Value>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let names_properties =
        schema.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty());
    if names_properties && is_object(schema) {
        schema.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    for key in ["properties", "$defs", "definitions"] {
        if let Some(Value::Object(named)) = schema.get_mut(key) {
            for inner in named.values_mut().filter_map(Value::as_object_mut) {
                close(inner, depth + 1);
            }
        }
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        close(items, depth + 1);
    }
    if let Some(Value::Array(variants)) = schema.get_mut("anyOf") {
        for inner in variants.iter_mut().filter_map(Value::as_object_mut) {
            close(inner, depth + 1);
        }
    }
}

/// Does the schema's `type` say object, alone or among others?
fn is_object(schema: &Map<String, Value>) -> bool {
    has_type(schema, "object")
}

fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(word)) => word == name,
        Some(Value::Array(words)) => words.iter().any(|word| word == name),
        _ => false,
    }
}

/// The way to a schema, written out only when something is wrong there.
enum Place<'a> {
    Root,
    In(&'a Place<'a>, &'a str),
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Root => f.write_str("the root"),
            Place::In(Place::Root, name) => write!(f, "`{name}`"),
            Place::In(parent, name) => write!(f, "`{name}` in {parent}"),
        }
    }
}

struct Walk<'a> {
    root: &'a Map<String, Value>,
    properties: usize,
    enum_values: usize,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Value, place: &Place<'_>, levels: usize, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("{place} is nested too deep"));
        }
        let Some(schema) = schema.as_object() else { return Err(format!("{place} is no schema object")) };
        if let Some(reference) = schema.get("$ref") {
            return self.reference(reference, schema, place);
        }
        if let Some(word) = schema.keys().find(|word| !is_known(word, place)) {
            return Err(format!("{place} has the keyword `{word}`, which strict schemas cannot have"));
        }
        if let Some(format) = schema.get("format")
            && !format.as_str().is_some_and(|format| FORMATS.contains(&format))
        {
            return Err(format!("{place} has the format {format}, which strict schemas do not know"));
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            self.enum_values = self.enum_values.saturating_add(values.len());
            if self.enum_values > MAX_ENUM_VALUES {
                return Err(format!("there are more than {MAX_ENUM_VALUES} enum values"));
            }
        }
        match (schema.get("type"), schema.get("anyOf")) {
            (None, None) => return Err(format!("{place} has no `type`")),
            (_, Some(variants)) => self.variants(variants, place, levels, depth)?,
            (Some(_), None) => {}
        }
        if is_object(schema) {
            self.object(schema, place, levels + 1, depth)?;
        }
        if has_type(schema, "array") {
            match schema.get("items") {
                Some(items) => self.schema(items, &Place::In(place, "items"), levels, depth + 1)?,
                None => return Err(format!("{place} is an array without `items`")),
            }
        }
        for key in ["$defs", "definitions"] {
            if let Some(Value::Object(named)) = schema.get(key) {
                for (name, inner) in named {
                    self.schema(inner, &Place::In(place, name), levels, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        schema: &Map<String, Value>,
        place: &Place<'_>,
        levels: usize,
        depth: usize,
    ) -> Result<(), String> {
        if levels > MAX_LEVELS {
            return Err(format!("{place} is more than {MAX_LEVELS} objects deep"));
        }
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return Err(format!("{place} is an object without `properties`"));
        };
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            Some(_) => return Err(format!("{place} takes additional properties")),
            None => return Err(format!("{place} lacks `additionalProperties: false`")),
        }
        self.properties = self.properties.saturating_add(properties.len());
        if self.properties > MAX_PROPERTIES {
            return Err(format!("there are more than {MAX_PROPERTIES} properties"));
        }
        let no_names = Vec::new();
        let required = schema.get("required").and_then(Value::as_array).unwrap_or(&no_names);
        if let Some(name) =
            required.iter().find(|name| !name.as_str().is_some_and(|name| properties.contains_key(name)))
        {
            return Err(format!("{place} requires {name}, which is no property"));
        }
        let required: std::collections::HashSet<&str> = required.iter().filter_map(Value::as_str).collect();
        if let Some(name) = properties.keys().find(|name| !required.contains(name.as_str())) {
            return Err(format!("the property `{name}` of {place} is optional"));
        }
        for (name, inner) in properties {
            self.schema(inner, &Place::In(place, name), levels, depth + 1)?;
        }
        Ok(())
    }

    fn variants(&mut self, variants: &Value, place: &Place<'_>, levels: usize, depth: usize) -> Result<(), String> {
        let Some(variants) = variants.as_array().filter(|variants| !variants.is_empty()) else {
            return Err(format!("{place} has an `anyOf` without variants"));
        };
        for inner in variants {
            self.schema(inner, &Place::In(place, "anyOf"), levels, depth + 1)?;
        }
        Ok(())
    }

    /// References may lead back to the root or to a definition; what they lead to is checked where it stands.
    fn reference(&self, reference: &Value, schema: &Map<String, Value>, place: &Place<'_>) -> Result<(), String> {
        if let Some(word) = schema.keys().find(|word| word.as_str() != "$ref") {
            return Err(format!("{place} has `{word}` beside `$ref`"));
        }
        let found = reference.as_str().is_some_and(|target| {
            target == "#"
                || target
                    .strip_prefix("#/")
                    .and_then(|path| path.split_once('/'))
                    .filter(|(key, _)| matches!(*key, "$defs" | "definitions"))
                    .and_then(|(key, name)| self.root.get(key)?.get(name))
                    .is_some()
        });
        if found {
            Ok(())
        } else {
            Err(format!("{place} refers to {reference}, which is no definition of this schema"))
        }
    }
}

fn is_known(word: &str, place: &Place<'_>) -> bool {
    KEYWORDS.contains(&word)
        // The schema generators of other languages put it at the root, and it is accepted there.
        || (word == "$schema" && matches!(place, Place::Root))
}

#[cfg(test)]
#[path = "strict_tests.rs"]
mod tests;
