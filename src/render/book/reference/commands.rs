//! Every command with its flags, from the table of the command line parser.

use std::fmt::Write;

use clap::{Arg, ArgAction, Command};

use super::{Chapter, code, file_name, head, line, prose, titled};
use crate::render::book::CommandTables;

/// The list of the commands, and a page for each group.
pub(super) fn chapters(tables: &CommandTables) -> Vec<Chapter> {
    let mut index = titled("Commands");
    index.push_str("`pushplan COMMAND --help` prints the same. Every command also takes these:\n\n");
    flags(&mut index, tables.line.get_arguments().filter(|arg| arg.is_global_set()));
    let mut pages = Vec::new();
    for (group, names) in tables.groups {
        let path = format!("commands-{}.md", file_name(group));
        let _ = write!(index, "\n## {group}\n\n");
        head(&mut index, &["command", "purpose"]);
        let mut page = titled(&format!("Commands: {group}"));
        let mut apart = Vec::new();
        for command in names.iter().filter_map(|name| tables.line.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let name = command.get_name();
            // A command with subcommands has a separate page.
            let is_apart = command.has_subcommands();
            let place = if is_apart { format!("commands-{name}.md") } else { format!("{path}#pushplan-{name}") };
            line(&mut index, &[format!("[`pushplan {name}`]({place})"), prose(&about)]);
            if is_apart {
                let _ = write!(page, "\n## pushplan {name}\n\nSee [its own page]({place}).\n");
                let mut text = titled(&format!("Command: `pushplan {name}`"));
                described(&mut text, command, "pushplan", 2);
                apart.push(Chapter::new(2, format!("pushplan {name}"), format!("reference/{place}"), text));
            } else {
                described(&mut page, command, "pushplan", 2);
            }
        }
        pages.push(Chapter::new(1, *group, format!("reference/{path}"), page));
        pages.append(&mut apart);
    }
    pages.insert(0, Chapter::new(0, "Commands", "reference/commands.md", index));
    pages
}

/// A command and its subcommands.
fn described(out: &mut String, command: &Command, above: &str, level: usize) {
    let name = format!("{above} {}", command.get_name());
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let separator = if out.ends_with("\n\n") { "" } else { "\n" };
    let _ = write!(out, "{separator}{} {name}\n\n", "#".repeat(level));
    for paragraph in about.split("\n\n") {
        let paragraph = prose(paragraph);
        let _ = write!(out, "{paragraph}{}\n\n", if paragraph.ends_with(['.', ':']) { "" } else { "." });
    }
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let lines = examples.lines().skip(1).map(str::trim).collect::<Vec<_>>();
        let _ = write!(out, "```sh\n{}\n```\n\n", lines.join("\n"));
    }
    let all =
        || command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_global_set() && arg.get_id() != "help");
    flags(out, all());
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        described(out, below, &name, level + 1);
    }
}

/// A table of arguments, if there are any.
fn flags<'a>(out: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    let mut arguments = arguments.peekable();
    if arguments.peek().is_none() {
        return;
    }
    head(out, &["argument", "purpose"]);
    for arg in arguments {
        line(out, &[code(&usage(arg)), prose(&purpose(arg))]);
    }
}

/// The form of an argument: `--target <TARGET>`, `[ADDRESS]...`.
fn usage(arg: &Arg) -> String {
    let values: Vec<String> = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let many = if matches!(arg.get_action(), ArgAction::Append) { "..." } else { "" };
    let takes = arg.get_num_args().map_or(arg.get_action().takes_values(), |number| number.takes_values());
    let value = values.first().map_or(arg.get_id().as_str(), String::as_str).to_owned();
    match (arg.get_long(), arg.get_short()) {
        (Some(long), short) => {
            let short = short.map(|short| format!("-{short}, ")).unwrap_or_default();
            let value = if takes { format!(" {value}") } else { String::new() };
            format!("{short}--{long}{value}")
        }
        (None, Some(short)) => format!("-{short} {value}"),
        (None, None) if arg.is_required_set() => format!("{value}{many}"),
        (None, None) => format!("[{value}]{many}"),
    }
}

/// The help of an argument, with its default and its possible values.
fn purpose(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = help.split("\n\n").map(str::trim).collect::<Vec<_>>().join(". ").replace(".. ", ". ");
    // A default at the end stays at the end.
    let (about, default) = match help.rsplit_once(" [default: ").filter(|(_, rest)| rest.ends_with(']')) {
        Some((about, default)) => (about.to_owned(), format!(" [default: {default}")),
        None => (help, String::new()),
    };
    let mut out = about;
    let takes = arg.get_action().takes_values();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| code(value.get_name()))
        .collect();
    let mut more = |words: String| {
        let end = if out.is_empty() || out.ends_with(['.', ']', ':']) { "" } else { "." };
        let _ = write!(out, "{end} {words}");
    };
    if takes && !values.is_empty() {
        more(format!("One of {}.", values.join(", ").replace("\\|", "|")));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if takes && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        more(format!("Default: `{}`.", defaults.join(" ")));
    }
    out + &default
}
