//! `ikigai` without a command, or `ikigai chat`: a conversation in the terminal.

mod account;
mod agents;
mod ceiling;
mod clipboard;
mod commands;
mod complete;
mod dropped;
mod editor;
mod family;
mod keys;
mod mcp;
mod meter;
mod models;
mod paste;
mod picker;
mod question;
mod quiet;
mod say;
mod session;
mod shell;
mod tooling;
mod transcript;
mod turn;
mod typed_names;
mod view;

use std::io::IsTerminal as _;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use clap::Args;
use ikigai_store::ConversationId;

use self::agents::Agents;
use self::commands::Next;
use self::complete::Completion;
use self::editor::{Editor, REMEMBERED, Typed};
use self::keys::Keys;
pub(crate) use self::mcp::Servers;
pub(crate) use self::meter::{Meter, sum};
use self::quiet::Quiet;

pub(crate) use self::session::{Choice, Session};
pub(crate) use self::tooling::Tooling;
use self::turn::{Ended, Outcome};
pub(crate) use self::typed_names::ModelNames;
pub(crate) use self::view::View;
use crate::access::{Access, SIMULATOR, Simulate};
use crate::exit::Failure;
use crate::output::Out;
use crate::project::Project;
use crate::screen::{Look, Region, Size, notice};
use crate::{conversations, settings, tools, trust};

/// Chat with a model
///
/// Use any model, and switch in the middle of the conversation: /model NAME/LEVEL. Conversations are saved and can be
/// continued later. `/help` lists the commands.
#[derive(Debug, Clone, Default, Args)]
#[command(after_long_help = AFTER_LONG_HELP)]
pub(crate) struct Chat {
    /// The first question
    #[arg(value_name = "QUESTION")]
    question: Vec<String>,
    /// The model to start with: [PROVIDER:]MODEL[/LEVEL]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<String>,
    /// The system prompt
    #[arg(short, long, value_name = "TEXT")]
    system: Option<String>,
    /// A role from the settings: its prompt, model and tools
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
    /// Continue the last conversation
    #[arg(short, long = "continue", conflicts_with = "resume")]
    continue_last: bool,
    /// Continue a conversation, by the beginning or the end of its id
    #[arg(short, long, value_name = "ID")]
    resume: Option<String>,
    /// Do not save this conversation
    #[arg(long)]
    no_save: bool,
    /// Talk to the built-in simulator, not to a model; `-m sim` does the same
    #[arg(long)]
    sim: bool,
    /// Turn tools off
    #[arg(long)]
    no_tools: bool,
    /// The most that the conversation may cost, in dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<ikigai::Money>,
    /// Do not use AGENTS.md and .ikigai.toml of the working folder
    #[arg(long)]
    no_project: bool,
    /// Another folder or file that tools may use
    #[arg(long = "allow-path", value_name = "PATH")]
    allowed: Vec<std::path::PathBuf>,
}

/// How long ending may take.
pub(crate) const ENDING: Duration = Duration::from_secs(1);

const AFTER_LONG_HELP: &str = "\
Examples:
  ikigai -m claude-sonnet-4-5/med
  ikigai --continue
      The last conversation, with its model and its level.
  ikigai --no-save --no-tools

Keys:
  Enter sends. Alt-Enter, Ctrl-J or a \\ at the end of the line starts a new line, and so does \"\"\".
  Tab completes commands, models, levels, and files after @. Ctrl-R searches your earlier lines.
  Esc or Ctrl-C stops the answer and keeps what has arrived. Ctrl-D leaves, and so does Ctrl-C twice on an empty line.
  Ctrl-Z suspends.
  Ctrl-T opens the last thinking. Ctrl-G opens your editor. Ctrl-V attaches the picture in the clipboard.";

/// After an answer that took this long, the user may be looking elsewhere.
const LONG: Duration = Duration::from_secs(10);

/// The chat, while it runs.
pub(crate) struct Talk {
    session: Session,
    look: Look,
    region: Region,
    editor: Editor,
    agents: Agents,
    servers: Servers,
    /// Conversations as last listed, for choosing by number.
    listed: Vec<ConversationId>,
    /// Lines that were typed while an answer was being written.
    queued: std::collections::VecDeque<String>,
}

