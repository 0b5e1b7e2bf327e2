//! A model, and how it is asked.

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

/// A model, and how it is asked. A value: every method gives a new one, clones are cheap, and one can be used for any
/// number of questions at once.
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

/// What a model is asked with, apart from the conversation.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) name: ModelName,
    pub(crate) fallbacks: Vec<ModelName>,
    /// The request without its messages.
    pub(crate) request: Request,
    pub(crate) settings: Settings,
}

impl Plan {
    /// The models to be asked, in order; the first one when there is none at a place.
    pub(crate) fn candidate(&self, place: usize) -> &ModelName {
        place.checked_sub(1).and_then(|place| self.fallbacks.get(place)).unwrap_or(&self.name)
    }

    /// How hard a candidate shall think: as its own name says, or else the first one's; what was asked for by itself
    /// goes before both.
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

    /// Asks, and waits for the whole answer. Tools that have code are run until the model is done.
    ///
    /// The prompt is a text, a message, a list of messages or a whole [`Prompt`].
    ///
    /// # Errors
    /// When the request is not valid (nothing is sent then), or there is no answer after all tries.
    pub async fn ask(&self, prompt: impl Into<Prompt>) -> Result<Answer, Error> {
        Turn::begin(self, prompt.into())?.run().await
    }

    /// Asks for the answer as it is written. Tools that have code are run in between.
    ///
    /// It is there as soon as the first words are; dropping it stops the model.
    ///
    /// # Errors
    /// When the request is not valid, or the answer does not even begin after all tries.
    pub async fn stream(&self, prompt: impl Into<Prompt>) -> Result<AnswerStream, Error> {
        AnswerStream::open(Turn::begin(self, prompt.into())?).await
    }

    /// A conversation with this model.
    pub fn chat(&self) -> Chat {
        Chat::new(self.clone())
    }

    /// The same settings for another model. A level is that of the new name.
    ///
    /// # Errors
    /// When the name means no model.
    pub fn with_model(&self, name: &str) -> Result<Self, Error> {
        let name = self.client.registry().parse(name)?;
        Ok(self.clone().change(|plan| plan.name = name))
    }

    /// The model's name.
    pub fn name(&self) -> &ModelName {
        &self.plan.name
    }

    /// What is known about the model: limits, prices, what it reads and writes.
    pub fn facts(&self) -> Option<&Facts> {
        self.client.registry().route(&self.plan.name).ok()?.facts
    }

    /// The client it belongs to.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The system prompt. A conversation that brings its own goes before it.
    #[must_use]
    pub fn system(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.change(|plan| plan.request.system = vec![ikigai_core::Block::text(text)])
    }

    /// How hard the model shall think: a [`Level`](crate::Level), or a whole [`Thinking`]. It goes before a level in the name.
    #[must_use]
    pub fn thinking(self, thinking: impl Into<Thinking>) -> Self {
        let thinking = thinking.into();
        self.change(|plan| plan.request.thinking = Some(thinking))
    }

    /// A thinking budget in tokens. It goes before the one that a level comes to.
    #[must_use]
    pub fn thinking_budget(self, tokens: i64) -> Self {
        self.change(|plan| {
            plan.request.thinking.get_or_insert_default().budget = Some(tokens);
        })
    }

    /// Long prompts make thinking budgets smaller: above about 150,000 tokens at most 10,000.
    ///
    /// The length is estimated from the prompt's size.
    #[must_use]
    pub fn dynamic_budget(self) -> Self {
        self.change(|plan| plan.settings.dynamic_budget = true)
    }

    /// Without the thinking in the answer.
    #[must_use]
    pub fn hide_thinking(self) -> Self {
        self.change(|plan| {
            let thinking = plan.request.thinking.take().or(plan.name.level.map(Thinking::from));
            plan.request.thinking = Some(thinking.unwrap_or_default().hidden());
        })
    }

    /// Room for the visible answer, in tokens.
    #[must_use]
    pub fn max_output_tokens(self, tokens: i64) -> Self {
        self.change(|plan| plan.request.max_output_tokens = Some(tokens))
    }

