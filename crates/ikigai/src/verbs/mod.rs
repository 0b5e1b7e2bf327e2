//! What models can do besides answering.

mod count;
mod embed;
mod estimate;
mod list;
mod preview;

pub use count::TokenCount;
pub use embed::Embeddings;
pub use estimate::estimate_tokens;
pub use preview::Preview;

#[cfg(test)]
mod verbs_tests;
