//! Requests for provider-run tools.

use serde_json::{Map, Value, json};

use crate::{Fields, Json, UserLocation};

/// The request for a tool in one dialect.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The entry among the tools.
    pub(crate) tool: Option<Json>,
    /// Top-level fields of the request.
    pub(crate) top: Fields,
    /// Features that a header has to name.
    pub(crate) betas: Vec<&'static str>,
    /// The user's blocks that pass files along.
    pub(crate) files: Vec<Json>,
    /// The value of `include` that makes the answer show the tool's results.
    pub(crate) include: Option<&'static str>,
    /// Options that this dialect cannot express.
    pub(crate) lost: Vec<&'static str>,
    /// Why something else is requested in its place.
    pub(crate) emulated: Option<&'static str>,
}

/// Whether other provider-run tools are requested as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    Alone,
    Others,
}

impl Asked {
    /// Notes that an option cannot be expressed, if it is set.
    pub(crate) fn lose(&mut self, option: &'static str, is_set: bool) {
        if is_set {
            self.lost.push(option);
        }
    }

    /// Sets the most calls of provider-run tools, all together.
    pub(crate) fn limit(&mut self, calls: Option<u64>) {
        if let Some(calls) = calls {
            self.top.set("max_tool_calls", json!(calls));
        }
    }
}

/// Reads a list of strings.
pub(crate) fn domains(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(super::text).collect()
}

/// Reads where the user is, flat or inside `approximate`.
pub(crate) fn user_location(value: &Value) -> Option<UserLocation> {
    let place = if value["approximate"].is_object() { &value["approximate"] } else { value };
    let place: UserLocation = serde_json::from_value(place.clone()).ok()?;
    (place != UserLocation::default()).then_some(place)
}

/// Writes where the user is, inside `approximate`.
pub(crate) fn approximate(place: &UserLocation) -> Value {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), json!("approximate"));
    let said =
        [("city", &place.city), ("region", &place.region), ("country", &place.country), ("timezone", &place.timezone)];
    for (name, text) in said {
        say(&mut fields, name, text.as_ref().map(|text| json!(text)));
    }
    Value::Object(fields)
}

pub(crate) fn number(number: Option<u64>) -> Option<Value> {
    number.map(|number| json!(number))
}

/// Adds a field if it has a value.
pub(crate) fn say(fields: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), value);
    }
}
