//! What is remembered of a target: read, waited for and added to.

use std::time::Duration;

use jiff::Timestamp;

use super::Site;
use crate::cli::target::Opened;
use crate::cli::{Context, turn, who};
use crate::failure::{Exit, Failure};
use crate::ledger::{AppendError, Chain, Entry, Ledger, Log, Record, Seq, Unreadable};
use crate::manifest::PROJECT_FILE;

impl Site {
    /// The ledger of the application that was opened, once all that was lost on its way has taken effect or never will.
    pub async fn settled(&self, opened: &Opened, context: &Context) -> Result<Ledger, Failure> {
        let (ledger, _) = self.ledger().await?;
        same_app(&ledger, opened)?;
        self.wait_until_settled(&ledger, context).await;
        Ok(ledger)
    }

    /// What is remembered of the target, and where the ledger stands.
    pub async fn ledger(&self) -> Result<(Ledger, crate::ledger::Position), Failure> {
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

    /// What an earlier run lost on its way may still take effect: looking before that would prove nothing.
    pub async fn wait_until_settled(&self, ledger: &Ledger, context: &Context) {
        let now = Timestamp::now();
        let at_work = turn::holder(ledger, now).map(turn::at_work);
        let until = ledger.settled_at(self.settle).unwrap_or(now);
        let wait = Duration::try_from(until.duration_since(now)).unwrap_or_default();
        let whose = match (at_work, &ledger.run) {
            (Some(somebody), _) if wait.is_zero() => return self.note(&somebody, context),
            _ if wait.is_zero() => return,
            (Some(somebody), _) => somebody,
            (None, Some(run)) => format!("A run of {} has not ended: it is under way, or was cut off.", run.actor),
            (None, None) => "An earlier run lost an answer.".to_owned(),
        };
        let seconds = wait.as_secs() + 1;
        let words = format!("{whose} Waiting {seconds} s, until what it sent has taken effect or never will.");
        self.note(&words, context);
        tokio::time::sleep(wait).await;
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
