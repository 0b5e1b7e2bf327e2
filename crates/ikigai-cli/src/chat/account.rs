//! How much of the model's window a conversation uses, what it cost, and what failed in it.

use ikigai::{Money, Role};
use ikigai_store::{Spent, State};

use super::meter::tokens_of;
use super::session::Session;
use crate::exit::Failure;
use crate::record;
use crate::screen::notice;

impl Session {
    /// Returns the model's window, in tokens.
    pub(crate) fn window(&self) -> Option<u64> {
        let name = &self.choice.as_ref()?.name;
        self.access.registry().route(name).ok()?.facts?.context.map(u64::from)
    }

    /// Returns about how many tokens of the model's window the conversation uses, and the window.
    pub(crate) fn context_used(&self) -> Option<(u64, u64)> {
        let window = self.window()?;
        // Everything after the last counted answer is estimated.
        let mut used = 0;
        for stored in self.thread.iter().rev() {
            let counted = stored.entry.usage.as_ref().filter(|_| stored.entry.state == State::Complete);
            if let Some(usage) = counted.filter(|usage| usage.total_tokens() > 0) {
                used += usage.total_tokens();
                break;
            }
            used += tokens_of(&stored.entry.message);
        }
        (!self.thread.is_empty()).then_some((used, window))
    }

    /// Returns what the conversation has cost with all its branches, as last added up; `None` if nothing is known.
    pub(crate) fn cost(&self) -> Option<Money> {
        (self.spent.answers() > self.spent.unpriced()).then(|| self.spent.cost())
    }

    /// Returns the cost in words.
    pub(crate) fn cost_in_words(&self) -> Option<String> {
        self.cost().map(|cost| notice::about(cost, self.spent.estimated() > 0))
    }

    /// Adds up the cost of the conversation again, because agents may have spent more.
    pub(crate) async fn reckon(&mut self) -> Result<(), Failure> {
        self.spent = match &self.conversation {
            Some(conversation) => self.store.spent_by_family(conversation.id).await?,
            None => Spent::default(),
        };
        Ok(())
    }

    /// Like `failed`, if an answer may have arrived that is not in the thread yet.
    pub(crate) async fn unanswered(&mut self, why: &str) -> Result<(), Failure> {
        let id = self.conversation().await?;
        self.thread = self.store.thread(id).await?;
        self.failed(why).await.map(drop)
    }

    /// Marks the last question as failed: it stays, and is not sent again unless it is asked again. Returns `false` if
    /// something had arrived, because then it did not fail.
    pub(crate) async fn failed(&mut self, why: &str) -> Result<bool, Failure> {
        let Some(last) = self.thread.last_mut().filter(|last| last.entry.message.role == Role::User) else {
            return Ok(false);
        };
        *last = self.store.finish(last.id, record::unanswered(last.entry.clone(), why)).await?;
        Ok(true)
    }
}
