//! Streams, both ways. Besides the files that every dialect has: [`open`] and [`items`], with what is open while a stream
//! is read; [`blocks`] and [`parts`], with what is open while one is written.

mod blocks;
mod decode;
mod encode;
mod items;
mod open;
mod parts;
mod wire;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

#[cfg(test)]
mod testing;
#[cfg(test)]
pub(super) use testing::{check_as_client, check_grammar, read_stream, write_stream};
