//! The ledger of a target: whether it exists and is complete, and whether anything in it needs attention.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::Inspection;
use crate::engine::ledger;
use crate::engine::ledger::unreadable;
use crate::engine::turn;
use crate::failure::{Failure, FailureKind};
use crate::ledger::{Chain, Facts, Log, Seq, Unreadable, place};
use crate::manifest::PROJECT_FILE;
use crate::render::doctor::Check;
use crate::text;

/// The state of a ledger.
#[derive(Debug)]
pub struct Looked {
    place: String,
    facts: Result<(Facts, usize), Failure>,
    /// The check of the records before the checkpoint at which reading begins.
    before: Option<Check>,
}

pub async fn look(inspection: &Inspection, name: &str) -> Looked {
    let setting = inspection.project.target(name).and_then(|target| target.ledger.as_ref());
    let setting = setting.map(|setting| setting.value.as_str());
    let place = setting.map_or_else(|| "next to the manifests".to_owned(), place::shown);
    let number = inspection.project.target_names().iter().position(|other| *other == name).unwrap_or_default();
    if let Ok(log) = ledger::of(&inspection.project, &inspection.root, name)
        && let Err(failure) = ledger::check_trust(&log)
    {
        return Looked { place, facts: Err(failure), before: None };
    }
    let store =
        inspection.apart.of(number).and_then(|apart| place::open_to_look(setting, &inspection.root, name, &apart));
    let store = match store {
        Ok(store) => store,
        Err(why) => return Looked { place, facts: Err(Failure::new(why).kind(FailureKind::Invalid)), before: None },
    };
    let shown = store.shown();
    let log = Chain::as_set(Arc::clone(&store), setting, &inspection.root, name).only_looking();
    let facts = match tokio::time::timeout(inspection.within, read(&log)).await {
        Ok(read) => read.map_err(unreadable),
        Err(_) => Err(Failure::new(format!("it was not read within {:?}", inspection.within))
            .help("the place is slow or does not answer; --within sets the time limit")),
    };
    let checkpoint = facts.as_ref().ok().and_then(|(facts, _)| facts.checkpoint);
    let before = match checkpoint.filter(|at| *at > 1) {
        Some(at) => before(&log, at, inspection.within).await,
        None => None,
    };
    Looked { place: shown, facts, before }
}

/// The problem with the records before a checkpoint. Plans do not read them, so it is only a warning.
async fn before(log: &Chain, checkpoint: Seq, within: Duration) -> Option<Check> {
    match tokio::time::timeout(within, log.history()).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => {
            let Failure { message, help, .. } = unreadable(error);
            Some(Check::warning("history", message, help.unwrap_or_default()))
        }
        Err(_) => Some(Check::warning(
            "history",
            format!("the records before {checkpoint}, a checkpoint, were not read within {within:?}"),
            "`pushplan ledger verify` reads every record; or set a longer --within",
        )),
    }
}

async fn read(log: &Chain) -> Result<(Facts, usize), Unreadable> {
    let facts = log.facts().await?;
    if facts.last.is_none() {
        // A ledger may have been left in another place.
        log.read(0).await?;
    }
    let unwritten = log.unwritten().await?.iter().map(|kept| kept.outcomes().len()).sum();
    Ok((facts, unwritten))
}

impl Looked {
    /// The checks of it. `app` is the application of the credentials.
    pub fn told(self, app: Option<&str>) -> Vec<Check> {
        let Self { place, facts, before } = self;
        let (facts, unwritten) = match facts {
            Ok(read) => read,
            Err(failure) => {
                let message = match failure.message.contains(&place) {
                    true => failure.message.clone(),
                    false => format!("{place}: {}", failure.message),
                };
                return vec![Check::trouble("ledger", &Failure { message, ..failure })];
            }
        };
        let Some(last) = &facts.last else { return vec![Check::fine("ledger", format!("{place}, no record yet"))] };
        if let Some(to) = facts.moved_to() {
            let to = place::shown(to);
            let failure = Failure::new(format!("{place} has moved to {to}"));
            return vec![Check::trouble("ledger", &failure.help(format!("write ledger = \"{to}\" in {PROJECT_FILE}")))];
        }
        let ledger = &facts.ledger;
        let (records, lineage) = (facts.position.seq, facts.position.lineage.get(..8).unwrap_or_default());
        let count = text::count(usize::try_from(records).unwrap_or(usize::MAX), "record");
        let mut checks =
            vec![Check::fine("ledger", format!("{place}, {count} (ledger {lineage}), the last on {:.0}", last.at))];
        checks.extend(before);
        if let Some(app) = app.filter(|app| !ledger.app.is_empty() && ledger.app != *app) {
            let failure =
                Failure::new(format!("it is for the application {}, but the credentials are for {app}", ledger.app));
            let help = "use the credentials of that application, or add a target for the other one";
            checks.push(Check::trouble("ledger", &failure.kind(FailureKind::Refused).help(help)));
        }
        // `ledger status` shows the holder of the lock.
        if let Some(run) = &ledger.run {
            checks.push(match turn::holder(ledger, Timestamp::now()) {
                Some(run) => Check::fine(
                    "locked",
                    format!("by a run since {:.0}; `pushplan ledger status` shows whose", run.since),
                ),
                None => Check::warning(
                    "cut off",
                    format!("a run since {:.0} has not ended", run.since),
                    "run `pushplan plan`; the next apply continues after it",
                ),
            });
        }
        if !ledger.open.is_empty() {
            // Only their kinds, because keys may be names of people.
            let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
            ledger.open.keys().for_each(|address| *kinds.entry(&*address.kind).or_default() += 1);
            let kinds: Vec<String> = kinds.iter().map(|(kind, number)| format!("{number} of {kind}")).collect();
            checks.push(Check::warning(
                "unconfirmed",
                format!("{}: whether they were created is unknown", kinds.join(", ")),
                "the next plan checks them and lists those for `pushplan resolve`",
            ));
        }
        if unwritten > 0 {
            checks.push(Check::warning(
                "unwritten",
                format!("{} of an earlier run could not be written", text::count(unwritten, "result")),
                "the next command that writes adds them",
            ));
        }
        checks
    }
}
