//! Strictness: what the real APIs refuse, refused in their words.
//!
//! Each dialect has a table of rules. A rule looks at the request as received, before anything is translated, and
//! either accepts it or returns the refusal. The rules are tried in order, as an API checks the shape of a request
//! before its meaning.

mod anthropic;
mod gemini;
mod openai;
mod openai_chat;
mod openai_responses;
mod schema;
mod window;

use http::HeaderMap;
use ikigai_core::Dialect;
use ikigai_core::wire::WireError;
use serde_json::{Map, Value};

use crate::memory::Memory;

pub(crate) use window::fits_window;

/// A request as received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wire<'a> {
    /// The path with its query.
    pub(crate) path: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Value,
    pub(crate) memory: &'a Memory,
}

/// One thing that an API refuses.
pub(crate) struct Rule {
    /// What it is about, for the test that walks the table.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test that walks the table names the rule by it"))]
    pub(crate) name: &'static str,
    pub(crate) check: fn(&Wire<'_>) -> Result<(), Refusal>,
    /// A change to a good request that breaks this rule: a JSON merge patch, where `null` stands for itself.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test that walks the table applies it"))]
    pub(crate) example: &'static str,
    /// How the refusal of the example begins.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test that walks the table expects it"))]
    pub(crate) says: &'static str,
}

/// Why a request is refused, in the dialect's own terms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// The error's type, or Google's status word.
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) param: Option<String>,
    pub(crate) code: Option<&'static str>,
    pub(crate) details: Option<Value>,
}

impl Refusal {
    /// A refusal with status 400.
    pub(crate) fn invalid(kind: &'static str, message: impl Into<String>) -> Self {
        Refusal { status: 400, kind, message: message.into(), param: None, code: None, details: None }
    }
}

/// Checks a request against its dialect's table.
pub(crate) fn check(dialect: Dialect, wire: &Wire<'_>) -> Result<(), WireError> {
    let (rules, write): (&[Rule], fn(Refusal) -> WireError) = match dialect {
        Dialect::Anthropic => (anthropic::RULES, anthropic::write),
        Dialect::OpenaiChat | Dialect::OpenaiResponses if openai::is_copy(wire) => (openai::COPIES, openai::write),
        Dialect::OpenaiChat => (openai_chat::RULES, openai::write),
        Dialect::OpenaiResponses => (openai_responses::RULES, openai::write),
        Dialect::Gemini => (gemini::RULES, gemini::write),
        // Other dialects are refused before they get here.
        _ => return Ok(()),
    };
    rules.iter().try_for_each(|rule| (rule.check)(wire)).map_err(write)
}

impl<'a> Wire<'a> {
    /// A member of the body that is not `null`.
    pub(crate) fn field(&self, name: &str) -> Option<&'a Value> {
        self.body.get(name).filter(|value| !value.is_null())
    }

    /// A string member of the body.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.field(name)?.as_str()
    }

    /// A list member of the body; empty if absent.
    pub(crate) fn list(&self, name: &str) -> &'a [Value] {
        list(self.body, name)
    }
}

/// A list member of an object; empty if absent.
pub(crate) fn list<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A string member of an object; empty if absent.
pub(crate) fn word<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The first member of an object that is not in the list.
pub(crate) fn unknown_field<'a>(object: &'a Map<String, Value>, known: &[&str]) -> Option<&'a str> {
    object.keys().map(String::as_str).find(|name| !known.contains(name))
}

#[cfg(test)]
#[path = "strict_tests.rs"]
mod tests;

#[cfg(test)]
mod recordings_tests;
#[cfg(test)]
mod translated_tests;
