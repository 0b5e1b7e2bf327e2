//! What both of OpenAI's APIs refuse, and how they say it.

use ikigai_core::Level;
use ikigai_core::catalog::{Rules, Sampling, ThinkingOff, rules_for};
use ikigai_core::wire::WireError;
use serde_json::{Value, json};

use super::{Refusal, Rule, Wire, word};
use crate::models;
use crate::service::wire_error;

/// What the many servers that copy OpenAI's APIs have in common. They have fields, models and limits of their own, and
/// accept more than the original does.
pub(super) const COPIES: &[Rule] = &[
    Rule {
        name: "model missing",
        check: model_given,
        example: r#"{"model": null}"#,
        says: "you must provide a model parameter",
    },
    Rule {
        name: "model unknown",
        check: model_known,
        example: r#"{"model": "nobodys-model"}"#,
        says: "The model `nobodys-model` does not exist or you do not have access to it.",
    },
    Rule {
        name: "nothing asked",
        check: something_asked,
        example: r#"{"model": "deepseek-chat", "messages": null, "input": null}"#,
        says: "Missing required parameter: 'messages'.",
    },
];

/// Whether the request is for a server that copies OpenAI's API, by the model's name.
pub(super) fn is_copy(wire: &Wire<'_>) -> bool {
    !model(wire).is_empty() && !models::is_openais(model(wire))
}

fn something_asked(wire: &Wire<'_>) -> Result<(), Refusal> {
    if ["messages", "input", "prompt", "previous_response_id"].iter().any(|name| wire.field(name).is_some()) {
        return Ok(());
    }
    Err(invalid("Missing required parameter: 'messages'.").at("messages", Some("missing_required_parameter")))
}

pub(super) fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::invalid("invalid_request_error", message)
}

impl Refusal {
    /// Names the parameter and the code.
    pub(super) fn at(mut self, param: impl Into<String>, code: Option<&'static str>) -> Self {
        self.param = Some(param.into());
        self.code = code;
        self
    }
}

/// A refusal as OpenAI writes it.
pub(super) fn write(refusal: Refusal) -> WireError {
    let body = json!({"error": {
        "message": refusal.message, "type": refusal.kind, "param": refusal.param, "code": refusal.code
    }});
    wire_error(refusal.status, &body)
}

pub(super) fn model<'a>(wire: &Wire<'a>) -> &'a str {
    wire.text("model").unwrap_or_default()
}

