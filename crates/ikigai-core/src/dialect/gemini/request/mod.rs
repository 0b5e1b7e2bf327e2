//! Requests.
//!
//! `messages.rs` has the contents and `results.rs` the tool results in them, `pairing.rs` gives ids to calls and
//! results without any, `tools.rs` has the tools and the tool choice, `config.rs` the generation settings.

pub(crate) mod built_in;
mod config;
mod decode;
mod encode;
mod messages;
mod pairing;
mod results;
mod tools;

use std::fmt::Display;

use super::leftovers::Leftovers;
use crate::fit::Fitted;
use crate::{Error, Fields, Limits, Loss, Request};

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;

/// A request being read.
#[derive(Default)]
struct Reading {
    request: Request,
    shape: Fields,
    left: Leftovers,
}

/// A request being written.
struct Writing<'a, 'l> {
    fitted: &'a Fitted<'a>,
    limits: &'l Limits,
    losses: Vec<Loss>,
}

/// Returns the error for an invalid request, with the place.
fn refuse(place: impl Display, fault: &str) -> Error {
    Error::invalid_param(place.to_string(), format!("{place}: {fault}"))
}

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod messages_tests;
