//! `ikigai ask`: one question, one answer, in pipes and scripts.

mod compare;
mod emit;
mod options;
mod prompt;
mod schema;
mod turn;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use ikigai::{Message, Model, ProviderTool};
use serde_json::Value;

use self::turn::{Asked, verdict};
use crate::access::{Access, Simulate};
use crate::chat::{ENDING, Servers, Session, Tooling};
use crate::exit::{Exit, Failure};
use crate::output::Out;
use crate::{conversations, redact, settings, tools, trust};

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
    /// The model: [PROVIDER:]MODEL[/LEVEL]; repeat it to compare up to four models
    #[arg(short, long, value_name = "MODEL")]
    model: Vec<String>,
    /// The system prompt
    #[arg(short, long, value_name = "TEXT")]
    system: Option<String>,
    /// A role from the settings: its prompt and model
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
    /// A template from the settings; WORDS are its values (KEY=VALUE) and its input
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    /// Attach a file, a URL, or - for standard input
    #[arg(short, long = "attach", value_name = "FILE")]
    attach: Vec<String>,
    /// Answer with JSON that matches a schema: a file with a JSON Schema, its text, or fields like `name, age int?, tags string[]`
    #[arg(long, value_name = "SCHEMA", conflicts_with_all = ["extract", "tools"])]
    schema: Option<String>,
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
    /// Let the provider search the web; the answer lists its sources
    #[arg(long)]
    search: bool,
    /// Let the provider run code that the model writes
    #[arg(long)]
    code: bool,
    /// The most that the conversation may cost, in dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<ikigai::Money>,
    /// Do not use AGENTS.md and .ikigai.toml of the working folder
    #[arg(long)]
    no_project: bool,
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
  ikigai ask --schema \"number int, date: ISO 8601, amount number\" \"Invoice 4711 of 3 May, 120 euros\"
  ikigai ask --template translate language=French \"Good morning\"
  ikigai ask --search \"How many people live in Oslo?\"
      The provider searches the web; the sources are listed below the answer.
  ikigai ask -c \"And in French?\"
      Continues the last conversation.
  ikigai ask --json hi | jq .usage
  ikigai ask -m sonnet -m gpt -m flash \"Why is the sky blue?\"
      The answers of three models, one after the other; with --json as an array.
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
    // First come the checks that need no network and no database, so that an invalid question fails at once.
    compare::check(&ask)?;
    let schema = ask.schema.as_deref().map(schema::read).transpose()?;
    let (settings, warnings) = settings::load()?;
    for warning in warnings {
        out.warning(&warning.to_string());
    }
    let project = if ask.no_project { None } else { trust::followed(out)? };
    let settings = project.unwrap_or_default().over(settings);
    let mut piped = prompt::piped()?;
    if let Some(name) = &ask.template {
        ask.words = vec![prompt::filled(&settings, name, &ask.words, &mut piped)?];
    }
    let message = prompt::compose(&ask.words, piped, &ask.attach).await?;
    let role = ask.role.as_deref().map(|name| settings.role(name).cloned()).transpose()?.unwrap_or_default();
    if ask.model.is_empty() {
        ask.model.extend(role.model());
    }
    ask.system = ask.system.take().or_else(|| ask.role.as_ref().map(|_| role.prompt.clone()));
    ask.tools &= role.tools.unwrap_or(true);
    let seen = if on_terminal() { Simulate::WithoutKey } else { Simulate::Never };
    let simulate = match ask.model.as_slice() {
        [_, _, ..] => Simulate::asked(ask.sim, None, seen).0,
        one => {
            let (simulate, model) = Simulate::asked(ask.sim, one.first().map(String::as_str), seen);
            ask.model = model.into_iter().collect();
            simulate
        }
    };
    let access = if ask.dry_run { Access::unsent(out) } else { Access::open(simulate, out).await? };
    if let Some(notice) = access.notice() {
        out.note(&format!("{notice}\n"));
    }
    let fresh = !ask.continue_last && ask.cid.is_none();
    // A dry run writes nothing, but may continue a saved conversation.
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
    session.max_cost = ask.max_cost;
    choose(&mut session, &ask).await?;
    session.think(role.thinking.filter(|_| role.model.is_none() && ask.model.is_empty()));
    provide(&mut session, &ask).await?;
    if ask.model.len() > 1 {
        let outcome = compare::run(&ask, message, &mut session, out).await;
        let closed = store.close().await;
        return outcome.and_then(|exit| closed.map(|()| exit).map_err(Failure::from));
    }
    let model = options::set(session.model()?, &ask.options)?;
    prompt::readable(&message, model.facts(), session.access.registry())?;
    let history = session.history_with(message.clone());
    if ask.dry_run {
        return dry_run(&model, history, out);
    }
    session.check_cost(&history)?;
    session.say(message).await?;
    let outcome = Asked::new(&ask, out).run(model, schema, &mut session).await;
    if let Err(failure) = &outcome {
        session.unanswered(&failure.what).await?;
    }
    let closed = store.close().await;
    let exit = outcome?;
    closed?;
    Ok(exit)
}

/// Chooses the conversation and the model.
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
        session.reckon().await?;
    }
    match ask.model.first() {
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

/// Sets the provider's tools: those that the conversation has, and those requested.
async fn provide(session: &mut Session, ask: &Ask) -> Result<(), Failure> {
    let asked = [(ask.search, ProviderTool::WebSearch), (ask.code, ProviderTool::CodeExecution)];
    let mut tools = session.tooling.provided().clone();
    let before = tools.len();
    tools.extend(asked.into_iter().filter(|(wanted, _)| *wanted).map(|(_, tool)| tool));
    if ask.dry_run || tools.len() == before {
        session.tooling.provide(tools);
        return Ok(());
    }
    session.provide(tools).await
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

/// Whether standard output is a terminal.
fn on_terminal() -> bool {
    std::io::stdout().is_terminal()
}
