//! Streams: frames to events for a client of this API, events to frames for a server of it.
//!
//! `decode.rs` reads the frames, and `blocks.rs` follows the blocks in them; `encode.rs` writes frames; `pieces.rs` is for
//! the frames that a stream is mostly made of.

mod blocks;
mod decode;
mod encode;
mod pieces;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;
