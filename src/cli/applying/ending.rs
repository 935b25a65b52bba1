//! How a command ends that applied a plan.

use super::How;
use crate::apply::{Ending, Report};
use crate::cli::signals::Signal;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::text;

impl How {
    /// How many manual steps a plan leaves, unless that is allowed.
    pub fn manual(&self, plan: &Plan) -> usize {
        if self.allow_manual { 0 } else { plan.manual() }
    }
}

/// Why a command exits with 6 although all that it could do is done.
pub(crate) fn left_to_people(manual: usize) -> String {
    let (steps, are) = (text::count(manual, "manual step"), if manual == 1 { "is" } else { "are" });
    format!("{steps} {are} left, so the exit code is 6. To accept that, pass --allow-manual.")
}

/// How a command ends that ended so.
pub fn exit(report: &Report, plan: &Plan, signal: Option<Signal>) -> Exit {
    match report.ending {
        Ending::Done => Exit::Done,
        Ending::Interrupted => signal.unwrap_or(Signal::Interrupt).exit(),
        _ if report.did_anything(plan) => Exit::Partly,
        _ if report.denied => Exit::Credentials,
        Ending::Conflict => Exit::Busy,
        Ending::Partly | Ending::Unlocked { .. } | Ending::Ledger { .. } => Exit::Failed,
    }
}
