use std::path::Path;

use clap::{Args, ValueEnum};

use super::Saved;
use crate::cli::review::{Patient, beneath, host, patience};
use crate::cli::{Context, Ended, runtime};
use crate::engine::saved::FailedTarget;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::forge::{self, DIGITS, Forge, Hidden, HiddenLine, LONGEST, Put};
use crate::git::Repository;
use crate::plan::Plan;
use crate::render::ci::Section;
use crate::render::many::review::ReviewText;
use crate::render::plan::{MARKDOWN_LIMIT, NextSteps};
use crate::render::{self, ci, one_line};
use crate::text::count;

/// Show plans in one comment on the pull request.
///
/// Run it in a workflow for pull requests, after `pushplan plan --out FILE`. Plans of several targets share a comment, and what is the same
/// is shown once; only a text that is too long continues in further comments. A target that could not be planned is listed first, with the
/// reason, and nothing of it is approved. If several jobs plan, run it once, in a job after them, with all of their plans, and with all
/// targets in --target: a target of which no job saved a plan is then listed as failed. A comment is created once and edited from then on; it
/// is recognized by a hidden marker and its author, not by its heading. It contains the digests of the plans: after the merge,
/// `pushplan apply --approved` applies exactly these or nothing, and adds the result to the comment. On a pull request that is
/// merged or closed, or whose newest commit is another one, the comment is not changed.
///
/// The host, the repository, the pull request and the token come from the environment of GitHub Actions (GITHUB_TOKEN) or of GitLab
/// CI (GITLAB_TOKEN). The comment counts if its author is the user of the token, or `github-actions[bot]` for the token of a
/// workflow; PUSHPLAN_CI_AUTHOR names another one.
///
/// Exits with 0 if the comment is up to date, with 4 if the token is missing or refused, and with 1 for any other problem of the
/// host. The exit code of the plan itself is that of `pushplan plan`. With --warn-only, a problem of the host is only a warning,
/// which suits pull requests from forks.
#[derive(Debug, Args)]
pub struct Comment {
    #[command(flatten)]
    saved: Saved,

    /// When to write a comment
    #[arg(long, value_enum, default_value_t = Mode::Always)]
    mode: Mode,

    /// The pull request [default: the one that this run is for]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pull_request: Option<u64>,

    /// If the comment cannot be written, print a warning and exit with 0
    #[arg(long)]
    warn_only: bool,

    #[command(flatten)]
    patient: Patient,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Also if nothing changes
    Always,
    /// Only if something changes; an existing comment is updated in any case
    Changes,
    /// Never: nothing is read, and the host is not contacted
    Off,
}

impl Comment {
    pub fn run(&self, context: &Context) -> Ended {
        if self.mode == Mode::Off {
            return Ok(Exit::Done);
        }
        let (plans, failed) = self.saved.read()?;
        let root = self.saved.place().root()?;
        let ended = runtime()?.block_on(self.write(&plans, &failed, &root, context));
        match ended {
            Err(failure) if self.warn_only && failure.kind != FailureKind::Usage => {
                context.out.note(&format!("Warning: the comment was not written: {failure}"));
                if let Some(help) = &failure.help {
                    context.out.note(&format!("  = help: {help}"));
                }
                Ok(Exit::Done)
            }
            ended => ended,
        }
    }

