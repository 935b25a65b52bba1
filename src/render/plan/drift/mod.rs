//! Changes made on the service since the last apply, in the words of plans: an edit is a change from the applied to the
//! live state.

pub mod json;
mod markdown;
mod text;

use std::collections::BTreeMap;

pub use markdown::markdown;
pub use text::text;

use super::{Block, PlanView, content, when, who, words};
use crate::drift::{Added, Drift};
use crate::kinds::{self, Create};
use crate::nouns::on_drift::OnDrift;
use crate::plan::{Action, Change, Plan};
use crate::render::Repetition;
use crate::render::layout::{Row, Words};
use crate::text::{all_of, count, quoted, short};

/// The number of characters of a name that are shown.
const NAME: usize = 80;

/// How to accept that something was removed on the service.
const GONE: &str = "remove it from your files";

/// The drift, and the same as a plan that contains the changes made on the service.
#[derive(Debug)]
pub struct ShownDrift<'d> {
    pub drift: &'d Drift,
    pub plan: &'d Plan,
    pub again: &'d Repetition,
    /// Whether the manifests have errors, so the fields in `lifecycle.ignore` are unknown.
    pub unread: bool,
    /// Whether the files are known to declare something: resources that they lack are then deleted.
    pub declares: bool,
}

impl<'d> ShownDrift<'d> {
    fn view(&self) -> PlanView<'d> {
        PlanView::of_drift(self.plan, self.again)
    }

    /// The rows of a changed managed resource: fields have their whole paths, which is what `lifecycle.ignore` takes.
    fn rows(&self, view: &PlanView, block: &Block) -> Vec<Row> {
        let mut rows = Vec::new();
        if let Some(change) = block.whole {
            let is_about = |row: &Row| [who::WHO, who::EFFECT].contains(&row.label.as_str());
            rows.extend(when::rows(view, change));
            rows.extend(who::rows(view, change).into_iter().filter(is_about));
            rows.extend(match change.action {
                Action::Delete => content::rows(change),
                _ => content::by_path(change),
            });
            if rows.is_empty() {
                rows.extend(content::as_written(change));
            }
        }
        rows.extend(super::rows::of_parts(block));
        rows
    }

    /// The time of the change, and the commands that keep or undo it.
    fn ways(&self, block: &Block) -> Vec<Row> {
        let address = &block.address;
        let mut rows = Vec::new();
        if let Some(at) = block.changes().filter_map(|change| self.drift.edited.get(&change.address)).max() {
            let words = match words::distance(self.plan.made, *at).as_str() {
                "now" => format!("{}, just now", words::moment(*at)),
                distance => format!("{}, {distance}", words::moment(*at)),
            };
            rows.push(Row::new("edited", Words::new(&words)));
        }
        let ignored: Vec<&str> = block.changes().flat_map(|change| &change.ignored).map(String::as_str).collect();
        if !ignored.is_empty() {
            let words = format!("{}: ignored (lifecycle.ignore)", ignored.join(", "));
            rows.push(Row::new("ignored", Words::new(&words)));
        }
        let address = address.to_string();
        let is_gone = block.changes().all(|change| change.action == Action::Delete);
        let is_declared = !self.declares || block.changes().any(|change| change.place.is_some());
        let forget = self.again.other(&format!("forget {address}"));
        let is_once = kinds::api(&block.address).lifecycle(self.plan.level).create == Create::Once;
        let (keep, undo) = match (is_gone, is_declared) {
            (true, true) => {
                let undo = match is_once {
                    true => Words::default()
                        .copy(&forget)
                        .and(", then ")
                        .copy(&self.put_back(&address))
                        .and(" creates it again"),
                    false => Words::default().copy(&self.put_back(&address)),
                };
                // If the resource remains, `pull` removes only its part from the files.
                let keep = match block.changes().all(|change| self.plan.is_removed_part(change)) {
                    true => Words::default().copy(&self.pull(&address)),
                    false => Words::new(GONE),
                };
                (keep, undo)
            }
            (true, false) => (Words::default().copy(&forget), Words::new("declare it again")),
            (false, true) => {
                let keep = self.keep(block.changes(), &address);
                (Words::default().copy(&keep), Words::default().copy(&self.put_back(&address)))
            }
            (false, false) => {
                let keep = Words::default().copy(&self.pull(&address));
                (keep, Words::new("your files do not have it: an apply deletes it"))
            }
        };
        let is_gone = keep == Words::new(GONE);
        rows.push(Row::new(if is_gone { "to accept" } else { "to keep" }, keep));
        rows.push(Row::new("to undo", undo));
        rows
    }

    /// The command that pulls the change into the files. Fields that the files changed too keep the files' value
    /// without `--theirs`.
    fn keep<'c>(&self, mut changes: impl Iterator<Item = &'c Change>, address: &str) -> String {
        match changes.any(|change| self.drift.disputed.contains(&change.address)) {
            true => self.pull(&format!("{address} --theirs")),
            false => self.pull(address),
        }
    }

    fn pull(&self, what: &str) -> String {
        self.again.other(&format!("pull {what}"))
    }

    fn put_back(&self, address: &str) -> String {
        let allowed = if self.plan.on_drift == OnDrift::Stop { " --on-drift overwrite" } else { "" };
        self.again.other(&format!("apply --only {address}{allowed}"))
    }

    /// `2 changed, 1 added, 14 unchanged`.
    pub(in crate::render) fn counts(&self) -> String {
        let drift = self.drift;
        let all = [(drift.changed(), "changed"), (drift.removed(), "removed"), (drift.added.len(), "added")];
        let mut told: Vec<String> =
            all.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")).collect();
        told.push(format!("{} unchanged", drift.kept()));
        if drift.unasked() > 0 {
            told.push(format!("{} not checked", drift.unasked()));
        }
        told.join(", ")
    }

    /// Notes about differences that are not listed.
    fn asides(&self) -> Vec<String> {
        let drift = self.drift;
        let mut told = Vec::new();
        let are = |number: usize| if number == 1 { "is" } else { "are" };
        let ignored = drift.ignored();
        if ignored > 0 {
            let differences = count(ignored, "difference");
            told.push(format!("{differences} {} ignored (lifecycle.ignore).", are(ignored)));
        }
        if self.unread {
            told.push("Your files have errors: fields in lifecycle.ignore are listed too.".to_owned());
        }
        if drift.untold() > 0 {
            let number = drift.untold();
            told.push(format!(
                "{} {} not compared, because the API cannot read {}.",
                count(number, "managed resource"),
                are(number),
                if number == 1 { "it" } else { "them" }
            ));
        }
        let undated: usize = drift.undated.values().sum();
        if undated > 0 {
            let noun = |key: &str, number: usize| match kinds::kind(key) {
                Some(kind) if number == 1 => kind.noun.to_owned(),
                Some(kind) => kind.plural(),
                None => key.to_owned(),
            };
            let all = drift.undated.iter().map(|(kind, number)| format!("{number} unmanaged {}", noun(kind, *number)));
            let they = if undated == 1 { "it was" } else { "they were" };
            told.push(format!(
                "{} may be new: the service does not say when {they} created.",
                all_of(&all.collect::<Vec<_>>())
            ));
        }
        if !drift.in_doubt.is_empty() {
            let number = drift.in_doubt.len();
            let (creations, have) = (count(number, "creation"), if number == 1 { "has" } else { "have" });
            told.push(format!("{creations} {have} no known result; `{}` looks for it.", self.again.other("plan")));
        }
        told
    }

    /// The message if there is no drift.
    fn nothing(&self) -> String {
        let target = short(&self.plan.target, NAME);
        let own = count(self.drift.kept(), "managed resource");
        match self.drift.since {
            None => format!("Nothing was applied to {target} yet, so there is nothing to compare."),
            Some(at) if self.drift.unasked() > 0 => format!(
                "No drift in the selected part: {own} on {target}, {} ({}). Not selected: {}.",
                self.since(),
                words::moment(at),
                count(self.drift.unasked(), "resource")
            ),
            Some(at) => {
                let last = if self.drift.was_applied { "the last apply" } else { "the adoption" };
                format!("No drift: {target} is unchanged since {last} on {} ({own}).", words::moment(at))
            }
        }
    }

    /// The start of the compared time.
    fn since(&self) -> &'static str {
        if self.drift.was_applied { "since the last apply" } else { "since it was adopted" }
    }

    /// The commands that pull added resources, by kind.
    fn to_take(&self) -> Vec<String> {
        let kinds: BTreeMap<&str, ()> = self.drift.added.iter().map(|added| (added.kind.key, ())).collect();
        kinds.keys().map(|kind| self.pull(kind)).collect()
    }
}

/// `segment "Blue" (3e9c), made Tue 10 Nov 2026 16:20 UTC`.
fn added(one: &Added) -> String {
    let Added { kind, id, name, made, used } = one;
    let used = used.map(|at| format!(", last used {}", words::moment(at))).unwrap_or_default();
    format!("{} {} ({}), made {}{used}", kind.noun, quoted(&short(name, NAME)), short(id, NAME), words::moment(*made))
}
