//! The ledger of a target: reading it, waiting for it, and appending to it.

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

/// The ledger of a target, and who is applying.
#[derive(Debug)]
pub struct Remembered {
    pub ledger: Ledger,
    pub position: Position,
    /// A sentence about the running apply, if there is one: it will resolve what is unconfirmed.
    pub at_work: Option<String>,
}

impl Workspace {
    /// Reads the ledger of the open application once every lost request has taken effect or never will: reading the
    /// service before that would prove nothing. A running apply records its own outcomes; this waits for it up to
    /// `patience`, and then returns the ledger as it is.
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
        // The last record, and when it was first read.
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

    /// Refuses to start a ledger if another target of the project has one for the same application: everything in that
    /// one would be created again.
    async fn begins(&self, opened: &Opened) -> Result<(), Failure> {
        let beside = self.log.beside().await.map_err(unreadable)?;
        // Two targets may use one application's key on two services.
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

    /// The holder of the lock, unless it is known on this machine to be over.
    fn at_work(&self, ledger: &Ledger, now: Timestamp, session: &Session) -> Result<Option<String>, Failure> {
        let Some(running) = turn::holder(ledger, now).filter(|_| !session.watched.is_over(&self.log, ledger)) else {
            return Ok(None);
        };
        let has_ended = turn::is_gone(&self.log, running) || self.log.has_ended(&running.run).map_err(unreadable)?;
        Ok((!has_ended).then(|| turn::at_work(running)))
    }

    /// Reads the ledger again after the service was read, if an apply is running: it then has every outcome up to that
    /// time. Also returns the addresses of that apply, whose live state may be outdated.
    pub async fn since(&self, before: &Remembered) -> Result<(Remembered, BTreeSet<Address>), Failure> {
        let (ledger, position) = self.ledger().await?;
        let records = self.log.read(before.ledger.seq).await.map_err(unreadable)?;
        let touched = records.iter().flat_map(|entry| entry.record.addresses());
        let under_way = touched.chain(before.ledger.open.keys()).chain(ledger.open.keys()).cloned().collect();
        Ok((Remembered { ledger, position, at_work: before.at_work.clone() }, under_way))
    }

    /// The ledger of the target, and its position.
    pub async fn ledger(&self) -> Result<(Ledger, Position), Failure> {
        ledger::check_trust(&self.log)?;
        let entries = self.log.read(0).await.map_err(unreadable)?;
        Ok((Ledger::replay(entries), self.log.known()))
    }

    /// The record that a ledger begins with, if this one does not name its application yet.
    pub fn about(&self, opened: &Opened, ledger: &Ledger) -> Option<Record> {
        ledger.about(&opened.app, &self.home)
    }

    /// Appends one record, if no other was appended since the ledger was read. Ends a run that has not ended. A new
    /// ledger gets the name of its application first.
    pub async fn append(&self, opened: &Opened, ledger: &Ledger, record: Record) -> Result<(), Failure> {
        let first = turn::end_of(ledger).into_iter().chain(self.about(opened, ledger));
        for (after, record) in (ledger.seq..).zip(first.chain([record])) {
            append(&self.log, after, record).await?;
        }
        Ok(())
    }
}

/// The message about a running apply, and the wait. `is_over`: a run ended on this machine that could not record it.
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

/// Refuses a ledger of another application, because all its resources would be missing and would be created again.
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
