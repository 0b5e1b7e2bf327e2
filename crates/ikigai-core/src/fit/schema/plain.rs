//! Anthropic's subset of JSON Schema, for strict tools and for structured output.

use std::collections::{HashMap, HashSet};

use super::{MAX_DEPTH, Path, Tree, for_each_schema};

/// Keywords that are accepted with any value.
const FREE: [&str; 10] =
    ["title", "description", "default", "examples", "$schema", "$id", "$comment", "required", "$defs", "definitions"];

const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// Limits for the strict tools of one request.
const MOST_STRICT: usize = 20;
const MOST_OPTIONAL: usize = 24;
const MOST_UNIONS: usize = 16;

/// How much of a request's limits schemas use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) tools: usize,
    /// Optional parameters.
    pub(crate) optional: usize,
    /// Parameters with several types.
    pub(crate) unions: usize,
}

impl Count {
    /// Adds one more strict tool.
    ///
    /// # Errors
    /// Returns the limit that it would exceed.
    pub(crate) fn take(&mut self, more: Count) -> Result<(), String> {
        let (optional, unions) = (self.optional + more.optional, self.unions + more.unions);
        if self.tools + more.tools > MOST_STRICT {
            return Err(format!("a request can have {MOST_STRICT} strict tools"));
        }
        if optional > MOST_OPTIONAL {
            return Err(format!("strict tools can have {MOST_OPTIONAL} optional parameters in all"));
        }
        if unions > MOST_UNIONS {
            return Err(format!("strict tools can have {MOST_UNIONS} parameters with several types in all"));
        }
        *self = Count { tools: self.tools + more.tools, optional, unions };
        Ok(())
    }
}

/// Checks whether the schema fits unchanged. Returns its share of a request's limits.
///
/// # Errors
/// Returns the first rule that it breaks, with the place.
pub(super) fn check(schema: &Tree<'_>) -> Result<Count, String> {
    if schema.as_object().is_none() {
        return Err("the schema is not an object".to_owned());
    }
    if schema.get("type").and_then(Tree::as_str).as_deref() != Some("object") {
        return Err("the root is not of type `object`".to_owned());
    }
    let mut definitions = HashMap::new();
    for key in ["$defs", "definitions"] {
        for entry in schema.get(key).and_then(Tree::as_object).unwrap_or_default() {
            definitions.insert(format!("#/{key}/{}", entry.name), &entry.value);
        }
    }
    let count = Count { tools: 1, ..Count::default() };
    let mut walk = Walk { definitions: &definitions, count, within: Vec::new(), done: HashSet::new() };
    walk.schema(schema, &Path::Root, 0)?;
    Ok(walk.count)
}

struct Walk<'w, 'a> {
    definitions: &'w HashMap<String, &'w Tree<'a>>,
    count: Count,
    /// References that are being followed; meeting one of them again is a recursion.
    within: Vec<String>,
    /// References that were followed to the end; each counts, and is walked, only once.
    done: HashSet<String>,
}

