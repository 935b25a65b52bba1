//! The log as a model: create-if-absent, with writes that fail, tear or lose their answer.

use pushplan::ledger::{AppendError, Entry, Ledger, Record};

use super::dice::Dice;
use super::tally::{Fault, Tally};

/// What is durable, and what it adds up to.
#[derive(Debug, Default)]
pub struct Log {
    pub entries: Vec<Entry>,
    pub ledger: Ledger,
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
        entry: &Entry,
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
            let place = usize::try_from(entry.seq).unwrap_or_default().wrapping_sub(1);
            if self.entries.get(place) == Some(entry) {
                return Written::Yes;
            }
            tally.met(Fault::Conflict, met);
            return Written::No(AppendError::Conflict);
        }
        self.push(entry.record.clone(), entry);
        if (13..19).contains(&fault) {
            tally.met(Fault::WriteAnswerLost, met);
            return Written::No(AppendError::Unknown("timeout".to_owned()));
        }
        Written::Yes
    }

    fn push(&mut self, record: Record, like: &Entry) {
        let entry = Entry { record, seq: self.ledger.seq + 1, ..like.clone() };
        self.ledger.add(&entry);
        self.entries.push(entry);
    }

    /// A person's command writes a record, while nobody else is at work.
    pub fn say(&mut self, record: Record, at: jiff::Timestamp) {
        let entry = Entry { seq: self.ledger.seq + 1, at, actor: "a person".to_owned(), record };
        self.ledger.add(&entry);
        self.entries.push(entry);
    }
}