pub(super) fn rules(wire: &Wire<'_>) -> &'static Rules {
    rules_for(model(wire))
}

pub(super) fn model_given(wire: &Wire<'_>) -> Result<(), Refusal> {
    if model(wire).is_empty() { Err(invalid("you must provide a model parameter")) } else { Ok(()) }
}

pub(super) fn model_known(wire: &Wire<'_>) -> Result<(), Refusal> {
    let model = model(wire);
    if models::openai_has(model) {
        return Ok(());
    }
    let message = format!("The model `{model}` does not exist or you do not have access to it.");
    Err(Refusal { status: 404, code: Some("model_not_found"), ..invalid(message) })
}

/// Checks that a number is between two bounds.
pub(super) fn in_range(wire: &Wire<'_>, name: &str, least: f64, most: f64) -> Result<(), Refusal> {
    let Some(value) = wire.field(name) else { return Ok(()) };
    let Some(number) = value.as_f64() else {
        let message = format!("Invalid type for '{name}': expected a decimal, but got {} instead.", kind_of(value));
        return Err(invalid(message).at(name, Some("invalid_type")));
    };
    if number < least {
        let message = format!(
            "Invalid '{name}': decimal below minimum value. Expected a value >= {least}, but got {number} instead."
        );
        return Err(invalid(message).at(name, Some("decimal_below_min_value")));
    }
    if number > most {
        let message = format!(
            "Invalid '{name}': decimal above maximum value. Expected a value <= {most}, but got {number} instead."
        );
        return Err(invalid(message).at(name, Some("decimal_above_max_value")));
    }
    Ok(())
}

pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Refuses an effort that the model does not have. `place` is the API's name for the parameter.
pub(super) fn effort(wire: &Wire<'_>, effort: Option<&str>, place: &'static str) -> Result<(), Refusal> {
    let Some(effort) = effort else { return Ok(()) };
    let rule = &rules(wire).thinking;
    if rule.levels.is_empty() {
        let message = format!("Unsupported parameter: '{place}' is not supported with this model.");
        return Err(invalid(message).at(place, Some("unsupported_parameter")));
    }
    // If a word turns thinking off, it is `none`.
    let off = (rule.off == ThinkingOff::Word).then_some(Level::None);
    let levels: Vec<Level> = off.into_iter().chain(rule.levels.iter().copied()).collect();
    if levels.iter().any(|level| level.effort() == effort) {
        return Ok(());
    }
    let known: Vec<String> = levels.iter().map(|level| format!("'{}'", level.effort())).collect();
    let message = format!(
        "Unsupported value: '{effort}' is not supported with the '{}' model. Supported values are: {}.",
        model(wire),
        joined(&known)
    );
    Err(invalid(message).at(place, Some("unsupported_value")))
}

fn joined(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

/// Refuses sampling parameters that a thinking model does not accept. `effort` is the requested one, if any.
pub(super) fn sampling(wire: &Wire<'_>, effort: Option<&str>, names: &[&'static str]) -> Result<(), Refusal> {
    let rules = rules(wire);
    let off = match effort {
        Some(effort) => effort == "none",
        None => !rules.thinking.thinks_by_default(),
    };
    let refused = match rules.sampling {
        Sampling::NotWhileThinking => !off,
        Sampling::Refused => true,
        _ => false,
    };
    let is_default = |name: &str, value: &Value| {
        let default = if matches!(name, "temperature" | "top_p") { 1.0 } else { 0.0 };
        value.as_f64() == Some(default) || value == &Value::Bool(false)
    };
    for &name in names {
        if let Some(value) = wire.field(name).filter(|value| refused && !is_default(name, value)) {
            let message = if matches!(name, "temperature" | "top_p") && value.is_number() {
                format!(
                    "Unsupported value: '{name}' does not support {value} with this model. Only the default (1) value is supported."
                )
            } else {
                format!("Unsupported parameter: '{name}' is not supported with this model.")
            };
            let code =
                if message.starts_with("Unsupported value") { "unsupported_value" } else { "unsupported_parameter" };
            return Err(invalid(message).at(name, Some(code)));
        }
    }
    Ok(())
}

/// Whether a function's name is valid.
pub(super) fn name_fits(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Whether the word JSON occurs in the text of the messages.
pub(super) fn says_json(value: &Value) -> bool {
    match value {
        Value::String(text) => text.to_lowercase().contains("json"),
        Value::Array(items) => items.iter().any(says_json),
        Value::Object(fields) => fields.iter().any(|(name, inner)| name != "type" && says_json(inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Checks the metadata: at most 16 pairs of short strings.
pub(super) fn metadata(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(fields) = wire.field("metadata").and_then(Value::as_object) else { return Ok(()) };
    if fields.len() > 16 {
        let message = format!(
            "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with {} properties instead.",
            fields.len()
        );
        return Err(invalid(message).at("metadata", Some("object_above_max_properties")));
    }
    for (name, value) in fields {
        let Some(text) = value.as_str() else {
            let message =
                format!("Invalid type for 'metadata.{name}': expected a string, but got {} instead.", kind_of(value));
            return Err(invalid(message).at(format!("metadata.{name}"), Some("invalid_type")));
        };
        if text.chars().count() > 512 {
            let message =
                format!("Invalid 'metadata.{name}': string too long. Expected a string with maximum length 512.");
            return Err(invalid(message).at(format!("metadata.{name}"), Some("string_above_max_length")));
        }
    }
    Ok(())
}

/// Checks an image's URL: a web address, or bytes of an accepted type.
pub(super) fn image_url(url: &str, place: String) -> Result<(), Refusal> {
    if url.starts_with("https://") || url.starts_with("http://") {
        return Ok(());
    }
    let Some((media_type, _)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) else {
        return Err(invalid(format!(
            "Invalid '{place}'. Expected a valid URL, but got a value with an invalid format."
        ))
        .at(place, Some("invalid_value")));
    };
    if ["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"].contains(&media_type) {
        return Ok(());
    }
    Err(invalid("You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].")
        .at(place, Some("invalid_image_format")))
}

/// The tool that a choice names; empty if none.
pub(super) fn chosen(choice: &Value) -> &str {
    match choice.get("function") {
        Some(function) => word(function, "name"),
        None => word(choice, "name"),
    }
}
