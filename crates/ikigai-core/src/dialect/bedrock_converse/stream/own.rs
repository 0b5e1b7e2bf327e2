//! Blocks of the wire's own that come in pieces.

use std::collections::HashSet;

use crate::dialect::weight::Weigh;
use crate::{Arguments, Fields, Json};

/// The pieces of a block.
#[derive(Debug)]
pub(super) struct Pieces {
    start: Option<Json>,
    deltas: Vec<Json>,
}

impl Weigh for Pieces {
    fn weight(&self) -> usize {
        // They are read again and assembled at the end.
        3 * (self.start.weight() + self.deltas.weight())
    }
}

impl Pieces {
    /// Creates a block that was announced.
    pub(super) fn begun(start: Json) -> Self {
        Pieces { start: Some(start), deltas: Vec::new() }
    }

    /// Creates a block from its first piece.
    pub(super) fn of(delta: Json) -> Self {
        Pieces { start: None, deltas: vec![delta] }
    }

    pub(super) fn push(&mut self, delta: Json) {
        self.deltas.push(delta);
    }

    /// Returns the block: complete if it is known how to join its pieces, otherwise with its pieces as received.
    pub(super) fn into_whole(mut self) -> Json {
        if let (None, [_]) = (&self.start, self.deltas.as_slice()) {
            return self.deltas.pop().unwrap_or_default();
        }
        if let Some(whole) = self.joined() {
            return whole;
        }
        let mut pieces = Fields::default();
        if let Some(start) = self.start {
            pieces.push("start", start);
        }
        pieces.push("deltas", Json::of(&self.deltas).unwrap_or_default());
        pieces.into()
    }

    /// Joins the pieces: the arguments of a call and the content of a result are concatenated, and other fields must
    /// not be repeated.
    fn joined(&self) -> Option<Json> {
        let (mut kind, mut whole) = (None, Fields::default());
        let (mut input, mut content): (Option<String>, Option<Vec<Json>>) = (None, None);
        let mut names = HashSet::new();
        for piece in self.start.iter().chain(&self.deltas) {
            let mut fields = piece.to::<Fields>().ok()?.into_iter();
            let (Some((name, value)), None) = (fields.next(), fields.next()) else { return None };
            if *kind.get_or_insert_with(|| name.clone()) != name {
                return None;
            }
            if let Some(list) = value.to::<Vec<Json>>().ok().filter(|_| name == "toolResult") {
                content.get_or_insert_default().extend(list);
                continue;
            }
            for (field, value) in value.to::<Fields>().ok()? {
                match value.as_str().filter(|_| name == "toolUse" && field == "input") {
                    Some(text) => input.get_or_insert_default().push_str(&text),
                    None if names.insert(field.clone()) => whole.push(field, value),
                    None => return None,
                }
            }
        }
        if let Some(input) = input {
            let complete = Arguments::from_text(input.as_str()).is_complete();
            let value = if complete { Json::parse(&input).ok() } else { None };
            whole.set("input", value.unwrap_or_else(|| input.into()));
        }
        if let Some(content) = content {
            whole.set("content", Json::of(&content).ok()?);
        }
        let mut block = Fields::default();
        block.push(kind?, Json::from(whole));
        Some(block.into())
    }
}

/// Whether a block is only its pieces as received, which cannot be sent.
pub(in super::super) fn is_in_pieces(block: &Json) -> bool {
    block.to::<Fields>().is_ok_and(|fields| fields.get("deltas").is_some())
}
