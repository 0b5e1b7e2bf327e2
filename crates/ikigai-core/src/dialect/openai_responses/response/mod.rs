//! The response object, both ways.

mod decode;
mod encode;

pub(crate) use decode::decode_response;
pub(crate) use encode::encode_response;

pub(super) use decode::{Asks, Parsed, finish, parse};
pub(super) use encode::{
    End, Head, empty_list, new_id, note_block, seal_alone, seal_call, seal_text, serve_call, serve_image, serve_part,
    serve_reasoning,
};

#[cfg(test)]
mod response_tests;
