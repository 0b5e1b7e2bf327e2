//! Messages: `decode.rs` reads them, `encode.rs` writes them; `media.rs` knows which pictures and documents are taken.

mod decode;
mod encode;
mod media;

pub(super) use decode::read_messages;
pub(super) use encode::Writer;
