//! `--max-cost`: the cost limit of a conversation.

use ikigai::{Callable, Message, Money};

use super::meter::sum;
use super::session::{Choice, Session};
use crate::exit::Failure;

impl Session {
    /// Refuses to send a history to the chosen model if that would cost more than is left.
    pub(crate) fn check_cost(&self, history: &[Message]) -> Result<(), Failure> {
        self.check_cost_of(self.choice.as_slice(), history, &self.tooling.callables())
    }

    /// Like `check_cost`, for several models, with these tools.
    pub(crate) fn check_cost_of(
        &self,
        choices: &[Choice],
        history: &[Message],
        tools: &[Callable],
    ) -> Result<(), Failure> {
        let Some(most) = self.max_cost.filter(|_| !self.access.is_simulated()) else { return Ok(()) };
        let spent = self.cost().unwrap_or(Money::ZERO);
        let mut expected = spent;
        for choice in choices {
            let Some(cost) = self.meter_of(choice, history, tools, "").prompt_cost() else {
                let name = &choice.name.id;
                let failure = Failure::new(format!("the price of {name} is unknown, so --max-cost cannot be checked"));
                return Err(failure.hint("Add its prices to models.toml, or omit --max-cost."));
            };
            expected = expected + cost;
        }
        if spent >= most || expected > most {
            return Err(too_much(most, spent, expected));
        }
        Ok(())
    }

    /// Returns why no further request may be sent, if the cost so far and this much more reach the limit.
    pub(crate) fn spent_up(&self, more: Option<Money>) -> Option<Failure> {
        let most = self.max_cost.filter(|_| !self.access.is_simulated())?;
        let spent = sum(self.cost(), more).filter(|spent| *spent >= most)?;
        Some(too_much(most, spent, spent))
    }
}

fn too_much(most: Money, spent: Money, expected: Money) -> Failure {
    let words = match spent >= most {
        true => format!("the conversation has cost {spent}; --max-cost is {most}"),
        false => format!("sending this would bring the cost to at least {expected}; --max-cost is {most}"),
    };
    Failure::new(words).hint("Raise --max-cost, or use a cheaper model.")
}
