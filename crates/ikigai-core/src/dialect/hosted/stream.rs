//! A streamed answer, lowered for a client event by event.

use std::collections::BTreeMap;

use crate::dialect::Reply;
use crate::dialect::seal::Answerer;
use crate::span::Ruler;
use crate::{Block, Citation, Dialect, Event, FoundSource, Json, Loss, LossCode, Part, ProviderData, Text};

use super::lower::{drop_carried, replace, set_list, whole};
use super::writer::{Cited, Writer};
use super::{Texts, uncounted};

/// Turns events into those of one dialect. Answers without citations and provider-run tools pass through untouched.
#[derive(Debug)]
pub(crate) struct Lowering {
    writer: Writer,
    /// For each block of the answer, its index on the wire; absent if it is not written, or not yet.
    places: BTreeMap<usize, usize>,
    /// For each block on the wire, the index of the block that it is made from.
    origin: Vec<usize>,
    /// Whether any index differs.
    moved: bool,
    /// Calls and results that are still open.
    running: BTreeMap<usize, Block>,
    /// Text blocks that are open on the wire.
    open: BTreeMap<usize, OpenText>,
    /// The end of a text block, held back in case citations follow.
    held: Option<(usize, ProviderData)>,
    /// An empty text block after it, which only carries provider state, and before which citations may still come.
    behind: Vec<Event>,
    texts: Texts,
    /// The text of the answer, for wires that repeat it next to its sources.
    said: String,
    cited: Vec<(usize, Citation)>,
    /// The pages cited, for wires that have citations on their text blocks.
    pages: Cited,
    sources: Vec<FoundSource>,
    is_own: bool,
    /// The pending loss for the counts of the last usage.
    uncounted: Option<Loss>,
}

/// An open text block.
#[derive(Debug, Default)]
struct OpenText {
    /// Where the wire's current block begins in it.
    start: usize,
    ruler: Ruler,
    citations: Vec<Citation>,
    /// Whether the wire's current block must end before the next piece.
    cut: bool,
}

impl Lowering {
    pub(crate) fn new(to: Dialect, reply: &Reply) -> Self {
        Lowering {
            writer: Writer::new(to, Answerer::new(reply, None)),
            places: BTreeMap::new(),
            origin: Vec::new(),
            moved: false,
            running: BTreeMap::new(),
            open: BTreeMap::new(),
            held: None,
            behind: Vec::new(),
            texts: Texts::default(),
            said: String::new(),
            cited: Vec::new(),
            pages: Cited::default(),
            sources: Vec::new(),
            is_own: false,
            uncounted: None,
        }
    }

    fn to(&self) -> Dialect {
        self.writer.to
    }

    /// Passes on what an event becomes.
    pub(crate) fn push(&mut self, event: &Event, pass: &mut dyn FnMut(&Event)) {
        if !self.may_come_first(event) {
            if self.is_behind(event) {
                return self.behind.push(event.clone());
            }
            self.release(pass);
        }
        match event {
            Event::TextDelta { index, text } => {
                self.measure(*index, text, pass);
                self.moved_on(event, *index, pass);
            }
            Event::BlockStart { index, block } => self.start(*index, block, event, pass),
            Event::BlockReplaced { index, block } => {
                if let Some(running) = self.running.get_mut(index) {
                    running.clone_from(block);
                }
            }
            Event::Citation { index, citation } => self.cite(*index, citation),
            Event::Sources { sources } => self.sources.clone_from(sources),
            Event::BlockDone { index, provider_data } => self.done(*index, provider_data, event, pass),
            Event::ToolCallStart { index, .. } => {
                self.open_place(*index);
                self.moved_on(event, *index, pass);
            }
            Event::ThinkingDelta { index, .. }
            | Event::ToolCallDelta { index, .. }
            | Event::ToolCallDone { index, .. }
            | Event::Other { index: Some(index), .. } => self.moved_on(event, *index, pass),
            Event::Start { model, provider_data, .. } => {
                self.is_own |= provider_data.is_of(self.to());
                if model.is_some() {
                    self.writer.answerer.model.clone_from(model);
                }
                pass(event);
            }
            Event::Done { finish_reason, provider_data } => {
                self.is_own |= provider_data.is_of(self.to());
                self.writer.losses.extend(self.uncounted.take());
                match self.end(pass) {
                    Some(around) => {
                        let mut provider_data = provider_data.clone();
                        provider_data.merge(around);
                        drop_carried(&mut provider_data, self.to());
                        pass(&Event::Done { finish_reason: *finish_reason, provider_data });
                    }
                    None => pass(event),
                }
            }
            Event::Usage { usage } => {
                self.uncounted = uncounted(Some(usage), self.to());
                pass(event);
            }
            Event::Error { .. } | Event::Other { index: None, .. } => pass(event),
        }
    }

