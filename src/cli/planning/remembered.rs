//! What is remembered of a target: read, waited for and added to.

use std::time::Duration;

use jiff::Timestamp;

use super::Site;
use crate::cli::target::Opened;
use crate::cli::{Context, turn, who};
use crate::failure::{Exit, Failure};
use crate::ledger::{AppendError, Chain, Entry, Ledger, Log, Position, Record, Seq, Unreadable};
use crate::manifest::PROJECT_FILE;

impl Site {
    /// The ledger of the application that was opened, once all that was lost on its way has taken effect or never will: looking
    /// before that would prove nothing. A run that goes on meanwhile writes down what became of what it sent.
    pub async fn settled(&self, opened: &Opened, context: &Context) -> Result<(Ledger, Position), Failure> {
        let mut told = None;
        loop {
            let (ledger, position) = self.ledger().await?;
            same_app(&ledger, opened)?;
            let now = Timestamp::now();
            let until = ledger.settled_at(self.settle).unwrap_or(now);
            let wait = Duration::try_from(until.duration_since(now)).unwrap_or_default();
            let words = waiting(&ledger, wait, now);
            if told.is_none()
                && let Some(words) = &words
            {
                self.note(words, context);
            }
            told = told.or(words);
            if wait.is_zero() {
                return Ok((ledger, position));
            }
            tokio::time::sleep(wait.min(turn::LOOK_AGAIN)).await;
        }
    }

    /// What is remembered of the target, and where the ledger stands.
    pub async fn ledger(&self) -> Result<(Ledger, Position), Failure> {
        let entries = self.log.read(0).await.map_err(unreadable)?;
        Ok((Ledger::replay(entries), self.log.known()))
    }

    /// Appends one record, if nobody else has appended since the ledger was read. A run that has not ended is over then.
    pub async fn append(&self, ledger: &Ledger, record: Record) -> Result<(), Failure> {
        for (after, record) in (ledger.seq..).zip(turn::end_of(ledger).into_iter().chain([record])) {
            append(&self.log, after, record).await?;
        }
        Ok(())
    }
}

/// What is said of somebody who is at work, and of what is waited for.
fn waiting(ledger: &Ledger, wait: Duration, now: Timestamp) -> Option<String> {
    let seconds = wait.as_secs() + 1;
    let settled = "until what it sent has taken effect or never will";
    match (turn::holder(ledger, now).map(turn::at_work), &ledger.run) {
        (somebody, _) if wait.is_zero() => somebody,
        (Some(somebody), _) => Some(format!("{somebody} Waiting {settled}.")),
        (None, Some(run)) => Some(format!(
            "A run of {} has not ended: it is under way, or was cut off. Waiting {seconds} s, {settled}.",
            run.actor
        )),
        (None, None) => Some(format!("An earlier run lost an answer. Waiting {seconds} s, {settled}.")),
    }
}

/// A ledger is about one application. In any other, nothing of it would be there, and all of it would be made again.
pub fn same_app(ledger: &Ledger, opened: &Opened) -> Result<(), Failure> {
    if ledger.app.is_empty() || ledger.app == opened.app {
        return Ok(());
    }
    let (target, was, is) = (&opened.name, &ledger.app, &opened.app);
    let message = format!("the ledger of `{target}` is about the application {was}, and the credentials are for {is}");
    Err(Failure::new(message).exit(Exit::Refused).help(format!(
        "use the credentials of that application, or give the other one a target of its own in {PROJECT_FILE}"
    )))
}

/// Appends one record to a ledger, if nobody else has appended since it was read.
pub async fn append(log: &Chain, after: Seq, record: Record) -> Result<(), Failure> {
    let entry = Entry { seq: after + 1, at: Timestamp::now(), actor: who::actor(), record };
    log.append(&entry).await.map_err(|error| match error {
        AppendError::Conflict => Failure::new("somebody else has changed the ledger in the meantime").help("try again"),
        AppendError::NotWritten(why) => Failure::new(format!("the ledger cannot be written: {why}")),
        AppendError::Unknown(why) => Failure::new(format!("whether the ledger was written is not known: {why}"))
            .help("look with `pushplan history`"),
    })
}

/// A ledger that cannot be read.
pub fn unreadable(why: Unreadable) -> Failure {
    let failure = Failure::new(why.message);
    match why.help {
        Some(help) => failure.help(help),
        None => failure,
    }
}
