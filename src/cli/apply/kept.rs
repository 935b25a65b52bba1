//! Results that could not be written to the ledger.

use jiff::Timestamp;

use crate::apply::{Ending, Fate, Report};
use crate::cli::planning::Site;
use crate::cli::{Context, who};
use crate::ledger::{Done, Ended, Entry, Outcome, Record};

/// What was done and the ledger could not be told is kept beside it, and taken in by the next command that writes.
pub fn keep(report: &Report, site: &Site, context: &Context) {
    let unrecorded = report.steps.iter().filter(|step| !step.recorded).filter_map(|step| {
        let result = match step.fate.clone() {
            Fate::Done { id, push_ids } => Done::Done { id, push_ids },
            Fate::Failed { why } => Done::Not { why },
            Fate::Unknown { why } => Done::Unknown { why },
            Fate::Skipped { .. } | Fate::NotStarted => return None,
        };
        Some(Outcome { address: step.address.clone(), verb: step.verb, result, unsettled: None })
    });
    let outcomes: Vec<Outcome> = unrecorded.collect();
    let (at, actor) = (Timestamp::now(), who::actor());
    if !outcomes.is_empty() {
        let record = Record::Outcomes(outcomes);
        let entry = Entry { seq: report.ledger + 1, at, actor: actor.clone(), record };
        keep_results(&entry, site, context);
    }
    // Nothing more is sent by it: who goes on here need not wait until its lease is over. Where this fails, that is all.
    if matches!(report.ending, Ending::Ledger { .. }) {
        let record = Record::End { run: report.run.clone(), ended: Ended::Partly };
        let _ = site.log.keep(&Entry { seq: report.ledger + 2, at, actor, record });
    }
}

fn keep_results(entry: &Entry, site: &Site, context: &Context) {
    context.out.note(&match site.log.keep(entry) {
        Ok(file) => told(&file, site),
        Err(why) => {
            format!("What was done could not be kept either ({why}); the next apply looks for it on the service.")
        }
    });
}

/// That results are kept, and how they get into the ledger: by the next command here, or from the file by anybody.
fn told(file: &str, site: &Site) -> String {
    let target = &site.target;
    format!(
        "What could not be written to the ledger is kept in {file}; the next apply here takes it in. Where this machine goes \
         away, keep that file and run: pushplan ledger restore {file} --target {target}"
    )
}
