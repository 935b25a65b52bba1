//! The progress of a running apply.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::layout::{Paint, Style, painted};
use super::report::{StepLine, past_tense};
use super::{Out, one_line};
use crate::address::Address;
use crate::apply::Fate;
use crate::ledger::Verb;
use crate::plan::{Action, News, Plan, Reason, Step};

/// Above this number of changes, they are counted instead of named.
const MANY: usize = 200;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Showing {
    /// A bar, and a line for each finished change.
    Bar,
    /// Only lines, for a log.
    Lines,
    /// A line of JSON for each finished step, on standard output.
    JsonLines,
    /// Nothing, because the report has everything.
    Nothing,
}

/// Shows the progress of an apply.
#[derive(Debug)]
pub struct Progress<'o> {
    out: &'o Out,
    showing: Showing,
    tally: Tally,
    news: News,
    bar: Option<ProgressBar>,
    /// The prefix of each line.
    name: String,
}

impl<'o> Progress<'o> {
    pub fn start(out: &'o Out, plan: &Plan, showing: Showing) -> Self {
        let tally = Tally::new(plan, out.style());
        let news = News::of(plan);
        let steps = plan.steps.iter().filter(|step| news.has(&step.address, step.verb)).count();
        let bar = (showing == Showing::Bar).then(|| bar(steps));
        Self { out, showing, tally, news, bar, name: String::new() }
    }

    /// Adds the target to each line, for an apply to several targets.
    pub fn of_one(mut self, target: &str) -> Self {
        self.name = one_line(&format!("{target}: "));
        self
    }

    /// Reports finished steps of the plan.
    pub fn finished(&mut self, plan: &Plan, over: &[(usize, Fate)]) {
        for (number, fate) in over {
            let Some(step) = plan.steps.get(*number) else { continue };
            let is_news = self.news.has(&step.address, step.verb);
            let said = self.tally.finished(step, fate, self.showing == Showing::Bar);
            match (self.showing, said) {
                (Showing::JsonLines, _) if is_news => {
                    self.out.json(&format!("{}\n", StepLine::of(step, fate).json()));
                }
                (Showing::Bar | Showing::Lines, Some(line)) => self.line(&line),
                _ => {}
            }
            if let Some(bar) = self.bar.as_ref().filter(|_| is_news) {
                bar.inc(1);
            }
        }
    }

    /// Prints a notice for a waiting user: the service asks for patience, or the run is about to end.
    pub fn says(&self, words: &str) {
        if matches!(self.showing, Showing::Bar | Showing::Lines) {
            self.line(&one_line(words));
        }
    }

    fn line(&self, line: &str) {
        let line = format!("{}{line}", self.name);
        match &self.bar {
            Some(bar) => bar.suspend(|| self.out.note(&line)),
            None => self.out.note(&line),
        }
    }

