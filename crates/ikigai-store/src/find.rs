//! Searching over all conversations.

use crate::text::Snippet;
use crate::{ConversationId, MessageId, Time};

/// What to search for.
///
/// All words must be there. `"Several words"` must stand together; `begin*` finds words that begin so; `-word` must not be
/// there. Capitals and accents do not matter. There is no wrong search: everything else is taken as text.
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

/// In which order hits come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Best,
    Newest,
}

impl Search {
    /// The best twenty hits: titles first, then what was asked, then what was answered, then what tools said.
    pub fn new(text: impl Into<String>) -> Search {
        Search { text: text.into(), order: Order::Best, limit: 20, offset: 0 }
    }

    /// The newest hits first, wherever they are.
    #[must_use]
    pub fn newest_first(mut self) -> Search {
        self.order = Order::Newest;
        self
    }

    /// At most this many hits.
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

/// Where something was found, most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In a conversation's title.
    Title,
    /// In what was asked.
    Prompt,
    /// In what a model answered.
    Answer,
    /// In what a tool answered, or in instructions between messages.
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
    /// When that message, or the conversation, was begun.
    pub created: Time,
    /// The piece of the text that shows why it was found.
    pub snippet: Snippet,
}
