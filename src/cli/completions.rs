use clap::{Args, ValueEnum};

use super::{Context, Ended, complete};
use crate::exit::Exit;
use crate::failure::Failure;

/// Print the script that completes commands in a shell.
///
/// It completes commands, flags, addresses, codes and targets of the current project. It runs this program.
///
/// bash: eval "$(pushplan completions bash)" in ~/.bashrc.
/// zsh: eval "$(pushplan completions zsh)" in ~/.zshrc, after compinit.
/// fish: pushplan completions fish > ~/.config/fish/completions/pushplan.fish.
/// powershell: pushplan completions powershell | Out-String | Invoke-Expression in $PROFILE.
/// elvish: eval (pushplan completions elvish | slurp) in rc.elv.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
}

impl Completions {
    pub fn run(&self, context: &Context) -> Ended {
        let name = self.shell.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let script = complete::script(&name).map_err(|error| Failure::new(error.to_string()))?;
        context.out.exact(&script);
        Ok(Exit::Done)
    }
}
