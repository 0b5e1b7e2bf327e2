//! JSON Schema to the subset of OpenAPI's schemas that older models accept.

use std::fmt::{self, Write as _};

use serde_json::{Map, Value, json};

use crate::dialect::failure::excerpt;
use crate::json::wire::Raw;
use crate::{Error, Json, Limits, Loss, LossCode};

/// The most nested schemas, once references are written out: deeper ones are cut.
const DEEPEST: usize = 64;
/// The assumed size of a schema node that is written out for a reference.
const BYTES_OF_A_NODE: usize = 64;
/// References longer than this are treated as invalid.
const LONGEST_REFERENCE: usize = 1000;
/// The most losses of one schema that are reported one by one.
const MOST_LOSSES: usize = 32;

/// Writes a JSON Schema in the subset. What it cannot express is left out or put into the description, and reported.
///
/// # Errors
/// Returns an error if the schema has more nodes than the limit, once its references are written out.
pub(in super::super) fn lower(
    schema: &Json,
    place: &str,
    limits: &Limits,
    losses: &mut Vec<Loss>,
) -> Result<Raw<'static>, Error> {
    let root: Value = match schema.to() {
        Ok(root) => root,
        Err(fault) => {
            let why = format!("the schema cannot be rewritten for this model ({fault}); any object is accepted");
            losses.push(Loss::new(LossCode::Changed, "schema", place, why));
            return Ok(Raw::of(&any_object()));
        }
    };
    let mut lowering = Lowering {
        root: &root,
        place: place.to_owned(),
        open: Vec::new(),
        depth: 0,
        left: Some(limits.schema_nodes.saturating_mul(BYTES_OF_A_NODE)),
        losses: Vec::new(),
        untold: 0,
    };
    let lowered = lowering.schema(&root);
    if lowering.left.is_none() {
        return Err(limits.too_many_schema_nodes());
    }
    losses.append(&mut lowering.losses);
    if lowering.untold > 0 {
        let why = format!("{} further keywords of the schema were left out or changed", lowering.untold);
        losses.push(Loss::new(LossCode::Changed, "schema", place, why));
    }
    Ok(Raw::of(&lowered))
}

fn any_object() -> Value {
    json!({"type": "OBJECT"})
}

struct Lowering<'a> {
    root: &'a Value,
    /// The path to the current schema.
    place: String,
    /// The references being followed.
    open: Vec<&'a str>,
    depth: usize,
    /// How many bytes may still be written out for references, which could multiply endlessly; `None` once exceeded.
    left: Option<usize>,
    losses: Vec<Loss>,
    /// The number of losses beyond those that are reported.
    untold: usize,
}

/// A schema of the subset being assembled.
#[derive(Default)]
struct Lowered {
    word: Option<String>,
    nullable: bool,
    notes: Vec<String>,
    choices: Vec<Value>,
    fields: Map<String, Value>,
}

impl Lowered {
    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.fields.insert(key.to_owned(), value.into());
    }

    fn finish(mut self) -> Value {
        let mut schema = Map::new();
        // A choice of one is not a choice.
        if self.choices.len() == 1
            && let Some(Value::Object(only)) = self.choices.pop()
        {
            schema = only;
        }
        if !self.choices.is_empty() {
            self.word = None;
            schema.insert("anyOf".to_owned(), self.choices.into());
        }
        if let Some(word) = self.word {
            schema.entry("type").or_insert_with(|| word.into());
        }
        if !self.notes.is_empty() {
            self.fields.shift_remove("description");
            schema.insert("description".to_owned(), self.notes.join(" ").into());
        }
        schema.extend(self.fields);
        if self.nullable {
            schema.insert("nullable".to_owned(), true.into());
        }
        Value::Object(schema)
    }
}

impl<'a> Lowering<'a> {
    fn tell(&mut self, loss: Loss) {
        if self.losses.len() < MOST_LOSSES {
            self.losses.push(loss);
        } else {
            self.untold += 1;
        }
    }

    fn lost(&mut self, what: &str, why: &str) {
        self.tell(Loss::new(LossCode::Changed, what, self.place.as_str(), why));
    }

