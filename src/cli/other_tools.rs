//! Commands of other tools, and what to use instead.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};

use crate::failure::Failure;

/// Words that are commands in other tools, and what to use instead.
const WORDS: [(&[&str], &str); 13] = [
    (&["import"], "`pushplan adopt` manages what exists on the service; `pushplan pull` also writes its manifest"),
    (&["export", "dump"], "`pushplan pull` writes manifests for what the service has"),
    (
        &["state"],
        "`pushplan list` lists what a target manages; `pushplan show ADDRESS` compares one resource with the service",
    ),
    (
        &["status", "refresh"],
        "`pushplan drift` shows what changed on the service; `pushplan plan` shows what would change",
    ),
    (
        &["deploy", "push", "up"],
        "`pushplan apply` makes the service match the manifests; `pushplan send` sends a test message",
    ),
    (&["check", "lint"], "`pushplan validate` checks manifests"),
    (&["format"], "`pushplan fmt` formats manifests in the standard layout"),
    (&["rename", "move"], "`pushplan mv OLD NEW` renames a resource in all files and ledgers"),
    (&["rollback", "undo"], "`pushplan revert RUN` undoes a run; `pushplan history` lists the runs"),
    (&["sync", "watch"], "`pushplan reconcile` reports or corrects drift at an interval"),
    (
        &["delete", "remove", "rm"],
        "remove the resource from its manifest and run `pushplan apply`; `pushplan forget` leaves it on the service",
    ),
    (&["force-unlock"], "`pushplan unlock` ends the lease of a dead run"),
    (&["login", "auth"], "credentials come from the environment: `pushplan help environment` lists the variables"),
];

/// The words of a command line, with `list` for `state list` and `show` for `state show`.
pub fn words(words: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut words: Vec<OsString> = words.collect();
    let is_state = words.get(1).is_some_and(|word| word == "state");
    if is_state && words.get(2).is_some_and(|word| word == "list" || word == "show") {
        words.remove(1);
    }
    words.into_iter()
}

/// The failure for a command of another tool, if that is the first word.
pub fn unknown_command(error: &clap::Error) -> Option<Failure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let is_first = std::env::args_os().nth(1).is_some_and(|first| first == **word);
    let (_, instead) = WORDS.iter().find(|(words, _)| is_first && words.contains(&word.as_str()))?;
    Some(Failure::usage(format!("`{word}` is not a command")).help(*instead))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Arguments;

    #[test]
    fn state_list_and_state_show_are_list_and_show() {
        let read = |line: &str| -> Vec<OsString> { words(line.split(' ').map(OsString::from)).collect() };
        assert_eq!(read("pushplan state list"), ["pushplan", "list"]);
        assert_eq!(read("pushplan state show segments/a"), ["pushplan", "show", "segments/a"]);
        assert_eq!(read("pushplan state rm segments/a"), ["pushplan", "state", "rm", "segments/a"]);
        assert_eq!(read("pushplan plan state list"), ["pushplan", "plan", "state", "list"]);
    }

    #[test]
    fn only_commands_that_exist_are_named_and_none_that_does_is_explained() {
        let line = Arguments::command();
        for (words, instead) in WORDS {
            for word in words {
                assert!(line.find_subcommand(word).is_none(), "{word}");
            }
            let named = instead.split("`pushplan ").skip(1).map(|rest| rest.split([' ', '`']).next().expect("a word"));
            assert!(named.clone().count() > 0, "{instead}");
            for name in named {
                assert!(line.find_subcommand(name).is_some(), "{name}");
            }
        }
    }
}
