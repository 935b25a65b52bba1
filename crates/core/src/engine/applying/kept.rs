//! Results that could not be written to the ledger.

use std::io;
use std::path::Path;

use anyhow::anyhow;
use jiff::Timestamp;
use pushplan_io::files::{describe, private_folder};
use pushplan_io::private;
use pushplan_ledger::{Done, Ended, Entry, Outcome, Record};
use pushplan_model::text::shell_word;
use uuid::Uuid;

use crate::apply::{Ending, Fate, Report};
use crate::engine::workspace::Workspace;
use crate::engine::{Session, actor};

/// Stores results that could not be recorded next to the ledger. The next command that writes to the ledger adds them.
pub fn keep(report: &Report, workspace: &Workspace, session: &Session) {
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
    let (at, actor) = (Timestamp::now(), actor::name());
    if !outcomes.is_empty() {
        let record = Record::Outcomes(outcomes);
        let entry = Entry { seq: report.ledger + 1, at, actor: actor.clone(), record };
        keep_results(&entry, workspace, session);
    }
    // The run sends nothing more, so its lease need not be awaited on this machine. If this cannot be written, it is
    // skipped.
    if matches!(report.ending, Ending::Ledger { .. }) {
        let record = Record::End { run: report.run.clone(), ended: Ended::Partly };
        let _ = workspace.log.keep(&Entry { seq: report.ledger + 2, at, actor, record });
    }
}

fn keep_results(entry: &Entry, workspace: &Workspace, session: &Session) {
    let target = shell_word(&workspace.target);
    let why = match workspace.log.keep(entry) {
        Ok(file) => {
            let file = from_here(&workspace.manifests.project.root.join(file));
            let restore = format!("pushplan ledger restore {} --target {target}", shell_word(&file));
            return session.note(&format!(
                "Results that could not be written to the ledger are kept in {file}. The next apply here writes \
                    them. To write them from another machine, copy that file and run: {restore}"
            ));
        }
        Err(why) => why,
    };
    let line = workspace.log.keepsake(entry);
    match elsewhere(&line) {
        Ok(file) => session.note(&format!(
            "Results that could not be written to the ledger are kept in {file}, because {why}. Before the next \
                apply, run: pushplan ledger restore {} --target {target}",
            shell_word(&file)
        )),
        Err(other) => {
            session.note(&format!(
                "Results could not be written to the ledger, and not to a file either: {why}; {other}. The next line \
                    contains them. Save it in a file, and before the next apply run: pushplan ledger restore FILE \
                    --target {target}"
            ));
            session.line(&line);
        }
    }
}

/// Stores results in a new folder in the temporary folder, readable only by their owner. Returns the path.
fn elsewhere(line: &[u8]) -> anyhow::Result<String> {
    let folder = std::env::temp_dir().join(format!("pushplan-{}", Uuid::new_v4().simple()));
    let file = folder.join("unwritten.json");
    let cannot = |error: io::Error| anyhow!("{} cannot be written: {}", file.display(), describe(&error));
    private_folder().create(&folder).map_err(cannot)?;
    private::write(&file, line).map_err(cannot)?;
    Ok(file.display().to_string())
}

/// The path of a file relative to the current folder.
fn from_here(file: &Path) -> String {
    let here = std::env::current_dir().ok();
    let beneath = here.and_then(|here| file.strip_prefix(here).ok());
    beneath.unwrap_or(file).display().to_string()
}
