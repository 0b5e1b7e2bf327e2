//! Computes how much work it is to check a value against a schema, before the check is made.
//!
//! A checker visits a schema again whenever a branch or a reference leads to it. Thirty definitions, each of which
//! refers twice to the next one, lead to a thousand million checks of one value. Here each pair of a schema and a value
//! is visited once, and the checks that it would take are added up.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The maximum number of checks of single schemas for one value.
pub(super) const MOST: u64 = 200_000;
/// How deep references and branches may lead: a checker follows them on the stack.
const DEEPEST: usize = 128;

/// Represents the name of a property, where only its type matters.
static NAME: Value = Value::String(String::new());

/// The most patterns of one schema.
const MOST_PATTERNS: usize = 500;
/// How much memory all patterns of one schema may take, in bytes: few letters can stand for megabytes, as in `\w{1000}`.
const PATTERNS: usize = 32 << 20;
/// How much memory one pattern may take.
const PATTERN: usize = 10 << 20;

/// Returns how many patterns a schema has, or why it is refused before any value is checked.
pub(super) fn check_schema(schema: &Value) -> Result<usize, String> {
    let mut effort = Effort::new(schema);
    effort.walk(schema, 0).map_err(|TooMuch| format!("it leads more than {DEEPEST} levels deep"))?;
    match effort.patterns {
        patterns if patterns > MOST_PATTERNS => Err(format!("it has more than {MOST_PATTERNS} patterns")),
        patterns => Ok(patterns),
    }
}

/// Returns how much memory each of so many patterns of a schema may take.
pub(super) fn room_of_each(patterns: usize) -> usize {
    (PATTERNS / patterns.max(1)).min(PATTERN)
}

/// Returns why a value is not checked, if it is not.
pub(super) fn excess(schema: &Value, value: &Value) -> Option<String> {
    let mut effort = Effort::new(schema);
    let checks = effort.of(schema, value, 0).unwrap_or(u64::MAX);
    (checks > MOST).then(|| format!("they cannot be checked: the schema takes more than {MOST} checks for them"))
}

struct TooMuch;

struct Effort<'a> {
    root: &'a Value,
    /// Schemas that can be referred to by a name.
    named: HashMap<&'a str, &'a Value>,
    /// The checks for each pair of a schema and a value, by address; `None` while they are being counted.
    known: HashMap<(usize, usize), Option<u64>>,
    /// The patterns of the schemas visited so far.
    patterns: usize,
}

impl<'a> Effort<'a> {
    fn new(root: &'a Value) -> Self {
        let mut named = HashMap::new();
        names(root, &mut named);
        Effort { root, named, known: HashMap::new(), patterns: 0 }
    }

    /// Visits a schema once, following its references.
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
                    self.patterns += match (key.as_str(), inner) {
                        ("pattern", Value::String(_)) => 1,
                        ("patternProperties", Value::Object(schemas)) => schemas.len(),
                        _ => 0,
                    };
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

    /// Returns the number of schema checks, counting each visit of a checker.
    fn of(&mut self, schema: &'a Value, value: &'a Value, depth: usize) -> Result<u64, TooMuch> {
        let Value::Object(fields) = schema else { return Ok(1) };
        let pair = (at(schema), at(value));
        match self.known.get(&pair) {
            Some(Some(checks)) => return Ok(*checks),
            // It leads back to itself with the same value, so it would never end.
            Some(None) => return Err(TooMuch),
            None if depth > DEEPEST || self.known.len() as u64 > MOST => return Err(TooMuch),
            None => self.known.insert(pair, None),
        };
        let mut checks: u64 = 1;
        for (key, inner) in fields {
            checks = checks.saturating_add(self.keyword(fields, key, inner, value, depth + 1)?);
        }
        let looks_back = fields.contains_key("unevaluatedProperties") || fields.contains_key("unevaluatedItems");
        // A checker finds out what the other keywords have seen by evaluating them again.
        let checks = if looks_back { checks.saturating_mul(3) } else { checks };
        self.known.insert(pair, Some(checks));
        Ok(checks)
    }

    /// Returns the number of checks for one keyword.
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

    /// Returns the schema that a reference leads to. Other documents are out of a checker's reach, so they have none.
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

/// Returns the address of a value. Nothing moves during the count.
fn at(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// Collects the schemas that have names.
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

/// Returns the last part of a URL: names are mostly relative to another one.
fn last_part(address: &str) -> &str {
    let address = address.trim_end_matches('#');
    address.rsplit_once('/').map_or(address, |(_, last)| last)
}
