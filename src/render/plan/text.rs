//! The plan for a terminal.

mod messages;
mod people;

use super::folds::{self, Shown};
use super::{Block, NextSteps, PlanView, loosened, past, rows, unmanaged, words};
use crate::cores;
use crate::digest::Digest;
use crate::guard::{self, Refused};
use crate::plan::{Action, Aim, Change, Moved, NothingDeclared, Plan, Reason};
use crate::render::Repetition;
use crate::render::layout::{self, Paint, Row, Style, Words};
use crate::text::{all_of, count, quoted, short};

pub(super) use messages::at_stake;
pub(in crate::render) use messages::message_blocks;

/// The number of past pushes, and of resources left out, that are named.
pub(super) const NAMED: usize = 10;
/// The number of blocks that are formatted in parallel before they are printed.
const TOGETHER: usize = 512;
/// The number of blocks that are joined into one text.
const JOINED: usize = 8;
/// The size in bytes that most blocks do not exceed.
const USUAL: usize = 1024;
/// How many of those that are stuck are named in the last lines.
const STUCK: usize = 3;
/// The number of characters of a name in a first line.
pub(super) const NAME: usize = 60;

/// The note for a plan that was not compared with the service.
pub(in crate::render) const FOR_READING: &str =
    "It is for reading only: apply needs a plan that was compared with the service.";

/// The whole plan: changes, the riskiest first; drift; past pushes; the totals, and the next steps.
pub fn text(plan: &Plan, ahead: &NextSteps, style: Style) -> String {
    let mut out = String::new();
    text_to(plan, ahead, style, &mut |part| out.push_str(part));
    out
}

/// Passes the whole plan to `tell` in parts, as they are ready. Each part consists of whole lines, so the beginning of
/// a long plan can be read before its end is ready.
pub fn text_to(plan: &Plan, ahead: &NextSteps, style: Style, tell: &mut dyn FnMut(&str)) {
    whole(&PlanView::of_changes(plan, &ahead.again), Some(ahead), style, tell);
}

/// Passes the whole plan to `tell` before an apply, without the next steps. Returns the plan's digest if it was shown.
pub fn before_apply(plan: &Plan, again: &Repetition, style: Style, tell: &mut dyn FnMut(&str)) -> Option<Digest> {
    let view = PlanView::of_changes(plan, again);
    whole(&view, None, style, tell);
    view.digest.get().cloned()
}

fn whole(view: &PlanView, ahead: Option<&NextSteps>, style: Style, tell: &mut dyn FnMut(&str)) {
    if let Some(words) = view.plan.told.notice() {
        let mut out = String::new();
        layout::paragraph(&mut out, &Words::default().paint(&words, Paint::Danger), 0, style);
        tell(&(out + "\n"));
    }
    if !view.blocks.is_empty() || !view.drift.is_empty() || loosened::is_any(view) {
        let mut out = String::new();
        at_stake(&mut out, view, ahead, style);
        tell(&out);
    }
    if let Some(words) = view.plan.compared_with() {
        let mut out = String::new();
        layout::paragraph(&mut out, &Words::default().paint(&words, Paint::Asks), 0, style);
        tell(&(out + "\n"));
    }
    if !view.blocks.is_empty() {
        view.ask_ahead();
    }
    for some in folds::shown(view).chunks(TOGETHER) {
        let parts = cores::each_if(some.len() > 8 * JOINED, some.chunks(JOINED).collect(), |all: &[Shown]| {
            let mut out = String::with_capacity(all.len() * USUAL);
            for shown in all {
                match shown {
                    Shown::One(block) => one(&mut out, view, block, rows::of_words(view, block), false, style),
                    Shown::Others(blocks) => others(&mut out, blocks, style),
                }
            }
            out
        });
        parts.iter().for_each(|part| tell(part));
    }
    let mut out = String::new();
    drift(&mut out, view, style);
    past(&mut out, &view.past, style);
    left_out(&mut out, view.plan, style);
    held(&mut out, view.plan, style);
    out.push_str(&end(view, ahead, style));
    // Before an apply, only the kinds that could not be listed matter, not the other unmanaged resources.
    let rest = match ahead {
        Some(_) => unmanaged::words(view),
        None => unmanaged::unlisted(view).map(|words| Words::new(&words)),
    };
    if let Some(words) = rest {
        layout::paragraph(&mut out, &words, 0, style);
    }
    tell(&out);
}

