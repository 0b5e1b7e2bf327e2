//! The client library: one API for every model.

#![forbid(unsafe_code)]

pub mod config;
pub mod time;
pub mod transport;

#[cfg(test)]
mod testing;
