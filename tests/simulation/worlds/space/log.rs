//! The log as a small model: a record is created by one writer.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use jiff::Timestamp;
use pushplan::ledger::{Done, Entry, Ledger, Record, Seq};

#[derive(Clone, Debug)]
pub struct Log {
    entries: Arc<Vec<Arc<Entry>>>,
    pub ledger: Arc<Ledger>,
    /// The states of the ledger whenever no run was active.
    rests: Arc<Vec<Arc<Ledger>>>,
    /// The hash of the ledger and of its last record.
    pub hash: u64,
    /// The newest record so far. It is stored next to the records, and survives when they are set back.
    pub mark: Seq,
}

impl Default for Log {
    fn default() -> Self {
        let ledger = Arc::new(Ledger::default());
        Self { entries: Arc::default(), rests: Arc::new(vec![ledger.clone()]), ledger, hash: 0, mark: 0 }
    }
}

impl Log {
    /// Whether an entry can be appended: the position is free, or the entry already exists.
    pub fn takes(&self, entry: &Entry) -> bool {
        entry.seq == self.ledger.seq + 1 || self.has(entry)
    }

    pub fn has(&self, entry: &Entry) -> bool {
        self.entries.iter().rev().any(|other| other.seq == entry.seq && **other == *entry)
    }

    /// Appends an entry that it takes.
    pub fn append(&mut self, entry: &Arc<Entry>) {
        if self.has(entry) {
            return;
        }
        let seq = self.ledger.seq + 1;
        let entry = Arc::new(Entry { seq, ..Entry::clone(entry) });
        let ledger = Arc::make_mut(&mut self.ledger);
        ledger.take_in(wordless(&entry));
        if ledger.run.is_none() {
            Arc::make_mut(&mut self.rests).push(self.ledger.clone());
        }
        self.hash = hash(&self.ledger, &entry);
        self.mark = self.mark.max(seq);
        Arc::make_mut(&mut self.entries).push(entry);
    }

    /// A person accepts that records are missing.
    pub fn accept_gap(&mut self, at: Timestamp) {
        let since = self.entries.last().map(|last| last.at);
        let record = Record::Gap { since, upto: self.mark };
        let entry = Entry { seq: self.ledger.seq + 1, at, actor: "a person".to_owned(), record };
        self.append(&Arc::new(entry));
    }

    /// Starts the world here: it is not set back to an earlier state.
    pub fn forget_past(&mut self) {
        self.rests = Arc::new(vec![self.ledger.clone()]);
    }

    /// The positions that it can be set back to.
    pub fn earlier(&self) -> usize {
        self.rests.iter().filter(|rest| rest.seq < self.ledger.seq).count()
    }

    /// Sets it back to one of them.
    pub fn set_back(&mut self, to: usize) {
        self.ledger = self.rests[to].clone();
        let seq = self.ledger.seq;
        Arc::make_mut(&mut self.entries).retain(|entry| entry.seq <= seq);
        Arc::make_mut(&mut self.rests).truncate(to + 1);
        self.hash = self.entries.last().map_or(0, |last| hash(&self.ledger, last));
    }

    /// Also hashes the states that it can be set back to.
    pub fn hash_past(&self, hasher: &mut impl Hasher) {
        self.mark.hash(hasher);
        for rest in self.rests.iter() {
            rest.seq.hash(hasher);
        }
    }
}

/// An entry without the explanations for people, which have no effect.
fn wordless(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if let Record::Outcomes(outcomes) = &mut entry.record {
        for outcome in outcomes {
            if let Done::Unknown { why } | Done::Not { why } = &mut outcome.result {
                why.clear();
            }
        }
    }
    entry
}

fn hash(ledger: &Ledger, last: &Entry) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(ledger).expect("it is data").hash(&mut hasher);
    (last.seq, &last.actor, last.at).hash(&mut hasher);
    hasher.finish()
}
