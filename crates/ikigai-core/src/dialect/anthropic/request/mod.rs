//! Requests: wire to canonical and back.

mod block;
mod cache;
mod decode;
mod encode;
mod messages;
mod parameters;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
#[cfg(test)]
#[path = "encode_tests.rs"]
mod encode_tests;
#[cfg(test)]
#[path = "parameters_tests.rs"]
mod parameters_tests;
