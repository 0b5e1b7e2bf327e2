//! Prompts as values: messages that you can collect, extend and send to any model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::validate::{Invalid, Problem, messages, refuse};
use crate::{Block, Content, Message, Request, Role};

/// A prompt: the system prompt and the messages of a conversation, in one list.
///
/// ```
/// use ikigai_core::{Prompt, Request, system, user};
///
/// let prompt = Prompt::new([system("You are helpful"), user("Hello")]);
/// let request = Request::new("claude-sonnet-4-5").prompt(prompt);
/// assert_eq!((request.system.len(), request.messages.len()), (1, 1));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Prompt {
    messages: Vec<Message>,
}

/// Creates the system prompt.
pub fn system(text: impl Into<String>) -> Message {
    Message::system(text.into())
}

/// Creates a user message from text, a block, or several blocks.
pub fn user(content: impl Into<Content>) -> Message {
    Message::user(content)
}

/// Creates an assistant message. Blank text is left out, because providers refuse it.
pub fn assistant(content: impl Into<Content>) -> Message {
    let mut message = Message::assistant(content);
    message.content.retain(|block| match block {
        Block::Text(text) => !text.text.trim().is_empty() || !text.provider_data.is_empty(),
        _ => true,
    });
    message
}

/// Creates the result of a tool call from text, a JSON value, or blocks.
///
/// ```
/// use ikigai_core::{Block, tool_result};
/// use serde_json::json;
///
/// let message = tool_result("call_1", json!({"temperature": -3}));
/// let result = message.content[0].as_tool_result().unwrap();
/// assert_eq!(result.content, [Block::text(r#"{"temperature":-3}"#)]);
/// ```
pub fn tool_result(call_id: impl Into<String>, value: impl Into<Content>) -> Message {
    Message::tool_result(call_id, value)
}

impl Prompt {
    /// Creates a conversation from its messages.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        messages.into_iter().collect()
    }

    /// Returns the messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Iterates over the messages, oldest first.
    pub fn iter(&self) -> std::slice::Iter<'_, Message> {
        self.messages.iter()
    }

    /// Returns the number of messages, including the system prompt.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Adds a message to the conversation.
    #[must_use]
    pub fn with(mut self, message: Message) -> Self {
        self.messages.push(message);
        self
    }

    /// Adds a system prompt at the front, unless the conversation already has one.
    #[must_use]
    pub fn or_system(mut self, text: impl Into<String>) -> Self {
        if self.messages.iter().all(|message| message.role != Role::System) {
            self.messages.insert(0, system(text));
        }
        self
    }

    /// Checks the conversation: it must have a message besides the system prompt, at most one system prompt, and a
    /// result for every tool call.
    ///
    /// ```
    /// use ikigai_core::{Prompt, system, user};
    ///
    /// let invalid = Prompt::new([system("Be brief"), system("Be kind"), user("Hi")]).validate().unwrap_err();
    /// assert_eq!(invalid.to_string(), "messages[1]: this is a second system message; join them into one");
    /// ```
    ///
    /// # Errors
    /// Returns an error if a hard rule is broken. The error lists all problems, including soft ones.
    pub fn validate(&self) -> Result<(), Invalid> {
        refuse(self.problems())
    }

    /// Returns all problems of the conversation, hard and soft.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut prompts = self.messages.iter().enumerate().filter(|(_, message)| message.role == Role::System);
        let _ = prompts.next();
        problems.extend(prompts.map(|(place, _)| Problem::SecondSystemMessage { at: format!("messages[{place}]") }));
        match self.messages.iter().enumerate().find(|(_, message)| message.role != Role::System) {
            None => problems.push(Problem::NoMessages),
            Some((place @ 1.., message)) if message.role != Role::User => {
                problems.push(Problem::FirstNotUser { at: format!("messages[{place}]"), role: message.role });
            }
            Some(_) => {}
        }
        messages(&self.messages, &mut problems);
        // In a prompt, this is the right place for the system prompt.
        problems.retain(|problem| *problem != Problem::SystemFirst);
        problems
    }
}

impl Request {
    /// Adds a conversation. Its first system message goes to [`Request::system`]; any further one, which
    /// [`Prompt::validate`] rejects, stays in its place.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        let mut is_first = true;
        for message in prompt {
            if message.role == Role::System && std::mem::take(&mut is_first) {
                self.system.extend(message.content);
            } else {
                self.messages.push(message);
            }
        }
        self
    }
}

impl FromIterator<Message> for Prompt {
    fn from_iter<T: IntoIterator<Item = Message>>(messages: T) -> Self {
        Prompt { messages: messages.into_iter().collect() }
    }
}

impl Extend<Message> for Prompt {
    fn extend<T: IntoIterator<Item = Message>>(&mut self, messages: T) {
        self.messages.extend(messages);
    }
}

impl IntoIterator for Prompt {
    type Item = Message;
    type IntoIter = std::vec::IntoIter<Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.messages.into_iter()
    }
}

impl<'a> IntoIterator for &'a Prompt {
    type Item = &'a Message;
    type IntoIter = std::slice::Iter<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.messages.iter()
    }
}

impl From<Vec<Message>> for Prompt {
    fn from(messages: Vec<Message>) -> Self {
        Prompt { messages }
    }
}

impl<const N: usize> From<[Message; N]> for Prompt {
    fn from(messages: [Message; N]) -> Self {
        Prompt { messages: messages.into() }
    }
}

impl From<Message> for Prompt {
    fn from(message: Message) -> Self {
        Prompt { messages: vec![message] }
    }
}

/// A plain string becomes a user message.
impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Prompt::from(user(text))
    }
}

/// A plain string becomes a user message.
impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Prompt::from(user(text))
    }
}

/// A plain string becomes a user message.
impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        Prompt::from(text.as_str())
    }
}

/// A JSON string becomes its text; any other JSON value is written as JSON.
impl From<Value> for Content {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Content::from(text),
            other => Content::from(other.to_string()),
        }
    }
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
