//! The fields of requests for pictures and sounds, in JSON or in a form, and how OpenAI refuses them.

use ikigai_core::wire::WireError;
use serde_json::{Map, Value, json};

use crate::form::{self, Field};
use crate::models;
use crate::service::{Call, wire_error};

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Text,
    Whole,
    Number,
    Flag,
    /// Several types, or one that is not checked.
    Any,
    /// A file of a form.
    File,
}

/// The fields of a request and its files.
#[derive(Debug)]
pub(crate) struct Wishes<'a> {
    fields: Map<String, Value>,
    pub(crate) files: Vec<Field<'a>>,
}

impl<'a> Wishes<'a> {
    /// Reads a JSON body. Every field must be known and of its type, if the model is one of OpenAI's own: servers that
    /// copy its API have others.
    pub(crate) fn of_json(call: &'a Call, known: &[(&str, Kind)]) -> Result<Self, WireError> {
        let fields: Map<String, Value> = serde_json::from_slice(&call.body).map_err(|error| {
            refuse(format!("We could not parse the JSON body of your request. ({error})"), None, None)
        })?;
        Wishes { fields, files: Vec::new() }.checked(known)
    }

    /// Reads a form.
    pub(crate) fn of_form(call: &'a Call, known: &[(&str, Kind)]) -> Result<Self, WireError> {
        let parts = form::read(call.header("content-type"), &call.body)
            .map_err(|told| refuse(format!("We could not parse the form of your request: {told}."), None, None))?;
        let (mut fields, mut files) = (Map::new(), Vec::new());
        for part in parts {
            if part.file_name.is_some() {
                files.push(part);
                continue;
            }
            let text = String::from_utf8_lossy(part.content).into_owned();
            let kind = known.iter().find(|(name, _)| *name == part.name).map(|(_, kind)| *kind);
            // In a form, everything is text. Only numbers and flags are parsed: a list could have very many values.
            let value = match kind {
                Some(Kind::Whole | Kind::Number | Kind::Flag) if !text.trim_start().starts_with(['[', '{']) => {
                    serde_json::from_str(&text).unwrap_or(Value::String(text))
                }
                Some(Kind::Whole | Kind::Number | Kind::Flag) => Value::String(text),
                Some(Kind::Text | Kind::Any | Kind::File) | None => Value::String(text),
            };
            fields.insert(part.name, value);
        }
        Wishes { fields, files }.checked(known)
    }

    fn checked(self, known: &[(&str, Kind)]) -> Result<Self, WireError> {
        let model = self.text("model").unwrap_or_default();
        if !model.is_empty() && !models::is_openais(model) {
            return Ok(self);
        }
        let kind_of = |wanted: &str| known.iter().find(|(name, _)| *name == wanted).map(|(_, kind)| *kind);
        for (name, value) in self.fields.iter().filter(|(_, value)| !value.is_null()) {
            let (fits, expected) = match kind_of(name) {
                None => return Err(unknown(name)),
                Some(Kind::Text) => (value.is_string(), "a string"),
                Some(Kind::Whole) => (value.is_u64() || value.is_i64(), "an integer"),
                Some(Kind::Number) => (value.is_number(), "a decimal"),
                Some(Kind::Flag) => (value.is_boolean(), "a boolean"),
                Some(Kind::Any) => (true, ""),
                Some(Kind::File) => (false, "a file"),
            };
            if !fits {
                let message =
                    format!("Invalid type for '{name}': expected {expected}, but got {} instead.", kind(value));
                return Err(refuse(message, Some(name), Some("invalid_type")));
            }
        }
        match self.files.iter().find(|file| kind_of(&file.name) != Some(Kind::File)) {
            Some(file) => Err(unknown(&file.name)),
            None => Ok(self),
        }
    }

    /// A string; `None` if it is empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// Any value but `null`.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// A string that is required and must not be too long.
    pub(crate) fn needed(&self, name: &str, most: usize) -> Result<&str, WireError> {
        let text = self.fields.get(name).and_then(Value::as_str).ok_or_else(|| missing(name))?;
        let length = text.chars().count();
        if length == 0 {
            let message = format!(
                "Invalid '{name}': empty string. Expected a string with minimum length 1, but got an empty string instead."
            );
            return Err(refuse(message, Some(name), Some("empty_string")));
        }
        if length > most {
            let message = format!(
                "Invalid '{name}': string too long. Expected a string with maximum length {most}, but got a string with length {length} instead."
            );
            return Err(refuse(message, Some(name), Some("string_above_max_length")));
        }
        Ok(text)
    }

    /// The model, which is required, must exist or have existed, and must be made for this.
    pub(crate) fn model(&self, is_made_for: fn(&str) -> bool, path: &str) -> Result<&str, WireError> {
        let model = self.text("model").ok_or_else(|| refuse("you must provide a model parameter", None, None))?;
        models::check(ikigai_core::Dialect::OpenaiChat, model)?;
        if models::is_openais(model) && !is_made_for(model) {
            let message = format!("The model `{model}` is not supported in the {path} endpoint.");
            return Err(refuse(message, Some("model"), Some("invalid_value")));
        }
        Ok(model)
    }

    /// A string that must be one of these, if present.
    pub(crate) fn one_of(&self, name: &str, words: &[&str]) -> Result<Option<&str>, WireError> {
        match self.text(name) {
            Some(word) if !words.contains(&word) => {
                let (last, first) = words.split_last().unwrap_or((&"", &[]));
                let first: Vec<String> = first.iter().map(|word| format!("'{word}'")).collect();
                let words = format!("{}, and '{last}'", first.join(", "));
                let message = format!("Invalid value: '{word}'. Supported values are: {words}.");
                Err(refuse(message, Some(name), Some("invalid_value")))
            }
            word => Ok(word),
        }
    }

    /// A number that must be in a range, if present.
    pub(crate) fn in_range(&self, name: &str, least: f64, most: f64) -> Result<Option<f64>, WireError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let (number, kind) = (value.as_f64().unwrap_or_default(), if value.is_f64() { "decimal" } else { "integer" });
        if (least..=most).contains(&number) {
            return Ok(Some(number));
        }
        let (side, sign, bound) =
            if number < least { ("below minimum", ">=", least) } else { ("above maximum", "<=", most) };
        let word = if number < least { "below_min" } else { "above_max" };
        let message =
            format!("Invalid '{name}': {kind} {side} value. Expected a value {sign} {bound}, but got {value} instead.");
        let code = format!("{kind}_{word}_value");
        Err(refuse(message, Some(name), Some(&code)))
    }

    /// Refuses streams, which are not simulated.
    pub(crate) fn not_streamed(&self) -> Result<(), WireError> {
        match self.value("stream") {
            Some(Value::Bool(true)) => Err(refuse(
                "the simulator does not stream pictures and sounds",
                Some("stream"),
                Some("unsupported_value"),
            )),
            _ => Ok(()),
        }
    }
}

/// The error for a missing field.
pub(crate) fn missing(name: &str) -> WireError {
    refuse(format!("Missing required parameter: '{name}'."), Some(name), Some("missing_required_parameter"))
}

/// The error for a field that the API or the model does not have.
pub(crate) fn unknown(name: &str) -> WireError {
    refuse(format!("Unknown parameter: '{name}'."), Some(name), Some("unknown_parameter"))
}

/// A refusal as OpenAI writes it.
pub(crate) fn refuse(message: impl Into<String>, param: Option<&str>, code: Option<&str>) -> WireError {
    let error = json!({"message": message.into(), "type": "invalid_request_error", "param": param, "code": code});
    wire_error(400, &json!({"error": error}))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
