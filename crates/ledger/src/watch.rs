//! Observing a run that holds the ledger, over several looks.

use std::time::Duration;

use super::intent::Seq;
use super::state::Ledger;

/// What one process has seen of the run that holds a ledger, over several looks.
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
    /// For how long there was no new record.
    pub unchanged: Duration,
    /// The run wrote a record while it was observed, so it is certainly going on.
    pub goes_on: bool,
}

impl Watch {
    /// Notes one look at the ledger. `asked` and `answered` are when reading began and ended, by the observer's monotonic clock: a
    /// record was there by the time it was read, and was the newest when the look began that still shows it.
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
