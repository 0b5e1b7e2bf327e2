//! A value while it is written.

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ikigai_core::Event;
use serde_json::Value;

use super::{Extraction, partial, read};
use crate::answer::Answer;
use crate::error::Error;
use crate::stream::AnswerStream;
use crate::turn::Turn;

/// A value while it is written.
///
/// ```
/// # use ikigai::schemars::{self, JsonSchema};
/// # use serde::Deserialize;
/// # #[derive(Deserialize, JsonSchema)]
/// # struct Recipe { title: String, steps: Vec<String> }
/// # async fn f() -> Result<(), ikigai::Error> {
/// let mut stream = ikigai::model("openai:gpt-5.4")?.extract_stream::<Recipe>("Pancakes, please.").await?;
/// while let Some(recipe) = stream.next_value().await? {
///     println!("{recipe}"); // {"title":"Pan"}, then {"title":"Pancakes","steps":["Mix"]}, …
/// }
/// let recipe: Recipe = stream.finish().await?;
/// # Ok(())
/// # }
/// ```
///
/// It is also a [`futures` stream](futures_util::Stream) of the values so far.
#[must_use = "nothing is read until it is asked for"]
pub struct ObjectStream<T> {
    extraction: Extraction,
    stream: AnswerStream,
    /// The JSON so far.
    text: String,
    /// The call whose arguments are the value.
    call: Option<usize>,
    /// How much of the text was last looked at.
    looked_at: usize,
    shown: Option<Value>,
    /// What it becomes when it is whole.
    whole: PhantomData<fn() -> T>,
}

/// Up to this length every piece of the text is looked at.
const SHORT: usize = 4096;
/// Beyond it, only when the text has grown by this share: a value is read from its beginning each time, and all of that
/// together takes no more than a fixed number of times the whole.
const SHARE: usize = 64;

impl<T: serde::de::DeserializeOwned> ObjectStream<T> {
    pub(crate) async fn open(extraction: Extraction) -> Result<Self, Error> {
        let stream = AnswerStream::open(Turn::begin(&extraction.model, extraction.context.clone())?).await?;
        let text = String::new();
        Ok(ObjectStream { extraction, stream, text, call: None, looked_at: 0, shown: None, whole: PhantomData })
    }

    /// Returns the value so far, each time more of it has arrived; `None` at the end. It has not been checked yet.
    ///
    /// Beyond 4 KiB, it is returned only when it has grown by a sixty-fourth, and at the end.
    ///
    /// # Errors
    /// If the answer breaks off, or has more values than the client's [limits](crate::Limits) allow.
    pub async fn next_value(&mut self) -> Result<Option<Value>, Error> {
        std::future::poll_fn(|cx| self.poll_value(cx)).await.transpose()
    }

    fn poll_value(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Value, Error>>> {
        while let Some(event) = ready!(self.stream.poll_event(cx)?) {
            if self.take(event) && self.has_grown() && self.look()? {
                return Poll::Ready(self.shown.clone().map(Ok));
            }
        }
        let last = self.looked_at < self.text.len() && self.look()?;
        Poll::Ready(last.then(|| self.shown.clone()).flatten().map(Ok))
    }

    /// Is the text enough longer than when it was last looked at?
    fn has_grown(&self) -> bool {
        self.text.len() <= SHORT || self.text.len() - self.looked_at > self.text.len() / SHARE
    }

    /// Reads the value as far as it has come. Is it another one than before?
    fn look(&mut self) -> Result<bool, Error> {
        self.looked_at = self.text.len();
        self.extraction.check_size(&self.text)?;
        let value = partial::parse(&self.text).and_then(|value| self.extraction.shape().unwrap(value));
        let is_new = value.is_some() && value != self.shown;
        if is_new {
            self.shown = value;
        }
        Ok(is_new)
    }

    /// Reads the rest, and returns the complete value after checking it. If it does not match, the model is asked once
    /// to fix it.
    ///
    /// # Errors
    /// Same as [`Model::extract`](crate::Model::extract).
    pub async fn finish(self) -> Result<T, Error> {
        Ok(self.finish_with_answer().await?.0)
    }

    /// Like [`finish`](ObjectStream::finish), but also returns the answer.
    ///
    /// # Errors
    /// Same as [`Model::extract`](crate::Model::extract).
    pub async fn finish_with_answer(self) -> Result<(T, Answer), Error> {
        let answer = self.stream.finish().await?;
        self.extraction.settle(answer, read::<T>).await
    }

    /// Takes what the event has of the value. Is there more of it now?
    fn take(&mut self, event: Event) -> bool {
        match (event, self.extraction.tool()) {
            (Event::Start { .. }, _) => {
                self.text.clear();
                self.looked_at = 0;
                self.call = None;
                false
            }
            (Event::TextDelta { text, .. }, None) => {
                self.text.push_str(&text);
                true
            }
            (Event::ToolCallStart { index, name, .. }, Some(tool)) => {
                if name == tool && self.call.is_none() {
                    self.call = Some(index);
                }
                false
            }
            (Event::ToolCallDelta { index, arguments }, Some(_)) if self.call == Some(index) => {
                self.text.push_str(&arguments);
                true
            }
            _ => false,
        }
    }
}

impl<T: serde::de::DeserializeOwned> futures_util::Stream for ObjectStream<T> {
    type Item = Result<Value, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_value(cx)
    }
}

impl<T> std::fmt::Debug for ObjectStream<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectStream").field("shown", &self.shown).field("stream", &self.stream).finish_non_exhaustive()
    }
}