pub(crate) fn run(chat: Chat, out: &mut Out) -> Result<(), Failure> {
    // A single word that nearly matches a command was meant as one, and is not sent to a model.
    if let [word] = chat.question.as_slice()
        && let Some(command) = crate::cli::nearest_command(word)
    {
        return Err(
            Failure::usage(format!("unknown command `{word}`")).hint(format!("Did you mean `ikigai {command}`?"))
        );
    }
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Failure::usage("a chat needs a terminal").hint("For pipes and scripts: ikigai ask \"…\""));
    }
    tools::close_memory();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let project = if chat.no_project { None } else { trust::settle(out)? };
    let region = Region::detect(true, |name| std::env::var(name).ok());
    // A print-only terminal is left unchanged, and works line by line.
    let quiet = (region == Region::Live).then(Quiet::begin);
    let outcome = runtime.block_on(converse(chat, region, project.unwrap_or_default(), out));
    drop(quiet);
    // Running agents are not waited for, but programs that were started are ended.
    runtime.shutdown_timeout(ENDING);
    outcome
}

async fn converse(mut chat: Chat, region: Region, project: Project, out: &mut Out) -> Result<(), Failure> {
    let (settings, warnings) = settings::load()?;
    for warning in warnings {
        out.warning(&warning.to_string());
    }
    let brought = project.found();
    let settings = project.over(settings);
    let role = chat.role.as_deref().map(|name| settings.role(name).cloned()).transpose()?.unwrap_or_default();
    chat.model = chat.model.take().or_else(|| role.model());
    chat.system = chat.system.take().or_else(|| chat.role.as_ref().map(|_| role.prompt.clone()));
    let (simulate, model) = Simulate::asked(chat.sim, chat.model.as_deref(), Simulate::WithoutKey);
    chat.model = model;
    let access = Access::open(simulate, out).await?;
    let store = conversations::open_or_hint(&settings, chat.no_save).await?;
    let folder =
        std::env::current_dir().map_err(|error| Failure::new(format!("cannot use the working folder: {error}")))?;
    let tooling = Tooling::new(&folder, &chat.allowed, role.tools.unwrap_or(settings.tools) && !chat.no_tools)?;
    let configured = if tooling.is_on() { settings.mcp.clone() } else { Default::default() };
    let mut session = Session::new(access, settings, Arc::clone(&store), tooling, folder.clone())?;
    (session.is_chat, session.max_cost) = (true, chat.max_cost);
    let resumed = begin(&mut session, &chat).await?;
    session.think(role.thinking.filter(|_| role.model.is_none()));

    let size = size();
    let look = Look::of_stdout(size.columns);
    let look = if region == Region::Live { look.with_links(|name| std::env::var(name).ok()) } else { look };
    let remembered = store.prompts(REMEMBERED).await?;
    let pick = Arc::new(AtomicBool::new(false));
    let completion = Completion::new(session.access.registry().clone(), &session.settings, folder, Arc::clone(&pick));
    let editor = Editor::new(look, region, session.settings.keys, remembered, completion, pick)?;
    let agents = Agents::new(session.access.clone(), editor.printer());
    let printer = editor.printer();
    let servers = Servers::begin(configured, move |words| tell(&words, look, region, &printer));
    let mut talk =
        Talk { session, look, region, editor, agents, servers, listed: Vec::new(), queued: Default::default() };
    talk.greet(resumed, &brought)?;
    talk.queued.extend((!chat.question.is_empty()).then(|| chat.question.join(" ")));
    let outcome = talk.talk().await;
    if outcome.is_ok() {
        talk.part()?;
    }
    talk.session.tooling.borrow(Vec::new());
    talk.servers.end().await;
    let closed = talk.session.close().await;
    outcome?;
    closed
}

/// Reports an error in the background, above the line that is being typed or before the next one.
fn tell(words: &str, look: Look, region: Region, printer: &SyncSender<String>) {
    let text = notice::error(words, None, look);
    match region {
        // Dropped if the queue of notices is full, which has to be read first.
        Region::Live => drop(printer.try_send(text.trim_end().to_owned())),
        // If the terminal is gone, there is nobody to tell.
        Region::Plain => drop(std::io::stdout().lock().write_all(text.as_bytes())),
    }
}

