//! What tests of this crate share: a clock that is told the time, a server that does as it is told, a transport that
//! answers from a list.

mod clock;
mod script;
mod server;
mod traced;

pub(crate) use clock::TestClock;
pub(crate) use script::{Piece, Reply, Scripted, calls, frames, says};
pub(crate) use server::{Answer, Server};
pub(crate) use traced::fields_of;