/// Every change separately, with its risk.
pub(in crate::render) fn blocks(view: &PlanView, style: Style) -> Vec<(super::Risk, String)> {
    let shown = |block: &Block, drifted: bool| {
        let mut out = String::new();
        one(&mut out, view, block, rows::of_words(view, block), drifted, style);
        (block.risk, out)
    };
    let drift = view.drift.iter().map(|block| shown(block, true));
    view.blocks.iter().map(|block| shown(block, false)).chain(drift).collect()
}

/// The refusals, each with its help.
pub fn refusals<'r>(refused: impl IntoIterator<Item = &'r Refused>, style: Style) -> String {
    let mut out = String::new();
    for Refused { message, help, .. } in refused {
        layout::paragraph(&mut out, &Words::after("refused: ", Paint::Danger).and(message), 0, style);
        layout::paragraph(&mut out, &Words::after("= help: ", Paint::Strong).and(help), 2, style);
    }
    out
}

fn one(out: &mut String, view: &PlanView, block: &Block, said: Vec<Row>, drifted: bool, style: Style) {
    let paint = if block.risk == super::Risk::Sends { Paint::Danger } else { rows::paint_of(block.action) };
    // What is too late is not created.
    let (symbol, paint) = match block.whole {
        Some(change) if change.is_too_late() && block.action == Action::Create => ("!", Paint::Asks),
        _ => (block.action.symbol(), paint),
    };
    let mut left = Words::default().paint(symbol, paint).and(" ").paint(&block.address.to_string(), Paint::Strong);
    if let Some(name) = name(block) {
        left = left.and("  ").and(&quoted(&short(name, NAME)));
    }
    let right = Words::default().paint(&place(view, block), Paint::Faint);
    layout::head(out, &left, &right, style);
    let content = match drifted {
        true => rows::of_drift(view, block),
        false => rows::of_content(view, block),
    };
    for rows in [content, said] {
        layout::rows(out, &rows, 4, style);
    }
    out.push('\n');
}

/// The blocks with the same edit as the one above.
fn others(out: &mut String, blocks: &[&Block], style: Style) {
    let sign = Words::default().paint(Action::Update.symbol(), rows::paint_of(Action::Update));
    layout::paragraph(out, &sign.and(&format!(" {}", folds::words(blocks))), 0, style);
    out.push('\n');
}

/// The name on the service, if it differs from the key.
pub(super) fn name<'p>(block: &Block<'p>) -> Option<&'p str> {
    let name = block.changes().next().map(|change| change.name.as_str());
    name.filter(|name| !name.is_empty() && *name != block.address.key)
}

/// File and line, or a note that the resource is not in the files.
pub(super) fn place(view: &PlanView, block: &Block) -> String {
    match view.place_of(block) {
        Some(place) => format!("{}:{}", place.file, place.line),
        // A resource that is deleted for another reason may still be declared.
        None if !view.is_by_files() => String::new(),
        None if block.retired.is_empty() && block.changes().all(|change| change.desired.is_none()) => {
            "not in your files".to_owned()
        }
        None => String::new(),
    }
}

fn drift(out: &mut String, view: &PlanView, style: Style) {
    if view.drift.is_empty() {
        return;
    }
    let since = view.plan.told.last_apply.map(|at| format!(" ({})", words::moment(at))).unwrap_or_default();
    let heading = Words::default()
        .paint("≠", Paint::Asks)
        .and(&format!(" Changed on the service since the last apply{since}, not in your files:"));
    layout::paragraph(out, &heading, 0, style);
    out.push('\n');
    for block in &view.drift {
        let mut said = rows::of_words(view, block);
        // The heading already says it.
        if block.changes().all(|change| change.moved == Some(Moved::Service)) {
            said.retain(|row| row.label != words::DRIFT);
        }
        one(out, view, block, said, true, style);
    }
    layout::paragraph(out, &Words::new(words::PUT_BACK), 0, style);
    out.push('\n');
}

