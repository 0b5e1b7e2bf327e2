//! How a model is asked, as opposed to what it is asked.

use std::sync::Arc;
use std::time::Duration;

use ikigai_core::Dialect;

use crate::config::Key;
use crate::tools::{Approve, Callable};
use crate::transport::Timeouts;
use crate::upstream::Retry;

/// How a model is asked, as opposed to what it is asked.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) key: Option<Key>,
    pub(crate) base_url: Option<String>,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) timeouts: Timeouts,
    pub(crate) retry: Retry,
    /// Every loss is an error.
    pub(crate) strict: bool,
    pub(crate) tools: Vec<Callable>,
    /// The caller runs the calls.
    pub(crate) manual: bool,
    /// A forced tool is forced in every step: its call is the answer.
    pub(crate) forced_throughout: bool,
    pub(crate) max_steps: u32,
    pub(crate) tool_timeout: Option<Duration>,
    pub(crate) approve: Option<Arc<Approve>>,
    pub(crate) dimensions: Option<u32>,
    /// Thinking budgets are reduced for long prompts.
    pub(crate) dynamic_budget: bool,
}

impl Settings {
    pub(crate) fn new(timeouts: Timeouts, retry: Retry) -> Self {
        Settings {
            key: None,
            base_url: None,
            dialect: None,
            headers: Vec::new(),
            timeouts,
            retry,
            strict: false,
            tools: Vec::new(),
            manual: false,
            forced_throughout: false,
            max_steps: 16,
            tool_timeout: Some(Duration::from_secs(300)),
            approve: None,
            dimensions: None,
            dynamic_budget: false,
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers may contain anything, including keys.
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Settings")
            .field("key", &self.key)
            .field("base_url", &self.base_url.as_deref().map(crate::upstream::shown_url))
            .field("dialect", &self.dialect)
            .field("headers", &headers)
            .field("timeouts", &self.timeouts)
            .field("retry", &self.retry)
            .field("strict", &self.strict)
            .field("tools", &self.tools)
            .field("manual", &self.manual)
            .field("max_steps", &self.max_steps)
            .field("tool_timeout", &self.tool_timeout)
            .field("dynamic_budget", &self.dynamic_budget)
            .finish_non_exhaustive()
    }
}
