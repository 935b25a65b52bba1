//! What is remembered of a target: read, waited for and added to.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::store::Sibling;
use pushplan_ledger::{Ledger, Log, Position, Record, Seq, Settling};
use pushplan_model::address::Address;
use pushplan_model::text::one_line;
use pushplan_model::text::{self, shell_word};
use pushplan_project::manifest::PROJECT_FILE;

use super::{PrefetchedState, Workspace};
use crate::engine::ledger::{append, unreadable};
use crate::engine::target::Opened;
use crate::engine::{Session, actor, ledger, turn};

/// What is remembered of a target.
#[derive(Debug)]
pub struct Remembered {
    pub ledger: Ledger,
    pub position: Position,
    /// Who is at work, in a sentence: what is in doubt is so for them to end.
    pub at_work: Option<String>,
}

impl Workspace {
    /// The ledger of the application that was opened, once all that was lost on its way has taken effect or never will: looking
    /// before that would prove nothing. A run that goes on meanwhile writes down what became of what it sent; it is waited for
    /// so long, and then the ledger is as it is.
    pub async fn settled(&self, opened: &Opened, patience: Duration, session: &Session) -> Result<Remembered, Failure> {
        self.settled_from(&mut PrefetchedState::default(), opened, patience, session).await
    }

    /// Reads the settled ledger, starting from prefetched data. Discards that data if it has to wait.
    pub(super) async fn settled_from(
        &self,
        prefetched: &mut PrefetchedState,
        opened: &Opened,
        patience: Duration,
        session: &Session,
    ) -> Result<Remembered, Failure> {
        let began = Instant::now();
        let mut told = None;
        // The ledger as it stands, and when it was first read.
        let mut first: Option<(Seq, Timestamp)> = None;
        loop {
            let (ledger, position) = match prefetched.remembered.take() {
                Some(remembered) => remembered,
                None => self.ledger().await?,
            };
            same_app(&ledger, opened)?;
            if ledger.seq == 0 {
                self.begins(opened).await?;
            }
            let now = Timestamp::now();
            let (_, read_at) = *first.insert(first.filter(|(seq, _)| *seq == ledger.seq).unwrap_or((ledger.seq, now)));
            let at_work = self.at_work(&ledger, now, session)?;
            let clock = actor::clock();
            let settling = Settling {
                settle: self.settle,
                read_at,
                clock: clock.as_deref(),
                is_over: session.watched.is_over(&self.log, &ledger),
                by_own_clock: true,
            };
            let until = ledger.settled_at(&settling).unwrap_or(now);
            let wait = Duration::try_from(until.duration_since(now)).unwrap_or_default();
            if let Some(words) = at_work.as_ref().filter(|_| began.elapsed() >= patience) {
                if told.is_none() {
                    self.note(words, session);
                }
                return Ok(Remembered { ledger, position, at_work });
            }
            let noted = ledger.run.as_ref().map(|running| self.log.has_ended(&running.run)).transpose();
            let is_over = at_work.is_none() && noted.map_err(unreadable)? == Some(true);
            let words = waiting(&ledger, at_work.as_deref(), is_over, wait);
            if told.is_none()
                && let Some(words) = &words
            {
                self.note(words, session);
            }
            told = told.or(words);
            if wait.is_zero() && at_work.is_none() {
                return Ok(Remembered { ledger, position, at_work });
            }
            let wait = if at_work.is_some() { patience.saturating_sub(began.elapsed()) } else { wait };
            *prefetched = PrefetchedState::default();
            tokio::time::sleep(wait.min(turn::LOOK_AGAIN)).await;
        }
    }

    /// A ledger begins only where no other target of the project has one of the same application: all that is in that one would
    /// be made a second time.
    async fn begins(&self, opened: &Opened) -> Result<(), Failure> {
        let beside = self.log.beside().await.map_err(unreadable)?;
        // One application's key may be used on two services, by two targets that are both there.
        let project = &self.manifests.project;
        let url = |name: &str| project.target(name).map(|target| target.base_url.as_ref().map(|url| &url.value));
        let is_elsewhere = |name: &str| url(name).is_some_and(|there| Some(there) != url(&self.target));
        let is_same = |(sibling, other): &&(Sibling, Ledger)| {
            let is_others = other.home.as_ref().is_some_and(|home| home.is_other(&self.home));
            let is_app = !other.app.is_empty() && other.app == opened.app;
            !other.is_empty() && !is_others && is_app && !is_elsewhere(&sibling.name)
        };
        let Some((Sibling { name, shown, becomes, .. }, _)) = beside.iter().find(is_same) else { return Ok(()) };
        let target = &self.target;
        let message = format!(
            "the ledger of `{target}` has no record, but {shown} is for the same application: with an empty ledger, \
                everything would be created again"
        );
        let becomes = becomes.as_ref().map(|becomes| format!(", or {becomes}")).unwrap_or_default();
        let help = format!(
            "if `{target}` was called `{name}`, rename it back{becomes}; or, to start with an empty ledger, move {shown} \
             elsewhere"
        );
        Err(Failure::new(one_line(&message)).kind(FailureKind::Refused).help(one_line(&help)))
    }

