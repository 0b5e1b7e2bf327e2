//! Requests: wire to canonical and back.
//!
//! `read_messages.rs` reads messages, `messages.rs` writes them; `media.rs` knows which pictures and documents are taken.

mod decode;
mod encode;
mod media;
mod messages;
mod read_messages;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;

/// The error of a block that is not made as it must be.
fn bad_block(place: String, what: &str) -> crate::Error {
    let mut error = crate::Error::invalid_request(format!("{place}: {what}"));
    error.param = Some(place);
    error
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
#[cfg(test)]
#[path = "encode_tests.rs"]
mod encode_tests;
#[cfg(test)]
#[path = "parameters_tests.rs"]
mod parameters_tests;
