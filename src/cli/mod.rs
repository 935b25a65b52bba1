//! The command line: one file per command, each with its arguments and one function.

mod adopt;
mod api;
mod apply;
mod applying;
mod asking;
mod calendar;
mod ci;
mod complete;
mod completions;
mod destroy;
mod diff;
mod docs;
mod doctor;
mod drift;
mod drifting;
mod examples;
mod explain;
mod fmt;
mod forget;
mod forms;
mod graph;
mod help;
mod history;
mod http_server;
mod init;
mod ledger;
mod list;
mod locales;
mod lookup;
mod man;
mod many;
mod message;
mod mv;
mod offline;
mod other_tools;
mod outcome;
mod places;
mod plan;
mod planning;
mod presenting;
mod preview;
mod promote;
mod pull;
mod reach;
mod reconcile;
mod report;
mod resolve;
mod revert;
mod review;
mod said;
mod schema;
mod send;
mod serve;
mod service_options;
mod show;
pub mod signals;
mod test;
mod turn;
mod unlock;
mod unmanaged;
mod validate;

use std::ffi::OsStr;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use tokio::runtime::Runtime;

use crate::cores;
use crate::engine::{Notes, Session};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::nouns::zone;
use crate::render::{Commands, Out};

pub use docs::book;

/// The name of the program.
const NAME: &str = "pushplan";

/// Configuration as code for a messaging service.
#[derive(Debug, Parser)]
#[command(name = NAME, version, max_term_width = 100, disable_help_subcommand = true, after_help = help::TOPICS)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    common: Common,
}

// Options of all commands. A doc comment would become the description of the program.
#[derive(Debug, Args)]
struct Common {
    /// When to use colour
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// Declares the commands by the groups of `--help`, each in the module of its name. Commands marked `answers` only
/// print.
macro_rules! commands {
    ($($group:literal { $($module:ident::$name:ident $($answers:ident)?,)* })*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[command(name = stringify!($module))] $name($module::$name),)*)*
        }

        impl Command {
            /// The groups in order, with the names of their commands.
            const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$(stringify!($module),)*]),)*];

            /// A command by its name on the command line.
            fn named(name: &OsStr) -> Option<clap::Command> {
                $($(if name == stringify!($module) {
                    return Some($module::$name::augment_args(clap::Command::new(stringify!($module))));
                })*)*
                None
            }

            /// Whether it only prints.
            fn is_answer(&self) -> bool {
                match self {
                    $($(Self::$name(_) => commands!(@ $($answers)?),)*)*
                }
            }

            fn run(&self, context: &Context) -> Ended {
                match self {
                    $($(Self::$name(command) => command.run(context),)*)*
                }
            }
        }
    };
    (@ answers) => { true };
    (@) => { false };
}

commands! {
    "Start" {
        init::Init,
        serve::Serve,
        doctor::Doctor answers,
        docs::Docs,
        explain::Explain answers,
        help::Help answers,
    }
    "Write" {
        validate::Validate answers,
        fmt::Fmt answers,
        preview::Preview answers,
        test::Test answers,
        lookup::Lookup answers,
        locales::Locales,
        mv::Mv,
    }
    "Review" {
        plan::Plan answers,
        diff::Diff answers,
        calendar::Calendar answers,
        reach::Reach,
        graph::Graph answers,
    }
    "Apply" {
        apply::Apply,
        promote::Promote,
        revert::Revert,
        resolve::Resolve,
        unlock::Unlock,
        send::SendCommand,
        destroy::Destroy,
    }
    "Operate" {
        drift::Drift answers,
        unmanaged::Unmanaged answers,
        adopt::Adopt,
        pull::Pull,
        forget::Forget,
        outcome::Outcome answers,
    }
    "Automate" {
        ci::Ci answers,
        reconcile::Reconcile,
        schema::Schema answers,
        completions::Completions answers,
        man::Man answers,
    }
    "Inspect" {
        list::List answers,
        show::Show answers,
        history::History answers,
        ledger::Ledger,
        report::Report answers,
        api::Api,
    }
}

/// The context of a command: its output, and its knowledge of other runs.
#[derive(Clone, Debug)]
pub struct Context {
    pub out: Out,
    pub session: Session,
}

impl Notes for Out {
    fn note(&self, words: &str) {
        Self::note(self, words);
    }

    fn line(&self, bytes: &[u8]) {
        self.exact_note(bytes);
    }
}

