//! Messages: `decode.rs` reads and `encode.rs` writes them; `media.rs` says which pictures and documents are accepted.

mod decode;
mod encode;
mod media;

pub(super) use decode::read_messages;
pub(super) use encode::Writer;
