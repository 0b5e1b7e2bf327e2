//! OpenAI's strict subset of JSON Schema, for tools and for structured output.

use std::collections::HashSet;

use super::{MAX_DEPTH, Path, Tree};

/// The maximum number of properties in the whole schema.
const MAX_PROPERTIES: usize = 5000;
/// The maximum nesting of objects.
const MAX_LEVELS: usize = 10;
/// The maximum number of enum values in the whole schema.
const MAX_ENUM_VALUES: usize = 1000;

/// The accepted keywords. `$ref` is separate: nothing else is allowed next to it.
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

/// The accepted string formats.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Checks that the schema meets the strict rules unchanged.
///
/// # Errors
/// Returns the first rule that it breaks, with the place.
pub(super) fn check(schema: &Tree<'_>) -> Result<(), String> {
    if schema.as_object().is_none() {
        return Err("the schema is not an object".to_owned());
    }
    if schema.get("type").and_then(Tree::as_str).as_deref() != Some("object") {
        return Err("the root is not of type `object`".to_owned());
    }
    if schema.get("anyOf").is_some() {
        return Err("the root has an `anyOf`".to_owned());
    }
    let names = |key: &'static str| {
        let named = schema.get(key).and_then(Tree::as_object).unwrap_or_default();
        named.iter().map(move |entry| format!("#/{key}/{}", entry.name))
    };
    let definitions = names("$defs").chain(names("definitions")).collect();
    let mut walk = Walk { definitions, properties: 0, enum_values: 0 };
    walk.schema(schema, &Path::Root, 0, 0)
}

struct Walk {
    /// The possible targets of a reference, besides the root. Each is checked where it is defined.
    definitions: HashSet<String>,
    properties: usize,
    enum_values: usize,
}

impl Walk {
    fn schema(&mut self, schema: &Tree<'_>, place: &Path<'_>, levels: usize, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("{place} is nested too deep"));
        }
        let Some(fields) = schema.as_object() else { return Err(format!("{place} is not a schema object")) };
        if let Some(reference) = schema.get("$ref") {
            if let Some(beside) = fields.iter().find(|entry| entry.name != "$ref") {
                return Err(format!("{place} has `{}` beside `$ref`", beside.name));
            }
            return self.reference(reference, place);
        }
        if let Some(entry) = fields.iter().find(|entry| !is_known(&entry.name, place)) {
            return Err(format!("{place} has the keyword `{}`, which strict schemas cannot have", entry.name));
        }
        if let Some(format) = schema.get("format")
            && !format.as_str().is_some_and(|format| FORMATS.contains(&format.as_ref()))
        {
            let format = format.as_str().unwrap_or_default();
            return Err(format!("{place} has the format `{format}`, which strict schemas do not know"));
        }
        if let Some(values) = schema.get("enum").and_then(Tree::as_array) {
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
        if schema.has_type("object") {
            self.object(schema, place, levels + 1, depth)?;
        }
        if schema.has_type("array") {
            match schema.get("items") {
                Some(items) => self.schema(items, &Path::In(place, "items"), levels, depth + 1)?,
                None => return Err(format!("{place} is an array without `items`")),
            }
        }
        for key in ["$defs", "definitions"] {
            for entry in schema.get(key).and_then(Tree::as_object).unwrap_or_default() {
                self.schema(&entry.value, &Path::In(place, &entry.name), levels, depth + 1)?;
            }
        }
        Ok(())
    }

    fn object(&mut self, schema: &Tree<'_>, place: &Path<'_>, levels: usize, depth: usize) -> Result<(), String> {
        if levels > MAX_LEVELS {
            return Err(format!("{place} is more than {MAX_LEVELS} objects deep"));
        }
        let Some(properties) = schema.get("properties").and_then(Tree::as_object) else {
            return Err(format!("{place} is an object without `properties`"));
        };
        match schema.get("additionalProperties") {
            Some(said) if said.is_false() => {}
            Some(_) => return Err(format!("{place} takes additional properties")),
            None => return Err(format!("{place} lacks `additionalProperties: false`")),
        }
        self.properties = self.properties.saturating_add(properties.len());
        if self.properties > MAX_PROPERTIES {
            return Err(format!("there are more than {MAX_PROPERTIES} properties"));
        }
        let required = schema.get("required").and_then(Tree::as_array).unwrap_or_default();
        let required: Vec<_> = required.iter().map(|name| name.as_str().unwrap_or_default()).collect();
        let names = || properties.iter().map(|entry| entry.name.as_ref());
        // Usually in the same order.
        if !names().eq(required.iter().map(AsRef::<str>::as_ref)) {
            let named: HashSet<&str> = names().collect();
            if let Some(name) = required.iter().find(|name| !named.contains(name.as_ref())) {
                return Err(format!("{place} requires `{name}`, which is not a property"));
            }
            let required: HashSet<&str> = required.iter().map(AsRef::as_ref).collect();
            if let Some(name) = names().find(|name| !required.contains(name)) {
                return Err(format!("the property `{name}` of {place} is optional"));
            }
        }
        for entry in properties {
            self.schema(&entry.value, &Path::In(place, &entry.name), levels, depth + 1)?;
        }
        Ok(())
    }

    fn variants(&mut self, variants: &Tree<'_>, place: &Path<'_>, levels: usize, depth: usize) -> Result<(), String> {
        let Some(variants) = variants.as_array().filter(|variants| !variants.is_empty()) else {
            return Err(format!("{place} has an `anyOf` without variants"));
        };
        for inner in variants {
            self.schema(inner, &Path::In(place, "anyOf"), levels, depth + 1)?;
        }
        Ok(())
    }

    fn reference(&self, reference: &Tree<'_>, place: &Path<'_>) -> Result<(), String> {
        let target = reference.as_str().unwrap_or_default();
        if target == "#" || self.definitions.contains(target.as_ref()) {
            return Ok(());
        }
        Err(format!("{place} refers to `{target}`, which is not a definition of this schema"))
    }
}

fn is_known(word: &str, place: &Path<'_>) -> bool {
    KEYWORDS.contains(&word)
        // Some schema generators put it at the root, and it is accepted there.
        || (word == "$schema" && matches!(place, Path::Root))
}
