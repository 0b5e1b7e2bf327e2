//! The output limit, and the thinking budget that is spent out of it.

use super::Fitting;
use super::abilities::OutputLimit;
use crate::thinking::Setting;
use crate::{Loss, LossCode, Off, ThinkingRule};

/// Room for the answer when the caller names none.
const ROOM: i64 = 8192;
/// Above this an answer that does not stream is refused by official clients, and cut off by many proxies.
const LONGEST_UNSTREAMED: i64 = 21_333;

impl Fitting<'_> {
    /// The limit that the caller asked for; `None`: the provider's default.
    pub(super) fn asked_limit(&self) -> Option<i64> {
        self.request.max_output_tokens.filter(|tokens| *tokens > 0)
    }

    /// The output limit as it is sent. A budget may shrink to leave room for the answer, or end.
    pub(super) fn limit(&mut self, rule: &ThinkingRule, setting: &mut Setting) -> Option<i64> {
        if let Some(asked) = self.request.max_output_tokens.filter(|tokens| *tokens == 0 || *tokens < -1) {
            let why = format!("{asked} is not a limit; the provider's default holds");
            self.lose_limit(why);
        }
        match *setting {
            Setting::Budget(budget) if budget > 0 => self.limit_with_budget(rule, budget, setting),
            Setting::Budget(_) | Setting::Unsaid | Setting::Off | Setting::Level(_) | Setting::On => self.plain_limit(),
        }
    }

    /// The longest answer in tokens; where nothing is known, what fits into 32 bits.
    fn longest_limit(&self) -> i64 {
        self.longest().map_or(i64::from(i32::MAX), i64::from)
    }

    /// The limit when no budget is spent out of it.
    fn plain_limit(&mut self) -> Option<i64> {
        let (longest, least) = (self.longest_limit(), self.abilities.least_output);
        match self.asked_limit() {
            Some(asked) if asked > longest => Some(self.capped(asked, longest)),
            Some(asked) if asked < least => {
                self.lose_limit(format!("the least that this API takes is {least}, which is sent for {asked}"));
                Some(least)
            }
            Some(asked) => Some(asked),
            None => match (self.abilities.output_limit, self.longest()) {
                (OutputLimit::Optional, _) => None,
                (OutputLimit::Required, None) => Some(ROOM),
                (OutputLimit::Required, Some(longest)) if self.request.stream == Some(true) => Some(longest.into()),
                (OutputLimit::Required, Some(longest)) => Some(LONGEST_UNSTREAMED.min(longest.into())),
            },
        }
    }

    /// The limit and the budget inside it. The limit that the caller gave is the room for the visible answer: a budget
    /// that comes from a level is added to it. A budget that the caller named leaves it alone as long as it fits.
    fn limit_with_budget(&mut self, rule: &ThinkingRule, budget: i64, setting: &mut Setting) -> Option<i64> {
        let longest = self.longest_limit();
        let named = self.request.thinking.as_ref().is_some_and(|wish| wish.budget.is_some_and(|budget| budget > 0));
        let asked = self.asked_limit();
        if let Some(asked) = asked.filter(|asked| named && *asked > budget) {
            let limit = if asked > longest { self.capped(asked, longest) } else { asked };
            if limit > budget {
                return Some(limit);
            }
        }
        if asked.is_none() && self.abilities.output_limit == OutputLimit::Optional {
            return None;
        }
        let room = asked.unwrap_or_else(|| ROOM.min(longest / 4)).max(1);
        let limit = longest.min(room.saturating_add(budget));
        // The answer keeps its room, or at least half of a very small window.
        let mut taken = budget.min(limit - room.min(limit / 2));
        let least = rule.min.max(self.abilities.thinking.least_budget.unwrap_or(0));
        if taken < least && rule.off != Off::Impossible {
            let why = format!("a limit of {limit} tokens is too small for thinking; it is left out");
            self.losses.push(Loss::new(LossCode::Conflict, "thinking", "thinking", why));
            *setting = if rule.off == Off::Silence { Setting::Unsaid } else { Setting::Off };
            return self.plain_limit();
        }
        taken = taken.max(least);
        if named && asked.is_some() {
            self.lose_limit(format!("the limit must be above the thinking budget of {budget}; {limit} is sent"));
        }
        if taken < budget {
            let why = format!("a budget of {budget} tokens leaves no room for the answer; {taken} is sent");
            self.losses.push(Loss::new(LossCode::OutOfRange, "thinking", "thinking", why));
        }
        *setting = Setting::Budget(taken);
        Some(limit)
    }

    fn capped(&mut self, asked: i64, longest: i64) -> i64 {
        self.lose_limit(format!("this model's answers have at most {longest} tokens; that is sent for {asked}"));
        longest
    }

    fn lose_limit(&mut self, why: String) {
        self.losses.push(Loss::new(LossCode::OutOfRange, "max_output_tokens", "max_output_tokens", why));
    }
}