/// Keeps the environment and the memory of this process from other processes of the same user, such as those that git starts.
/// On a system that cannot do this, nothing changes.
pub fn conceal() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    signals::survive_file_limit();
    if let Some(exit) = complete::answer() {
        return ExitCode::from(exit as u8);
    }
    if asks_for_version() {
        Out::new(anstream::ColorChoice::Auto).print(concat!("pushplan ", env!("CARGO_PKG_VERSION"), "\n"));
        return ExitCode::SUCCESS;
    }
    let (arguments, commands) = match parsed() {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    let color = match arguments.common.color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    let out = Out::new(color).saying(commands);
    let context = Context { session: Session::new(Arc::new(out.clone())), out };
    cores::with_this_thread();
    if std::env::var_os("TZDIR").is_none() {
        zone::are_in_the_usual_folder();
    }
    let is_answer = arguments.command.is_answer();
    let ended = arguments.command.run(&context);
    let exit = match ended {
        Ok(exit) => exit,
        Err(failure) => {
            context.out.failure(&failure);
            Exit::from(&failure)
        }
    };
    ExitCode::from(told(&context.out, exit, is_answer) as u8)
}

/// Parses the command line. Nearly always it begins with a valid command, and then only that one is built; for errors
/// and help, all of them are.
fn parsed() -> Result<(Arguments, Commands), clap::Error> {
    let one = other_tools::words(std::env::args_os()).nth(1).and_then(|word| Command::named(&word));
    let around = || Common::augment_args(clap::Command::new(NAME)).disable_help_subcommand(true);
    if let Some(parsed) = one.and_then(|one| parsed_by(around().subcommand(one)).ok()) {
        return Ok(parsed);
    }
    parsed_by(help::command_line())
}

fn parsed_by(line: clap::Command) -> Result<(Arguments, Commands), clap::Error> {
    // Its memory is freed when the process ends, which is faster.
    let mut line = ManuallyDrop::new(line);
    let matches = line.try_get_matches_from_mut(other_tools::words(std::env::args_os()))?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut line))?;
    Ok((arguments, said::commands(&matches)))
}

/// Whether only the version is requested, which is printed without building any command.
fn asks_for_version() -> bool {
    let mut asked = std::env::args_os().skip(1);
    let is_version = |word| ["--version", "-V", "version"].iter().any(|known| word == *known);
    asked.next().is_some_and(is_version) && asked.next().is_none()
}

/// The exit code of a command whose output may be incomplete. A command that did something keeps its exit code.
fn told(out: &Out, exit: Exit, is_answer: bool) -> Exit {
    let Some(why) = out.lost() else { return exit };
    out.failure(&Failure::new(format!("standard output could not be written: {why}")));
    if is_answer && matches!(exit, Exit::Done | Exit::Changes) { Exit::Failed } else { exit }
}

/// Help and version are answers; everything else is a usage error, exit 64.
fn usage(error: &clap::Error) -> ExitCode {
    let out = Out::new(anstream::ColorChoice::Auto);
    if let Some(failure) = other_tools::unknown_command(error) {
        out.failure(&failure);
        return ExitCode::from(Exit::Usage as u8);
    }
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        out.note(&text);
        return ExitCode::from(Exit::Usage as u8);
    }
    out.print(&text);
    ExitCode::SUCCESS
}

/// The end of a command.
pub type Ended = Result<Exit, Failure>;

/// The runtime for requests, one for the whole command, because connections outlive their creators.
fn runtime() -> Result<&'static Runtime, Failure> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if RUNTIME.get().is_none() {
        let made = Runtime::new().map_err(|error| Failure::new(error.to_string()))?;
        let _ = RUNTIME.set(made);
    }
    RUNTIME.get().ok_or_else(|| Failure::new("the runtime is gone"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn a_command_by_itself_is_the_one_among_all() {
        for among in Arguments::command().get_subcommands() {
            let name = among.get_name();
            let alone = Command::named(OsStr::new(name)).expect("a command has its module's name");
            let arguments = |command: &clap::Command| -> Vec<String> {
                command.get_arguments().map(|argument| format!("{argument:?}")).collect()
            };
            assert_eq!(arguments(&alone), arguments(among), "{name}");
            let help = |command: &clap::Command| command.clone().render_long_help().to_string();
            assert_eq!(help(&alone), help(among), "{name}");
        }
        assert!(Command::named(OsStr::new("plans")).is_none());
    }
}
