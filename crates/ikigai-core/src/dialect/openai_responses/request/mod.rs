//! Requests, both ways. [`input`] reads the list of items, [`conversation`] and
//! [`history`] write it.

mod call_ids;
mod conversation;
mod decode;
mod encode;
mod history;
mod input;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;
