//! A conversation.

use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ikigai_core::catalog::Money;
use ikigai_core::{Block, Event, FinishReason, Message, Prompt, Response};

use crate::answer::Answer;
use crate::error::Error;
use crate::model::Model;
use crate::stream::AnswerStream;

/// A conversation: the messages so far, and the model that answers next.
///
/// ```
/// # async fn f() -> Result<(), ikigai::Error> {
/// let mut chat = ikigai::model("openai:gpt-5.4")?.chat();
/// chat.say("My favourite number is 7.").await?;
/// let answer = chat.switch("anthropic:claude-sonnet-4-5/med")?.say("What is my favourite number?").await?;
/// println!("{answer}");
/// # Ok(())
/// # }
/// ```
///
/// Each provider's own reasoning state stays in the history and goes back only to that provider, however often you
/// switch models.
#[derive(Debug, Clone)]
pub struct Chat {
    model: Model,
    history: Vec<Message>,
    cost: Option<Money>,
}

impl Chat {
    pub(crate) fn new(model: Model) -> Self {
        Chat { model, history: Vec::new(), cost: Some(Money::ZERO) }
    }

    /// Puts these messages before the conversation, to continue a saved one.
    #[must_use]
    pub fn with_history(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.history.extend(messages);
        self
    }

    /// Sends a message and waits for the complete answer.
    ///
    /// # Errors
    /// Returns an error if there is no answer. The conversation is then unchanged, unless tools have already run: their
    /// calls and results stay, and the next turn continues from there.
    pub async fn say(&mut self, message: impl Into<Prompt>) -> Result<Answer, Error> {
        let said = message.into();
        match self.model.ask(self.prompt(&said)).await {
            Ok(answer) => {
                self.add_cost(answer.cost().map(|cost| cost.total()));
                self.extend(said, answer.messages().to_vec());
                Ok(answer)
            }
            Err(error) => {
                if !error.messages().is_empty() {
                    self.extend(said, error.messages().to_vec());
                }
                Err(error)
            }
        }
    }

    /// Sends a message and streams the answer. The answer joins the conversation when it is finished; if the stream is
    /// dropped or interrupted, the part that has arrived does.
    ///
    /// # Errors
    /// Returns an error if the answer does not start.
    pub async fn stream(&mut self, message: impl Into<Prompt>) -> Result<ChatStream<&mut Chat>, Error> {
        ChatStream::open(self, message).await
    }

    /// Continues with another model: `[provider:]model[/level]`. The history and all settings stay.
    ///
    /// # Errors
    /// Returns an error if no model has this name; the current model is then kept.
    pub fn switch(&mut self, name: &str) -> Result<&mut Self, Error> {
        self.model = self.model.with_model(name)?;
        Ok(self)
    }

    /// Continues with another model, or with the same one and other settings.
    pub fn set_model(&mut self, model: Model) -> &mut Self {
        self.model = model;
        self
    }

    /// Returns the model that answers next.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the messages so far, oldest first.
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// Returns the cost of the conversation so far, or `None` if the prices of a model in it are unknown.
    pub fn cost(&self) -> Option<Money> {
        self.cost
    }

    fn prompt(&self, said: &Prompt) -> Prompt {
        Prompt::new(self.history.iter().chain(said).cloned())
    }

    fn extend(&mut self, said: Prompt, messages: Vec<Message>) {
        self.history.extend(said);
        self.history.extend(messages);
    }

    fn add_cost(&mut self, cost: Option<Money>) {
        self.cost = self.cost.zip(cost).map(|(so_far, cost)| so_far + cost);
    }
}

/// A streamed answer in a [`Chat`], which is also a [`futures` stream](futures_util::Stream) of its events.
///
/// [`Chat::stream`] borrows the conversation. If the stream has to outlive that borrow, for example as the body of a
/// web server's response, use [`open`](ChatStream::open), which accepts anything that gives access to the conversation:
/// the guard of a mutex, or a box.
///
/// ```
/// use std::sync::Arc;
///
/// use ikigai::{Chat, ChatStream, Error, Event};
/// use tokio::sync::{Mutex, OwnedMutexGuard};
///
/// async fn reply(chat: Arc<Mutex<Chat>>, said: String) -> Result<ChatStream<OwnedMutexGuard<Chat>>, Error> {
///     ChatStream::open(chat.lock_owned().await, said).await
/// }
/// ```
#[must_use = "nothing is read until it is asked for"]
#[derive(Debug)]
pub struct ChatStream<C: DerefMut<Target = Chat>> {
    chat: C,
    said: Option<Prompt>,
    stream: Option<AnswerStream>,
    /// How it ended.
    outcome: Option<Result<Answer, Error>>,
}

