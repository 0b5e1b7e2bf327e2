//! The gateway over real sockets, in front of the strict simulator.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may panic as tests may"
)]

mod answers;
mod attacks;
mod bad_input;
mod charged;
mod echoes;
mod faults;
mod hygiene;
mod pauses;
mod recorded;
mod routing;
mod state;
mod support;
mod verbs;
