//! What was approved in a pull request, and telling its reviewers what became of it.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::OnceCell;

use super::Context;
use super::turn::length;
use crate::address::Address;
use crate::apply::{Ending, Fate, Report};
use crate::engine::actor::Actor;
use crate::engine::ledger::unreadable;
use crate::engine::project::checkout;
use crate::failure::{Failure, FailureKind};
use crate::files::describe;
use crate::forge::{self, Comment, Forge, Hidden, ReviewState, Verdict};
use crate::ledger::{Chain, Entry, Position};
use crate::plan::{Difference, Plan};
use crate::render::ci::{self, JobRun};
use crate::render::{Repetition, one_line};
use crate::text::count;

/// How long a host that has too much to do is waited for, where nothing is said.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(2);
/// How much of what moved is named.
const NAMED: usize = 20;

/// Applying what was reviewed.
#[derive(Clone, Debug, Args)]
pub struct Approved {
    /// Apply only the plan in the comment on the merged pull request, by its digest. Any other plan ends with exit 5 and a
    /// list of
    /// what changed since the review. See `pushplan ci comment`
    #[arg(long, conflicts_with = "plan")]
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
    /// The folder of the project beneath that of the repository.
    project: String,
    /// The number of the pull request, and who writes the comments.
    known: OnceCell<(u64, String)>,
    /// The comments that approve plans which are about to be applied, by target.
    approvals: Mutex<BTreeMap<String, (Comment, Hidden)>>,
    /// Whether it was said what of the environment could not be read.
    doubted: Once,
}

