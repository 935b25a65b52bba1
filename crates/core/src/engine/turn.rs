//! Locks: a run that writes to a ledger waits for a running apply.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::{Chain, Ended, Entry, Evidence, Ledger, Log, Observed, Record, Running, Seq, Watch};
use pushplan_model::text::{one_line, shell_word};

use super::ledger::{append, unreadable};
use super::{Session, actor, ledger};
use crate::apply::{Report, now};

/// How long to wait before the ledger is read again.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_secs(3);

/// The ledger is locked by another run, and this process did not wait, or not for long enough.
#[derive(Debug)]
pub struct LockHeld {
    pub running: Running,
    pub observed: Observed,
    pub target: String,
}

/// The knowledge of this process about other runs, for each ledger.
#[derive(Clone, Debug, Default)]
pub struct Watched(Arc<Mutex<BTreeMap<String, WatchedRun>>>);

#[derive(Debug, Default)]
struct WatchedRun {
    watch: Watch,
    /// The run that may be taken over if this is still the last record, and why.
    over: Option<(String, Seq, Proof)>,
}

/// The proof that a run is over.
#[derive(Clone, Copy, Debug)]
enum Proof {
    /// Its process has ended, on this machine.
    Gone,
    /// It wrote no record during its lease.
    Observed(Duration),
}

impl Watched {
    /// Notes that a ledger was read, and returns whether the run that holds its lock is over.
    fn saw(&self, log: &Chain, ledger: &Ledger, running: &Running, asked: Duration) -> (Observed, bool) {
        let (clock, is_gone) = (actor::clock(), is_gone(log, running));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = all.entry(Self::key(log)).or_default();
        let observed = seen.watch.saw(ledger, asked, now().boot);
        let evidence = Evidence {
            observed: observed.unchanged,
            is_gone,
            wall: Timestamp::now(),
            clock: clock.as_deref(),
            observe: true,
        };
        let is_over = running.is_over(&evidence);
        let proof = match is_gone {
            true => Proof::Gone,
            false => Proof::Observed(observed.unchanged),
        };
        seen.over = is_over.then(|| (running.run.clone(), ledger.seq, proof));
        (observed, is_over)
    }

    fn over(&self, log: &Chain, ledger: &Ledger) -> Option<Proof> {
        let running = ledger.run.as_ref()?;
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (run, seq, proof) = all.get(&Self::key(log))?.over.as_ref()?;
        (*run == running.run && *seq == ledger.seq).then_some(*proof)
    }

    /// Whether the run that holds the lock of a ledger was found to be over, with no record since.
    pub fn is_over(&self, log: &Chain, ledger: &Ledger) -> bool {
        self.over(log, ledger).is_some()
    }

    fn key(log: &Chain) -> String {
        format!("{} {}", log.target(), log.shown())
    }
}

/// The wait for a lock, up to a moment.
#[derive(Debug)]
pub struct Waiting {
    until: Option<Instant>,
    /// The run that was reported to the user.
    told: Option<String>,
}

impl Waiting {
    /// Starts a wait of at most this time; `None`: no wait.
    pub fn start(most: Option<SignedDuration>) -> Self {
        let most = most.map(|wait| Duration::try_from(wait).unwrap_or_default());
        Self { until: most.and_then(|most| Instant::now().checked_add(most)), told: None }
    }

    /// Whether there is time left to wait.
    pub(crate) fn has_time(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() < until)
    }

    /// Reads the ledger, and again every few seconds while another run holds it and there is time. A run whose lease has expired by
    /// wall clocks was probably killed: its lease is observed for its whole length even if nobody asked to wait.
    pub async fn ledger(
        &mut self,
        session: &Session,
        log: &Chain,
        target: &str,
    ) -> Result<Result<Ledger, LockHeld>, Failure> {
        ledger::check_trust(log)?;
        loop {
            let (asked, is_ahead) = (now().boot, log.is_read_ahead());
            let ledger = Ledger::replay(log.read(0).await.map_err(unreadable)?);
            let Some(running) = ledger.run.as_ref().filter(|running| running.lease.is_some()) else {
                return Ok(Ok(ledger));
            };
            if is_ahead {
                // How long the ledger is unchanged is measured from reads that began at a known time.
                continue;
            }
            let (observed, is_over) = session.watched.saw(log, &ledger, running, asked);
            // It could not record its end in the ledger, and noted it on this machine.
            if is_over || log.has_ended(&running.run).map_err(unreadable)? {
                return Ok(Ok(ledger));
            }
            let seems_over = holder(&ledger, Timestamp::now()).is_none() && !observed.goes_on;
            let observes = self.until.is_none() && seems_over;
            if !observes && !self.has_time() {
                return Ok(Err(LockHeld { running: running.clone(), observed, target: target.to_owned() }));
            }
            let to_observe = running.left_to_observe(observed.unchanged);
            if self.told.as_ref() != Some(&running.run) {
                self.told = Some(running.run.clone());
                let words = match seems_over {
                    true => probably_over(running, to_observe),
                    false => format!("{} Waiting for it to end.", at_work(running)),
                };
                session.note(&one_line(&format!("{target}: {words}")));
            }
            let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
            let wait = LOOK_AGAIN.min(to_observe).min(left.unwrap_or(to_observe));
            // A wait of zero would be a busy loop if a clock stands still.
            tokio::time::sleep(wait.max(Duration::from_millis(10))).await;
        }
    }
}

