//! The plan as Markdown for a pull request, readable both as source and on code hosts.
//!
//! A comment has a maximal size, so the plan has one too. The room goes to the most important parts: first decisions,
//! then a line for everything that sends or deletes, then the changes, the riskiest first, then the full versions of
//! long texts. Parts that do not fit are counted. The text is cut only between blocks.

mod decisions;
mod details;
pub(super) mod facts;
pub(in crate::render) mod messages;
mod people;
mod rest;
mod whole;

pub(super) use rest::named;

use super::decisions::is_grave;
use super::text::{ignored, nothing};
use super::{Block, NextSteps, PlanView, words};
use crate::plan::Plan;
use crate::render::escape::markdown;
use crate::text::{count, short};

/// The maximal size in bytes. Code hosts accept slightly more.
pub const LIMIT: usize = 60_000;

/// The maximal size of each part in bytes.
const DECISIONS: usize = 9_000;
const MESSAGES: usize = 7_500;
const PEOPLE: usize = 6_000;
const NEAR: usize = 2_000;
const PAST: usize = 1_500;
const LEFT_OUT: usize = 1_500;
const REQUESTS: usize = 4_000;
/// The room for headings and for the notes about omitted parts.
const NOTES: usize = 4_000;

/// The limits for the details of a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) lines: usize,
    pub(super) characters: usize,
}

/// A part of the page, and the number of its items that did not fit.
#[derive(Debug, Default)]
pub(in crate::render) struct Cut {
    pub(in crate::render::plan) text: String,
    left: usize,
}

/// A plan on a page, and whether some of it did not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownPage {
    pub text: String,
    pub truncated: bool,
}

/// The plan as Markdown, in at most [`LIMIT`] bytes. The same plan gives the same bytes.
pub fn markdown(plan: &Plan, ahead: &NextSteps) -> String {
    let view = PlanView::of(plan, &ahead.again);
    let MarkdownPage { text, truncated } = page_of(&view, ahead, LIMIT - rest::marker(&view, true).len());
    format!("{}{text}", rest::marker(&view, truncated))
}

/// Returns the plan as Markdown in at most `most` bytes, without the marker by which programs find it.
pub fn page(plan: &Plan, ahead: &NextSteps, most: usize) -> MarkdownPage {
    page_of(&PlanView::of(plan, &ahead.again), ahead, most)
}

fn page_of(view: &PlanView, ahead: &NextSteps, most: usize) -> MarkdownPage {
    if view.blocks.is_empty() && view.drift.is_empty() {
        let said = [Some(nothing(view)), ignored(view)].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let said = markdown::text(&short(&said, 600));
        let (compared, past) =
            (rest::compared_with(view.plan), rest::past(view, most.saturating_sub(said.len()).min(PAST)));
        let past = if past.text.is_empty() { past.text } else { format!("\n{}", past.text) };
        let older = rest::notice(view.plan);
        let guards = messages::guards(view);
        let guards = match guards.is_empty() {
            true => guards,
            false => format!("\n{}\n\n{guards}", messages::verdict(view, Some(ahead))),
        };
        return MarkdownPage {
            text: format!("{older}{compared}{said}\n{past}{guards}{}", rest::unmanaged(view)),
            truncated: false,
        };
    }
    let (heading, footer) = (rest::heading(view, ahead), rest::footer(view, ahead));
    let mut room = Room { left: most };
    // A larger page has proportionally larger parts.
    let times = (most / LIMIT).max(1);
    let mut truncated = !room.take(heading.len() + footer.len() + NOTES);
    // Parts that repeat the changes, or follow from them, may be cut, because the changes themselves are all shown.
    let decisions = room.part(&mut truncated, times * DECISIONS, &|most| decisions::decisions(view, ahead, most));
    // Changes that send or delete get their line before all other parts.
    let all = view.blocks.iter().chain(&view.drift).filter(|block| is_grave(block));
    let grave = all.map(|block| details::line(block).len()).sum::<usize>().min(room.left);
    room.left -= grave;
    let table = room.part(&mut false, times * MESSAGES, &|most| messages::table(view, most));
    let people = room.part(&mut truncated, times * PEOPLE, &|most| people::people(view, most));
    let near = room.part(&mut truncated, times * NEAR, &|most| rest::near(view, most));
    let past = room.part(&mut truncated, times * PAST, &|most| rest::past(view, most));
    let left_out = room.part(&mut truncated, times * LEFT_OUT, &|most| rest::left_out(view, most));
    let requests = room.part(&mut false, times * REQUESTS, &|most| rest::requests(view, most));
    room.left += grave;
    let changes = Changes::of(view, room);
    truncated |= changes.truncated;
    let (changes, drift) = changes.text(view);
    room.left = room.left.saturating_sub(changes.len() + drift.len());
    let whole = room.part(&mut truncated, most, &|most| whole::whole(view, most));
    let text =
        [heading, table, people, decisions, changes, near, drift, past, left_out, whole, requests, footer].concat();
    MarkdownPage { text, truncated }
}

/// Every change separately, with its risk: in full, and on one line.
pub(in crate::render) fn blocks(view: &PlanView) -> Vec<(super::Risk, String, String)> {
    let shown =
        |block: &Block, drifted: bool| (block.risk, details::details(view, block, drifted).0, details::line(block));
    let drift = view.drift.iter().map(|block| shown(block, true));
    view.blocks.iter().map(|block| shown(block, false)).chain(drift).collect()
}

