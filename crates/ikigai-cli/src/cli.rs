//! The command line, from which help, completions and the man page are generated.

use clap::builder::Styles;
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::output::{Color, HEADING, NAME};
use crate::{ask, chat, completions, doctor, history, keys, licenses, man, models, serve, settings, sim, trust, wire};

const STYLES: Styles = Styles::styled().header(HEADING).usage(HEADING).literal(NAME).placeholder(NAME);

/// One format for every model
///
/// Without a command, ikigai opens a chat with any model; without a key, with the built-in simulator. Underneath is one
/// superset format, and translations between it and the wire formats of Anthropic Messages, OpenAI Chat Completions, OpenAI
/// Responses and Google Gemini, in both directions, which report what they could not carry.
#[derive(Debug, Parser)]
#[command(
    name = "ikigai",
    version = env!("IKIGAI_VERSION"),
    styles = STYLES,
    max_term_width = 100,
    after_help = "For examples, run `ikigai --help` or `ikigai COMMAND --help`.",
    after_long_help = AFTER_LONG_HELP,
)]
pub(crate) struct Cli {
    /// When to use colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", help_heading = "Everywhere")]
    color: Color,
    #[command(flatten)]
    pub(crate) chat: chat::Chat,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Returns the command that a misspelled word probably means.
pub(crate) fn nearest_command(word: &str) -> Option<String> {
    let command = Cli::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let near = ikigai_core::near::close(word, names.into_iter())?;
    let alike = !word.contains(char::is_whitespace) && near.chars().next() == word.chars().next();
    alike.then(|| near.to_owned())
}

const AFTER_LONG_HELP: &str = "\
Examples:
  ikigai -m claude-sonnet-4-5/med
      A chat; /model chooses another model, /help lists the commands.
  ikigai \"Why is the sky blue?\"
      A chat that starts with this question.
  git diff | ikigai ask \"review this\"
      One answer, for pipes and scripts.
  ikigai models show claude-sonnet-4-5
      Window, prices, what it reads and how it thinks.
  ikigai models thinking gemini-2.5-pro --json
      What each thinking level means for a model.
  ikigai wire translate --from openai-chat --to anthropic --kind request < request.json
      A request in another provider's format; what was lost is on standard error.
  ikigai keys set anthropic
      Stores a key, read without showing it.
  ikigai doctor
      What works, what does not, and what to do about it.
  ikigai serve
      A gateway: programs that speak any of the four dialects reach any provider.
  ikigai sim
      An offline provider in all four dialects, for tests and first steps.

Files:
  $XDG_CONFIG_HOME/ikigai/config.toml       settings
  $XDG_CONFIG_HOME/ikigai/credentials.toml  keys, readable by you alone (mode 600)
  $XDG_CONFIG_HOME/ikigai/providers.toml    providers of your own, or changes to known ones
  $XDG_CONFIG_HOME/ikigai/models.toml       models of your own, or changes to known ones
  $XDG_DATA_HOME/ikigai/ikigai.db           conversations
  With IKIGAI_HOME set, all of them are in that folder.

Exit codes:
  0    success
  1    something went wrong; standard error says what
  2    invalid command-line arguments
  3    no API key, or the provider rejected it
  4    rate-limited, out of quota or overloaded, after all retries
  5    the provider refused to answer: a filter or a policy
  6    the answer hit the length limit, and --fail-on-length was given
  7    the answer does not match the schema
  130  stopped by Ctrl-C
  141  the output pipe was closed, as in `ikigai models list | head -1`";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Chat(chat::Chat),
    Ask(Box<ask::Ask>),
    Models(models::Models),
    Wire(wire::Wire),
    Serve(serve::Serve),
    Sim(sim::Sim),
    History(history::History),
    Keys(keys::Keys),
    Trust(trust::Trust),
    Config(settings::Config),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
    Man(man::Man),
    #[command(hide = true)]
    Licenses(licenses::Licenses),
}
