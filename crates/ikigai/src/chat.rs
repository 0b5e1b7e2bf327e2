//! A conversation.

use ikigai_core::catalog::Money;
use ikigai_core::{Block, Context, FinishReason, Message, Response};

use crate::answer::Answer;
use crate::error::Error;
use crate::model::Model;
use crate::stream::Stream;

/// A conversation: what was said so far, and the model that answers next.
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
/// Each provider's own reasoning state stays in the history and goes back to that provider alone, however often the model
/// is switched.
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

    /// The same conversation with these messages before it: one that was kept.
    #[must_use]
    pub fn with_history(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.history.extend(messages);
        self
    }

    /// Says something, and waits for the whole answer.
    ///
    /// # Errors
    /// When there is no answer. The conversation is then as it was before, but for tools that have run already: what they
    /// were called for and what they gave stays, and the next turn goes on from there.
    pub async fn say(&mut self, message: impl Into<Context>) -> Result<Answer, Error> {
        let said = message.into();
        match self.model.ask(self.context(&said)).await {
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

    /// Says something, and gives the answer as it is written. It joins the conversation when it is finished; if it is
    /// dropped or breaks off before, as much of it as had arrived.
    ///
    /// # Errors
    /// When the answer does not even begin.
    pub async fn stream(&mut self, message: impl Into<Context>) -> Result<ChatStream<'_>, Error> {
        let said = message.into();
        match self.model.stream(self.context(&said)).await {
            Ok(stream) => Ok(ChatStream { chat: self, said: Some(said), stream: Some(stream) }),
            Err(error) => Err(error),
        }
    }

    /// Continues with another model: `[provider:]model[/level]`. The history and all settings stay.
    ///
    /// # Errors
    /// If no model has this name; nothing is switched then.
    pub fn switch(&mut self, name: &str) -> Result<&mut Self, Error> {
        self.model = self.model.switched(name)?;
        Ok(self)
    }

    /// Continues with another model, or the same one with other settings.
    pub fn switch_to(&mut self, model: Model) -> &mut Self {
        self.model = model;
        self
    }

    /// The model that answers next.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What was said so far, oldest first.
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// The cost of the conversation so far; `None` if the prices of a model in it are unknown.
    pub fn cost(&self) -> Option<Money> {
        self.cost
    }

    fn context(&self, said: &Context) -> Context {
        Context::new(self.history.iter().chain(said).cloned())
    }

    fn extend(&mut self, said: Context, messages: Vec<Message>) {
        self.history.extend(said);
        self.history.extend(messages);
    }

    fn add_cost(&mut self, cost: Option<Money>) {
        self.cost = self.cost.zip(cost).map(|(so_far, cost)| so_far + cost);
    }
}

/// The answer to what was said in a [`Chat`], as it is written.
#[must_use = "nothing is read until it is asked for"]
#[derive(Debug)]
pub struct ChatStream<'a> {
    chat: &'a mut Chat,
    said: Option<Context>,
    stream: Option<Stream>,
}

impl ChatStream<'_> {
    /// The next piece of the text, as [`Stream::text`].
    ///
    /// # Errors
    /// When the answer breaks off.
    pub async fn text(&mut self) -> Result<Option<String>, Error> {
        match &mut self.stream {
            Some(stream) => stream.text().await,
            None => Ok(None),
        }
    }

    /// The next event, as [`Stream::next_event`].
    ///
    /// # Errors
    /// When the answer breaks off.
    pub async fn next_event(&mut self) -> Result<Option<ikigai_core::Event>, Error> {
        match &mut self.stream {
            Some(stream) => stream.next_event().await,
            None => Ok(None),
        }
    }

    /// What has arrived so far, as [`Stream::so_far`].
    pub fn so_far(&self) -> Option<&Response> {
        self.stream.as_ref().map(Stream::so_far)
    }

    /// The whole answer: reads what is left.
    ///
    /// # Errors
    /// When the answer breaks off, or did.
    pub async fn finish(mut self) -> Result<Answer, Error> {
        // Still held here while it is read: whoever gives up waiting keeps what had arrived.
        while self.next_event().await?.is_some() {}
        let stream = self.stream.take();
        let said = self.said.take().unwrap_or_default();
        let outcome = match stream {
            Some(stream) => stream.finish().await,
            None => Err(Error::new(ikigai_core::Error::protocol("the stream is finished already"))),
        };
        match outcome {
            Ok(answer) => {
                self.chat.add_cost(answer.cost().map(|cost| cost.total()));
                self.chat.extend(said, answer.messages().to_vec());
                Ok(answer)
            }
            Err(error) => {
                self.keep(said, error.messages().to_vec(), error.partial().cloned());
                Err(error)
            }
        }
    }

    /// Keeps what had arrived of an answer that was cut off.
    fn keep(&mut self, said: Context, mut messages: Vec<Message>, partial: Option<Response>) {
        let provider = self.chat.model.name().provider.clone();
        messages.extend(partial.and_then(|partial| cut(partial, provider)));
        if !messages.is_empty() {
            self.chat.extend(said, messages);
        }
    }
}

impl Drop for ChatStream<'_> {
    fn drop(&mut self) {
        if let (Some(stream), Some(said)) = (self.stream.take(), self.said.take()) {
            let (messages, partial) = stream.give_up();
            self.keep(said, messages, partial);
        }
    }
}

/// An answer that was cut off, as a message that the conversation can go on from: calls that nobody will answer and
/// thinking that may lack its seal are left out. `None` if nothing is left.
fn cut(mut partial: Response, provider: String) -> Option<Message> {
    partial.content.retain(|block| match block {
        Block::Text(text) => !text.text.trim().is_empty(),
        Block::ToolCall(_) | Block::Thinking(_) | Block::Other(_) => false,
        _ => true,
    });
    partial.finish_reason = FinishReason::Error;
    (!partial.content.is_empty()).then(|| partial.into_message(provider))
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