    async fn write(
        &self,
        plans: &[(Plan, NextSteps)],
        failed: &[FailedTarget],
        root: &Path,
        context: &Context,
    ) -> Ended {
        let project = &beneath(root);
        let place = host()?;
        let api = place.api;
        let Some(number) = self.pull_request.or(place.number) else {
            return Err(Failure::usage(format!("this run is for no {}", api.noun()))
                .help(format!("run it for a {}, or say which: --pull-request NUMBER", api.noun())));
        };
        let commit = place.commit.clone().or_else(|| head(root));
        let say = |words: &str| context.out.note(&one_line(words));
        let forge = Forge::new(place, patience(self.patient.wait), &say)?;
        forge.tell_doubt();
        if let Some(why) = kept(&forge, number).await? {
            say(&format!("{why}. Its comment stays as it is."));
            return Ok(Exit::Done);
        }
        let author = forge.author().await?;
        let sign = api.sign(number);
        let mut failures = Vec::new();
        for (part, plans) in chunks(plans).into_iter().enumerate() {
            let failed = if part == 0 { failed } else { &[] };
            let bodies = bodies(plans, failed, project, commit.as_deref(), &self.saved)?;
            let changes = |(plan, _): &(Plan, NextSteps)| !plan.is_empty() || plan.told.nothing_declared.is_some();
            let wanted = self.mode == Mode::Always || plans.iter().any(changes) || !failed.is_empty();
            let targets = plans.iter().map(|(plan, _)| plan.target.as_str());
            let targets: Vec<&str> = targets.chain(failed.iter().map(|failed| failed.target.as_str())).collect();
            let put = match forge.put(number, &author, (project, &targets), &bodies, wanted).await {
                Ok(put) => put,
                Err(failure) => {
                    failures.push(failure);
                    continue;
                }
            };
            let target = match targets.as_slice() {
                [one] => (*one).to_owned(),
                several => count(several.len(), "target"),
            };
            say(&match put {
                Put::Created => format!("Wrote the plan for {target} into {} {sign}.", api.noun()),
                Put::Updated => format!("Updated the plan for {target} in {} {sign}.", api.noun()),
                Put::Same => format!("{} {sign} shows this plan for {target} already.", capital(api.noun())),
                Put::Kept => {
                    format!("{} {sign} tells what was applied to {target}: that stays.", capital(api.noun()))
                }
                Put::None => format!("Nothing changes for {target}: there is no comment."),
            });
        }
        let worst = Exit::worst(failures.iter().map(Exit::from));
        let kind = failures.iter().map(|failure| failure.kind).find(|kind| Exit::from(*kind) == worst);
        match failures.into_iter().reduce(|all, one| Failure { message: format!("{all}\n       {one}"), ..all }) {
            Some(failure) => Err(failure.kind(kind.unwrap_or(FailureKind::Other))),
            None => Ok(Exit::Done),
        }
    }
}

