//! Answers as they arrive.
//!
//! Each frame is a whole answer object: a delta in its content, a snapshot in its usage. `args.rs` builds the arguments
//! that Vertex sends in pieces, and `alike.rs` recognises frames that need no parsing.

mod alike;
mod args;
mod decode;
mod encode;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
