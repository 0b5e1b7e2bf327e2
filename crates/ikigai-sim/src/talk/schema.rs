//! A JSON Schema that a client wrote into its prompt because the model accepts none otherwise.

use ikigai_core::{Block, Request};
use serde_json::Value;

use super::sample;

/// How many braces are tried as the start of a schema.
const TRIED: usize = 64;

/// A schema in a prompt, and the words around it.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    schema: Value,
    words: String,
}

impl Found {
    /// A value that matches the schema, from the words if they say something.
    pub(super) fn filled(&self) -> String {
        sample::from_prompt(&self.schema, &self.words).to_string()
    }
}

/// The schema in the prompt, or in the instructions if they say that the answer has to match it.
pub(super) fn asked_for(request: &Request, prompt: &str) -> Option<Found> {
    let in_system = || {
        let system = system(request);
        let lower = system.to_lowercase();
        let is_asked = lower.contains("json")
            && [
                "schema above",
                "schema below",
                "following schema",
                "this schema",
                "json schema",
                "json_schema",
                "output schema",
            ]
            .iter()
            .any(|words| lower.contains(words));
        is_asked.then(|| last(&system)).flatten().map(|(schema, _)| Found { schema, words: prompt.to_owned() })
    };
    in_prompt(prompt).or_else(in_system)
}

/// The schema in the prompt or the instructions, for requests that ask for JSON in any case.
pub(super) fn anywhere(request: &Request, prompt: &str) -> Option<Found> {
    let in_system = || last(&system(request)).map(|(schema, _)| Found { schema, words: prompt.to_owned() });
    in_prompt(prompt).or_else(in_system)
}

fn in_prompt(prompt: &str) -> Option<Found> {
    last(prompt).map(|(schema, words)| Found { schema, words })
}

fn system(request: &Request) -> String {
    request.system.iter().filter_map(Block::as_text).collect::<Vec<_>>().join("\n")
}

/// The last schema in a text, and the text without any of its JSON. An earlier one is often an example.
fn last(text: &str) -> Option<(Value, String)> {
    let (mut found, mut words, mut from) = (None, String::new(), 0);
    for (start, _) in text.match_indices('{').take(TRIED) {
        if start < from {
            continue;
        }
        let rest = text.get(start..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(value)) = values.next() {
            words.push_str(text.get(from..start).unwrap_or_default());
            from = start + values.byte_offset();
            if is_schema(&value) {
                found = Some(value);
            }
        }
    }
    words.push_str(text.get(from..).unwrap_or_default());
    // The fences around it are not quotes.
    found.map(|schema| (schema, words.replace("```json", "").replace("```", "")))
}

/// Whether it says what an object may contain.
fn is_schema(value: &Value) -> bool {
    let properties = value.get("properties").and_then(Value::as_object);
    let says = ["type", "required", "$schema"].iter().any(|name| value.get(name).is_some());
    says && properties
        .is_some_and(|properties| properties.values().all(|property| property.is_object() || property.is_boolean()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CITY: &str = r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city", "days"]}"#;

    fn ask(request: Request) -> Option<String> {
        let turn = super::super::Turn::of(&request);
        asked_for(&request, &turn.prompt).map(|found| found.filled())
    }

    #[test]
    fn a_schema_in_the_prompt_is_filled_from_its_words() {
        let prompt = format!(
            "Three days in Oslo? I stay for 3. Answer with JSON that matches this schema:\n```json\n{CITY}\n```"
        );
        let filled = r#"{"city":"Oslo","days":3}"#;
        assert_eq!(
            ask(Request::new("m").user(prompt.replace("days in Oslo", "nights in Oslo"))),
            Some(filled.to_owned())
        );
        let example = r#"For the schema {"properties": {"foo": {"type": "string"}}, "required": ["foo"]} the object {"foo": "bar"} is right."#;
        assert_eq!(
            ask(Request::new("m").user(format!("{example} I stay in Oslo for 3.\nHere is the output schema: {CITY}"))),
            Some(filled.to_owned())
        );
    }

    #[test]
    fn a_schema_in_the_instructions_counts_when_they_ask_for_it() {
        let system =
            format!("JSON schema:\n{CITY}\nYou MUST answer with a JSON object that matches the JSON schema above.");
        let request = Request::new("m").system(system).user("I stay in Oslo for 3.");
        assert_eq!(ask(request), Some(r#"{"city":"Oslo","days":3}"#.to_owned()));
        // The words of Pydantic AI and Instructor.
        for words in
            ["a JSON object that's compatible with this schema", "objects in json that match the following json_schema"]
        {
            let request = Request::new("m").system(format!("Give {words}:\n\n{CITY}")).user("I stay in Oslo for 3.");
            assert_eq!(ask(request), Some(r#"{"city":"Oslo","days":3}"#.to_owned()), "{words}");
        }
        let documented = Request::new("m").system(format!("The tool takes {CITY}.")).user("Hello");
        assert_eq!(ask(documented), None);
    }

    #[test]
    fn other_braces_are_words() {
        for prompt in
            ["{", "{\"a\": {\"a\": ", "fn main() { }", "{\"properties\": 1, \"type\": 2}", &"{\"a\":".repeat(5000)]
        {
            assert_eq!(ask(Request::new("m").user(prompt)), None, "{prompt:.40}");
        }
    }
}
