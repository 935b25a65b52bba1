//! Writes of a run to the ledger: one entry at a time. The next one is gathered while it is being written.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Adopted, AppendError, Begin, Ended, Entry, Intent, Lease, Ledger, Outcome, Record, Seq};
use pushplan_model::address::Address;

use super::{ApplySettings, Deadline, Effect, Now};

/// The number of attempts at an append that fails.
const TRIES: u32 = 4;
/// How long records that are not urgent wait for more of their kind.
const PACE: SignedDuration = SignedDuration::from_millis(10);

/// The ledger as this run knows it, and its pending writes.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The durable state.
    pub ledger: Ledger,
    pub broken: Option<Broken>,
    run: String,
    actor: String,
    lease: Lease,
    /// Until when this run may send: one lease length after its newest durable record was made.
    held: Option<Deadline>,
    /// When half of that time is over.
    renewal: Option<Deadline>,
    under_way: Option<Arc<Entry>>,
    /// When the last entry was made, and when the last one was made after which nothing was left to record.
    made: Option<Now>,
    told: Option<Now>,
    /// Whether the last entry had outcomes, so that intents are next.
    outcomes_were_last: bool,
    tries: u32,
    again_at: Option<Timestamp>,
    begin: Option<Begin>,
    outcomes: Vec<Outcome>,
    adopts: Vec<Adopted>,
    forgets: Vec<Address>,
    /// Old and new addresses.
    renames: Vec<(Address, Address)>,
    end: Option<(String, Ended)>,
}

/// Until when a record that is not urgent waits for more of its kind.
fn pause(since: Now) -> Deadline {
    Deadline::after(since, PACE)
}

fn is_over(pause: Deadline, now: Now) -> bool {
    now.wall >= pause.wall || now.boot >= pause.boot
}

/// Why the ledger cannot be written any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    Conflict,
    Failed(String),
}

/// What became durable.
#[derive(Debug)]
pub enum Durable {
    Begin,
    Intents(Vec<Address>),
    Outcomes(Vec<Address>),
    Kept(Vec<Address>),
    Alive,
    End,
}

impl Journal {
    pub fn new(ledger: &Ledger, settings: &ApplySettings, begin: Option<Begin>) -> Self {
        Self {
            ledger: ledger.clone(),
            broken: None,
            run: settings.run.clone(),
            actor: settings.actor.clone(),
            lease: settings.lease.clone(),
            held: None,
            renewal: None,
            under_way: None,
            made: None,
            told: None,
            outcomes_were_last: false,
            tries: 0,
            again_at: None,
            begin,
            outcomes: Vec::new(),
            adopts: Vec::new(),
            forgets: Vec::new(),
            renames: Vec::new(),
            end: None,
        }
    }

    pub fn outcome(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }

    pub fn adopt(&mut self, adopted: Adopted) {
        self.adopts.push(adopted);
    }

    pub fn forget(&mut self, address: Address) {
        self.forgets.push(address);
    }

    pub fn rename(&mut self, from: Address, to: Address) {
        self.renames.push((from, to));
    }

    pub fn end(&mut self, run: String, ended: Ended) {
        self.end = Some((run, ended));
    }

    /// Whether everything that was handed in is durable, or never will be.
    pub fn is_idle(&self) -> bool {
        let gathered =
            self.outcomes.is_empty() && self.adopts.is_empty() && self.forgets.is_empty() && self.renames.is_empty();
        self.broken.is_some() || self.under_way.is_none() && gathered && self.begin.is_none() && self.end.is_none()
    }

    /// When a failed append is tried again.
    pub fn again_at(&self) -> Option<Timestamp> {
        self.again_at
    }

    /// Until when this run may send. `None` before it began and after it ended.
    pub fn held(&self) -> Option<Deadline> {
        self.held
    }

    /// The latest time of the next write, so that the lease does not run out.
    pub(crate) fn renewal(&self) -> Option<Timestamp> {
        let waits = self.broken.is_none() && self.under_way.is_none();
        self.renewal.filter(|_| waits).map(|renewal| renewal.wall)
    }

    /// Whether intents would be written next. Outcomes and intents take turns, so that neither waits for long. Records
    /// that only the ledger needs come before both.
    pub fn has_room(&self, now: Now, few: usize) -> bool {
        let turn = self.outcomes_were_last || self.outcomes_can_wait(now, few);
        self.broken.is_none() && self.is_free() && turn
    }

    /// Whether nothing has to be written now: an entry was made a moment ago, and there are few outcomes since. A
    /// record costs the disk as much as a hundred outcomes.
    pub(crate) fn can_wait(&self, now: Now, few: usize) -> bool {
        self.is_free() && self.is_recent(now) && self.outcomes_can_wait(now, few)
    }

    /// Whether an entry was made a moment ago.
    pub(crate) fn is_recent(&self, now: Now) -> bool {
        self.made.is_some_and(|made| !is_over(pause(made), now))
    }