impl<C: DerefMut<Target = Chat>> ChatStream<C> {
    /// Sends a message in a conversation that is owned rather than borrowed; otherwise like [`Chat::stream`].
    ///
    /// # Errors
    /// Returns an error if the answer does not start.
    pub async fn open(chat: C, message: impl Into<Prompt>) -> Result<Self, Error> {
        let said = message.into();
        let stream = chat.model.stream(chat.prompt(&said)).await?;
        Ok(ChatStream { chat, said: Some(said), stream: Some(stream), outcome: None })
    }

    /// Returns the next piece of the text, like [`AnswerStream::text`].
    ///
    /// # Errors
    /// Returns an error if the answer is interrupted.
    pub async fn text(&mut self) -> Result<Option<String>, Error> {
        while let Some(event) = self.next_event().await? {
            if let Event::TextDelta { text, .. } = event {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Returns the next event, like [`AnswerStream::next_event`].
    ///
    /// # Errors
    /// Returns an error if the answer is interrupted.
    pub async fn next_event(&mut self) -> Result<Option<Event>, Error> {
        std::future::poll_fn(|cx| self.poll_event(cx)).await.transpose()
    }

    /// Returns what has arrived so far, like [`AnswerStream::so_far`].
    pub fn so_far(&self) -> Option<&Response> {
        match (&self.stream, &self.outcome) {
            (Some(stream), _) => Some(stream.so_far()),
            (None, Some(Ok(answer))) => Some(answer.response()),
            (None, Some(Err(error))) => error.partial(),
            (None, None) => None,
        }
    }

    /// Reads the rest of the answer and returns all of it.
    ///
    /// # Errors
    /// Returns an error if the answer is interrupted, or was interrupted before.
    pub async fn finish(mut self) -> Result<Answer, Error> {
        // Kept in `self` while it is being read: if the caller stops waiting, the part that has arrived is kept.
        while self.next_event().await?.is_some() {}
        let finished = || Error::new(ikigai_core::Error::protocol("the stream has already finished"));
        self.outcome.take().unwrap_or_else(|| Err(finished()))
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
        let next = ready!(stream.poll_event(cx));
        if next.is_none() {
            self.settle();
        }
        Poll::Ready(next)
    }

    /// Adds the answer to the conversation once it has been read.
    fn settle(&mut self) {
        let (Some(stream), Some(said)) = (self.stream.take(), self.said.take()) else { return };
        let outcome = stream.settle();
        match &outcome {
            Ok(answer) => {
                self.chat.add_cost(answer.cost().map(|cost| cost.total()));
                self.chat.extend(said, answer.messages().to_vec());
            }
            Err(error) => self.keep(said, error.messages().to_vec(), error.partial().cloned()),
        }
        self.outcome = Some(outcome);
    }

    /// Keeps the part of a cut-off answer that has arrived.
    fn keep(&mut self, said: Prompt, mut messages: Vec<Message>, partial: Option<Response>) {
        let provider = self.chat.model.name().provider.clone();
        messages.extend(partial.and_then(|partial| cut(partial, provider)));
        if !messages.is_empty() {
            self.chat.extend(said, messages);
        }
    }
}

impl<C: DerefMut<Target = Chat> + Unpin> futures_util::Stream for ChatStream<C> {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_event(cx)
    }
}

impl<C: DerefMut<Target = Chat>> Drop for ChatStream<C> {
    fn drop(&mut self) {
        if let (Some(stream), Some(said)) = (self.stream.take(), self.said.take()) {
            let (messages, partial) = stream.give_up();
            self.keep(said, messages, partial);
        }
    }
}

/// Turns a cut-off answer into a message that the conversation can continue from, without calls that will get no result
/// and thinking that may lack its seal. `None` if nothing is left.
fn cut(mut partial: Response, provider: String) -> Option<Message> {
    partial.content.retain(|block| match block {
        Block::Text(text) => !text.text.trim().is_empty(),
        Block::ToolCall(_) | Block::Thinking(_) | Block::Other(_) => false,
        _ => true,
    });
    partial.finish_reason = FinishReason::Error;
    let mut message = partial.into_message(provider);
    message.drop_unanswered();
    (!message.content.is_empty()).then_some(message)
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
