use std::fmt::Write;

use clap::error::ErrorKind;
use clap::{Args, Command, CommandFactory};

use super::{Arguments, Context, Ended, examples};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::help::{self, Forms};
use crate::text;

/// Explain a command or a topic.
///
/// The topics are exit-codes, environment, formats and time-zones.
#[derive(Debug, Args)]
pub struct Help {
    /// A command such as `plan` or `ledger move`, or a topic [default: all commands]
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
}

/// The text below the list of commands.
pub(crate) const TOPICS: &str =
    "Topics: pushplan help exit-codes, environment, formats, time-zones; pushplan explain CODE for a finding";

/// A help topic that is no command.
#[derive(Debug)]
pub struct Topic {
    pub name: &'static str,
    pub about: &'static str,
    text: fn() -> String,
}

pub const ALL: [Topic; 4] = [
    Topic { name: "exit-codes", about: "meaning of exit codes", text: help::exit_codes },
    Topic { name: "environment", about: "environment variables", text: help::environment },
    Topic { name: "formats", about: "forms of --format and their purpose", text: || help::formats(&forms()) },
    Topic { name: "time-zones", about: "how times and time zones are read", text: help::time_zones },
];

impl Help {
    pub fn run(&self, context: &Context) -> Ended {
        if let [word] = self.words.as_slice()
            && let Some(topic) = ALL.iter().find(|topic| topic.name == word)
        {
            context.out.print(&(topic.text)());
            return Ok(Exit::Done);
        }
        let mut command = Arguments::command();
        command.build();
        let mut found = &command;
        for word in &self.words {
            found = found.find_subcommand(word).ok_or_else(|| unknown(word, found, self.words.len()))?;
        }
        let words = ["pushplan"].into_iter().chain(self.words.iter().map(String::as_str)).chain(["--help"]);
        match command_line().try_get_matches_from(words) {
            Err(error) if error.kind() == ErrorKind::DisplayHelp => {
                context.out.print(&error.render().ansi().to_string());
            }
            _ => return Err(Failure::new("no help exists")),
        }
        Ok(Exit::Done)
    }
}

/// The whole command line. Its help lists the commands by groups, one line each.
pub(super) fn command_line() -> Command {
    let line = examples::added(Arguments::command());
    let (heading, literal) = (line.get_styles().get_header(), line.get_styles().get_literal());
    let groups = super::Command::GROUPS;
    let width = groups.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let mut template = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (group, names) in groups {
        let _ = writeln!(template, "\n{heading}{group}:{heading:#}");
        for name in *names {
            let about = line.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_default();
            let _ = writeln!(template, "  {literal}{name:width$}{literal:#}  {}", about.trim_end_matches('.'));
        }
    }
    let _ = write!(template, "\n{heading}Options:{heading:#}\n{{options}}{{after-help}}");
    line.help_template(template)
}

fn unknown(word: &str, above: &Command, words: usize) -> Failure {
    let commands = above.get_subcommands().map(Command::get_name);
    let topics = ALL.iter().map(|topic| topic.name).filter(|_| words == 1);
    let known: Vec<&str> = commands.chain(topics).collect();
    let failure = Failure::usage(format!("`{word}` is not a command or a topic"));
    match text::nearest(word, known.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help("`pushplan help` lists the commands and the topics"),
    }
}

/// Every `--format` of every command, with its values.
pub(super) fn forms() -> Vec<Forms> {
    fn below(command: &Command, above: &str, into: &mut Vec<Forms>) {
        for command in command.get_subcommands() {
            let name = format!("{above}{}", command.get_name());
            if let Some(format) = command.get_arguments().find(|arg| arg.get_long() == Some("format")) {
                let values = format.get_possible_values();
                let usual = format.get_default_values().first().and_then(|usual| usual.to_str());
                debug_assert!(
                    usual.is_none_or(|usual| values[0].matches(usual, false)),
                    "{name}: {usual:?} is not the first"
                );
                let value = |value: &clap::builder::PossibleValue| {
                    (value.get_name().to_owned(), value.get_help().map(ToString::to_string))
                };
                into.push(Forms { command: name.clone(), values: values.iter().map(value).collect() });
            }
            below(command, &format!("{name} "), into);
        }
    }
    let mut all = Vec::new();
    below(&Arguments::command(), "", &mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topics_are_named_where_commands_are_listed() {
        assert!(ALL.iter().all(|topic| TOPICS.contains(topic.name)));
        assert!(ALL.iter().all(|topic| Arguments::command().find_subcommand(topic.name).is_none()));
    }

    #[test]
    fn every_form_of_every_command_says_what_it_is_for() {
        let forms = forms();
        assert!(forms.len() > 12, "{} commands", forms.len());
        for Forms { command, values } in &forms {
            for (name, about) in values {
                assert!(help::purpose(name, about.as_deref()).is_some(), "{command} --format {name}");
            }
        }
    }
}