    /// Randomness, 0 to 2.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.change(|plan| plan.request.temperature = Some(temperature))
    }

    /// Nucleus sampling, 0 to 1.
    #[must_use]
    pub fn top_p(self, share: f64) -> Self {
        self.change(|plan| plan.request.top_p = Some(share))
    }

    /// For answers that repeat, as far as the provider can.
    #[must_use]
    pub fn seed(self, seed: i64) -> Self {
        self.change(|plan| plan.request.seed = Some(seed))
    }

    /// Adds a text that ends the answer where the model would write it.
    #[must_use]
    pub fn stop_sequence(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.change(|plan| plan.request.stop.push(text))
    }

    /// Adds a tool: one with code from [`tool`](crate::tool()), or a bare [`Tool`](ikigai_core::Tool), whose calls are the caller's to answer.
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

    /// The provider searches the web by itself, when the model wants it to. What the answer rests on is in
    /// [`Answer::citations`] and [`Answer::sources`].
    ///
    /// The built-in tools with options are added as other tools are:
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
    /// A provider without such a tool answers without it, which is among the [`warnings`](Answer::warnings); with
    /// [`strict`](Model::strict) it is an error. A provider that pauses in the middle of its tools is asked to go on, up to
    /// [ten times](ikigai_core::pause::MOST_CONTINUATIONS) for one answer, which then ends as at a token limit.
    #[must_use]
    pub fn web_search(self) -> Self {
        self.tool(Tool::web_search())
    }

    /// The provider reads the pages that the conversation names, as [`web_search`](Model::web_search) searches.
    #[must_use]
    pub fn web_fetch(self) -> Self {
        self.tool(Tool::web_fetch())
    }

    /// The provider runs code that the model writes, on its own machines.
    #[must_use]
    pub fn code_execution(self) -> Self {
        self.tool(Tool::code_execution())
    }

    /// The provider searches these stores of files that it holds, by their ids.
    #[must_use]
    pub fn file_search(self, stores: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tool(Tool::file_search(stores))
    }

    /// Without the tools it has: before others are added, when a server's list has changed.
    #[must_use]
    pub fn without_tools(self) -> Self {
        self.change(|plan| {
            plan.request.tools.clear();
            plan.settings.tools.clear();
        })
    }

    /// Must the model use a tool? In a turn of several steps this holds for the first one.
    #[must_use]
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.change(|plan| plan.request.tool_choice = Some(choice))
    }

    /// One call at a time.
    #[must_use]
    pub fn one_tool_at_a_time(self) -> Self {
        self.change(|plan| plan.request.parallel_tool_calls = Some(false))
    }

    /// No tool is run: calls come back in the answer, and the caller gives their results.
    #[must_use]
    pub fn manual_tools(self) -> Self {
        self.change(|plan| plan.settings.manual = true)
    }

    /// How many requests one turn with tools may take: 16 unless said otherwise.
    #[must_use]
    pub fn max_steps(self, steps: u32) -> Self {
        self.change(|plan| plan.settings.max_steps = steps.max(1))
    }

    /// How long a tool may take that has no limit of its own: 5 minutes unless said otherwise.
    #[must_use]
    pub fn tool_timeout(self, limit: Duration) -> Self {
        self.change(|plan| plan.settings.tool_timeout = Some(limit))
    }

    /// Asks before each call of a tool, one after the other.
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

    /// Adds a model that is asked when the ones before it cannot answer: no key, no capacity, too long a prompt.
    ///
    /// # Errors
    /// When the name means no model.
    pub fn fallback(self, name: &str) -> Result<Self, Error> {
        let name = self.client.registry().parse(name)?;
        Ok(self.change(|plan| plan.fallbacks.push(name)))
    }

    /// Whether requests that failed are tried again, and when.
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        self.change(|plan| plan.settings.retry = retry)
    }

    /// How long each phase of a request may take.
    #[must_use]
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.change(|plan| plan.settings.timeouts = timeouts)
    }

    /// The key for this model, before all others.
    #[must_use]
    pub fn key(self, key: impl Into<Key>) -> Self {
        let key = key.into();
        self.change(|plan| plan.settings.key = Some(key))
    }

    /// The provider's base URL for this model, before all others.
    #[must_use]
    pub fn base_url(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.change(|plan| plan.settings.base_url = Some(url))
    }

    /// The dialect to speak, where the provider speaks several: Chat Completions in place of Responses.
    #[must_use]
    pub fn dialect(self, dialect: Dialect) -> Self {
        self.change(|plan| plan.settings.dialect = Some(dialect))
    }

    /// How many numbers a vector of [`embed`](Model::embed) shall have, where the model leaves the choice.
    #[must_use]
    pub fn dimensions(self, count: u32) -> Self {
        self.change(|plan| plan.settings.dimensions = Some(count))
    }

    /// A header for every request to this model.
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let pair = (name.into(), value.into());
        self.change(|plan| plan.settings.headers.push(pair))
    }

    /// What the provider cannot carry is an error, in place of a warning with the answer.
    #[must_use]
    pub fn strict(self) -> Self {
        self.change(|plan| plan.settings.strict = true)
    }

    /// Everything else that a request can say: the request without its messages, to be changed.
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

    /// The request for a conversation, checked.
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
