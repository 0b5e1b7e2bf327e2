//! Several models answer the same question at the same time: their answers, and how these are drawn.

mod board;
mod race;

pub(crate) use self::board::Board;
pub(crate) use self::race::{End, Entrant, News, Race, Ran, tools_for};
use crate::exit::Failure;

/// The most models that can be compared at once.
pub(crate) const MOST: usize = 4;

/// Refuses more models than can be compared.
pub(crate) fn check_count(count: usize) -> Result<(), Failure> {
    match count <= MOST {
        true => Ok(()),
        false => Err(Failure::usage(format!("{count} models are too many; compare at most {MOST}"))),
    }
}
