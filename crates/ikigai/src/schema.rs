//! JSON Schema from Rust types, in the form that models see.

use serde_json::Value;

/// A type as models see it.
pub(crate) struct TypeSchema {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) schema: Value,
}

/// Returns a type's schema. Its doc comment becomes the description; what only schema tools read is left out.
pub(crate) fn of<T: schemars::JsonSchema>() -> TypeSchema {
    // Inner types are inlined: not every provider follows references.
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let mut description = None;
    if let Some(fields) = schema.as_object_mut() {
        fields.shift_remove("title");
        description = fields.shift_remove("description").and_then(|text| text.as_str().map(str::to_owned));
    }
    TypeSchema { name: T::schema_name().into_owned(), description, schema }
}

/// Turns `GetWeather` into `get_weather`; characters that tool names may not have become `_`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut after_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && after_small {
            snake.push('_');
        }
        after_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        snake.push(if letter.is_ascii_alphanumeric() || letter == '-' { letter.to_ascii_lowercase() } else { '_' });
    }
    snake.truncate(64);
    snake
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    /// Tells the weather.
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct GetWeather {
        /// Where.
        place: Place,
        days: Option<u8>,
    }

    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Place {
        city: String,
    }

    #[test]
    fn a_type_is_told_with_its_comments_and_without_references() {
        let told = of::<GetWeather>();
        assert_eq!((told.name.as_str(), told.description.as_deref()), ("GetWeather", Some("Tells the weather.")));
        assert_eq!(
            told.schema,
            json!({
                "type": "object",
                "properties": {
                    "place": {
                        "description": "Where.",
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "required": ["city"]
                    },
                    "days": {"type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255}
                },
                "required": ["place"]
            })
        );
    }

    #[test]
    fn names_of_types_become_names_of_tools() {
        for (name, tool) in [
            ("GetWeather", "get_weather"),
            ("Weather", "weather"),
            ("HTTPGet", "httpget"),
            ("Page2Text", "page2_text"),
            ("List_of_String", "list_of_string"),
            ("Wetter für", "wetter_f_r"),
        ] {
            assert_eq!(snake_case(name), tool);
        }
    }
}
