//! The plans of several targets for one review: equal changes are shown once, in as few comments as possible.

use std::collections::{BTreeMap, BTreeSet};

use super::{Folded, PlanResult, PlanView, Several, every_change, fold, heading, named, not_promoted};
use crate::plan::Action;
use crate::render::escape::markdown::{code, text};
use crate::render::plan::markdown::{ReviewBlock, messages, reviewed};
use crate::render::plan::{Risk, messages as rows};
use crate::text::{count, in_one, short};

/// The number of characters of a line that are shown.
const LINE: usize = 300;
/// The number of lines in a list.
const LINES: usize = 12;
/// The number of targets with a line of their own.
const TARGETS: usize = 200;
/// The bytes of each part that are reserved for its end.
const END: usize = 300;
/// The share of the first part that messages may fill.
const MESSAGES: usize = 3;

/// Groups of targets, such as environments, with the targets of each.
pub type TargetGroups = Vec<(String, Vec<String>)>;

/// The parts of a review, and the targets whose changes are not all shown in full.
#[derive(Debug)]
pub struct ReviewText {
    pub parts: Vec<String>,
    pub truncated: BTreeSet<String>,
}

/// Fills the parts in order.
struct ReviewParts<'r> {
    room: &'r [usize],
    parts: Vec<String>,
}

impl ReviewParts<'_> {
    fn left(&self) -> usize {
        let at = self.parts.len() - 1;
        self.room[at].saturating_sub(self.parts[at].len() + END)
    }

    /// Adds a text if it fits, in the next part if necessary. A new part begins with `head`.
    fn add(&mut self, text: &str, head: &str) -> bool {
        if text.len() <= self.left() {
            self.put(text);
            return true;
        }
        let next = self.room.get(self.parts.len()).map_or(0, |room| room.saturating_sub(END));
        let begin = format!("This continues the plans in the comment above.\n\n{head}");
        if text.len() + begin.len() > next {
            return false;
        }
        self.put("The next comment continues this.\n");
        self.parts.push(begin);
        self.put(text);
        true
    }

    /// Adds a text if it fits into this part.
    fn offer(&mut self, text: &str) -> bool {
        let fits = text.len() <= self.left();
        if fits {
            self.put(text);
        }
        fits
    }

    fn put(&mut self, text: &str) {
        if let Some(part) = self.parts.last_mut() {
            part.push_str(text);
        }
    }
}

/// The plans as Markdown, in at most as many parts as `room` has limits. The same plans give the same bytes.
/// `on_merge`: the merge triggers the apply.
pub fn review(several: &Several, groups: &TargetGroups, on_merge: bool, room: &[usize]) -> ReviewText {
    let shown = |view: &PlanView| reviewed(view).into_iter().map(|block| (block.risk, block)).collect();
    let changes: Vec<Folded<ReviewBlock>> = every_change(several, shown, |block| &block.whole);
    let mut parts = ReviewParts { room, parts: vec![head(several)] };
    parts.offer(&needs_action(several));
    parts.offer(&outliers(several, &changes));
    parts.offer(&message_table(several, parts.left() / MESSAGES));
    parts.offer(&guards(several));
    parts.offer(&held(several));
    parts.offer(&totals(several, groups));
    let (mut truncated, mut left) = (BTreeSet::new(), 0);
    for Folded { targets, blocks, values } in &changes {
        let same = text(&short(&heading(targets, blocks.len()), 4 * LINE));
        let head = format!("### {same}\n\n{}", values_table(values));
        let mut before = head.as_str();
        for block in blocks {
            let is_whole = parts.add(&format!("{before}{}", block.whole), if before.is_empty() { &head } else { "" });
            let is_told = is_whole || parts.offer(&format!("{before}{}", block.line));
            if is_told {
                before = "";
            } else {
                left += 1;
            }
            if !is_whole || block.is_cut {
                truncated.extend(targets.iter().map(|target| (*target).to_owned()));
            }
        }
        if before.is_empty() {
            parts.offer("\n");
        }
    }
    if left > 0 {
        let all = code(&short(&format!("{} --format json", several.again.plan()), LINE));
        parts.put(&format!("{} not shown here for lack of room; {all} has all of it.\n\n", count(left, "change")));
    }
    parts.offer(&target_table(several));
    let is_changed = several.planned().any(|(_, view, _)| !view.plan.is_empty());
    if on_merge && is_changed {
        let command = several.again.go_on();
        let command = match truncated.is_empty() {
            true => command,
            false => command.replace(" --approved", " --approved --accept-truncated"),
        };
        parts.offer(&format!("Once this is merged: {}\n", code(&short(&command, LINE))));
    }
    ReviewText { parts: parts.parts, truncated }
}

