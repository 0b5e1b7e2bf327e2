//! Words: what is searched, and how text that was found is shown.
//!
//! Both engines get their words from here, so that a search finds the same messages in both, and scripts without spaces
//! between words can be searched as well.

mod plain;
mod query;
mod snippet;
mod words;

pub(crate) use plain::{first_line, one_line, place_of, searchable};
pub(crate) use query::Query;
pub use snippet::Snippet;
pub(crate) use snippet::snippet;
pub(crate) use words::words;
