//! Words: what is searched, and how a text is shown that was found.
//!
//! Both engines get their words from here, so that the same search finds the same messages in both, and so that scripts
//! without blanks between words can be searched as well.

mod plain;
mod query;
mod snippet;
mod words;

pub(crate) use plain::{first_line, one_line, place_of, searchable};
pub(crate) use query::Query;
pub use snippet::Snippet;
pub(crate) use snippet::snippet;
pub(crate) use words::words;
