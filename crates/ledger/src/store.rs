//! Where the records of a ledger lie.
//!
//! A store has one thing to promise: *record N is created by one writer, and stays as it was written*. It deals in bytes;
//! what they mean, and whether they follow each other, is for `Chain` to say.

use std::fmt;
use std::pin::Pin;

use pushplan_model::digest::Digest;

use super::intent::Seq;
use super::{AppendError, Untrusted};

/// What a store will answer.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The place of one target's ledger. Several processes and threads may use it at a time.
pub trait Store: fmt::Debug + Send + Sync {
    /// The place as people know it, such as `s3://bucket/prefix`. Never with a password.
    fn shown(&self) -> String;

    /// A record as people know it, such as `.pushplan/ledger/local/00000007.json`.
    fn record(&self, seq: Seq) -> String;

    /// How to do without every record from this one on, where it cannot be put back from a copy: the words after "or".
    fn go_on(&self, seq: Seq) -> String;

    /// How to bring back records that were seen from this machine up to this one, where that can be done from here: the words
    /// after "the last good record is N;".
    fn put_back(&self, was: Seq) -> Option<String> {
        let _ = was;
        None
    }

    /// Whether it remembers by itself, on this machine, what it has seen in the place.
    fn remembers(&self) -> bool {
        false
    }

    /// Tells it that its records up to the newest were read and are sound, once that is known: a store that remembers by itself
    /// notes nothing before.
    fn is_sound(&self, newest: Seq) -> Pending<'_, ()> {
        let _ = newest;
        Box::pin(async {})
    }

    /// Why nothing of the ledger is used, if so: reading it always fails then.
    fn untrusted(&self) -> Option<&Untrusted> {
        None
    }

    /// Records as they were written, in order. Nothing where there is no record yet. What is read
    /// is at least as new as whatever was durable when this was called.
    fn read(&self, from: Start) -> Pending<'_, Result<Vec<Stored>, Unread>>;

    /// Reads as [`Self::read`] does, and takes what is there for all there is, also where more was noted or seen before. For a
    /// ledger that was restored from a backup.
    fn read_as_is(&self, from: Start) -> Pending<'_, Result<Vec<Stored>, Unread>>;

    /// Takes what is there for all that was ever seen. For a person who has accepted that later records are lost.
    fn accept(&self) -> Pending<'_, Result<(), Unread>> {
        Box::pin(async { Ok(()) })
    }

    /// What the place has of other targets, where it can tell that at little cost.
    fn beside(&self) -> Pending<'_, Result<Vec<Sibling>, Unread>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Creates a record if nobody has created one in its place. When this returns, it is durable. The same record may be
    /// created again: that it is there already is then no conflict. Where the answer was lost, it looks before it says
    /// anything, and says [`AppendError::Unknown`] only where looking did not help.
    fn create<'a>(&'a self, new: New<'a>) -> Pending<'a, Result<(), AppendError>>;
}

/// Where reading begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the newest checkpoint, or with the first record where there is none.
    Checkpoint,
    /// With this record.
    At(Seq),
    /// With the newest record: that one alone is read.
    Newest,
}

/// A record that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub seq: Seq,
    pub bytes: Vec<u8>,
}

/// The ledger of another target in the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sibling {
    /// The target, as the place has its name.
    pub name: String,
    /// Where it is, as people know the place.
    pub shown: String,
    /// Its records from the newest checkpoint on.
    pub records: Vec<Stored>,
    /// How it becomes the ledger of this target, where that is a matter of names: the words after "or".
    pub becomes: Option<String>,
}

/// A record that is to be.
#[derive(Clone, Copy, Debug)]
pub struct New<'a> {
    pub seq: Seq,
    pub bytes: &'a [u8],
    /// The checksum that the record before it ends in; `None` for the first. A store that can tell at no cost that the record
    /// before it is another one, or is gone, refuses with [`AppendError::NotWritten`].
    pub previous: Option<&'a Digest>,
    /// Whether it has everything before it in it.
    pub is_checkpoint: bool,
}

/// Why records were not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The place, or one record in it, cannot be read now: why, and what to do about it.
    Failed { why: String, help: Option<String> },
    /// A record is not there, though a later one is.
    Missing { seq: Seq, there: Seq },
    /// It ends with a record, and a later one was there before.
    CutShort { last: Seq, was: Seq },
    /// It ends with a record, and what shows whether that is the newest one was there before.
    Unmarked { last: Seq, mark: String },
    /// The newest record is of another ledger than it was before. With the first that is.
    Foreign { seq: Seq, lineage: String, expected: String },
}

/// Up to where the records before one hold.
pub fn last_good(seq: Seq) -> String {
    match seq - 1 {
        0 => "no record is intact".to_owned(),
        good => format!("the last intact record is {good}"),
    }
}

/// How to continue once every record from one on is out of the way.
pub fn going_on(seq: Seq) -> String {
    match seq.saturating_sub(1) {
        0 => "start with an empty ledger".to_owned(),
        good => format!("continue from record {good}"),
    }
}

/// A target's name as the name of a folder or a part of a ref: no two targets have the same one, also where capitals do not
/// count, and none leads elsewhere.
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
