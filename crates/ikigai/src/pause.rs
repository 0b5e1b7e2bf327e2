//! Answers that pause: a provider may stop in the middle of its own tools, and continues once its answer so far is sent
//! back.

use ikigai_core::{Event, FoundSource, ProviderData, Response, Usage};

use crate::answer::Step;

/// An answer that the provider paused.
pub(crate) struct Paused {
    /// The answer so far.
    pub(crate) step: Step,
    /// How often the provider was asked to continue it.
    pub(crate) continued: u32,
}

/// The part of a streamed answer from before a pause. What comes after it continues the same answer: block indexes
/// continue from here, and counts are added to these.
#[derive(Debug)]
pub(crate) struct Before {
    blocks: usize,
    sources: Vec<FoundSource>,
    usage: Option<Usage>,
    /// The usage of the later request alone.
    later_usage: Option<Usage>,
    /// The dialect's own data from the later answer's start. It is added to the end, because there is no second start.
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

    /// Turns an event of the later answer into one of the whole answer. `None` for its start.
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

    /// Returns the part of the whole answer that came after the pause.
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
