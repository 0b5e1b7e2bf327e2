//! The output limit, and a thinking budget inside it.
//!
//! `max_output_tokens` is the room for the visible answer. On the wire the limit also covers thinking, so the two are
//! determined together: a budget that comes from a level is added to the room; an explicit one leaves the limit
//! unchanged as long as it fits.

use crate::{Loss, LossCode};

/// The smallest budget that Anthropic accepts.
pub(super) const LEAST_BUDGET: i64 = 1024;
/// Room for the answer if the caller sets no limit but the API requires one.
const ROOM: i64 = 8192;
/// Official clients refuse longer answers without streaming, and many proxies cut them off.
const LONGEST_UNSTREAMED: i64 = 21_333;
/// No API accepts more than 32 bits.
const GREATEST: i64 = i32::MAX as i64;

/// The output limit: the model's own, and the requested one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit {
    /// The model's longest answer, thinking included.
    pub(super) longest: Option<i64>,
    /// The requested limit.
    pub(super) asked: Option<i64>,
    pub(super) kind: LimitKind,
}

/// How an API treats the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitKind {
    /// Required, and above the budget (Anthropic). A long answer can only be streamed.
    Required { streams: bool },
    /// Optional, with at least this many tokens.
    Optional { least: i64 },
    /// Optional, with at least this many tokens, and above the budget.
    AboveBudget { least: i64 },
}

/// The origin of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    /// An explicit number from the caller.
    ByCaller(i64),
    /// Derived from a level.
    ByLevel,
}

/// A limit and the budget inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fitted {
    pub(super) limit: Option<i64>,
    pub(super) budget: i64,
}

impl Limit {
    /// Returns the limit if no thinking budget is taken from it.
    pub(super) fn plain(self, losses: &mut Vec<Loss>) -> Option<i64> {
        let longest = self.longest.unwrap_or(GREATEST);
        let limit = self.asked.map(|asked| {
            if asked > longest {
                losses.push(too_long(asked, longest));
            }
            asked.min(longest)
        });
        match self.kind {
            LimitKind::Optional { least } | LimitKind::AboveBudget { least } => limit.map(|limit| {
                if limit < least {
                    let why = format!("this API accepts limits of at least {least} tokens; that is sent for {limit}");
                    losses.push(Loss::new(LossCode::OutOfRange, "max_output_tokens", "max_output_tokens", why));
                }
                limit.max(least)
            }),
            LimitKind::Required { streams } => Some(match (limit, self.longest) {
                (Some(limit), _) => limit,
                (None, Some(longest)) if streams => longest,
                (None, Some(longest)) => longest.min(LONGEST_UNSTREAMED),
                (None, None) => ROOM,
            }),
        }
    }

    /// Returns the limit and the budget inside it, or `None` if there is no room to think.
    pub(super) fn with_budget(self, budget: i64, least: i64, chosen: Chosen, losses: &mut Vec<Loss>) -> Option<Fitted> {
        let required = match self.kind {
            LimitKind::Required { .. } => true,
            LimitKind::AboveBudget { .. } => self.asked.is_some(),
            LimitKind::Optional { .. } => false,
        };
        let longest = self.longest.unwrap_or(GREATEST);
        let by_caller = matches!(chosen, Chosen::ByCaller(_));
        let room = match self.asked {
            Some(asked) => asked.max(1),
            None if required => ROOM.min(longest / 4).max(1),
            // No limit is sent, so there is nothing to share.
            None => {
                note_budget(budget, budget, chosen, losses);
                return Some(Fitted { limit: None, budget });
            }
        };
        let literal = room.min(longest);
        if by_caller && self.asked.is_some() && budget < literal {
            if literal < room {
                losses.push(too_long(room, longest));
            }
            note_budget(budget, budget, chosen, losses);
            return Some(Fitted { limit: Some(literal), budget });
        }
        let limit = longest.min(room.saturating_add(budget));
        // The answer keeps its room, or at least half of a very small window.
        let taken = budget.min(limit - room.min(limit / 2));
        let taken = if required { taken } else { taken.max(least) };
        if required && taken < LEAST_BUDGET {
            let why = format!("a limit of {limit} tokens is too small for thinking, which is left out");
            losses.push(Loss::new(LossCode::OutOfRange, "thinking", "thinking", why));
            return None;
        }
        if by_caller && self.asked.is_some() {
            let why = format!("the limit includes the thinking and must exceed its budget of {taken}; {limit} is sent");
            losses.push(Loss::new(LossCode::OutOfRange, "max_output_tokens", "max_output_tokens", why));
        }
        note_budget(budget, taken, chosen, losses);
        Some(Fitted { limit: Some(limit), budget: taken })
    }
}

/// Reports once how a budget changed: `wanted` after the model's limits, `taken` after the output limit.
fn note_budget(wanted: i64, taken: i64, chosen: Chosen, losses: &mut Vec<Loss>) {
    let (place, asked) = match chosen {
        Chosen::ByCaller(asked) => ("thinking.budget", asked),
        Chosen::ByLevel => ("thinking.level", wanted),
    };
    if taken == asked {
        return;
    }
    let why = if taken == wanted {
        format!("this model does not take a thinking budget of {asked} tokens; {taken} is sent")
    } else {
        format!("a thinking budget of {asked} tokens leaves no room for the answer; {taken} is sent")
    };
    losses.push(Loss::new(LossCode::OutOfRange, "thinking", place, why));
}

fn too_long(asked: i64, longest: i64) -> Loss {
    let why = format!("this model's answers have at most {longest} tokens; that is sent for {asked}");
    Loss::new(LossCode::OutOfRange, "max_output_tokens", "max_output_tokens", why)
}