/// The number of targets, those that could not be planned, and the impact with its targets.
fn head(several: &Several) -> String {
    let mut out = format!("## Plan for {}\n\n", text(several.summary().trim_end_matches('.')));
    out.push_str(&failures(several));
    for words in several.compared_with().iter().take(LINES) {
        out.push_str(&format!("> [!NOTE]\n> {}\n\n", text(&short(words, 2 * LINE))));
    }
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for (target, view, ahead) in several.planned().filter(|(_, view, _)| !view.plan.is_empty()) {
        let words = rows::short_verdict(view, Some(ahead), 2 * LINE);
        match said.iter_mut().find(|(known, _)| *known == words) {
            Some((_, targets)) => targets.push(target),
            None => said.push((words, vec![target])),
        }
    }
    said.sort_by_key(|(_, targets)| std::cmp::Reverse(targets.len()));
    for (words, targets) in said.iter().take(LINES) {
        out.push_str(&format!("- **{}** ({})\n", text(words), text(&short(&named(targets), LINE))));
    }
    let more: usize = said.iter().skip(LINES).map(|(_, targets)| targets.len()).sum();
    if more > 0 {
        out.push_str(&format!("- {} with other messages: see below.\n", count(more, "more target")));
    }
    out + "\n"
}

/// The targets that could not be planned, by reason.
fn failures(several: &Several) -> String {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for (target, failure) in several.failed() {
        match said.iter_mut().find(|(known, _)| *known == failure.message) {
            Some((_, targets)) => targets.push(target),
            None => said.push((&failure.message, vec![target])),
        }
    }
    let all: usize = said.iter().map(|(_, targets)| targets.len()).sum();
    if all == 0 {
        return String::new();
    }
    let cell = |words: &str| text(&short(&in_one(words), LINE)).replace('|', "\\|");
    let row = |(why, targets): &(&str, Vec<&str>)| format!("| {} | failed: {} |\n", cell(&named(targets)), cell(why));
    let mut rows: String = said.iter().take(LINES).map(row).collect();
    let more: Vec<&str> = said.iter().skip(LINES).flat_map(|(_, targets)| targets.iter().copied()).collect();
    if !more.is_empty() {
        rows.push_str(&format!("| {} | failed for other reasons |\n", cell(&named(&more))));
    }
    let (of, these) = (count(all, "target"), if all == 1 { "it" } else { "them" });
    format!(
        "> [!CAUTION]\n> {of} could not be planned, so nothing of {these} is approved:\n\n| Target | Reason |\n|---|---|\n{rows}\n"
    )
}

/// The refusals of an apply, by reason.
fn needs_action(several: &Several) -> String {
    let mut said: Vec<(String, String, Vec<&str>)> = Vec::new();
    for (target, _, ahead) in several.planned() {
        for refused in ahead.refusals() {
            match said.iter_mut().find(|(known, ..)| *known == refused.message) {
                Some((.., targets)) => targets.push(target),
                None => said.push((refused.message.clone(), refused.help.clone(), vec![target])),
            }
        }
    }
    if said.is_empty() {
        return String::new();
    }
    let line = |(message, help, targets): &(String, String, Vec<&str>)| {
        let on = short(&named(targets), LINE);
        format!("- {}: {}\n", text(&on), text(&short(&in_one(&format!("{message} — {help}")), 2 * LINE)))
    };
    let lines: String = said.iter().take(LINES).map(line).collect();
    let more = said.len().saturating_sub(LINES);
    let more = if more > 0 { format!("- {}\n", count(more, "more reason")) } else { String::new() };
    format!("> [!CAUTION]\n> As it is, this would not be applied:\n\n{lines}{more}\n")
}

/// The targets whose plans differ from those of most others.
fn outliers(several: &Several, changes: &[Folded<ReviewBlock>]) -> String {
    let mut of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, folded) in changes.iter().enumerate() {
        folded.targets.iter().for_each(|target| of.entry(target).or_default().push(number));
    }
    let mut alike: BTreeMap<&[usize], usize> = BTreeMap::new();
    of.values().for_each(|numbers| *alike.entry(numbers).or_default() += 1);
    let Some((usual, most)) = alike.iter().max_by_key(|(_, number)| **number) else { return String::new() };
    let others: Vec<&str> = of.iter().filter(|(_, numbers)| numbers != usual).map(|(target, _)| *target).collect();
    if others.is_empty() || *most < 3 || 2 * most <= several.all.len() {
        return String::new();
    }
    let others = text(&short(&named(&others), 2 * LINE));
    format!("**Unlike the {most} targets that have the same plan:** {others}\n\n")
}

/// The messages of all targets in one table, of at most `most` bytes.
fn message_table(several: &Several, most: usize) -> String {
    const HEAD: &str = "### Messages\n\n| Change | Message | Who | When | Targets |\n|---|---|---|---|---|\n";
    let (mut out, mut left) = (String::new(), 0);
    for Folded { targets, blocks, values } in every_change(several, messages::blocks, String::as_str) {
        let names = text(&short(&named(&targets), LINE)).replace('|', "\\|");
        let values: String =
            values.iter().map(|words| format!("<br>{}", text(&short(words, LINE)).replace('|', "\\|"))).collect();
        for row in blocks {
            let row = format!("{} {names}{values} |\n", row.trim_end());
            if left > 0 || out.len() + row.len() > most {
                left += 1;
            } else {
                out.push_str(&row);
            }
        }
    }
    let are = if left == 1 { "is" } else { "are" };
    let more = format!("\n{} {are} not in this table.\n", count(left, "more message"));
    match (out.is_empty(), left) {
        (true, 0) => String::new(),
        _ => format!("{HEAD}{out}{}\n", if left > 0 { more } else { String::new() }),
    }
}

