//! The JSON Schema of the canonical format.

mod unknown;

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use crate::{Error, Event, Request, Response};

pub use unknown::unknown_fields;

/// The version of the canonical JSON. It changes whenever the same document would be written differently. Documents of
/// all earlier versions can be read.
pub const FORMAT_VERSION: &str = "3";

/// Returns the JSON Schema of the canonical format: `Request`, `Response`, `Event` and `Error`, and everything that
/// they consist of, under `$defs`.
///
/// ```
/// let schema = ikigai_core::schema();
/// assert_eq!(schema["x-ikigai-version"], ikigai_core::FORMAT_VERSION);
/// assert_eq!(schema["$defs"]["Request"]["properties"]["model"]["type"], "string");
/// ```
pub fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let documents = [
        generator.subschema_for::<Request>(),
        generator.subschema_for::<Response>(),
        generator.subschema_for::<Event>(),
        generator.subschema_for::<Error>(),
    ];
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        // A URN, because the schema comes from the program and has no URL.
        "$id": format!("urn:ikigai:format:{FORMAT_VERSION}"),
        "x-ikigai-version": FORMAT_VERSION,
        "title": "ikigai",
        "description": "One format for every model: what is asked, what is answered, whole or as it arrives, and what can go wrong.",
        "anyOf": documents,
        "$defs": generator.take_definitions(true),
    })
}
