//! Statistics and health.

use ikigai_core::Usage;
use ikigai_core::catalog::Money;

/// Counts, sizes and costs.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of conversations.
    pub conversations: u64,
    /// The number of messages; one that forks share counts once.
    pub messages: u64,
    /// The number of incomplete answers: they are still growing, or their writer ended first.
    pub partial: u64,
    /// The number of different large attachments.
    pub attachments: u64,
    /// The size of those in bytes.
    pub attachment_bytes: u64,
    /// The size of the database in bytes.
    pub size: u64,
    /// What all answers took and cost.
    pub spent: Spent,
}

/// What answers took and cost, by model.
///
/// Only what is stored counts: an answer that was undone or deleted is not included, although it was paid for.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Spent {
    /// The models that answered, most answers first.
    pub models: Vec<ModelStats>,
}

/// What one model's answers took and cost.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelStats {
    /// The provider, if the messages name it.
    pub provider: Option<String>,
    /// The model that answered, if the messages name it.
    pub model: Option<String>,
    /// The number of answers.
    pub answers: u64,
    /// The number of answers without a cost; `cost` is that of the others.
    pub unpriced: u64,
    /// The number of answers that were cut off and have a cost, which is an estimate.
    pub estimated: u64,
    /// The tokens of all answers.
    pub usage: Usage,
    /// The cost of the answers whose price was known.
    pub cost: Money,
}

impl Spent {
    /// Returns the number of answers.
    pub fn answers(&self) -> u64 {
        self.models.iter().map(|model| model.answers).sum()
    }

    /// Returns the number of answers without a cost.
    pub fn unpriced(&self) -> u64 {
        self.models.iter().map(|model| model.unpriced).sum()
    }

    /// Returns the number of answers whose cost is an estimate.
    pub fn estimated(&self) -> u64 {
        self.models.iter().map(|model| model.estimated).sum()
    }

    /// Returns the tokens of all answers.
    pub fn usage(&self) -> Usage {
        let mut all = Usage::default();
        self.models.iter().for_each(|model| add(&mut all, &model.usage));
        all
    }

    /// Returns the cost of the answers whose price was known.
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
    /// Returns whether everything is in order.
    pub fn is_well(&self) -> bool {
        self.problems.is_empty()
    }
}
