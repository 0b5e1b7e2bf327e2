//! Streams, both ways. Beside the files that every dialect has: [`open`] with what is open while a stream is read, and
//! [`texts`] with the message items of a stream that is written.

mod decode;
mod encode;
mod open;
mod texts;
mod wire;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

#[cfg(test)]
mod testing;
#[cfg(test)]
pub(super) use testing::{check_as_client, check_grammar, read_stream, write_stream};