impl Walk<'_, '_> {
    fn schema(&mut self, schema: &Tree<'_>, place: &Path<'_>, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("the schema is more than {MAX_DEPTH} levels deep"));
        }
        let Some(fields) = schema.as_object() else { return Err(format!("{place} is not a schema object")) };
        let says = ["type", "anyOf", "allOf", "$ref", "enum", "const"].iter().any(|key| schema.get(key).is_some());
        if !says {
            return Err(format!("{place} takes anything"));
        }
        for entry in fields {
            self.keyword(schema, &entry.name, &entry.value, place, depth)?;
        }
        if schema.has_type("object") && !schema.get("additionalProperties").is_some_and(Tree::is_false) {
            return Err(format!("{place} lacks `additionalProperties: false`"));
        }
        Ok(())
    }

    fn keyword(
        &mut self,
        schema: &Tree<'_>,
        key: &str,
        value: &Tree<'_>,
        place: &Path<'_>,
        depth: usize,
    ) -> Result<(), String> {
        let taken = match key {
            "properties" => return self.properties(schema, value, place, depth),
            "items" => return self.schema(value, &Path::In(place, "items"), depth + 1),
            "anyOf" | "allOf" => {
                for choice in value.as_array().unwrap_or_default() {
                    if key == "allOf" && choice.get("$ref").is_some() {
                        return Err(format!("{place} has an `allOf` with a reference"));
                    }
                    self.schema(choice, &Path::In(place, key), depth + 1)?;
                }
                value.as_array().is_some()
            }
            "$ref" => return self.reference(value, place, depth),
            "additionalProperties" => value.is_false(),
            "type" => value.as_str().is_some() || value.as_array().is_some(),
            "enum" => value.as_array().is_some_and(|values| values.iter().all(is_scalar)),
            "const" => is_scalar(value),
            _ => FREE.contains(&key) || fits_narrowing(key, value),
        };
        if taken { Ok(()) } else { Err(format!("{place} has a `{key}` that is not taken")) }
    }

    fn properties(
        &mut self,
        schema: &Tree<'_>,
        value: &Tree<'_>,
        place: &Path<'_>,
        depth: usize,
    ) -> Result<(), String> {
        let Some(properties) = value.as_object() else {
            return Err(format!("{place} has `properties` that are not an object"));
        };
        let required = schema.get("required").and_then(Tree::as_array).unwrap_or_default();
        let required: HashSet<_> = required.iter().filter_map(Tree::as_str).collect();
        for entry in properties {
            let property = &entry.value;
            self.count.optional += usize::from(!required.contains(&entry.name));
            let several =
                property.get("anyOf").is_some() || property.get("type").is_some_and(|kind| kind.as_array().is_some());
            self.count.unions += usize::from(several);
            self.schema(property, &Path::In(place, &entry.name), depth + 1)?;
        }
        Ok(())
    }

    fn reference(&mut self, value: &Tree<'_>, place: &Path<'_>, depth: usize) -> Result<(), String> {
        let Some(name) = value.as_str() else { return Err(format!("{place} has a `$ref` that is not a text")) };
        if self.within.iter().any(|within| *within == name) {
            return Err(format!("{place} is recursive"));
        }
        if self.done.contains(name.as_ref()) {
            return Ok(());
        }
        let Some(target) = self.definitions.get(name.as_ref()).copied() else {
            return Err(format!("{place} refers to `{name}`, which is not a definition of this schema"));
        };
        self.within.push(name.clone().into_owned());
        self.schema(target, &Path::In(place, &name), depth + 1)?;
        self.within.pop();
        self.done.insert(name.into_owned());
        Ok(())
    }
}

fn is_scalar(value: &Tree<'_>) -> bool {
    matches!(value, Tree::Leaf(_))
}

/// Returns whether a keyword that only restricts a value has an accepted value.
fn fits_narrowing(key: &str, value: &Tree<'_>) -> bool {
    match key {
        "minItems" => matches!(value, Tree::Leaf("0" | "1")),
        "format" => value.as_str().is_some_and(|format| FORMATS.contains(&format.as_ref())),
        "pattern" => value.as_str().is_some_and(|pattern| is_plain_pattern(&pattern)),
        _ => false,
    }
}

/// Returns whether a keyword only restricts a value: without it, the answer has the same form.
fn only_narrows(key: &str) -> bool {
    const BOUNDS: [&str; 14] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "format",
        "pattern",
    ];
    BOUNDS.contains(&key)
}

/// Returns whether a pattern has no look-around, back-references or word boundaries.
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

/// Removes the keywords that are not accepted and only restrict a value. Returns their names.
pub(super) fn trim(schema: &mut Tree<'_>) -> Vec<String> {
    let mut removed = Vec::new();
    trim_inside(schema, &mut removed, 0);
    removed.sort_unstable();
    removed.dedup();
    removed
}

fn trim_inside(schema: &mut Tree<'_>, removed: &mut Vec<String>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Tree::Object(entries) = schema {
        entries.retain(|entry| {
            let refused = only_narrows(&entry.name) && !fits_narrowing(&entry.name, &entry.value);
            if refused {
                removed.push(entry.name.clone().into_owned());
            }
            !refused
        });
    }
    for_each_schema(schema, &["anyOf", "allOf"], |inner| trim_inside(inner, removed, depth + 1));
}
