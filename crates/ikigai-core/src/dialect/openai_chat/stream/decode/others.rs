//! The choices of a stream that are not the first: put together, but only kept, as in a whole answer.

use super::{Decoder, State};
use crate::dialect::openai_chat::response::encode_other_choice;
use crate::dialect::openai_chat::wire::Choice;
use crate::dialect::{Fault, Reply};
use crate::wire::Ids;
use crate::{Collector, Event, Json};

/// No provider gives more.
const MOST: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Others {
    choices: Vec<Other>,
}

#[derive(Debug)]
struct Other {
    index: u64,
    decoder: Box<Decoder>,
    collector: Collector,
}

impl Others {
    /// Takes a piece of one of them.
    pub(super) fn choice(&mut self, index: u64, choice: &mut Choice<'_>) {
        let place = self.choices.iter().position(|other| other.index == index);
        let place = place.unwrap_or_else(|| {
            let decoder = Box::new(Decoder::new(Ids::seeded(index)));
            self.choices.push(Other { index, decoder, collector: Collector::default() });
            self.choices.len() - 1
        });
        let Some(other) = self.choices.get_mut(place).filter(|_| place < MOST) else {
            self.choices.truncate(MOST);
            return;
        };
        let mut events = Vec::new();
        if other.decoder.state == State::Waiting {
            other.decoder.start(&mut events);
        }
        other.decoder.choice(choice, &mut events);
        other.collector.extend(events);
    }

    /// Each as it would stand in a whole answer.
    pub(super) fn into_choices(self) -> Vec<Json> {
        let whole = self.choices.into_iter().map(|mut other| {
            let mut events = Vec::new();
            if let Err(Fault::Failed(error)) = other.decoder.finish(&mut events) {
                events.push(Event::Error { error });
            }
            other.collector.extend(events);
            encode_other_choice(&other.collector.finish(), other.index, &Reply::default())
        });
        whole.collect()
    }
}
