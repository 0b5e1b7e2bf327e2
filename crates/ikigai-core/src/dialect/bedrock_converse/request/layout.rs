//! Blocks and the cache marks between them.

use crate::json::tagged::{Object, Tagged};
use crate::{CacheHint, Loss, LossCode};

use super::super::wire::{Block, Content};
use super::cache_point;

/// The blocks of one message, with marks after those that are to be cached.
#[derive(Debug, Default)]
pub(super) struct Layout<'a> {
    pub(super) blocks: Vec<Content<'a>>,
    /// The position after the last block that a mark may follow.
    end: usize,
    /// Whether there is a mark already.
    has_point: bool,
}

impl<'a> Layout<'a> {
    pub(super) fn push(&mut self, content: Content<'a>) {
        let is_paper = is_document(&content);
        self.blocks.push(content);
        if !is_paper {
            (self.end, self.has_point) = (self.blocks.len(), false);
        }
    }

    /// Marks the blocks so far for caching. A mark after a document or a video is refused, so it goes before it.
    pub(super) fn cache(&mut self, mark: &CacheHint, place: &str) -> Option<Loss> {
        if self.end == 0 {
            let why = "documents are not cached here without text before them; the mark is left out";
            return Some(Loss::new(LossCode::NotInDialect, "cache", place, why));
        }
        if std::mem::replace(&mut self.has_point, true) {
            return None;
        }
        let moved = self.end < self.blocks.len();
        let point = Block { cache_point: Some(cache_point(mark)), ..Block::default() };
        self.blocks.insert(self.end, Tagged::Known(point));
        self.end += 1;
        let why = "a cache mark cannot follow a document here; it is put before it";
        moved.then(|| Loss::info(LossCode::Changed, "cache", place, why))
    }
}

/// Whether this is a document or a video.
pub(super) fn is_document(content: &Content<'_>) -> bool {
    match content {
        Tagged::Known(block) => block.document.is_some(),
        Tagged::Whole(raw) => {
            let object: Option<Object<'_>> = raw.to();
            object.is_some_and(|object| object.get("document").is_some() || object.get("video").is_some())
        }
    }
}
