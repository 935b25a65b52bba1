//! Observes a run that holds the ledger, over several reads.

use std::time::Duration;

use super::intent::Seq;
use super::state::Ledger;

/// The observations of one process about the run that holds a ledger.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    seen: Option<Sight>,
}

#[derive(Clone, Debug)]
struct Sight {
    run: String,
    /// The newest record, and when it was first seen.
    seq: Seq,
    since: Duration,
    /// A record was added since the run was first seen.
    goes_on: bool,
}

/// The result of observing a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// How long there was no new record.
    pub unchanged: Duration,
    /// The run wrote a record while it was observed, so it is certainly in progress.
    pub goes_on: bool,
}

impl Watch {
    /// Notes one read of the ledger. `asked` and `answered` are the start and the end of the read, by the observer's
    /// monotonic clock. A record existed by the end of the first read that shows it, and was still the newest at the
    /// start of the last one.
    pub fn saw(&mut self, ledger: &Ledger, asked: Duration, answered: Duration) -> Observed {
        let Some(running) = &ledger.run else {
            self.seen = None;
            return Observed::default();
        };
        let before = self.seen.take().filter(|sight| sight.run == running.run);
        let sight = match before {
            Some(sight) if sight.seq == ledger.seq => sight,
            before => Sight { run: running.run.clone(), seq: ledger.seq, since: answered, goes_on: before.is_some() },
        };
        let observed = Observed { unchanged: asked.saturating_sub(sight.since), goes_on: sight.goes_on };
        self.seen = Some(sight);
        observed
    }
}
