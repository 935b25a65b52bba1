//! The result of an apply, for users and for programs.

mod json;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::Repetition;
use super::layout::{self, Paint, Row, Style, Words};
use super::plan::Block;
use crate::address::{Address, KindKey};
use crate::apply::{Ending, Fate, Report, StepReport};
use crate::failure::{Failure, FailureKind};
use crate::kinds::{self, Create, Read};
use crate::ledger::Verb;
use crate::nouns::level::Level;
use crate::plan::{Action, Aim, Change, News, Plan, Reason};

pub use json::{Printed, ReportDocument, StepLine, json, last_line};

/// The replacement for an origin in a plan for the built-in service.
const BUILT_IN: &str = "built-in";
/// The number of steps with the same fate that are shown one by one.
const SHOWN: usize = 20;

/// The verb of a finished step, in the past tense.
pub(crate) fn past_tense(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "created",
        Verb::Update => "updated",
        Verb::Delete => "deleted",
        Verb::Adopt => "adopted",
        Verb::Forget => "forgotten",
        Verb::Move => "moved",
    }
}

/// The verb of a step that was not done.
fn present_tense(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "create",
        Verb::Update => "update",
        Verb::Delete => "delete",
        Verb::Adopt => "adopt",
        Verb::Forget => "forget",
        Verb::Move => "move",
    }
}

/// The word for a fate in the JSON forms.
fn word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Done { .. } => "done",
        Fate::Failed { .. } => "failed",
        Fate::Unknown { .. } => "unknown",
        Fate::Skipped { .. } => "skipped",
        Fate::NotStarted => "not_started",
    }
}

fn why(fate: &Fate) -> Option<&str> {
    match fate {
        Fate::Failed { why } | Fate::Unknown { why } | Fate::Skipped { why } => Some(why),
        Fate::Done { .. } | Fate::NotStarted => None,
    }
}

/// The fates in the order of importance, with their headings and colours.
const FATES: [(&str, &str, Paint); 5] = [
    ("unknown", "Not known", Paint::Danger),
    ("failed", "Failed", Paint::Danger),
    ("skipped", "Skipped", Paint::Asks),
    ("not_started", "Not started", Paint::Asks),
    ("done", "Done", Paint::New),
];

/// The result, the failures with their reasons, and the next steps. A successful run takes two lines.
pub fn text(report: &Report, plan: &Plan, again: &Repetition, style: Style) -> String {
    let mut out = String::new();
    let well = report.ending == Ending::Done;
    let told = ShownRun::of(report, plan);
    for (fate, heading, paint) in FATES {
        let is_told = |step: &&StepReport| word(&step.fate) == fate && !told.is_part(step);
        let steps: Vec<&StepReport> = told.steps.iter().copied().filter(is_told).collect();
        if steps.is_empty() || (well && fate == "done") {
            continue;
        }
        let heading = format!("{heading}: {}", steps.len());
        layout::paragraph(&mut out, &Words::default().paint(&heading, paint), 0, style);
        let rows: Vec<Row> = steps.iter().take(SHOWN).map(|step| row(step, &told, plan.level)).collect();
        layout::rows(&mut out, &rows, 4, style);
        if steps.len() > SHOWN {
            let more = format!("and {} more; --format json has all of them", steps.len() - SHOWN);
            layout::paragraph(&mut out, &Words::default().paint(&more, Paint::Faint), 4, style);
        }
        out.push('\n');
    }
    layout::paragraph(&mut out, &ended(report, plan), 0, style);
    layout::paragraph(&mut out, &numbers(&told, plan), 0, style);
    for next in next(report, plan, again) {
        layout::paragraph(&mut out, &Words::new(&next.why).and(": ").copy(&next.command), 0, style);
    }
    out
}

/// The steps of a run that are shown: changes, without the steps that only update the ledger.
struct ShownRun<'r> {
    steps: Vec<&'r StepReport>,
    /// Resources of which a new version replaced an old one.
    replaced: BTreeSet<&'r Address>,
    /// Resources that only lose their protection.
    unprotected: BTreeSet<&'r Address>,
    /// Deletions of old versions that new ones replace. They count as a part of the replacement.
    parts: BTreeSet<usize>,
}

impl<'r> ShownRun<'r> {
    fn of(report: &'r Report, plan: &'r Plan) -> Self {
        let news = News::of(plan);
        let steps: Vec<&StepReport> = report.steps.iter().filter(|step| news.has(&step.address, step.verb)).collect();
        let done = |step: &&&StepReport, verb: Verb| step.verb == verb && step.fate.is_done();
        let made: BTreeSet<&Address> =
            steps.iter().filter(|step| done(step, Verb::Create)).map(|step| &step.address).collect();
        let anew = |change: &&Change| {
            matches!(change.action, Action::Create | Action::Replace) && made.contains(&change.address)
        };
        let anew: BTreeMap<&Address, &Change> =
            plan.changes.iter().filter(anew).map(|change| (&change.address, change)).collect();
        let is_part = |step: &&&StepReport| {
            let id = plan.steps.get(step.step).and_then(|step| step.id.as_ref());
            let old = anew.get(&step.address).and_then(|change| change.id.as_ref());
            done(step, Verb::Delete) && old.is_some() && old == id
        };
        let parts = steps.iter().filter(is_part).map(|step| step.step).collect();
        let is_unprotected = |change: &&Change| change.reasons.contains(&Reason::Unprotected);
        let unprotected = plan.changes.iter().filter(is_unprotected).map(|change| &change.address).collect();
        let replaced = anew.values().filter(|change| change.action == Action::Replace);
        Self { replaced: replaced.map(|change| &change.address).collect(), unprotected, parts, steps }
    }