    /// Moves the losses so far into `losses`, with the writer's, whose places become those of the original answer.
    pub(crate) fn settle(&mut self, written: Vec<Loss>, losses: &mut Vec<Loss>) {
        losses.append(&mut self.writer.losses);
        for mut loss in written {
            if self.moved {
                replace(&mut loss, &self.origin);
            }
            losses.push(loss);
        }
    }

    /// Assigns the next index on the wire to a block.
    fn open_place(&mut self, index: usize) -> usize {
        let place = self.origin.len();
        self.origin.push(index);
        self.places.insert(index, place);
        self.moved |= place != index;
        place
    }

    /// Passes on an event with its block's index on the wire.
    fn moved_on(&self, event: &Event, index: usize, pass: &mut dyn FnMut(&Event)) {
        if !self.moved {
            return pass(event);
        }
        let Some(&place) = self.places.get(&index) else { return };
        let mut event = event.clone();
        if let Some(index) = event.index_mut() {
            *index = place;
        }
        pass(&event);
    }

    fn start(&mut self, index: usize, block: &Block, event: &Event, pass: &mut dyn FnMut(&Event)) {
        if block.is_provider_run() {
            self.running.insert(index, block.clone());
            // A client of the same dialect sees it begin.
            if let Some(own) = block.wire(self.to()) {
                let index = self.open_place(index);
                pass(&Event::BlockStart { index, block: whole(self.to(), own.clone()) });
            }
            return;
        }
        self.open_place(index);
        let Block::Text(text) = block else { return self.moved_on(event, index, pass) };
        self.open.insert(index, OpenText { citations: text.citations.clone(), ..OpenText::default() });
        if text.citations.is_empty() {
            self.moved_on(event, index, pass);
        } else {
            let block = Block::Text(Text { citations: Vec::new(), ..text.clone() });
            self.moved_on(&Event::BlockStart { index, block }, index, pass);
        }
        if !text.text.is_empty() {
            self.count(index, &text.text, text.is_refusal());
        }
    }

    /// Measures a piece of text, before which the wire's block may have to end.
    fn measure(&mut self, index: usize, piece: &str, pass: &mut dyn FnMut(&Event)) {
        if self.open.get(&index).is_some_and(|open| open.cut) {
            self.end_text(index, ProviderData::default(), pass);
            let place = self.open_place(index);
            pass(&Event::BlockStart { index: place, block: Block::text("") });
            if let Some(open) = self.open.get_mut(&index) {
                (open.cut, open.start) = (false, open.ruler.bytes());
            }
        }
        self.count(index, piece, false);
    }

    fn count(&mut self, index: usize, piece: &str, refusal: bool) {
        match self.to() {
            Dialect::OpenaiChat | Dialect::Gemini if refusal => {}
            Dialect::OpenaiChat => self.texts.push(index, piece),
            Dialect::Gemini => {
                self.texts.push(index, piece);
                self.said.push_str(piece);
            }
            Dialect::Anthropic | Dialect::OpenaiResponses => {
                if let Some(open) = self.open.get_mut(&index) {
                    open.ruler.push(piece);
                }
            }
            Dialect::BedrockConverse => {}
        }
    }

    fn cite(&mut self, index: usize, citation: &Citation) {
        match self.to() {
            Dialect::OpenaiChat | Dialect::Gemini => self.cited.push((index, citation.clone())),
            Dialect::Anthropic | Dialect::OpenaiResponses | Dialect::BedrockConverse => {
                // Where citations apply to whole blocks, a block has to end where its passage does.
                let cuts = self.to() == Dialect::Anthropic;
                let held = self.held.as_ref().is_some_and(|(held, _)| *held == index);
                let Some(open) = self.open.get_mut(&index) else {
                    let why = "it came after its text was written; left out";
                    let place = format!("content[{index}].citations");
                    return self.writer.losses.push(Loss::new(LossCode::NotInDialect, "citations", place, why));
                };
                self.pages.note(citation);
                open.citations.push(citation.clone());
                open.cut |= cuts
                    && !held
                    && citation.span.is_some_and(|span| span.end > open.start && span.end == open.ruler.bytes());
            }
        }
    }

