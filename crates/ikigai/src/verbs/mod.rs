//! What models can do besides answering.

mod count;
mod embed;
mod estimate;
mod list;

pub use count::TokenCount;
pub use embed::Embeddings;
pub(crate) use estimate::estimate;
pub use list::ListedModel;

#[cfg(test)]
mod verbs_tests;
