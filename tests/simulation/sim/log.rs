//! The log as a model: create-if-absent, with writes that fail, tear or lose their response.

use std::rc::Rc;

use pushplan::ledger::{AppendError, Entry, Ledger, Record};
use pushplan_testing::Dice;

use super::files::Files;
use super::tally::{Fault, Tally};

/// The durable records, and their total.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub entries: Vec<Rc<Entry>>,
    /// Shared with its readers: a later writer gets another one.
    pub ledger: Rc<Ledger>,
    /// The newest files that were applied.
    pub applied: Files,
    /// The largest number of entries so far.
    pub mark: u64,
}

/// The result of a write.
#[derive(Debug)]
pub enum Written {
    Yes,
    No(AppendError),
    /// The process died in between, and nothing readable is left.
    Torn,
}

pub fn word(record: &Record) -> &'static str {
    match record {
        Record::Begin(_) => "begin",
        Record::Intents(_) => "intents",
        Record::Outcomes(_) => "outcomes",
        Record::Adopt(_) => "adopt",
        Record::Forget(_) => "forget",
        Record::Alive { .. } => "alive",
        _ => "end",
    }
}

impl Log {
    /// Appends an entry, possibly with a fault.
    pub fn append(
        &mut self,
        mut entry: Entry,
        faults: bool,
        exclusive: bool,
        dice: &mut Dice,
        tally: &mut Tally,
    ) -> Written {
        let met = word(&entry.record);
        let fault = if faults { dice.below(400) } else { 400 };
        match fault {
            0..6 => {
                tally.met(Fault::WriteFailed, met);
                return Written::No(AppendError::NotWritten("no space".to_owned()));
            }
            6..9 => {
                tally.met(Fault::WriteTorn, met);
                return Written::Torn;
            }
            9..13 => {
                tally.met(Fault::WriteUnknown, met);
                return Written::No(AppendError::Unknown("timeout".to_owned()));
            }
            _ => {}
        }
        if exclusive && entry.seq != self.ledger.seq + 1 {
            // An identical existing entry is the one whose response was lost.
            if self.entry(entry.seq) == Some(&entry) {
                return Written::Yes;
            }
            tally.met(Fault::Conflict, met);
            return Written::No(AppendError::Conflict);
        }
        entry.seq = self.ledger.seq + 1;
        self.push(entry);
        if (13..19).contains(&fault) {
            tally.met(Fault::WriteAnswerLost, met);
            return Written::No(AppendError::Unknown("timeout".to_owned()));
        }
        Written::Yes
    }

    fn push(&mut self, entry: Entry) {
        Rc::make_mut(&mut self.ledger).add(&entry);
        self.entries.push(Rc::new(entry));
        self.mark = self.mark.max(self.ledger.seq);
    }

    /// Returns to the state at a moment, like from a backup.
    pub fn restore(&mut self, at: jiff::Timestamp) -> bool {
        let kept = self.entries.iter().take_while(|entry| entry.at <= at).count();
        let loses = kept < self.entries.len();
        self.entries.truncate(kept);
        self.ledger = Rc::new(Ledger::replay(self.entries.iter().map(|entry| Entry::clone(entry))));
        if loses {
            self.applied = self.ledger.checkout.as_ref().and_then(Files::of).unwrap_or_default();
        }
        loses
    }

    /// A person accepts that the newest records are missing.
    pub fn accept_gap(&mut self, at: jiff::Timestamp) {
        let since = self.entries.last().map(|last| last.at);
        self.say(Record::Gap { since, upto: self.mark }, at);
    }

    /// The entry with a number.
    fn entry(&self, seq: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(seq).ok()?.checked_sub(1)?).map(Rc::as_ref)
    }

    /// Writes the record of a person's command, while no run is active.
    pub fn say(&mut self, record: Record, at: jiff::Timestamp) {
        let entry = Entry { seq: self.ledger.seq + 1, at, actor: "a person".to_owned(), record };
        self.push(entry);
    }
}
