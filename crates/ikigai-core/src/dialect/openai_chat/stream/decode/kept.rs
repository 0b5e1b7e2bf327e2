//! What a stream says around its text, kept as a whole answer has it.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::ProviderData;
use crate::dialect::openai_chat::marks::{CONTENT, DIALECT, EXTRA, EXTRA_CONTENT, RESPONSE, Shape, keep_extra};
use crate::dialect::openai_chat::response::{CHOICE, FINISH_REASON, MESSAGE};

/// Leftovers so far.
#[derive(Debug, Default)]
pub(super) struct Kept {
    body: Map<String, Value>,
    choice: Map<String, Value>,
    message: Map<String, Value>,
    logprobs: Option<Value>,
    extra_content: Option<Value>,
    /// Content came as a list of parts.
    pub(super) parts: bool,
}

impl Kept {
    /// Takes what a chunk says besides its text. Only the first and the last chunks of a stream say anything. Counts that
    /// stand elsewhere than in `usage` are found on the way.
    pub(super) fn chunk(&mut self, data: &str, usage: &mut String) {
        let Ok(Value::Object(body)) = serde_json::from_str::<Value>(data) else { return };
        for (key, value) in body {
            match key.as_str() {
                // The last two are padding against guesses by length.
                "id" | "object" | "model" | "usage" | "error" | "obfuscation" | "p" => {}
                "choices" => {
                    let Value::Array(choices) = value else { continue };
                    let own = choices.into_iter().find(|choice| choice.get("index").is_none_or(|index| index == 0));
                    if let Some(Value::Object(choice)) = own {
                        self.choice(choice, usage);
                    }
                }
                _ => {
                    let counts = value.get("usage").filter(|counts| key == "x_groq" && counts.is_object());
                    if let Some(counts) = counts.filter(|_| usage.is_empty()) {
                        *usage = counts.to_string();
                    }
                    keep_later(&mut self.body, key, value);
                }
            }
        }
    }

    fn choice(&mut self, choice: Map<String, Value>, usage: &mut String) {
        for (key, value) in choice {
            match key.as_str() {
                "index" | "delta" | "finish_reason" | "logprobs" | "message" => {}
                "usage" if value.is_object() => *usage = value.to_string(),
                _ => keep_later(&mut self.choice, key, value),
            }
        }
    }

    /// Takes a field of a delta that only some know. Lists grow, the rest is replaced.
    pub(super) fn field(&mut self, key: &str, value: Value) {
        match (key, value) {
            ("extra_content", value) => self.extra_content = Some(value),
            (_, Value::Array(more)) => match self.message.get_mut(key) {
                Some(Value::Array(list)) => list.extend(more),
                _ => {
                    self.message.insert(key.to_owned(), Value::Array(more));
                }
            },
            (_, value) => {
                self.message.insert(key.to_owned(), value);
            }
        }
    }

    /// Takes the probabilities of some more tokens.
    pub(super) fn logprobs(&mut self, raw: &RawValue) {
        let Ok(more) = serde_json::from_str::<Value>(raw.get()) else { return };
        match (&mut self.logprobs, more) {
            (Some(Value::Object(known)), Value::Object(more)) => {
                for (key, value) in more {
                    match (known.get_mut(&key), value) {
                        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                        (Some(Value::Null) | None, value) => {
                            known.insert(key, value);
                        }
                        (Some(_), _) => {}
                    }
                }
            }
            (kept, more) => *kept = Some(more),
        }
    }

    /// Everything, as the answer's own data, with the provider's word for the end.
    pub(super) fn into_data(mut self, word: Option<String>) -> ProviderData {
        let mut data = ProviderData::default();
        if let Some(word) = word {
            data.set(DIALECT, FINISH_REASON, word);
        }
        if let Some(state) = self.extra_content {
            data.set(DIALECT, EXTRA_CONTENT, state);
        }
        if let Some(logprobs) = self.logprobs {
            self.choice.insert("logprobs".to_owned(), logprobs);
        }
        let mut message = Map::new();
        if self.parts {
            message.insert(CONTENT.to_owned(), Shape::Parts.as_str().into());
        }
        keep_extra(&mut message, self.message);
        let mut response = Map::new();
        for (key, fields) in [(EXTRA, self.body), (CHOICE, self.choice), (MESSAGE, message)] {
            if !fields.is_empty() {
                response.insert(key.to_owned(), Value::Object(fields));
            }
        }
        data.set(DIALECT, RESPONSE, response);
        data
    }
}

/// A later value replaces an earlier one; a null only fills a gap.
fn keep_later(into: &mut Map<String, Value>, key: String, value: Value) {
    if value.is_null() {
        into.entry(key).or_insert(value);
    } else {
        into.insert(key, value);
    }
}
