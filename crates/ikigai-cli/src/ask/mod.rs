//! `ikigai ask`: one question, one answer, in pipes and scripts.

mod emit;
mod options;
mod prompt;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use ikigai::{Answer, Approval, ErrorKind, Event, FinishReason, Message, Model, Response};
use serde_json::Value;

use self::emit::Emit;
use crate::access::{Access, SIMULATOR, Simulate};
use crate::chat::{ENDING, Servers, Session, Tooling, sum};
use crate::exit::{Exit, Failure};
use crate::flow::Flow;
use crate::output::Out;
use crate::record::{Recorder, as_simulated};
use crate::tools::Decision;
use crate::watch::{Note, Paid};
use crate::{conversations, redact, settings, tools};

/// Ask one question and print the answer
///
/// The question comes from the command line, from a pipe, or from both. The answer, and nothing else, goes to standard
/// output; everything else goes to standard error. In a pipe it is the plain text of the model.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_LONG_HELP)]
pub(crate) struct Ask {
    /// The question; `-` stands for standard input
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// The model: [PROVIDER:]MODEL[/LEVEL]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<String>,
    /// The system prompt
    #[arg(short, long, value_name = "TEXT")]
    system: Option<String>,
    /// Attach a file, a URL, or - for standard input
    #[arg(short, long = "attach", value_name = "FILE")]
    attach: Vec<String>,
    /// Answer with JSON that matches this JSON Schema
    #[arg(long, value_name = "FILE", conflicts_with_all = ["extract", "tools"])]
    schema: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    format: Option<Format>,
    /// The whole response in the canonical form; same as --format json
    #[arg(long)]
    json: bool,
    /// Print the answer as it is written; this is the default
    #[arg(long, overrides_with = "no_stream")]
    stream: bool,
    /// Print the answer when it is complete
    #[arg(long)]
    no_stream: bool,
    /// Show the thinking on standard error
    #[arg(long)]
    thinking: bool,
    /// Continue the last conversation
    #[arg(short, long = "continue", conflicts_with = "cid")]
    continue_last: bool,
    /// Continue a conversation, by the beginning or the end of its id
    #[arg(long, value_name = "ID")]
    cid: Option<String>,
    /// Do not save this conversation
    #[arg(long)]
    no_save: bool,
    /// Let the model use tools: read-only ones run, others need --allow
    #[arg(long)]
    tools: bool,
    /// A tool that may run, or `all`
    #[arg(long, value_name = "TOOL", requires = "tools")]
    allow: Vec<String>,
    /// Ask the built-in simulator, not a model; `-m sim` and `-m sim:MODEL` do the same
    #[arg(long)]
    sim: bool,
    /// Print the request that would be sent, without its key, and send nothing
    #[arg(long)]
    dry_run: bool,
    /// Print tokens, cost and time on standard error
    #[arg(short, long)]
    usage: bool,
    /// Print only the first code block of the answer
    #[arg(short = 'x', long)]
    extract: bool,
    /// Fail if the answer hits the length limit
    #[arg(long)]
    fail_on_length: bool,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// temperature, top_p, seed, max_output_tokens, thinking_budget or stop, and its value
    #[arg(short = 'o', long = "option", value_names = ["KEY", "VALUE"], num_args = 2, allow_negative_numbers = true)]
    options: Vec<String>,
}

const AFTER_LONG_HELP: &str = "\
Examples:
  ikigai ask Why is the sky blue
  git diff | ikigai ask \"review this\"
  ikigai ask -m gemini-2.5-pro/high -a chart.png \"What does it show?\"
  ikigai ask --schema invoice.json \"Invoice 4711 of 3 May, 120 euros\" | jq .amount
  ikigai ask -c \"And in French?\"
      Continues the last conversation.
  ikigai ask --json hi | jq .usage
  ikigai ask --dry-run -m o3/high hi
      The request as it would be sent.

Exit codes:
  0 success · 1 an error · 2 invalid arguments · 3 no API key, or the key was rejected
  4 rate-limited, out of quota or overloaded, after all retries · 5 refused by a content filter
  6 hit the length limit (with --fail-on-length) · 7 does not match the schema
  130 Ctrl-C · 141 the output pipe was closed";

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The model's text as it is
    Text,
    /// The text drawn for a terminal; the default on a terminal
    Markdown,
    /// The whole response in the canonical form
    Json,
    /// The stream's events in the canonical form, one per line
    Jsonl,
}

