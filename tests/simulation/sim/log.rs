//! The log as a model: create-if-absent, with writes that fail, tear or lose their answer.

use std::rc::Rc;

use pushplan::ledger::{AppendError, Entry, Ledger, Record};
use pushplan_testing::Dice;

use super::files::Files;
use super::tally::{Fault, Tally};

/// What is durable, and what it adds up to.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub entries: Vec<Rc<Entry>>,
    /// Shared with those who have read it: who writes after that has another.
    pub ledger: Rc<Ledger>,
    /// The newest files that something was applied from.
    pub applied: Files,
    /// The most entries that there were.
    pub mark: u64,
}

/// What became of a write.
#[derive(Debug)]
pub enum Written {
    Yes,
    No(AppendError),
    /// The process died in the middle, and nothing readable is left.
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
    /// Appends an entry, with whatever goes wrong.
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
            // An entry that is there already in every part is the one whose answer was lost.
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

    /// Becomes what it was at a moment, as a backup has it.
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

    /// A person's command writes a record, while nobody else is at work.
    pub fn say(&mut self, record: Record, at: jiff::Timestamp) {
        let entry = Entry { seq: self.ledger.seq + 1, at, actor: "a person".to_owned(), record };
        self.push(entry);
    }
}
