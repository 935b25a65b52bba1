//! Whose turn it is: whoever writes to a ledger leaves those alone who are at work.

use std::time::{Duration, Instant};

use clap::Args;
use jiff::{SignedDuration, Timestamp};

use super::planning::{append, unreadable};
use super::{Context, ledger, who};
use crate::apply::Report;
use crate::failure::Failure;
use crate::ledger::{Chain, Ended, Entry, Ledger, Log, Record, Running};
use crate::model::delay::Delay;
use crate::render::{lease, one_line};
use crate::text::shell_word;

/// How long is waited before the ledger is looked at again.
pub const LOOK_AGAIN: Duration = Duration::from_secs(3);

/// What to do where somebody else is at work.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Turn {
    /// Where somebody else is applying, wait so long for the end of that, such as 10m [default: stop at once]
    #[arg(long, value_name = "TIME", value_parser = length)]
    wait: Option<SignedDuration>,
}

pub fn length(text: &str) -> Result<SignedDuration, String> {
    let delay = Delay::parse(text).ok_or("expected a length of time such as 90s, 10m or 1h30m")?;
    Ok(SignedDuration::from_secs(delay.0))
}

/// Somebody is at work, and it was not waited for the end of that, or not for long enough.
#[derive(Debug)]
pub struct Held {
    pub running: Running,
    target: String,
}

impl Turn {
    /// Whether anybody is waited for.
    pub fn waits(self) -> bool {
        self.wait.is_some()
    }

    /// Waits from now on.
    pub fn start(self) -> Waiting {
        let most = self.wait.map(|wait| Duration::try_from(wait).unwrap_or_default());
        Waiting { until: most.and_then(|most| Instant::now().checked_add(most)), told: None }
    }

    /// The ledger once it is nobody's turn but this one's.
    pub async fn ledger(self, context: &Context, log: &Chain, target: &str) -> Result<Ledger, Failure> {
        self.start().ledger(context, log, target).await?.map_err(|held| held.failure())
    }
}

/// Somebody who waits for a turn, until a moment.
#[derive(Debug)]
pub struct Waiting {
    until: Option<Instant>,
    /// The run of which was said that it is waited for.
    told: Option<String>,
}

impl Waiting {
    /// Whether there is time left to wait.
    pub fn has_time(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() < until)
    }

    /// Reads the ledger, and again every few seconds for as long as somebody is at work and there is time.
    pub async fn ledger(
        &mut self,
        context: &Context,
        log: &Chain,
        target: &str,
    ) -> Result<Result<Ledger, Held>, Failure> {
        ledger::check_trust(log)?;
        loop {
            let ledger = Ledger::replay(log.read(0).await.map_err(unreadable)?);
            let Some(running) = holder(&ledger, Timestamp::now()) else { return Ok(Ok(ledger)) };
            // It could not tell the ledger, and has told this machine.
            if log.has_ended(&running.run).map_err(unreadable)? {
                return Ok(Ok(ledger));
            }
            if !self.has_time() {
                return Ok(Err(Held { running: running.clone(), target: target.to_owned() }));
            }
            if self.told.as_ref() != Some(&running.run) {
                self.told = Some(running.run.clone());
                context.out.note(&one_line(&format!("{target}: {} Waiting for the end of that.", at_work(running))));
            }
            let left = self.until.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default();
            tokio::time::sleep(LOOK_AGAIN.min(left)).await;
        }
    }
}

/// The run that is at work, as far as anybody knows.
pub fn holder(ledger: &Ledger, now: Timestamp) -> Option<&Running> {
    ledger.run.as_ref().filter(|running| running.is_held(now, who::clock().as_deref()))
}

/// What ends a run that will not end by itself: before anybody else's record it has to be over.
pub fn end_of(ledger: &Ledger) -> Option<Record> {
    ledger.run.as_ref().map(|running| Record::End { run: running.run.clone(), ended: Ended::Interrupted })
}

/// Ends a run in the ledger that is over, where it left nothing in doubt. Where that fails, it is over all the same.
pub async fn end_dead(log: &Chain, ledger: &Ledger) {
    let is_dead = holder(ledger, Timestamp::now()).is_none() && ledger.open.is_empty();
    if let Some(end) = end_of(ledger).filter(|_| is_dead) {
        let _ = append(log, ledger.seq, end).await;
    }
}

/// Who has ended the lease of a run, where nobody has begun another one since.
pub async fn ended_by(log: &Chain, report: &Report) -> Option<String> {
    let since = log.read(report.ledger).await.ok()?;
    let is_end = |entry: &&Entry| matches!(&entry.record, Record::End { run, .. } if *run == report.run);
    let has_begun = since.iter().any(|entry| matches!(entry.record, Record::Begin(_)));
    since.iter().find(is_end).filter(|_| !has_begun).map(|end| end.actor.clone())
}

/// A sentence about somebody who is at work.
pub fn at_work(running: &Running) -> String {
    let until = running.expires.map(|end| format!(", until {end:.0} if nothing more is heard")).unwrap_or_default();
    format!("{} is applying since {:.0}{until}.", running.actor, running.since)
}

/// A sentence about somebody whose lease is over by now.
pub fn over(running: &Running, now: Timestamp) -> Option<String> {
    let end = running.expires.filter(|end| *end < now)?;
    Some(format!(
        "The run of {} since {:.0} has not ended, and nothing was heard of it until {end:.0}: its lease is over.",
        running.actor, running.since
    ))
}

impl Held {
    /// Who is at work, and the ways out.
    pub fn failure(&self) -> Failure {
        let help = format!("wait for the end of it: --wait 10m\n          or, {}", self.if_gone());
        Failure::new(self.words()).help(help)
    }

    /// The same for somebody who comes again by itself.
    pub fn skipped(&self) -> Failure {
        Failure::new(self.words()).help(self.if_gone())
    }

    fn if_gone(&self) -> String {
        let (run, target) = (shell_word(&self.running.run), shell_word(&self.target));
        one_line(&format!("if that run is gone for good: pushplan unlock --lease {run} --target {target}"))
    }

    fn words(&self) -> String {
        let Self { running, target } = self;
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
            message = format!("{message}, until {end:.0} if nothing more is heard");
        }
        message
    }

    /// The same for programs.
    pub fn json(&self) -> String {
        lease::held(&self.target, &self.running)
    }
}
