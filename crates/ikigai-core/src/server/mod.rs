//! Tools for programs that serve these APIs, in addition to the translations.
//!
//! - [`Endpoint`] identifies what a request asks for: its dialect, its operation, and the model named in its path.
//! - [`Envelope`] reads the top level of a JSON body without parsing the rest, and replaces single values in it.
//! - [`Watch`] follows an answer that passes through unchanged, and reports its usage and how it ended.
//!
//! Like the rest of this crate it does no I/O: methods, paths and header names are plain text.

pub(crate) mod alike;
mod endpoint;
mod envelope;
mod follow;
mod pick;
pub(crate) mod picks;
pub(crate) mod skip;
mod stateless;
mod watch;
mod watcher;

pub use endpoint::{Endpoint, Framing, Verb, unescape};
pub use envelope::{Clash, Edit, Envelope, EnvelopeError};
pub use stateless::may_hold_seals;
pub use watch::{Delivery, Seen, Watch};
