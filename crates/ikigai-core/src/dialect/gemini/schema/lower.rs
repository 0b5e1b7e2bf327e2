//! JSON Schema to the subset of OpenAPI's schemas that older models take.

use std::fmt;

use serde_json::{Map, Value, json};

use super::super::error::excerpt;
use super::lowered::{Lowered, merge, size, word_of};
use crate::json::wire::Raw;
use crate::{Error, Json, Limits, Loss, LossCode};

/// Schemas inside schemas, once references are written out: deeper ones are cut.
const DEEPEST: usize = 64;
/// The size of a part of a schema that is written out for a reference.
const BYTES_OF_A_NODE: usize = 64;
/// References that are longer lead nowhere.
const LONGEST_REFERENCE: usize = 1000;
/// So many losses of one schema are told one by one.
const MOST_LOSSES: usize = 32;

/// A JSON Schema in the subset. What the subset has no word for is left out or put into the description, and told.
///
/// # Errors
/// If it has more parts than the limit, once its references are written out.
pub(in super::super) fn lower(
    schema: &Json,
    place: &str,
    limits: &Limits,
    losses: &mut Vec<Loss>,
) -> Result<Raw<'static>, Error> {
    let root: Value = match schema.to() {
        Ok(root) => root,
        Err(fault) => {
            let why = format!("the schema cannot be rewritten for this model ({fault}); any object is taken");
            losses.push(Loss::new(LossCode::Changed, "schema", place, why));
            return Ok(Raw::of(&any_object()));
        }
    };
    let mut lowering = Lowering {
        root: &root,
        open: Vec::new(),
        depth: 0,
        left: limits.schema_nodes.saturating_mul(BYTES_OF_A_NODE),
        exhausted: false,
        losses: Vec::new(),
        untold: 0,
    };
    let lowered = lowering.schema(&root, &Path::Root(place));
    if lowering.exhausted {
        return Err(limits.too_many_schema_nodes());
    }
    let untold = lowering.untold;
    losses.append(&mut lowering.losses);
    if untold > 0 {
        let why = format!("{untold} further keywords of the schema were left out or changed");
        losses.push(Loss::new(LossCode::Changed, "schema", place, why));
    }
    Ok(Raw::of(&lowered))
}

fn any_object() -> Value {
    json!({"type": "OBJECT"})
}

/// The way to a schema, written out only when there is something to tell.
#[derive(Clone, Copy)]
enum Path<'a> {
    Root(&'a str),
    Member(&'a Path<'a>, &'a str),
    Named(&'a Path<'a>, &'a str, &'a str),
    Item(&'a Path<'a>, &'a str, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root(place) => f.write_str(place),
            Path::Member(parent, key) => write!(f, "{parent}.{key}"),
            Path::Named(parent, key, name) => write!(f, "{parent}.{key}.{}", excerpt(name, 100)),
            Path::Item(parent, key, index) => write!(f, "{parent}.{key}[{index}]"),
        }
    }
}

struct Lowering<'a> {
    root: &'a Value,
    /// The references that are being followed.
    open: Vec<&'a str>,
    depth: usize,
    /// How many bytes may still be written out for references, which could multiply without end.
    left: usize,
    exhausted: bool,
    losses: Vec<Loss>,
    /// Losses beyond those that are told.
    untold: usize,
}

impl<'a> Lowering<'a> {
    fn tell(&mut self, loss: impl FnOnce() -> Loss) {
        if self.losses.len() < MOST_LOSSES {
            self.losses.push(loss());
        } else {
            self.untold += 1;
        }
    }

    fn lost(&mut self, what: &str, place: &Path<'_>, why: &str) {
        self.tell(|| Loss::new(LossCode::Changed, what, place.to_string(), why));
    }

    fn schema(&mut self, schema: &'a Value, place: &Path<'_>) -> Value {
        if self.depth >= DEEPEST {
            self.lost("schema", place, "the schema is nested too deep once its references are written out; cut here");
            return any_object();
        }
        self.depth += 1;
        let lowered = self.shallow(schema, place);
        self.depth -= 1;
        lowered
    }

