//! What a person has answered about tools, for one conversation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A person's answer when a tool asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// This time.
    Once,
    /// From now on in this conversation.
    Always,
    /// Not in this conversation.
    Never,
}

/// What is to be done about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Ask the person.
    Ask,
    /// Run it.
    Allow,
    /// Refuse it.
    Deny,
}

/// The answers that hold for a conversation, by the tools' names. Its JSON is `{"shell": "always"}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Permissions {
    answers: BTreeMap<String, Answer>,
}

impl Permissions {
    /// What is to be done about a call of this tool.
    pub(crate) fn decide(&self, tool: &str) -> Decision {
        match self.answers.get(tool) {
            None | Some(Answer::Once) => Decision::Ask,
            Some(Answer::Always) => Decision::Allow,
            Some(Answer::Never) => Decision::Deny,
        }
    }

    /// Keeps an answer, where it is one to be kept.
    pub(crate) fn remember(&mut self, tool: &str, answer: Answer) {
        match answer {
            Answer::Once => {}
            Answer::Always | Answer::Never => {
                self.answers.insert(tool.to_owned(), answer);
            }
        }
    }

    /// The person is asked again.
    pub(crate) fn forget(&mut self, tool: &str) {
        self.answers.remove(tool);
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn answers_hold_for_their_tool_and_once_is_not_kept() {
        let mut permissions = Permissions::default();
        assert_eq!(permissions.decide("shell"), Decision::Ask);
        permissions.remember("shell", Answer::Once);
        assert_eq!(permissions.decide("shell"), Decision::Ask);
        permissions.remember("shell", Answer::Always);
        permissions.remember("grep", Answer::Never);
        let decisions = ["shell", "grep", "glob"].map(|tool| permissions.decide(tool));
        assert_eq!(decisions, [Decision::Allow, Decision::Deny, Decision::Ask]);
        permissions.remember("shell", Answer::Never);
        assert_eq!(permissions.decide("shell"), Decision::Deny);
        permissions.forget("shell");
        assert_eq!(permissions.decide("shell"), Decision::Ask);
    }

    #[test]
    fn they_are_kept_with_the_conversation() {
        let mut permissions = Permissions::default();
        permissions.remember("shell", Answer::Always);
        permissions.remember("grep", Answer::Never);
        let text = serde_json::to_string(&permissions).unwrap();
        assert_eq!(text, r#"{"grep":"never","shell":"always"}"#);
        assert_eq!(serde_json::from_str::<Permissions>(&text).unwrap(), permissions);
    }
}
