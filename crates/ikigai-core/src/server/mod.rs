//! What anyone who serves these APIs needs, before and beside the translations.
//!
//! - [`Endpoint`] says what a request asks for: which dialect, which verb, which model is named in its path.
//! - [`Envelope`] reads the top level of a JSON body without parsing the rest, and replaces single values in it.
//! - [`Watch`] follows an answer that passes through unchanged, and reports what it cost and how it ended.
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

pub use endpoint::{Endpoint, Framing, Verb, unescape};
pub use envelope::{Clash, Edit, Envelope, EnvelopeError};
pub use stateless::may_hold_seals;
pub use watch::{Delivery, Seen, Watch};