    fn shallow(&mut self, schema: &'a Value, place: &Path<'_>) -> Value {
        let Some(schema) = schema.as_object() else {
            self.lost("schema", place, "a schema that admits anything became a text");
            return json!({"type": "STRING"});
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.reference(reference, schema, place);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.merged(schema, parts, place);
        }
        let mut lowered = Lowered::default();
        self.types(schema, &mut lowered, place);
        for (key, value) in schema {
            self.keyword(key, value, schema, &mut lowered, place);
        }
        lowered.finish()
    }

    fn reference(&mut self, reference: &'a str, schema: &'a Map<String, Value>, place: &Path<'_>) -> Value {
        let pointer = reference.strip_prefix('#').filter(|pointer| pointer.len() <= LONGEST_REFERENCE);
        let Some(target) = pointer.and_then(|pointer| self.root.pointer(pointer)) else {
            self.lost("$ref", place, "the reference leads outside of the schema; any object is taken");
            return any_object();
        };
        if self.open.contains(&reference) {
            self.lost(
                "$ref",
                place,
                "the schema contains itself, which the API cannot express; cut with a plain object",
            );
            return any_object();
        }
        let cost = if self.exhausted { usize::MAX } else { size(target) };
        let Some(left) = self.left.checked_sub(cost) else {
            self.exhausted = true;
            return any_object();
        };
        self.left = left;
        self.open.push(reference);
        let mut lowered = self.schema(target, place);
        self.open.pop();
        // What stands beside the reference describes this very place.
        if let Some(lowered) = lowered.as_object_mut() {
            for key in ["title", "description", "default"] {
                if let Some(value) = schema.get(key) {
                    lowered.insert(key.to_owned(), value.clone());
                }
            }
        }
        lowered
    }

    /// `allOf`: the parts and what stands beside them, in one.
    fn merged(&mut self, schema: &'a Map<String, Value>, parts: &'a [Value], place: &Path<'_>) -> Value {
        let mut merged = Map::new();
        for part in parts {
            if let Value::Object(lowered) = self.schema(part, place) {
                merge(&mut merged, lowered);
            }
        }
        let mut beside = Lowered::default();
        for (key, value) in schema.iter().filter(|(key, _)| *key != "allOf") {
            if key == "type" {
                self.types(schema, &mut beside, place);
            }
            self.keyword(key, value, schema, &mut beside, place);
        }
        if let Value::Object(beside) = beside.finish() {
            merge(&mut merged, beside);
        }
        Value::Object(merged)
    }

