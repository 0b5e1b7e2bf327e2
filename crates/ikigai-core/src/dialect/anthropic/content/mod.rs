//! Content blocks, which look the same in requests and answers.

mod decode;
mod encode;

pub(super) use decode::{Reader, Reading, read, read_content};
pub(super) use encode::{
    arguments, extra, short, start, write_bytes, write_call, write_redacted, write_source, write_thinking,
};
