//! A value that is still being written.

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

/// A value that is still being written.
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
    /// The index of the call whose arguments are the value.
    call: Option<usize>,
    /// The length of the text when it was last parsed.
    looked_at: usize,
    shown: Option<Value>,
    /// The type of the complete value.
    whole: PhantomData<fn() -> T>,
}

/// Up to this length, the text is parsed again after every piece.
const SHORT: usize = 4096;
/// Above it, only after the text has grown by this share: each time, the value is parsed from its beginning, and this
/// keeps the total work within a fixed multiple of the text's length.
const SHARE: usize = 64;

impl<T: serde::de::DeserializeOwned> ObjectStream<T> {
    pub(crate) async fn open(extraction: Extraction) -> Result<Self, Error> {
        let stream = AnswerStream::open(Turn::begin(&extraction.model, extraction.context.clone())?).await?;
        let text = String::new();
        Ok(ObjectStream { extraction, stream, text, call: None, looked_at: 0, shown: None, whole: PhantomData })
    }

    /// Returns the value so far each time more of it has arrived, unchecked; `None` at the end.
    ///
    /// Above 4 KiB, it is returned only when it has grown by a sixty-fourth, and at the end.
    ///
    /// # Errors
    /// Returns an error if the answer is interrupted or exceeds the client's [limits](crate::Limits) on values.
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

    /// Whether the text has grown enough since it was last parsed.
    fn has_grown(&self) -> bool {
        self.text.len() <= SHORT || self.text.len() - self.looked_at > self.text.len() / SHARE
    }

    /// Parses the value so far. Returns whether it has changed.
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

    /// Reads the rest and returns the complete value after checking it. If it does not match, the model is asked once
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

    /// Adds the event's part of the value to the text. Returns whether there was any.
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