pub(crate) fn run(ask: Ask, out: &mut Out) -> Result<Exit, Failure> {
    tools::close_memory();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let limit = ask.timeout.map(Duration::from_secs);
    let outcome = runtime.block_on(async {
        let asking = answer(ask, out);
        match limit {
            None => asking.await,
            Some(limit) => tokio::time::timeout(limit, asking)
                .await
                .unwrap_or_else(|_| Err(Failure::new(format!("no answer after {} s", limit.as_secs())))),
        }
    });
    runtime.shutdown_timeout(ENDING);
    outcome
}

async fn answer(mut ask: Ask, out: &mut Out) -> Result<Exit, Failure> {
    // First what needs no network and no database: a question that makes no sense fails at once.
    let schema = ask.schema.as_deref().map(read_schema).transpose()?;
    let message = prompt::compose(&ask.words, prompt::piped()?, &ask.attach)?;
    let (settings, warnings) = settings::load()?;
    for warning in warnings {
        out.warning(&warning.to_string());
    }
    let seen = if on_terminal() { Simulate::WithoutKey } else { Simulate::Never };
    let (simulate, model) = Simulate::asked(ask.sim, ask.model.as_deref(), seen);
    ask.model = model;
    let access = if ask.dry_run { Access::unsent(out) } else { Access::open(simulate, out).await? };
    if let Some(notice) = access.notice() {
        out.note(&format!("{notice}\n"));
    }
    let fresh = !ask.continue_last && ask.cid.is_none();
    // A dry run writes nothing, but may go on with what was kept.
    let store = conversations::open_or_hint(&settings, ask.no_save || (ask.dry_run && fresh)).await?;
    let folder =
        std::env::current_dir().map_err(|error| Failure::new(format!("cannot use the working folder: {error}")))?;
    let mut tooling = Tooling::new(&folder, &[], ask.tools)?;
    if ask.tools {
        let servers = Servers::begin(settings.mcp.clone(), |_| ());
        servers.settled().await;
        for (name, words) in servers.list() {
            if let Err(words) = words {
                out.warning(&format!("MCP server {name}: {words}"));
            }
        }
        tooling.borrow(servers.tools());
    }
    let mut session = Session::new(access, settings, Arc::clone(&store), tooling, folder)?;
    choose(&mut session, &ask).await?;
    let model = options::set(session.model()?, &ask.options)?;
    prompt::readable(&message, model.facts(), session.access.registry())?;
    if ask.dry_run {
        let mut history = session.history();
        history.push(message);
        return dry_run(&model, history, out);
    }
    session.say(message).await?;
    let mut asked = Asked { emit: Emit::new(&ask, out), paid: Paid::default(), ask: &ask };
    let outcome = asked.run(model, schema, &mut session).await;
    if let Err(failure) = &outcome {
        session.unanswered(&failure.what).await?;
    }
    let closed = store.close().await;
    let exit = outcome?;
    closed?;
    Ok(exit)
}

/// The conversation and the model.
async fn choose(session: &mut Session, ask: &Ask) -> Result<(), Failure> {
    let id = match (&ask.cid, ask.continue_last) {
        (Some(part), _) => Some(conversations::find(&*session.store, part).await?),
        (None, true) => {
            let last = session.store.latest().await?;
            Some(last.ok_or_else(|| Failure::new("there is no conversation to continue"))?.id)
        }
        (None, false) => None,
    };
    if let Some(id) = id {
        session.open(id).await?;
    }
    match &ask.model {
        Some(name) => {
            let choice = session.parse(name)?;
            if let (Some(conversation), false) = (&session.conversation, ask.dry_run) {
                let details = ikigai_store::Details::default().model(choice.kept());
                session.conversation = Some(session.store.update(conversation.id, details).await?);
            }
            session.choice = Some(choice);
        }
        None if session.choice.is_none() => session.choose_first(None)?,
        None => {}
    }
    if session.choice.is_none() {
        let example = |name: &str| format!("ikigai ask -m {name} \"…\"");
        return session.access.default_model(example).map(drop);
    }
    if let (Some(choice), false) = (&session.choice, ask.dry_run) {
        session.access.check(&choice.name)?;
    }
    match &ask.system {
        None => {}
        Some(system) if ask.dry_run => session.system = Some(system.clone()),
        Some(system) => session.set_system(Some(system.clone())).await?,
    }
    Ok(())
}

