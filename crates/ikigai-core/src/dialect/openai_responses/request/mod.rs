//! Requests, both ways.

mod decode;
mod encode;
mod input;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;
