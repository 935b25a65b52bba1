//! Plans for several targets: a line for each, with equal changes shown once.

pub mod drift;
pub mod each;
pub mod json;
pub mod markdown;
pub mod report;
pub mod review;
pub mod text;
mod values;

use std::collections::HashMap;

use super::Repetition;
use super::plan::messages;
use super::plan::text::{changing, held_lines, held_lines_of, pressing, staying};
use super::plan::{NextSteps, PlanView, Risk};
use crate::failure::Failure;
use crate::plan::{Aim, Plan};
use crate::text::count;

/// The number of targets that are named in a heading; the rest is counted.
const NAMED: usize = 20;

/// The result for a target.
#[derive(Clone, Copy, Debug)]
pub enum PlanResult<'p> {
    Planned(&'p Plan, &'p NextSteps),
    Failed(&'p Failure),
}

/// Several targets with their results.
#[derive(Debug)]
pub struct Several<'p> {
    pub all: Vec<(&'p str, PlanResult<'p>)>,
    /// How to repeat the command for all of them.
    pub again: &'p Repetition,
    /// The folder that the plans were saved in.
    pub saved: Option<String>,
    /// By the index of the target.
    views: Vec<Option<PlanView<'p>>>,
}

impl<'p> Several<'p> {
    pub fn new(all: Vec<(&'p str, PlanResult<'p>)>, again: &'p Repetition, saved: Option<String>) -> Self {
        let view = |(_, said): &(&'p str, PlanResult<'p>)| match *said {
            PlanResult::Planned(plan, ahead) => Some(PlanView::of(plan, &ahead.again)),
            PlanResult::Failed(_) => None,
        };
        let views = all.iter().map(view).collect();
        Self { all, again, saved, views }
    }

    /// The targets that have a plan.
    fn planned(&self) -> impl Iterator<Item = (&'p str, &PlanView<'p>, &'p NextSteps)> {
        self.all.iter().zip(&self.views).filter_map(|((target, said), view)| match (said, view) {
            (PlanResult::Planned(_, ahead), Some(view)) => Some((*target, view, *ahead)),
            _ => None,
        })
    }

    /// The targets that could not be planned.
    fn failed(&self) -> impl Iterator<Item = (&'p str, &'p Failure)> {
        self.all.iter().filter_map(|(target, result)| match result {
            PlanResult::Failed(failure) => Some((*target, *failure)),
            PlanResult::Planned(..) => None,
        })
    }

    fn plans(&self) -> impl Iterator<Item = &'p Plan> {
        self.planned().map(|(_, view, _)| view.plan)
    }

    /// The source of a promotion, if the targets have different ones.
    fn source(&self, plan: &'p Plan) -> Option<&'p str> {
        match &plan.aim {
            Aim::Promoted(from) if !self.has_one_source() => Some(from),
            _ => None,
        }
    }

    /// Whether all plans have the same aim.
    fn has_one_source(&self) -> bool {
        let mut aims = self.plans().map(|plan| &plan.aim);
        let first = aims.next();
        aims.all(|other| Some(other) == first)
    }

    /// The changes of a target in a few words, with the source of a promotion.
    fn words(&self, view: &PlanView<'p>) -> String {
        let source = self.source(view.plan).map(|from| format!("from {from}: ")).unwrap_or_default();
        format!("{source}{}", words(view))
    }

    /// The command to continue with.
    fn go_on(&self) -> String {
        self.saved.as_ref().map_or_else(|| self.again.go_on(), |folder| self.again.of_file(folder))
    }

    /// The numbers of targets with changes, without changes, and with a failure.
    fn numbers(&self) -> (usize, usize, usize) {
        let changed = self.planned().filter(|(_, view, _)| !view.plan.is_empty()).count();
        let planned = self.planned().count();
        (changed, planned - changed, self.all.len() - planned)
    }

    /// The notices that the files or the ledger lack what was last applied, and what the plans were compared with if
    /// not the service. A sentence that does not apply to all targets starts with the names of its targets.
    fn compared_with(&self) -> Vec<String> {
        let mut said: Vec<(String, Vec<&str>)> = Vec::new();
        let of_plan = |plan: &Plan| [plan.told.notice(), plan.basis.words(plan.ledger.seq, false)];
        let all = self.planned().flat_map(|(target, view, _)| of_plan(view.plan).map(|words| (target, words)));
        for (target, words) in all.filter_map(|(target, words)| Some((target, words?))) {
            match said.iter_mut().find(|(known, _)| *known == words) {
                Some((_, targets)) => targets.push(target),
                None => said.push((words, vec![target])),
            }
        }
        let one = |(words, targets): (String, Vec<&str>)| match targets.len() == self.planned().count() {
            true => words,
            false => format!("{}: {words}", targets.join(", ")),
        };
        said.into_iter().map(one).collect()
    }

    /// Whether the plans can be applied: they were compared with the service.
    fn goes_on(&self) -> bool {
        self.planned().all(|(_, view, _)| view.plan.basis.is_service())
    }

    /// `14 targets: 12 with changes, 1 without changes, 1 failed.`
    fn summary(&self) -> String {
        let (changed, same, failed) = self.numbers();
        if changed + failed == 0 {
            return format!("{}, none with changes.", count(self.all.len(), "target"));
        }
        let parts = [(changed, "with changes"), (same, "without changes"), (failed, "failed")];
        let parts: Vec<String> =
            parts.iter().filter(|(number, _)| *number > 0).map(|(number, words)| format!("{number} {words}")).collect();
        format!("{}: {}.", count(self.all.len(), "target"), parts.join(", "))
    }
}