/// Whether the process of a run has certainly ended: it was started on this machine, since its last boot.
pub fn is_gone(log: &Chain, running: &Running) -> bool {
    let clock = running.lease.as_ref().and_then(|lease| lease.clock.clone());
    clock.is_some() && clock == actor::clock() && log.is_gone(&running.run)
}

/// The run that holds the lock, by wall clocks.
pub fn holder(ledger: &Ledger, now: Timestamp) -> Option<&Running> {
    ledger.run.as_ref().filter(|running| running.is_held(now, actor::clock().as_deref()))
}

/// The record that ends a run that has not ended: another run's first record must follow it.
pub fn end_of(ledger: &Ledger) -> Option<Record> {
    ledger.run.as_ref().map(|running| Record::End { run: running.run.clone(), ended: Ended::Interrupted })
}

/// Ends a run in the ledger that is over, if it left nothing unconfirmed. If this fails, it is over anyway. Returns the
/// last record if no run is left in the ledger.
pub async fn end_dead(session: &Session, log: &Chain, ledger: &Ledger) -> Option<Seq> {
    let Some(end) = end_of(ledger) else { return Some(ledger.seq) };
    let has_lease = ledger.run.as_ref().is_some_and(|running| running.lease.is_some());
    let is_dead = (!has_lease || session.watched.is_over(log, ledger)) && ledger.open.is_empty();
    if !is_dead || append(log, ledger.seq, end).await.is_err() {
        return None;
    }
    Some(ledger.seq + 1)
}

/// The actor who ended the lease of a run, if no other run has begun since.
pub(crate) async fn ended_by(log: &Chain, report: &Report) -> Option<String> {
    let since = log.read(report.ledger).await.ok()?;
    let is_end = |entry: &&Entry| matches!(&entry.record, Record::End { run, .. } if *run == report.run);
    let has_begun = since.iter().any(|entry| matches!(entry.record, Record::Begin(_)));
    since.iter().find(is_end).filter(|_| !has_begun).map(|end| end.actor.clone())
}

/// A sentence about a running apply.
pub fn at_work(running: &Running) -> String {
    let until = running.expires.map(|end| format!(", until {end:.0} unless it is renewed")).unwrap_or_default();
    format!("{} is applying since {:.0}{until}.", running.actor, running.since)
}

/// A sentence about a run that did not finish, by wall clocks.
pub fn seems_over(running: &Running, now: Timestamp) -> Option<String> {
    let end = running.expires.filter(|end| *end < now)?;
    Some(format!(
        "The apply of {} since {:.0} did not finish. Its lease expired at {end:.0}.",
        running.actor, running.since
    ))
}

fn probably_over(running: &Running, to_observe: Duration) -> String {
    format!(
        "The apply of {} since {:.0} did not finish and was probably killed. Waiting {} s for a new record, because clocks can \
         differ.",
        running.actor,
        running.since,
        to_observe.as_secs() + 1
    )
}

/// A sentence about the run that is taken over, if any.
pub fn taken_over(session: &Session, log: &Chain, ledger: &Ledger) -> Option<String> {
    let proof = session.watched.over(log, ledger)?;
    let running = ledger.run.as_ref()?;
    let why = match proof {
        Proof::Gone => "its process has ended".to_owned(),
        Proof::Observed(unchanged) => {
            format!("it wrote no record for {} s, and its lease is over", unchanged.as_secs())
        }
    };
    Some(format!("The apply of {} since {:.0} did not finish: {why}. Taking over.", running.actor, running.since))
}

impl LockHeld {
    /// The failure that names the holder of the lock, and how to proceed.
    pub fn failure(&self) -> Failure {
        let help = format!("to wait for it, pass --wait {}\n          or, {}", self.enough(), self.if_gone());
        Failure::new(self.words()).kind(FailureKind::Busy).help(help)
    }

    /// The failure that names the holder of the lock, for a command that retries by itself: the help does not suggest
    /// `--wait`.
    pub fn skipped(&self) -> Failure {
        Failure::new(self.words()).kind(FailureKind::Busy).help(self.if_gone())
    }

    /// A wait that is long enough to take over a killed run.
    fn enough(&self) -> String {
        let minutes = self.running.left_to_observe(Duration::ZERO).as_secs().div_ceil(60);
        format!("{}m", (minutes + 1).max(10))
    }

    fn if_gone(&self) -> String {
        let (run, target) = (shell_word(&self.running.run), shell_word(&self.target));
        one_line(&format!("if that run is dead: pushplan unlock --lease {run} --target {target}"))
    }

    fn words(&self) -> String {
        let Self { running, observed, target } = self;
        let Running { run, since, expires, lease, actor } = running;
        let who = match lease {
            Some(lease) => match &lease.host {
                Some(host) => format!("{} on {host}", lease.holder),
                None => lease.holder.clone(),
            },
            None => actor.clone(),
        };
        let mut message = one_line(&format!("{who} is applying to `{target}` since {since:.0}: nothing was changed"));
        if let Some(job) = lease.as_ref().and_then(|lease| lease.job.as_ref()) {
            message = format!("{message}\n       job    {}", one_line(job));
        }
        message = format!("{message}\n       lease  {}", one_line(run));
        if let Some(end) = expires {
            message = format!("{message}, until {end:.0} unless it is renewed");
        }
        let (seconds, length) = (observed.unchanged.as_secs(), running.left_to_observe(Duration::ZERO).as_secs());
        if observed.goes_on {
            message = format!("{message}\n       it wrote a record {seconds} s ago");
        } else if seconds > 0 {
            message = format!("{message}\n       no new record for {seconds} s; its lease is over after {length} s");
        }
        message
    }
}
