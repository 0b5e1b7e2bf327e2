//! `reasoning`: an effort word and whether a summary is shown.

use serde_json::Value;

use super::fields::text;
use crate::{Level, Thinking};

/// Reads `reasoning`; none when there is no such object. A word for the effort that we do not know is no level.
pub(super) fn decode(wire: Option<&Value>) -> Option<Thinking> {
    let fields = wire?.as_object()?;
    let summary = ["summary", "generate_summary"].iter().any(|key| text(fields, key).is_some());
    Some(Thinking {
        level: text(fields, "effort").and_then(|word| word.parse::<Level>().ok()),
        budget: None,
        include_summary: summary,
    })
}
