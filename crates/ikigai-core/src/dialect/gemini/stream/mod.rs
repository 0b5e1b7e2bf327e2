//! Answers as they arrive.
//!
//! Each frame is a whole answer object: a delta in its content, a snapshot in its usage. `args.rs` builds the arguments
//! that Vertex sends piece by piece, `wire.rs` and `values.rs` read a frame without copying it.

mod args;
mod decode;
mod encode;
mod values;
mod wire;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
#[cfg(test)]
pub(super) mod grammar;
