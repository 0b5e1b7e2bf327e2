//! The conversation in a chat: its messages, who answers next, and where it is saved.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use ikigai::{
    Block, BlockKind, Callable, Client, Level, Message, Modality, Model, ModelName, ProviderTool, Response, Role,
    Thinking,
};
use ikigai_store::{Conversation, ConversationId, Details, Entry, ModelChoice, Point, Spent, Store, Stored};

use super::meter::{BYTES_A_TOKEN, Meter, tokens_of};
use super::tooling::Tooling;
use crate::access::Access;
use crate::exit::Failure;
use crate::flow;
use crate::names::Names;
use crate::record;
use crate::screen::notice;
use crate::settings::{ModelOptions, Settings, ThinkingDisplay};
use crate::watch::{Notes, Watch};

/// The store's setting with the models that were used, the last one first.
const RECENT: &str = "recent_models";
/// The metadata key for the tools that the provider runs in a conversation.
const PROVIDER_TOOLS: &str = "provider_tools";
/// How many are remembered.
const MOST_RECENT: usize = 8;

/// The model that answers next: its name with its level, and a budget that takes precedence over the level's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) name: ModelName,
    pub(crate) budget: Option<i64>,
}

impl Choice {
    /// Converts it to the form that the store keeps.
    pub(crate) fn kept(&self) -> ModelChoice {
        let choice = ModelChoice::new(&self.name.provider, &self.name.id);
        match self.thinking() {
            Some(thinking) => choice.thinking(thinking),
            None => choice,
        }
    }

    /// Restores a stored choice; `None` if it has no model.
    pub(crate) fn restored(kept: &ModelChoice) -> Option<Self> {
        let mut name = ModelName::new(kept.provider.clone()?, kept.model.clone()?);
        name.level = kept.thinking.as_ref().and_then(|thinking| thinking.level);
        Some(Choice { name, budget: kept.thinking.as_ref().and_then(|thinking| thinking.budget) })
    }

    pub(crate) fn thinking(&self) -> Option<Thinking> {
        let mut thinking = Thinking::default();
        (thinking.level, thinking.budget) = (self.name.level, self.budget);
        (thinking != Thinking::default()).then_some(thinking)
    }

    /// Returns a client's model, with this thinking, a system prompt and the options from the settings.
    pub(crate) fn model(&self, client: &Client, system: Option<&str>, options: &ModelOptions) -> Model {
        let mut model = options.set(client.model_named(self.name.clone()).dynamic_budget());
        // A requested level takes precedence over the budget in the settings.
        let usual = options.thinking_budget.filter(|_| self.name.level == options.thinking);
        if let Some(budget) = self.budget.or(usual) {
            model = model.thinking_budget(budget);
        }
        match system {
            Some(system) => model.system(system),
            None => model,
        }
    }

    /// Returns the short form for the status line: `claude-sonnet-4-5/med`.
    pub(crate) fn short(&self) -> String {
        match self.name.level {
            Some(level) => format!("{}/{}", self.name.id, level.as_str()),
            None => self.name.id.clone(),
        }
    }
}

impl From<ModelName> for Choice {
    fn from(name: ModelName) -> Self {
        Choice { name, budget: None }
    }
}

/// A request that was sent, and its answer.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    /// The model at that time, with its tools and its system prompt.
    pub(crate) model: Model,
    /// All messages of the request.
    pub(crate) messages: Vec<Message>,
    /// The answer, or the part that arrived.
    pub(crate) answer: Option<Response>,
}

/// The conversation in a chat.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) access: Access,
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    /// Where conversations are saved, unless they are incognito.
    kept: Arc<dyn Store>,
    pub(crate) client: Client,
    pub(crate) watch: Watch,
    pub(crate) notes: Notes,
    /// Absent until one is chosen.
    pub(crate) choice: Option<Choice>,
    pub(crate) system: Option<String>,
    /// Absent until something has been said in it.
    pub(crate) conversation: Option<Conversation>,
    pub(crate) thread: Vec<Stored>,
    /// The cost with all its branches, as last added up.
    pub(super) spent: Spent,
    /// Sent with the next message.
    pub(crate) attached: Vec<Block>,
    /// The names of the pictures among these.
    pub(crate) pictures: Vec<String>,
    /// A line that does not fit into the model's window, and is sent only if it is entered again.
    pub(crate) insisted: Option<String>,
    /// The last request, for inspection.
    pub(crate) sent: Option<Sent>,
    /// The message that the next one replaces, in a new branch.
    pub(crate) editing: Option<Stored>,
    /// What requests could not carry, as far as the user has been told.
    pub(crate) told: HashSet<String>,
    /// The text on the line when the line editor opens.
    pub(crate) prefill: Option<String>,
    pub(crate) tooling: Tooling,
    pub(crate) show_thinking: bool,
    /// Whether a person is at a prompt, where commands can be typed.
    pub(crate) is_chat: bool,
    /// The cost limit of the conversation.
    pub(crate) max_cost: Option<ikigai::Money>,
    /// The working folder.
    pub(crate) folder: PathBuf,
}

