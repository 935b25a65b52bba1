//! The approval in a pull request, and reporting the result to its reviewers.

mod refusals;
mod results;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use jiff::SignedDuration;
use tokio::sync::OnceCell;

use super::Context;
use super::turn::length;
use crate::engine::actor::Actor;
use crate::engine::ledger::unreadable;
use crate::engine::project::checkout;
use crate::failure::{Failure, FailureKind};
use crate::files::describe;
use crate::forge::{self, Comment, Forge, Hidden, HiddenLine, ReviewState, Verdict};
use crate::ledger::{Chain, Entry};
use crate::plan::Plan;
use crate::render::ci;
use crate::render::one_line;
use crate::text::count;
use refusals::{all_told, edited, no_way_back, told, too_late, used_up, way_on};
use results::{footer, run_of, told_in};

pub use results::Became;

/// The default wait for a host that limits the rate of requests.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(2);

/// Applying what was reviewed.
#[derive(Clone, Debug, Args)]
pub struct Approved {
    /// Apply only if the plan has the digest in the comment on the merged pull request. Any other plan ends with exit 5 and a
    /// list of what changed since the review. See `pushplan ci comment`
    #[arg(long)]
    approved: bool,

    /// Accept a truncated comment as approval
    #[arg(long, requires = "approved")]
    accept_truncated: bool,

    /// Merged pull request [default: the one that brought the commit of this run]
    #[arg(long, value_name = "NUMBER", requires = "approved", value_parser = clap::value_parser!(u64).range(1..))]
    pull_request: Option<u64>,
}

/// A review in a pull request, for the targets of a project.
#[derive(Debug)]
pub struct Review {
    options: Approved,
    /// The folder of the project, relative to the repository.
    project: String,
    /// The number of the pull request, and the author of the comments; or why nothing is approved, for any target.
    known: OnceCell<Result<(u64, String), Failure>>,
    /// The comments of the pull request, as last listed or written.
    comments: Mutex<Option<Vec<Comment>>>,
    /// The targets whose plans were checked and may use their approvals.
    checked: Mutex<BTreeSet<String>>,
    /// Whether the unreadable part of the environment was reported.
    doubted: Once,
}

impl Approved {
    /// The requested review; `None` if there is none.
    pub fn review(&self, root: &Path) -> Option<Review> {
        let (known, comments, checked, doubted) = (OnceCell::new(), Mutex::default(), Mutex::default(), Once::new());
        let (options, project) = (self.clone(), beneath(root));
        self.approved.then_some(Review { options, project, known, comments, checked, doubted })
    }

    /// The options as text to repeat them, each with a space before it.
    pub fn again(&self) -> String {
        let options = [(self.approved, " --approved"), (self.accept_truncated, " --accept-truncated")];
        let said: String = options.into_iter().filter(|(is_given, _)| *is_given).map(|(_, option)| option).collect();
        let number = self.pull_request.map(|number| format!(" --pull-request {number}"));
        said + &number.unwrap_or_default()
    }
}

/// The code host of this job.
pub fn host() -> Result<forge::HostedRepository, Failure> {
    forge::here(&|name| env::var(name).ok(), &|path| {
        fs::read_to_string(path).map_err(|error| anyhow!(describe(&error)))
    })
}

/// The time to wait, or its default.
pub fn patience(wait: Option<SignedDuration>) -> Duration {
    Duration::try_from(wait.unwrap_or(PATIENCE)).unwrap_or_default()
}

/// How long to wait.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Patient {
    /// How long to wait in total if the host limits requests [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub wait: Option<SignedDuration>,
}

