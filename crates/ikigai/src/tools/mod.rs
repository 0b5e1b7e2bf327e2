//! Tools with the code that runs them.

mod hints;
mod output;
mod run;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ikigai_core::validate::ArgumentChecker;
use ikigai_core::{BuiltIn, Tool, ToolCall};
use serde_json::{Map, Value};

pub use hints::Hints;
pub use output::{IntoOutput, Json, Output};
pub(crate) use run::{ToolRunner, run};

type Running<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Code = dyn Fn(ToolCall) -> Running<Output> + Send + Sync;
/// The function that is asked before a call is run.
pub(crate) type Approve = dyn Fn(ToolCall) -> Running<Approval> + Send + Sync;

/// Whether a tool call may be run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// Yes.
    Allow,
    /// No; the model sees the reason.
    Deny(String),
}

/// A tool, with or without the code that runs it. Without code, the caller has to answer its calls.
///
/// [`tool`] makes one from a function; a [`Tool`] converts to one without code.
#[derive(Clone)]
pub struct Callable {
    tool: Tool,
    code: Option<Arc<Code>>,
    timeout: Timeout,
    hints: Hints,
    /// The schema is compiled once, at the first call.
    checker: Arc<OnceLock<Result<ArgumentChecker, String>>>,
}

/// Why a tool could not be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// The tool has no code.
    #[error("the tool `{0}` has no code to run")]
    NotRunnable(String),
    /// The arguments do not match the schema.
    #[error("the arguments do not match the schema of `{name}`: {}", .faults.join("; "))]
    InvalidArguments {
        /// The tool's name.
        name: String,
        /// What is wrong with them.
        faults: Vec<String>,
    },
}

/// Shorter calls are checked in no time.
const LONG_CALL: usize = 512;

/// How long a tool may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timeout {
    /// As set on the model.
    Inherited,
    /// Its own limit, or no limit.
    Own(Option<Duration>),
}

/// Makes a tool from a function. The name and doc comment of its argument type tell the model what the tool is.
///
/// ```
/// use ikigai::schemars::{self, JsonSchema};
/// use serde::Deserialize;
///
/// /// Tells the weather in a city.
/// #[derive(Deserialize, JsonSchema)]
/// struct Weather {
///     /// The city's name, without the country.
///     city: String,
/// }
///
/// let weather = ikigai::tool(|w: Weather| async move { format!("{}: 4 °C", w.city) });
/// assert_eq!(weather.definition().name(), Some("weather"));
/// ```
///
/// The function may return a string, a number, JSON, pictures, or a `Result` of these; see [`IntoOutput`].
#[cfg(feature = "schema")]
pub fn tool<A, F, R>(run: F) -> Callable
where
    A: serde::de::DeserializeOwned + schemars::JsonSchema,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output: IntoOutput> + Send + 'static,
{
    let schema = crate::schema::of::<A>();
    let definition = Tool::new(crate::schema::snake_case(&schema.name), schema.description.unwrap_or_default())
        .parameters(schema.schema);
    Callable::new(definition, move |call: ToolCall| {
        let running = call.arguments.to::<A>().map(&run);
        async move {
            match running {
                Ok(running) => running.await.into_output(),
                Err(fault) => Output::error(format!("the arguments cannot be read: {fault}")),
            }
        }
    })
}

/// Makes a tool call as a model would, with a new id, for histories that a program writes itself.
///
/// ```
/// let call = ikigai::tool_call("now", Default::default());
/// assert!(call.as_tool_call().is_some_and(|call| call.id.starts_with("call_")));
/// ```
pub fn tool_call(name: impl Into<String>, arguments: Map<String, Value>) -> ikigai_core::Block {
    ikigai_core::wire::Ids::seeded(fastrand::u64(..)).tool_call(name, arguments)
}

impl Callable {
    /// Makes a tool whose calls are passed to a function unchanged, after their arguments have been checked.
    pub fn new<F, R>(definition: Tool, run: F) -> Self
    where
        F: Fn(ToolCall) -> R + Send + Sync + 'static,
        R: Future<Output: IntoOutput> + Send + 'static,
    {
        let code: Arc<Code> = Arc::new(move |call| {
            let running = run(call);
            Box::pin(async move { running.await.into_output() })
        });
        Callable { code: Some(code), ..Callable::from(definition) }
    }

