//! A model with its settings.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ikigai_core::catalog::Facts;
use ikigai_core::{Dialect, ModelName, Prompt, Request, Role, Thinking, Tool, ToolCall, ToolChoice};

use crate::answer::Answer;
use crate::chat::Chat;
use crate::client::Client;
use crate::config::Key;
use crate::error::Error;
use crate::settings::Settings;
use crate::stream::AnswerStream;
use crate::tools::{Approval, Callable};
use crate::transport::Timeouts;
use crate::turn::Turn;
use crate::upstream::Retry;

/// A model with its settings. It is a value: every setting returns a new model, clones are cheap, and one model can be
/// used for any number of questions at once.
///
/// ```
/// # async fn f() -> Result<(), ikigai::Error> {
/// let poet = ikigai::model("anthropic:claude-sonnet-4-5/low")?
///     .system("You answer in verse.")
///     .temperature(1.0)
///     .fallback("openai:gpt-5.4")?;
/// println!("{}", poet.ask("Why is the sky blue?").await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) client: Client,
    pub(crate) plan: Arc<Plan>,
}

/// Everything a request to a model consists of, apart from the conversation.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) name: ModelName,
    pub(crate) fallbacks: Vec<ModelName>,
    /// The request without its messages.
    pub(crate) request: Request,
    pub(crate) settings: Settings,
}

impl Plan {
    /// Returns the model that is asked at this place in the order, or the first one if there is none.
    pub(crate) fn candidate(&self, place: usize) -> &ModelName {
        place.checked_sub(1).and_then(|place| self.fallbacks.get(place)).unwrap_or(&self.name)
    }

    /// Returns how hard a candidate should think: as its own name says, or else as the first model's name says. An
    /// explicit setting takes precedence over both.
    pub(crate) fn thinking(&self, place: usize) -> Option<Thinking> {
        let level = self.candidate(place).level.or(self.name.level);
        match (self.request.thinking.clone(), level) {
            (Some(mut thinking), level) => {
                thinking.level = thinking.level.or(level);
                Some(thinking)
            }
            (None, Some(level)) => Some(Thinking::from(level)),
            (None, None) => None,
        }
    }
}

impl Model {
    pub(crate) fn new(client: Client, name: ModelName) -> Self {
        let settings = Settings::new(client.timeouts(), client.retry().clone());
        let plan = Plan { name, fallbacks: Vec::new(), request: Request::default(), settings };
        Model { client, plan: Arc::new(plan) }
    }

    /// Asks and waits for the complete answer. Tools with code are run until the model is done.
    ///
    /// The prompt is a string, a message, a list of messages or a whole [`Prompt`].
    ///
    /// # Errors
    /// Returns an error if the request is invalid (nothing is sent then), or if there is no answer after all attempts.
    pub async fn ask(&self, prompt: impl Into<Prompt>) -> Result<Answer, Error> {
        Turn::begin(self, prompt.into())?.run().await
    }

    /// Asks and streams the answer. Tools with code are run in between.
    ///
    /// Returns as soon as the first content arrives. Dropping the stream stops the model.
    ///
    /// # Errors
    /// Returns an error if the request is invalid, or if no answer starts after all attempts.
    pub async fn stream(&self, prompt: impl Into<Prompt>) -> Result<AnswerStream, Error> {
        AnswerStream::open(Turn::begin(self, prompt.into())?).await
    }

    /// Starts a conversation with this model.
    pub fn chat(&self) -> Chat {
        Chat::new(self.clone())
    }

    /// Applies the same settings to another model. The level comes from the new name.
    ///
    /// # Errors
    /// Returns an error if no model has this name.
    pub fn with_model(&self, name: &str) -> Result<Self, Error> {
        let name = self.client.registry().parse(name)?;
        Ok(self.clone().change(|plan| plan.name = name))
    }

    /// Returns the model's name.
    pub fn name(&self) -> &ModelName {
        &self.plan.name
    }

    /// Returns facts about the model, if known: limits, prices, what it reads and writes.
    pub fn facts(&self) -> Option<&Facts> {
        self.client.registry().route(&self.plan.name).ok()?.facts
    }

    /// Returns the client that the model belongs to.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sets the system prompt. If a conversation has its own, that takes precedence.
    #[must_use]
    pub fn system(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.change(|plan| plan.request.system = vec![ikigai_core::Block::text(text)])
    }

    /// Sets how hard the model thinks: a [`Level`](crate::Level), or a full [`Thinking`]. It takes precedence over a
    /// level in the name.
    #[must_use]
    pub fn thinking(self, thinking: impl Into<Thinking>) -> Self {
        let thinking = thinking.into();
        self.change(|plan| plan.request.thinking = Some(thinking))
    }