    fn is_part(&self, step: &StepReport) -> bool {
        self.parts.contains(&step.step)
    }

    /// The verb of a finished step, in the past tense.
    fn done(&self, step: &StepReport) -> &'static str {
        match step.verb {
            Verb::Create if self.replaced.contains(&step.address) => REPLACED,
            Verb::Adopt if self.unprotected.contains(&step.address) => UNPROTECTED,
            verb => past_tense(verb),
        }
    }

    /// The number of steps with a fate.
    fn count(&self, fate: &str) -> usize {
        self.steps.iter().filter(|step| word(&step.fate) == fate).count()
    }
}

/// The verb for a replacement.
const REPLACED: &str = "replaced";
/// The verb for removing the protection from deletion.
const UNPROTECTED: &str = "unprotected";

fn row(step: &StepReport, told: &ShownRun, level: Level) -> Row {
    let StepReport { address, verb, fate, recorded, .. } = step;
    let words = match fate {
        Fate::Done { id: Some(id), .. } => Words::new(&format!("{address} ({id})")),
        _ => Words::new(&address.to_string()),
    };
    let label = if fate.is_done() { told.done(step) } else { present_tense(*verb) };
    let mut row = Row::new(label, words);
    if let Some(why) = why(fate) {
        row = row.line(Words::new(why));
    }
    if matches!(fate, Fate::Unknown { .. }) && !is_for_people(step, level) {
        row = row.line(Words::default().paint("the next plan checks whether it was done", Paint::Faint));
    }
    if fate.is_done() && !recorded {
        row = row.line(Words::default().paint("the ledger does not show it yet; the next run checks", Paint::Asks));
    }
    row
}

/// Why a run ended early, for readers of standard error only; `None` if nothing interrupted it.
pub fn broken_off(report: &Report, plan: &Plan) -> Option<Failure> {
    let is_busy = report.ending == Ending::Conflict && !report.did_anything(plan);
    match report.ending {
        Ending::Conflict | Ending::Unlocked { .. } | Ending::Ledger { .. } => {}
        Ending::Done | Ending::Partly | Ending::Interrupted => return None,
    }
    let failure = Failure::new(ended(report, plan).plain());
    Some(match is_busy {
        true => failure.kind(FailureKind::Busy).help("run it again once that has ended, or pass --wait 10m"),
        false => failure,
    })
}

fn ended(report: &Report, plan: &Plan) -> Words {
    let (digest, target) = (report.plan.short(), &plan.target);
    let (applied, more) = match report.did_anything(plan) {
        true => (format!("Plan {digest} was applied to {target} in part."), " more"),
        false => (format!("Plan {digest} was not applied to {target}."), ""),
    };
    Words::new(&match &report.ending {
        Ending::Done if !report.did_anything(plan) => format!("Plan {digest} has nothing to apply to {target}."),
        Ending::Done => format!("Applied plan {digest} to {target}."),
        Ending::Partly if report.denied => format!("The service refuses these credentials. {applied}"),
        Ending::Partly => applied,
        Ending::Interrupted => format!("Stopped. {applied}"),
        Ending::Conflict => {
            format!("Another apply to {target} has started: this run sent nothing{more}. {applied}")
        }
        Ending::Unlocked { by } => {
            format!("The lease of this run was ended by {by}: it sent nothing{more}. {applied}")
        }
        Ending::Ledger { why } if report.did_all() => {
            format!("Applied plan {digest} to {target}, but the ledger could not be written: {why}.")
        }
        Ending::Ledger { why } => {
            format!("The ledger could not be written: {why}. Nothing{more} is sent without it. {applied}")
        }
    })
}

/// Returns the counts of a run as a phrase, such as `3 created, 1 updated; 2 failed`.
pub(super) fn numbers_of(report: &Report, plan: &Plan) -> String {
    numbers(&ShownRun::of(report, plan), plan).plain().to_lowercase().trim_end_matches('.').to_owned()
}

