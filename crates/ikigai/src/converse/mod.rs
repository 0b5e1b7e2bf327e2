//! Amazon's Converse, through which Bedrock serves the models of every maker.
//!
//! Converse was modelled after Anthropic's Messages, and is spoken here as that dialect in other words: a request is
//! encoded in the dialect and its body rewritten, an answer is rewritten and read by the dialect. Nothing here knows the
//! canonical blocks, so that sealed thinking, ids and the order of events are the dialect's business alone.
//!
//! What is odd about it:
//! - A block has no `type`: its only key says what it is. Bytes are base64 in `bytes`; a picture or a document at an
//!   address is refused, unless the address is Amazon's own (`s3://`).
//! - Documents need a name of few kinds of characters, no two alike, and a text beside them.
//! - Tools must be declared as long as the conversation has calls in it, and cannot be forbidden.
//! - Caching is a block of its own, behind what is to be cached.
//! - What only some models know is in `additionalModelRequestFields`; [`ConverseFields`] says which know what.
//! - A stream has a `contentBlockStart` for tools only, and the counts come after the end.
//!
//! Fields of Converse that no request of ours has (`guardrailConfig`, `performanceConfig` …) go through when they stand in
//! the request's `provider_data` as extra fields of the dialect; blocks of Converse (`video` …) when they stand in the
//! conversation as blocks of the dialect that nobody else knows.

mod media;
mod messages;
mod request;
mod response;
#[cfg(feature = "bedrock")]
pub(crate) mod stream;
mod tools;

use ikigai_core::catalog::{ConverseFields, ForcedTools, Rules, StateScope};
use ikigai_core::provider::Route;
use ikigai_core::wire::{Target, WireRequest};
use ikigai_core::{Dialect, Error, Limits, Request};
use serde_json::{Map, Value};

type Fields = Map<String, Value>;

/// The type of a block that only Converse knows, as our dialect holds it.
const OWN: &str = "converse";

/// A model that is spoken to over Converse.
#[derive(Debug, Clone)]
pub(crate) struct Converse {
    model: String,
}

impl Converse {
    /// Is the way to a model one over Converse?
    pub(crate) fn on(route: &Route<'_>) -> Option<Self> {
        let converse = route.dialect == Dialect::Anthropic && route.provider.quirks.has_converse(&route.model);
        converse.then(|| Converse { model: route.model.clone() })
    }

    /// The request in the words of Converse. What it cannot carry is among the losses.
    pub(crate) fn encode_request(&self, request: &Request, route: &Route<'_>) -> Result<WireRequest, Error> {
        let forces = takes_choice(route.rules.converse);
        let rules = Rules {
            // Few models let themselves be forced; the others refuse the request.
            forced_tools: if forces { route.rules.forced_tools } else { ForcedTools::Refused },
            // Models of many makers stand here side by side: one that does not think refuses another's thinking.
            bound_state: StateScope::Model,
            // There are none in the middle of a conversation.
            system_messages: false,
            // A tool that is strict is refused by models that do not know it.
            strict_tools: route.rules.strict_tools && route.rules.converse != ConverseFields::Nothing,
            ..route.rules.clone()
        };
        let target = Target { rules: &rules, ..route.target() };
        let whole = media::keep_papers(request);
        let mut wire = route.dialect.encode_request(&whole, &target, &Limits::default())?;
        // Unlike the dialect's own API, this one has room for both.
        let carried = ["output_format.json_schema.name", "output_format.json_schema.description"];
        wire.losses.retain(|loss| !carried.contains(&loss.place.as_str()));
        Ok(request::rewrite(wire, request, &rules))
    }

    /// An answer in the words of our dialect.
    pub(crate) fn rewrite_response(&self, body: Value) -> Value {
        response::rewrite(body, &self.model)
    }

    /// A reader of the events of one answer.
    #[cfg(feature = "bedrock")]
    pub(crate) fn reader(&self) -> stream::Reader {
        stream::Reader::new(&self.model)
    }
}

/// Does the model take a choice among its tools?
fn takes_choice(fields: ConverseFields) -> bool {
    match fields {
        ConverseFields::Anthropic | ConverseFields::Nova => true,
        ConverseFields::Nothing | ConverseFields::ReasoningEffort | ConverseFields::ReasoningConfig => false,
    }
}

/// An object with one key, as Converse's blocks are.
fn block(key: &str, value: impl Into<Value>) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value.into())]))
}

fn str_of<'a>(fields: &'a Fields, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
#[cfg(feature = "bedrock")]
mod recordings_tests;
#[cfg(test)]
mod request_tests;