    /// Sets a thinking budget in tokens. It takes precedence over the budget of a level.
    #[must_use]
    pub fn thinking_budget(self, tokens: i64) -> Self {
        self.change(|plan| {
            plan.request.thinking.get_or_insert_default().budget = Some(tokens);
        })
    }

    /// Reduces thinking budgets for long prompts: to at most 10,000 tokens above about 150,000.
    ///
    /// The length is estimated from the prompt's size.
    #[must_use]
    pub fn dynamic_budget(self) -> Self {
        self.change(|plan| plan.settings.dynamic_budget = true)
    }

    /// Leaves thinking out of the answer.
    #[must_use]
    pub fn hide_thinking(self) -> Self {
        self.change(|plan| {
            let thinking = plan.request.thinking.take().or(plan.name.level.map(Thinking::from));
            plan.request.thinking = Some(thinking.unwrap_or_default().hidden());
        })
    }

    /// Limits the length of the visible answer, in tokens.
    #[must_use]
    pub fn max_output_tokens(self, tokens: i64) -> Self {
        self.change(|plan| plan.request.max_output_tokens = Some(tokens))
    }

    /// Sets the randomness, 0 to 2.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.change(|plan| plan.request.temperature = Some(temperature))
    }

    /// Sets nucleus sampling, 0 to 1.
    #[must_use]
    pub fn top_p(self, share: f64) -> Self {
        self.change(|plan| plan.request.top_p = Some(share))
    }

    /// Makes answers repeatable, as far as the provider supports it.
    #[must_use]
    pub fn seed(self, seed: i64) -> Self {
        self.change(|plan| plan.request.seed = Some(seed))
    }

    /// Adds a stop sequence: a text at which the answer ends.
    #[must_use]
    pub fn stop_sequence(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.change(|plan| plan.request.stop.push(text))
    }

    /// Adds a tool: one with code from [`tool`](crate::tool()), or a bare [`Tool`](ikigai_core::Tool), whose calls the
    /// caller has to answer.
    #[must_use]
    pub fn tool(self, tool: impl Into<Callable>) -> Self {
        self.tools([tool])
    }

    /// Adds tools.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = impl Into<Callable>>) -> Self {
        self.change(|plan| {
            for tool in tools.into_iter().map(Into::into) {
                plan.request.tools.push(tool.definition().clone());
                plan.settings.tools.push(tool);
            }
        })
    }

    /// Lets the provider search the web when the model wants it to. [`Answer::citations`] and [`Answer::sources`] list
    /// the sources of the answer.
    ///
    /// Built-in tools with options are added like other tools:
    ///
    /// ```
    /// use ikigai::{BuiltIn, Model, WebSearch};
    ///
    /// fn with_news(model: Model) -> Model {
    ///     let mut search = WebSearch::default();
    ///     search.allowed_domains = vec!["nrk.no".to_owned()];
    ///     search.max_uses = Some(3);
    ///     model.tool(BuiltIn::WebSearch(search))
    /// }
    /// ```
    ///
    /// A provider without such a tool answers without it, with a [warning](Answer::warnings); with
    /// [`strict`](Model::strict) it is an error. A provider that pauses in the middle of its tools is asked to
    /// continue, up to [ten times](ikigai_core::pause::MOST_CONTINUATIONS) per answer, which then ends as if it had
    /// reached a token limit.
    #[must_use]
    pub fn web_search(self) -> Self {
        self.tool(Tool::web_search())
    }

    /// Lets the provider read the pages that the conversation names, in the same way as
    /// [`web_search`](Model::web_search).
    #[must_use]
    pub fn web_fetch(self) -> Self {
        self.tool(Tool::web_fetch())
    }

    /// Lets the provider run code that the model writes, on its own machines.
    #[must_use]
    pub fn code_execution(self) -> Self {
        self.tool(Tool::code_execution())
    }

    /// Lets the provider search these file stores of yours, named by their ids.
    #[must_use]
    pub fn file_search(self, stores: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tool(Tool::file_search(stores))
    }

    /// Removes all tools, for example to add others when a server's list has changed.
    #[must_use]
    pub fn without_tools(self) -> Self {
        self.change(|plan| {
            plan.request.tools.clear();
            plan.settings.tools.clear();
        })
    }

    /// Sets whether the model must use a tool. In a turn of several steps, this applies to the first one.
    #[must_use]
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.change(|plan| plan.request.tool_choice = Some(choice))
    }

    /// Limits the model to one tool call at a time.
    #[must_use]
    pub fn one_tool_at_a_time(self) -> Self {
        self.change(|plan| plan.request.parallel_tool_calls = Some(false))
    }

    /// Runs no tools: calls come back in the answer, and the caller supplies their results.
    #[must_use]
    pub fn manual_tools(self) -> Self {
        self.change(|plan| plan.settings.manual = true)
    }

    /// Limits how many requests one turn with tools may take. The default is 16.
    #[must_use]
    pub fn max_steps(self, steps: u32) -> Self {
        self.change(|plan| plan.settings.max_steps = steps.max(1))
    }

    /// Limits how long a tool without its own limit may take. The default is 5 minutes.
    #[must_use]
    pub fn tool_timeout(self, limit: Duration) -> Self {
        self.change(|plan| plan.settings.tool_timeout = Some(limit))
    }

    /// Asks for approval before each tool call, one call after the other.
    ///
    /// ```
    /// use ikigai::{Model, tools::Approval};
    ///
    /// fn careful(model: Model) -> Model {
    ///     model.approve(|call| async move {
    ///         if call.name == "delete" { Approval::Deny("ask me first".into()) } else { Approval::Allow }
    ///     })
    /// }
    /// ```
    #[must_use]
    pub fn approve<F, R>(self, ask: F) -> Self
    where
        F: Fn(ToolCall) -> R + Send + Sync + 'static,
        R: Future<Output = Approval> + Send + 'static,
    {
        self.change(|plan| plan.settings.approve = Some(Arc::new(move |call| Box::pin(ask(call)))))
    }

    /// Adds a model to ask if the ones before it cannot answer, for example because of a missing key, no capacity, or a
    /// prompt that is too long.
    ///
    /// # Errors
    /// Returns an error if no model has this name.
    pub fn fallback(self, name: &str) -> Result<Self, Error> {
        let name = self.client.registry().parse(name)?;
        Ok(self.change(|plan| plan.fallbacks.push(name)))
    }

    /// Sets whether and when failed requests are retried.
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        self.change(|plan| plan.settings.retry = retry)
    }

    /// Sets how long each phase of a request may take.
    #[must_use]
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.change(|plan| plan.settings.timeouts = timeouts)
    }

    /// Sets the key for this model. It takes precedence over all others.
    #[must_use]
    pub fn key(self, key: impl Into<Key>) -> Self {
        let key = key.into();
        self.change(|plan| plan.settings.key = Some(key))
    }

    /// Sets the provider's base URL for this model. It takes precedence over all others.
    #[must_use]
    pub fn base_url(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.change(|plan| plan.settings.base_url = Some(url))
    }

    /// Sets the dialect, if the provider speaks several: for example Chat Completions instead of Responses.
    #[must_use]
    pub fn dialect(self, dialect: Dialect) -> Self {
        self.change(|plan| plan.settings.dialect = Some(dialect))
    }

    /// Sets how many numbers a vector of [`embed`](Model::embed) has, if the model supports a choice.
    #[must_use]
    pub fn dimensions(self, count: u32) -> Self {
        self.change(|plan| plan.settings.dimensions = Some(count))
    }

    /// Adds a header to every request to this model.
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let pair = (name.into(), value.into());
        self.change(|plan| plan.settings.headers.push(pair))
    }

    /// Makes it an error, instead of a warning in the answer, if the provider cannot carry something.
    #[must_use]
    pub fn strict(self) -> Self {
        self.change(|plan| plan.settings.strict = true)
    }

    /// Changes anything else in the request, which is passed to the closure without its messages.
    ///
    /// ```
    /// # fn f(model: ikigai::Model) -> ikigai::Model {
    /// model.with(|request| request.presence_penalty = Some(0.5))
    /// # }
    /// ```
    #[must_use]
    pub fn with(self, change: impl FnOnce(&mut Request)) -> Self {
        self.change(|plan| {
            change(&mut plan.request);
            plan.request.messages.clear();
        })
    }

    /// Builds and checks the request for a conversation.
    pub(crate) fn request(&self, prompt: Prompt) -> Result<Request, Error> {
        prompt.validate()?;
        let mut request = self.plan.request.clone();
        if prompt.iter().any(|message| message.role == Role::System) {
            request.system.clear();
        }
        request = request.prompt(prompt);
        request.model.clone_from(&self.plan.name.id);
        request.thinking = self.plan.thinking(0);
        request.validate()?;
        Ok(request)
    }

    pub(crate) fn change(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(Arc::make_mut(&mut self.plan));
        self
    }
}
