//! The footer of a comment in a pull request: the next step, or the result of its plan.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::Repetition;
use super::escape::markdown;
use super::plan::NextSteps;
use super::plan::words::moment;
use super::report::{self, ReportDocument, StepLine};
use crate::apply::{Ending, Report};
use crate::failure::Failure;
use crate::plan::{Aim, Plan};
use crate::text::{count, short};

/// The maximal size of a footer in bytes.
pub const MOST: usize = 2_500;
/// The number of bytes for remaining steps, and the number of characters of each.
const LEFT: usize = 1_500;
const LINE: usize = 240;

/// The beginning of the footer for promotions.
const PROMOTES: &str = "After the merge, `pushplan promote --approved` applies";

/// The footer of a comment that waits for its reviewers. `on_merge`: it is applied after the merge.
pub fn waiting(plan: &Plan, on_merge: bool, truncated: bool, commit: Option<&str>) -> String {
    let commit = commit.map(|commit| format!("For commit `{}`. ", short_commit(commit))).unwrap_or_default();
    if !plan.basis.is_service() {
        return format!(
            "{commit}This was not compared with the service: it is for reading, and a merge does not approve it."
        );
    }
    if plan.is_empty() {
        return format!("{commit}Nothing is to be applied.");
    }
    if !on_merge {
        return format!("{commit}A merge does not apply this.");
    }
    let digest = plan.digest().short();
    let cut = match truncated {
        true => " This comment has no room for all of it: it counts only with `--accept-truncated`.",
        false => "",
    };
    match plan.aim {
        Aim::Promoted(_) => {
            format!("{commit}{PROMOTES} exactly plan `{digest}`, or nothing. A merge alone does not apply this.{cut}")
        }
        _ => format!("{commit}On the merge, exactly plan `{digest}` is applied, or nothing.{cut}"),
    }
}

/// The footer of a comment about several targets that waits for its reviewers. `failed`: the targets that could not be
/// planned. `truncated`: those that it shows only partly.
pub fn waiting_many(
    plans: &[(&Plan, &NextSteps)],
    failed: &[&str],
    truncated: &BTreeSet<String>,
    commit: Option<&str>,
) -> String {
    let unplanned = match failed {
        [] => String::new(),
        [one] => format!(" {} could not be planned, so nothing of it is approved.", target_names(&[one])),
        several => format!(" {} could not be planned, so nothing of them is approved.", target_names(several)),
    };
    let planned = waiting_planned(plans, truncated, commit);
    format!("{planned}{unplanned}").trim_start().to_owned()
}

/// The footer of a comment about the planned targets.
fn waiting_planned(plans: &[(&Plan, &NextSteps)], truncated: &BTreeSet<String>, commit: Option<&str>) -> String {
    let Some((first, _)) = plans.first() else {
        return commit.map(|commit| format!("For commit `{}`.", short_commit(commit))).unwrap_or_default();
    };
    let changed = plans.iter().filter(|(plan, _)| !plan.is_empty()).copied();
    let (applied, others): (Vec<_>, Vec<_>) =
        changed.partition(|(plan, ahead): &(&Plan, &NextSteps)| plan.basis.is_service() && ahead.on_merge);
    match (applied.is_empty(), others.first()) {
        (true, Some((plan, ahead))) => waiting(plan, ahead.on_merge, false, commit),
        (true, None) => waiting(first, true, false, commit),
        (false, _) => {
            let commit = commit.map(|commit| format!("For commit `{}`. ", short_commit(commit))).unwrap_or_default();
            let names: Vec<&str> = truncated.iter().map(String::as_str).collect();
            let cut = match names.as_slice() {
                [] => String::new(),
                names => format!(
                    " There is no room for all of {}: it counts only with `--accept-truncated`.",
                    target_names(names)
                ),
            };
            let these = if others.is_empty() { "these plans" } else { "the other plans" };
            let commit = format!("{commit}{}", not_approved(&others));
            match applied.iter().any(|(plan, _)| matches!(plan.aim, Aim::Promoted(_))) {
                true => format!(
                    "{commit}{PROMOTES} exactly {these}, each as it is shown, or nothing. A merge alone does not apply this.{cut}"
                ),
                false => {
                    format!("{commit}On the merge, exactly {these} are applied, each as it is shown, or nothing.{cut}")
                }
            }
        }
    }
}