fn past(out: &mut String, past: &[&Change], style: Style) {
    for change in past.iter().take(NAMED) {
        let words = format!(" {} {}", change.address, past::fate(change));
        let line = Words::default().paint(Action::Past.symbol(), Paint::Faint).and(&words);
        layout::paragraph(out, &line, 0, style);
    }
    if past.len() > NAMED {
        let line = format!("{} {} more have passed", Action::Past.symbol(), past.len() - NAMED);
        layout::paragraph(out, &Words::new(&line), 0, style);
    }
    if !past.is_empty() {
        out.push('\n');
    }
}

fn left_out(out: &mut String, plan: &Plan, style: Style) {
    if let Some(words) = &plan.told.at_work {
        let words = format!("{words} Its resources are skipped in this plan.");
        layout::rows(out, &[Row::new("Locked:", Words::new(&words)).paint(Paint::Plain)], 0, style);
        out.push('\n');
    }
    let names: Vec<String> = plan.left_out.iter().take(NAMED).map(ToString::to_string).collect();
    if names.is_empty() {
        return;
    }
    let more = plan.left_out.len() - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let row = Row::new("Left out:", Words::new(&format!("{}{more}", names.join(", "))));
    layout::rows(out, &[row.paint(Paint::Plain)], 0, style);
    out.push('\n');
}

/// The resources that are not promoted: `segments/vip: not on staging yet`.
pub(in crate::render) fn held_lines(plan: &Plan) -> Vec<String> {
    let Aim::Promoted(from) = &plan.aim else { return Vec::new() };
    held_lines_of(plan, from)
}

/// Returns the resources that are not promoted, with a name for the source.
pub(in crate::render) fn held_lines_of(plan: &Plan, from: &str) -> Vec<String> {
    plan.told.held.iter().map(|held| format!("{}: {}", held.address, held.why.words(from))).collect()
}

fn held(out: &mut String, plan: &Plan, style: Style) {
    let lines = held_lines(plan);
    if lines.is_empty() {
        return;
    }
    layout::paragraph(out, &Words::default().paint("Not promoted:", Paint::Asks), 0, style);
    for line in lines.iter().take(NAMED) {
        layout::paragraph(out, &Words::new(line), 2, style);
    }
    if lines.len() > NAMED {
        layout::paragraph(out, &Words::new(&format!("and {} more", lines.len() - NAMED)), 2, style);
    }
    out.push('\n');
}

/// The totals, and the next steps.
fn end(view: &PlanView, ahead: Option<&NextSteps>, style: Style) -> String {
    let mut out = String::new();
    let plan = view.plan;
    if view.blocks.is_empty() && view.drift.is_empty() {
        layout::paragraph(&mut out, &Words::new(&nothing(view)), 0, style);
        if let Some(words) = ignored(view) {
            layout::paragraph(&mut out, &Words::new(&words), 0, style);
        }
        return out;
    }
    let mut line = Words::new(&summary(view));
    for (words, paint) in pressing(view) {
        line = line.and(" ").paint(&words, paint);
    }
    layout::paragraph(&mut out, &line, 0, style);
    for words in [ignored(view), undeclared(view)].into_iter().flatten() {
        layout::paragraph(&mut out, &Words::new(&words), 0, style);
    }
    let mut line = Words::new("Plan ").paint(&view.digest().short(), Paint::Strong);
    line = line.and(&format!(" for {}", plan.target));
    if let Some(file) = ahead.and_then(|ahead| ahead.saved.as_ref()) {
        line = line.and(&format!(", saved in {file}"));
    }
    line = line.and(".");
    let refused = ahead.map(NextSteps::refusals).unwrap_or_default();
    if let Some(ahead) = ahead {
        line = match refused.is_empty() {
            true if !plan.basis.is_service() => line.and(" ").and(FOR_READING),
            true => next(line.and(" Next: "), view, ahead),
            false => line.and(" Apply will refuse this plan:"),
        };
    }
    layout::paragraph(&mut out, &line, 0, style);
    out.push_str(&refusals(refused, style));
    out
}