/// A change as it is shown in a review of several targets.
#[derive(Debug)]
pub(in crate::render) struct ReviewBlock {
    pub(in crate::render) risk: super::Risk,
    /// The full form, including the full versions of long texts.
    pub(in crate::render) whole: String,
    /// The form on one line, if the full form does not fit.
    pub(in crate::render) line: String,
    /// Whether part of it is too long to be shown at all.
    pub(in crate::render) is_cut: bool,
}

/// Every change separately, with everything that reviewers can read about it.
pub(in crate::render) fn reviewed(view: &PlanView) -> Vec<ReviewBlock> {
    let shown = |block: &Block, drifted: bool| {
        let (details, is_cut) = details::details(view, block, drifted);
        let whole = format!("{details}{}", whole::of_block(block).concat());
        ReviewBlock { risk: block.risk, whole, line: details::line(block), is_cut }
    };
    let drift = view.drift.iter().map(|block| shown(block, true));
    view.blocks.iter().map(|block| shown(block, false)).chain(drift).collect()
}

/// The number of remaining bytes.
#[derive(Clone, Copy, Debug)]
struct Room {
    left: usize,
}

impl Room {
    /// Adds a part of the page, of at most this many bytes.
    fn part(&mut self, truncated: &mut bool, most: usize, make: &dyn Fn(usize) -> Cut) -> String {
        let Cut { text, left } = make(most.min(self.left));
        let fits = self.take(text.len());
        *truncated |= left > 0 || !fits;
        if fits { text } else { String::new() }
    }

    /// Takes this many bytes if they remain, and returns whether they did.
    fn take(&mut self, bytes: usize) -> bool {
        let rest = self.left.checked_sub(bytes);
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }
}

/// The form in which a change is shown.
#[derive(Debug)]
enum ShownChange {
    Whole(String),
    Line(String),
    Counted,
}

/// All changes, followed by the drift that the plan reverts, each by risk.
#[derive(Debug)]
struct Changes {
    told: Vec<ShownChange>,
    truncated: bool,
}

impl Changes {
    fn of(view: &PlanView, mut room: Room) -> Self {
        let all: Vec<&Block> = view.blocks.iter().chain(&view.drift).collect();
        let mut told: Vec<ShownChange> = all.iter().map(|_| ShownChange::Counted).collect();
        // Changes that send or delete get their line before any change gets more.
        for (block, told) in all.iter().zip(&mut told).filter(|(block, _)| is_grave(block)) {
            let line = details::line(block);
            if !room.take(line.len()) {
                break;
            }
            *told = ShownChange::Line(line);
        }
        let mut truncated = false;
        let mut shown = 0;
        for (number, block) in all.iter().enumerate() {
            let (whole, is_cut) = details::details(view, block, number >= view.blocks.len());
            let reserved = if let ShownChange::Line(line) = &told[number] { line.len() } else { 0 };
            if whole.len() > room.left + reserved {
                break;
            }
            room.left = room.left + reserved - whole.len();
            truncated |= is_cut;
            told[number] = ShownChange::Whole(whole);
            shown += 1;
        }
        truncated |= shown < all.len();
        for (block, told) in all.iter().zip(&mut told).skip(shown) {
            if !matches!(told, ShownChange::Counted) {
                continue;
            }
            let line = details::line(block);
            if !room.take(line.len()) {
                break;
            }
            *told = ShownChange::Line(line);
        }
        Self { told, truncated }
    }

    /// The changes, and the drift that the plan reverts.
    fn text(&self, view: &PlanView) -> (String, String) {
        let (changes, drift) = self.told.split_at(view.blocks.len());
        let happens = section("### Changes\n\n", changes, &view.blocks, view);
        if drift.is_empty() {
            return (happens, String::new());
        }
        let since = view.plan.told.last_apply.map(|at| format!(" ({})", words::moment(at))).unwrap_or_default();
        let head = format!(
            "### Changed on the service\n\nChanged on the service since the last apply{since}, and not in your \
                files. {}\n\n",
            words::PUT_BACK
        );
        (happens, section(&head, drift, &view.drift, view))
    }
}

/// Changes under a heading: those in full, those on a line, and the number of others.
fn section(head: &str, told: &[ShownChange], blocks: &[Block], view: &PlanView) -> String {
    if told.is_empty() {
        return String::new();
    }
    let mut out = head.to_owned();
    for told in told {
        if let ShownChange::Whole(text) = told {
            out.push_str(text);
        }
    }
    let lines: Vec<&str> = told
        .iter()
        .filter_map(|told| if let ShownChange::Line(text) = told { Some(text.as_str()) } else { None })
        .collect();
    let counted: Vec<&Block> = blocks
        .iter()
        .zip(told)
        .filter(|(_, told)| matches!(told, ShownChange::Counted))
        .map(|(block, _)| block)
        .collect();
    if !lines.is_empty() {
        out.push_str(&format!("{} more, on a line each:\n\n{}\n", lines.len(), lines.concat()));
    }
    if !counted.is_empty() {
        let number = count(counted.len(), "more change");
        let are = if counted.len() == 1 { "is" } else { "are" };
        let told = details::counted(&counted);
        out.push_str(&format!("{number} {are} counted here and not named: {told}.\n\n"));
    }
    if !lines.is_empty() || !counted.is_empty() {
        let all = format!("{} --format json", view.again.plan());
        out.push_str(&format!("{} has all of it.\n\n", markdown::code(&short(&all, 120))));
    }
    out
}