/// The targets whose plans a merge does not apply, while it applies others.
fn not_approved(plans: &[(&Plan, &NextSteps)]) -> String {
    let names = |is_compared: bool| -> Vec<&str> {
        let those = plans.iter().filter(|(plan, _)| plan.basis.is_service() == is_compared);
        those.map(|(plan, _)| plan.target.as_str()).collect()
    };
    let (compared, read_only) = (names(true), names(false));
    let read_only = match read_only.as_slice() {
        [] => String::new(),
        [one] => {
            format!("{} was not compared with the service: a merge does not approve it. ", target_names(&[one]))
        }
        several => {
            format!("{} were not compared with the service: a merge does not approve them. ", target_names(several))
        }
    };
    let compared = match compared.as_slice() {
        [] => String::new(),
        names => format!("A merge does not apply {}. ", target_names(names)),
    };
    format!("{read_only}{compared}")
}

/// Targets as Markdown: the first of them, and the number of others.
pub fn target_names(targets: &[&str]) -> String {
    const NAMED: usize = 12;
    let few: Vec<String> = targets.iter().take(NAMED).map(|target| markdown::code(&short(target, 80))).collect();
    match targets.len().saturating_sub(NAMED) {
        0 => few.join(", "),
        more => format!("{} and {}", few.join(", "), count(more, "more target")),
    }
}

/// The placeholder for the targets of a result, until equal results are merged.
pub const TARGETS: &str = "\u{e000}";

/// One result in a footer, and the indexes of its targets in the comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub of: BTreeSet<usize>,
    pub text: String,
}

/// The beginning of a section in a comment about several targets.
const SECTION: &str = "<!-- pushplan:of ";
/// The maximal size of all sections in bytes.
pub const MOST_SECTIONS: usize = 6_000;

/// The bytes reserved for the last one, which says that there are more.
const LAST: usize = 800;

/// The sections of a footer. A footer without marks is one section for all targets.
pub fn sections(footer: &str, targets: usize) -> Vec<Section> {
    let whole = || vec![Section { of: (0..targets).collect(), text: footer.trim().to_owned() }];
    if !footer.trim_start().starts_with(SECTION) {
        return whole();
    }
    let section = |part: &str| {
        let (of, text) = part.split_once(" -->")?;
        let of = of.split(',').map(|number| number.parse().ok()).collect::<Option<BTreeSet<usize>>>()?;
        Some(Section { of, text: text.trim().to_owned() })
    };
    footer.split(SECTION).skip(1).map(section).collect::<Option<Vec<_>>>().unwrap_or_else(whole)
}

/// A footer with new results before those of other targets. Sections are dropped when newer ones cover all their
/// targets.
pub fn footer(new: Vec<Section>, old: Vec<Section>, targets: usize) -> String {
    let (mut covered, mut out, mut left) = (BTreeSet::new(), String::new(), BTreeSet::new());
    let part = |Section { of, text }: &Section| {
        let of: Vec<String> = of.iter().map(usize::to_string).collect();
        format!("{SECTION}{} -->\n{text}\n\n", of.join(","))
    };
    for section in new.into_iter().chain(old) {
        if section.of.is_subset(&covered) {
            continue;
        }
        covered.extend(section.of.iter().copied());
        if targets == 1 {
            return section.text;
        }
        let text = part(&section);
        if out.is_empty() || out.len() + text.len() + LAST <= MOST_SECTIONS {
            out.push_str(&text);
        } else {
            left.extend(section.of);
        }
    }
    if !left.is_empty() {
        let text = format!("The log of the job has the results of {}.", count(left.len(), "more target"));
        out.push_str(&part(&Section { of: left, text }));
    }
    out.trim_end().to_owned()
}

fn short_commit(commit: &str) -> String {
    commit.chars().take(12).collect()
}

/// The time and place of a run.
#[derive(Clone, Debug)]
pub struct JobRun<'r> {
    pub at: Timestamp,
    /// The targets, as Markdown.
    pub targets: &'r str,
    /// The URL of the job.
    pub job: Option<&'r str>,
}

