//! Requests, both ways. [`messages`] reads the list of items, [`items`] writes it.

pub(crate) mod built_in;
mod decode;
mod encode;
mod items;
mod messages;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;
