//! Streams: frames to events for a client of this API, events to frames for a server of it.
//!
//! `decode.rs` reads the frames, and `blocks.rs` follows the blocks in them; `encode.rs` writes frames, and `open.rs` is
//! what it knows of the blocks that are open.

mod blocks;
mod decode;
mod encode;
mod open;
mod wire;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;
