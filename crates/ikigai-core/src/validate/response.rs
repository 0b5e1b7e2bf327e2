//! The rules for an answer.

use std::collections::HashMap;

use super::content::{self, Inside};
use super::{At, Invalid, Problem, refuse};
use crate::{FinishReason, Response};

impl Response {
    /// Checks that the answer makes sense: it has content, its finish reason fits it, and its counts add up.
    ///
    /// # Errors
    /// Returns an error if a hard rule is broken. The error lists all problems, including soft ones.
    pub fn validate(&self) -> Result<(), Invalid> {
        refuse(self.problems())
    }

    /// Returns all problems of the answer, hard and soft.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let finish = self.finish_reason;
        let failed = self.finish_reason == FinishReason::Error || self.error.is_some();
        if self.content.is_empty() && !failed {
            // A filter leaves nothing, and thinking can use up the whole limit.
            let explained = matches!(self.finish_reason, FinishReason::Length | FinishReason::ContentFilter);
            problems.push(Problem::EmptyAnswer { finish, explained });
        }
        let mut calls: HashMap<&str, At> = HashMap::new();
        for (place, block) in self.content.iter().enumerate() {
            let at = At::Content(place);
            content::block(at, block, Inside::Answer, &mut problems);
            if let Some(call) = block.as_tool_call().filter(|call| !call.id.is_empty()) {
                let first = *calls.entry(&call.id).or_insert(at);
                if first != at {
                    problems.push(Problem::DuplicateCallId {
                        at: at.to_string(),
                        id: call.id.clone(),
                        first: first.to_string(),
                        same_turn: true,
                    });
                }
            }
        }
        match (self.finish_reason, self.tool_calls().next().is_some()) {
            (FinishReason::ToolUse, false) => problems.push(Problem::ToolUseWithoutCall),
            (FinishReason::Stop | FinishReason::Unknown, true) => {
                problems.push(Problem::CallsWithoutToolUse { finish })
            }
            (FinishReason::ToolUse, true) | (FinishReason::Stop | FinishReason::Unknown, false) => {}
            // A filter, a limit or a failure may end the answer in the middle of a call.
            (FinishReason::Length | FinishReason::ContentFilter | FinishReason::Error, _) => {}
        }
        if self.error.is_some() && self.finish_reason != FinishReason::Error {
            problems.push(Problem::ErrorWithoutFinish { finish });
        }
        if let Some(usage) = &self.usage
            && let Some(total) = usage.own_total()
        {
            problems.push(Problem::TotalDiffers { sum: usage.total_tokens(), total });
        }
        problems
    }
}