/// The text if there is nothing to do.
pub(super) fn nothing(view: &PlanView) -> String {
    let plan = view.plan;
    let target = &plan.target;
    if let Some(words) = undeclared(view) {
        return words;
    }
    match (&plan.aim, view.left_out()) {
        (Aim::Nothing, _) if plan.choice.is_all() => {
            format!("Nothing to delete: pushplan manages nothing on {target}.")
        }
        (Aim::Nothing, _) => format!("Nothing to delete: pushplan manages nothing in this part of {target}."),
        (Aim::Manifests, 0) if !plan.basis.is_service() || plan.told.open_gap.is_some() => {
            format!("No changes for {target} ({}).", count(view.matching(), "resource"))
        }
        (Aim::Manifests, 0) => {
            format!("No changes. {target} matches your files ({}).", count(view.matching(), "resource"))
        }
        (Aim::Before(number), 0) => format!("No changes. {target} is as it was before {number}."),
        (Aim::Promoted(from), 0) if plan.told.left() > 0 => {
            let (left, are) = (plan.told.left(), if plan.told.left() == 1 { "is" } else { "are" });
            format!("No changes. {target} may differ from {from}: {} {are} blocked.", count(left, "resource"))
        }
        (Aim::Promoted(from), 0) => format!("No changes. {target} has everything that {from} has."),
        (_, left) if plan.told.at_work.is_some() => {
            let unchanged = view.count(Action::Keep) + view.count(Action::Past);
            format!("No other changes: {unchanged} unchanged, {left} left out.")
        }
        (_, left) => {
            let are = if left == 1 { "is" } else { "are" };
            format!("No changes in the selected part. {} outside it {are} left out.", count(left, "change"))
        }
    }
}

/// The note that the files declare nothing, with what stays on the service and how to delete that.
pub fn undeclared(view: &PlanView) -> Option<String> {
    let NothingDeclared { stays, not_pruned } = view.plan.told.nothing_declared.as_ref()?;
    let target = &view.plan.target;
    let mut said = match stays {
        0 => format!("Your files declare nothing, and pushplan manages nothing on {target}."),
        number => {
            let (stay, them) = if *number == 1 { ("stays", "it") } else { ("stay", "them") };
            let (all, destroy) = (count(*number, "resource"), view.again.other("destroy"));
            format!(
                "Your files declare nothing, and a plan never deletes everything: {all} {stay} on {target}. \
                 To delete {them}: {destroy}"
            )
        }
    };
    let prune: Vec<String> = not_pruned.iter().map(|kind| format!("prune.{kind}")).collect();
    if !prune.is_empty() {
        let delete = if prune.len() == 1 { "deletes" } else { "delete" };
        said = format!("{}. {} of {target} then {delete} nothing.", said.trim_end_matches('.'), all_of(&prune));
    }
    Some(said)
}

/// The number of ignored differences: `2 differences are ignored (lifecycle.ignore).`
pub(super) fn ignored(view: &PlanView) -> Option<String> {
    let number = view.ignored();
    let are = if number == 1 { "is" } else { "are" };
    (number > 0).then(|| format!("{} {are} ignored (lifecycle.ignore).", count(number, "difference")))
}

