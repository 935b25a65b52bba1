//! The stores of a ledger's records.
//!
//! A store guarantees one thing: *record N is created by one writer and never changes*. It stores bytes; `Chain`
//! interprets them and checks that they follow each other.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use pushplan_model::digest::Digest;

use super::intent::Seq;
use super::{AppendError, Untrusted};

/// The future of a store's result.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The store of one target's ledger. Several processes and threads may use it at the same time.
pub trait Store: fmt::Debug + Send + Sync {
    /// The place for display, such as `s3://bucket/prefix`. Never contains a password.
    fn shown(&self) -> String;

    /// The name of a record for display, such as `.pushplan/ledger/local/00000007.json`.
    fn record(&self, seq: Seq) -> String;

    /// How to continue without this record and all later ones if they cannot be restored from a copy: the words after
    /// "or".
    fn go_on(&self, seq: Seq) -> String;

    /// How to restore the records that were seen from this machine, up to this one, if that is possible from here: the
    /// words after "the last good record is N;".
    fn put_back(&self, was: Seq) -> Option<String> {
        let _ = was;
        None
    }

    /// Whether the store itself notes on this machine which records it has seen.
    fn remembers(&self) -> bool {
        false
    }

    /// Reports that the records up to the newest were read and are intact. A store that notes what it has seen notes
    /// nothing before that.
    fn is_sound(&self, newest: Seq) -> Pending<'_, ()> {
        let _ = newest;
        Box::pin(async {})
    }

    /// Why the ledger is not used, if it is refused. Reading then always fails.
    fn untrusted(&self) -> Option<&Untrusted> {
        None
    }

    /// Reads records as they were written, in order; returns none if there are none yet. The result is at least as new
    /// as everything that was durable at the time of the call.
    fn read(&self, from: Start) -> Pending<'_, Result<Vec<Stored>, Unread>>;

    /// Reads like [`Self::read`], but accepts the existing records as complete, even if later ones were noted or seen
    /// before. For a ledger that was restored from a backup.
    fn read_as_is(&self, from: Start) -> Pending<'_, Result<Vec<Stored>, Unread>>;

    /// Accepts the existing records as everything that was ever seen. Called when a person has accepted the loss of
    /// later records.
    fn accept(&self) -> Pending<'_, Result<(), Unread>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns the ledgers of other targets in the same place, if that costs little.
    fn beside(&self) -> Pending<'_, Result<Vec<Sibling>, Unread>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// The server that ledgers of several targets may share; `None` for a place where each is on its own.
    fn server(&self) -> Option<Arc<dyn Server>> {
        None
    }

    /// Creates a record if its number is free. When this returns, the record is durable. Creating the same record again
    /// is not a conflict. If the answer was lost, the store looks for the record, and returns [`AppendError::Unknown`]
    /// only if that failed as well.
    fn create<'a>(&'a self, new: New<'a>) -> Pending<'a, Result<(), AppendError>>;
}

/// A server that has the ledgers of several targets, and answers for all of them at once.
pub trait Server: Send + Sync {
    /// Reads, in few connections, what the next read of each of these targets needs. That read is as new as this call. What
    /// cannot be read ahead is read by each for itself.
    fn read_ahead<'a>(&'a self, targets: &'a [String]) -> Pending<'a, ()>;

    /// Whether the next read of a target is one that was made ahead.
    fn is_ahead(&self, target: &str) -> bool;

    /// Forgets what was read ahead and not used.
    fn forget_ahead(&self);

    /// Announces that records of a target follow each other soon, so that records of other targets wait for them.
    fn announce(&self, target: &str);

    /// Takes back an announcement.
    fn withdraw(&self, target: &str);
}

/// Where reading begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the newest checkpoint, or with the first record if there is none.
    Checkpoint,
    /// With this record.
    At(Seq),
    /// With the newest record: only that one is read.
    Newest,
}

/// A record in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub seq: Seq,
    pub bytes: Vec<u8>,
}

/// The ledger of another target in the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sibling {
    /// The name of the target in the place.
    pub name: String,
    /// Its place, for display.
    pub shown: String,
    /// Its records from the newest checkpoint on.
    pub records: Vec<Stored>,
    /// How to make it the ledger of this target, if renaming is enough: the words after "or".
    pub becomes: Option<String>,
}

/// A record to create.
#[derive(Clone, Copy, Debug)]
pub struct New<'a> {
    pub seq: Seq,
    pub bytes: &'a [u8],
    /// The checksum of the record before it; `None` for the first. A store that can check this at no cost refuses with
    /// [`AppendError::NotWritten`] if the record before it is another one or is gone.
    pub previous: Option<&'a Digest>,
    /// Whether it contains the whole state before it.
    pub is_checkpoint: bool,
}

/// Why records were not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The place or one record cannot be read now: the reason, and how to fix it.
    Failed { why: String, help: Option<String> },
    /// A record does not exist, but a later one does.
    Missing { seq: Seq, there: Seq },
    /// The last record is `last`, but record `was` existed before.
    CutShort { last: Seq, was: Seq },
    /// The last record is `last`, but the mark that would confirm it is gone. It existed before.
    Unmarked { last: Seq, mark: String },
    /// The newest record belongs to another ledger than before. `seq` is the first record that does.
    Foreign { seq: Seq, lineage: String, expected: String },
}

/// Names the last intact record before this one.
pub fn last_good(seq: Seq) -> String {
    match seq - 1 {
        0 => "no record is intact".to_owned(),
        good => format!("the last intact record is {good}"),
    }
}

/// Says how to continue once this record and all later ones are out of the way.
pub fn going_on(seq: Seq) -> String {
    match seq.saturating_sub(1) {
        0 => "start with an empty ledger".to_owned(),
        good => format!("continue from record {good}"),
    }
}

/// Returns a target's name as the name of a folder or a part of a ref. No two targets have the same one, even if case
/// is ignored, and none leads to another folder.
pub fn plain(target: &str) -> String {
    let mut out = String::new();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
    let bytes = target.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1).is_some_and(is_word) && &bytes[at + 1..] != b"lock";
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => out.push(char::from(*byte)),
            b'.' if at > 0 && next => out.push('.'),
            _ => out.push_str(&format!("%{byte:02x}")),
        }
    }
    if out.is_empty() { "%".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_targets_folder_is_its_own_and_lies_beneath() {
        assert_eq!(plain("local-2.eu"), "local-2.eu");
        for odd in ["..", ".", "a/b", "", "A", "é", "con\0", "../../etc"] {
            let name = plain(odd);
            assert!(!name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']), "{name}");
            assert!(!name.contains(|c: char| c.is_uppercase()), "{name}");
        }
        assert_ne!(plain("A"), plain("a"));
        assert_ne!(plain(""), plain("%"));
    }
}
