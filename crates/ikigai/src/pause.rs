//! Answers that pause: a provider may stop in the middle of its own tools, and continues once its answer so far is sent
//! back.

use ikigai_core::{Event, FoundSource, ProviderData, Response, Usage};

use crate::answer::Step;

/// An answer that the provider paused.
pub(crate) struct Paused {
    /// What there is of it.
    pub(crate) step: Step,
    /// How often the provider was asked to go on with it.
    pub(crate) continued: u32,
}

/// What a streamed answer has from before a pause. What comes after it continues the same answer: blocks are numbered from
/// there, and counts are added to those from before.
#[derive(Debug)]
pub(crate) struct Before {
    blocks: usize,
    sources: Vec<FoundSource>,
    usage: Option<Usage>,
    /// What the later request takes by itself.
    later_usage: Option<Usage>,
    /// What the later answer begins with of its dialect's own; it goes with the end, because there is no second beginning.
    later_data: ProviderData,
}

impl Before {
    pub(crate) fn new(paused: &Response) -> Self {
        Before {
            blocks: paused.content.len(),
            sources: paused.sources.clone(),
            usage: paused.usage.clone(),
            later_usage: None,
            later_data: ProviderData::default(),
        }
    }

    /// An event of the later answer as one of the whole. `None` for its beginning.
    pub(crate) fn place(&mut self, mut event: Event) -> Option<Event> {
        match &mut event {
            Event::Start { provider_data, .. } => {
                self.later_data.merge(std::mem::take(provider_data));
                return None;
            }
            Event::Sources { sources } => {
                sources.splice(0..0, self.sources.iter().cloned());
            }
            Event::Usage { usage } => {
                self.later_usage = Some(usage.clone());
                if let Some(before) = &self.usage {
                    *usage = before.and(usage);
                }
            }
            Event::Done { provider_data, .. } => {
                let end = std::mem::replace(provider_data, std::mem::take(&mut self.later_data));
                provider_data.merge(end);
            }
            _ => {
                if let Some(index) = event.index_mut() {
                    *index = index.saturating_add(self.blocks);
                }
            }
        }
        Some(event)
    }

    /// What the whole answer has from after the pause.
    pub(crate) fn after(self, mut whole: Response) -> Response {
        whole.content.drain(..self.blocks.min(whole.content.len()));
        whole.sources.drain(..self.sources.len().min(whole.sources.len()));
        whole.usage = self.later_usage;
        whole
    }
}

#[cfg(test)]
#[path = "pause_tests.rs"]
mod tests;
