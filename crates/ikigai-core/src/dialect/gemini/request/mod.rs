//! Requests.
//!
//! `tools.rs` has the tools and the choice among them, `config.rs` the generation settings, `history.rs` the contents
//! that we write when they are not those of a client of this dialect.

mod config;
mod decode;
mod encode;
mod history;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
