//! A model's answer, with its usage and cost.

use std::collections::HashSet;
use std::fmt;

use ikigai_core::catalog::Cost;
use ikigai_core::{Block, Citation, FinishReason, FoundSource, Loss, Message, ModelName, Response, ToolCall, Usage};
use serde_json::Value;

use crate::error::Attempt;
use crate::upstream::RateLimits;

/// One request and its answer. A turn with tools has several steps.
///
/// A provider that runs its own tools may pause in the middle of an answer. All requests needed to finish such an
/// answer count as one step, with their tokens and costs added up.
#[derive(Debug, Clone)]
pub struct Step {
    pub(crate) response: Response,
    pub(crate) cost: Option<Cost>,
    pub(crate) model: ModelName,
    pub(crate) request_id: Option<String>,
    pub(crate) limits: RateLimits,
}

impl Step {
    /// Adds the provider's continuation after a pause.
    pub(crate) fn extend(&mut self, later: Step) {
        let Step { mut response, cost, model, request_id, limits } = later;
        // The same request had the same losses again.
        response.warnings.retain(|warning| !self.response.warnings.contains(warning));
        self.response.append(response);
        self.cost = self.cost.zip(cost).map(|(earlier, cost)| earlier + cost);
        (self.model, self.request_id, self.limits) = (model, request_id, limits);
    }

    /// Returns the answer.
    pub fn response(&self) -> &Response {
        &self.response
    }

    /// Returns the cost, or `None` if the model's prices are unknown.
    pub fn cost(&self) -> Option<Cost> {
        self.cost
    }

    /// Returns the model that was asked.
    pub fn model(&self) -> &ModelName {
        &self.model
    }

    /// Returns the provider's id of the request, to quote to its support.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Returns what the provider reported about its rate limits.
    pub fn limits(&self) -> &RateLimits {
        &self.limits
    }
}

/// A model's answer, with everything that led to it. `Display` prints its text.
///
/// If tools were run, the answer is that of the last step; [`usage`](Answer::usage) and [`cost`](Answer::cost) cover
/// all steps.
#[derive(Debug, Clone)]
pub struct Answer {
    earlier: Vec<Step>,
    last: Step,
    messages: Vec<Message>,
    attempts: Vec<Attempt>,
}

impl Answer {
    pub(crate) fn new(earlier: Vec<Step>, last: Step, messages: Vec<Message>, attempts: Vec<Attempt>) -> Self {
        Answer { earlier, last, messages, attempts }
    }

    /// Returns this answer preceded by the one it corrects: both were paid for.
    pub(crate) fn after(self, mended: Answer) -> Self {
        let Answer { earlier, last, messages, attempts } = mended;
        Answer {
            earlier: earlier.into_iter().chain([last]).chain(self.earlier).collect(),
            last: self.last,
            messages: messages.into_iter().chain(self.messages).collect(),
            attempts: attempts.into_iter().chain(self.attempts).collect(),
        }
    }

    /// Returns all text of the answer, concatenated.
    pub fn text(&self) -> String {
        self.last.response.text()
    }

    /// Returns all visible thinking in the answer, concatenated.
    pub fn thinking(&self) -> String {
        self.last.response.thinking()
    }

    /// Parses the text as JSON.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON.
    pub fn object(&self) -> Result<Value, serde_json::Error> {
        self.last.response.object()
    }

    /// Returns the blocks of the answer.
    pub fn content(&self) -> &[Block] {
        &self.last.response.content
    }

    /// Returns the tool calls that are waiting for results.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.last.response.tool_calls()
    }

    /// Returns the citations in the answer, each with the passage of the text that it supports.
    ///
    /// ```
    /// # fn f(answer: ikigai::Answer) {
    /// for (passage, citation) in answer.citations() {
    ///     println!("{passage}: {:?}", citation.source.as_url());
    /// }
    /// # }
    /// ```
    pub fn citations(&self) -> impl Iterator<Item = (&str, &Citation)> {
        self.last.response.citations()
    }

    /// Returns all sources of the answer, without duplicates: those it cites, and those that the provider's tools found
    /// in any step.
    pub fn sources(&self) -> Vec<FoundSource> {
        let mut seen = HashSet::new();
        let steps = std::iter::once(&self.last).chain(&self.earlier);
        let mut sources: Vec<FoundSource> = steps.flat_map(|step| step.response.sources()).collect();
        sources.retain(|source| source.key().is_some_and(|key| seen.insert(key.to_owned())));
        sources
    }

    /// Returns why the answer ended. `Length` means that it was cut off.
    pub fn finish_reason(&self) -> FinishReason {
        self.last.response.finish_reason
    }

    /// Returns the tokens of all steps, or `None` if the provider did not report them.
    pub fn usage(&self) -> Option<Usage> {
        let mut all = self.steps().filter_map(|step| step.response.usage.as_ref());
        let first = all.next()?.clone();
        Some(all.fold(first, |sum, usage| sum.and(usage)))
    }

    /// Returns the cost of all steps, or `None` if the model's prices are unknown.
    pub fn cost(&self) -> Option<Cost> {
        self.steps().map(Step::cost).sum()
    }

    /// Returns the model that was asked: the first one, or the fallback that answered.
    pub fn model(&self) -> &ModelName {
        &self.last.model
    }

    /// Returns the id of the provider that answered.
    pub fn provider(&self) -> &str {
        &self.last.model.provider
    }

    /// Returns the provider's id of the request, to quote to its support.
    pub fn request_id(&self) -> Option<&str> {
        self.last.request_id()
    }

    /// Returns what the provider reported about its rate limits.
    pub fn limits(&self) -> &RateLimits {
        &self.last.limits
    }

    /// Returns what was left out or changed on the way to the provider, and any other warnings, from all steps.
    pub fn warnings(&self) -> impl Iterator<Item = &Loss> {
        self.steps().flat_map(|step| &step.response.warnings)
    }

    /// Returns every request and its answer, oldest first.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.earlier.iter().chain(std::iter::once(&self.last))
    }

    /// Returns the messages that this turn adds to the conversation: answers and tool results.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the failed attempts before this answer.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Returns the complete last response.
    pub fn response(&self) -> &Response {
        &self.last.response
    }

    /// Returns the complete last response, consuming the answer.
    pub fn into_response(self) -> Response {
        self.last.response
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut texts = self.content().iter().filter_map(Block::as_text);
        texts.try_for_each(|text| f.write_str(text))
    }
}
