//! What asks a provider for a tool that it runs.

use serde_json::{Map, Value, json};

use crate::{Fields, Json, UserLocation};

/// What asks for a tool in one dialect.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The entry among the tools.
    pub(crate) tool: Option<Json>,
    /// Fields of the request itself.
    pub(crate) top: Fields,
    /// What a header has to name.
    pub(crate) betas: Vec<&'static str>,
    /// Blocks of the user's that hand files over.
    pub(crate) files: Vec<Json>,
    /// What the answer has to be asked for besides, to tell what the tool gave.
    pub(crate) include: Option<&'static str>,
    /// Options that have no place there.
    pub(crate) lost: Vec<&'static str>,
    /// Why something else is asked for.
    pub(crate) emulated: Option<&'static str>,
}

/// Whether other tools of the provider are asked for as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    Alone,
    Others,
}

impl Asked {
    /// Notes an option that has no place, if it is set.
    pub(crate) fn lose(&mut self, option: &'static str, is_set: bool) {
        if is_set {
            self.lost.push(option);
        }
    }

    /// The most calls of the provider's tools, all together.
    pub(crate) fn limit(&mut self, calls: Option<u64>) {
        if let Some(calls) = calls {
            self.top.set("max_tool_calls", json!(calls));
        }
    }
}

/// A list of texts.
pub(crate) fn domains(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(super::text).collect()
}

/// Where the user is, flat or inside `approximate`.
pub(crate) fn user_location(value: &Value) -> Option<UserLocation> {
    let place = if value["approximate"].is_object() { &value["approximate"] } else { value };
    let place: UserLocation = serde_json::from_value(place.clone()).ok()?;
    (place != UserLocation::default()).then_some(place)
}

/// The same, to be sent.
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

/// Adds a field, if there is something to say.
pub(crate) fn say(fields: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), value);
    }
}
