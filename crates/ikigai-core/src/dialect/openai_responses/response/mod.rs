//! The response object, both ways.

mod decode;
mod encode;

pub(crate) use decode::decode_response;
pub(crate) use encode::encode_response;

pub(super) use decode::{Asks, finish, parse};
pub(super) use encode::{End, Seal, begin, finish_object, new_id, served_call, served_image, served_reasoning};

#[cfg(test)]
mod response_tests;
