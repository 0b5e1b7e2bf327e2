//! Several models answer the same question at the same time: what each of them writes, and how it looks.

mod board;
mod race;

pub(crate) use self::board::Board;
pub(crate) use self::race::{End, Entrant, News, Race, Ran};
use crate::exit::Failure;

/// So many models can be compared at once.
pub(crate) const MOST: usize = 4;

/// Refuses more models than can be compared.
pub(crate) fn check_count(count: usize) -> Result<(), Failure> {
    match count <= MOST {
        true => Ok(()),
        false => Err(Failure::usage(format!("{count} models are too many; compare at most {MOST}"))),
    }
}
