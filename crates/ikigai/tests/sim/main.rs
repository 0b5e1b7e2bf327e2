//! The client against the simulator.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a helper that fails is a test that fails"
)]

mod conversation;
mod crowd;
mod examples;
mod faults;
mod media;
mod pages;
mod proxy;
mod support;
mod web;