    fn done(&mut self, index: usize, data: &ProviderData, event: &Event, pass: &mut dyn FnMut(&Event)) {
        if let Some(block) = self.running.remove(&index) {
            return self.ran(index, &block, pass);
        }
        let waits = matches!(self.to(), Dialect::Anthropic | Dialect::OpenaiResponses);
        match self.open.contains_key(&index) && waits {
            true => self.held = Some((index, data.clone())),
            false => {
                self.open.remove(&index);
                self.moved_on(event, index, pass);
            }
        }
    }

    /// Whether this event may overtake the held-back end of a text block.
    fn may_come_first(&self, event: &Event) -> bool {
        match (&self.held, event) {
            (None, _) => true,
            (Some((held, _)), Event::Citation { index, .. }) => held == index,
            (Some(_), event) => matches!(event, Event::Sources { .. } | Event::Usage { .. }),
        }
    }

    /// Whether this event belongs to the one empty text block that may wait as well.
    fn is_behind(&self, event: &Event) -> bool {
        match (self.behind.as_slice(), event) {
            ([], Event::BlockStart { block: Block::Text(text), .. }) => {
                text.text.is_empty() && text.citations.is_empty()
            }
            ([Event::BlockStart { index: begun, .. }], Event::BlockDone { index, .. }) => begun == index,
            _ => false,
        }
    }

    /// Ends the text block whose end was held back.
    fn release(&mut self, pass: &mut dyn FnMut(&Event)) {
        while let Some((index, data)) = self.held.take() {
            self.end_text(index, data, pass);
            self.open.remove(&index);
            for event in std::mem::take(&mut self.behind) {
                self.push(&event, pass);
            }
        }
    }

    /// Ends the wire's block of a text, with its citations.
    fn end_text(&mut self, index: usize, mut provider_data: ProviderData, pass: &mut dyn FnMut(&Event)) {
        let Some(open) = self.open.get_mut(&index) else { return };
        let citations = std::mem::take(&mut open.citations);
        if !citations.is_empty() {
            let all: Vec<&Citation> = citations.iter().collect();
            let is_inside = |citation: &&Citation| citation.span.is_some_and(|span| span.end < open.ruler.bytes());
            if self.writer.to == Dialect::Anthropic && all.iter().any(is_inside) {
                let why = "they arrived after the text, so their spans now cover all of it";
                let place = format!("content[{index}].citations");
                self.writer.losses.push(Loss::new(LossCode::Changed, "citations", place, why));
            }
            let (part, name, list) = match self.writer.to {
                Dialect::Anthropic => (Part::Extra, "citations", self.writer.anthropic(index, &all)),
                _ => (Part::Answer, "annotations", self.writer.annotations(index, &all, &open.ruler)),
            };
            set_list(&mut provider_data, self.writer.to, part, name, &list);
        }
        self.moved_on(&Event::BlockDone { index, provider_data }, index, pass);
    }

    /// Writes a complete call or result.
    fn ran(&mut self, index: usize, block: &Block, pass: &mut dyn FnMut(&Event)) {
        let began = self.places.get(&index).copied();
        for data in self.writer.run(index, block) {
            match began {
                Some(place) => {
                    let mut provider_data = ProviderData::default();
                    provider_data.set_part(self.to(), Part::Shape, "data", data);
                    pass(&Event::BlockDone { index: place, provider_data });
                }
                None => self.whole(index, data, pass),
            }
        }
    }

    fn whole(&mut self, index: usize, data: Json, pass: &mut dyn FnMut(&Event)) {
        let index = self.open_place(index);
        pass(&Event::BlockStart { index, block: whole(self.to(), data) });
        pass(&Event::BlockDone { index, provider_data: ProviderData::default() });
    }

    /// Writes what is still owed at the end. Returns what goes next to the answer if it has citations or sources.
    fn end(&mut self, pass: &mut dyn FnMut(&Event)) -> Option<ProviderData> {
        for (index, block) in std::mem::take(&mut self.running) {
            self.ran(index, &block, pass);
        }
        for (index, data) in self.writer.rest() {
            self.whole(index, data, pass);
        }
        let sources = std::mem::take(&mut self.sources);
        if (self.cited.is_empty() && sources.is_empty()) || self.is_own {
            return None;
        }
        for data in self.writer.search(&self.pages, &sources) {
            self.whole(self.origin.len(), data, pass);
        }
        Some(self.writer.around(&self.cited, &sources, &self.texts, &self.said))
    }
}
