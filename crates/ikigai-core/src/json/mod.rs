//! JSON that is carried but not interpreted: values kept as the text they were written in.
//!
//! Schemas, arguments and fields that the format does not cover pass through this crate untouched. They are kept as raw
//! text: numbers keep their digits, objects their order and their duplicate keys, and carrying them costs only a copy.

mod arguments;
mod fields;
#[macro_use]
pub(crate) mod loose;
pub(crate) mod many;
mod place;
mod reader;
mod scan;
pub(crate) mod text;
pub(crate) mod text_or_raw;
pub(crate) mod variants;
#[macro_use]
pub(crate) mod wire;
pub(crate) mod tagged;

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub use arguments::Arguments;
pub(crate) use arguments::ReadArguments;
pub use fields::Fields;
pub(crate) use fields::Setting;
pub(crate) use scan::{Excess, check_shape, end_of_string};

/// A value with a JSON form. As a trait object, it keeps code from being compiled for each type.
pub(crate) trait Writes {
    fn write(&self, to: &mut serde_json::Serializer<&mut Vec<u8>>) -> Result<(), serde_json::Error>;
}

impl<T: Serialize + ?Sized> Writes for &T {
    fn write(&self, to: &mut serde_json::Serializer<&mut Vec<u8>>) -> Result<(), serde_json::Error> {
        self.serialize(to)
    }
}

fn written(value: &dyn Writes) -> Result<Box<RawValue>, serde_json::Error> {
    let mut bytes = Vec::with_capacity(128);
    value.write(&mut serde_json::Serializer::new(&mut bytes))?;
    String::from_utf8(bytes).map(reader::known).map_err(serde::ser::Error::custom)
}

/// Returns the raw text of a value; `null` if it has no JSON form.
pub(crate) fn raw_of(value: &dyn Writes) -> Box<RawValue> {
    written(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The name that tells serde_json to return raw text.
const RAW: &str = "$serde_json::private::RawValue";

/// Any JSON value, kept as the text it was written in.
///
/// ```
/// use ikigai_core::Json;
/// use serde_json::json;
///
/// let json = Json::parse(r#"{"n": 1.10, "big": 123456789012345678901234567890}"#).unwrap();
/// assert_eq!(json.text(), r#"{"n": 1.10, "big": 123456789012345678901234567890}"#);
/// assert_eq!(json.value()["n"], json!(1.1));
/// assert_eq!(Json::from(json!({"a": 1})).text(), r#"{"a":1}"#);
/// ```
pub struct Json {
    /// Borrowed if it is a keyword of JSON.
    raw: Cow<'static, RawValue>,
    /// The parsed value, created when it is first needed.
    value: OnceLock<Box<Value>>,
}

impl Json {
    /// Reads JSON text. Text on several lines is put on one line; everything else stays unchanged.
    ///
    /// # Errors
    /// Returns an error if the text is not exactly one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Json::new)
    }

    /// Returns the JSON form of a value.
    ///
    /// # Errors
    /// Returns an error if the value has no JSON form, such as a map whose keys are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        written(&value).map(Json::new)
    }

    /// Copies borrowed raw text.
    pub(crate) fn copy(raw: &RawValue) -> Self {
        Json::new(raw.to_owned())
    }

    fn new(raw: Box<RawValue>) -> Self {
        // A value is on one line, so that values can be written one per line.
        let raw = match scan::on_one_line(raw.get()) {
            Some(one_line) => RawValue::from_string(one_line).unwrap_or(raw),
            None => raw,
        };
        Json::known(Cow::Owned(raw))
    }

    /// Wraps a value that is known to be on one line.
    fn known(raw: Cow<'static, RawValue>) -> Self {
        Json { raw, value: OnceLock::new() }
    }

    /// Returns the `null` value.
    pub fn null() -> Self {
        Json::known(Cow::Borrowed(RawValue::NULL))
    }

    /// Returns the text of this value.
    pub fn text(&self) -> &str {
        self.raw.get()
    }

    /// Returns the raw text, for a wire struct that borrows it.
    pub(crate) fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// Reads the value as a type.
    ///
    /// # Errors
    /// Returns an error if it does not have the type's form.
    pub fn to<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        wire::read_str(self.text())
    }

    /// Returns the parsed value. It is `null` if the text contains a number that does not fit in 64 bits, or is nested
    /// more than 128 levels deep; [`to`](Json::to) gives the reason.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| Box::new(self.to().unwrap_or_default()))
    }

    /// Returns the text of a JSON string; `None` for any other value.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        text::unescape(self.text())
    }

    /// Returns the value of `true` or `false`; `None` for any other value.
    pub fn as_bool(&self) -> Option<bool> {
        match self.text() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// Returns whether this is an object.
    pub fn is_object(&self) -> bool {
        self.text().starts_with('{')
    }
}

impl Default for Json {
    fn default() -> Self {
        Json::null()
    }
}

impl Clone for Json {
    fn clone(&self) -> Self {
        Json::known(self.raw.clone())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({})", self.text())
    }
}

/// Two values are equal if their texts or their meanings are.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() || (!self.value().is_null() && self.value() == other.value())
    }
}

impl PartialEq<Value> for Json {
    fn eq(&self, other: &Value) -> bool {
        self.value() == other && (!other.is_null() || self.is_null())
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Json::new(raw)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Json::of(value).unwrap_or_default()
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Json::from(&value)
    }
}

impl From<Map<String, Value>> for Json {
    fn from(object: Map<String, Value>) -> Self {
        Json::of(&object).unwrap_or_default()
    }
}

impl From<&str> for Json {
    /// Returns a JSON string with this text.
    fn from(text: &str) -> Self {
        Json::known(Cow::Owned(reader::known(text::escape(text))))
    }
}

impl From<String> for Json {
    /// Returns a JSON string with this text.
    fn from(text: String) -> Self {
        Json::from(text.as_str())
    }
}

impl From<bool> for Json {
    fn from(flag: bool) -> Self {
        Json::known(Cow::Borrowed(if flag { RawValue::TRUE } else { RawValue::FALSE }))
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        json.value().clone()
    }
}

impl From<Fields> for Json {
    fn from(fields: Fields) -> Self {
        if fields.is_empty() {
            return Json::known(Cow::Owned(reader::known("{}".to_owned())));
        }
        Json::of(&fields).unwrap_or_default()
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Raw;
        impl<'de> Visitor<'de> for Raw {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            // From serde_json itself: the text as it was written.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Json, A::Error> {
                Box::<RawValue>::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Json::new)
            }

            // From a value that serde has buffered, as it does for tagged enums: the text is lost, but not its meaning.
            fn visit_newtype_struct<D: Deserializer<'de>>(self, buffered: D) -> Result<Json, D::Error> {
                Value::deserialize(buffered).map(Json::from)
            }
        }
        deserializer.deserialize_newtype_struct(RAW, Raw)
    }
}

/// Reads a count. Servers in languages without integers write 20 as `20.0`, and some write it as a string.
pub(crate) fn count(json: &str) -> Option<u64> {
    let digits = json.trim_matches('"');
    digits.parse().ok().or_else(|| whole(digits.parse().ok()?)?.try_into().ok())
}

/// Converts a float to an integer if it is whole and within the range that floats hold exactly.
pub(crate) fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
