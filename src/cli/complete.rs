//! Completing a command line. A shell's script calls this program, which knows the current project.
//!
//! It is fast and silent: unreadable files complete nothing, there is no network request, and nothing is written.

mod values;

use std::env;
use std::io;
use std::panic;
use std::sync::OnceLock;

use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::CompleteEnv;
use clap_complete::engine::ArgValueCompleter;
use clap_complete::env::Shells;

use super::Arguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::Out;

/// Set by the scripts: the name of the calling shell.
const ASKED: &str = "PUSHPLAN_COMPLETE";
const NAME: &str = "pushplan";
/// Shells that quote a value if needed.
const QUOTING: [&str; 3] = ["elvish", "fish", "zsh"];
/// Whether the calling shell is one of them. The variable is removed before values are completed.
static QUOTES: OnceLock<bool> = OnceLock::new();
/// The wrapper script for bash.
const BASH: &str = include_str!("complete/bash.sh");

/// Answers a shell, if one calls. Other calls only cost reading one variable.
pub fn answer() -> Option<Exit> {
    let shell = env::var_os(ASKED).filter(|shell| !shell.is_empty())?;
    if shell.to_str().is_none_or(|name| Shells::builtins().completer(name).is_none()) {
        let known: Vec<&str> = Shells::builtins().names().collect();
        let failure = Failure::usage(format!("{ASKED} is not one of {}", known.join(", ")));
        Out::new(anstream::ColorChoice::Auto).failure(&failure.help("it is for the scripts of `pushplan completions`"));
        return Some(Exit::Usage);
    }
    QUOTES.get_or_init(|| QUOTING.iter().any(|name| shell == *name));
    // The user is typing, so no error may be printed into the line.
    panic::set_hook(Box::new(|_| {}));
    let complete = || {
        let here = env::current_dir().ok();
        let asked = CompleteEnv::with_factory(command).var(ASKED).bin(NAME).completer(NAME);
        asked.try_complete(env::args_os(), here.as_deref())
    };
    Some(match panic::catch_unwind(complete) {
        Ok(Ok(_)) => Exit::Done,
        Ok(Err(_)) | Err(_) => Exit::Failed,
    })
}

/// The script that a shell runs once, so that it calls this program from then on.
pub fn script(shell: &str) -> io::Result<Vec<u8>> {
    let shells = Shells::builtins();
    let asks = shells.completer(shell).ok_or_else(|| io::Error::other("the shell is unknown"))?;
    let mut script = Vec::new();
    asks.write_registration(ASKED, NAME, NAME, NAME, &mut script)?;
    if shell == "bash" {
        let whole = String::from_utf8_lossy(&script).replace("-F _clap_complete_pushplan", "-F _pushplan_complete");
        script = format!("{whole}{BASH}").into_bytes();
    }
    Ok(script)
}

/// The command line, with completions for its values.
fn command() -> Command {
    completed(Arguments::command(), &[])
}

fn completed(command: Command, above: &[String]) -> Command {
    let path: Vec<String> = above.iter().cloned().chain([command.get_name().to_owned()]).collect();
    let words: Vec<&str> = path.iter().skip(1).map(String::as_str).collect();
    let command = command.mut_args(|arg| with_values(arg, &words));
    command.mut_subcommands(|below| completed(below, &path))
}

/// Adds the completions of an argument's values, which depend on the name of its value in the help.
fn with_values(arg: Arg, command: &[&str]) -> Arg {
    let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string).unwrap_or_default();
    let id = arg.get_id().to_string();
    let from = |arg: Arg, values: fn(&std::ffi::OsStr) -> values::Candidates| arg.add(ArgValueCompleter::new(values));
    match (command, id.as_str(), name.as_str()) {
        (["help"], ..) => from(arg, values::helped),
        (["explain"], "topic", _) => from(arg, values::explained),
        (["promote"], "from" | "to", _) | (_, "target", _) | (_, _, "TARGET") => from(arg, values::targets),
        (["lookup", "segment"], "id", _) => from(arg, |current| values::keys("segments", current)),
        (["lookup", "template"], "id", _) => from(arg, |current| values::keys("templates", current)),
        (_, _, "ADDRESS" | "OLD") => from(arg, values::addresses),
        (_, _, "WHAT" | "WHICH") if arg.is_positional() => from(arg, values::kinds_and_addresses),
        (_, _, "LOCALE") => from(arg, values::locales),
        (_, _, "ZONE") => from(arg, values::zones),
        (["api"], "path", _) => arg,
        (_, _, "DIR") => from(arg, values::folders),
        (_, _, "FILE" | "PATH" | "PLAN" | "FILE|NAME") => from(arg, values::paths),
        _ if arg.get_value_hint() == ValueHint::AnyPath => from(arg, values::paths),
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use clap_complete::engine::ArgValueCompleter;

    use super::*;

    fn all(command: &Command, above: &str, into: &mut Vec<(String, Arg)>) {
        let name = format!("{above} {}", command.get_name());
        into.extend(command.get_arguments().map(|arg| (format!("{name} {}", arg.get_id()), arg.clone())));
        command.get_subcommands().for_each(|below| all(below, &name, into));
    }

    #[test]
    fn every_value_is_completed_or_is_for_the_author_to_choose() {
        /// Values that only the author knows.
        const FREE: [&str; 24] = [
            "A..B",
            "ADDRESS:PORT",
            "CODE",
            "DATE",
            "FINGERPRINT",
            "ID",
            "KEY:SECRET",
            "KEY=VALUE",
            "LAT,LON",
            "N",
            "NAME",
            "NAME: VALUE",
            "NEW",
            "NUMBER",
            "NUMBER|FILE",
            "PLACE",
            "PORT",
            "PUSH_ID",
            "RECIPIENT",
            "REF",
            "SOUTH,WEST,NORTH,EAST",
            "TIME",
            "URL",
            "USER:PASSWORD",
        ];
        let mut command = command();
        command.build();
        let mut args = Vec::new();
        all(&command, "", &mut args);
        let is_open = |arg: &Arg| {
            let takes = arg.get_num_args().is_some_and(|number| number.takes_values());
            let is_completed = arg.get::<ArgValueCompleter>().is_some() || !arg.get_possible_values().is_empty();
            takes && !is_completed && arg.get_value_hint() == ValueHint::Unknown
        };
        let name = |arg: &Arg| arg.get_value_names().map(|names| names[0].to_string()).unwrap_or_default();
        let is_free = |place: &str, arg: &Arg| {
            FREE.contains(&name(arg).as_str())
                || matches!(place, " pushplan api method" | " pushplan api path")
                || name(arg) == "TYPE"
                || place == " pushplan serve vendor"
        };
        let left: Vec<String> = args
            .iter()
            .filter(|(place, arg)| is_open(arg) && !is_free(place, arg))
            .map(|(place, arg)| format!("{place} <{}>", name(arg)))
            .collect();
        assert!(left.is_empty(), "{left:#?}");
        let targets = args.iter().filter(|(place, _)| place.ends_with(" target"));
        assert!(
            targets.clone().count() > 20 && targets.clone().all(|(_, arg)| arg.get::<ArgValueCompleter>().is_some())
        );
    }
}
