//! `ikigai completions`: completion scripts for shells, and the answers when a script asks.
//!
//! The scripts for bash, zsh and fish ask this program on each Tab, so they also know models, conversations, roles and providers.

mod values;

use clap::{Args, CommandFactory as _};
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};
use clap_complete::{CompleteEnv, Shell};

use crate::cli::Cli;
use crate::exit::Failure;
use crate::output::Out;

/// Set by the scripts: the shell that asks.
const VARIABLE: &str = "IKIGAI_COMPLETE";
const PROGRAM: &str = "ikigai";

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai completions bash > ~/.local/share/bash-completion/completions/ikigai
  ikigai completions zsh > ~/.zfunc/_ikigai          (with ~/.zfunc in fpath)
  ikigai completions fish > ~/.config/fish/completions/ikigai.fish
  ikigai completions powershell >> $PROFILE
  ikigai completions elvish >> ~/.config/elvish/rc.elv

In bash, zsh and fish, models, conversations, roles, templates and providers are completed, too.")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(completions: Completions, out: &mut Out) -> Result<(), Failure> {
    let mut script = Vec::new();
    let asking: Option<&dyn EnvCompleter> = match completions.shell {
        Shell::Bash => Some(&Bash),
        Shell::Zsh => Some(&Zsh),
        Shell::Fish => Some(&Fish),
        _ => None,
    };
    match asking {
        Some(shell) => shell
            .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
            .map_err(|error| Failure::new(format!("cannot generate the completions: {error}")))?,
        // The generators write without checking; into memory they cannot fail.
        None => clap_complete::generate(completions.shell, &mut Cli::command(), PROGRAM, &mut script),
    }
    out.data(&script)
}

/// Answers a shell that asks for completions. Returns whether one did.
pub(crate) fn answered() -> Result<bool, Failure> {
    if std::env::var_os(VARIABLE).is_none() {
        return Ok(false);
    }
    let asked = CompleteEnv::with_factory(|| values::known(Cli::command())).var(VARIABLE).bin(PROGRAM);
    let folder = std::env::current_dir().ok();
    asked
        .try_complete(std::env::args_os(), folder.as_deref())
        .map_err(|error| Failure::usage(format!("cannot complete: {error}")))
}
