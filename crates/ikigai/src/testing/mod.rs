//! What the tests of this crate share: a clock and a server that they control, and a transport that answers from a
//! list.

mod clock;
mod script;
mod server;
mod traced;

pub(crate) use clock::TestClock;
pub(crate) use script::{Piece, Reply, Scripted, calls, frames, says};
pub(crate) use server::{Answer, Server};
pub(crate) use traced::fields_of;
