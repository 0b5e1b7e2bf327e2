//! The schema of a requested value.

use ikigai_core::Tool;
use ikigai_core::validate::ArgumentChecker;
use serde_json::{Map, Value, json};

use crate::error::Error;

/// The field that holds a value that is not an object: providers require an object at the root.
const FIELD: &str = "value";

/// The schema of a requested value.
pub(crate) struct ValueSchema {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// Always has an object at its root.
    pub(crate) schema: Value,
    /// Whether the value is in a field of that object.
    wrapped: bool,
    checker: ArgumentChecker,
}

impl ValueSchema {
    /// Derives the schema of a Rust type.
    #[cfg(feature = "schema")]
    pub(crate) fn of<T: schemars::JsonSchema>() -> Result<Self, Error> {
        let told = crate::schema::of::<T>();
        ValueSchema::new(&crate::schema::snake_case(&told.name), told.description, told.schema)
    }

    /// Uses a schema given as JSON.
    pub(crate) fn new(name: &str, description: Option<String>, schema: Value) -> Result<Self, Error> {
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        let schema = if is_object { schema } else { wrap(schema) };
        let tool = Tool::new(name, "").parameters(schema.clone());
        let checker = tool.as_function().map(|function| function.argument_checker());
        match checker {
            Some(Ok(checker)) => {
                Ok(ValueSchema { name: name.to_owned(), description, schema, wrapped: !is_object, checker })
            }
            Some(Err(fault)) => Err(ikigai_core::Error::invalid_request(fault).into()),
            None => Err(ikigai_core::Error::invalid_request("a schema is needed").into()),
        }
    }

    /// Returns the value itself if it matches, or else what is wrong with it.
    pub(crate) fn check(&self, value: Value) -> Result<Value, Vec<String>> {
        let Value::Object(mut fields) = value else {
            return Err(vec!["the answer must be a JSON object".to_owned()]);
        };
        self.checker.check(&fields)?;
        Ok(match fields.shift_remove(FIELD) {
            Some(value) if self.wrapped => value,
            Some(value) => {
                fields.insert(FIELD.to_owned(), value);
                Value::Object(fields)
            }
            None => Value::Object(fields),
        })
    }

    /// Returns an incomplete value, as far as it has arrived.
    pub(crate) fn unwrap(&self, value: Value) -> Option<Value> {
        match value {
            Value::Object(mut fields) if self.wrapped => fields.shift_remove(FIELD),
            value => Some(value),
        }
    }
}

/// Moves a schema into a field of an object; its definitions stay at the root, where references look for them.
fn wrap(mut schema: Value) -> Value {
    let mut root = Map::new();
    if let Some(fields) = schema.as_object_mut() {
        for key in ["$defs", "definitions"] {
            if let Some(definitions) = fields.shift_remove(key) {
                root.insert(key.to_owned(), definitions);
            }
        }
    }
    let mut wrapped = json!({"type": "object", "properties": {FIELD: schema}, "required": [FIELD]});
    if let Some(fields) = wrapped.as_object_mut() {
        fields.extend(root);
    }
    wrapped
}
