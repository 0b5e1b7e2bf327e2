//! Streams: frames to events for a client of this API, events to frames for a server of it.

mod decode;
mod encode;
mod unescape;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;