/// The loosened guards, once for all targets that have them.
fn guards(several: &Several) -> String {
    let all = several.planned().map(|(target, view, _)| {
        let words = messages::guards(view);
        let block = super::ShownBlock { risk: Risk::None, same: words.clone(), block: words };
        (target, if block.same.is_empty() { Vec::new() } else { vec![block] })
    });
    let one = |folded: Folded<String>| {
        format!("{}On {}.\n\n", folded.blocks.concat(), text(&short(&named(&folded.targets), LINE)))
    };
    fold(all.collect()).into_iter().map(one).collect()
}

/// The resources that are not promoted, once for all targets that have them.
fn held(several: &Several) -> String {
    let one = |(targets, lines): &(Vec<&str>, Vec<String>)| {
        let mut list: String =
            lines.iter().take(LINES).map(|line| format!("- {}\n", text(&short(line, LINE)))).collect();
        if lines.len() > LINES {
            list.push_str(&format!("- and {} more\n", lines.len() - LINES));
        }
        format!("**Not promoted to {}:**\n\n{list}\n", text(&short(&named(targets), LINE)))
    };
    not_promoted(several).iter().take(LINES).map(one).collect()
}

/// The counts for each group of targets.
fn totals(several: &Several, groups: &TargetGroups) -> String {
    const COLUMNS: [(&str, Action); 5] = [
        ("Create", Action::Create),
        ("Update", Action::Update),
        ("Replace", Action::Replace),
        ("Delete", Action::Delete),
        ("Manual", Action::ByHand),
    ];
    let has_failed = several.failed().next().is_some();
    let row = |(name, members): &(String, Vec<String>)| {
        let is_own = |target: &str| members.iter().any(|member| member == target);
        let own: Vec<&PlanView> =
            several.planned().filter(|(target, ..)| is_own(target)).map(|(_, view, _)| view).collect();
        let failed = several.failed().filter(|(target, _)| is_own(target)).count();
        if own.len() + failed == 0 {
            return String::new();
        }
        let changed = own.iter().filter(|view| !view.plan.is_empty()).count();
        let sum = |action| own.iter().map(|view| view.count(action)).sum::<usize>().to_string();
        let numbers: Vec<String> = COLUMNS.iter().map(|(_, action)| sum(*action)).collect();
        let name = text(&short(name, LINE)).replace('|', "\\|");
        let failed_cell = if has_failed { format!(" {failed} |") } else { String::new() };
        format!("| {name} | {changed} of {} |{failed_cell} {} |\n", own.len() + failed, numbers.join(" | "))
    };
    let rows: String = groups.iter().map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    let columns: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let failed = if has_failed { [" Failed |", "---|"] } else { [""; 2] };
    format!(
        "| Environment | With changes |{} {} |\n|---|---|{}{}\n{rows}\n",
        failed[0],
        columns.join(" | "),
        failed[1],
        "---|".repeat(COLUMNS.len())
    )
}

/// The values of variables, as a table.
fn values_table(values: &[String]) -> String {
    let row = |words: &String| {
        let (name, filled) = words.split_once(" is ").unwrap_or((words, ""));
        let cell = |words: &str| text(words).replace('|', "\\|");
        let lines: Vec<String> = filled.split("; ").map(cell).collect();
        format!("| {} | {} |\n", cell(name), lines.join("<br>"))
    };
    let rows: String = values.iter().map(row).collect();
    if rows.is_empty() { rows } else { format!("| Variable | Value |\n|---|---|\n{rows}\n") }
}

/// A line for each changed or failed target, and the number of unchanged ones.
fn target_table(several: &Several) -> String {
    let mut rows: Vec<String> = Vec::new();
    let mut same = 0;
    for ((target, result), view) in several.all.iter().zip(&several.views) {
        let words = match (result, view) {
            (PlanResult::Failed(failure), _) => format!("failed: {}", failure.message),
            (_, Some(view)) if !view.plan.is_empty() => several.words(view),
            _ => {
                same += 1;
                continue;
            }
        };
        let cell = |words: &str| text(&short(&in_one(words), LINE)).replace('|', "\\|");
        rows.push(format!("| {} | {} |\n", cell(target), cell(&words)));
    }
    if rows.len() > TARGETS {
        rows.truncate(TARGETS);
    }
    let same = if same > 0 { format!("{} without changes.\n\n", count(same, "target")) } else { String::new() };
    match rows.is_empty() {
        true => same,
        false => format!(
            "<details><summary>{}</summary>\n\n| Target | |\n|---|---|\n{}\n</details>\n\n{same}",
            count(rows.len(), "target"),
            rows.concat()
        ),
    }
}