impl Session {
    pub(crate) fn new(
        access: Access,
        settings: Settings,
        store: Arc<dyn Store>,
        tooling: Tooling,
        folder: PathBuf,
    ) -> Result<Self, Failure> {
        let (watch, notes) = Watch::new();
        let client = access.client(watch.clone())?;
        Ok(Session {
            client,
            watch,
            notes,
            choice: None,
            system: settings.system.clone(),
            conversation: None,
            thread: Vec::new(),
            spent: Spent::default(),
            attached: Vec::new(),
            pictures: Vec::new(),
            insisted: None,
            sent: None,
            editing: None,
            told: HashSet::new(),
            prefill: None,
            tooling,
            show_thinking: settings.thinking_display == ThinkingDisplay::Show,
            is_chat: false,
            max_cost: None,
            access,
            settings,
            kept: Arc::clone(&store),
            store,
            folder,
        })
    }

    /// Returns a model by a name that a person typed. Without a level, it thinks as the settings say.
    pub(crate) fn parse(&self, name: &str) -> Result<Choice, Failure> {
        let names = Names::new(self.access.registry(), &self.settings.aliases);
        let mut name = if self.is_chat { names.in_chat() } else { names }.resolve(name)?;
        name.level = name.level.or_else(|| self.settings.options(&name).thinking);
        Ok(Choice::from(name))
    }

    /// Chooses the model for the first message: the requested one, or that in the settings, or a good one of a provider
    /// that has a key.
    pub(crate) fn choose_first(&mut self, asked: Option<&str>) -> Result<(), Failure> {
        if let Some(name) = asked.or(self.settings.model.as_deref()) {
            self.choice = Some(self.parse(name)?);
            return Ok(());
        }
        if let Ok(name) = self.access.default_model(str::to_owned) {
            self.choice = Some(self.parse(&name)?);
        }
        Ok(())
    }

    /// Sets the thinking level, unless the chosen model has one.
    pub(crate) fn think(&mut self, level: Option<Level>) {
        if let Some(choice) = &mut self.choice {
            choice.name.level = choice.name.level.or(level);
        }
    }

    /// Switches to another model in this conversation.
    pub(crate) async fn switch(&mut self, choice: Choice) -> Result<(), Failure> {
        let kept = choice.kept();
        if let Some(conversation) = &self.conversation {
            let details = Details::default().model(kept.clone());
            self.conversation = Some(self.store.update(conversation.id, details).await?);
        }
        self.choice = Some(choice);
        Ok(())
    }

    /// Returns the model as it is asked next.
    pub(crate) fn model(&self) -> Result<Model, Failure> {
        Ok(self.watch.with_tools(self.plain_model()?, self.tooling.callables()))
    }

    /// Returns the model without tools.
    pub(crate) fn plain_model(&self) -> Result<Model, Failure> {
        let Some(choice) = &self.choice else { return Err(self.no_model()) };
        Ok(choice.model(&self.client, self.system.as_deref(), &self.settings.options(&choice.name)))
    }

    /// Sets another system prompt, from the next message on.
    pub(crate) async fn set_system(&mut self, system: Option<String>) -> Result<(), Failure> {
        if let Some(conversation) = &self.conversation {
            let blocks: Vec<Block> = system.iter().map(Block::text).collect();
            self.conversation = Some(self.store.update(conversation.id, Details::default().system(blocks)).await?);
        }
        self.system = system;
        Ok(())
    }

    /// Sets the tools that the provider runs, from the next message on.
    pub(crate) async fn provide(&mut self, tools: BTreeSet<ProviderTool>) -> Result<(), Failure> {
        if let Some(conversation) = &self.conversation {
            let mut metadata = conversation.metadata.clone();
            metadata.insert(PROVIDER_TOOLS.to_owned(), serde_json::json!(tools));
            let details = Details::default().metadata(metadata);
            self.conversation = Some(self.store.update(conversation.id, details).await?);
        }
        self.tooling.provide(tools);
        Ok(())
    }

    /// Returns the error if no model was chosen.
    pub(crate) fn no_model(&self) -> Failure {
        match self.access.default_model(|name| format!("/model {name}")) {
            Ok(_) => Failure::new("no model selected"),
            Err(failure) => failure,
        }
    }

