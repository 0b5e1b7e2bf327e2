//! One turn of a conversation: a question, the tools that are run for it and the answer.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use ikigai_core::pause::{GIVEN_UP, MOST_CONTINUATIONS, given_up};
use ikigai_core::{
    Block, ErrorKind, FinishReason, Loss, Message, ModelName, Prompt, Request, Response, Role, ToolCall, ToolChoice,
};
use tracing::Instrument as _;

use crate::answer::{Answer, Step};
use crate::call::{Live, Opened, Whole};
use crate::client::Client;
use crate::error::{Attempt, Error, Reason};
use crate::model::{Model, Plan};
use crate::pause::Paused;
use crate::settings::Settings;
use crate::tools::{ToolRunner, run};
use crate::upstream::{Head, Wanted};
use crate::verbs::Preview;

/// One turn: a question, the tools that are run for it and the answer.
pub(crate) struct Turn {
    client: Client,
    plan: Arc<Plan>,
    request: Request,
    /// The index of the model that is asked: the first one or a fallback.
    candidate: usize,
    steps: Vec<Step>,
    /// What the turn adds to the conversation.
    messages: Vec<Message>,
    attempts: Vec<Attempt>,
    /// Set if the thinking budget was reduced because the conversation is long.
    reduced: Option<Loss>,
    /// The answer so far, if the provider paused in the middle of it.
    paused: Option<Paused>,
}

/// An answer that has begun, and its origin.
pub(crate) struct Begun {
    pub(crate) live: Box<Live>,
    pub(crate) asked: Asked,
}

/// The origin of an answer, and what the request lost on the way.
pub(crate) struct Asked {
    pub(crate) name: ModelName,
    pub(crate) losses: Vec<Loss>,
    pub(crate) span: tracing::Span,
    /// When the first attempt began.
    pub(crate) began: Duration,
}

/// What follows a complete answer.
pub(crate) enum Next {
    /// Nothing: it is the last one.
    Done,
    /// These tools have to be run.
    Tools(Vec<ToolCall>),
    /// The provider paused in the middle of its own tools and has to be asked to continue.
    Continue,
}

impl Turn {
    /// Checks the question. Nothing is sent if it is invalid.
    pub(crate) fn begin(model: &Model, context: Prompt) -> Result<Self, Error> {
        Ok(Turn {
            client: model.client.clone(),
            plan: Arc::clone(&model.plan),
            request: model.request(context)?,
            candidate: 0,
            steps: Vec::new(),
            messages: Vec::new(),
            attempts: Vec::new(),
            reduced: None,
            paused: None,
        })
    }

    /// Runs the whole turn.
    pub(crate) async fn run(mut self) -> Result<Answer, Error> {
        loop {
            let (whole, asked) = self.ask::<Box<Whole>>().await?;
            let Whole { response, head } = *whole;
            match self.complete(response, head, asked)? {
                Next::Tools(calls) => {
                    let results = run(self.runner(), calls).await;
                    self.resume(results);
                }
                Next::Continue => {}
                Next::Done => return self.finish(),
            }
        }
    }

    pub(crate) async fn ask_live(&mut self) -> Result<Begun, Error> {
        let (live, asked) = self.ask().await?;
        Ok(Begun { live, asked })
    }

    /// Asks the models in order until one answers.
    async fn ask<O: Opened>(&mut self) -> Result<(O, Asked), Error> {
        loop {
            let name = self.plan.candidate(self.candidate).clone();
            let error = match self.ask_candidate(&name).await {
                Ok(begun) => return Ok(begun),
                Err(error) => error.at(&name),
            };
            // No other model can continue half an answer.
            if self.paused.is_none() && self.candidate < self.plan.fallbacks.len() && may_fall_back(&error) {
                self.candidate += 1;
                continue;
            }
            return Err(self.failed(error));
        }
    }

    async fn ask_candidate<O: Opened>(&mut self, name: &ModelName) -> Result<(O, Asked), Error> {
        let settings = self.fit(name, O::WANTED);
        let before = self.attempts.len();
        let outcome = self.send(name, &settings).await;
        if let Err(error) = &outcome
            && self.attempts.len() == before
        {
            // Nothing was sent, perhaps for lack of a key: that was an attempt as well.
            self.attempts.push(error.attempt(name));
        }
        outcome
    }

    /// Adapts the request to a candidate, and returns its settings.
    fn fit(&mut self, name: &ModelName, wanted: Wanted) -> Settings {
        let settings = self.settings(name);
        self.request.model.clone_from(&name.id);
        self.request.stream = (wanted == Wanted::Stream).then_some(true);
        self.request.thinking = self.plan.thinking(self.candidate);
        self.reduced = None;
        if settings.dynamic_budget
            && let Some(thinking) = &self.request.thinking
        {
            let tokens = crate::verbs::estimate_tokens(&self.request);
            let rule = &ikigai_core::catalog::rules_for(&name.id).thinking;
            if let Some((reduced, loss)) = thinking.reduced_for_context(tokens, rule) {
                self.request.thinking = Some(reduced);
                self.reduced = Some(loss);
            }
        }
        settings
    }

