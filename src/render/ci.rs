//! What a comment in a pull request ends with: what it waits for, or what became of its plan.

use jiff::Timestamp;

use super::Again;
use super::escape::markdown;
use super::plan::words::moment;
use super::report::{self, Document, Line};
use crate::apply::{Ending, Report};
use crate::failure::Failure;
use crate::plan::Plan;
use crate::text::{count, short};

/// The most bytes that a footer has.
pub const MOST: usize = 2_500;
/// How many bytes of them tell what is left, and how many characters one thing of that has.
const LEFT: usize = 1_500;
const LINE: usize = 240;

/// What a comment ends with that waits for its reviewers.
pub fn waiting(plan: &Plan, truncated: bool, commit: Option<&str>) -> String {
    let first = |commit: &str| commit.chars().take(12).collect::<String>();
    let commit = commit.map(|commit| format!("For commit `{}`. ", first(commit))).unwrap_or_default();
    if plan.is_empty() {
        return format!("{commit}Nothing is to be applied.");
    }
    let digest = plan.digest().short();
    let cut = match truncated {
        true => " This comment has no room for all of it: it counts only with `--accept-truncated`.",
        false => "",
    };
    format!("{commit}On the merge, exactly plan `{digest}` is applied, or nothing.{cut}")
}

/// When and where something was done.
#[derive(Clone, Debug)]
pub struct Run<'r> {
    pub at: Timestamp,
    pub target: &'r str,
    /// Where the job is shown.
    pub job: Option<&'r str>,
}

impl Run<'_> {
    /// `**Applied** to local, Sun 15 Nov 2026 12:00 UTC`
    fn lead(&self, word: &str) -> String {
        let target = markdown::code(&short(self.target, 80));
        let job = self.job.filter(|job| is_plain(job)).map(|job| format!(" ([job]({job}))")).unwrap_or_default();
        format!("**{word}** {target}, {}{job}", moment(self.at))
    }
}

/// Whether a URL can stand in Markdown as it is.
fn is_plain(url: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || ":/._-".contains(c);
    (url.starts_with("https://") || url.starts_with("http://")) && url.len() <= 300 && url.chars().all(is_sign)
}

/// What became of a plan that was applied, with what is left of it.
pub fn ran(report: &Report, plan: &Plan, again: &Again, run: &Run) -> String {
    let word = match &report.ending {
        Ending::Done => "Applied to",
        _ if report.did_anything(plan) => "Applied in part to",
        _ => "Not applied to",
    };
    let mut out = format!("{}: {}.", run.lead(word), markdown::text(&report::numbers_of(report, plan)));
    let document = Document::new(report, plan, again);
    if !matches!(report.ending, Ending::Done) {
        out.push_str(&format!(" {}", markdown::text(&short(&document.words, LINE))));
    }
    let left: Vec<&Line> = document.steps.iter().filter(|line| line.fate != "done").collect();
    if !left.is_empty() {
        out.push_str("\n\nWhat is left:\n\n");
        let end = out.len() + LEFT;
        for (number, line) in left.iter().enumerate() {
            let item = item(line);
            if out.len() + item.len() > end {
                out.push_str(&format!("- and {}\n", count(left.len() - number, "more step")));
                break;
            }
            out.push_str(&item);
        }
    }
    if let Some(next) = document.next.first() {
        let command = markdown::code(&short(&next.command, LINE));
        out.push_str(&format!("\n\n{}: {command}", markdown::text(&short(&next.why, LINE))));
    }
    out
}

/// ``- create `segments/a` failed: HTTP 500``
fn item(line: &Line) -> String {
    let why = line.why.as_ref().map(|why| format!(": {}", markdown::text(&short(why, LINE)))).unwrap_or_default();
    let fate = line.fate.replace('_', " ").replace("unknown", "is not known");
    format!("- {} {} {fate}{why}\n", line.verb, markdown::code(&short(&line.address, LINE)))
}

/// That a plan was not applied, and why.
pub fn held(failure: &Failure, run: &Run) -> String {
    let said = |text: &str| markdown::text(&short(text, 3 * LINE));
    let help = failure.help.as_ref().map(|help| format!("\n\n{}", said(help))).unwrap_or_default();
    format!("{}: {}{help}", run.lead("Held, not applied to"), said(&failure.message))
}

/// That there was nothing left to apply.
pub fn nothing_left(run: &Run) -> String {
    format!("{}: nothing was left to apply.", run.lead("Applied to"))
}

/// That a plan was not begun because another target's was not applied.
pub fn not_begun(run: &Run) -> String {
    format!("{}: another target came first and was not applied.", run.lead("Held, not applied to"))
}
