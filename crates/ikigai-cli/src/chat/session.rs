//! A conversation as the chat holds it: what was said, who answers next, and where it is kept.

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

/// The setting that remembers which models were used, the last one first.
const RECENT: &str = "recent_models";
/// Under this name a conversation has the tools that the provider runs in it.
const PROVIDER_TOOLS: &str = "provider_tools";
/// So many are remembered.
const MOST_RECENT: usize = 8;

/// The model that answers next: its name with its level, and a budget that goes before the level's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) name: ModelName,
    pub(crate) budget: Option<i64>,
}

impl Choice {
    /// As the store keeps it.
    pub(crate) fn kept(&self) -> ModelChoice {
        let choice = ModelChoice::new(&self.name.provider, &self.name.id);
        match self.thinking() {
            Some(thinking) => choice.thinking(thinking),
            None => choice,
        }
    }

    /// As it was kept; none when no model was.
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

    /// The model of a client, thinking as chosen, with a system prompt and what the settings say for it.
    pub(crate) fn model(&self, client: &Client, system: Option<&str>, options: &ModelOptions) -> Model {
        let mut model = options.set(client.model_named(self.name.clone()).dynamic_budget());
        // A level that was asked for goes before the budget of the settings.
        let usual = options.thinking_budget.filter(|_| self.name.level == options.thinking);
        if let Some(budget) = self.budget.or(usual) {
            model = model.thinking_budget(budget);
        }
        match system {
            Some(system) => model.system(system),
            None => model,
        }
    }

    /// For the status line: `claude-sonnet-4-5/med`.
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

/// A request that was sent, and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    /// The model as it was then, with its tools and its system prompt.
    pub(crate) model: Model,
    /// All messages of the request.
    pub(crate) messages: Vec<Message>,
    /// The answer, or what there is of it.
    pub(crate) answer: Option<Response>,
}