    /// Returns the request for a stream as it would be sent to the first model.
    pub(crate) fn preview(mut self) -> Result<Preview, Error> {
        let name = self.plan.candidate(0).clone();
        let settings = self.fit(&name, Wanted::Stream);
        let mut preview = Preview::new(&self.client, name, self.request, settings)?;
        preview.losses.extend(self.reduced);
        Ok(preview)
    }

    async fn send<O: Opened>(&mut self, name: &ModelName, settings: &Settings) -> Result<(O, Asked), Error> {
        let began = self.client.clock().now();
        let hooks = self.client.hooks();
        let mut request = Cow::Borrowed(&self.request);
        if !hooks.is_empty() {
            // On a copy: changes made by a hook must not accumulate over the steps.
            hooks.before_request(name, request.to_mut())?;
            // The answer is read the way it was requested, so a hook cannot change this.
            request.to_mut().stream = self.request.stream;
        }
        let prepared = self.client.prepare(name, &request, settings)?;
        let span = crate::trace::span(&self.client, &prepared, &request);
        match prepared.open(&mut self.attempts).instrument(span.clone()).await {
            Ok(opened) => {
                let mut losses = prepared.losses;
                losses.extend(self.reduced.clone());
                Ok((opened, Asked { name: name.clone(), losses, span, began }))
            }
            Err(error) => {
                crate::trace::failed(&span, &error, self.client.clock().now().saturating_sub(began));
                Err(error)
            }
        }
    }

    /// Returns a candidate's settings. Those for the first model's provider go to no other: they may be secret.
    fn settings(&self, name: &ModelName) -> Settings {
        let settings = self.plan.settings.clone();
        if name.provider == self.plan.name.provider {
            return settings;
        }
        Settings { key: None, base_url: None, dialect: None, headers: Vec::new(), ..settings }
    }

