//! The documentation of the library, compiled as a user of it compiles it.

#![forbid(unsafe_code)]

/// The page about the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Page;

/// The snippets in the library's comments.
#[cfg(doctest)]
#[doc = include_str!(concat!(env!("OUT_DIR"), "/comments.md"))]
struct Comments;