    /// Changes the name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        if let Tool::Function(function) = &mut self.tool {
            function.name = name.into();
        }
        self
    }

    /// Changes the description.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        if let Tool::Function(function) = &mut self.tool {
            function.description = Some(description.into());
        }
        self
    }

    /// Does not require the provider to enforce the schema, which may then use more than providers accept. The library
    /// still checks the arguments.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.tool = self.tool.lenient();
        self
    }

    /// Limits how long one call may take. After that, the model is told that it took too long.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Timeout::Own(Some(limit));
        self
    }

    /// Removes the time limit for calls.
    #[must_use]
    pub fn no_timeout(mut self) -> Self {
        self.timeout = Timeout::Own(None);
        self
    }

    /// Adds hints about what a call does, to help decide whether to allow it.
    #[must_use]
    pub fn with_hints(mut self, hints: Hints) -> Self {
        self.hints = hints;
        self
    }

    /// Returns the hints about what a call does. Empty unless the tool is an MCP server's or was given some.
    pub fn hints(&self) -> &Hints {
        &self.hints
    }

    /// Returns the tool as the model sees it.
    pub fn definition(&self) -> &Tool {
        &self.tool
    }

    /// Returns whether the tool has code that runs it.
    pub fn is_runnable(&self) -> bool {
        self.code.is_some()
    }

    /// Checks arguments against the schema and runs the tool, as for a model's call. A tool with its own time limit is
    /// stopped when it expires; others take as long as they need.
    ///
    /// ```
    /// # async fn f() {
    /// use ikigai::{Callable, Tool};
    /// use serde_json::json;
    ///
    /// let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    /// let double = Callable::new(Tool::new("double", "Doubles.").parameters(schema), |call| async move {
    ///     format!("{}", call.arguments["n"].as_i64().unwrap_or(0) * 2)
    /// });
    /// let output = double.execute(json!({"n": 21}).as_object().cloned().unwrap_or_default()).await.unwrap();
    /// assert_eq!(output.content, [ikigai::Block::text("42")]);
    /// assert!(double.execute(Default::default()).await.is_err());
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the arguments do not match the schema, or if there is no code to run.
    pub async fn execute(&self, arguments: Map<String, Value>) -> Result<Output, ExecuteError> {
        let name = self.tool.name().unwrap_or_default().to_owned();
        if !self.is_runnable() {
            return Err(ExecuteError::NotRunnable(name));
        }
        let id = ikigai_core::wire::Ids::seeded(fastrand::u64(..)).next_id();
        let call = ToolCall::new(id, &name, arguments);
        self.check_elsewhere(&call).await.map_err(|faults| ExecuteError::InvalidArguments { name, faults })?;
        Ok(run::timed(self.clone(), call, None, Arc::new(crate::time::SystemClock::default())).await)
    }

    /// Like [`check`](Callable::check), but on a blocking thread for large calls, which may take a while.
    async fn check_elsewhere(&self, call: &ToolCall) -> Result<(), Vec<String>> {
        if call.arguments.text().len() < LONG_CALL {
            return self.check(call);
        }
        let (tool, call) = (self.clone(), call.clone());
        let checked = tokio::task::spawn_blocking(move || tool.check(&call)).await;
        checked.unwrap_or_else(|_| Err(vec!["the arguments cannot be checked".to_owned()]))
    }

    /// Checks the arguments against the schema. The faults are written so that a model can correct its call.
    fn check(&self, call: &ToolCall) -> Result<(), Vec<String>> {
        let Tool::Function(function) = &self.tool else { return Ok(()) };
        match self.checker.get_or_init(|| function.argument_checker()) {
            Ok(checker) => checker.check(&call.arguments),
            Err(fault) => Err(vec![fault.clone()]),
        }
    }
}

impl From<Tool> for Callable {
    fn from(tool: Tool) -> Self {
        Callable {
            tool,
            code: None,
            timeout: Timeout::Inherited,
            hints: Hints::default(),
            checker: Arc::new(OnceLock::new()),
        }
    }
}

impl From<BuiltIn> for Callable {
    fn from(tool: BuiltIn) -> Self {
        Callable::from(Tool::from(tool))
    }
}

impl fmt::Debug for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callable")
            .field("name", &self.tool.name())
            .field("runnable", &self.is_runnable())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[cfg(feature = "schema")]
mod tools_tests;
