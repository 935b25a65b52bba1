//! Outputs of the steps of a CI system: numbers and names, in the forms that CI systems read.

use serde_json::json;

use super::plan::PlanView;
use super::{Repetition, one_line};
use crate::digest::Digest;
use crate::plan::{Action, Choice, Plan};
use crate::text::short;

/// The number of characters of a reason that are passed on: a report of variables is limited to 5,000 bytes in all.
const REASON: usize = 500;

/// The counts of all plans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputCounts {
    pub changes: usize,
    pub creates: usize,
    pub updates: usize,
    pub replaces: usize,
    pub deletes: usize,
    pub by_hand: usize,
    /// Changes that send messages, either when they are applied or later through a pipeline.
    pub sends: usize,
}

/// The outputs of a step. Unknown ones are empty.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    pub counts: Option<OutputCounts>,
    /// The number of changes made on the service. The effects of reverting them are unknown.
    pub drifted: Option<usize>,
    pub plan_file: Option<String>,
    pub report_html: Option<String>,
    pub digest: Option<String>,
    pub failure_reason: Option<String>,
}

impl OutputCounts {
    /// The sum over plans, counted as the plans show it.
    pub fn of(plans: &[Plan]) -> Self {
        let mut sum = Self::default();
        let again = Repetition::new("apply", None, None, &Choice::default());
        for plan in plans {
            let view = PlanView::of(plan, &again);
            sum.creates += view.count(Action::Create);
            sum.updates += view.count(Action::Update);
            sum.replaces += view.count(Action::Replace);
            sum.deletes += view.count(Action::Delete);
            sum.by_hand += view.count(Action::ByHand);
            sum.changes += view.count(Action::Adopt) + view.count(Action::Forget);
            sum.sends += view.sending();
        }
        sum.changes += sum.creates + sum.updates + sum.replaces + sum.deletes + sum.by_hand;
        sum
    }

    /// The report that GitLab shows in a merge request. A replacement counts as a creation and a deletion.
    pub fn widget(&self) -> String {
        let Self { creates, updates, replaces, deletes, .. } = self;
        let report = json!({ "create": creates + replaces, "update": updates, "delete": deletes + replaces });
        format!("{report}\n")
    }
}

/// The digest of one plan, or of several by their targets.
pub fn digest(plans: &[Plan]) -> Option<String> {
    let digest = match plans {
        [] => return None,
        [plan] => plan.digest(),
        plans => Digest::of_data(&plans.iter().map(|plan| (&plan.target, plan.digest())).collect::<Vec<_>>()),
    };
    Some(digest.as_str().to_owned())
}

impl Outputs {
    /// Names and values, in the order in which they are written.
    fn all(&self) -> Vec<(&'static str, String)> {
        let number = |number: fn(&OutputCounts) -> usize| self.counts.as_ref().map(|counts| number(counts).to_string());
        let text = |text: &Option<String>| text.as_deref().map(one_line);
        let reason = self.failure_reason.as_deref().map(|reason| short(&one_line(reason), REASON));
        [
            ("changes", number(|counts| counts.changes).or_else(|| self.drifted.map(|number| number.to_string()))),
            ("creates", number(|counts| counts.creates)),
            ("updates", number(|counts| counts.updates)),
            ("replaces", number(|counts| counts.replaces)),
            ("deletes", number(|counts| counts.deletes)),
            ("by-hand", number(|counts| counts.by_hand)),
            ("sends", number(|counts| counts.sends)),
            ("plan-file", text(&self.plan_file)),
            ("report-html", text(&self.report_html)),
            ("digest", text(&self.digest)),
            ("failure-reason", reason),
        ]
        .map(|(name, value)| (name, value.unwrap_or_default()))
        .to_vec()
    }

    /// Lines for the file that GitHub reads outputs from. Each value is on its own line, so it cannot set another
    /// output.
    pub fn github(&self) -> String {
        self.all().iter().map(|(name, value)| format!("{name}={value}\n")).collect()
    }

    /// Variables, as GitLab reads them from reports. No value can set another variable.
    pub fn dotenv(&self) -> String {
        let name = |name: &str| format!("PUSHPLAN_{}", name.replace('-', "_").to_ascii_uppercase());
        self.all().iter().map(|(output, value)| format!("{}={value}\n", name(output))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_an_output_of_its_own() {
        let hostile = "a\nchanges=99\r\ndigest<<EOF\u{2028}x\u{85}y\u{0}EOF";
        let outputs = Outputs {
            plan_file: Some(hostile.to_owned()),
            failure_reason: Some(format!("{hostile} {}", "x".repeat(4_000))),
            ..Outputs::default()
        };
        for (text, prefix, sign) in [(outputs.github(), "", '-'), (outputs.dotenv(), "PUSHPLAN_", '_')] {
            let names: Vec<&str> = text.split('\n').map(|line| line.split('=').next().unwrap_or_default()).collect();
            let wanted: Vec<String> =
                outputs.all().iter().map(|(name, _)| name.replace('-', &sign.to_string())).collect();
            let wanted: Vec<String> = match prefix {
                "" => wanted,
                _ => wanted.iter().map(|name| format!("{prefix}{}", name.to_ascii_uppercase())).collect(),
            };
            assert_eq!(names[..names.len() - 1], wanted, "{text}");
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
            assert!(text.len() < 2_000, "{}", text.len());
        }
    }
}