/// The path of a project relative to its repository, with `/` between folders: the same in every checkout.
pub fn beneath(root: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let checkout = checkout(&root);
    let below = checkout.as_ref().and_then(|checkout| root.strip_prefix(checkout).ok()).unwrap_or(Path::new(""));
    below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

impl Review {
    /// Checks that a plan is the reviewed one. A plan without changes needs no review, unless the time of the reviewed
    /// changes has passed.
    pub async fn check(&self, plan: &Plan, log: &Chain, context: &Context) -> Result<(), Failure> {
        let has_news = plan.has_news();
        if !has_news && !plan.has_late() {
            return Ok(());
        }
        let say = |words: &str| context.out.note(&one_line(words));
        let place = match host() {
            Ok(place) => place,
            // Nothing is changed, and no review can be found.
            Err(_) if !has_news => return Ok(()),
            Err(failure) => return Err(failure),
        };
        let forge = Forge::new(place, patience(None), &say)?;
        let FoundReview { hidden, sign, is_sealed, .. } = match self.find(&forge, &plan.target).await {
            Ok(found) => found,
            // There was no review.
            Err(failure) if !has_news && failure.kind == FailureKind::Stale => return Ok(()),
            Err(failure) => return Err(failure),
        };
        let noun = forge.place.api.noun();
        let late = if hidden.state == ReviewState::Applied { BTreeMap::new() } else { plan.late(&hidden.changes) };
        if !has_news && late.is_empty() {
            return Ok(());
        }
        if !is_sealed {
            return Err(edited(&sign, noun, plan));
        }
        set_back(&hidden, plan, log, &sign).await?;
        if hidden.offline {
            return Err(Failure::new(format!(
                "the plan that {sign} shows was not compared with the service: it is for reading, and approves nothing"
            ))
            .kind(FailureKind::Refused)
            .help(
                "nothing was changed; have one reviewed that is: pushplan plan --out FILE without --offline and --against-git, then \
                 pushplan ci comment --plan FILE. Or look at the plan yourself and leave --approved out",
            ));
        }
        if hidden.state == ReviewState::Applied {
            return Err(used_up(&sign, noun));
        }
        let since = since(&hidden, plan, log).await?;
        let begun = since.partition_point(|entry| entry.seq <= hidden.reached.seq);
        if hidden.is_used_up(&since[begun..]) {
            self.write_applied(&forge, &hidden).await;
            return Err(used_up(&sign, noun));
        }
        let back = plan.taken_back(&since);
        let stale = |what: &str, told: &[String], help: String| {
            let lines: String = told.iter().map(|line| format!("\n       {line}")).collect();
            let message = format!("what was reviewed in {sign} is {what}; since then:{lines}");
            Err(Failure::new(message).kind(FailureKind::Stale).help(help))
        };
        match hidden.judge(plan) {
            _ if !has_news => stale("no longer to be done", &told(&late), too_late(noun)),
            Verdict::Moved(mut moved) => {
                let help = if back.is_empty() { way_on(&moved, &hidden, plan, noun) } else { no_way_back(noun) };
                moved.extend(late);
                moved.extend(back);
                stale("not what would be done now", &all_told(&moved, &hidden, plan), help)
            }
            // Only a part of the approved changes is left.
            _ if !late.is_empty() => stale("not what would be done now", &told(&late), too_late(noun)),
            _ if !back.is_empty() => stale("no longer approved", &told(&back), no_way_back(noun)),
            Verdict::Same | Verdict::Rest if hidden.truncated && !self.options.accept_truncated => Err(Failure::new(
                format!("the comment in {sign} shows only a part of the plan, which is no approval"),
            )
            .kind(FailureKind::Refused)
            .help(
                "make the change in smaller parts; or, once someone has read all of it with `pushplan plan`, pass \
                         --accept-truncated",
            )),
            verdict => {
                if verdict == Verdict::Rest {
                    say(&format!("This is what is left of what was reviewed in {sign}."));
                }
                lock(&self.checked).insert(plan.target.clone());
                Ok(())
            }
        }
    }

    /// Forgets the listed comments, which may have changed since.
    pub fn forget(&self) {
        *lock(&self.comments) = None;
    }

    /// Uses the approvals of checked plans, before anything is sent to their services: each can be used by one apply.
    /// Returns the targets that must not be applied, and why.
    pub async fn begin(&self, plans: &[&Plan], context: &Context) -> Vec<(String, Failure)> {
        let checked = std::mem::take(&mut *lock(&self.checked));
        let plans: BTreeMap<&str, &Plan> = plans
            .iter()
            .filter(|plan| checked.contains(&plan.target))
            .map(|plan| (plan.target.as_str(), *plan))
            .collect();
        if plans.is_empty() {
            return Vec::new();
        }
        let say = |words: &str| context.out.note(&one_line(words));
        let job = Actor::here().job;
        let words = ci::begins(&run_of(ci::TARGETS, job.as_deref()));
        let begins = |hidden: &Hidden| {
            let plan = plans.get(hidden.target.as_str())?;
            Some((hidden.begin(plan), words.clone()))
        };
        let targets: Vec<&str> = plans.keys().copied().collect();
        let written = async {
            let forge = Forge::new(host()?, patience(None), &say)?;
            Ok(self.rewrite(&forge, &targets, begins).await?.into_iter().collect())
        };
        let failed: Result<BTreeMap<String, Failure>, Failure> = written.await;
        let cannot = |why: Failure| {
            let help = why.help.map(|help| format!("; {help}")).unwrap_or_default();
            let message = format!("the approval cannot be marked as used: {}", why.message);
            Failure::new(message).kind(why.kind).help(format!(
                "nothing was changed; an approval is good for one apply, which its comment records before anything is sent{help}"
            ))
        };
        match failed {
            Ok(failed) => failed.into_iter().map(|(target, why)| (target, cannot(why))).collect(),
            Err(why) => targets.iter().map(|target| ((*target).to_owned(), cannot(why.clone()))).collect(),
        }
    }

    /// Writes the result of an apply whose job was interrupted. A failure is ignored.
    async fn write_applied(&self, forge: &Forge<'_>, hidden: &Hidden) {
        let applied = |hidden: &Hidden| {
            let hidden = Hidden { state: ReviewState::Applied, begun: None, ..hidden.clone() };
            Some((hidden, ci::was_applied(&run_of(ci::TARGETS, None))))
        };
        let _ = self.rewrite(forge, &[hidden.target.as_str()], applied).await;
    }

    /// Changes the hidden data of some targets in comments, and the footers: with one request for each comment, however
    /// many targets it has. `change` returns the new hidden data and the result as text; `None` for no change. Returns
    /// the targets whose comment could not be written.
    async fn rewrite(
        &self,
        forge: &Forge<'_>,
        targets: &[&str],
        change: impl Fn(&Hidden) -> Option<(Hidden, String)>,
    ) -> Result<Vec<(String, Failure)>, Failure> {
        let (number, author) = self.known(forge).await?;
        let all = self.listed(forge, number).await?;
        let own = Comment::own(all, &author, &self.project, targets)?;
        let (mut seen, mut failed) = (BTreeSet::new(), Vec::new());
        for (comment, mut line) in own {
            let mut results: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
            let mut changed = Vec::new();
            for (place, hidden) in line.approvals.iter_mut().enumerate() {
                // If a race created several comments, the oldest one counts.
                if !targets.contains(&hidden.target.as_str()) || !seen.insert(hidden.target.clone()) {
                    continue;
                }
                let Some((new, words)) = change(hidden) else { continue };
                *hidden = new;
                changed.push(hidden.target.clone());
                results.entry(words).or_default().insert(place);
            }
            if changed.is_empty() {
                continue;
            }
            let body = forge::with_footer(&comment, &line, &told_in(&comment, &line, results));
            let why = match comment.says(&body) {
                true => continue,
                false => match forge.edit(number, comment.id, &body).await {
                    Ok(true) => {
                        self.wrote(comment.id, &body);
                        continue;
                    }
                    Ok(false) => Failure::new("the comment no longer exists").kind(FailureKind::Stale),
                    Err(failure) => failure,
                },
            };
            failed.extend(changed.into_iter().map(|target| (target, why.clone())));
        }
        Ok(failed)
    }

    /// Notes that a comment was written.
    fn wrote(&self, id: u64, body: &str) {
        if let Some(comment) = lock(&self.comments).iter_mut().flatten().find(|comment| comment.id == id) {
            body.clone_into(&mut comment.body);
        }
    }

    /// The comments of the pull request, listed once for all targets.
    async fn listed(&self, forge: &Forge<'_>, number: u64) -> Result<Vec<Comment>, Failure> {
        if let Some(known) = &*lock(&self.comments) {
            return Ok(known.clone());
        }
        let listed = forge.comments(number).await?;
        *lock(&self.comments) = Some(listed.clone());
        Ok(listed)
    }

    /// Finds the comment in which a target's plan was reviewed.
    async fn find(&self, forge: &Forge<'_>, target: &str) -> Result<FoundReview, Failure> {
        let api = forge.place.api;
        let (number, author) = self.known(forge).await?;
        let sign = format!("{} {}", api.noun(), api.sign(number));
        let all = self.listed(forge, number).await?;
        let own = Comment::own(all.clone(), &author, &self.project, &[target])?;
        let Some((line, hidden)) = own.iter().find_map(|(_, line)| Some((line, line.of(target)?.clone()))) else {
            let such = api.usual_author().map_or("", |_| ": an app writes as NAME[bot]");
            return Err(Failure::new(format!("{sign} has no comment of {author} with a plan for `{target}`"))
                .kind(FailureKind::Stale)
                .help(format!(
                    "nothing was changed; `pushplan ci comment` writes one on the {}, or look at the plan yourself and leave \
                     --approved out. If another user writes the comments, name it in PUSHPLAN_CI_AUTHOR{such}",
                    api.noun()
                )));
        };
        let is_part = |comment: &&Comment| {
            let read = HiddenLine::read(&comment.body).and_then(Result::ok);
            comment.author == author
                && read.is_some_and(|other| other.project == self.project && other.review == line.review)
        };
        let parts: Vec<&Comment> = all.iter().filter(is_part).collect();
        let is_sealed = parts.len() >= line.parts && parts.iter().all(|part| part.is_sealed());
        Ok(FoundReview { hidden, sign, is_sealed })
    }

    /// The number of the pull request and the author of the comments, read once for all targets.
    async fn known(&self, forge: &Forge<'_>) -> Result<(u64, String), Failure> {
        let look = async || match self.look(forge).await {
            // A failure that may be temporary is not cached.
            Err(failure) if failure.kind != FailureKind::Stale => Err(failure),
            found => Ok(found),
        };
        self.known.get_or_try_init(look).await?.clone()
    }

    /// The number of the merged pull request, and the author of the comments.
    async fn look(&self, forge: &Forge<'_>) -> Result<(u64, String), Failure> {
        self.doubted.call_once(|| forge.tell_doubt());
        let (api, place) = (forge.place.api, &forge.place);
        let noun = api.noun();
        let pull = match (self.options.pull_request.or(place.number), &place.commit) {
            (Some(number), _) => Some(forge.pull(number).await?),
            (None, Some(commit)) => forge.pull_of(commit).await?,
            (None, None) => None,
        };
        let Some(pull) = pull else {
            let commit = place.commit.as_deref().map_or("this run".to_owned(), |commit| format!("commit {commit}"));
            return Err(Failure::new(format!("{commit} came with no {noun}, so that nobody has reviewed this plan"))
                .kind(FailureKind::Stale)
                .help(format!(
                    "nothing was changed; say which {noun} it was with --pull-request NUMBER, or look at the plan yourself and \
                     leave --approved out"
                )));
        };
        if !pull.merged {
            return Err(Failure::new(format!(
                "{noun} {} is not merged, so that nothing is approved",
                api.sign(pull.number)
            ))
            .kind(FailureKind::Stale)
            .help("apply after the merge"));
        }
        pull.check_branch(place)?;
        Ok((pull.number, forge.author().await?))
    }

    /// Writes the result of a target's plan into its comment, with commands that can be copied.
    pub async fn tell_one(&self, target: &str, became: Became<'_>, context: &Context) {
        let why = match became {
            Became::Held(failure) => {
                let help = failure.help.as_ref().map(|help| context.out.said(help, None));
                Some(Failure { help, ..failure.clone() })
            }
            _ => None,
        };
        self.tell(&[(target, why.as_ref().map_or(became, Became::Held))], context).await;
    }

    /// Writes the results of plans into the comments. A failure does not change the results, and is a warning.
    pub async fn tell(&self, results: &[(&str, Became<'_>)], context: &Context) {
        let say = |words: &str| context.out.note(&one_line(words));
        let targets: Vec<&str> = results.iter().map(|(target, _)| *target).collect();
        let job = Actor::here().job;
        let told = async {
            let forge = Forge::new(host()?, patience(None), &say)?;
            // Other jobs may have written comments since.
            self.forget();
            let (number, _) = self.known(&forge).await?;
            self.listed(&forge, number).await?;
            let mut failed = Vec::new();
            for target in &targets {
                if let Err(failure) = self.find(&forge, target).await {
                    failed.push(((*target).to_owned(), failure));
                }
            }
            let run = run_of(ci::TARGETS, job.as_deref());
            let change = |hidden: &Hidden| {
                let (_, became) = results.iter().find(|(target, _)| *target == hidden.target)?;
                footer(became, hidden, &run)
            };
            failed.extend(self.rewrite(&forge, &targets, change).await?);
            Ok::<_, Failure>(failed)
        };
        let failed: Vec<(String, Failure)> = match told.await {
            Ok(failed) => failed,
            Err(failure) => targets.iter().map(|target| ((*target).to_owned(), failure.clone())).collect(),
        };
        let is_told = |target: &str, failure: &Failure| {
            match results.iter().find(|(other, _)| *other == target).map(|(_, became)| became) {
                // The reason why it was not applied already says that there is no such comment.
                Some(Became::Held(held)) => held.message == failure.message,
                Some(Became::Nothing) => true,
                _ => false,
            }
        };
        let mut untold: Vec<(&Failure, Vec<&str>)> = Vec::new();
        for (target, failure) in failed.iter().filter(|(target, failure)| !is_told(target, failure)) {
            match untold.iter_mut().find(|(known, _)| known.message == failure.message) {
                Some((_, targets)) => targets.push(target),
                None => untold.push((failure, vec![target])),
            }
        }
        for (failure, targets) in untold {
            let targets = match targets.as_slice() {
                [one] => (*one).to_owned(),
                several => count(several.len(), "target"),
            };
            say(&format!("Warning: the comment of {targets} does not tell what became of it: {failure}"));
        }
    }
}

/// The comment with the reviewed plan of a target.
struct FoundReview {
    hidden: Hidden,
    /// The short form of its pull request's number.
    sign: String,
    /// Whether no comment of the review was edited.
    is_sealed: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Refuses a ledger that is behind a comment: it was reset since, and lacks some applied changes. Another pull request
/// would be planned from the same ledger, and create everything again.
async fn set_back(hidden: &Hidden, plan: &Plan, log: &Chain, sign: &str) -> Result<(), Failure> {
    if !hidden.is_ahead_of(&plan.ledger) {
        return Ok(());
    }
    let ledger = log.facts().await.map_err(unreadable)?.ledger;
    if ledger.gap.is_some_and(|gap| gap.explains(hidden.reached.seq)) {
        return Ok(());
    }
    Err(hidden.behind(&plan.ledger, sign))
}

/// The records of the ledger since a plan was made for review. All of them, if that was another ledger.
async fn since(hidden: &Hidden, plan: &Plan, log: &Chain) -> Result<Vec<Entry>, Failure> {
    if hidden.ledger == plan.ledger {
        return Ok(Vec::new());
    }
    let after = if hidden.ledger.lineage == plan.ledger.lineage { hidden.ledger.seq } else { 0 };
    log.since(after).await.map_err(unreadable)
}