/// A conversation as the chat holds it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) access: Access,
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    /// Where conversations are kept that are not incognito.
    kept: Arc<dyn Store>,
    pub(crate) client: Client,
    pub(crate) watch: Watch,
    pub(crate) notes: Notes,
    /// Absent until one is chosen.
    pub(crate) choice: Option<Choice>,
    pub(crate) system: Option<String>,
    /// Absent until something was said in it.
    pub(crate) conversation: Option<Conversation>,
    pub(crate) thread: Vec<Stored>,
    /// What it cost with all its branches, when that was last added up.
    pub(super) spent: Spent,
    /// Goes with the next message.
    pub(crate) attached: Vec<Block>,
    /// The names of the pictures among these.
    pub(crate) pictures: Vec<String>,
    /// A line that does not fit into the model's window, and goes out if it is sent again.
    pub(crate) insisted: Option<String>,
    /// The last request, to be looked at.
    pub(crate) sent: Option<Sent>,
    /// The message that the next one takes the place of, in a branch of its own.
    pub(crate) editing: Option<Stored>,
    /// What requests could not carry, as far as the person was told.
    pub(crate) told: HashSet<String>,
    /// What the line editor opens with.
    pub(crate) prefill: Option<String>,
    pub(crate) tooling: Tooling,
    pub(crate) show_thinking: bool,
    /// Whether a person sits at a prompt, where commands can be typed.
    pub(crate) is_chat: bool,
    /// What the conversation may cost.
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

    /// A model by its name, as a person writes it. Without a level it thinks as the settings say.
    pub(crate) fn parse(&self, name: &str) -> Result<Choice, Failure> {
        let names = Names::new(self.access.registry(), &self.settings.aliases);
        let mut name = if self.is_chat { names.in_chat() } else { names }.resolve(name)?;
        name.level = name.level.or_else(|| self.settings.options(&name).thinking);
        Ok(Choice::from(name))
    }

    /// The model for the first message: as asked for, else as the settings say, else a good one of a provider whose key is
    /// there.
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

    /// Thinks at a level where the chosen model has none.
    pub(crate) fn think(&mut self, level: Option<Level>) {
        if let Some(choice) = &mut self.choice {
            choice.name.level = choice.name.level.or(level);
        }
    }

    /// Goes on with another model, in this conversation.
    pub(crate) async fn switch(&mut self, choice: Choice) -> Result<(), Failure> {
        let kept = choice.kept();
        if let Some(conversation) = &self.conversation {
            let details = Details::default().model(kept.clone());
            self.conversation = Some(self.store.update(conversation.id, details).await?);
        }
        self.choice = Some(choice);
        Ok(())
    }

    /// The model as it is asked next.
    pub(crate) fn model(&self) -> Result<Model, Failure> {
        Ok(self.watch.with_tools(self.plain_model()?, self.tooling.callables()))
    }

    /// The same model without tools.
    pub(crate) fn plain_model(&self) -> Result<Model, Failure> {
        let Some(choice) = &self.choice else { return Err(self.no_model()) };
        Ok(choice.model(&self.client, self.system.as_deref(), &self.settings.options(&choice.name)))
    }

    /// Another system prompt, from the next message on.
    pub(crate) async fn set_system(&mut self, system: Option<String>) -> Result<(), Failure> {
        if let Some(conversation) = &self.conversation {
            let blocks: Vec<Block> = system.iter().map(Block::text).collect();
            self.conversation = Some(self.store.update(conversation.id, Details::default().system(blocks)).await?);
        }
        self.system = system;
        Ok(())
    }

    /// The tools that the provider runs, from the next message on.
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

    /// What is said when no model was chosen.
    pub(crate) fn no_model(&self) -> Failure {
        match self.access.default_model(|name| format!("/model {name}")) {
            Ok(_) => Failure::new("no model selected"),
            Err(failure) => failure,
        }
    }

    /// The conversation, made when it is first needed.
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

    /// Keeps what a person said, before anybody is asked.
    pub(crate) async fn say(&mut self, entry: impl Into<Entry>) -> Result<(), Failure> {
        if let Some(replaced) = self.editing.take() {
            self.branch(Point::Before(replaced.id), None).await?;
        }
        let id = self.conversation().await?;
        let stored = self.store.append(id, entry.into()).await?;
        self.thread.push(stored);
        self.refresh().await
    }

    /// Goes on in a branch of this conversation that has everything before a point. Nothing is lost: the other branch stays.
    pub(crate) async fn branch(&mut self, at: Point, choice: Option<&Choice>) -> Result<(), Failure> {
        let id = self.conversation().await?;
        let mut details = Details::default();
        if let Some(choice) = choice.or(self.choice.as_ref()) {
            details = details.model(choice.kept());
        }
        let fork = self.store.fork(id, at, details).await?;
        self.open(fork.id).await
    }

    /// Opens a conversation that was kept, with its model and its system prompt.
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

    /// A new conversation that is gone when the program is.
    pub(crate) async fn go_incognito(&mut self) -> Result<(), Failure> {
        self.fresh();
        self.store = ikigai_store::open(":memory:").await?;
        Ok(())
    }

    /// Nothing more is kept.
    pub(crate) async fn close(&self) -> Result<(), Failure> {
        if self.is_incognito() {
            self.store.close().await?;
        }
        Ok(self.kept.close().await?)
    }

    /// Is this conversation one that is not kept, although others are?
    pub(crate) fn is_incognito(&self) -> bool {
        !Arc::ptr_eq(&self.store, &self.kept)
    }

    /// A new conversation with the same model, kept as usual.
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

    /// Reads the conversation's line again: a title came, the time of the last message changed.
    pub(crate) async fn refresh(&mut self) -> Result<(), Failure> {
        if let Some(conversation) = &self.conversation {
            self.conversation = Some(self.store.conversation(conversation.id).await?);
        }
        Ok(())
    }

    /// What the model is sent.
    pub(crate) fn history(&self) -> Vec<Message> {
        self.sendable(&self.thread)
    }

    /// What the model would be sent with another message. Questions that failed just before it are left out, as they are
    /// once it is said.
    pub(crate) fn history_with(&self, message: Message) -> Vec<Message> {
        let end =
            self.thread.iter().rposition(|stored| record::failure(stored, None).is_none()).map_or(0, |last| last + 1);
        let mut history = self.sendable(self.thread.get(..end).unwrap_or_default());
        history.push(message);
        history
    }

    /// A thread in the form in which it can be sent.
    pub(crate) fn sendable(&self, thread: &[Stored]) -> Vec<Message> {
        match self.access.is_simulated() {
            true => record::sendable(&record::for_simulator(thread)),
            false => record::sendable(thread),
        }
    }

    /// What a turn with this history, which a key stops, is measured by.
    pub(crate) fn meter(&self, history: &[Message], stops: &'static str) -> Meter {
        let tools = self.tooling.callables();
        self.choice.as_ref().map_or_else(Meter::default, |choice| self.meter_of(choice, history, &tools, stops))
    }

    /// The same for another model, with these tools.
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

    /// The models that were used, the last one first.
    pub(crate) async fn recent(&self) -> Result<Vec<ModelName>, Failure> {
        let kept =
            self.store.setting(RECENT).await?.and_then(|value| serde_json::from_value::<Vec<ModelChoice>>(value).ok());
        Ok(kept.unwrap_or_default().iter().filter_map(Choice::restored).map(|choice| choice.name).collect())
    }

    /// Remembers that the model is used.
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

    /// What this conversation loses with another model: each in words, and as it is shown.
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
        // As it would be sent; that needs no key.
        let options = self.settings.options(&choice.name);
        let model = choice.model(&self.client, self.system.as_deref(), &options);
        let losses = model.preview(history.clone()).map(|preview| flow::losses(&preview.losses)).unwrap_or_default();
        for (words, count) in losses {
            let shown = if count == 1 { words.clone() } else { format!("{words} ({count} times)") };
            costs.push((words, shown));
        }
        costs
    }

    /// The last message of a role.
    pub(crate) fn last(&self, role: Role) -> Option<&Stored> {
        self.thread.iter().rev().find(|stored| stored.entry.message.role == role)
    }
}