    /// Who holds the ledger, and has not told this machine that it is over.
    fn at_work(&self, ledger: &Ledger, now: Timestamp, session: &Session) -> Result<Option<String>, Failure> {
        let Some(running) = turn::holder(ledger, now).filter(|_| !session.watched.is_over(&self.log, ledger)) else {
            return Ok(None);
        };
        let has_ended = turn::is_gone(&self.log, running) || self.log.has_ended(&running.run).map_err(unreadable)?;
        Ok((!has_ended).then(|| turn::at_work(running)))
    }

    /// The ledger once more, after the service was looked at, where somebody is at work: all that they had done until then is
    /// written there. With the addresses of what they were about, of which the service may have shown anything.
    pub async fn since(&self, before: &Remembered) -> Result<(Remembered, BTreeSet<Address>), Failure> {
        let (ledger, position) = self.ledger().await?;
        let records = self.log.read(before.ledger.seq).await.map_err(unreadable)?;
        let touched = records.iter().flat_map(|entry| entry.record.addresses());
        let under_way = touched.chain(before.ledger.open.keys()).chain(ledger.open.keys()).cloned().collect();
        Ok((Remembered { ledger, position, at_work: before.at_work.clone() }, under_way))
    }

    /// What is remembered of the target, and where the ledger stands.
    pub async fn ledger(&self) -> Result<(Ledger, Position), Failure> {
        ledger::check_trust(&self.log)?;
        let entries = self.log.read(0).await.map_err(unreadable)?;
        Ok((Ledger::replay(entries), self.log.known()))
    }

    /// The record that a ledger begins with, if this one does not name its application yet.
    pub fn about(&self, opened: &Opened, ledger: &Ledger) -> Option<Record> {
        ledger.about(&opened.app, &self.home)
    }

    /// Appends one record, if nobody else has appended since the ledger was read. A run that has not ended is over then. A
    /// ledger that begins with it names its application first.
    pub async fn append(&self, opened: &Opened, ledger: &Ledger, record: Record) -> Result<(), Failure> {
        let first = turn::end_of(ledger).into_iter().chain(self.about(opened, ledger));
        for (after, record) in (ledger.seq..).zip(first.chain([record])) {
            append(&self.log, after, record).await?;
        }
        Ok(())
    }
}

/// What is said of somebody who is at work, and of what is waited for. `is_over`: a run has ended here that could not tell the
/// ledger.
fn waiting(ledger: &Ledger, at_work: Option<&str>, is_over: bool, wait: Duration) -> Option<String> {
    let seconds = wait.as_secs() + 1;
    let settled = "until its requests have taken effect or failed";
    match (at_work, &ledger.run) {
        (Some(running), _) => Some(format!("{running} Waiting for it to end.")),
        _ if wait.is_zero() => None,
        (None, Some(run)) if is_over => Some(format!(
            "A run of {} ended here without writing to the ledger. Waiting {seconds} s, {settled}.",
            run.actor
        )),
        (None, Some(run)) => Some(format!(
            "A run of {} has not ended: it is running or was interrupted. Waiting {seconds} s, {settled}.",
            run.actor
        )),
        (None, None) => Some(format!("An earlier run did not get an answer. Waiting {seconds} s, {settled}.")),
    }
}

/// A ledger is about one application. In any other, nothing of it would be there, and all of it would be made again.
pub fn same_app(ledger: &Ledger, opened: &Opened) -> Result<(), Failure> {
    let (target, was, is) = (&opened.name, &ledger.app, &opened.app);
    let is_unnamed = was.is_empty() && !ledger.is_empty() && !opened.is_built_in();
    if is_unnamed {
        let count = text::count(ledger.owned.len(), "resource");
        let message = format!("the ledger of `{target}` has {count} but does not name their application");
        return Err(Failure::new(message).kind(FailureKind::Refused).help(format!(
            "it may be the ledger of another project. If `pushplan ledger export --target {0}` shows resources of this one: \
             pushplan ledger confirm --app {is} --target {0}",
            shell_word(target)
        )));
    }
    if was.is_empty() || was == is {
        return Ok(());
    }
    let message = format!("the ledger of `{target}` is for the application {was}, but the credentials are for {is}");
    Err(Failure::new(message)
        .kind(FailureKind::Refused)
        .help(format!("use the credentials of that application, or add a target for the other one to {PROJECT_FILE}")))
}
