//! The command line: one file per command, each with its arguments and one function.

mod adopt;
mod api;
mod apply;
mod asking;
mod calendar;
mod ci;
mod complete;
mod completions;
mod destroy;
mod diff;
mod doctor;
mod drift;
mod drifting;
mod explain;
mod fix;
mod fmt;
mod forget;
mod forms;
mod graph;
mod help;
mod history;
mod init;
mod ledger;
mod local;
mod lookup;
mod man;
mod many;
mod message;
mod mv;
mod offline;
mod outcome;
mod plan;
mod planning;
mod preview;
mod private;
mod project;
mod promote;
mod pull;
mod reconcile;
mod report;
mod resolve;
mod revert;
mod review;
mod said;
mod schema;
mod scope;
mod send;
mod serve;
mod service_options;
mod show;
pub mod signals;
pub mod target;
mod test;
mod turn;
mod unlock;
mod unmanaged;
mod validate;
mod who;

use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use tokio::runtime::Runtime;

use crate::failure::{Exit, Failure};
use crate::render::Out;

/// Configuration as code for a messaging service.
#[derive(Debug, Parser)]
#[command(name = "pushplan", version, max_term_width = 100, disable_help_subcommand = true, after_help = help::TOPICS)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

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

#[derive(Debug, Subcommand)]
enum Command {
    Adopt(adopt::Adopt),
    Api(api::Api),
    Apply(apply::Apply),
    Calendar(calendar::Calendar),
    Ci(ci::Ci),
    Completions(completions::Completions),
    Destroy(destroy::Destroy),
    Diff(diff::Diff),
    Doctor(doctor::Doctor),
    Drift(drift::Drift),
    Explain(explain::Explain),
    Fmt(fmt::Fmt),
    Forget(forget::Forget),
    Graph(graph::Graph),
    Help(help::Help),
    History(history::History),
    Init(init::Init),
    Ledger(ledger::Ledger),
    Lookup(lookup::Lookup),
    Man(man::Man),
    Mv(mv::Mv),
    Outcome(outcome::Outcome),
    Plan(plan::Plan),
    Preview(preview::Preview),
    Promote(promote::Promote),
    Pull(pull::Pull),
    Reconcile(reconcile::Reconcile),
    Report(report::Report),
    Resolve(resolve::Resolve),
    Revert(revert::Revert),
    Schema(schema::Schema),
    Send(send::Send),
    Serve(serve::Serve),
    Show(show::Show),
    Test(test::Test),
    Unlock(unlock::Unlock),
    Unmanaged(unmanaged::Unmanaged),
    Validate(validate::Validate),
}

impl Command {
    /// Whether what it prints is all that it is for.
    fn is_answer(&self) -> bool {
        matches!(
            self,
            Self::Calendar(_)
                | Self::Ci(_)
                | Self::Completions(_)
                | Self::Diff(_)
                | Self::Doctor(_)
                | Self::Drift(_)
                | Self::Explain(_)
                | Self::Fmt(_)
                | Self::Graph(_)
                | Self::Help(_)
                | Self::History(_)
                | Self::Lookup(_)
                | Self::Man(_)
                | Self::Outcome(_)
                | Self::Plan(_)
                | Self::Preview(_)
                | Self::Report(_)
                | Self::Schema(_)
                | Self::Show(_)
                | Self::Test(_)
                | Self::Unmanaged(_)
                | Self::Validate(_)
        )
    }
}