/// The changes of a target, in a few words.
fn words(view: &PlanView) -> String {
    let changing = changing(view);
    if view.plan.is_empty() && changing.is_empty() {
        let left = view.left_out();
        let left = if left > 0 { format!(", {left} left out") } else { String::new() };
        return format!("no changes ({}{left})", count(view.matching(), "resource"));
    }
    let verdict: Vec<String> = messages::verdict(view, None).into_iter().map(|(words, _)| words).collect();
    let all: Vec<String> = changing.into_iter().chain(staying(view)).collect();
    let pressing: Vec<String> = pressing(view).into_iter().map(|(words, _)| format!(" {words}")).collect();
    format!(
        "{} {}{}{}",
        verdict.join(" "),
        all.join(", "),
        if pressing.is_empty() { "" } else { "." },
        pressing.concat()
    )
}

/// Blocks that are shown once for all targets that have them.
#[derive(Debug, PartialEq, Eq)]
struct Folded<'t, B> {
    targets: Vec<&'t str>,
    blocks: Vec<B>,
    /// The values of the variables that the blocks name.
    values: Vec<String>,
}

/// A change as it is shown, with its risk.
struct ShownBlock<B> {
    risk: Risk,
    /// The key by which equal changes are found.
    same: String,
    block: B,
}

/// Groups equal blocks: first by their content, then by their targets. Riskier ones come first.
fn fold<'t, B>(all: Vec<(&'t str, Vec<ShownBlock<B>>)>) -> Vec<Folded<'t, B>> {
    struct TargetPart<'t, B> {
        risk: Risk,
        block: B,
        targets: Vec<&'t str>,
    }
    let mut changes: Vec<TargetPart<B>> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for (target, blocks) in all {
        for ShownBlock { risk, same, block } in blocks {
            let at = *index.entry(same).or_insert(changes.len());
            if at == changes.len() {
                changes.push(TargetPart { risk, block, targets: Vec::new() });
            }
            // A target is listed once, even if the change is shown in two places.
            if changes[at].targets.last() != Some(&target) {
                changes[at].targets.push(target);
            }
        }
    }
    changes.sort_by_key(|one| one.risk);
    let mut folded: Vec<Folded<B>> = Vec::new();
    let mut places: HashMap<Vec<&str>, usize> = HashMap::new();
    for TargetPart { block, targets, .. } in changes {
        let at = *places.entry(targets.clone()).or_insert(folded.len());
        if at == folded.len() {
            folded.push(Folded { targets, blocks: Vec::new(), values: Vec::new() });
        }
        folded[at].blocks.push(block);
    }
    folded
}

/// The resources that are not promoted, under their targets. Targets with different sources share a line about "the source".
fn not_promoted<'p>(several: &Several<'p>) -> Vec<(Vec<&'p str>, Vec<String>)> {
    let all = several.planned().map(|(target, view, _)| {
        let lines = held_lines(view.plan).into_iter().zip(held_lines_of(view.plan, "the source"));
        let line =
            |(own, same): (String, String)| ShownBlock { risk: Risk::None, same: same.clone(), block: (own, same) };
        (target, lines.map(line).collect())
    });
    let lines = |Folded { targets, blocks, .. }: Folded<'p, (String, String)>| {
        let is_own = targets.len() == 1 || several.has_one_source();
        (targets, blocks.into_iter().map(|(own, same)| if is_own { own } else { same }).collect())
    };
    fold(all.collect()).into_iter().map(lines).collect()
}

