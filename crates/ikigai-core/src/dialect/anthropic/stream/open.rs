//! Blocks of a stream that is written: those that have begun and not ended.

use crate::{BlockKind, Json, ProviderData};

use super::wire::PieceKind;

/// What a block on the wire is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Pieces, of a block of this kind.
    Pieces(PieceKind, BlockKind),
    /// Whole from the start.
    Whole,
    /// Nothing: it has no form on this wire.
    Nothing,
}

#[derive(Debug)]
pub(super) struct Open {
    /// The block's place in the answer.
    pub(super) index: usize,
    pub(super) form: Form,
    /// What `content_block_start` says.
    pub(super) start: Json,
    /// What dialects left on the block, as far as it is known.
    pub(super) data: ProviderData,
    /// Text or arguments that wait to be written.
    pub(super) waiting: String,
    /// Its number on the wire, once it is there.
    pub(super) number: Option<usize>,
    pub(super) progress: Progress,
}

/// How far an open block is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing of it was written or waits.
    Empty,
    Growing,
    Ended,
}