/// What became of a plan.
#[derive(Debug)]
pub enum Became<'r> {
    /// With where the ledger stood at its end.
    Ran(&'r Report, &'r Plan, &'r Repetition, Position),
    Nothing,
    Held(&'r Failure),
    /// Another target was not applied as it was planned.
    NotBegun(&'r str),
}

impl Approved {
    /// The review that is asked for; `None` where none is.
    pub fn review(&self, root: &Path) -> Option<Review> {
        let (known, approvals, doubted) = (OnceCell::new(), Mutex::default(), Once::new());
        self.approved.then(|| Review { options: self.clone(), project: beneath(root), known, approvals, doubted })
    }

    /// How it is said again, with a space before each option.
    pub fn again(&self) -> String {
        let options = [(self.approved, " --approved"), (self.accept_truncated, " --accept-truncated")];
        let said: String = options.into_iter().filter(|(is_given, _)| *is_given).map(|(_, option)| option).collect();
        let number = self.pull_request.map(|number| format!(" --pull-request {number}"));
        said + &number.unwrap_or_default()
    }
}

/// The host that this run is for.
pub fn host() -> Result<forge::HostedRepository, Failure> {
    forge::here(&|name| env::var(name).ok(), &|path| fs::read_to_string(path).map_err(|error| describe(&error)))
}

/// How long something is waited for, as a standard length.
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

/// Where a project is beneath its repository, with `/` between folders: the same in every checkout.
pub fn beneath(root: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let checkout = checkout(&root);
    let below = checkout.as_ref().and_then(|checkout| root.strip_prefix(checkout).ok()).unwrap_or(Path::new(""));
    below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

impl Review {
    /// Goes on only with a plan that is what was reviewed. One without changes needs no review, unless what was reviewed came
    /// too
    /// late.
    pub async fn check(&self, plan: &Plan, log: &Chain, context: &Context) -> Result<(), Failure> {
        let has_news = plan.has_news();
        if !has_news && !plan.has_late() {
            return Ok(());
        }
        let say = |words: &str| context.out.note(&one_line(words));
        let place = match host() {
            Ok(place) => place,
            // Nothing is done, and nobody can be asked what was reviewed.
            Err(_) if !has_news => return Ok(()),
            Err(failure) => return Err(failure),
        };
        let forge = Forge::new(place, patience(None), &say)?;
        let (comment, hidden, sign) = match self.find(&forge, &plan.target).await {
            Ok(found) => found,
            // Nobody has reviewed anything.
            Err(failure) if !has_news && failure.kind == FailureKind::Stale => return Ok(()),
            Err(failure) => return Err(failure),
        };
        let noun = forge.place.api.noun();
        let late = if hidden.state == ReviewState::Applied { BTreeMap::new() } else { plan.late(&hidden.changes) };
        if !has_news && late.is_empty() {
            return Ok(());
        }
        if !comment.is_sealed() {
            return Err(edited(&sign, noun));
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
            self.write_applied(&forge, &comment, &hidden).await;
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
                let help = if back.is_empty() { way_on(&moved, &hidden, noun) } else { no_way_back(noun) };
                moved.extend(late);
                moved.extend(back);
                stale("not what would be done now", &all_told(&moved, &hidden, plan), help)
            }
            // What is left of it is not all that was agreed to.
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
                self.approvals().insert(plan.target.clone(), (comment, hidden));
                Ok(())
            }
        }
    }

    /// Uses an approval for the apply of a plan that was checked, before anything is sent to the service: it is good for one apply.
    pub async fn begin(&self, plan: &Plan, context: &Context) -> Result<(), Failure> {
        let Some((comment, hidden)) = self.approvals().remove(&plan.target) else { return Ok(()) };
        let say = |words: &str| context.out.note(&one_line(words));
        let job = Actor::here().job;
        let run = JobRun { at: Timestamp::now(), target: &plan.target, job: job.as_deref() };
        let body = forge::with_footer(&comment, &hidden.begin(plan), &ci::begins(&run));
        let marked = async {
            let forge = Forge::new(host()?, patience(None), &say)?;
            forge.edit(self.number(), comment.id, &body).await
        };
        let gone = || Failure::new("the comment no longer exists").kind(FailureKind::Stale);
        let why = match marked.await {
            Ok(true) => return Ok(()),
            Ok(false) => gone(),
            Err(failure) => failure,
        };
        let help = why.help.map(|help| format!("; {help}")).unwrap_or_default();
        Err(Failure::new(format!("the approval cannot be marked as used: {}", why.message)).kind(why.kind).help(format!(
            "nothing was changed; an approval is good for one apply, which its comment records before anything is sent{help}"
        )))
    }

    /// Writes what an apply whose job was cut off could not. That it cannot be written either changes nothing.
    async fn write_applied(&self, forge: &Forge<'_>, comment: &Comment, hidden: &Hidden) {
        let run = JobRun { at: Timestamp::now(), target: &hidden.target, job: None };
        let hidden = Hidden { state: ReviewState::Applied, begun: None, ..hidden.clone() };
        let body = forge::with_footer(comment, &hidden, &ci::was_applied(&run));
        let _ = forge.edit(self.number(), comment.id, &body).await;
    }

    fn approvals(&self) -> MutexGuard<'_, BTreeMap<String, (Comment, Hidden)>> {
        self.approvals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the pull request, once it was looked for.
    fn number(&self) -> u64 {
        self.known.get().map(|(number, _)| *number).unwrap_or_default()
    }

    /// The comment in which a target's plan was reviewed, what is hidden in it, and how people name its pull request.
    async fn find(&self, forge: &Forge<'_>, target: &str) -> Result<(Comment, Hidden, String), Failure> {
        let api = forge.place.api;
        let (number, author) = self.known.get_or_try_init(|| self.look(forge)).await?;
        let sign = format!("{} {}", api.noun(), api.sign(*number));
        let own = Comment::own(forge.comments(*number).await?, author, &self.project, target)?;
        let Some((comment, hidden)) = own.into_iter().next() else {
            let such = api.usual_author().map_or("", |_| ": an app writes as NAME[bot]");
            return Err(Failure::new(format!("{sign} has no comment of {author} with a plan for `{target}`"))
                .kind(FailureKind::Stale)
                .help(format!(
                    "nothing was changed; `pushplan ci comment` writes one on the {}, or look at the plan yourself and leave \
                     --approved out. If another user writes the comments, name it in PUSHPLAN_CI_AUTHOR{such}",
                    api.noun()
                )));
        };
        Ok((comment, hidden, sign))
    }

    /// The number of the pull request, which is merged, and who writes the comments.
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

    /// Tells in the comment what became of a plan. That it cannot be told changes nothing of that, and is a warning.
    pub async fn tell(&self, target: &str, became: Became<'_>, context: &Context) {
        let say = |words: &str| context.out.note(&one_line(words));
        // Its commands run as they are pasted, as on a terminal.
        let why = match became {
            Became::Held(failure) => {
                let help = failure.help.as_ref().map(|help| context.out.said(help, None));
                Some(Failure { help, ..failure.clone() })
            }
            _ => None,
        };
        let became = why.as_ref().map_or(became, Became::Held);
        let told = async {
            let forge = Forge::new(host()?, patience(None), &say)?;
            let (comment, hidden, _) = self.find(&forge, target).await?;
            let Some((hidden, footer)) = footer(target, &became, &hidden) else { return Ok(()) };
            let body = forge::with_footer(&comment, &hidden, &footer);
            match comment.says(&body) || forge.edit(self.number(), comment.id, &body).await? {
                true => Ok(()),
                false => Err(Failure::new("the comment no longer exists")),
            }
        };
        let is_told = |failure: &Failure| match &became {
            // Why it was held says already that there is no such comment.
            Became::Held(held) => held.message == failure.message,
            Became::Nothing => true,
            _ => false,
        };
        let result: Result<(), Failure> = told.await;
        if let Some(failure) = result.err().filter(|failure| !is_told(failure)) {
            say(&format!("Warning: the comment of {target} does not tell what became of it: {failure}"));
        }
    }
}

/// The failure for a comment that is not as pushplan wrote it.
fn edited(sign: &str, noun: &str) -> Failure {
    let message = format!(
        "the comment in {sign} was edited after pushplan wrote it: its reviewers may have seen something else than the plan"
    );
    Failure::new(message).kind(FailureKind::Refused).help(format!(
        "nothing was changed. Open another {noun}: its plan shows all that is left to do, and its merge applies that.\n          \
         Or apply it by hand, once someone has read it: `pushplan plan`, then `pushplan apply`"
    ))
}

/// The failure for an approval that was used for an apply which did everything.
fn used_up(sign: &str, noun: &str) -> Failure {
    Failure::new(format!("what was reviewed in {sign} is applied already, which uses its approval up"))
        .kind(FailureKind::Stale)
        .help(format!(
            "nothing was changed; what would be done now came since, or undoes what was merged later. Open another {noun}: its plan \
             shows all that is left to do, and its merge applies that"
        ))
}

/// Refuses a ledger that is behind a comment: it was set back since, so that it does not know all that was done. Another pull
/// request
/// would plan from the same ledger, and create it again.
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

/// What to do where a merge brings something else than what was reviewed. Its review is over.
fn way_on(moved: &BTreeMap<Address, Difference>, hidden: &Hidden, noun: &str) -> String {
    let is_new = |difference: &Difference| matches!(difference, Difference::New(_));
    let earlier = match hidden.more > 0 || moved.values().any(is_new) {
        true => {
            "nothing was changed. Where an earlier merge was not applied, its changes come along: run the job of that merge again, \
             then this one.\n          Or open"
        }
        false => "nothing was changed. Open",
    };
    format!(
        "{earlier} another {noun}: its plan shows all that is left to do, and its merge applies that.\n          Or apply it by \
         hand, once someone has read it: `pushplan plan`, then `pushplan apply`"
    )
}

/// What to do where later merges took back what was reviewed.
fn no_way_back(noun: &str) -> String {
    format!(
        "nothing was changed; the job of an old merge restores nothing. Open another {noun}: its plan shows everything that is \
         left to do, and its merge applies it"
    )
}

/// What to do where what was reviewed had its time before it was applied.
fn too_late(noun: &str) -> String {
    format!(
        "nothing was changed; what was sent cannot be undone. Open another {noun}: its plan shows what else is left to do, and \
         its merge applies it"
    )
}

/// What the ledger took down since a plan was made for review. All of it, where that was another ledger.
async fn since(hidden: &Hidden, plan: &Plan, log: &Chain) -> Result<Vec<Entry>, Failure> {
    if hidden.ledger == plan.ledger {
        return Ok(Vec::new());
    }
    let after = if hidden.ledger.lineage == plan.ledger.lineage { hidden.ledger.seq } else { 0 };
    log.since(after).await.map_err(unreadable)
}

/// What has moved since a review, a line each.
fn told(moved: &BTreeMap<Address, Difference>) -> Vec<String> {
    let mut told: Vec<String> =
        moved.iter().map(|(address, difference)| difference.words(address)).take(NAMED).collect();
    if moved.len() > NAMED {
        told.push(format!("and {} more", moved.len() - NAMED));
    }
    told
}

/// Returns what has moved since a review, a line each, and differences that the comment does not show.
fn all_told(moved: &BTreeMap<Address, Difference>, hidden: &Hidden, plan: &Plan) -> Vec<String> {
    let mut told = told(moved);
    if hidden.more > 0 {
        told.push(format!("the comment has no room for {}", count(hidden.more, "more change")));
    } else if told.is_empty() {
        told.push("it is for another application, another part of the project or another purpose".to_owned());
    }
    if hidden.tool != plan.tool {
        told.push(format!("it was made by pushplan {}, but this is {}", hidden.tool, plan.tool));
    }
    told
}

/// What a comment says from now on, and what is hidden in it; `None` where it stays as it is.
fn footer(target: &str, became: &Became, hidden: &Hidden) -> Option<(Hidden, String)> {
    let job = Actor::here().job;
    let run = JobRun { at: Timestamp::now(), target, job: job.as_deref() };
    let with = |state| Hidden { state, ..hidden.clone() };
    Some(match became {
        Became::Ran(report, plan, again, position) => {
            // From now on, a ledger that does not know of this run is behind.
            let ended = &Hidden { reached: position.clone(), begun: None, ..hidden.clone() };
            let with = |state| Hidden { state, ..ended.clone() };
            let ended = match report.ending {
                Ending::Done => with(ReviewState::Applied),
                _ if report.did_anything(plan) => partly(ended, report, plan),
                // Another apply was quicker, or it was tried again in vain: what was done stays told.
                _ if hidden.state.is_done() && hidden.begun.is_none() => return None,
                // The other apply may have used the same approval: only the ledger tells.
                Ending::Conflict | Ending::Unlocked { .. } => not_applied(hidden),
                _ if hidden.state == ReviewState::Partly => with(ReviewState::Partly),
                _ => with(ReviewState::Held),
            };
            (ended, ci::ran(report, plan, again, &run))
        }
        // What someone has applied already, by hand or before.
        Became::Nothing if hidden.state == ReviewState::Applied => return None,
        Became::Nothing if hidden.state != ReviewState::Partly && hidden.changes.is_empty() => return None,
        Became::Nothing => (Hidden { begun: None, ..with(ReviewState::Applied) }, ci::nothing_left(&run)),
        // What was done stays told.
        Became::Held(_) | Became::NotBegun(_) if hidden.state.is_done() && hidden.begun.is_none() => return None,
        // The apply that holds the ledger will write its own result.
        Became::Held(failure) if failure.kind == FailureKind::Busy && hidden.begun.is_some() => return None,
        Became::Held(failure) => (not_applied(hidden), ci::held(failure, &run)),
        Became::NotBegun(other) => (not_applied(hidden), ci::not_begun(other, &run)),
    })
}

/// What is hidden in a comment whose plan was not applied this time.
fn not_applied(hidden: &Hidden) -> Hidden {
    match hidden.state {
        ReviewState::Applied | ReviewState::Partly => hidden.clone(),
        ReviewState::Planned | ReviewState::Held => Hidden { state: ReviewState::Held, ..hidden.clone() },
    }
}

/// What is hidden in a comment after a run that ended half-way.
fn partly(hidden: &Hidden, report: &Report, plan: &Plan) -> Hidden {
    let those = |is: fn(&Fate) -> bool| -> BTreeSet<&Address> {
        report.steps.iter().filter(|step| is(&step.fate)).map(|step| &step.address).collect()
    };
    let open = those(|fate| !fate.is_done());
    let begun = those(|fate| !matches!(fate, Fate::NotStarted | Fate::Skipped { .. }));
    let done = begun.difference(&open).copied().collect();
    hidden.partly(plan, &done, &begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::plan::About;

    #[test]
    fn a_run_that_did_nothing_does_not_say_that_another_one_did_nothing() {
        let about = About {
            ledger: Position { lineage: "l".into(), seq: 7 },
            ..About::new("production", "https://messaging.example")
        };
        let plan = Plan::new(about, Vec::new(), Vec::new(), Vec::new(), Timestamp::UNIX_EPOCH);
        let (run, digest) = (String::new(), plan.digest());
        let report =
            Report { run, plan: digest, ending: Ending::Conflict, ledger: 7, denied: false, steps: Vec::new() };
        let again = Repetition::default();
        let became = Became::Ran(&report, &plan, &again, plan.ledger.clone());
        let after = |state| {
            let hidden = Hidden { state, ..Hidden::new("", &plan, false, None) };
            footer("production", &became, &hidden).map(|(hidden, _)| hidden.state)
        };
        assert_eq!(after(ReviewState::Planned), Some(ReviewState::Held));
        assert_eq!(after(ReviewState::Held), Some(ReviewState::Held));
        assert_eq!(after(ReviewState::Applied), None);
        assert_eq!(after(ReviewState::Partly), None);
        // The other apply may have used this approval, which its own result says.
        let begun = Hidden { state: ReviewState::Planned, ..Hidden::new("", &plan, false, None).begin(&plan) };
        let (told, _) = footer("production", &became, &begun).expect("a result");
        assert_eq!((told.state, told.begun), (ReviewState::Held, begun.begun));
    }
}
