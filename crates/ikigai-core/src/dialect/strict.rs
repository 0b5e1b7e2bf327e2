//! OpenAI's strict subset of JSON Schema, for codecs that still hold schemas as parsed values. The rules are in
//! `fit/schema`.

use std::borrow::Cow;

use serde_json::Value;

use crate::fit::{Parsed, Subset};
use crate::{Json, Limits};

/// Does the schema meet the strict rules as it is?
///
/// # Errors
/// The first rule that it breaks, with the place.
pub(crate) fn check(schema: &Value) -> Result<(), String> {
    let (json, limits) = (Json::from(schema), Limits::client());
    Parsed::new(&json, &limits).map_err(|error| error.message)?.check(Subset::Complete)
}

/// The schema as it can go on the wire with `strict: true`: as it is, or closed.
///
/// # Errors
/// Why the schema cannot be strict without a change of meaning.
pub(crate) fn strictify(schema: &Value) -> Result<Cow<'_, Value>, String> {
    let (json, limits) = (Json::from(schema), Limits::client());
    let closed = Parsed::new(&json, &limits).map_err(|error| error.message)?.strict(Subset::Complete)?;
    Ok(match closed.schema {
        Cow::Borrowed(_) => Cow::Borrowed(schema),
        Cow::Owned(closed) => Cow::Owned(closed.value().clone()),
    })
}
