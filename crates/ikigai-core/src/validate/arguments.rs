//! Checking a call's arguments against the tool's schema.

use serde_json::{Map, Value};

use crate::Function;

/// The maximum number of reported faults; a model that sees these can fix the rest.
const TOLD: usize = 20;

impl Function {
    /// Checks arguments against the schema of the parameters. To check many calls, make a
    /// [`checker`](Function::argument_checker) once.
    ///
    /// ```
    /// use ikigai_core::Tool;
    /// use serde_json::json;
    ///
    /// let tool = Tool::new("weather", "Tells the weather.")
    ///     .parameters(json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}));
    /// let function = tool.as_function().unwrap();
    /// assert!(function.check_arguments(json!({"city": "Oslo"}).as_object().unwrap()).is_ok());
    /// assert_eq!(
    ///     function.check_arguments(json!({"city": 7}).as_object().unwrap()).unwrap_err(),
    ///     [r#"city: 7 is not of type "string""#],
    /// );
    /// ```
    ///
    /// # Errors
    /// Returns the faults, each with its place, in words that help a model to correct its call; or an error that the
    /// schema is invalid.
    pub fn check_arguments(&self, arguments: &Map<String, Value>) -> Result<(), Vec<String>> {
        self.argument_checker().map_err(|fault| vec![fault])?.check(arguments)
    }

    /// Creates a checker for many calls, which reads the schema only once.
    ///
    /// # Errors
    /// Returns an error if the schema is invalid, or refers to another document.
    pub fn argument_checker(&self) -> Result<ArgumentChecker, String> {
        let name = &self.name;
        inner::Checker::new(self.parameters.value()).map(ArgumentChecker).map_err(|why| {
            format!("the parameters of the tool {name} are not a JSON Schema that can be checked: {why}")
        })
    }
}

/// Checks the arguments of calls against the schema of one tool.
///
/// A call is at fault if the branches and references of the schema lead to more than 200,000 checks of it. A schema
/// that leads more than 128 levels deep is invalid.
#[derive(Debug, Clone)]
pub struct ArgumentChecker(inner::Checker);

impl ArgumentChecker {
    /// Checks the arguments of one call.
    ///
    /// # Errors
    /// Returns the faults, each with its place, but at most twenty.
    pub fn check(&self, arguments: &Map<String, Value>) -> Result<(), Vec<String>> {
        let faults = self.0.faults(&Value::Object(arguments.clone()));
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

#[cfg(feature = "validate")]
pub(super) use inner::told;

/// Checks with all of JSON Schema.
#[cfg(feature = "validate")]
mod inner {
    use std::sync::Arc;

    use jsonschema::{PatternOptions, ValidationError, Validator};
    use serde_json::Value;

    use super::super::effort;
    use super::TOLD;

    #[derive(Debug, Clone)]
    pub(super) struct Checker {
        schema: Arc<Value>,
        validator: Validator,
    }

    impl Checker {
        pub(super) fn new(schema: &Value) -> Result<Self, String> {
            let room = effort::room_of_each(effort::check_schema(schema)?);
            jsonschema::options()
                .with_draft(super::super::schema::draft(schema))
                // Allow neither files nor the network, nor a pattern that backtracks forever or takes much memory.
                .offline()
                .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(100_000).size_limit(room))
                .build(schema)
                .map(|validator| Checker { schema: Arc::new(schema.clone()), validator })
                .map_err(|error| told(&error))
        }

        pub(super) fn faults(&self, arguments: &Value) -> Vec<String> {
            if let Some(excess) = effort::excess(&self.schema, arguments) {
                return vec![excess];
            }
            self.validator.iter_errors(arguments).take(TOLD).map(|error| told(&error)).collect()
        }
    }

    /// Formats an error with its place, written as in code: `stops[0].city`.
    pub(in super::super) fn told(error: &ValidationError<'_>) -> String {
        let mut place = String::new();
        for step in error.instance_path().as_str().split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            if step.bytes().all(|b| b.is_ascii_digit()) {
                place.push_str(&format!("[{step}]"));
            } else {
                if !place.is_empty() {
                    place.push('.');
                }
                place.push_str(&step);
            }
        }
        if place.is_empty() { error.to_string() } else { format!("{place}: {error}") }
    }
}

/// Checks types, required and unknown properties, lists and fixed values by hand. Other keywords are not checked.
#[cfg(not(feature = "validate"))]
mod inner {
    use serde_json::Value;

    use super::{TOLD, plain};

    #[derive(Debug, Clone)]
    pub(super) struct Checker(Value);

    impl Checker {
        pub(super) fn new(schema: &Value) -> Result<Self, String> {
            match super::super::schema::schema_fault(schema) {
                Some(fault) => Err(fault),
                None => Ok(Checker(schema.clone())),
            }
        }

        pub(super) fn faults(&self, arguments: &Value) -> Vec<String> {
            let mut faults = Vec::new();
            plain::faults(&self.0, arguments, "", &mut faults);
            faults.truncate(TOLD);
            faults
        }
    }
}

#[cfg(any(test, not(feature = "validate")))]
mod plain {
    use serde_json::Value;

    pub(super) fn faults(schema: &Value, value: &Value, at: &str, out: &mut Vec<String>) {
        let mut tell = |text: String| out.push(if at.is_empty() { text } else { format!("{at}: {text}") });
        let of_type = |word: &str| match word {
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "array" => value.is_array(),
            "null" => value.is_null(),
            _ => true,
        };
        match schema.get("type") {
            Some(Value::String(word)) if !of_type(word) => return tell(format!("{value} is not of type \"{word}\"")),
            Some(Value::Array(words)) if !words.iter().filter_map(Value::as_str).any(of_type) => {
                return tell(format!("{value} is not of types {}", Value::Array(words.clone())));
            }
            _ => {}
        }
        if let Some(Value::Array(values)) = schema.get("enum")
            && !values.contains(value)
        {
            tell(format!("{value} is not one of {}", Value::Array(values.clone())));
        }
        if let Some(fixed) = schema.get("const").filter(|fixed| *fixed != value) {
            tell(format!("{fixed} was expected"));
        }
        if let Value::Object(fields) = value {
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
            {
                if !fields.contains_key(name) {
                    tell(format!("\"{name}\" is a required property"));
                }
            }
            let properties = schema.get("properties").and_then(Value::as_object);
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            for (name, inner) in fields {
                match properties.and_then(|properties| properties.get(name)) {
                    Some(schema) => {
                        let place = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                        faults(schema, inner, &place, out);
                    }
                    None if closed => {
                        let text = format!("Additional properties are not allowed ('{name}' was unexpected)");
                        out.push(if at.is_empty() { text } else { format!("{at}: {text}") });
                    }
                    None => {}
                }
            }
        }
        if let (Value::Array(items), Some(schema)) = (value, schema.get("items")) {
            for (number, item) in items.iter().enumerate() {
                faults(schema, item, &format!("{at}[{number}]"), out);
            }
        }
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
