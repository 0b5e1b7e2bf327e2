//! Content blocks, which look the same in requests and in answers.

mod read;
mod write;

pub(super) use read::{Fault, Kept, Reading, is_short, read, read_all};
pub(super) use write::{
    arguments, extra, no_arguments, short, write_call, write_media, write_redacted, write_result, write_source,
    write_text, write_thinking,
};