impl JobRun<'_> {
    /// `**Applied** to local, Sun 15 Nov 2026 12:00 UTC`
    fn lead(&self, word: &str) -> String {
        let job = self.job.filter(|job| is_plain(job)).map(|job| format!(" ([job]({job}))")).unwrap_or_default();
        format!("**{word}** {}, {}{job}", self.targets, moment(self.at))
    }
}

/// Whether a URL can be written in Markdown unchanged.
fn is_plain(url: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || ":/._-".contains(c);
    (url.starts_with("https://") || url.starts_with("http://")) && url.len() <= 300 && url.chars().all(is_sign)
}

/// The first parts that fit.
fn bounded(parts: Vec<String>) -> String {
    let mut out = String::new();
    for part in parts {
        if out.len() + part.len() <= MOST {
            out.push_str(&part);
        }
    }
    out
}

/// The text about an applied plan, with its remaining steps.
pub fn ran(report: &Report, plan: &Plan, again: &Repetition, run: &JobRun) -> String {
    let word = match &report.ending {
        Ending::Done => "Applied to",
        _ if report.did_anything(plan) => "Applied in part to",
        _ => "Not applied to",
    };
    let mut parts = vec![format!("{}: {}.", run.lead(word), markdown::text(&report::numbers_of(report, plan)))];
    let document = ReportDocument::new(report, plan, again);
    if !matches!(report.ending, Ending::Done) {
        parts.push(format!(" {}", markdown::text(&short(&document.words, LINE))));
    }
    let left: Vec<&StepLine> = document.steps.iter().filter(|line| line.fate != "done").collect();
    if !left.is_empty() {
        parts.push(format!("\n\nWhat is left:\n\n{}", list(&left)));
    }
    if let Some(next) = document.next.first() {
        let command = markdown::code(&short(&next.command, LINE));
        parts.push(format!("\n\n{}: {command}", markdown::text(&short(&next.why, LINE))));
    }
    bounded(parts)
}

/// As many items as fit, and the number of others.
fn list(left: &[&StepLine]) -> String {
    let mut out = String::new();
    for (number, line) in left.iter().enumerate() {
        let item = item(line);
        if out.len() + item.len() > LEFT {
            out.push_str(&format!("- and {}\n", count(left.len() - number, "more step")));
            break;
        }
        out.push_str(&item);
    }
    out
}

/// ``- create `segments/a` failed: HTTP 500``
fn item(line: &StepLine) -> String {
    let why = line.why.as_ref().map(|why| format!(": {}", markdown::text(&short(why, LINE)))).unwrap_or_default();
    let fate = line.fate.replace('_', " ").replace("unknown", "is not known");
    format!("- {} {} {fate}{why}\n", line.verb, markdown::code(&short(&line.address, LINE)))
}

/// The text for a plan that was not applied, with the reason.
pub fn held(failure: &Failure, run: &JobRun) -> String {
    let lead = run.lead("Held, not applied to");
    let said = |text: &str, most: usize| markdown::text(&short(text, most));
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim().trim_start_matches("- ").to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let message = lines(&failure.message);
    let (first, rest) = message.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let whys = [3 * LINE, LINE, LINE / 4].map(|most| said(first, most));
    let why = whys.iter().find(|why| lead.len() + why.len() + 2 <= MOST).map_or("", String::as_str);
    let gap = if rest.is_empty() { "" } else { "\n" };
    let mut parts = vec![format!("{lead}: {why}{gap}")];
    parts.extend(rest.iter().map(|line| format!("\n- {}", said(line, LINE))));
    parts.extend(failure.help.as_ref().map(|help| format!("\n\n{}", said(&lines(help).join(" "), 3 * LINE))));
    bounded(parts)
}

/// The text while a plan is being applied, with advice for an interrupted job.
pub fn begins(run: &JobRun) -> String {
    format!(
        "{}. This uses the approval. The result will be written here; if the job was cut off, run it again: it applies what is \
         left, or says why not.",
        run.lead("Applying to")
    )
}

/// The text for an apply whose job was interrupted after it had done everything.
pub fn was_applied(run: &JobRun) -> String {
    format!(
        "{}: the ledger shows that an apply of this plan did everything, and its job was cut off before it wrote that here.",
        run.lead("Applied to")
    )
}

