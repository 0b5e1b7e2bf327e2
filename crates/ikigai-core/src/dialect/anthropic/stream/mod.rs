//! Streams: frames to events for a client of this API, events to frames for a server of it.

mod blocks;
mod decode;
mod encode;
mod frames;
mod open;
mod piece;
mod unescape;
mod wire;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;