fn dry_run(model: &Model, history: Vec<Message>, out: &mut Out) -> Result<Exit, Failure> {
    let preview = model.preview(history)?;
    let headers: serde_json::Map<String, Value> =
        preview.headers.iter().map(|(name, value)| (name.clone(), redact::header(name, value).into())).collect();
    for loss in &preview.losses {
        out.loss(loss);
    }
    out.json(&serde_json::json!({
        "method": preview.method,
        "url": redact::address(&preview.url),
        "headers": headers,
        "body": preview.body,
    }))?;
    Ok(Exit::Ok)
}

fn read_schema(file: &Path) -> Result<Value, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file("read", file, &error))?;
    serde_json::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", file.display())))
}

/// A question on its way.
struct Asked<'a, 'o> {
    emit: Emit<'o>,
    paid: Paid,
    ask: &'a Ask,
}

impl Asked<'_, '_> {
    async fn run(&mut self, model: Model, schema: Option<Value>, session: &mut Session) -> Result<Exit, Failure> {
        match schema {
            Some(schema) => self.extract(model, schema, session).await,
            None if self.ask.no_stream => self.whole(model, session).await,
            None => self.streamed(model, session).await,
        }
    }

    /// The answer as it is written, kept as it grows.
    async fn streamed(&mut self, model: Model, session: &mut Session) -> Result<Exit, Failure> {
        let conversation = session.conversation().await?;
        let recorder = Recorder::new(Arc::clone(&session.store), conversation, model.name().clone());
        let history = session.history();
        let meter = session.meter(&history, "Ctrl-C");
        let mut recorder = recorder.simulated(session.access.is_simulated()).metered(&meter);
        self.emit.begin(meter)?;
        let mut flow = Flow::open(model, history);
        let mut last = None;
        let mut cost = None;
        let mut frames = tokio::time::interval(Duration::from_millis(33));
        // One for the whole answer: between two of them a Ctrl-C would be lost.
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        let outcome = loop {
            let next = tokio::select! {
                biased;
                Some(note) = session.notes.recv() => {
                    self.note(note, session, Some(&mut recorder)).await?;
                    continue;
                }
                _ = &mut interrupt => break Err(Stop::Interrupted),
                next = flow.next() => next,
                _ = frames.tick() => {
                    self.emit.draw()?;
                    continue;
                }
            };
            while let Ok(note) = session.notes.try_recv() {
                self.note(note, session, Some(&mut recorder)).await?;
            }
            match next {
                Ok(Some(event)) => {
                    if let Err(failure) = self.emit.event(&event) {
                        break Err(Stop::Output(failure));
                    }
                    if !matches!(event, Event::Done { .. }) {
                        recorder.event(&event).await?;
                    } else if let Some(response) = flow.so_far() {
                        let paid = std::mem::take(&mut self.paid);
                        cost = sum(cost, paid.cost);
                        self.emit.paid(response.usage.as_ref(), paid.cost);
                        recorder.answer(response.clone(), paid).await?;
                        last = Some(response);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(Stop::Failed(Box::new(error))),
            }
        };
        let partial = match &outcome {
            Ok(()) => None,
            Err(Stop::Failed(error)) => error.partial().cloned(),
            Err(Stop::Interrupted | Stop::Output(_)) => flow.so_far(),
        };
        drop(flow);
        recorder.end(partial).await?;
        match outcome {
            Ok(()) => self.finish(last.unwrap_or_default(), cost, session),
            Err(stop) => {
                self.emit.broken()?;
                Err(stop.into())
            }
        }
    }

    /// The answer when it is whole.
    async fn whole(&mut self, model: Model, session: &mut Session) -> Result<Exit, Failure> {
        let history = session.history();
        let asking = async { model.ask(history).await };
        let answer = self.wait(asking, session).await?;
        self.keep(&answer, session).await?;
        let cost = answer.cost().map(|cost| cost.total());
        self.emit.whole(&answer)?;
        self.finish(answer.into_response(), cost, session)
    }

    /// JSON that matches a schema.
    async fn extract(&mut self, model: Model, schema: Value, session: &mut Session) -> Result<Exit, Failure> {
        let history = session.history();
        let asking = async { model.extract_json_stream(schema, history).await?.finish_with_answer::<Value>().await };
        let (value, answer) = self.wait(asking, session).await?;
        self.keep(&answer, session).await?;
        let cost = answer.cost().map(|cost| cost.total());
        self.emit.value(&value, &answer)?;
        self.finish(answer.into_response(), cost, session)
    }

    /// Waits for an answer, hears Ctrl-C, and tells what happens meanwhile.
    async fn wait<T>(
        &mut self,
        asking: impl Future<Output = Result<T, ikigai::Error>>,
        session: &mut Session,
    ) -> Result<T, Failure> {
        tokio::pin!(asking);
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        loop {
            tokio::select! {
                biased;
                Some(note) = session.notes.recv() => self.note(note, session, None).await?,
                _ = &mut interrupt => return Err(Failure::interrupted()),
                outcome = &mut asking => return Ok(outcome?),
            }
        }
    }

    /// Keeps a whole turn.
    async fn keep(&mut self, answer: &Answer, session: &mut Session) -> Result<(), Failure> {
        let conversation = session.conversation().await?;
        let count = answer.messages().len();
        let simulated = session.access.is_simulated();
        let entries = answer.messages().iter().enumerate().map(|(place, message)| {
            let mut entry = ikigai_store::Entry::new(message.clone());
            if place + 1 == count {
                entry.usage = answer.usage();
                entry.cost = answer.cost().map(|cost| cost.total());
                entry.finish_reason = Some(answer.finish_reason());
            }
            if simulated && entry.message.provider.is_some() { as_simulated(entry) } else { entry }
        });
        session.store.append_all(conversation, entries.collect()).await?;
        Ok(())
    }

    async fn note(&mut self, note: Note, session: &Session, recorder: Option<&mut Recorder>) -> Result<(), Failure> {
        match note {
            Note::Retry { attempt, wait, made, most } => self.emit.retry(&attempt, wait, made, most),
            Note::Step(paid) => self.paid = session.access.paid(paid),
            Note::Result(call, result) => {
                if let Some(recorder) = recorder {
                    recorder.result(&result);
                }
                self.emit.result(&call, &result)?;
            }
            Note::Approve(call, answer) => {
                let told = session.tooling.describe(&call).await;
                let named = self.ask.allow.iter().any(|name| *name == call.name || name == "all");
                let approval = match session.tooling.decide(&call, &told) {
                    Decision::Run => Approval::Allow,
                    Decision::Refuse(why) => Approval::Deny(why),
                    Decision::Ask(_) if named => Approval::Allow,
                    Decision::Ask(_) => {
                        Approval::Deny(format!("not allowed; the user can allow it with --allow {}", call.name))
                    }
                };
                self.emit.call(&told.line, approval == Approval::Allow)?;
                let _ = answer.send(approval);
            }
        }
        Ok(())
    }

    /// What remains to be said, and how the program ends.
    fn finish(&mut self, response: Response, cost: Option<ikigai::Money>, session: &Session) -> Result<Exit, Failure> {
        let provider = session.choice.as_ref().map(|choice| choice.name.provider.as_str());
        let simulated = session.access.is_simulated();
        let (provider, cost) = if simulated { (Some(SIMULATOR), None) } else { (provider, cost) };
        self.emit.end(&response, cost, provider.unwrap_or_default())?;
        for words in crate::flow::lost(&response.warnings) {
            self.emit.warning(&words);
        }
        match response.finish_reason {
            FinishReason::ContentFilter => Err(Failure::new("the provider refused to answer")
                .exit(Exit::Refused)
                .hint("Sending it again will not help; try rephrasing it.")),
            FinishReason::Length if self.ask.fail_on_length => Err(Failure::new("the answer hit the length limit")
                .exit(Exit::CutOff)
                .hint("Raise the limit: -o max_output_tokens 16000")),
            FinishReason::Length => {
                self.emit.warning("the answer hit the length limit; raise it with -o max_output_tokens N");
                Ok(Exit::Ok)
            }
            _ => Ok(Exit::Ok),
        }
    }
}

/// Why an answer did not come to its end.
enum Stop {
    Interrupted,
    Output(Failure),
    Failed(Box<ikigai::Error>),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Interrupted => Failure::interrupted(),
            Stop::Output(failure) => failure,
            Stop::Failed(error) if error.kind() == ErrorKind::Cancelled => Failure::interrupted(),
            Stop::Failed(error) => Failure::from(*error),
        }
    }
}

/// Is standard output a terminal?
fn on_terminal() -> bool {
    std::io::stdout().is_terminal()
}