/// The text if nothing was left to apply.
pub(crate) fn nothing_left(run: &JobRun) -> String {
    format!("{}: nothing was left to apply.", run.lead("Applied to"))
}

/// The text for a plan that was not begun because another target was not applied as planned.
pub(crate) fn not_begun(other: &str, run: &JobRun) -> String {
    let other = markdown::code(&short(other, 80));
    format!("{}: it was not started, because {other} was not applied as planned.", run.lead("Held, not applied to"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::{Fate, StepReport};

    use crate::ledger::Verb;

    use crate::plan::{About, Position};

    fn run() -> JobRun<'static> {
        let job = Some("https://git.example/shop/messages/actions/runs/7");
        JobRun { at: "2026-11-15T12:00:00Z".parse().unwrap(), targets: "`local`", job }
    }

    fn plan() -> Plan {
        let about = About { ledger: Position { lineage: "l".into(), seq: 7 }, ..About::new("local", "built-in") };
        Plan::new(about, Vec::new(), Vec::new(), Vec::new(), "2030-01-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn a_footer_has_its_room_and_no_more() {
        let nasty = "*<!-- @all #1 `".repeat(500);
        let failure = Failure::new(nasty.clone()).help(nasty.clone());
        let long = held(&failure, &run());
        assert!(long.len() <= MOST && long.starts_with("**Held, not applied to** `local`"), "{long}");
        assert!(!long.contains("<!--"), "{long}");
        let step = |number: usize| StepReport {
            step: number,
            address: crate::address::Address::new("segments", format!("s{number}")),
            verb: Verb::Create,
            fate: Fate::Failed { why: nasty.clone() },
            recorded: true,
        };
        let report = Report {
            run: "r".into(),
            plan: plan().digest(),
            ending: Ending::Partly,
            ledger: 7,
            denied: false,
            steps: (0..500).map(step).collect(),
        };
        let told = ran(&report, &plan(), &Repetition::default(), &run());
        assert!(told.len() <= MOST, "{}", told.len());
        assert!(
            told.starts_with("**Not applied to** `local`, Sun 15 Nov 2026 12:00 UTC ([job](https://git.example/"),
            "{told}"
        );
        assert!(told.contains("500 failed") && told.contains("more step"), "{told}");
    }

    #[test]
    fn newer_results_take_the_place_of_older_ones_of_the_same_targets() {
        let section = |of: &[usize], text: &str| Section { of: of.iter().copied().collect(), text: text.to_owned() };
        let waits = footer(vec![section(&[0, 1, 2], "waits")], vec![], 3);
        let one = footer(vec![section(&[1], "applied")], sections(&waits, 3), 3);
        assert_eq!(sections(&one, 3), [section(&[1], "applied"), section(&[0, 1, 2], "waits")]);
        let all = footer(vec![section(&[0, 2], "held")], sections(&one, 3), 3);
        assert_eq!(sections(&all, 3), [section(&[0, 2], "held"), section(&[1], "applied")]);
        // A comment about one target has no marks.
        assert_eq!(footer(vec![section(&[0], "applied")], sections("waits", 1), 1), "applied");
        assert!(
            footer((0..99).map(|at| section(&[at], &"x".repeat(200))).collect(), vec![], 99).len() <= MOST_SECTIONS
        );
    }

    #[test]
    fn what_a_failure_says_on_several_lines_is_a_list() {
        let failure = Failure::new("would be refused:\n  - `a` is protected\n  - `b` too").help("do\nthis");
        let told = held(&failure, &run());
        assert!(told.contains("would be refused") && !told.contains("\\n"), "{told}");
        assert_eq!(told.lines().filter(|line| line.starts_with("- ")).count(), 2, "{told}");
    }

    #[test]
    fn an_address_of_a_job_that_could_be_something_else_is_left_out() {
        let run = |job| JobRun { job: Some(job), ..run() };
        assert!(nothing_left(&run("https://git.example/1")).contains("[job]"));
        for job in ["https://git.example/)[x](", "javascript:alert(1)", "https://git.example/ x"] {
            assert!(!nothing_left(&run(job)).contains("job"), "{job}");
        }
    }
}
