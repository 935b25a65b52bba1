//! Commands in messages that can be copied: with the project and the target of the running command.

use std::any::Any;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{ArgMatches, Command, CommandFactory};

use super::Arguments;
use crate::render::{CommandWords, Commands};

/// The options for the project and its targets.
const PROJECT: &str = "project";
const TARGET: &str = "target";
/// The argument of commands that get the project as a path.
const PATHS: &str = "paths";
/// The argument for a saved plan.
const PLAN: &str = "plan";

/// All commands, and the options of the running one.
pub fn commands(matches: &ArgMatches) -> Commands {
    let mut given = matches;
    while let Some((_, inner)) = given.subcommand() {
        given = inner;
    }
    let project: Vec<PathBuf> = values(given, PROJECT);
    let targets: Vec<String> = values(given, TARGET);
    let target = match targets.as_slice() {
        [one] if !one.contains(['*', ',']) => Some(one.clone()),
        _ => None,
    };
    Commands { project: project.first().map(|folder| folder.display().to_string()), target, known }
}

/// All commands. Collecting them takes longer than most of a small command.
fn known() -> &'static [CommandWords] {
    static KNOWN: LazyLock<Vec<CommandWords>> = LazyLock::new(|| {
        let mut known = Vec::new();
        all(&Arguments::command(), "", &mut known);
        known
    });
    &KNOWN
}

/// Every subcommand, with the words before it.
fn all(line: &Command, before: &str, known: &mut Vec<CommandWords>) {
    for command in line.get_subcommands() {
        let name = format!("{before}{}", command.get_name());
        let has = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
        all(command, &format!("{name} "), known);
        let has_paths = has(PATHS) && !has(PROJECT);
        let (has_project, has_target, has_plan) = (has(PROJECT), has(TARGET), has(PLAN));
        known.push(CommandWords { name, has_project, has_target, has_paths, has_plan });
    }
}

/// The values of an option that a command may not have.
fn values<T: Any + Clone + Send + Sync>(matches: &ArgMatches, id: &str) -> Vec<T> {
    matches.try_get_many::<T>(id).ok().flatten().into_iter().flatten().cloned().collect()
}
