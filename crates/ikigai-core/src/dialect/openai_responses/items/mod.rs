//! The items of the model's side: messages, reasoning, function calls. They look the same in a request's history, in an
//! answer and in a stream.

mod decode;
mod encode;

pub(super) use decode::{decode, text_of};
pub(super) use encode::{Keep, OpenMessage, begins_item, call, output_part, reasoning};
