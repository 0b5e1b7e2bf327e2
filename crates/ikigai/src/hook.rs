//! Hooks, with which a program can observe requests or intervene.

use std::fmt;
use std::sync::Arc;

use ikigai_core::{Event, ModelName, Request, ToolCall, ToolResult};

use crate::answer::Step;
use crate::error::{Attempt, Error};

/// Observes a client at work, for logs, budgets or your own rules.
///
/// By default, every method does nothing. Methods are called inline, so they should be fast.
///
/// ```
/// use ikigai::{Error, Hook, Step};
///
/// struct Spent;
///
/// impl Hook for Spent {
///     fn after_response(&self, outcome: Result<&Step, &Error>) {
///         if let Ok(step) = outcome {
///             println!("{} took {:?}", step.model(), step.cost());
///         }
///     }
/// }
///
/// # fn f() -> Result<(), Error> {
/// let client = ikigai::Client::builder().hook(Spent).build()?;
/// # Ok(())
/// # }
/// ```
pub trait Hook: Send + Sync + 'static {
    /// Called before a request is encoded and sent. Changes to the request apply to this one time; returning an error
    /// stops it, with that message.
    ///
    /// # Errors
    /// Any error stops the request.
    fn before_request(&self, model: &ModelName, request: &mut Request) -> Result<(), String> {
        let _ = (model, request);
        Ok(())
    }

    /// Called when an attempt failed, after `made` of at most `most` attempts. If there will be another one,
    /// `attempt.waited` is the wait before it.
    fn on_attempt(&self, attempt: &Attempt, made: u32, most: u32) {
        let _ = (attempt, made, most);
    }

    /// Called before an event of a stream reaches the caller.
    fn on_event(&self, event: &Event) {
        let _ = event;
    }

    /// Called before a tool is run, if its call is valid.
    fn on_tool_call(&self, call: &ToolCall) {
        let _ = call;
    }

    /// Called when a tool has a result.
    fn on_tool_result(&self, call: &ToolCall, result: &ToolResult) {
        let _ = (call, result);
    }

    /// Called when an answer is complete or has failed. Not called for a stream that is dropped before its end.
    fn after_response(&self, outcome: Result<&Step, &Error>) {
        let _ = outcome;
    }
}

/// The hooks of a client, in order.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Arc<[Arc<dyn Hook>]>);

impl Hooks {
    pub(crate) fn new(hooks: Vec<Arc<dyn Hook>>) -> Self {
        Hooks(hooks.into())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn before_request(&self, model: &ModelName, request: &mut Request) -> Result<(), Error> {
        for hook in self.0.iter() {
            hook.before_request(model, request)
                .map_err(|why| ikigai_core::Error::new(ikigai_core::ErrorKind::Vetoed, why))?;
        }
        Ok(())
    }

    pub(crate) fn on_attempt(&self, attempt: &Attempt, made: u32, most: u32) {
        self.0.iter().for_each(|hook| hook.on_attempt(attempt, made, most));
    }

    pub(crate) fn on_event(&self, event: &Event) {
        self.0.iter().for_each(|hook| hook.on_event(event));
    }

    pub(crate) fn on_tool_call(&self, call: &ToolCall) {
        self.0.iter().for_each(|hook| hook.on_tool_call(call));
    }

    pub(crate) fn on_tool_result(&self, call: &ToolCall, result: &ToolResult) {
        self.0.iter().for_each(|hook| hook.on_tool_result(call, result));
    }

    pub(crate) fn after_response(&self, outcome: Result<&Step, &Error>) {
        self.0.iter().for_each(|hook| hook.after_response(outcome));
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hooks", self.0.len())
    }
}

#[cfg(test)]
#[path = "hook_tests.rs"]
mod tests;
