//! Puts blocks one after another, for wires or clients that cannot tell open blocks apart.
//!
//! The grammar allows several blocks to be open at once. Where a wire has one place for the text of all of them, or its
//! clients consider a block complete as soon as another one is named, a block waits until those before it have ended,
//! along with the events received for it so far.

use std::collections::{BTreeMap, VecDeque};

use crate::{Block, Event};

/// Which blocks cannot be open at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lanes {
    /// Two of the same kind: text, thinking, calls.
    SameKind,
    /// Any two.
    All,
}

/// Passes events on in an order in which blocks of one lane do not overlap.
#[derive(Debug)]
pub(super) struct Queue {
    lanes: Lanes,
    /// The blocks that have begun and are not fully passed on yet, by index.
    open: BTreeMap<usize, Open>,
    /// The indices of the blocks in each lane, in order of arrival. The first passes through, the others wait.
    order: [VecDeque<usize>; 4],
    /// How many are waiting: usually none.
    waiting: usize,
}

#[derive(Debug)]
struct Open {
    lane: Lane,
    /// The events received for it while another block was ahead of it.
    held: Vec<Event>,
    ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    Text,
    Thinking,
    Call,
    Any,
}

impl Open {
    /// Holds a piece, joined to the previous piece if possible.
    fn hold(&mut self, event: &Event) {
        match (self.held.last_mut(), event) {
            (Some(Event::TextDelta { text: held, .. }), Event::TextDelta { text, .. })
            | (Some(Event::ThinkingDelta { text: held, .. }), Event::ThinkingDelta { text, .. })
            | (Some(Event::ToolCallDelta { arguments: held, .. }), Event::ToolCallDelta { arguments: text, .. }) => {
                held.push_str(text)
            }
            _ => self.held.push(event.clone()),
        }
    }
}

impl Queue {
    pub(super) fn new(lanes: Lanes) -> Self {
        Queue { lanes, open: BTreeMap::new(), order: Default::default(), waiting: 0 }
    }

    /// Passes on the event and any events that it releases, or holds it.
    pub(super) fn push(&mut self, event: &Event, mut pass: impl FnMut(&Event)) {
        match event {
            Event::BlockStart { index, block } => self.start(*index, self.lane_of(block), event, pass),
            Event::ToolCallStart { index, .. } => {
                let lane = if self.lanes == Lanes::All { Lane::Any } else { Lane::Call };
                self.start(*index, Some(lane), event, pass);
            }
            Event::TextDelta { index, .. }
            | Event::ThinkingDelta { index, .. }
            | Event::BlockReplaced { index, .. }
            | Event::Citation { index, .. }
            | Event::ToolCallDelta { index, .. } => match self.waiting(*index) {
                Some(open) => open.hold(event),
                None => pass(event),
            },
            Event::BlockDone { index, .. } | Event::ToolCallDone { index, .. } => match self.waiting(*index) {
                Some(open) => {
                    open.held.push(event.clone());
                    open.ended = true;
                }
                None => {
                    pass(event);
                    self.end(*index, pass);
                }
            },
            Event::Done { .. } | Event::Error { .. } => {
                std::mem::take(&mut self.open).into_values().flat_map(|open| open.held).for_each(|held| pass(&held));
                pass(event);
            }
            Event::Start { .. } | Event::Sources { .. } | Event::Usage { .. } | Event::Other { .. } => pass(event),
        }
    }

    fn lane_of(&self, block: &Block) -> Option<Lane> {
        match (self.lanes, block) {
            (Lanes::All, _) => Some(Lane::Any),
            (Lanes::SameKind, Block::Text(_)) => Some(Lane::Text),
            (Lanes::SameKind, Block::Thinking(_)) => Some(Lane::Thinking),
            (
                Lanes::SameKind,
                Block::Image(_)
                | Block::Document(_)
                | Block::Audio(_)
                | Block::ToolCall(_)
                | Block::ToolResult(_)
                | Block::ProviderCall(_)
                | Block::ProviderResult(_)
                | Block::Other(_),
            ) => None,
        }
    }

    fn start(&mut self, index: usize, lane: Option<Lane>, event: &Event, mut pass: impl FnMut(&Event)) {
        let Some(lane) = lane else { return pass(event) };
        let order = self.order(lane);
        let waits = !order.is_empty();
        order.push_back(index);
        let held = if waits { vec![event.clone()] } else { Vec::new() };
        self.waiting += usize::from(waits);
        self.open.insert(index, Open { lane, held, ended: false });
        if !waits {
            pass(event);
        }
    }

    fn order(&mut self, lane: Lane) -> &mut VecDeque<usize> {
        let [text, thinking, call, any] = &mut self.order;
        match lane {
            Lane::Text => text,
            Lane::Thinking => thinking,
            Lane::Call => call,
            Lane::Any => any,
        }
    }