    /// Returns the conversation, which is created when first needed.
    pub(crate) async fn conversation(&mut self) -> Result<ConversationId, Failure> {
        if let Some(conversation) = &self.conversation {
            return Ok(conversation.id);
        }
        let mut details = Details::default();
        if let Some(choice) = &self.choice {
            details = details.model(choice.kept());
        }
        if let Some(system) = &self.system {
            details = details.system(system.as_str());
        }
        if !self.tooling.provided().is_empty() {
            let tools = (PROVIDER_TOOLS.to_owned(), serde_json::json!(self.tooling.provided()));
            details = details.metadata([tools].into_iter().collect());
        }
        let conversation = self.store.create(details).await?;
        let id = conversation.id;
        self.conversation = Some(conversation);
        Ok(id)
    }

    /// Saves a message of the user before any model is asked.
    pub(crate) async fn say(&mut self, entry: impl Into<Entry>) -> Result<(), Failure> {
        if let Some(replaced) = self.editing.take() {
            self.branch(Point::Before(replaced.id), None).await?;
        }
        let id = self.conversation().await?;
        let stored = self.store.append(id, entry.into()).await?;
        self.thread.push(stored);
        self.refresh().await
    }

    /// Continues in a branch that has everything before a point. Nothing is lost: the other branch stays.
    pub(crate) async fn branch(&mut self, at: Point, choice: Option<&Choice>) -> Result<(), Failure> {
        let id = self.conversation().await?;
        let mut details = Details::default();
        if let Some(choice) = choice.or(self.choice.as_ref()) {
            details = details.model(choice.kept());
        }
        let fork = self.store.fork(id, at, details).await?;
        self.open(fork.id).await
    }

    /// Opens a saved conversation, with its model and its system prompt.
    pub(crate) async fn open(&mut self, id: ConversationId) -> Result<(), Failure> {
        self.store.settle(id).await?;
        let conversation = self.store.conversation(id).await?;
        self.thread = self.store.thread(id).await?;
        if let Some(choice) = Choice::restored(&conversation.model) {
            self.choice = Some(choice);
        }
        let system: Vec<&str> = conversation.system.iter().filter_map(Block::as_text).collect();
        self.system = (!system.is_empty()).then(|| system.join("\n\n"));
        let tools =
            conversation.metadata.get(PROVIDER_TOOLS).cloned().and_then(|tools| serde_json::from_value(tools).ok());
        self.tooling.provide(tools.unwrap_or_default());
        self.conversation = Some(conversation);
        self.editing = None;
        Ok(())
    }

    /// Starts a new conversation that is not saved.
    pub(crate) async fn go_incognito(&mut self) -> Result<(), Failure> {
        self.fresh();
        self.store = ikigai_store::open(":memory:").await?;
        Ok(())
    }

    /// Closes the store.
    pub(crate) async fn close(&self) -> Result<(), Failure> {
        if self.is_incognito() {
            self.store.close().await?;
        }
        Ok(self.kept.close().await?)
    }

    /// Whether this conversation is not saved although others are.
    pub(crate) fn is_incognito(&self) -> bool {
        !Arc::ptr_eq(&self.store, &self.kept)
    }

    /// Starts a new conversation with the same model, saved as usual.
    pub(crate) fn fresh(&mut self) {
        self.store = Arc::clone(&self.kept);
        self.conversation = None;
        self.thread.clear();
        self.attached.clear();
        self.pictures.clear();
        self.insisted = None;
        self.sent = None;
        self.editing = None;
        self.system = self.settings.system.clone();
        self.tooling.provide(BTreeSet::new());
    }

    /// Reads the conversation's row again, because its title or the time of its last message may have changed.
    pub(crate) async fn refresh(&mut self) -> Result<(), Failure> {
        if let Some(conversation) = &self.conversation {
            self.conversation = Some(self.store.conversation(conversation.id).await?);
        }
        Ok(())
    }

    /// Returns the messages that are sent to the model.
    pub(crate) fn history(&self) -> Vec<Message> {
        self.sendable(&self.thread)
    }

    /// Returns the messages that would be sent with another message. Failed questions just before it are left out, as
    /// they will be once it is sent.
    pub(crate) fn history_with(&self, message: Message) -> Vec<Message> {
        let end =
            self.thread.iter().rposition(|stored| record::failure(stored, None).is_none()).map_or(0, |last| last + 1);
        let mut history = self.sendable(self.thread.get(..end).unwrap_or_default());
        history.push(message);
        history
    }

