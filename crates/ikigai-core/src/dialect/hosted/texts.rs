//! The visible text of an answer, across its blocks.

use super::found;
use crate::span::Ruler;
use crate::{Block, Citation, Dialect, Event, Span};

/// The lengths of an answer's visible text blocks, for wires that count positions through all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    blocks: Vec<(usize, Ruler)>,
    /// Refusals; at most one.
    left_out: Vec<usize>,
}

impl Texts {
    pub(crate) fn of(content: &[Block]) -> Self {
        let mut texts = Texts::default();
        for (index, block) in content.iter().enumerate() {
            if let Block::Text(text) = block
                && !text.is_refusal()
            {
                texts.push(index, &text.text);
            }
        }
        texts
    }

    /// Adds text to a block; blocks come in order.
    #[inline]
    pub(crate) fn push(&mut self, index: usize, piece: &str) {
        match self.blocks.last_mut() {
            Some((last, ruler)) if *last == index => ruler.push(piece),
            _ if self.left_out.contains(&index) => {}
            _ => self.blocks.push((index, Ruler::of(piece))),
        }
    }

    /// Notes that a block is not part of the text.
    pub(crate) fn leave_out(&mut self, index: usize) {
        self.left_out.push(index);
    }

    /// Measures the text in the events from `from` on. Inserts citations and sources before the end event.
    pub(crate) fn note(&mut self, dialect: Dialect, from: usize, out: &mut Vec<Event>) {
        for event in out.iter().skip(from) {
            match event {
                Event::TextDelta { index, text } => self.push(*index, text),
                Event::BlockStart { index, block: Block::Text(text) } => match text.is_refusal() {
                    true => self.leave_out(*index),
                    false => self.push(*index, &text.text),
                },
                _ => {}
            }
        }
        let Some(Event::Done { provider_data, .. }) = out.last() else { return };
        let found = found(dialect, provider_data, self);
        let place = out.len() - 1;
        let cited = found.citations.into_iter().map(|(index, citation)| (index, Box::new(citation)));
        let mut told: Vec<Event> = cited.map(|(index, citation)| Event::Citation { index, citation }).collect();
        if !found.sources.is_empty() {
            told.push(Event::Sources { sources: found.sources });
        }
        out.splice(place..place, told);
    }

    /// Returns the last block with text.
    pub(crate) fn last(&self) -> Option<usize> {
        self.blocks.last().map(|(index, _)| *index)
    }

    /// Returns how many bytes of text come before a block.
    pub(crate) fn bytes_before(&self, index: usize) -> usize {
        self.blocks.iter().take_while(|(block, _)| *block < index).map(|(_, ruler)| ruler.bytes()).sum()
    }

    /// Returns how many characters come before a byte of the whole text.
    pub(crate) fn chars_before(&self, byte: usize) -> usize {
        let (mut bytes, mut chars) = (0, 0);
        for (_, ruler) in &self.blocks {
            chars += ruler.chars_before(byte.saturating_sub(bytes));
            bytes += ruler.bytes();
            if bytes >= byte {
                break;
            }
        }
        chars
    }

    /// Returns a citation's span in the whole text; a citation without a span covers its whole block.
    pub(crate) fn span_of(&self, index: usize, citation: &Citation) -> Span {
        let length = self.blocks.iter().find(|(block, _)| *block == index).map_or(0, |(_, ruler)| ruler.bytes());
        let span = citation.span.unwrap_or(Span::new(0, length));
        span.behind(self.bytes_before(index))
    }

    /// Converts a range of characters of the whole text to one of bytes.
    pub(crate) fn span_of_chars(&self, start: u64, end: u64) -> Option<Span> {
        let all: Ruler = self.blocks.iter().fold(Ruler::default(), |all, (_, ruler)| all.and(ruler));
        all.span_of_chars(start, end)
    }

    /// Cites a range of the whole text: one citation for each block that it touches, with the part of the range in that
    /// block. A range outside the text cites all of the last block.
    pub(crate) fn cite(&self, span: Option<Span>, citation: &Citation) -> Vec<(usize, Citation)> {
        let mut cited = Vec::new();
        let mut start = 0;
        for (index, ruler) in &self.blocks {
            let end = start + ruler.bytes();
            if let Some(span) = span
                && span.start <= span.end
                && (span.start < end || (span.start == end && span.end == end && Some(*index) == self.last()))
                && (span.end > start || span.start == span.end && span.start >= start)
            {
                let inner = Span::new(span.start.max(start) - start, span.end.min(end) - start);
                let inner = Span::new(ruler.on_boundary(inner.start), ruler.on_boundary(inner.end));
                cited.push((*index, Citation { span: Some(inner), ..citation.clone() }));
            }
            start = end;
        }
        if cited.is_empty() {
            cited.extend(self.last().map(|index| (index, Citation { span: None, ..citation.clone() })));
        }
        cited
    }
}
