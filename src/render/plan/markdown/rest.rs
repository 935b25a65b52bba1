//! The parts around the changes: the marker, the heading, messages close together, past pushes, and the requests.

use super::{Cut, facts, messages};
use crate::address::Address;
use crate::digest::Digest;
use crate::plan::{Action, Change, Plan, Step};
use crate::render::escape::markdown;
use crate::render::layout::Words;
use crate::render::plan::text::{
    FOR_READING, NAMED, changing, held_lines, ignored, next, pressing, staying, undeclared,
};
use crate::render::plan::{NextSteps, PlanView, past, unmanaged, words};
use crate::text::{count, short};
use crate::timing::Collision;
use crate::timing::words::collision;

/// The number of characters of a target or an origin that are shown.
const NAME: usize = 80;
/// The number of pairs of messages close together that are named.
const NEAR: usize = 3;
/// The number of characters of a line.
const LINE: usize = 300;

/// The marker by which programs find the comment, and compare its plan.
pub fn marker(view: &PlanView, truncated: bool) -> String {
    let truncated = if truncated { " truncated" } else { "" };
    format!("<!-- pushplan target={} digest={}{truncated} -->\n", named(&view.plan.target), view.digest())
}

/// A name as one word of an HTML comment, which it cannot end: characters other than letters, digits, `_`, `.` and
/// single `-` are written as `%2D`. A very long name is replaced by its digest.
pub fn named(target: &str) -> String {
    const LONGEST: usize = 200;
    let mut out = String::new();
    for (at, byte) in target.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let dash = byte == b'-' && at > 0 && at + 1 < target.len() && !out.ends_with('-');
        if plain || dash { out.push(char::from(byte)) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    if out.len() > LONGEST { format!("sha256-{}", Digest::of(target.as_bytes())) } else { out }
}

/// The target and the counts of changes.
pub fn heading(view: &PlanView, ahead: &NextSteps) -> String {
    let target = markdown::text(&short(&view.plan.target, NAME));
    let pressing: String = pressing(view).iter().map(|(words, _)| format!(" **{}**", markdown::text(words))).collect();
    let (changing, staying) = (changing(view), staying(view).join(", "));
    // Changes to the ledger only do not count.
    let changing = if changing.is_empty() { "nothing to apply".to_owned() } else { changing.join(", ") };
    let ignored: String =
        [ignored(view), undeclared(view)].into_iter().flatten().map(|words| format!(" {words}")).collect();
    let compared = format!("{}{}", notice(view.plan), compared_with(view.plan));
    let verdict = messages::verdict(view, Some(ahead));
    format!("## Plan for {target} — {changing}\n{verdict}\n\n{compared}{staying}.{pressing}{ignored}\n\n")
}

/// The notice that the files or the ledger lack what was last applied.
pub fn notice(plan: &Plan) -> String {
    let words = plan.told.notice().map(|words| markdown::text(&short(&words, 2 * LINE)));
    words.map(|words| format!("> [!WARNING]\n> {words}\n\n")).unwrap_or_default()
}

/// What the plan was compared with, if not the service.
pub fn compared_with(plan: &Plan) -> String {
    let words = plan.compared_with().map(|words| markdown::with_commits(&short(&words, 2 * LINE)));
    words.map(|words| format!("> [!NOTE]\n> {words}\n\n")).unwrap_or_default()
}

/// Messages that one person would get shortly after each other.
pub fn near(view: &PlanView, most: usize) -> Cut {
    let all = &view.collisions().all;
    let (mut found, summary) = view.collisions().summary();
    if found.is_empty() && all.uncompared == 0 {
        return Cut::default();
    }
    let more = found.len().saturating_sub(NEAR);
    found.truncate(NEAR);
    let summary = if found.is_empty() { String::new() } else { format!("{summary}\n\n") };
    let head = &format!("### Close together\n\n{summary}");
    let line = |one: &&Collision| {
        let words = format!("is sent {}", collision(one, true));
        let address = markdown::code(&short(&one.one.to_string(), LINE));
        format!("- {address} {}\n", markdown::text(&short(&words, LINE)))
    };
    let mut section = section(head, found.iter(), line, most.saturating_sub(60), "more pair");
    if more > 0 {
        section.text.push_str(&format!("and {} further apart.\n\n", count(more, "more pair")));
    }
    if all.uncompared > 0 {
        section.text.push_str(&format!("{} are too many to compare.\n\n", count(all.uncompared, "more pair")));
    }
    section
}

/// Past pushes.
pub fn past(view: &PlanView, most: usize) -> Cut {
    if view.past.is_empty() {
        return Cut::default();
    }
    let line = |change: &&Change| {
        let address = markdown::code(&short(&change.address.to_string(), LINE));
        format!("- {} {address} {}\n", Action::Past.symbol(), markdown::text(&past::fate(change)))
    };
    let named = view.past.iter().take(NAMED);
    let mut section = section("### Past\n\n", named, line, most.saturating_sub(60), "more");
    let more = view.past.len().saturating_sub(NAMED);
    if more > 0 {
        section.text.push_str(&format!("{more} more have passed.\n\n"));
    }
    section
}

/// Resources that this plan leaves out.
pub fn left_out(view: &PlanView, most: usize) -> Cut {
    let left = &view.plan.left_out;
    if left.is_empty() {
        return held(view, most);
    }
    let why = match &view.plan.told.at_work {
        Some(words) => format!("{} It does not touch:", markdown::text(&short(words, LINE))),
        None => "This plan covers a part of the project. It does not touch:".to_owned(),
    };
    let head = &format!("### Left out\n\n{why}\n\n");
    let line = |address: &Address| format!("- {}\n", markdown::code(&short(&address.to_string(), LINE)));
    let mut section = section(head, left.iter().take(NAMED), line, most.saturating_sub(40), "more");
    let more = left.len().saturating_sub(NAMED);
    if more > 0 {
        section.text.push_str(&format!("and {more} more.\n\n"));
    }
    let held = held(view, most.saturating_sub(section.text.len()));
    Cut { text: section.text + &held.text, left: section.left + held.left }
}

/// Resources that are not promoted.
fn held(view: &PlanView, most: usize) -> Cut {
    let lines = held_lines(view.plan);
    if lines.is_empty() {
        return Cut::default();
    }
    let head = "### Not promoted\n\n";
    section(head, lines, |line| format!("- {}\n", markdown::text(&short(&line, LINE))), most, "more")
}

/// The requests in the order in which they are sent.
pub fn requests(view: &PlanView, most: usize) -> Cut {
    let sent: Vec<&Step> = view.plan.steps.iter().filter(|step| step.request.is_some()).collect();
    if sent.is_empty() {
        return Cut::default();
    }
    let head = format!("<details><summary>{}, in order</summary>\n\n", count(sent.len(), "request"));
    const FOOT: &str = "\nEach request is logged before it is sent. If an apply stops half-way, the next one continues from there \
                        and sends nothing twice.\n\n</details>\n\n";
    // Each fence is longer than any run of its character in a line.
    let room = most.saturating_sub(head.len() + FOOT.len() + 2 * LINE + 200);
    let mut lines = String::new();
    let mut told = 0;
    for step in &sent {
        let Some(request) = &step.request else { continue };
        let path = short(&request.path, LINE);
        let line = format!(
            "{:>3} {:<6} {path}  {}\n",
            told + 1,
            request.method.word(),
            short(&step.address.to_string(), LINE)
        );
        if lines.len() + line.len() > room {
            break;
        }
        lines.push_str(&line);
        told += 1;
    }
    let left = sent.len() - told;
    if left > 0 {
        lines.push_str(&format!("    … and {}\n", count(left, "more request")));
    }
    let text = format!("{head}{}{FOOT}", markdown::block("text", &lines));
    match text.len() <= most {
        true => Cut { text, left },
        false => Cut { text: String::new(), left: sent.len() },
    }
}

/// Unmanaged resources on the service.
pub fn unmanaged(view: &PlanView) -> String {
    unmanaged::words(view).map(|words| format!("\n{}\n", facts::inline(&words, 4 * LINE))).unwrap_or_default()
}

/// The source of the plan, and the next steps.
pub fn footer(view: &PlanView, ahead: &NextSteps) -> String {
    let plan = view.plan;
    let code = |text: &str| markdown::code(&short(text, NAME));
    let saved = ahead.saved.as_ref().map(|file| format!(", saved in {}", code(file))).unwrap_or_default();
    let lead = if ahead.on_merge { "After the merge:" } else { "Next:" };
    let next = match ahead.refusals().is_empty() {
        true if !plan.basis.is_service() => FOR_READING.to_owned(),
        true => format!("{lead} {}", facts::inline(&next(Words::default(), view, ahead), 4 * LINE)),
        false => "Apply will refuse this plan: see above.".to_owned(),
    };
    let next = if next.len() > 3_000 { format!("{lead} see the commands above.") } else { next };
    // An approval remains valid until something changes.
    let until = match plan.basis.is_service() && !ahead.on_merge {
        true => format!("; it can be applied until {}", words::moment(plan.expires)),
        false => String::new(),
    };
    format!(
        "{next}\n\n---\n\nPlan `{}` for {} ({}){saved}. Made {} by {}{until}.\n{}",
        view.digest().short(),
        code(&plan.target),
        if plan.origin == "built-in" { "the built-in service".to_owned() } else { code(&plan.origin) },
        words::moment(plan.made),
        code(&format!("pushplan {}", plan.tool)),
        unmanaged(view),
    )
}

/// Lines under a heading, one for each item, as many as fit.
fn section<T>(
    head: &str,
    items: impl IntoIterator<Item = T>,
    line: impl Fn(T) -> String,
    most: usize,
    more: &str,
) -> Cut {
    let most = most.saturating_sub(head.len() + 120);
    let (mut out, mut left) = (String::new(), 0);
    for item in items {
        // After the first item that does not fit, the others are only counted.
        if left == 0 {
            let line = line(item);
            if out.len() + line.len() <= most {
                out.push_str(&line);
                continue;
            }
        }
        left += 1;
    }
    if left > 0 {
        out.push_str(&format!("- and {left} {more}{}\n", if left > 1 && more != "more" { "s" } else { "" }));
    }
    Cut { text: format!("{head}{out}\n"), left }
}
