//! How much work it is to check a value against a schema, known before it is done.
//!
//! A checker goes through a schema again wherever a branch or a reference leads to it. Thirty definitions, each of which
//! refers twice to the next one, are a thousand million checks of one value. Here each pair of a schema and a value is
//! looked at once, and what it would take is added up.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The most checks of single schemas that one value is worth.
pub(super) const MOST: u64 = 200_000;
/// How deep references and branches may lead: a checker follows them on the stack.
const DEEPEST: usize = 128;

/// What a name in a list of properties is, for those who look only at its type.
static NAME: Value = Value::String(String::new());

/// What stands against a schema before any value is checked, if anything.
pub(super) fn schema_excess(schema: &Value) -> Option<String> {
    let mut effort = Effort::new(schema);
    effort.walk(schema, 0).err().map(|TooMuch| format!("it leads more than {DEEPEST} levels deep"))
}

/// What stands against checking a value, if anything.
pub(super) fn excess(schema: &Value, value: &Value) -> Option<String> {
    let mut effort = Effort::new(schema);
    let checks = effort.of(schema, value, 0).unwrap_or(u64::MAX);
    (checks > MOST).then(|| format!("they cannot be checked: the schema takes more than {MOST} checks for them"))
}

struct TooMuch;

struct Effort<'a> {
    root: &'a Value,
    /// Schemas that are referred to by a name of their own.
    named: HashMap<&'a str, &'a Value>,
    /// What a pair of a schema and a value takes, by where they are; absent while it is being found out.
    known: HashMap<(usize, usize), Option<u64>>,
}

impl<'a> Effort<'a> {
    fn new(root: &'a Value) -> Self {
        let mut named = HashMap::new();
        names(root, &mut named);
        Effort { root, named, known: HashMap::new() }
    }

    /// Goes through a schema once, as far as references lead.
    fn walk(&mut self, schema: &'a Value, depth: usize) -> Result<(), TooMuch> {
        if depth > DEEPEST {
            return Err(TooMuch);
        }
        if self.known.insert((at(schema), 0), None).is_some() {
            return Ok(());
        }
        match schema {
            Value::Object(fields) => {
                for (key, inner) in fields {
                    match self.target(key, inner) {
                        Some(target) => self.walk(target, depth + 1)?,
                        None => self.walk(inner, depth + 1)?,
                    }
                }
            }
            Value::Array(items) => items.iter().try_for_each(|inner| self.walk(inner, depth + 1))?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }

    /// How many schemas are checked, counted as often as a checker comes by.
    fn of(&mut self, schema: &'a Value, value: &'a Value, depth: usize) -> Result<u64, TooMuch> {
        let Value::Object(fields) = schema else { return Ok(1) };
        let pair = (at(schema), at(value));
        match self.known.get(&pair) {
            Some(Some(checks)) => return Ok(*checks),
            // It leads back to itself with the same value, and so without an end.
            Some(None) => return Err(TooMuch),
            None if depth > DEEPEST || self.known.len() as u64 > MOST => return Err(TooMuch),
            None => self.known.insert(pair, None),
        };
        let mut checks: u64 = 1;
        for (key, inner) in fields {
            checks = checks.saturating_add(self.keyword(fields, key, inner, value, depth + 1)?);
        }
        let looks_back = fields.contains_key("unevaluatedProperties") || fields.contains_key("unevaluatedItems");
        // What the other keywords have seen is found out by asking them again.
        let checks = if looks_back { checks.saturating_mul(3) } else { checks };
        self.known.insert(pair, Some(checks));
        Ok(checks)
    }

    /// What one keyword takes.
    fn keyword(
        &mut self,
        fields: &'a Map<String, Value>,
        key: &str,
        inner: &'a Value,
        value: &'a Value,
        depth: usize,
    ) -> Result<u64, TooMuch> {
        if let Some(target) = self.target(key, inner) {
            return self.of(target, value, depth);
        }
        let mut pairs: Vec<(&'a Value, &'a Value)> = Vec::new();
        match (key, inner, value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(branches), _) => {
                pairs.extend(branches.iter().map(|branch| (branch, value)));
            }
            ("not" | "if" | "then" | "else", branch, _) => pairs.push((branch, value)),
            ("dependentSchemas" | "dependencies", Value::Object(branches), Value::Object(_)) => {
                pairs.extend(branches.values().map(|branch| (branch, value)));
            }
            ("properties", Value::Object(schemas), Value::Object(values)) => {
                pairs.extend(values.iter().filter_map(|(name, value)| Some((schemas.get(name)?, value))));
            }
            ("patternProperties", Value::Object(schemas), Value::Object(values)) => {
                pairs.extend(schemas.values().flat_map(|schema| values.values().map(move |value| (schema, value))));
            }
            ("additionalProperties" | "unevaluatedProperties", schema, Value::Object(values)) => {
                let listed = fields.get("properties").and_then(Value::as_object);
                let others = values.iter().filter(|(name, _)| listed.is_none_or(|listed| !listed.contains_key(*name)));
                pairs.extend(others.map(|(_, value)| (schema, value)));
            }
            ("propertyNames", schema, Value::Object(values)) => {
                let names = u64::try_from(values.len()).unwrap_or(u64::MAX);
                return Ok(self.of(schema, &NAME, depth)?.saturating_mul(names));
            }
            ("items" | "prefixItems", Value::Array(schemas), Value::Array(values)) => {
                pairs.extend(schemas.iter().zip(values));
            }
            ("items" | "additionalItems" | "unevaluatedItems" | "contains", schema, Value::Array(values)) => {
                pairs.extend(values.iter().map(|value| (schema, value)));
            }
            _ => {}
        }
        pairs.into_iter().try_fold(0_u64, |sum, (schema, value)| Ok(sum.saturating_add(self.of(schema, value, depth)?)))
    }

    /// The schema that a reference leads to. Other documents are out of reach for a checker, and so none here.
    fn target(&self, key: &str, reference: &Value) -> Option<&'a Value> {
        if !matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef") {
            return None;
        }
        let reference = reference.as_str()?;
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = if document.is_empty() { self.root } else { self.named.get(last_part(document))? };
        if fragment.is_empty() {
            Some(document)
        } else if fragment.starts_with('/') {
            document.pointer(&super::schema::percent_decoded(fragment))
        } else {
            self.named.get(fragment).copied()
        }
    }
}

/// Where a value is. Nothing moves while work is counted.
fn at(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// The schemas that have names of their own.
fn names<'a>(schema: &'a Value, named: &mut HashMap<&'a str, &'a Value>) {
    match schema {
        Value::Object(fields) => {
            for key in ["$id", "id", "$anchor", "$dynamicAnchor"] {
                if let Some(name) = fields.get(key).and_then(Value::as_str) {
                    named.entry(last_part(name).trim_start_matches('#')).or_insert(schema);
                }
            }
            fields.values().for_each(|inner| names(inner, named));
        }
        Value::Array(items) => items.iter().for_each(|inner| names(inner, named)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The last part of an address: names are mostly relative to another one.
fn last_part(address: &str) -> &str {
    let address = address.trim_end_matches('#');
    address.rsplit_once('/').map_or(address, |(_, last)| last)
}
