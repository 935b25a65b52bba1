//! The end of a command that applied a plan.

use super::How;
use crate::apply::{Ending, Report};
use crate::cli::signals::Signal;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::text;

impl How {
    /// The number of manual steps that are left, or zero if that is allowed.
    pub fn manual(&self, plan: &Plan) -> usize {
        if self.allow_manual { 0 } else { plan.manual() }
    }
}

/// The reason for exit code 6 after everything else is done.
pub(crate) fn left_to_people(manual: usize) -> String {
    let (steps, are) = (text::count(manual, "manual step"), if manual == 1 { "is" } else { "are" });
    format!("{steps} {are} left, so the exit code is 6. To accept that, pass --allow-manual.")
}

/// The exit code for the end of a run.
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