/// Why this run must not comment on a pull request: its approval is done, or a later run shows a newer commit. `None`
/// also if the host does not show this.
async fn kept(forge: &Forge<'_>, number: u64) -> Result<Option<String>, Failure> {
    let (api, place) = (forge.place.api, &forge.place);
    let pull = match forge.pull(number).await {
        Ok(pull) => pull,
        // The next request shows whether comments can be written.
        Err(failure) if failure.kind == FailureKind::Credentials => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let sign = format!("{} {}", capital(api.noun()), api.sign(number));
    if pull.closed {
        let word = if pull.merged { "merged" } else { "closed" };
        return Ok(Some(format!("{sign} is {word}, and what is planned now approves nothing")));
    }
    if place.is_train {
        return Ok(Some(format!("{sign} is in a merge train, and what was shown before that is what is agreed to")));
    }
    let first = |commit: &str| commit.chars().take(12).collect::<String>();
    let planned = place.head.as_deref().filter(|_| place.number == Some(number));
    Ok(match (planned, pull.head.as_deref()) {
        (Some(planned), Some(head)) if planned != head => {
            Some(format!("{sign} has another commit by now, {}, and this plan is for {}", first(head), first(planned)))
        }
        _ => None,
    })
}

/// The current commit of the clone, if the environment names none.
fn head(root: &Path) -> Option<String> {
    Some(Repository::of(root).ok()?.revision("HEAD").ok()?.id)
}

fn capital(noun: &str) -> String {
    let mut letters = noun.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Splits the plans into reviews. The hidden data of many targets reduces the room for visible text.
fn chunks(plans: &[(Plan, NextSteps)]) -> Vec<&[(Plan, NextSteps)]> {
    const TARGETS: usize = 130;
    if plans.is_empty() { vec![plans] } else { plans.chunks(TARGETS).collect() }
}

/// The size of the separators between the parts of a comment.
const BETWEEN: usize = 100;
/// The maximal number of comments of one review.
const COMMENTS: usize = 3;

/// All comments of a review. They have room for every possible footer.
fn bodies(
    plans: &[(Plan, NextSteps)],
    failed: &[FailedTarget],
    project: &str,
    commit: Option<&str>,
    saved: &Saved,
) -> Result<Vec<String>, Failure> {
    if let ([(plan, ahead)], []) = (plans, failed) {
        return Ok(vec![body(plan, ahead, project, commit)]);
    }
    let approvals: Vec<Hidden> =
        plans.iter().map(|(plan, _)| Hidden::new(project, plan, true, commit, plans.len())).collect();
    // Without an approval, a failed target is the mark by which the comment is found.
    let with = plans.first().map(|(plan, _)| &plan.target).or(failed.first().map(|failed| &failed.target)).cloned();
    let line = HiddenLine {
        project: project.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        commit: commit.map(str::to_owned),
        with: with.clone().filter(|_| plans.is_empty()),
        ..HiddenLine::new(approvals, "")
    };
    let grows = plans.len() * DIGITS;
    let first = LONGEST.saturating_sub(line.line().len() + grows + ci::MOST_SECTIONS + BETWEEN);
    let room: Vec<usize> =
        [first].into_iter().chain([LONGEST; COMMENTS - 1]).map(|room| room.min(MARKDOWN_LIMIT)).collect();
    let ReviewText { parts, truncated } = saved.review(plans, failed, &room)?;
    let waiting: Vec<(&Plan, &NextSteps)> = plans.iter().map(|(plan, ahead)| (plan, ahead)).collect();
    let names: Vec<&str> = failed.iter().map(|failed| failed.target.as_str()).collect();
    let text = ci::waiting_many(&waiting, &names, &truncated, commit);
    let footer = match plans {
        [] => text,
        _ => ci::footer(vec![Section { of: (0..plans.len()).collect(), text }], vec![], plans.len()),
    };
    let review = HiddenLine::review_of(&parts);
    let approvals: Vec<Hidden> = line
        .approvals
        .iter()
        .cloned()
        .map(|hidden| Hidden { truncated: truncated.contains(&hidden.target), ..hidden })
        .collect();
    let of_all = HiddenLine { parts: parts.len(), approvals, review, ..line };
    let body = |(number, text): (usize, &String)| match number {
        0 => forge::body(&of_all, text, &footer),
        _ => {
            let line = HiddenLine { part: number + 1, approvals: vec![], with: with.clone(), ..of_all.clone() };
            forge::body(&line, text, "The first comment says what becomes of these plans.")
        }
    };
    Ok(parts.iter().enumerate().map(body).collect())
}

/// A whole comment about one target.
fn body(plan: &Plan, ahead: &NextSteps, project: &str, commit: Option<&str>) -> String {
    let hidden = Hidden::new(project, plan, true, commit, 1);
    let line = |hidden: Hidden, text: &str| HiddenLine::new(vec![hidden], &HiddenLine::review_of(&[text.to_owned()]));
    let room = LONGEST - line(hidden.clone(), "").line().len() - DIGITS - ci::MOST - BETWEEN;
    let room = room.min(MARKDOWN_LIMIT);
    let mut page = render::plan::page(plan, ahead, room);
    if page.truncated && ahead.on_merge {
        // The command in it has the required option.
        let mut ahead = ahead.clone();
        ahead.again.command = ahead.again.command.replace(" --approved", " --approved --accept-truncated");
        page = render::plan::page(plan, &ahead, room);
    }
    let hidden = Hidden { truncated: page.truncated, ..hidden };
    forge::body(&line(hidden, &page.text), &page.text, &ci::waiting(plan, ahead.on_merge, page.truncated, commit))
}
