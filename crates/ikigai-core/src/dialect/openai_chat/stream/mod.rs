//! Answers as they arrive: a reader and a writer of chunks.

mod around;
mod decode;
mod encode;

#[cfg(test)]
mod tests;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;