/// Begins the chat. Returns whether it continues a saved conversation.
async fn begin(session: &mut Session, chat: &Chat) -> Result<bool, Failure> {
    let id = match (&chat.resume, chat.continue_last) {
        (Some(part), _) => Some(conversations::find(&*session.store, part).await?),
        (None, true) => {
            let last = session.store.latest().await?;
            Some(last.ok_or_else(|| Failure::new("there are no conversations yet"))?.id)
        }
        (None, false) => None,
    };
    match id {
        Some(id) => {
            session.open(id).await?;
            if let Some(name) = &chat.model {
                let choice = session.parse(name)?;
                session.switch(choice).await?;
            } else if session.choice.is_none() {
                session.choose_first(None)?;
            }
        }
        None => session.choose_first(chat.model.as_deref())?,
    }
    if let Some(system) = &chat.system {
        session.set_system(Some(system.clone())).await?;
    }
    Ok(id.is_some())
}

impl Talk {
    async fn talk(&mut self) -> Result<(), Failure> {
        // Ctrl-C on an empty line leaves if pressed twice in a row.
        let mut interrupted = false;
        loop {
            self.session.reckon().await?;
            let line = match self.queued.pop_front() {
                Some(line) => {
                    self.print(&notice::info(&format!("› {line}"), self.look))?;
                    Typed::Line(line)
                }
                None => self.read()?,
            };
            match &line {
                Typed::Line(line) => self.session.store.remember_prompt(line).await?,
                // The cursor is still on the line.
                Typed::Shortcut(_) | Typed::Interrupt | Typed::Pick(_) => self.print("\n")?,
                Typed::Cleared | Typed::Suspend | Typed::Picture | Typed::End => {}
            }
            match line {
                Typed::End => return Ok(()),
                Typed::Interrupt if interrupted => return Ok(()),
                Typed::Interrupt => {
                    interrupted = true;
                    self.print(&notice::info("Press Ctrl-C again to leave, or Ctrl-D.", self.look))?;
                }
                Typed::Cleared => interrupted = false,
                Typed::Pick(line) => {
                    interrupted = false;
                    let query = line.split_once(char::is_whitespace).map_or("", |(_, query)| query.trim());
                    match self.pick_model(query).await {
                        Ok(true) => {}
                        Ok(false) => self.session.prefill = Some(line),
                        Err(failure) => {
                            self.print(&notice::error(&failure.what, failure.hint.as_deref(), self.look))?;
                        }
                    }
                }
                Typed::Suspend => {
                    self.print("\n")?;
                    quiet::suspend();
                }
                Typed::Picture => {
                    self.print("\n")?;
                    if let Err(failure) = self.paste_picture().await {
                        self.print(&notice::error(&failure.what, failure.hint.as_deref(), self.look))?;
                    }
                }
                Typed::Line(line) | Typed::Shortcut(line) => {
                    interrupted = false;
                    match self.heard(&line).await {
                        Ok(Next::Prompt) => {}
                        Ok(Next::Ask) => self.ask().await?,
                        Ok(Next::Leave) => return Ok(()),
                        // A failed command is reported, and the chat continues; if the terminal is gone, the chat ends.
                        Err(failure) if failure.exit == crate::exit::Exit::ClosedPipe => return Err(failure),
                        Err(failure) => {
                            self.print(&notice::error(&failure.what, failure.hint.as_deref(), self.look))?;
                        }
                    }
                }
            }
        }
    }

