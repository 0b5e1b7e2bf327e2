//! Whole answers: from the wire to canonical and back.

mod decode;
mod encode;

pub(crate) use decode::decode_response;
pub(super) use decode::{finish, read_block, read_rest};
pub(crate) use encode::encode_response;
pub(super) use encode::{BELONGS_TO, BlockWriter, CALL, Neighbour, ending};

#[cfg(test)]
mod tests;
