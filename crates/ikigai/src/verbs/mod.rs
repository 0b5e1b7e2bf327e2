//! Everything besides answers that models can do.

mod count;
mod embed;
mod estimate;
mod image;
mod list;
mod media;
mod preview;
mod speech;
mod transcribe;

use crate::error::{Error, Reason};
use crate::upstream::Upstream;

pub use count::TokenCount;
pub use embed::Embeddings;
pub use estimate::estimate_tokens;
pub use image::Images;
pub use preview::Preview;
pub use speech::Speech;
pub use transcribe::Transcript;

/// Returns the error for a provider that lacks a feature altogether.
fn has_no(upstream: &Upstream, what: &str) -> Error {
    let name = &upstream.provider().name;
    Reason::Unsupported(format!("{name} does not offer {what}; use a provider that does, such as openai")).into()
}

#[cfg(test)]
mod media_tests;
#[cfg(test)]
mod verbs_tests;