/// What a command gets: where to print.
#[derive(Clone, Debug)]
pub struct Context {
    pub out: Out,
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    if let Some(exit) = complete::answer() {
        return ExitCode::from(exit as u8);
    }
    if asks_for_version() {
        Out::new(anstream::ColorChoice::Auto).print(concat!("pushplan ", env!("CARGO_PKG_VERSION"), "\n"));
        return ExitCode::SUCCESS;
    }
    // It is let go with the process, which is quicker.
    let mut line = ManuallyDrop::new(Arguments::command());
    let parsed = line.try_get_matches_from_mut(std::env::args_os()).and_then(|matches| {
        let arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut line))?;
        Ok((arguments, said::commands(&line, &matches)))
    });
    let (arguments, commands) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    let color = match arguments.color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    let context = Context { out: Out::new(color).saying(commands) };
    // The main thread works with the others: its memory grows more cheaply than theirs. Failing that, they work alone.
    let _ = rayon::ThreadPoolBuilder::new().use_current_thread().build_global();
    let is_answer = arguments.command.is_answer();
    let ended = match arguments.command {
        Command::Adopt(command) => command.run(&context),
        Command::Api(command) => command.run(&context),
        Command::Apply(command) => command.run(&context),
        Command::Calendar(command) => command.run(&context),
        Command::Ci(command) => command.run(&context),
        Command::Completions(command) => command.run(&context),
        Command::Destroy(command) => command.run(&context),
        Command::Diff(command) => command.run(&context),
        Command::Doctor(command) => command.run(&context),
        Command::Drift(command) => command.run(&context),
        Command::Explain(command) => command.run(&context),
        Command::Fmt(command) => command.run(&context),
        Command::Forget(command) => command.run(&context),
        Command::Graph(command) => command.run(&context),
        Command::Help(command) => command.run(&context),
        Command::History(command) => command.run(&context),
        Command::Init(command) => command.run(&context),
        Command::Ledger(command) => command.run(&context),
        Command::Lookup(command) => command.run(&context),
        Command::Man(command) => command.run(&context),
        Command::Mv(command) => command.run(&context),
        Command::Outcome(command) => command.run(&context),
        Command::Plan(command) => command.run(&context),
        Command::Preview(command) => command.run(&context),
        Command::Promote(command) => command.run(&context),
        Command::Pull(command) => command.run(&context),
        Command::Reconcile(command) => command.run(&context),
        Command::Report(command) => command.run(&context),
        Command::Resolve(command) => command.run(&context),
        Command::Revert(command) => command.run(&context),
        Command::Send(command) => command.run(&context),
        Command::Serve(command) => command.run(&context),
        Command::Show(command) => command.run(&context),
        Command::Schema(command) => command.run(&context),
        Command::Test(command) => command.run(&context),
        Command::Unlock(command) => command.run(&context),
        Command::Unmanaged(command) => command.run(&context),
        Command::Validate(command) => command.run(&context),
    };
    let exit = match ended {
        Ok(exit) => exit,
        Err(failure) => {
            context.out.failure(&failure);
            failure.exit
        }
    };
    ExitCode::from(told(&context.out, exit, is_answer) as u8)
}

/// Whether the version is all that is asked for: it is told without a look at all the commands there are.
fn asks_for_version() -> bool {
    let mut asked = std::env::args_os().skip(1);
    asked.next().is_some_and(|word| word == "--version" || word == "-V") && asked.next().is_none()
}

/// How a command ends whose output may be missing. One that did something ends as that did.
fn told(out: &Out, exit: Exit, is_answer: bool) -> Exit {
    let Some(why) = out.lost() else { return exit };
    out.failure(&Failure::new(format!("standard output could not be written: {why}")));
    if is_answer && matches!(exit, Exit::Done | Exit::Changes) { Exit::Failed } else { exit }
}

/// Help and version are answers; everything else is a usage error, exit 64.
fn usage(error: &clap::Error) -> ExitCode {
    let out = Out::new(anstream::ColorChoice::Auto);
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        out.note(&text);
        return ExitCode::from(Exit::Usage as u8);
    }
    out.print(&text);
    ExitCode::SUCCESS
}

/// How a command ends.
pub type Ended = Result<Exit, Failure>;

/// Where requests are carried. One for all of a command: connections outlive whoever made them.
fn runtime() -> Result<&'static Runtime, Failure> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if RUNTIME.get().is_none() {
        let made = Runtime::new().map_err(|error| Failure::new(error.to_string()))?;
        let _ = RUNTIME.set(made);
    }
    RUNTIME.get().ok_or_else(|| Failure::new("the runtime is gone"))
}
