//! Commands that continue after another one.

use crate::plan::Choice;
use crate::text::shell_word;

/// The command to repeat, with the given project, target and selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// The command that continues with the same plan, such as `apply` or `revert 3`.
    pub command: String,
    /// The options that name the project and the target, each after a space; empty if they were not given.
    project: String,
    target: String,
    choice: String,
    /// The command that shows the same plan, such as `plan`.
    look: String,
    /// Whether the command itself names its target.
    is_whole: bool,
}

impl Default for Repetition {
    fn default() -> Self {
        Self::new("apply", None, None, &Choice::default())
    }
}

impl Repetition {
    /// A command with the given options.
    pub fn new(command: &str, project: Option<&str>, target: Option<&str>, choice: &Choice) -> Self {
        let option = |name: &str, value: &str| format!(" {name} {}", shell_word(value));
        let project = project.map(|folder| option("--project", folder)).unwrap_or_default();
        let target = target.map(|name| option("--target", name)).unwrap_or_default();
        let only = choice.only.iter().map(|pattern| option("--only", pattern));
        let except = choice.except.iter().map(|pattern| option("--except", pattern));
        let (choice, look) = (only.chain(except).collect(), "plan".to_owned());
        Self { command: command.to_owned(), project, target, choice, look, is_whole: false }
    }

    /// Sets the command that shows the plan, such as `diff a..b`.
    pub fn looking(self, look: &str) -> Self {
        Self { look: look.to_owned(), ..self }
    }

    /// Marks a command that names its target itself, such as `promote --from staging --to production`. The command that shows
    /// the plan then does too.
    pub fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// A command for several targets, selected with these options.
    pub fn of_several(command: &str, project: Option<&str>, targets: &[String], choice: &Choice) -> Self {
        let target = targets.iter().map(|word| format!(" {}", shell_word(word))).collect();
        Self { target, ..Self::new(command, project, None, choice) }
    }

    /// The command that continues with the same plan.
    pub fn go_on(&self) -> String {
        let Self { command, project, target, choice, is_whole, .. } = self;
        let target = if *is_whole { "" } else { target };
        format!("pushplan {command}{project}{target}{choice}")
    }

    /// The command that applies a saved plan, which contains its target and its selection.
    pub(crate) fn of_file(&self, file: &str) -> String {
        format!("pushplan apply {}{}", shell_word(file), self.project)
    }

    /// The command that shows the plan.
    pub fn plan(&self) -> String {
        let Self { look, project, target, choice, is_whole, .. } = self;
        let target = if *is_whole { "" } else { target };
        format!("pushplan {look}{project}{target}{choice}")
    }

    /// Another command for the same target, such as `resolve segments/a --absent`.
    pub fn other(&self, command: &str) -> String {
        format!("pushplan {command}{}{}", self.project, self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_said_again_with_what_it_was_given() {
        let choice = Choice { only: vec!["segments/*".to_owned()], except: vec!["segments/a".to_owned()] };
        let again = Repetition::new("apply", Some("my shop"), Some("prod"), &choice);
        let place = "--project 'my shop' --target prod";
        assert_eq!(again.go_on(), format!("pushplan apply {place} --only 'segments/*' --except segments/a"));
        assert_eq!(again.plan(), format!("pushplan plan {place} --only 'segments/*' --except segments/a"));
        assert_eq!(again.other("history"), format!("pushplan history {place}"));
        assert_eq!(Repetition::default().go_on(), "pushplan apply");
    }
}