/// Every change once, under the targets that have it. A change on one target has its ids and the values of its
/// variables; for several targets, names replace them.
fn every_change<'p, B>(
    several: &Several<'p>,
    show: impl Fn(&PlanView) -> Vec<(Risk, B)>,
    text: impl Fn(&B) -> &str,
) -> Vec<Folded<'p, B>> {
    let variables = values::differing(several);
    let all = several.planned().map(|(target, view, ahead)| {
        let own = view.without_ids(&show);
        let plan = if variables.is_empty() { None } else { values::with_names(view.plan, &variables) };
        let named = plan.map(|plan| PlanView::of(&plan, &ahead.again).without_ids(&show));
        let mut named = named.filter(|named| named.len() == own.len()).unwrap_or_default().into_iter();
        let shown = own.into_iter().map(|own| match named.next() {
            Some(named) if values::is_same(text(&named.1), text(&own.1), view.plan) => named,
            _ => own,
        });
        let shown = shown.enumerate().map(|(number, (risk, block))| ShownBlock {
            risk,
            same: text(&block).to_owned(),
            block: (number, block),
        });
        (target, shown.collect())
    });
    let own = |target: &str| {
        let is_it = |(name, view, _): &(&str, &PlanView, &NextSteps)| {
            *name == target && (view.has_ids() || !variables.is_empty())
        };
        let (_, view, _) = several.planned().find(is_it)?;
        Some(show(view).into_iter().map(|(_, block)| Some(block)).collect::<Vec<_>>())
    };
    let folded = fold(all.collect()).into_iter().map(|Folded { targets, blocks, .. }| {
        let mut own = if let [target] = targets.as_slice() { own(target) } else { None };
        let block =
            |(number, shared): (usize, B)| own.as_mut().and_then(|own| own.get_mut(number)?.take()).unwrap_or(shared);
        let blocks: Vec<B> = blocks.into_iter().map(block).collect();
        let texts: Vec<&str> = blocks.iter().map(&text).collect();
        let values = values::values(several, &targets, &variables, &texts);
        Folded { targets, blocks, values }
    });
    folded.collect()
}

/// `shop-de`, or `14 targets: shop-de, shop-us …`.
fn named(targets: &[&str]) -> String {
    let few = targets.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = targets.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    if targets.len() == 1 { few } else { format!("{}: {few}{more}", count(targets.len(), "target")) }
}

/// `The same 3 changes on 14 targets: shop-de, shop-us …`
fn heading(targets: &[&str], changes: usize) -> String {
    let same = match (targets.len(), changes) {
        (1, _) => count(changes, "change"),
        (_, 1) => "The same change".to_owned(),
        (_, number) => format!("The same {number} changes"),
    };
    format!("{same} on {}", named(targets))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(risk: Risk, text: &str) -> ShownBlock<String> {
        ShownBlock { risk, same: text.to_owned(), block: text.to_owned() }
    }

    #[test]
    fn what_several_targets_have_is_told_once_under_their_names() {
        let all = vec![
            ("a", vec![shown(Risk::None, "+ x"), shown(Risk::Deletes, "- y")]),
            ("b", vec![shown(Risk::Deletes, "- y"), shown(Risk::None, "+ x"), shown(Risk::None, "+ z")]),
            ("c", vec![shown(Risk::Sends, "~ w"), shown(Risk::None, "+ x")]),
        ];
        let told: Vec<(String, Vec<String>)> =
            fold(all).into_iter().map(|it| (heading(&it.targets, it.blocks.len()), it.blocks)).collect();
        let expected = [
            ("1 change on c", vec!["~ w"]),
            ("The same change on 2 targets: a, b", vec!["- y"]),
            ("The same change on 3 targets: a, b, c", vec!["+ x"]),
            ("1 change on b", vec!["+ z"]),
        ];
        let expected: Vec<(String, Vec<String>)> =
            expected.into_iter().map(|(a, b)| (a.to_owned(), b.into_iter().map(str::to_owned).collect())).collect();
        assert_eq!(told, expected);
    }
}
