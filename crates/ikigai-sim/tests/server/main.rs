//! The simulator over a real socket.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod answers;
mod hosted;
mod judged;
mod media;
mod safety;
mod support;