    /// Removes the bar.
    pub fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn bar(steps: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len}  {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The finished changes, and the text for each.
#[derive(Debug)]
struct Tally {
    style: Style,
    /// The action for each changed address.
    actions: BTreeMap<Address, Action>,
    /// The number of remaining steps for each address.
    left: BTreeMap<Address, usize>,
    /// The ids of created resources, kept because a later step may delete the ones that they replace.
    made: BTreeMap<Address, String>,
    /// Addresses with a failure, which are not reported as done.
    troubled: BTreeSet<Address>,
    done: usize,
    failed: usize,
    /// The total number of changes.
    all: usize,
    /// The number of tenths that were reported.
    told: usize,
}

impl Tally {
    fn new(plan: &Plan, style: Style) -> Self {
        let mut left: BTreeMap<Address, usize> = BTreeMap::new();
        for step in &plan.steps {
            *left.entry(step.address.clone()).or_default() += 1;
        }
        let mut actions = BTreeMap::new();
        for change in plan.changes.iter().filter(|change| left.contains_key(&change.address)) {
            let retired = change.is_outdated();
            let recovered = change.reasons.iter().any(|reason| matches!(reason, Reason::Recovered { .. }));
            let action = match change.action {
                Action::Keep if recovered => Action::Adopt,
                // These change only the ledger.
                Action::Keep | Action::Past => continue,
                action => action,
            };
            if !retired || !actions.contains_key(&change.address) {
                actions.insert(change.address.clone(), action);
            }
        }
        let (made, troubled, all) = (BTreeMap::new(), BTreeSet::new(), actions.len());
        Self { style, actions, left, made, troubled, done: 0, failed: 0, all, told: 0 }
    }

    /// Returns the text for a finished step.
    fn finished(&mut self, step: &Step, fate: &Fate, has_bar: bool) -> Option<String> {
        let address = &step.address;
        let left = self.left.get_mut(address).map_or(0, |left| {
            *left = left.saturating_sub(1);
            *left
        });
        if let (Verb::Create, Fate::Done { id: Some(id), .. }) = (step.verb, fate) {
            self.made.insert(address.clone(), id.clone());
        }
        if let Some(line) = self.trouble(step, fate) {
            return Some(line);
        }
        let action = *self.actions.get(address).filter(|_| left == 0 && fate.is_done())?;
        if self.troubled.contains(address) {
            return None;
        }
        self.done += 1;
        if self.all > MANY {
            return self.counts().filter(|_| !has_bar);
        }
        let known = if let Fate::Done { id, .. } = fate { id.as_ref() } else { None };
        let id = self.made.get(address).or(known).map(|id| format!(" ({id})")).unwrap_or_default();
        let verb = match action {
            Action::Replace => "replaced",
            // The last step may be the deletion of the old one, as a precaution.
            Action::Create => past_tense(Verb::Create),
            _ => past_tense(step.verb),
        };
        let line = format!("{} {address} {verb}{id}", action.symbol());
        let paint = if action == Action::Delete { Paint::Old } else { Paint::New };
        Some(painted(&one_line(&line), paint, self.style))
    }

    /// Failures are always reported. Skipped steps and steps that were not started are left to the report.
    fn trouble(&mut self, step: &Step, fate: &Fate) -> Option<String> {
        let (what, why) = match fate {
            Fate::Failed { why } => ("failed", why),
            Fate::Unknown { why } => ("not known", why),
            Fate::Done { .. } | Fate::Skipped { .. } | Fate::NotStarted => return None,
        };
        self.failed += 1;
        self.troubled.insert(step.address.clone());
        let line = one_line(&format!("! {} {what}: {why}", step.address));
        Some(painted(&line, Paint::Danger, self.style))
    }

    /// `120 of 1200 done`, once for each tenth.
    fn counts(&mut self) -> Option<String> {
        let tenths = self.done * 10 / self.all.max(1);
        if tenths == self.told {
            return None;
        }
        self.told = tenths;
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        Some(format!("{} of {} done{failed}", self.done, self.all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A plan of changes, each with its steps.
    fn plan(changes: &[(&str, &str, &[&str])]) -> Plan {
        let change =
            |(address, action, _): &(&str, &str, &[&str])| json!({"address": address, "action": action, "name": ""});
        let steps = changes.iter().flat_map(|(address, _, verbs)| verbs.iter().map(move |verb| (address, verb)));
        let step = |(number, (address, verb))| json!({"number": number, "address": address, "verb": verb});
        serde_json::from_value(json!({
            "format": 1, "tool": "", "target": "t", "origin": "o", "app": "", "level": "documented",
            "made": "2026-11-16T09:00:00Z", "expires": "2026-11-17T09:00:00Z", "manifests": "", "min_lead_seconds": 300,
            "ledger": {"lineage": "l", "seq": 1},
            "changes": changes.iter().map(change).collect::<Vec<_>>(),
            "steps": steps.enumerate().map(step).collect::<Vec<_>>(),
        }))
        .expect("a plan")
    }

    const DONE: Fate = Fate::Done { id: None, push_ids: Vec::new() };

    fn tally(plan: &Plan) -> Tally {
        Tally::new(plan, Style { width: 80, ..Style::PLAIN })
    }

    #[test]
    fn a_change_is_told_once_when_its_last_step_is_done() {
        let plan = plan(&[
            ("segments/a", "replace", &["create", "delete"]),
            ("segments/b", "create", &["create"]),
            ("segments/c", "keep", &["adopt"]),
        ]);
        let mut tally = tally(&plan);
        let mut told = |number: usize, fate: &Fate| tally.finished(&plan.steps[number], fate, false);
        let made = Fate::Done { id: Some("3e9c".to_owned()), push_ids: Vec::new() };
        assert_eq!(told(0, &made), None);
        let old = Fate::Done { id: Some("0000".to_owned()), push_ids: Vec::new() };
        assert_eq!(told(1, &old).as_deref(), Some("± segments/a replaced (3e9c)"));
        assert_eq!(told(2, &made).as_deref(), Some("+ segments/b created (3e9c)"));
        assert_eq!(told(3, &DONE), None, "nothing is said of what is unchanged");
    }

    #[test]
    fn what_is_made_again_is_created_with_its_new_id() {
        let plan = plan(&[("segments/a", "create", &["create", "delete"])]);
        let mut tally = tally(&plan);
        let done = |id: &str| Fate::Done { id: Some(id.to_owned()), push_ids: Vec::new() };
        assert_eq!(tally.finished(&plan.steps[0], &done("new"), false), None);
        let told = tally.finished(&plan.steps[1], &done("old"), false);
        assert_eq!(told.as_deref(), Some("+ segments/a created (new)"));
    }

    #[test]
    fn what_goes_wrong_is_told_at_once_and_not_called_done() {
        let plan = plan(&[("segments/a", "replace", &["create", "delete"])]);
        let mut tally = tally(&plan);
        let failed = Fate::Failed { why: "HTTP 400: no\nmore".to_owned() };
        let told = tally.finished(&plan.steps[0], &failed, false);
        assert_eq!(told.as_deref(), Some("! segments/a failed: HTTP 400: no more"));
        assert_eq!(tally.finished(&plan.steps[1], &DONE, false), None);
    }

    #[test]
    fn very_many_changes_are_counted_and_their_failures_told() {
        let names: Vec<String> = (0..1000).map(|number| format!("segments/s-{number}")).collect();
        let all: Vec<(&str, &str, &[&str])> =
            names.iter().map(|name| (name.as_str(), "create", &["create"][..])).collect();
        let plan = plan(&all);
        let mut tally = tally(&plan);
        let mut lines = Vec::new();
        for (number, step) in plan.steps.iter().enumerate() {
            let fate = match number {
                500 => Fate::Failed { why: "HTTP 400".to_owned() },
                _ => Fate::Done { id: None, push_ids: Vec::new() },
            };
            lines.extend(tally.finished(step, &fate, false));
        }
        assert_eq!(lines[0], "100 of 1000 done");
        assert!(lines.contains(&"! segments/s-500 failed: HTTP 400".to_owned()), "{lines:?}");
        assert!(lines.contains(&"900 of 1000 done, 1 failed".to_owned()), "{lines:?}");
        assert!(lines.len() <= 11, "{lines:?}");
    }
}
