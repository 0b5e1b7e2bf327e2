//! What tests of this crate share: a clock that is told the time, and a server that does as it is told.

mod clock;
mod server;

pub(crate) use clock::TestClock;
pub(crate) use server::{Answer, Server};