    fn outcomes_can_wait(&self, now: Now, few: usize) -> bool {
        let is_recent = self.told.is_some_and(|told| !is_over(pause(told), now));
        self.outcomes.is_empty() || is_recent && self.outcomes.len() < few
    }

    /// Whether nothing is being written, and nothing is pending that comes before intents and outcomes.
    fn is_free(&self) -> bool {
        let kept = self.adopts.is_empty() && self.forgets.is_empty() && self.renames.is_empty();
        self.under_way.is_none() && self.begin.is_none() && self.end.is_none() && kept
    }

    /// Until when outcomes may wait to be written.
    pub fn due(&self) -> Option<Timestamp> {
        let waits = self.broken.is_none() && self.under_way.is_none() && !self.outcomes.is_empty();
        self.told.filter(|_| waits).map(|told| pause(told).wall)
    }

    /// Returns the next entry: these intents, if there was room for them, or the gathered records.
    pub fn next(&mut self, now: Now, intents: Vec<Intent>) -> Option<Effect> {
        if self.broken.is_some() || self.under_way.is_some() {
            return self.again(now.wall);
        }
        let record = if !intents.is_empty() {
            Record::Intents(intents)
        } else if let Some(begin) = self.begin.take() {
            Record::Begin(begin)
        } else if !self.outcomes.is_empty() {
            Record::Outcomes(std::mem::take(&mut self.outcomes))
        } else if !self.renames.is_empty() {
            let (from, to) = self.renames.remove(0);
            Record::Move { from, to }
        } else if !self.adopts.is_empty() {
            Record::Adopt(std::mem::take(&mut self.adopts))
        } else if !self.forgets.is_empty() {
            Record::Forget(std::mem::take(&mut self.forgets))
        } else if let Some((run, ended)) = self.end.take() {
            Record::End { run, ended }
        } else {
            self.renewal.filter(|renewal| renewal.has_passed(now))?;
            Record::Alive { run: self.run.clone() }
        };
        self.outcomes_were_last = matches!(record, Record::Outcomes(_));
        if self.outcomes.is_empty() {
            self.told = Some(now);
        }
        let entry = Arc::new(Entry { seq: self.ledger.seq + 1, at: now.wall, actor: self.actor.clone(), record });
        self.under_way = Some(entry.clone());
        self.made = Some(now);
        self.tries = 1;
        Some(Effect::Append(entry))
    }

    /// Retries the entry that is being written, when it is time.
    fn again(&mut self, now: Timestamp) -> Option<Effect> {
        self.again_at.filter(|at| *at <= now && self.broken.is_none())?;
        self.again_at = None;
        self.tries += 1;
        self.under_way.clone().map(Effect::Append)
    }

    /// Notes that the entry that was being written is durable.
    pub fn appended(&mut self, seq: Seq) -> Option<Durable> {
        let entry = self.under_way.take_if(|entry| entry.seq == seq)?;
        self.again_at = None;
        let made = self.made.filter(|_| !matches!(entry.record, Record::End { .. }));
        self.held = made.map(|made| Deadline::after(made, self.lease.length()));
        self.renewal = made.map(|made| Deadline::after(made, self.lease.length() / 2));
        let names = |addresses: Vec<&Address>| addresses.into_iter().cloned().collect();
        let durable = match &entry.record {
            Record::Intents(all) => Durable::Intents(names(all.iter().map(|intent| &intent.address).collect())),
            Record::Outcomes(all) => Durable::Outcomes(names(all.iter().map(|outcome| &outcome.address).collect())),
            Record::Adopt(all) => Durable::Kept(names(all.iter().map(|adopted| &adopted.address).collect())),
            Record::Forget(all) => Durable::Kept(all.clone()),
            Record::Move { to, .. } => Durable::Kept(vec![to.clone()]),
            Record::Alive { .. } => Durable::Alive,
            Record::End { .. } => Durable::End,
            _ => Durable::Begin,
        };
        self.ledger.take_in(Arc::unwrap_or_clone(entry));
        Some(durable)
    }

    /// Notes that an append failed. An entry that may have been written is retried unchanged, because a log recognizes
    /// its own entry.
    pub fn failed(&mut self, error: AppendError, now: Timestamp, settings: &ApplySettings) {
        if self.under_way.is_none() {
            return;
        }
        let broken = match error {
            AppendError::Conflict => Broken::Conflict,
            AppendError::NotWritten(why) | AppendError::Unknown(why) if self.tries >= TRIES => Broken::Failed(why),
            AppendError::NotWritten(_) | AppendError::Unknown(_) => {
                let wait = settings.backoff * 2_i32.pow(self.tries.min(8) - 1);
                self.again_at = Some(now.checked_add(wait).unwrap_or(Timestamp::MAX));
                return;
            }
        };
        self.broken = Some(broken);
        self.under_way = None;
        self.again_at = None;
    }
}
