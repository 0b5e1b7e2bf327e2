//! `thinking_blocks`, assembled: a block's text grows until its signature comes.

use crate::dialect::openai_chat::wire::Signed;
use crate::json::loose::read_raw;
use crate::json::wire::{Raw, Text};
use crate::{Fields, Json};

/// The kind of a block that comes in pieces. Any other comes whole.
const THINKING: &str = "thinking";
/// The approximate size of a block, without its text.
const ENTRY: usize = 200;

#[derive(Debug, Default)]
pub(super) struct ThinkingBlocks {
    blocks: Vec<Growing>,
}

#[derive(Debug)]
struct Growing {
    fields: Fields,
    /// Its text so far, unless it came whole.
    text: Option<String>,
    /// How many bytes its fields take, roughly.
    size: usize,
}

impl ThinkingBlocks {
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Adds a block, or a piece of the last one.
    pub(super) fn push(&mut self, piece: &Raw<'_>) {
        let read: Option<Signed<'_>> = read_raw(&piece.0);
        let is_piece = |read: &Signed<'_>| read.kind.as_ref().is_some_and(|kind| kind.as_str() == THINKING);
        let Some(text) = read.filter(is_piece).and_then(|read| read.thinking).map(Text::into_string) else {
            return self.begin(piece, None);
        };
        let Some(Growing { fields, text: Some(said), size }) = self.blocks.last_mut().filter(|last| last.is_open())
        else {
            return self.begin(piece, Some(text));
        };
        said.push_str(&text);
        for (name, value) in piece.to_json().to::<Fields>().unwrap_or_default() {
            if name != THINKING && !matches!(value.text(), "null" | "\"\"") && fields.get(&name) != Some(&value) {
                *size += value.text().len();
                fields.set(name, value);
            }
        }
    }

    fn begin(&mut self, piece: &Raw<'_>, text: Option<String>) {
        let fields = piece.to_json().to().unwrap_or_default();
        self.blocks.push(Growing { fields, text, size: ENTRY + piece.text().len() });
    }

    /// Returns roughly how many bytes it takes.
    pub(super) fn held(&self) -> usize {
        self.blocks.iter().map(|block| block.size + block.text.as_ref().map_or(0, String::len)).sum()
    }

    /// Takes all blocks out.
    pub(super) fn take(&mut self) -> Vec<Fields> {
        let whole = |Growing { mut fields, text, .. }: Growing| {
            if let Some(text) = text {
                fields.set(THINKING, Json::from(text));
            }
            fields
        };
        std::mem::take(&mut self.blocks).into_iter().map(whole).collect()
    }
}

impl Growing {
    fn is_open(&self) -> bool {
        self.text.is_some() && self.fields.str("signature").is_none_or(|signature| signature.is_empty())
    }
}
