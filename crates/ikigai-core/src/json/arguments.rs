//! The arguments of a tool call.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::de::{Deserializer, IgnoredAny};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Json;

/// The arguments of a tool call: the text as the model wrote it, parsed as an object if it is one.
///
/// ```
/// use ikigai_core::Arguments;
///
/// let arguments = Arguments::from_text(r#"{"city": "Oslo"}"#);
/// assert_eq!((arguments["city"].as_str(), arguments.text()), (Some("Oslo"), r#"{"city": "Oslo"}"#));
///
/// let cut_off = Arguments::from_text(r#"{"city": "Os"#);
/// assert!(cut_off.is_empty() && !cut_off.is_complete());
/// ```
pub struct Arguments {
    text: Cow<'static, str>,
    /// The parsed object, created when it is first needed; empty if the text is not an object.
    object: OnceLock<Box<Map<String, Value>>>,
}

impl Arguments {
    /// Creates arguments from what a model wrote, whatever that is.
    pub fn from_text(text: impl Into<String>) -> Self {
        Arguments { text: Cow::Owned(text.into()), object: OnceLock::new() }
    }

    /// Returns the text as the model wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parsed object; empty if the text is not a JSON object, or contains a number that does not fit in 64
    /// bits.
    pub fn object(&self) -> &Map<String, Value> {
        self.object.get_or_init(|| match self.text.as_ref() {
            "{}" => Box::default(),
            text => super::wire::read_str(text).unwrap_or_default(),
        })
    }

    /// Returns whether a call with these arguments can be run. It cannot if they are not a JSON object, as in a call
    /// that the token limit cut off. Several models write nothing at all, or `null`, for "no arguments".
    pub fn is_complete(&self) -> bool {
        self.as_object_text().is_some()
    }

    /// Returns the text of the JSON object that these arguments are: `{}` if the model wrote nothing or `null`, and
    /// `None` if the text is anything other than an object.
    pub fn as_object_text(&self) -> Option<&str> {
        match self.text.trim() {
            "" | "null" | "{}" => Some("{}"),
            text if text.starts_with('{') && super::wire::read_str::<IgnoredAny>(text).is_ok() => Some(text),
            _ => None,
        }
    }

    /// Returns the object as raw JSON, for wires that need one; `None` if the text is incomplete.
    pub(crate) fn to_raw(&self) -> Option<Box<RawValue>> {
        RawValue::from_string(self.as_object_text()?.to_owned()).ok()
    }

    /// Returns the object as raw JSON on one line, borrowed if possible; `None` if the text is incomplete.
    pub(crate) fn as_raw(&self) -> Option<Cow<'_, RawValue>> {
        let text = match self.text.trim() {
            "" | "null" => "{}",
            text if text.starts_with('{') => text,
            _ => return None,
        };
        let raw: &RawValue = super::wire::read_str(text).ok()?;
        match super::scan::on_one_line(raw.get()) {
            Some(one_line) => RawValue::from_string(one_line).ok().map(Cow::Owned),
            None => Some(Cow::Borrowed(raw)),
        }
    }

    /// Reads the arguments as a type.
    ///
    /// # Errors
    /// Returns an error if they are incomplete, or do not have the type's form.
    pub fn to<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        super::wire::read_str(self.as_object_text().unwrap_or(&self.text))
    }

    /// Returns whether the text is exactly what printing the parsed object gives.
    pub fn is_plain(&self) -> bool {
        self.text == "{}"
            || super::wire::read_str::<Map<String, Value>>(&self.text)
                .is_ok_and(|object| serde_json::to_string(&object).is_ok_and(|printed| printed == self.text))
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Arguments { text: Cow::Borrowed("{}"), object: OnceLock::new() }
    }
}

impl Clone for Arguments {
    fn clone(&self) -> Self {
        Arguments { text: self.text.clone(), object: OnceLock::new() }
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({})", self.text)
    }
}

impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Arguments {}

impl Deref for Arguments {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        self.object()
    }
}

impl From<Map<String, Value>> for Arguments {
    fn from(object: Map<String, Value>) -> Self {
        if object.is_empty() {
            return Arguments::default();
        }
        Arguments::from_text(serde_json::to_string(&object).unwrap_or_default())
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Arguments::from_text(value.to_string())
    }
}

impl From<Json> for Arguments {
    fn from(json: Json) -> Self {
        Arguments::from_text(json.text())
    }
}

/// The two fields for arguments in the format's JSON: the object, and the text if printing the object would not
/// reproduce it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Written<'a> {
    /// The arguments, in the order in which the model wrote them.
    #[serde(default)]
    arguments: Cow<'a, Map<String, Value>>,
    /// The arguments as the model wrote them, if printing `arguments` would not give the same text, or if that text is
    /// not a JSON object (a call cut off by the token limit). Such a call is never run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments_text: Option<Cow<'a, str>>,
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = (!self.is_plain()).then(|| Cow::Borrowed(self.text()));
        Written { arguments: Cow::Borrowed(self.object()), arguments_text: text }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            #[serde(default)]
            arguments: ReadArguments,
            #[serde(default)]
            arguments_text: Option<String>,
        }
        let Fields { arguments, arguments_text } = Fields::deserialize(deserializer)?;
        Ok(arguments.or_text(arguments_text))
    }
}

/// The object of the arguments, read on its own from a document: without blanks, but with each value spelled as it was.
#[derive(Debug, Default)]
pub(crate) struct ReadArguments(Arguments);

impl ReadArguments {
    /// Returns the arguments: the text as the model wrote it if the document has it, otherwise the object.
    pub(crate) fn or_text(self, text: Option<String>) -> Arguments {
        text.map_or(self.0, Arguments::from_text)
    }
}

impl<'de> Deserialize<'de> for ReadArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Json::deserialize(deserializer)?;
        match object.text() {
            "{}" => Ok(ReadArguments::default()),
            text if text.starts_with('{') => Ok(ReadArguments(Arguments::from_text(without_blanks(text)))),
            _ => Err(serde::de::Error::custom("the arguments of a call have to be an object")),
        }
    }
}

/// Returns JSON without the white space between its values.
fn without_blanks(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let is_said = |c: &char| {
        if in_string {
            (in_string, escaped) = (*c != '"' || escaped, *c == '\\' && !escaped);
            return true;
        }
        in_string = *c == '"';
        !matches!(c, ' ' | '\t' | '\n' | '\r')
    };
    json.chars().filter(is_said).collect()
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Arguments {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Arguments".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}
