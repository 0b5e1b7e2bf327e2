//! Streams: frames to events when reading this API, events to frames when serving it.
//!
//! `decode.rs` reads the frames, and `blocks.rs` follows the blocks in them; `encode.rs` writes frames; `pieces.rs`
//! handles the most frequent ones.

mod blocks;
mod decode;
mod encode;
mod pieces;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;
