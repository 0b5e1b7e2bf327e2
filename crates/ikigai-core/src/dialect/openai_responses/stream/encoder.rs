//! placeholder
#[derive(Debug)]
pub(crate) struct Encoder;