/// The changed resources, each with its verb in the past tense. One that is applied in parts counts once, with the
/// action that its plan shows.
fn counted<'r>(
    told: &ShownRun,
    plan: &Plan,
    done: impl Iterator<Item = &'r StepReport>,
) -> BTreeSet<(&'static str, (KindKey, &'r str))> {
    let blocks = Block::of_plan(plan, true);
    let composites: BTreeMap<(KindKey, &str), Action> =
        blocks.iter().filter(|block| block.total > 0).map(|block| (block.address.whole(), block.action)).collect();
    let counted = |step: &'r StepReport| {
        let whole = step.address.whole();
        let action = step.address.part().and_then(|_| composites.get(&whole));
        let word = match (action, step.verb) {
            (None, _) | (_, Verb::Move) => told.done(step),
            (Some(Action::Create), Verb::Create) => past_tense(Verb::Create),
            (Some(Action::Delete), Verb::Delete) => past_tense(Verb::Delete),
            (Some(Action::Adopt), Verb::Adopt) => told.done(step),
            (Some(Action::Forget), Verb::Forget) => past_tense(Verb::Forget),
            (Some(_), _) => past_tense(Verb::Update),
        };
        (word, whole)
    };
    done.map(counted).collect()
}

/// `3 created, 1 updated; 2 failed, 4 not started.`
fn numbers(told: &ShownRun, plan: &Plan) -> Words {
    let is_done = |step: &&&StepReport| step.fate.is_done() && !told.is_part(step);
    let done = counted(told, plan, told.steps.iter().copied().filter(|step| is_done(&step)));
    let words = ["created", "updated", REPLACED, "deleted", "adopted", UNPROTECTED, "forgotten", "moved"];
    let number = |word: &&str| done.iter().filter(|(done, _)| done == word).count();
    let mut parts: Vec<String> = words
        .iter()
        .map(|word| (number(word), word))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    if parts.is_empty() {
        parts.push("nothing done".to_owned());
    }
    let others = FATES
        .iter()
        .filter(|(fate, ..)| *fate != "done")
        .map(|(fate, ..)| (told.count(fate), fate.replace('_', " ").replace("unknown", "not known")));
    parts.extend(others.filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")));
    let (by_hand, all) = (plan.manual(), plan.count(Action::ByHand));
    if by_hand > 0 {
        parts.push(format!("{} left", crate::text::count(by_hand, "manual step")));
    }
    if all > by_hand {
        parts.push(format!("{} held", all - by_hand));
    }
    let mut text = parts.join(", ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Words::new(&text).and(".")
}

/// The command to run next.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Next {
    /// A note about its purpose.
    pub why: String,
    pub command: String,
}

/// The next steps; empty if all is done.
pub fn next(report: &Report, plan: &Plan, again: &Repetition) -> Vec<Next> {
    let mut found = Vec::new();
    let doubt: Vec<&StepReport> = report.steps.iter().filter(|step| is_for_people(step, plan.level)).collect();
    for StepReport { address, .. } in doubt.iter().take(SHOWN) {
        let command = again.other(&format!("resolve {address} --created ID"));
        found.push(Next { why: format!("If {address} exists"), command });
        let command = again.other(&format!("resolve {address} --absent"));
        found.push(Next { why: "If it does not exist".to_owned(), command });
    }
    let command = |why: &str, command: String| Next { why: why.to_owned(), command };
    // Samples refer to devices, which an empty service does not have.
    let is_missing = |step: &StepReport| matches!(&step.fate, Fate::Failed { why } if why.starts_with("HTTP 404"));
    if plan.origin == BUILT_IN && report.steps.iter().any(is_missing) {
        let why = "If the built-in service has no devices, start it with some".to_owned();
        found.push(Next { why, command: "pushplan serve --devices 200".to_owned() });
    }
    // A plan from the manifests does not show what a destroy or a revert left undone.
    let left = || if plan.aim == Aim::Manifests { again.plan() } else { again.go_on() };
    match &report.ending {
        Ending::Done if plan.count(Action::ByHand) > 0 => {
            found.push(command("To see the manual steps", left()));
        }
        Ending::Done => {}
        Ending::Partly if report.denied => {
            found.push(command("Check the app key and the master secret, then run", again.go_on()));
        }
        Ending::Partly if report.steps.iter().any(is_invalid) => {
            found.push(command("Correct the manifest, then run", again.go_on()));
        }
        Ending::Partly if !report.did_anything(plan) => {
            found.push(command("To retry", again.go_on()));
        }
        Ending::Partly | Ending::Interrupted | Ending::Unlocked { .. } => {
            found.push(command("To continue without repeating finished steps", again.go_on()));
        }
        Ending::Conflict => {
            found.push(command("Who it is", again.other("history")));
            found.push(command("After these steps", left()));
        }
        Ending::Ledger { .. } => found.push(command("When the ledger can be written again", again.go_on())),
    }
    found
}

/// Whether the service rejected the content: it would reject the same request again.
fn is_invalid(step: &StepReport) -> bool {
    let is_refused = |why: &str| ["HTTP 400", "HTTP 422"].iter().any(|status| why.starts_with(status));
    matches!(&step.fate, Fate::Failed { why } if is_refused(why))
}

/// Whether only a user can find out the result: the resource can neither be listed nor created again.
fn is_for_people(step: &StepReport, level: Level) -> bool {
    let life = kinds::api(&step.address).lifecycle(level);
    let unknown = matches!(step.fate, Fate::Unknown { .. }) && step.verb == Verb::Create;
    unknown && life.read == Read::LedgerOnly && life.create != Create::Upsert
}
