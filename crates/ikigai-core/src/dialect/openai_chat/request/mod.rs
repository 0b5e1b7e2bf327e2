//! Requests, both ways.

pub(crate) mod built_in;
mod decode;
mod encode;
mod history;
mod messages;
mod parts;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;

#[cfg(feature = "server")]
use crate::Request;

/// Whether a request came with its tools in their older form, `functions`, which has an older form of answers, too.
#[cfg(feature = "server")]
pub(crate) fn has_older_tools(request: &Request) -> bool {
    super::notes::shape(&request.provider_data).flag(shape::FUNCTIONS)
}

/// Names in the shape of a request. Raw values are written back as long as they match the request.
mod shape {
    /// The model that the request was written for.
    pub(super) const MODEL: &str = "model";
    /// It was in the URL, not in the body.
    pub(super) const MODEL_IN_PATH: &str = "model_in_path";
    /// How the leading system messages were divided.
    pub(super) const SYSTEM: &str = "system";
    /// The number of blocks in a system message.
    pub(super) const BLOCKS: &str = "blocks";
    /// Unknown fields of a system message.
    pub(super) const EXTRA: &str = "extra";
    /// The name of the output limit.
    pub(super) const MAX_TOKENS: &str = "max_tokens_field";
    /// Numbers that we would spell differently.
    pub(super) const NUMBERS: &str = "numbers";
    /// `stop` was a single string.
    pub(super) const STOP_TEXT: &str = "stop_text";
    /// The seed had its other name.
    pub(super) const RANDOM_SEED: &str = "random_seed";
    /// Raw: the thinking fields.
    pub(super) const THINKING: &str = "thinking";
    /// Raw: `user` and `metadata`.
    pub(super) const LABELS: &str = "labels";
    /// Raw: `tool_choice` or `function_call`.
    pub(super) const TOOL_CHOICE: &str = "tool_choice";
    /// Raw: `response_format`.
    pub(super) const RESPONSE_FORMAT: &str = "response_format";
    /// The tools came as `functions`, their older form.
    pub(super) const FUNCTIONS: &str = "functions";
    /// The wire role of a message, if it is not the usual one.
    pub(super) const ROLE: &str = "role";
    /// A tool message that did not name its call.
    pub(super) const NO_ID: &str = "no_id";
}

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod history_tests;
