//! Values that fit a JSON Schema, taken from a prompt if it provides them.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value, json};

/// How deep schemas are followed; deeper ones get the smallest possible value.
const DEPTH: u32 = 12;
/// How many values are made for a schema; after that, `null`. A few lines can ask for millions: lists of 64 lists of
/// 64, or properties that all repeat the whole.
const MOST: u32 = 10_000;
/// How much of a prompt is searched for values, in bytes: its end, where the question is.
const SEARCHED: usize = 64 << 10;

/// A value for the schema, from the prompt if it says something about a property, else made up.
pub(super) fn from_prompt(schema: &Value, prompt: &str) -> Value {
    let mut source = Source { root: schema, prompt: Prompt::new(prompt), left: MOST };
    source.value(schema, None, 0)
}

struct Source<'a> {
    root: &'a Value,
    prompt: Prompt,
    /// How many values may still be made.
    left: u32,
}

impl<'a> Source<'a> {
    fn value(&mut self, schema: &'a Value, name: Option<&str>, depth: u32) -> Value {
        let Some(left) = self.left.checked_sub(1) else { return Value::Null };
        self.left = left;
        let Some(fields) = schema.as_object() else { return json!({}) };
        if let Some(fixed) = fields.get("const") {
            return fixed.clone();
        }
        if let Some(Value::Array(options)) = fields.get("enum") {
            return self.prompt.option(options);
        }
        if let Some(target) = fields.get("$ref").and_then(Value::as_str) {
            let resolved = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return match resolved {
                Some(resolved) if depth < DEPTH => self.value(resolved, name, depth + 1),
                _ => Value::Null,
            };
        }
        for choice in ["anyOf", "oneOf"] {
            if let Some(Value::Array(options)) = fields.get(choice) {
                return self.choice(options, name, depth);
            }
        }
        if let Some(Value::Array(parts)) = fields.get("allOf") {
            return self.all(parts, name, depth);
        }
        match kind(fields) {
            "object" => self.object(fields, depth),
            "array" => self.array(fields, name, depth),
            "integer" => self.number(fields, name, true),
            "number" => self.number(fields, name, false),
            "boolean" => self.prompt.flag(name),
            "null" => Value::Null,
            _ => self.string(fields, name),
        }
    }

    /// The first option that is not `null`: optional fields are filled if possible.
    fn choice(&mut self, options: &'a [Value], name: Option<&str>, depth: u32) -> Value {
        let is_null = |option: &&Value| option.get("type").is_some_and(|kind| kind == "null");
        let chosen =
            if depth < DEPTH { options.iter().find(|option| !is_null(option)) } else { options.iter().find(is_null) };
        match chosen.or(options.first()) {
            Some(option) => self.value(option, name, depth + 1),
            None => Value::Null,
        }
    }

    fn all(&mut self, parts: &'a [Value], name: Option<&str>, depth: u32) -> Value {
        let mut whole = Map::new();
        for part in parts {
            match self.value(part, name, depth + 1) {
                Value::Object(fields) => whole.extend(fields),
                other if parts.len() == 1 => return other,
                _ => {}
            }
        }
        Value::Object(whole)
    }

    fn object(&mut self, fields: &'a Map<String, Value>, depth: u32) -> Value {
        let required: Vec<&str> = match fields.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is_required = HashSet::<&str>::from_iter(required.iter().copied());
        let mut object = Map::new();
        if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
            for (name, schema) in properties {
                let wanted = is_required.contains(name.as_str());
                if wanted || (depth < DEPTH && self.left > 0 && self.prompt.mentions(name)) {
                    object.insert(name.clone(), self.value(schema, Some(name), depth + 1));
                }
            }
        }
        for name in required {
            if !object.contains_key(name) {
                object.insert(name.to_owned(), json!("sample"));
            }
        }
        Value::Object(object)
    }

    fn array(&mut self, fields: &'a Map<String, Value>, name: Option<&str>, depth: u32) -> Value {
        let least = fields.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let most = fields.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let mut items = Vec::new();
        if let Some(Value::Array(schemas)) = fields.get("prefixItems") {
            items.extend(schemas.iter().map(|schema| self.value(schema, name, depth + 1)));
        }
        if let Some(schema) = fields.get("items").filter(|schema| schema.is_object()) {
            let wanted = if depth < DEPTH { least.max(1) } else { least }.min(most).min(64);
            while (items.len() as u64) < wanted && self.left > 0 {
                let item = self.value(schema, name, depth + 1);
                items.push(if fields.get("uniqueItems") == Some(&Value::Bool(true)) {
                    distinct(item, &items)
                } else {
                    item
                });
            }
        }
        Value::Array(items)
    }

    fn number(&mut self, fields: &Map<String, Value>, name: Option<&str>, whole: bool) -> Value {
        let bound = |key: &str| fields.get(key).and_then(Value::as_f64);
        let step = bound("multipleOf").filter(|step| *step > 0.0);
        let nudge = step.unwrap_or(if whole { 1.0 } else { 0.5 });
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|limit| limit + nudge));
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|limit| limit - nudge));
        let fits = |value: &f64| least.is_none_or(|least| *value >= least) && most.is_none_or(|most| *value <= most);
        let given = self.prompt.number(name, whole).filter(fits);
        let mut value = given.or(least).unwrap_or_else(|| most.map_or(1.0, |most| most.min(1.0)));
        if let Some(step) = step {
            value = (value / step).ceil() * step;
        }
        if whole { json!(value.round() as i64) } else { json!(value) }
    }

    fn string(&mut self, fields: &Map<String, Value>, name: Option<&str>) -> Value {
        let format = fields.get("format").and_then(Value::as_str).unwrap_or_default();
        let fixed = match format {
            "date-time" => Some("2026-01-02T03:04:05Z"),
            "date" => Some("2026-01-02"),
            "time" => Some("03:04:05Z"),
            "duration" => Some("P1D"),
            "email" => Some("someone@example.com"),
            "hostname" => Some("example.com"),
            "ipv4" => Some("192.0.2.1"),
            "ipv6" => Some("2001:db8::1"),
            "uuid" => Some("123e4567-e89b-42d3-a456-426614174000"),
            "uri" | "url" => Some("https://example.com/"),
            _ => None,
        };
        if let Some(fixed) = fixed {
            return json!(fixed);
        }
        let length = |key: &str| fields.get(key).and_then(Value::as_u64).map(|limit| limit.min(4096) as usize);
        let mut text = self.prompt.text(name);
        if let Some(most) = length("maxLength") {
            text = text.chars().take(most).collect();
        }
        if let Some(least) = length("minLength") {
            let missing = least.saturating_sub(text.chars().count());
            text.extend(std::iter::repeat_n('x', missing));
        }
        json!(text)
    }
}

