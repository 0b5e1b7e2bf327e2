//! Whole answers.
//!
//! `candidates[0]` is the answer. What the format has no field for is kept under `response`: the answer's own fields
//! as they were, and beside them `candidate` (the first candidate's), `candidates` (the further ones), `content` (the
//! content object where it was not the usual one) and `empty` (text parts without text or signature, which are no
//! blocks).

mod decode;
mod encode;

pub(crate) use decode::decode_response;
pub(super) use decode::{FINISH, KEPT, finish, is_blocked, named};
pub(crate) use encode::encode_response;
pub(super) use encode::{block_parts, call_part, failure, finish_word, texts};

#[cfg(test)]
mod response_tests;