    /// Adds a complete answer, or its continuation after a pause, to the turn, and returns what follows.
    pub(crate) fn complete(&mut self, mut response: Response, head: Head, asked: Asked) -> Result<Next, Error> {
        response.warnings.splice(0..0, asked.losses);
        response.note_thinking_type(&ikigai_core::catalog::rules_for(&asked.name.id).thinking);
        if response.finish_reason == FinishReason::Error {
            let error = response.error.as_deref().cloned();
            let error = error.unwrap_or_else(|| ikigai_core::Error::protocol("the model broke off its answer"));
            let partial = match self.paused.take() {
                Some(Paused { step: Step { response: mut earlier, .. }, .. }) => {
                    earlier.append(response);
                    earlier
                }
                None => response,
            };
            let error = head.secrets.redact_error(head.failure(error).at(&asked.name).with_partial(partial));
            crate::trace::failed(&asked.span, &error, self.since(asked.began));
            return Err(self.failed(error));
        }
        let goes_on = self.goes_on(&response);
        let facts = self.client.registry().route(&asked.name).ok().and_then(|route| route.facts);
        let cost = facts.zip(response.usage.as_ref()).and_then(|(facts, usage)| facts.cost(usage));
        let step = Step { response, cost, model: asked.name, request_id: head.request_id, limits: head.limits };
        crate::trace::answered(&asked.span, &step, &self.client, self.since(asked.began));
        let (mut step, continued) = match self.paused.take() {
            Some(Paused { step: mut earlier, continued }) => {
                // The last message of the request is the answer so far, which has grown or is now complete.
                self.request.messages.pop();
                earlier.extend(step);
                (earlier, continued)
            }
            None => (step, 0),
        };
        let mut message = step.response.clone().into_message(&step.model.provider);
        message.thinking = self.request.thinking.as_ref().and_then(|thinking| thinking.level);
        if goes_on {
            self.request.messages.push(message);
            self.paused = Some(Paused { step, continued: continued + 1 });
            return Ok(Next::Continue);
        }
        if step.response.is_paused() && continued == MOST_CONTINUATIONS {
            step.response.finish_reason = GIVEN_UP;
            step.response.warnings.push(given_up());
            message.drop_unanswered();
        }
        let calls = self.runnable(&step.response);
        self.client.hooks().after_response(Ok(&step));
        self.steps.push(step);
        let Some(calls) = calls else {
            self.messages.push(message);
            return Ok(Next::Done);
        };
        let limit = self.plan.settings.max_steps;
        if self.steps.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
            let error = Error::new(Reason::StepLimit(limit)).at(self.plan.candidate(self.candidate));
            let partial = self.steps.last().map(|step| step.response.clone()).unwrap_or_default();
            // The message itself is left out: its calls have no results, so no conversation could continue from it.
            return Err(self.failed(error.with_partial(partial)));
        }
        self.messages.push(message.clone());
        self.request.messages.push(message);
        Ok(Next::Tools(calls))
    }

    /// Whether the provider has to be asked to continue this answer or part of one.
    pub(crate) fn goes_on(&self, answer: &Response) -> bool {
        !self.is_given_up()
            && answer.is_paused()
            && answer.finish_reason == FinishReason::Stop
            && answer.tool_calls().next().is_none()
    }

    /// Whether a paused answer is no longer continued.
    pub(crate) fn is_given_up(&self) -> bool {
        self.paused.as_ref().is_some_and(|paused| paused.continued >= MOST_CONTINUATIONS)
    }

    /// Returns the calls to be run, if the turn can run all of them.
    fn runnable(&self, response: &Response) -> Option<Vec<ToolCall>> {
        let settings = &self.plan.settings;
        let is_cut = matches!(response.finish_reason, FinishReason::Length | FinishReason::ContentFilter);
        if settings.manual || is_cut || settings.tools.iter().all(|tool| !tool.is_runnable()) {
            return None;
        }
        let calls: Vec<ToolCall> = response.tool_calls().cloned().collect();
        let theirs = |call: &ToolCall| {
            let tool = settings.tools.iter().find(|tool| tool.definition().name() == Some(&call.name));
            tool.is_some_and(|tool| !tool.is_runnable())
        };
        (!calls.is_empty() && !calls.iter().any(theirs)).then_some(calls)
    }

    /// Returns what is needed to run the calls.
    pub(crate) fn runner(&self) -> ToolRunner {
        let settings = &self.plan.settings;
        ToolRunner {
            tools: settings.tools.clone(),
            approve: settings.approve.clone(),
            timeout: settings.tool_timeout,
            clock: Arc::clone(self.client.clock()),
            hooks: self.client.hooks().clone(),
            content_in_traces: self.client.content_in_traces(),
        }
    }

    /// Adds the results of the calls to the turn.
    pub(crate) fn resume(&mut self, results: Vec<Block>) {
        let message = Message::new(Role::Tool, results);
        self.messages.push(message.clone());
        self.request.messages.push(message);
        // A tool that was forced once is not forced forever.
        let forced = matches!(self.request.tool_choice, Some(ToolChoice::Required | ToolChoice::Specific(_)));
        if forced && !self.plan.settings.forced_throughout {
            self.request.tool_choice = None;
        }
    }

    /// Returns the answer of the turn.
    pub(crate) fn finish(mut self) -> Result<Answer, Error> {
        match self.steps.pop() {
            Some(last) => Ok(Answer::new(self.steps, last, self.messages, self.attempts)),
            None => Err(self.broken("there is no answer")),
        }
    }

    pub(crate) fn since(&self, began: Duration) -> Duration {
        self.client.clock().now().saturating_sub(began)
    }

    /// Returns the messages of a turn that ends here. Calls that have no results yet are left out.
    pub(crate) fn into_messages(mut self) -> Vec<Message> {
        if self.messages.last().is_some_and(|last| last.content.iter().any(|block| block.as_tool_call().is_some())) {
            self.messages.pop();
        }
        self.messages
    }

    /// Returns what the turn has added to the conversation so far.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the answer so far, if the provider paused in the middle of it.
    pub(crate) fn paused(&self) -> Option<&Response> {
        self.paused.as_ref().map(|paused| &paused.step.response)
    }

    pub(crate) fn last_response(&self) -> Option<&Response> {
        self.steps.last().map(|step| &step.response)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Adds to an error what was tried and what is already complete.
    pub(crate) fn failed(&mut self, error: Error) -> Error {
        let attempts = if error.attempts().is_empty() { std::mem::take(&mut self.attempts) } else { Vec::new() };
        let error = if attempts.is_empty() { error } else { error.after_attempts(attempts) };
        let error = match self.paused.take() {
            Some(paused) if error.partial().is_none() => {
                let mut partial = paused.step.response;
                partial.finish_reason = FinishReason::Error;
                error.with_partial(partial)
            }
            _ => error,
        };
        let error = error.with_messages(std::mem::take(&mut self.messages));
        self.client.hooks().after_response(Err(&error));
        error
    }

    fn broken(&mut self, what: &str) -> Error {
        self.failed(Error::new(ikigai_core::Error::protocol(what)))
    }
}

/// Whether another model might succeed where this one failed.
fn may_fall_back(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::InvalidRequest
        | ErrorKind::ContentFiltered
        | ErrorKind::Cancelled
        | ErrorKind::StepLimit
        | ErrorKind::Vetoed => false,
        ErrorKind::Auth
        | ErrorKind::Permission
        | ErrorKind::NotFound
        | ErrorKind::RateLimit
        | ErrorKind::Quota
        | ErrorKind::ContextTooLong
        | ErrorKind::RequestTooLarge
        | ErrorKind::Overloaded
        | ErrorKind::Server
        | ErrorKind::Timeout
        | ErrorKind::Network
        | ErrorKind::Protocol => true,
        // A kind newer than this list: another model may cope.
        _ => true,
    }
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