    /// Lowers a schema inside the current one, one step further.
    fn inside(&mut self, step: fmt::Arguments<'_>, schema: &'a Value) -> Value {
        let before = self.place.len();
        // Writing to a string does not fail.
        let _ = self.place.write_fmt(step);
        let lowered = self.schema(schema);
        self.place.truncate(before);
        lowered
    }

    fn schema(&mut self, schema: &'a Value) -> Value {
        if self.depth >= DEEPEST {
            self.lost("schema", "the schema is nested too deep once its references are written out; cut here");
            return any_object();
        }
        self.depth += 1;
        let lowered = self.shallow(schema);
        self.depth -= 1;
        lowered
    }

    fn shallow(&mut self, schema: &'a Value) -> Value {
        let Some(schema) = schema.as_object() else {
            self.lost("schema", "a schema that allows anything became a string");
            return json!({"type": "STRING"});
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.reference(reference, schema);
        }
        let mut lowered = Lowered::default();
        self.types(schema, &mut lowered);
        for (key, value) in schema {
            self.keyword(key, value, schema, &mut lowered);
        }
        lowered.finish()
    }

    fn reference(&mut self, reference: &'a str, schema: &'a Map<String, Value>) -> Value {
        let pointer = reference.strip_prefix('#').filter(|pointer| pointer.len() <= LONGEST_REFERENCE);
        let Some(target) = pointer.and_then(|pointer| self.root.pointer(pointer)) else {
            self.lost("$ref", "the reference leads outside of the schema; any object is accepted");
            return any_object();
        };
        if self.open.contains(&reference) {
            self.lost("$ref", "the schema contains itself, which the API cannot express; cut with a plain object");
            return any_object();
        }
        self.left = self.left.and_then(|left| left.checked_sub(target.to_string().len()));
        if self.left.is_none() {
            return any_object();
        }
        self.open.push(reference);
        let mut lowered = self.schema(target);
        self.open.pop();
        // The reference's siblings describe this particular place.
        if let Some(lowered) = lowered.as_object_mut() {
            for key in ["title", "description", "default"] {
                if let Some(value) = schema.get(key) {
                    lowered.insert(key.to_owned(), value.clone());
                }
            }
        }
        lowered
    }

