//! Streams, both ways.

mod decoder;
mod delta;
mod encoder;
mod frames;
mod open;
mod texts;

pub(crate) use decoder::Decoder;
pub(crate) use encoder::Encoder;

#[cfg(test)]
mod testing;
#[cfg(test)]
pub(super) use testing::{check_as_client, check_grammar, read_stream, write_stream};
