//! `ikigai completions`: what a shell needs to complete our commands.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Failure;
use crate::output::Out;

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai completions bash > ~/.local/share/bash-completion/completions/ikigai
  ikigai completions zsh > ~/.zfunc/_ikigai          (with ~/.zfunc in fpath)
  ikigai completions fish > ~/.config/fish/completions/ikigai.fish
  ikigai completions powershell >> $PROFILE
  ikigai completions elvish >> ~/.config/elvish/rc.elv")]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(completions: Completions, out: &mut Out) -> Result<(), Failure> {
    // The generators write without checking; into memory they cannot fail.
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut Cli::command(), "ikigai", &mut script);
    out.data(&script)
}