    /// Converts a thread to messages that can be sent.
    pub(crate) fn sendable(&self, thread: &[Stored]) -> Vec<Message> {
        match self.access.is_simulated() {
            true => record::sendable(&record::for_simulator(thread)),
            false => record::sendable(thread),
        }
    }

    /// Returns a meter for a turn with this history that a key stops.
    pub(crate) fn meter(&self, history: &[Message], stops: &'static str) -> Meter {
        let tools = self.tooling.callables();
        self.choice.as_ref().map_or_else(Meter::default, |choice| self.meter_of(choice, history, &tools, stops))
    }

    /// Like `meter`, for another model, with these tools.
    pub(crate) fn meter_of(
        &self,
        choice: &Choice,
        history: &[Message],
        tools: &[Callable],
        stops: &'static str,
    ) -> Meter {
        let route = self.access.registry().route(&choice.name).ok();
        let facts = route.and_then(|route| route.facts.cloned()).filter(|_| !self.access.is_simulated());
        let system = self.system.as_deref().map_or(0, str::len) as u64;
        let tools = tools.iter().filter_map(|tool| serde_json::to_string(tool.definition()).ok());
        let tools: u64 = tools.map(|definition| definition.len() as u64).sum();
        let said: u64 = history.iter().map(tokens_of).sum();
        Meter::new(choice.short(), facts, said + (system + tools) / BYTES_A_TOKEN, stops)
    }

    /// Returns the models that were used, the last one first.
    pub(crate) async fn recent(&self) -> Result<Vec<ModelName>, Failure> {
        let kept =
            self.store.setting(RECENT).await?.and_then(|value| serde_json::from_value::<Vec<ModelChoice>>(value).ok());
        Ok(kept.unwrap_or_default().iter().filter_map(Choice::restored).map(|choice| choice.name).collect())
    }

    /// Remembers that the model was used.
    pub(crate) async fn remember_model(&self) -> Result<(), Failure> {
        let Some(choice) = &self.choice else { return Ok(()) };
        let mut recent = self.recent().await?;
        if recent.first() == Some(&choice.name) {
            return Ok(());
        }
        recent.retain(|name| *name != choice.name);
        recent.insert(0, choice.name.clone());
        recent.truncate(MOST_RECENT);
        let kept: Vec<ModelChoice> = recent.into_iter().map(|name| Choice::from(name).kept()).collect();
        if let Ok(value) = serde_json::to_value(&kept) {
            self.store.set(RECENT, value).await?;
        }
        Ok(())
    }

    /// Returns what this conversation would lose with another model: each loss in words, and as shown.
    pub(crate) fn switch_costs(&self, choice: &Choice) -> Vec<(String, String)> {
        if self.thread.is_empty() {
            return Vec::new();
        }
        let history = self.history();
        let facts = self.access.registry().route(&choice.name).ok().and_then(|route| route.facts);
        let mut costs = Vec::new();
        let mut add = |words: String| costs.push((words.clone(), words));
        if let (Some((used, _)), Some(window)) = (self.context_used(), facts.and_then(|facts| facts.context))
            && used > u64::from(window)
        {
            let (used, window) = (notice::count(used), notice::count(window.into()));
            add(format!("The conversation takes {used} tokens; {} has room for {window}.", choice.name.id));
        }
        let blocks = history.iter().flat_map(|message| &message.content);
        let pictures = blocks.filter(|block| block.kind() == BlockKind::Image).count();
        if pictures > 0 && facts.is_some_and(|facts| !facts.input.is_empty() && !facts.input.contains(&Modality::Image))
        {
            let names: Vec<&str> = self.thread.iter().flat_map(record::pictures).take(pictures).collect();
            let which = match (names.as_slice(), pictures - names.len()) {
                ([], 1) => "the picture".to_owned(),
                ([], several) => format!("the {several} pictures"),
                (names, 0) => names.join(", "),
                (names, 1) => format!("{} and another picture", names.join(", ")),
                (names, others) => format!("{} and {others} other pictures", names.join(", ")),
            };
            add(format!("{} cannot see {which} in this conversation.", choice.name.id));
        }
        // As it would be sent; this needs no key.
        let options = self.settings.options(&choice.name);
        let model = choice.model(&self.client, self.system.as_deref(), &options);
        let losses = model.preview(history.clone()).map(|preview| flow::losses(&preview.losses)).unwrap_or_default();
        for (words, count) in losses {
            let shown = if count == 1 { words.clone() } else { format!("{words} ({count} times)") };
            costs.push((words, shown));
        }
        costs
    }

    /// Returns the last message of a role.
    pub(crate) fn last(&self, role: Role) -> Option<&Stored> {
        self.thread.iter().rev().find(|stored| stored.entry.message.role == role)
    }
}
