//! Arguments that arrive in pieces, as Vertex sends them on request.
//!
//! Each piece names its place by a JSON path, and has a value or the continuation of the string in the previous piece.

use serde_json::{Map, Number, Value};

use super::super::wire::PartialArg;
use crate::dialect::failure::excerpt;
use crate::dialect::weight::{Weigh, object_weight};
use crate::json::whole;

/// The most steps that a path may have: deeper JSON cannot be read anyway.
const MOST_STEPS: usize = 120;

/// A call whose arguments are still arriving.
#[derive(Debug, Default)]
pub(super) struct PartialArgs {
    arguments: Map<String, Value>,
    /// The path of the string that the next piece continues.
    open: Option<String>,
}

impl Weigh for PartialArgs {
    fn weight(&self) -> usize {
        object_weight(&self.arguments)
    }
}

impl PartialArgs {
    /// Adds an entry of `partialArgs`. The error says what is wrong with it.
    pub(super) fn push(&mut self, piece: PartialArg<'_>) -> Result<(), String> {
        let path = piece.path.as_ref().map(|path| path.as_str()).unwrap_or_default();
        let goes_on = self.open.as_deref() == Some(path);
        let Some(value) = value(&piece) else {
            // A piece without a value only ends its string.
            self.open = None;
            return Ok(());
        };
        let steps = steps(path).unwrap_or_default();
        if steps.len() > MOST_STEPS {
            return Err(format!("the path of an argument has more than {MOST_STEPS} steps: `{}…`", excerpt(path, 100)));
        }
        let place = self.place(steps);
        let place = place.ok_or_else(|| format!("no place for the argument at `{}`", excerpt(path, 100)))?;
        match (place, value) {
            (Value::String(text), Value::String(more)) if goes_on => text.push_str(&more),
            (place, value) => *place = value,
        }
        // A repeated path need not be copied.
        if piece.will_continue != Some(true) {
            self.open = None;
        } else if !goes_on {
            self.open = Some(path.to_owned());
        }
        Ok(())
    }

    /// Returns the arguments so far.
    pub(super) fn finish(self) -> Map<String, Value> {
        self.arguments
    }

    /// Returns the place that a path names, created if missing. Lists grow only by one item at a time, so that a path
    /// cannot cause large allocations.
    fn place(&mut self, steps: Vec<Step>) -> Option<&mut Value> {
        let mut steps = steps.into_iter();
        let Step::Key(first) = steps.next()? else { return None };
        let mut place = self.arguments.entry(first).or_insert(Value::Null);
        for step in steps {
            place = match step {
                Step::Key(key) => {
                    if place.is_null() {
                        *place = Value::Object(Map::new());
                    }
                    place.as_object_mut()?.entry(key).or_insert(Value::Null)
                }
                Step::Index(index) => {
                    if place.is_null() {
                        *place = Value::Array(Vec::new());
                    }
                    let list = place.as_array_mut()?;
                    if index == list.len() {
                        list.push(Value::Null);
                    }
                    list.get_mut(index)?
                }
            };
        }
        Some(place)
    }
}

fn value(piece: &PartialArg<'_>) -> Option<Value> {
    if let Some(text) = &piece.string {
        return Some(Value::String(text.as_str().to_owned()));
    }
    if let Some(number) = piece.number.as_ref().and_then(|number| number.to::<Number>()) {
        // Protobuf's numbers are all doubles: `3.0` means 3.
        return Some(number.as_f64().and_then(whole).map_or(Value::Number(number), Value::from));
    }
    if let Some(flag) = piece.flag {
        return Some(Value::Bool(flag));
    }
    // Protobuf writes its null as a string, other writers as `null`.
    let null = piece.null.is_some() || piece.rest.iter().any(|(name, _)| name == "nullValue");
    null.then_some(Value::Null)
}

enum Step {
    Key(String),
    Index(usize),
}

/// Parses `$.a.b[0]['c d']`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step;
        (step, rest) = if let Some(behind) = rest.strip_prefix('.') {
            let end = behind.find(['.', '[']).unwrap_or(behind.len());
            let (key, behind) = behind.split_at_checked(end)?;
            (Step::Key(key.to_owned()), behind)
        } else if let Some(behind) = rest.strip_prefix("['") {
            let (key, behind) = behind.split_once("']")?;
            (Step::Key(key.to_owned()), behind)
        } else if let Some(behind) = rest.strip_prefix("[\"") {
            let (key, behind) = behind.split_once("\"]")?;
            (Step::Key(key.to_owned()), behind)
        } else {
            let (index, behind) = rest.strip_prefix('[')?.split_once(']')?;
            (Step::Index(index.parse().ok()?), behind)
        };
        steps.push(step);
    }
    Some(steps)
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