/// The numbers of changes that send, that wait for a decision, and that revert a change made in the dashboard.
pub(in crate::render) fn pressing(view: &PlanView) -> Vec<(String, Paint)> {
    let (at_once, undoing) = (view.sending_at_once(), view.undoing());
    let late = |is_late: bool| {
        let is_one = |change: &&&Change| guard::is_stuck(change) && change.is_too_late() == is_late;
        let mut named: Vec<String> = view
            .plan
            .changes
            .iter()
            .filter(|change| is_one(&change))
            .map(|change| change.address.to_string())
            .collect();
        let number = named.len();
        if number > STUCK {
            named.truncate(STUCK);
            named.push(format!("{} more", number - STUCK));
        }
        (number, all_of(&named))
    };
    let ((late, late_names), (open, open_names)) = (late(true), late(false));
    let later = view.sending() - at_once;
    let said = |number: usize, one: &str, many: &str, rest: &str| {
        let verb = if number == 1 { one } else { many };
        format!("{number} {verb} {rest}.")
    };
    let all = [
        (at_once, said(at_once, "sends", "send", "at once"), Paint::Danger),
        (later, said(later, "sends", "send", "later"), Paint::Danger),
        (late, said(late, "is", "are", &format!("too late ({late_names})")), Paint::Asks),
        (open, said(open, "waits", "wait", &format!("for your decision ({open_names})")), Paint::Asks),
        (undoing, said(undoing, "reverts a change", "revert changes", "made in the dashboard"), Paint::Asks),
    ];
    all.into_iter().filter(|(number, ..)| *number > 0).map(|(_, words, paint)| (words, paint)).collect()
}

/// The next steps: apply the plan, decide the open questions, or do the manual steps.
pub(super) fn next(line: Words, view: &PlanView, ahead: &NextSteps) -> Words {
    let plan = view.plan;
    let is_for_people = |change: &&Change| change.reasons.iter().any(|it| matches!(it, Reason::InDashboard { .. }));
    let by_hand: Vec<&Change> = plan.changes.iter().filter(is_for_people).collect();
    match (plan.has_news(), view.stuck(), by_hand.as_slice()) {
        (true, 0, _) => line.copy(&ahead.apply()),
        (true, ..) => line.and("choose one of the ways shown above, then ").copy(&ahead.apply()),
        (false, 1.., _) => line.and("choose one of the ways shown above"),
        (false, 0, []) if plan.manual() == 0 => {
            line.and("nothing can be done until the resources above are no longer used")
        }
        (false, 0, []) => line.and("the manual steps above"),
        (false, 0, changes) => {
            let done: String = changes.iter().take(NAMED).map(|change| format!(" --done {}", change.address)).collect();
            line.and("the manual steps above, then ").copy(&view.again.other(&format!("apply{done}")))
        }
    }
}

/// `Plan: 1 to create, 2 to update, 14 unchanged.`
pub fn summary(view: &PlanView) -> String {
    let all: Vec<String> = changing(view).into_iter().chain(staying(view)).collect();
    format!("Plan: {}.", all.join(", "))
}

/// The number of resources for each action, and of manual steps.
pub(in crate::render) fn changing(view: &PlanView) -> Vec<String> {
    let told = |action: Action, number: usize| match action {
        Action::Keep | Action::Past => None,
        Action::ByHand => Some(count(number, "manual step")),
        action => Some(format!("{number} to {}", action.word())),
    };
    // A change that is refused as too late waits for a decision; a deletion that waits for other changes waits for a
    // later apply.
    let held = view.held();
    let number = |action: Action| {
        let others = if action == Action::ByHand { held } else { view.late(action) };
        let number = view.count(action) - others;
        Some((number, told(action, number)?))
    };
    let numbers = Action::ALL.into_iter().filter_map(number).chain([(held, format!("{held} to delete later"))]);
    numbers.filter(|(number, _)| *number > 0).map(|(_, words)| words).collect()
}

/// The numbers of unchanged resources and of those left out.
pub(in crate::render) fn staying(view: &PlanView) -> Vec<String> {
    let unchanged = format!("{} unchanged", view.count(Action::Keep) + view.count(Action::Past));
    let left = view.left_out();
    std::iter::once(unchanged).chain((left > 0).then(|| format!("{left} left out"))).collect()
}
