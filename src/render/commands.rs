//! Commands in texts that can be copied: they get the project and the target of the running command, wherever the text
//! was made.

use std::borrow::Cow;

use crate::text::shell_word;

/// The beginning of a command.
const START: &str = "pushplan ";

/// A command of the command line.
#[derive(Clone, Debug)]
pub struct CommandWords {
    /// Its name, such as `plan` or `ledger restore`.
    pub name: String,
    pub has_project: bool,
    pub has_target: bool,
    /// Whether its first path is the project.
    pub has_paths: bool,
    /// Whether its first argument may be a saved plan, which contains the target.
    pub has_plan: bool,
}

/// The context for completing commands: the project and the target of the running command.
#[derive(Clone, Debug)]
pub struct Commands {
    pub project: Option<String>,
    /// The target, if a single one was given.
    pub target: Option<String>,
    /// Returns all commands, which few texts need.
    pub known: fn() -> &'static [CommandWords],
}

impl Default for Commands {
    fn default() -> Self {
        Self { project: None, target: None, known: || &[] }
    }
}

impl Commands {
    /// Completes the commands in a text. Options that they already have are kept.
    pub fn complete<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.complete_for(text, self.target.as_deref())
    }

    /// Completes the commands in a text for this target. With several targets, commands have to name one.
    pub(crate) fn complete_for<'t>(&self, text: &'t str, target: Option<&str>) -> Cow<'t, str> {
        if (self.project.is_none() && target.is_none()) || !text.contains(START) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + 64);
        let mut rest = text;
        while let Some(at) = rest.find(START) {
            let (before, command) = rest.split_at(at + START.len());
            let is_start = before[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || "`(".contains(c));
            let is_quoted = before[..at].ends_with('`');
            out.push_str(before);
            rest = command;
            let Some(known) = self.known(command).filter(|_| is_start) else { continue };
            let end = if is_quoted { command.find('`') } else { command.find(['\n', ';', '|']) };
            let command = &command[..end.unwrap_or(command.len())];
            // Another command may follow on the same line.
            let command = command.split(START).next().unwrap_or_default();
            out.push_str(&known.name);
            rest = &rest[known.name.len()..];
            let has_first = command[known.name.len()..].trim_start().starts_with(|c: char| c != '-');
            let says = |option: &str| command.contains(option);
            // A command with a project is already complete.
            let project = self.project.as_deref().filter(|_| !says("--project"));
            let is_targeted = says("--project") || says("--target") || says("--all-targets");
            let knows_target = known.has_plan && has_first;
            for (before, value) in [
                (" --project ", project.filter(|_| known.has_project)),
                (" ", project.filter(|_| known.has_paths && !has_first && !is_targeted)),
                (" --target ", target.filter(|_| known.has_target && !is_targeted && !knows_target)),
            ] {
                out.extend(value.map(|value| format!("{before}{}", shell_word(value))));
            }
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    /// The command at the beginning of a text.
    fn known(&self, text: &str) -> Option<&'static CommandWords> {
        let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        let is_it =
            |known: &&CommandWords| text.strip_prefix(&*known.name).is_some_and(|rest| !rest.starts_with(is_word));
        (self.known)().iter().filter(is_it).max_by_key(|known| known.name.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    fn known() -> &'static [CommandWords] {
        static KNOWN: LazyLock<Vec<CommandWords>> = LazyLock::new(|| {
            let known = |name: &str, has_project, has_target| CommandWords {
                name: name.to_owned(),
                has_project,
                has_target,
                has_paths: name == "validate",
                has_plan: name == "apply",
            };
            vec![
                known("plan", true, true),
                known("ledger", false, false),
                known("ledger restore", true, true),
                known("explain", false, false),
                known("adopt", true, true),
                known("forget", true, true),
                known("validate", false, true),
                known("apply", true, true),
            ]
        });
        &KNOWN
    }

    fn commands(project: Option<&str>, target: Option<&str>) -> Commands {
        Commands { project: project.map(str::to_owned), target: target.map(str::to_owned), known }
    }

    #[test]
    fn a_command_has_the_project_and_the_target_that_were_given() {
        let odd = commands(Some("q em3"), Some("e"));
        for (text, expected) in [
            ("see `pushplan plan`.", "see `pushplan plan --project 'q em3' --target e`."),
            (
                "run: pushplan ledger restore a.json --target 'x y'",
                "run: pushplan ledger restore --project 'q em3' a.json --target 'x y'",
            ),
            (
                "pushplan forget a/b, then pushplan adopt a/b",
                "pushplan forget --project 'q em3' --target e a/b, then pushplan adopt --project 'q em3' --target e a/b",
            ),
            ("`pushplan plan --all-targets`", "`pushplan plan --project 'q em3' --all-targets`"),
            ("`pushplan validate --fix`", "`pushplan validate 'q em3' --target e --fix`"),
            ("`pushplan validate FILE`", "`pushplan validate --target e FILE`"),
            ("`pushplan apply plans/e.plan`", "`pushplan apply --project 'q em3' plans/e.plan`"),
            ("`pushplan apply --yes`", "`pushplan apply --project 'q em3' --target e --yes`"),
            ("`pushplan explain` lists all", "`pushplan explain` lists all"),
            ("use pushplan 9.2.0; pushplan planned", "use pushplan 9.2.0; pushplan planned"),
            ("mypushplan plan", "mypushplan plan"),
        ] {
            assert_eq!(odd.complete(text), expected);
            assert_eq!(odd.complete(expected), expected, "nothing is said twice");
        }
    }

    #[test]
    fn where_nothing_was_given_nothing_is_added() {
        let text = "`pushplan plan` and pushplan adopt a/b";
        assert_eq!(commands(None, None).complete(text), text);
        let one = commands(None, None);
        let expected = "`pushplan plan --target e` and pushplan adopt --target e a/b";
        assert_eq!(one.complete_for(text, Some("e")), expected);
    }
}