    /// The type: one word, perhaps nullable; several words are a choice.
    fn types(&mut self, schema: &'a Map<String, Value>, lowered: &mut Lowered, place: &Path<'_>) {
        let words: Vec<&str> = match schema.get("type") {
            Some(Value::String(word)) => vec![word.as_str()],
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        lowered.nullable = words.contains(&"null") && words.len() > 1;
        let words: Vec<&str> = words.iter().copied().filter(|word| *word != "null" || words.len() == 1).collect();
        match words.as_slice() {
            [] => {
                let implied = if schema.contains_key("properties") {
                    Some("OBJECT")
                } else if schema.contains_key("items") || schema.contains_key("prefixItems") {
                    Some("ARRAY")
                } else if schema.contains_key("anyOf") || schema.contains_key("oneOf") {
                    None
                } else if schema.contains_key("enum") || schema.contains_key("const") {
                    Some("STRING")
                } else {
                    self.lost("schema", place, "a schema that admits anything became a text");
                    Some("STRING")
                };
                lowered.word = implied.map(str::to_owned);
            }
            [word] => lowered.word = Some(word.to_ascii_uppercase()),
            [..] => lowered.choices.extend(words.iter().map(|word| json!({"type": word.to_ascii_uppercase()}))),
        }
    }

    fn keyword(
        &mut self,
        key: &str,
        value: &'a Value,
        schema: &'a Map<String, Value>,
        lowered: &mut Lowered,
        place: &Path<'_>,
    ) {
        match key {
            // Read before, or of no use to the model.
            "type" | "description" | "$schema" | "$id" | "$comment" | "$anchor" | "$defs" | "definitions" => {
                if let ("description", Some(text)) = (key, value.as_str()) {
                    lowered.notes.insert(0, text.to_owned());
                }
            }
            "title" | "default" | "example" | "pattern" | "minimum" | "maximum" | "minItems" | "maxItems"
            | "minLength" | "maxLength" | "minProperties" | "maxProperties" | "propertyOrdering" => {
                lowered.fields.insert(key.to_owned(), value.clone());
            }
            "nullable" => lowered.nullable |= value == true,
            "properties" => {
                let properties: Map<String, Value> = value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, schema)| (name.clone(), self.schema(schema, &Path::Named(place, key, name))))
                    .collect();
                // An object without properties is refused where it says so.
                if !properties.is_empty() {
                    lowered.fields.insert(key.to_owned(), properties.into());
                }
            }
            "required" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let names = value.as_array().into_iter().flatten().filter(|name| {
                    name.as_str().is_some_and(|name| known.is_some_and(|known| known.contains_key(name)))
                });
                let names: Vec<Value> = names.cloned().collect();
                if !names.is_empty() {
                    lowered.fields.insert(key.to_owned(), names.into());
                }
            }
            "items" => {
                let items = self.schema(value, &Path::Member(place, key));
                lowered.fields.insert(key.to_owned(), items);
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                let items: Vec<Value> =
                    items.map(|(index, item)| self.schema(item, &Path::Item(place, key, index))).collect();
                lowered.fields.insert(key.to_owned(), items.into());
            }
            "anyOf" | "oneOf" => self.choices(key, value, lowered, place),
            "const" => self.values(std::slice::from_ref(value), lowered, place),
            "enum" => self.values(value.as_array().map(Vec::as_slice).unwrap_or_default(), lowered, place),
            "exclusiveMinimum" => lowered.notes.push(format!("Must be greater than {value}.")),
            "exclusiveMaximum" => lowered.notes.push(format!("Must be less than {value}.")),
            "format" => {
                let known = matches!(
                    (lowered.word.as_deref(), value.as_str()),
                    (Some("STRING"), Some("date-time" | "enum"))
                        | (Some("INTEGER"), Some("int32" | "int64"))
                        | (Some("NUMBER"), Some("float" | "double"))
                );
                if known {
                    lowered.fields.insert(key.to_owned(), value.clone());
                } else {
                    lowered.notes.push(format!("Format: {}.", value.as_str().unwrap_or_default()));
                    self.lost(key, place, "the API does not know this format; it stands in the description");
                }
            }
            "additionalProperties" if !value.is_object() => {}
            "examples" => {}
            _ => self.lost(key, place, "the API's schemas have no such keyword; it was left out"),
        }
        if key.starts_with("exclusive") {
            self.lost(key, place, "the API's schemas have no such keyword; it is in the description");
        }
    }

    fn choices(&mut self, key: &str, value: &'a Value, lowered: &mut Lowered, place: &Path<'_>) {
        if key == "oneOf" {
            let why = "it became anyOf: exactly one cannot be asked for";
            self.tell(|| Loss::info(LossCode::Changed, key, place.to_string(), why));
        }
        for (index, choice) in value.as_array().into_iter().flatten().enumerate() {
            if choice.get("type").is_some_and(|word| word == "null") {
                lowered.nullable = true;
            } else {
                let choice = self.schema(choice, &Path::Item(place, key, index));
                lowered.choices.push(choice);
            }
        }
    }

    /// Allowed values: texts stay, anything else goes into the description.
    fn values(&mut self, values: &'a [Value], lowered: &mut Lowered, place: &Path<'_>) {
        lowered.nullable |= values.len() > 1 && values.contains(&Value::Null);
        let values: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        if values.iter().all(|value| value.is_string()) {
            lowered.fields.insert("enum".to_owned(), values.into_iter().cloned().collect());
            return;
        }
        let list: Vec<String> = values.iter().map(ToString::to_string).collect();
        lowered.notes.push(format!("Allowed values: {}.", list.join(", ")));
        if lowered.word.as_deref() == Some("STRING") {
            lowered.word = Some(word_of(&values).to_owned());
        }
        self.lost("enum", place, "the API takes texts alone; the allowed values stand in the description");
    }
}