    /// Handles a line.
    async fn heard(&mut self, line: &str) -> Result<Next, Failure> {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            // An edit that was abandoned.
            self.session.editing = None;
            return Ok(Next::Prompt);
        }
        if let Some(command) = trimmed.strip_prefix('/')
            && !command.starts_with(char::is_whitespace)
            && !commands::is_path(command)
        {
            return self.command(command).await;
        }
        if let Some(command) = trimmed.strip_prefix('!').filter(|command| !command.trim().is_empty()) {
            return self.shell(command).await;
        }
        self.say(line).await
    }

    /// Asks the model to continue the conversation, and reports the outcome.
    pub(crate) async fn ask(&mut self) -> Result<(), Failure> {
        self.warn_when_long()?;
        if let Err(failure) = self.session.check_cost(&self.session.history()) {
            return self.print(&notice::error(&failure.what, failure.hint.as_deref(), self.look));
        }
        self.session.tooling.borrow(self.servers.tools());
        let mut view = View::new(self.look, size(), self.region, self.session.show_thinking);
        let mut keys = Keys::open(self.region)?;
        let began = Instant::now();
        let outcome = turn::run(&mut self.session, &mut view, &mut keys).await;
        let late = keys.close();
        self.ring(began.elapsed())?;
        let Outcome { ended, lines, typed, show_thinking } = match outcome {
            Ok(outcome) => outcome.with(late),
            Err(failure) => {
                view.end()?;
                self.session.failed(&failure.what).await?;
                return self.print(&notice::error(&failure.what, failure.hint.as_deref(), self.look));
            }
        };
        match ended {
            Ended::Whole => {}
            Ended::Stopped => {
                let words = match self.session.failed("stopped").await? {
                    true => "Stopped before an answer came; /retry to ask again.",
                    false => "Stopped. The partial answer is saved; /retry to ask again.",
                };
                self.print(&notice::warning(words, self.look))?;
            }
            Ended::TooDear(failure) => {
                self.print(&notice::error(&failure.what, failure.hint.as_deref(), self.look))?;
            }
            Ended::Failed(error) => {
                let (what, hint) = turn::told(&error);
                self.session.failed(&what).await?;
                self.print(&notice::error(&what, hint.as_deref(), self.look))?;
            }
        }
        if show_thinking {
            self.show_last_thinking()?;
        }
        self.queued.extend(lines);
        if !typed.is_empty() {
            self.session.prefill = Some(typed);
        }
        self.print("\n")
    }

    /// Rings the bell after something that took long, unless it is turned off.
    fn ring(&self, took: Duration) -> Result<(), Failure> {
        let wanted = self.session.settings.bell && self.region == Region::Live && took >= LONG;
        if wanted { self.print("\x07") } else { Ok(()) }
    }

    fn read(&mut self) -> Result<Typed, Failure> {
        let size = size();
        self.look = self.look.with_width(size.columns);
        let prefill = self.session.prefill.take();
        let status = self.status_line();
        let editor = &mut self.editor;
        tokio::task::block_in_place(|| editor.read(&status, prefill.as_deref()))
    }

    /// Returns the status line: the model, how full its window is, what the conversation cost.
    fn status_line(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.session.is_incognito().then(|| "incognito".to_owned()));
        parts.extend(self.session.access.is_simulated().then(|| SIMULATOR.to_owned()));
        parts.push(self.session.choice.as_ref().map_or_else(|| "no model".to_owned(), Choice::short));
        if let Some((used, window)) = self.session.context_used() {
            parts.push(format!("{}%", used.saturating_mul(100).div_ceil(window.max(1))));
        }
        parts.extend(self.session.cost_in_words());
        parts.extend(self.agents.status());
        parts.join(" · ")
    }

    fn greet(&mut self, resumed: bool, brought: &[String]) -> Result<(), Failure> {
        let version = env!("CARGO_PKG_VERSION");
        let model = match &self.session.choice {
            Some(choice) => choice.short(),
            None => "no model".to_owned(),
        };
        self.print(&notice::info(&format!("ikigai {version} · {model} · /help lists the commands"), self.look))?;
        if !brought.is_empty() {
            self.print(&notice::info(&format!("Loaded from this folder: {}", brought.join(", ")), self.look))?;
        }
        if let Some(notice) = self.session.access.notice() {
            self.print(&notice::info(&notice, self.look))?;
        }
        if self.session.choice.is_none() {
            let failure = self.session.no_model();
            self.print(&notice::error(&failure.what, failure.hint.as_deref(), self.look))?;
        }
        if resumed {
            self.show_transcript()?;
        }
        self.print("\n")
    }

    /// Shows how to return to the conversation, for a user who leaves it.
    fn part(&self) -> Result<(), Failure> {
        match &self.session.conversation {
            Some(conversation) if !self.session.thread.is_empty() && self.session.store.place() != "memory" => {
                let words = format!("Continue with: ikigai --resume {}", conversations::short(conversation.id));
                self.print(&notice::info(&words, self.look))
            }
            _ => Ok(()),
        }
    }

    /// Writes to the terminal, with colours and all.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|error| Failure::writing(&error))
    }
}

impl std::fmt::Debug for Talk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Talk").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Applies a style to a text, if styles are wanted.
fn painted(look: Look, style: anstyle::Style, text: &str) -> String {
    look.paint(style, text)
}

/// Returns the terminal's size, or a usual one if it is unknown.
pub(crate) fn size() -> Size {
    match crossterm::terminal::size() {
        Ok((columns, rows)) if columns > 0 && rows > 0 => {
            Size { columns: usize::from(columns), rows: usize::from(rows) }
        }
        _ => Size { columns: 80, rows: 24 },
    }
}
