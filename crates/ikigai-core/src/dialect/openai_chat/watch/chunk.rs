//! The content of one chunk, apart from its text.

use crate::server::Delivery;

/// The content of the current chunk.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) error: Option<Box<str>>,
    pub(super) usage: Counts,
    pub(super) choice_usage: Counts,
    pub(super) groq_usage: Counts,
    /// Whether there is a list of choices.
    pub(super) has_choices: bool,
    pub(super) choices: usize,
    /// The choices with index 0, combined; in a whole answer, the first one.
    pub(super) choice: Choice,
    /// Whether that choice has index 0, and is not merely the first.
    pub(super) is_exact: bool,
}

/// Counts as JSON; the buffer is reused for the next chunk.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) json: String,
}

/// The content of one choice.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) is_other: bool,
    pub(super) has_index: bool,
    pub(super) finish: Option<String>,
    pub(super) error: Option<Box<str>>,
    pub(super) has_delta: bool,
    pub(super) has_message: bool,
    pub(super) calls: bool,
    pub(super) refused: bool,
    pub(super) says: bool,
}

impl Counts {
    /// Sets the counts, unless they are `null`.
    pub(super) fn set(&mut self, json: &str) {
        if json != "null" {
            json.clone_into(&mut self.json);
        }
    }

    pub(super) fn set_object(&mut self, json: &str) {
        if json.starts_with('{') {
            json.clone_into(&mut self.json);
        }
    }

    pub(super) fn get(&self) -> Option<&str> {
        Some(self.json.as_str()).filter(|json| !json.is_empty())
    }
}

impl Parts {
    pub(super) fn clear(&mut self) {
        for counts in [&mut self.usage, &mut self.choice_usage, &mut self.groq_usage] {
            counts.json.clear();
        }
        (self.id, self.model, self.error) = (None, None, None);
        (self.has_choices, self.choices, self.is_exact) = (false, 0, false);
        self.choice = Choice::default();
    }

    /// Adds a choice. In a stream all with index 0 are read; in a whole answer only one, or the first if none has it.
    pub(super) fn add(&mut self, choice: Choice, delivery: Delivery) {
        self.choices += 1;
        match delivery {
            Delivery::Stream if choice.is_other => {}
            Delivery::Stream => {
                let kept = &mut self.choice;
                kept.finish = choice.finish.or(kept.finish.take());
                kept.error = choice.error.or(kept.error.take());
                kept.calls |= choice.calls;
                kept.refused |= choice.refused;
                kept.says |= choice.says;
                kept.has_delta |= choice.has_delta;
                kept.has_message |= choice.has_message && !choice.has_delta;
            }
            Delivery::Whole if choice.has_index && !self.is_exact => {
                self.is_exact = true;
                self.choice = choice;
            }
            Delivery::Whole if self.choices == 1 => self.choice = choice,
            Delivery::Whole => {}
        }
    }
}