    /// Returns the block if another one is ahead of it in its lane.
    fn waiting(&mut self, index: usize) -> Option<&mut Open> {
        if self.waiting == 0 {
            return None;
        }
        let lane = self.open.get(&index)?.lane;
        if self.order(lane).front() == Some(&index) {
            return None;
        }
        self.open.get_mut(&index)
    }

    /// Removes the block, and passes on what those after it have received so far.
    fn end(&mut self, index: usize, mut pass: impl FnMut(&Event)) {
        let Some(Open { lane, .. }) = self.open.remove(&index) else { return };
        self.order(lane).pop_front();
        while let Some(next) = self.order(lane).front().copied() {
            let Some(open) = self.open.get_mut(&next) else { return };
            self.waiting = self.waiting.saturating_sub(1);
            std::mem::take(&mut open.held).iter().for_each(&mut pass);
            if !open.ended {
                return;
            }
            self.open.remove(&next);
            self.order(lane).pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, FinishReason, ProviderData};

    fn start(index: usize, block: Block) -> Event {
        Event::BlockStart { index, block }
    }

    fn text(index: usize, text: &str) -> Event {
        Event::TextDelta { index, text: text.into() }
    }

    fn end(index: usize) -> Event {
        Event::BlockDone { index, provider_data: ProviderData::default() }
    }

    fn call(index: usize) -> Event {
        Event::ToolCallStart { index, id: "c".into(), name: "f".into(), provider_data: ProviderData::default() }
    }

    fn done() -> Event {
        Event::Done { finish_reason: FinishReason::Stop, provider_data: ProviderData::default() }
    }

    fn through(lanes: Lanes, events: &[Event]) -> Vec<Event> {
        let mut queue = Queue::new(lanes);
        let mut passed = Vec::new();
        for event in events {
            queue.push(event, |event| passed.push(event.clone()));
        }
        passed
    }

    #[test]
    fn blocks_that_follow_each_other_go_straight_through() {
        let events =
            [start(0, Block::text("")), text(0, "a"), end(0), call(1), start(2, Block::text("")), end(2), done()];
        for lanes in [Lanes::SameKind, Lanes::All] {
            let mut queue = Queue::new(lanes);
            for event in &events[..3] {
                let mut passed = Vec::new();
                queue.push(event, |event| passed.push(event.clone()));
                assert_eq!(passed, std::slice::from_ref(event));
            }
        }
        assert_eq!(through(Lanes::SameKind, &events), events);
    }

    #[test]
    fn a_text_beside_an_open_text_waits_for_its_end() {
        let (a, b, c) = (start(0, Block::text("")), start(1, Block::text("")), start(2, Block::text("")));
        let mixed = [
            a.clone(),
            b.clone(),
            text(1, "b"),
            c.clone(),
            text(0, "a"),
            end(1),
            text(2, "c"),
            text(0, "a"),
            end(0),
            text(2, "c"),
            end(2),
            done(),
        ];
        let ordered = [
            a,
            text(0, "a"),
            text(0, "a"),
            end(0),
            b,
            text(1, "b"),
            end(1),
            c,
            text(2, "c"),
            text(2, "c"),
            end(2),
            done(),
        ];
        for lanes in [Lanes::SameKind, Lanes::All] {
            assert_eq!(through(lanes, &mixed), ordered, "{lanes:?}");
        }
    }

    #[test]
    fn thinking_beside_text_waits_only_where_all_is_one() {
        let events = [start(0, Block::thinking("")), start(1, Block::text("")), text(1, "b"), end(0), end(1), done()];
        assert_eq!(through(Lanes::SameKind, &events), events);
        let one = [
            events[0].clone(),
            events[3].clone(),
            events[1].clone(),
            events[2].clone(),
            events[4].clone(),
            events[5].clone(),
        ];
        assert_eq!(through(Lanes::All, &events), one);
    }

    #[test]
    fn a_call_beside_an_open_call_waits_for_its_end() {
        let piece = |index| Event::ToolCallDelta { index, arguments: "1".into() };
        let end = |index| Event::ToolCallDone {
            index,
            arguments: Arguments::from_text("11"),
            provider_data: ProviderData::default(),
        };
        let mixed = [call(0), call(1), piece(0), piece(1), piece(0), piece(1), end(0), end(1), done()];
        let both = Event::ToolCallDelta { index: 1, arguments: "11".into() };
        let ordered = [call(0), piece(0), piece(0), end(0), call(1), both, end(1), done()];
        for lanes in [Lanes::SameKind, Lanes::All] {
            assert_eq!(through(lanes, &mixed), ordered, "{lanes:?}");
        }
    }

    #[test]
    fn what_waits_when_the_stream_breaks_goes_out_before_the_error() {
        let broke = Event::Error { error: Box::new(crate::Error::protocol("broke")) };
        let (a, b) = (start(0, Block::text("")), start(1, Block::text("")));
        let events = [a.clone(), b.clone(), text(1, "b"), broke.clone()];
        assert_eq!(through(Lanes::All, &events), [a, b, text(1, "b"), broke]);
    }
}
