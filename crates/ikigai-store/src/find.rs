//! Search across all conversations.

use crate::text::Snippet;
use crate::{ConversationId, MessageId, Time};

/// A search across titles and messages.
///
/// All words must occur. `"Several words"` must occur together; `begin*` finds words that begin with it; `-word` must
/// not occur. Case and accents do not matter. No search is a syntax error: everything else is taken as text.
///
/// ```
/// use ikigai_store::Search;
///
/// let search = Search::new("\"tool call\" gemini -openai").newest_first().limit(5);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub(crate) text: String,
    pub(crate) order: Order,
    pub(crate) limit: u32,
    pub(crate) offset: u32,
}

/// The order of the hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Best,
    Newest,
}

impl Search {
    /// Creates a search for the best twenty hits: titles first, then questions, then answers, then what tools returned.
    pub fn new(text: impl Into<String>) -> Search {
        Search { text: text.into(), order: Order::Best, limit: 20, offset: 0 }
    }

    /// Puts the newest hits first, wherever they are.
    #[must_use]
    pub fn newest_first(mut self) -> Search {
        self.order = Order::Newest;
        self
    }

    /// Limits the search to this many hits.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Search {
        self.limit = limit;
        self
    }

    /// Skips this many hits.
    #[must_use]
    pub fn skip(mut self, offset: u32) -> Search {
        self.offset = offset;
        self
    }
}

/// Where something was found, most relevant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In a conversation's title.
    Title,
    /// In a question.
    Prompt,
    /// In a model's answer.
    Answer,
    /// In a tool's result, or in instructions between messages.
    Tool,
}

/// A search result.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Where it was found.
    pub place: Place,
    /// The conversation it was found in. Its forks may share the message.
    pub conversation: ConversationId,
    /// That conversation's title.
    pub title: Option<String>,
    /// The message, unless it was found in the title.
    pub message: Option<MessageId>,
    /// When that message, or the conversation, was started.
    pub created: Time,
    /// The part of the text that shows why it was found.
    pub snippet: Snippet,
}