    /// Reads the type: one name, possibly nullable; several names are a choice.
    fn types(&mut self, schema: &'a Map<String, Value>, lowered: &mut Lowered) {
        let mut words: Vec<&str> = match schema.get("type") {
            Some(Value::String(word)) => vec![word.as_str()],
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if words.len() > 1 {
            lowered.nullable = words.contains(&"null");
            words.retain(|word| *word != "null");
        }
        match words.as_slice() {
            [] => {
                let has = |names: &[&str]| names.iter().any(|name| schema.contains_key(*name));
                let implied = if has(&["properties"]) {
                    "OBJECT"
                } else if has(&["items", "prefixItems"]) {
                    "ARRAY"
                } else if has(&["anyOf", "oneOf", "allOf"]) {
                    return;
                } else {
                    if !has(&["enum", "const"]) {
                        self.lost("schema", "a schema that allows anything became a string");
                    }
                    "STRING"
                };
                lowered.word = Some(implied.to_owned());
            }
            [word] => lowered.word = Some(word.to_ascii_uppercase()),
            [..] => lowered.choices.extend(words.iter().map(|word| json!({"type": word.to_ascii_uppercase()}))),
        }
    }

    fn keyword(&mut self, key: &str, value: &'a Value, schema: &'a Map<String, Value>, lowered: &mut Lowered) {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        match key {
            // Read earlier, or of no use to the model.
            "type" | "$schema" | "$id" | "$comment" | "$anchor" | "$defs" | "definitions" | "examples" => {}
            "description" => lowered.notes.splice(..0, value.as_str().map(str::to_owned)).for_each(drop),
            "title" | "default" | "example" | "pattern" | "minimum" | "maximum" | "minItems" | "maxItems"
            | "minLength" | "maxLength" | "minProperties" | "maxProperties" | "propertyOrdering" => {
                lowered.set(key, value.clone());
            }
            "nullable" => lowered.nullable |= value == true,
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                let properties: Map<String, Value> = properties
                    .map(|(name, schema)| {
                        (name.clone(), self.inside(format_args!(".{key}.{}", excerpt(name, 100)), schema))
                    })
                    .collect();
                // An explicit object without properties is refused.
                if !properties.is_empty() {
                    merge(&mut lowered.fields, json!({key: properties}));
                }
            }
            "required" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let is_known =
                    |name: &&Value| name.as_str().zip(known).is_some_and(|(name, all)| all.contains_key(name));
                let names: Vec<Value> = items.iter().filter(is_known).cloned().collect();
                if !names.is_empty() {
                    merge(&mut lowered.fields, json!({key: names}));
                }
            }
            "items" => {
                let items = self.inside(format_args!(".{key}"), value);
                lowered.set(key, items);
            }
            "prefixItems" => {
                let items = items.iter().enumerate();
                let items = items.map(|(index, item)| self.inside(format_args!(".{key}[{index}]"), item));
                lowered.set(key, items.collect::<Vec<_>>());
            }
            // Merges the parts and their siblings.
            "allOf" => items.iter().for_each(|part| merge(&mut lowered.fields, self.schema(part))),
            "anyOf" | "oneOf" => self.choices(key, items, lowered),
            "const" => self.values(std::slice::from_ref(value), lowered),
            "enum" => self.values(items, lowered),
            "exclusiveMinimum" | "exclusiveMaximum" => {
                let side = if key == "exclusiveMinimum" { "greater" } else { "less" };
                lowered.notes.push(format!("Must be {side} than {value}."));
                self.lost(key, "the API's schemas have no such keyword; it is in the description");
            }
            "format" => {
                let known = matches!(
                    (lowered.word.as_deref(), value.as_str()),
                    (Some("STRING"), Some("date-time" | "enum"))
                        | (Some("INTEGER"), Some("int32" | "int64"))
                        | (Some("NUMBER"), Some("float" | "double"))
                );
                if known {
                    return lowered.set(key, value.clone());
                }
                lowered.notes.push(format!("Format: {}.", value.as_str().unwrap_or_default()));
                self.lost(key, "the API does not support this format; it is in the description");
            }
            "additionalProperties" if !value.is_object() => {}
            _ => self.lost(key, "the API's schemas have no such keyword; it was left out"),
        }
    }

    fn choices(&mut self, key: &str, choices: &'a [Value], lowered: &mut Lowered) {
        if key == "oneOf" {
            let why = "it became anyOf: \"exactly one\" cannot be expressed";
            self.tell(Loss::info(LossCode::Changed, key, self.place.as_str(), why));
        }
        for (index, choice) in choices.iter().enumerate() {
            if choice.get("type").is_some_and(|word| word == "null") {
                lowered.nullable = true;
            } else {
                lowered.choices.push(self.inside(format_args!(".{key}[{index}]"), choice));
            }
        }
    }

    /// Writes allowed values: strings stay, anything else goes into the description.
    fn values(&mut self, values: &'a [Value], lowered: &mut Lowered) {
        lowered.nullable |= values.len() > 1 && values.contains(&Value::Null);
        let values: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        let all = |is_so: fn(&Value) -> bool| values.iter().all(|value| is_so(value));
        if all(Value::is_string) {
            return lowered.set("enum", values.into_iter().cloned().collect::<Vec<_>>());
        }
        let list: Vec<String> = values.iter().map(ToString::to_string).collect();
        lowered.notes.push(format!("Allowed values: {}.", list.join(", ")));
        if lowered.word.as_deref() == Some("STRING") {
            let words = [
                ("INTEGER", all(|value| value.is_i64() || value.is_u64())),
                ("NUMBER", all(Value::is_number)),
                ("BOOLEAN", all(Value::is_boolean)),
            ];
            lowered.word =
                words.iter().find(|(_, fits)| *fits).map(|(word, _)| (*word).to_owned()).or(lowered.word.take());
        }
        self.lost("enum", "the API accepts only strings; the allowed values are in the description");
    }
}

/// Merges one lowered schema into another: properties and required names add up, the rest replaces.
fn merge(target: &mut Map<String, Value>, more: Value) {
    let Value::Object(more) = more else { return };
    for (key, value) in more {
        match (target.get_mut(&key), value) {
            (Some(Value::Object(own)), Value::Object(more)) if key == "properties" => own.extend(more),
            (Some(Value::Array(own)), Value::Array(more)) if key == "required" => own.extend(more),
            (_, value) => {
                target.insert(key, value);
            }
        }
    }
}
