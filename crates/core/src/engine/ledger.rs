//! The ledger of a target: where it is, whether it is trusted, and results that an earlier run could not write.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use jiff::Timestamp;
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::store::Store;
use pushplan_ledger::{
    AppendError, Chain, Entry, Kept, Log, Record, Seq, Taken, Twice, Unreadable, Untrusted, place, trusted,
};
use pushplan_model::address::{Address, KIND_KEYS};
use pushplan_model::text::{self, one_line};
use pushplan_project::manifest::Project;

use super::{Session, actor, target};

/// The ledger of a target, as the project configures it. Does not access the store yet. One that is not trusted cannot
/// be read.
pub fn of(project: &Project, root: &Path, target: &str) -> Result<Chain, Failure> {
    let place = setting(project, target);
    let is_remote = project.target(target).is_some_and(|settings| !target::is_built_in(target, settings));
    match trusted(place, root, target) {
        Ok(()) if is_remote => at_place(place, root, target).map(Chain::asking_origin),
        Ok(()) => at_place(place, root, target),
        Err(untrusted) => Ok(Chain::as_set(Arc::new(untrusted), place, root, target)),
    }
}

/// Refuses a ledger that only the files of the project choose.
pub fn check_trust(log: &Chain) -> Result<(), Failure> {
    log.untrusted().map_or(Ok(()), |untrusted| Err(refused(log.target(), untrusted)))
}

pub fn setting<'p>(project: &'p Project, target: &str) -> Option<&'p str> {
    let setting = project.target(target).and_then(|target| target.ledger.as_ref());
    setting.map(|setting| setting.value.as_str())
}

pub fn refused(target: &str, Untrusted { why, help }: &Untrusted) -> Failure {
    Failure::new(format!("the ledger of `{target}` is not used: {why}")).kind(FailureKind::Refused).help(help.clone())
}

/// The ledger of a target in a configured place.
pub fn at_place(place: Option<&str>, root: &Path, target: &str) -> Result<Chain, Failure> {
    Ok(Chain::as_set(store_at(place, root, target)?, place, root, target))
}

pub fn store_at(place: Option<&str>, root: &Path, target: &str) -> Result<Arc<dyn Store>, Failure> {
    trusted(place, root, target).map_err(|untrusted| refused(target, &untrusted))?;
    let store = match place.and_then(place::open_secret) {
        Some(why) => Err(anyhow!(why)),
        None => place::open(place, root, target),
    };
    store.map_err(|why| {
        Failure::new(format!("the ledger of `{target}` has no valid place: {why}")).help(
            "write a place such as git, s3://bucket/prefix or postgres://host/database/schema, without a \
                password",
        )
    })
}

/// Adds results to the ledger that an earlier run could not write, and reports them.
pub async fn take_in(session: &Session, log: &Chain) -> Result<(), Failure> {
    taken_in(session, log.take_in().await.map_err(unreadable)?);
    Ok(())
}

/// Reports what was done with results that an earlier run could not write.
pub fn taken_in(session: &Session, taken: Taken) {
    for (outcomes, what) in
        [(taken.taken, "are in the ledger now"), (taken.outdated, "were dealt with since and are dropped")]
    {
        if !outcomes.is_empty() {
            let lines: String =
                outcomes.iter().map(|outcome| format!("\n  {}", one_line(&outcome.to_string()))).collect();
            session.note(&format!("Results that an earlier run could not write {what}:{lines}"));
        }
    }
    for twice in &taken.twice {
        session.note(&one_line(&made_twice(twice)));
    }
}

/// The message about a resource that may exist twice on the service.
fn made_twice(Twice { made, other, file }: &Twice) -> String {
    match other {
        None => format!(
            "A later run may have created a second one: {made}. If the service has two, remove one in the dashboard."
        ),
        Some(other) => format!(
            "A result of an earlier run is not in the ledger, which has another id for the same resource, {other}: \
                {made}. If the service has both, remove one in the dashboard. This message is repeated until you \
                remove {file}."
        ),
    }
}

/// The records of a ledger, and the results that are not in it yet.
#[derive(Debug)]
pub struct LedgerHistory {
    pub target: String,
    pub entries: Vec<Entry>,
    pub unwritten: Vec<Kept>,
}

/// Reads all records of a target's ledger.
pub(super) async fn history(log: &Chain, target: String) -> Result<LedgerHistory, Failure> {
    let entries = log.history().await.map_err(unreadable)?;
    let unwritten = log.unwritten().await.map_err(unreadable)?;
    Ok(LedgerHistory { target, entries, unwritten })
}

/// The message about results that are not in the ledger yet.
pub fn pending(kept: &[Kept]) -> Option<String> {
    let told: Vec<String> = kept.iter().map(|kept| text::visible(&kept.to_string())).collect();
    let next = "The next command that writes to the ledger adds them, or prints why it cannot.";
    (!told.is_empty()).then(|| format!("{}\n{next}", told.join("\n")))
}

/// The failure for a record that could not be appended.
pub fn not_appended(target: &str, error: AppendError) -> Failure {
    match error {
        AppendError::Conflict => {
            Failure::new(format!("another process has written to the ledger of `{target}`; nothing was changed"))
                .kind(FailureKind::Busy)
                .help("run the command again")
        }
        AppendError::NotWritten(why) => Failure::new(format!("nothing was changed: {why}")),
        AppendError::Unknown(why) => Failure::new(format!("whether it was written is unknown: {why}"))
            .help("`pushplan history` shows what the ledger has"),
    }
}

/// An address as a user writes it: `scheduled-pushes/sale` is `scheduled_pushes/sale`.
pub fn address(text: &str) -> Result<Address, Failure> {
    let written = text.split_once('/').map(|(kind, key)| format!("{}/{key}", kind.replace('-', "_")));
    Address::try_from(written.unwrap_or_else(|| text.to_owned())).map_err(|why| {
        let (kind, key) = text.split_once('/').unwrap_or((text, ""));
        match text::nearest(kind, KIND_KEYS) {
            Some(near) if !key.is_empty() && near != kind => {
                Failure::usage(why).help(format!("did you mean {near}/{key}?"))
            }
            _ => Failure::usage(why).help("write KIND/KEY, such as segments/lapsed-buyers"),
        }
    })
}

/// Appends one record to a ledger, if no other record was appended since it was read.
pub async fn append(log: &Chain, after: Seq, record: Record) -> Result<(), Failure> {
    let entry = Entry { seq: after + 1, at: Timestamp::now(), actor: actor::name(), record };
    log.append(&entry).await.map_err(|error| match error {
        AppendError::Conflict => {
            Failure::new("another process has changed the ledger").kind(FailureKind::Busy).help("try again")
        }
        AppendError::NotWritten(why) => Failure::new(format!("the ledger cannot be written: {why}")),
        AppendError::Unknown(why) => Failure::new(format!("whether the ledger was written is unknown: {why}"))
            .help("check with `pushplan history`"),
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
