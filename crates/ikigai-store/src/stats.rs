//! Statistics and health.

use ikigai_core::Usage;
use ikigai_core::catalog::Money;

/// Counts, sizes and costs.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// How many conversations.
    pub conversations: u64,
    /// How many messages; one that forks share counts once.
    pub messages: u64,
    /// How many answers are incomplete: they are still growing, or their writer ended first.
    pub partial: u64,
    /// How many different large attachments.
    pub attachments: u64,
    /// The bytes in those.
    pub attachment_bytes: u64,
    /// The bytes that the database takes.
    pub size: u64,
    /// What all answers took and cost.
    pub spent: Spent,
}

/// What answers took and cost, by model.
///
/// Only what is kept counts: an answer that was undone or deleted is not in it, although it was paid for.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Spent {
    /// The models that answered, those with the most answers first.
    pub models: Vec<ModelStats>,
}

/// What one model did.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelStats {
    /// The provider, where the messages say it.
    pub provider: Option<String>,
    /// The model that answered, where the messages say it.
    pub model: Option<String>,
    /// How many answers.
    pub answers: u64,
    /// How many of them came without a cost: `cost` is that of the others.
    pub unpriced: u64,
    /// How many of them were cut off, and have a cost: it is an estimate.
    pub estimated: u64,
    /// The tokens of all of them.
    pub usage: Usage,
    /// What those cost whose price was known.
    pub cost: Money,
}

impl Spent {
    /// How many answers.
    pub fn answers(&self) -> u64 {
        self.models.iter().map(|model| model.answers).sum()
    }

    /// How many of them came without a cost.
    pub fn unpriced(&self) -> u64 {
        self.models.iter().map(|model| model.unpriced).sum()
    }

    /// How many of them have a cost that is an estimate.
    pub fn estimated(&self) -> u64 {
        self.models.iter().map(|model| model.estimated).sum()
    }

    /// The tokens of all answers.
    pub fn usage(&self) -> Usage {
        let mut all = Usage::default();
        self.models.iter().for_each(|model| add(&mut all, &model.usage));
        all
    }

    /// What all answers cost whose price was known.
    pub fn cost(&self) -> Money {
        self.models.iter().map(|model| model.cost).sum()
    }
}

/// Adds counts to counts.
pub(crate) fn add(to: &mut Usage, more: &Usage) {
    for (count, more) in [
        (&mut to.input_tokens, more.input_tokens),
        (&mut to.output_tokens, more.output_tokens),
        (&mut to.thinking_tokens, more.thinking_tokens),
        (&mut to.cache_read_tokens, more.cache_read_tokens),
        (&mut to.cache_write_tokens, more.cache_write_tokens),
    ] {
        *count = count.saturating_add(more);
    }
}

/// The state of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// The engine and its version: `SQLite 3.54.1`.
    pub engine: String,
    /// The file, or the server's address without the password.
    pub place: String,
    /// The version of its schema.
    pub schema: i64,
    /// The problems found; empty if there are none.
    pub problems: Vec<String>,
}

impl Health {
    /// Whether everything is in order.
    pub fn is_well(&self) -> bool {
        self.problems.is_empty()
    }
}