/// The type of a schema: the first that is not `null` if there are several, guessed if there is none.
fn kind(fields: &Map<String, Value>) -> &str {
    match fields.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if fields.contains_key("properties") => "object",
        _ if fields.contains_key("items") => "array",
        _ => "string",
    }
}

fn distinct(item: Value, before: &[Value]) -> Value {
    if !before.contains(&item) {
        return item;
    }
    match item {
        Value::String(text) => json!(format!("{text} {}", before.len() + 1)),
        Value::Number(number) => json!(number.as_f64().unwrap_or_default() as i64 + before.len() as i64),
        other => other,
    }
}

/// What a prompt offers for arguments; each number and each quoted text is used once.
struct Prompt {
    text: String,
    numbers: VecDeque<f64>,
    quotes: VecDeque<String>,
    places: VecDeque<String>,
}

impl Prompt {
    fn new(text: &str) -> Self {
        let text = &text[text.ceil_char_boundary(text.len().saturating_sub(SEARCHED))..];
        Prompt { text: text.to_owned(), numbers: numbers(text).collect(), quotes: quotes(text), places: places(text) }
    }

    /// Whether the prompt mentions this property.
    fn mentions(&self, name: &str) -> bool {
        self.after(name).is_some()
    }

    /// What follows `name=`, `name:`, `name is` or `"name":`.
    fn after(&self, name: &str) -> Option<&str> {
        let mut from = 0;
        while let Some(found) = self.text.get(from..)?.find(name) {
            let start = from + found;
            let end = start + name.len();
            let before = self.text.get(..start)?.chars().next_back();
            let rest = self.text.get(end..)?.trim_start_matches(['"', '\'', '`']).trim_start();
            let value = ["=", ":", "is "].iter().find_map(|sign| rest.strip_prefix(sign));
            if let Some(value) = value.filter(|_| before.is_none_or(|c| !c.is_alphanumeric() && c != '_')) {
                return Some(value.trim_start());
            }
            from = end;
        }
        None
    }

    fn option(&self, options: &[Value]) -> Value {
        let named = options
            .iter()
            .find(|option| option.as_str().is_some_and(|word| !word.is_empty() && self.text.contains(word)));
        named.or(options.first()).cloned().unwrap_or(Value::Null)
    }

    fn flag(&self, name: Option<&str>) -> Value {
        let said = name.and_then(|name| self.after(name)).unwrap_or_default();
        json!(!said.starts_with("false") && !said.starts_with("no"))
    }

    fn number(&mut self, name: Option<&str>, whole: bool) -> Option<f64> {
        let named = name.and_then(|name| self.after(name)).and_then(|rest| numbers(rest).next());
        let fits = |value: &f64| !whole || value.fract() == 0.0;
        if let Some(named) = named.filter(fits) {
            self.numbers.retain(|number| *number != named);
            return Some(named);
        }
        let place = self.numbers.iter().position(fits)?;
        self.numbers.remove(place)
    }

    fn text(&mut self, name: Option<&str>) -> String {
        if let Some(named) = name.and_then(|name| self.after(name)) {
            let value = match named.chars().next() {
                Some(quote @ ('"' | '\'' | '`')) => named.get(1..).and_then(|rest| rest.split(quote).next()),
                _ => named.split([',', ';', '\n', '}', ')']).next(),
            };
            let value = value.unwrap_or_default().trim().trim_end_matches('.').to_owned();
            if !value.is_empty() {
                self.quotes.retain(|quote| *quote != value);
                return value;
            }
        }
        let unnamed = self.quotes.pop_front().or_else(|| self.places.pop_front());
        unnamed.unwrap_or_else(|| "sample".to_owned())
    }
}

fn numbers(text: &str) -> impl Iterator<Item = f64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-')
        .map(|piece| piece.trim_end_matches('.').trim_start_matches(['-', '.']))
        .filter_map(|piece| piece.parse().ok())
}

fn quotes(text: &str) -> VecDeque<String> {
    let mut found = VecDeque::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('`', '`')] {
        let mut pieces = text.split([open, close]);
        pieces.next();
        while let (Some(inside), Some(_)) = (pieces.next(), pieces.next()) {
            if !inside.trim().is_empty() {
                found.push_back(inside.to_owned());
            }
        }
    }
    found
}

/// Capitalised words after "in", "for", "of", "at", "and": mostly places and names.
fn places(text: &str) -> VecDeque<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .windows(2)
        .filter_map(|pair| match pair {
            [before, word] if ["in", "for", "of", "at", "and"].contains(before) => {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                word.chars().next().is_some_and(char::is_uppercase).then(|| word.to_owned())
            }
            _ => None,
        })
        .collect()
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
