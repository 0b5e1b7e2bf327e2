//! `ikigai config`.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::check::{self, State};
use super::{Settings, edit, load_from};
use crate::exit::Failure;
use crate::output::{DIM, ERROR, GOOD, HEADING, Out, WARNING};
use crate::places::Places;
use crate::redact;

/// Show and change the settings
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_LONG_HELP)]
pub(crate) struct Config {
    #[command(subcommand)]
    command: Command,
}

const AFTER_LONG_HELP: &str = "\
Examples:
  ikigai config set model claude-sonnet-4-5/med
  ikigai config edit
  ikigai config check

The settings, in config.toml:
  model             the model to begin with: [PROVIDER:]MODEL[/LEVEL]
  system            the system prompt
  thinking_display  hide (folded to one line) or show; hide unless set
  keys              emacs or vi, for the line editor; emacs unless set
  tools             whether the model may use tools; true unless set
  database          where conversations are kept: a file or postgres://…, unless IKIGAI_DATABASE says
  save              whether conversations are kept; true unless set
  bell              whether the bell rings after an answer that took long; true unless set
  [aliases]         your own names of models: fast = \"gemini-2.5-flash/none\"
  [roles.NAME]      a system prompt under a name: prompt, and perhaps model, thinking, tools
  [templates.NAME]  a question under a name: text, with {{input}} and other {{names}} in it
  [models.\"PATTERN\"]  what requests to some models say: temperature, top_p, seed,
                    max_output_tokens, thinking, thinking_budget, stop
  [mcp.NAME]        an MCP server: command = [\"program\", \"argument\"] with env = { NAME = \"value\" },
                    or url = \"https://…\" with headers = { name = \"value\" }";

#[derive(Debug, Subcommand)]
enum Command {
    Path(PathArguments),
    Show(Show),
    Get(Get),
    Set(Set),
    Unset(Unset),
    Edit(Edit),
    Check(Check),
}

/// Print where the files and folders are
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai config path
  ikigai config path settings
  sqlite3 \"$(ikigai config path database)\" .schema

A file or folder that is listed here may not exist yet.")]
struct PathArguments {
    /// Only this one
    #[arg(value_enum)]
    which: Option<Which>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// The folder of settings
    Config,
    /// The folder of conversations
    Data,
    /// The folder of state
    State,
    /// The cache folder
    Cache,
    /// config.toml
    Settings,
    /// credentials.toml
    Credentials,
    /// providers.toml
    Providers,
    /// models.toml
    Models,
    /// The database of conversations and typed lines
    Database,
}

/// Show the effective settings
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai config show
  ikigai config show --json | jq .model

Passwords, headers and variables of MCP servers are not shown.")]
struct Show {
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Print one setting
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai config get model
  ikigai config get mcp.files.command

The exit code is 1 when it is not set and has no default.")]
struct Get {
    /// Which one
    #[arg(value_name = "KEY")]
    key: String,
}

/// Change one setting; comments and everything else in the file are kept
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai config set model claude-sonnet-4-5/med
  ikigai config set tools false
  ikigai config set mcp.files.command '[\"npx\", \"server-files\", \".\"]'
  ikigai config set mcp.search.url https://example.com/mcp

An invalid value is refused, and the file stays as it was.")]
struct Set {
    /// Which one
    #[arg(value_name = "KEY")]
    key: String,
    /// The value
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: String,
}

/// Remove one setting, so that its default applies
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai config unset model
  ikigai config unset mcp.files")]
struct Unset {
    /// Which one
    #[arg(value_name = "KEY")]
    key: String,
}

/// Open config.toml in your editor: $VISUAL, $EDITOR, or vi
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai config edit
  EDITOR='code --wait' ikigai config edit

A missing file is created, with every setting as a comment. It is checked afterwards.")]
struct Edit {}

/// Check config.toml, the keys, providers.toml and models.toml
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai config check && ikigai ask hello

The exit code is 1 when a file is broken. An unknown key is a warning.")]
struct Check {}

pub(crate) fn run(config: Config, out: &mut Out) -> Result<(), Failure> {
    let places = Places::required()?;
    match config.command {
        Command::Path(arguments) => path(&arguments, &places, out),
        Command::Show(show) => self::show(&show, &places, out),
        Command::Get(get) => self::get(&get.key, &places, out),
        Command::Set(set) => edit::set(&places, &set.key, &set.value),
        Command::Unset(unset) => edit::unset(&places, &unset.key),
        Command::Edit(Edit {}) => {
            edit::edit(&places)?;
            report(&check::settings(&places), out)
        }
        Command::Check(Check {}) => {
            let states = check::all(&places);
            let outcomes: Vec<_> = states.iter().map(|state| report(state, out)).collect();
            let broken = outcomes.iter().filter(|outcome| outcome.is_err()).count();
            match outcomes.into_iter().find(Result::is_err) {
                Some(failure) if broken == 1 => failure,
                Some(_) => Err(Failure::new(format!("{broken} files are broken"))),
                None => Ok(()),
            }
        }
    }
}

fn path(arguments: &PathArguments, places: &Places, out: &mut Out) -> Result<(), Failure> {
    // The path matters even if the file is broken.
    let database = load_from(places).map(|(settings, _)| settings).unwrap_or_default().database(places).shown();
    let all = Which::value_variants().iter().map(|which| {
        let path = match which {
            Which::Config => places.config.display().to_string(),
            Which::Data => places.data.display().to_string(),
            Which::State => places.state.display().to_string(),
            Which::Cache => places.cache.display().to_string(),
            Which::Settings => places.settings().display().to_string(),
            Which::Credentials => places.credentials().display().to_string(),
            Which::Providers => places.providers().display().to_string(),
            Which::Models => places.models().display().to_string(),
            Which::Database => database.clone(),
        };
        let name = which.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        (*which, name, path)
    });
    let chosen: Vec<_> = all.filter(|(which, ..)| arguments.which.is_none_or(|wanted| wanted == *which)).collect();
    match (chosen.as_slice(), arguments.json) {
        (chosen, true) => {
            let object: serde_json::Map<String, Value> =
                chosen.iter().map(|(_, name, path)| (name.clone(), json!(path))).collect();
            out.json(&object)
        }
        ([(_, _, path)], false) => out.text(&format!("{path}\n")),
        (chosen, false) => {
            let lines = chosen.iter().map(|(_, name, path)| format!("{HEADING}{name:<11}{HEADING:#}  {path}\n"));
            out.text(&lines.collect::<String>())
        }
    }
}

fn load(places: &Places, out: &mut Out) -> Result<Settings, Failure> {
    let (settings, warnings) = load_from(places)?;
    warnings.iter().for_each(|warning| out.warning(&warning.to_string()));
    Ok(settings)
}

fn show(show: &Show, places: &Places, out: &mut Out) -> Result<(), Failure> {
    let mut settings = load(places, out)?;
    if let Some(database) = &mut settings.database {
        *database = redact::address(database);
    }
    for server in settings.mcp.values_mut() {
        server
            .env
            .values_mut()
            .chain(server.headers.values_mut())
            .for_each(|secret| *secret = redact::HIDDEN.to_owned());
        server.url = server.url.as_deref().map(redact::address);
        server.command = redact::command(&server.command);
    }
    if show.json {
        return out.json(&settings);
    }
    let text =
        toml::to_string(&settings).map_err(|error| Failure::new(format!("cannot print the settings: {error}")))?;
    let unset = [("model", settings.model.is_none()), ("system", settings.system.is_none())];
    let unset = unset.iter().filter(|(_, unset)| *unset).map(|(key, _)| format!("{DIM}# {key} is not set{DIM:#}\n"));
    let file = places.settings();
    let missing = if file.exists() { "" } else { ", which does not exist yet" };
    let unset: String = unset.collect();
    out.text(&format!("{DIM}# {}{missing}{DIM:#}\n{unset}{text}", file.display()))
}

fn get(key: &str, places: &Places, out: &mut Out) -> Result<(), Failure> {
    let parts = edit::key(key)?;
    let settings = load(places, out)?;
    let mut value = &serde_json::to_value(settings).map_err(|error| Failure::new(error.to_string()))?;
    for part in parts {
        value = value.get(part).unwrap_or(&Value::Null);
    }
    match value {
        Value::Null => Err(Failure::new(format!("{key} is not set")).hint(format!("ikigai config set {key} …"))),
        Value::String(text) => out.text(&format!("{text}\n")),
        other => out.json_line(other),
    }
}

/// Reports the state of a file; an error if it is broken.
fn report(checked: &check::Checked, out: &mut Out) -> Result<(), Failure> {
    let file = checked.file.display();
    match &checked.state {
        State::Missing => out.text(&format!("{DIM}none{DIM:#}     {file}\n")),
        State::Good => out.text(&format!("{GOOD}ok{GOOD:#}       {file}\n")),
        State::Odd(warnings) => {
            out.text(&format!("{WARNING}warning{WARNING:#}  {file}\n"))?;
            warnings.iter().for_each(|warning| out.warning(warning));
            Ok(())
        }
        State::Broken(problem) => {
            out.text(&format!("{ERROR}broken{ERROR:#}   {file}\n"))?;
            // Reported here as well, because there may be several.
            out.failure(&Failure::new(problem.clone()));
            Err(Failure::new(format!("{file} is broken")).hint("Fix the file, then run `ikigai config check`"))
        }
    }
}
