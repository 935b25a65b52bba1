//! A record as bytes: one line of JSON that contains the checksum of the record before it and ends with its own.
//!
//! Every format, including later ones, begins with `format` and `tool` and ends with `checksum`, so that a damaged
//! record can be distinguished from one of a newer pushplan.

use std::fmt;

use jiff::Timestamp;
use pushplan_model::digest::Digest;
use serde::{Deserialize, Serialize};

use super::intent::Seq;
use super::record::{Entry, Record};

/// The newest format of a record. Records in later formats are refused.
pub const FORMAT: u64 = 2;

/// Returns the oldest format that can express a record. A version that does not know gaps would create resources that
/// may have been created in one, so it must not read on.
fn format_of(record: &Record) -> u64 {
    match record {
        Record::Gap { .. } | Record::GapClosed => 2,
        Record::Checkpoint(ledger) if ledger.gap.is_some() => 2,
        _ => 1,
    }
}

/// The largest record, in bytes.
pub const LIMIT: u64 = 512 * 1024 * 1024;

const SEAL: &str = ",\"checksum\":\"";
const END: &str = "\"}\n";
/// The number of characters in a checksum.
const SUM: usize = 64;
/// The number of bytes at the end of a record that hold its checksum and the surrounding syntax.
pub(crate) const TAIL: usize = SEAL.len() + SUM + END.len();

/// An entry and its links to its log.
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed {
    pub entry: Entry,
    pub seal: Seal,
    /// The checksum of the record before it; `None` for the first.
    pub previous: Option<Digest>,
}

/// The part of a record that the next one refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    pub seq: Seq,
    /// Identifies the ledger. The first record chooses it.
    pub lineage: String,
    pub checksum: Digest,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It differs from what was written.
    Damaged(String),
    /// A newer pushplan wrote it, in a newer format.
    Newer { format: u64, tool: String },
    /// It is intact and in a format that this version reads, but contains something unknown to this version. Ignoring
    /// that would lose it.
    Unknown { tool: String, why: String },
    /// Its number differs from the number of its place.
    Misplaced { holds: Seq },
    /// It belongs to another ledger.
    Foreign { lineage: String, expected: String },
    /// It does not refer to the record before it.
    Loose,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(why) => write!(f, "is damaged: {why}"),
            Self::Newer { format, tool } => {
                write!(
                    f,
                    "was written by pushplan {tool} in format {format}, but this version reads formats up to {FORMAT}"
                )
            }
            Self::Unknown { tool, why } => {
                write!(
                    f,
                    "was written by a newer pushplan, {tool}; this is {}, which cannot read it: {why}",
                    env!("CARGO_PKG_VERSION")
                )
            }
            Self::Misplaced { holds } => write!(f, "is in the wrong place: its file contains record {holds}"),
            Self::Foreign { lineage, expected } => {
                write!(f, "belongs to another ledger: its lineage is {lineage}, not {expected}")
            }
            Self::Loose => f.write_str("does not match the record before it: one of the two was replaced"),
        }
    }
}

#[derive(Serialize)]
struct Written<'a> {
    format: u64,
    tool: &'a str,
    lineage: &'a str,
    previous: Option<&'a Digest>,
    seq: Seq,
    at: Timestamp,
    actor: &'a str,
    record: &'a Record,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    format: u64,
    #[serde(rename = "tool")]
    _tool: String,
    lineage: String,
    previous: Option<Digest>,
    seq: Seq,
    at: Timestamp,
    actor: String,
    record: Record,
    #[serde(rename = "checksum")]
    _checksum: String,
}

/// The fields that every format has.
#[derive(Deserialize)]
struct Made {
    format: u64,
    tool: String,
}

/// Returns the bytes of an entry, linked to its ledger and to the record before it.
pub fn encode(entry: &Entry, lineage: &str, previous: Option<&Digest>) -> Vec<u8> {
    let Entry { seq, at, actor, record } = entry;
    let tool = env!("CARGO_PKG_VERSION");
    let written = Written { format: format_of(record), tool, lineage, previous, seq: *seq, at: *at, actor, record };
    sealed(serde_json::to_vec(&written).expect("a record has text keys only"))
}

/// Returns the bytes of an entry for printing: in ASCII, without sequences that a log would show differently. They do
/// not refer to the record before it.
pub(crate) fn encode_printed(entry: &Entry, lineage: &str) -> Vec<u8> {
    let Entry { seq, at, actor, record } = entry;
    let tool = env!("CARGO_PKG_VERSION");
    let written =
        Written { format: format_of(record), tool, lineage, previous: None, seq: *seq, at: *at, actor, record };
    let text = serde_json::to_string(&written).expect("a record has text keys only");
    let mut out = String::with_capacity(text.len());
    let mut last = ' ';
    for c in text.chars() {
        // Two of these in a row occur only within strings, and may be a command for a CI system.
        if matches!(c, ' '..='~') && !(c == last && matches!(c, ':' | '#')) {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
        last = c;
    }
    sealed(out.into_bytes())
}

/// Ends a record with its own checksum.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.pop();
    let checksum = Digest::of(&bytes);
    for part in [SEAL, checksum.as_str(), END] {
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

/// Whether a record is a checkpoint, without parsing all of it. Within a string, the quotes would be escaped.
pub fn is_checkpoint(bytes: &[u8]) -> bool {
    const RECORD: &[u8] = br#""record":{"#;
    let at = bytes.windows(RECORD.len()).take(1 << 16).position(|window| window == RECORD);
    at.is_some_and(|at| bytes[at + RECORD.len()..].starts_with(br#""checkpoint":"#))
}

/// Returns the lineage that a record names, without parsing all of it. A lineage has no character that JSON would
/// escape.
pub fn lineage(bytes: &[u8]) -> Option<String> {
    const SIGN: &[u8] = br#","lineage":""#;
    let at = bytes.windows(SIGN.len()).take(256).position(|window| window == SIGN)? + SIGN.len();
    let end = bytes[at..].iter().position(|byte| *byte == b'"')?;
    String::from_utf8(bytes[at..at + end].to_vec()).ok()
}

/// Returns the checksum at the end of a record.
pub fn stated(bytes: &[u8]) -> Option<&str> {
    let tail = bytes.split_at_checked(bytes.len().checked_sub(TAIL)?)?.1;
    str::from_utf8(tail).ok()?.strip_prefix(SEAL)?.strip_suffix(END)
}

/// Parses a record. Refuses every record that differs by even one bit from what was written.
pub fn decode(bytes: &[u8]) -> Result<Sealed, Flaw> {
    let damaged = |why: &str| Flaw::Damaged(why.to_owned());
    if bytes.is_empty() {
        return Err(damaged("it is empty"));
    }
    let checksum = stated(bytes).ok_or_else(|| damaged("its end is missing"))?;
    let body = &bytes[..bytes.len() - TAIL];
    let found = Digest::of(body);
    if found.as_str() != checksum {
        return Err(damaged("its checksum does not match"));
    }
    let Read { lineage, previous, seq, at, actor, record, .. } = match serde_json::from_slice(bytes) {
        Ok(Read { format, .. }) if format > FORMAT => return Err(unreadable(bytes, None)),
        Ok(read) => read,
        Err(error) => return Err(unreadable(bytes, Some(&error))),
    };
    let seal = Seal { seq, lineage, checksum: found };
    Ok(Sealed { entry: Entry { seq, at, actor, record }, seal, previous })
}

/// Whether a newer pushplan wrote the record.
pub(crate) fn is_newer(bytes: &[u8]) -> bool {
    matches!(decode(bytes), Err(Flaw::Newer { .. } | Flaw::Unknown { .. }))
}

/// Returns why a record with a correct checksum was not understood.
fn unreadable(bytes: &[u8], error: Option<&serde_json::Error>) -> Flaw {
    match (serde_json::from_slice(bytes), error) {
        (Ok(Made { format, tool }), Some(error)) if format <= FORMAT => Flaw::Unknown { tool, why: reason(error) },
        (Ok(Made { format, tool }), _) => Flaw::Newer { format, tool },
        (Err(error), _) => Flaw::Damaged(format!("it cannot be read ({error})")),
    }
}

/// Returns why a text was not understood, without the position and the list of expected values.
pub fn reason(error: &serde_json::Error) -> String {
    let told = error.to_string();
    let told = told.rsplit_once(" at line ").map_or(&*told, |(told, _)| told);
    told.split_once(", expected ").map_or(told, |(told, _)| told).to_owned()
}

impl Sealed {
    /// Checks that this is record `seq` and follows `before`. Without `before`, it is the first record or the one that
    /// reading begins at.
    pub fn check(&self, seq: Seq, before: Option<&Seal>) -> Result<(), Flaw> {
        if self.seal.seq != seq {
            return Err(Flaw::Misplaced { holds: self.seal.seq });
        }
        let Some(before) = before else {
            return if (seq == 1) == self.previous.is_none() { Ok(()) } else { Err(Flaw::Loose) };
        };
        if self.seal.lineage != before.lineage {
            let (lineage, expected) = (self.seal.lineage.clone(), before.lineage.clone());
            return Err(Flaw::Foreign { lineage, expected });
        }
        if self.previous.as_ref() != Some(&before.checksum) {
            return Err(Flaw::Loose);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pushplan_model::address::Address;

    use super::*;

    fn entry(seq: Seq) -> Entry {
        let at = "2026-11-15T12:00:00.5Z".parse().expect("a time");
        let record = Record::Forget(vec![Address::new("segments", "é \"a\"")]);
        Entry { seq, at, actor: "ada on build-7".into(), record }
    }

    #[test]
    fn what_is_written_is_read_back_and_is_json() {
        let first = encode(&entry(1), "one", None);
        let read = decode(&first).expect("sound");
        assert_eq!((read.entry.clone(), &*read.seal.lineage, &read.previous), (entry(1), "one", &None));
        assert_eq!(stated(&first), Some(read.seal.checksum.as_str()));
        let value: serde_json::Value = serde_json::from_slice(&first).expect("JSON");
        assert_eq!(value["format"], 1);
        let second = decode(&encode(&entry(2), "one", Some(&read.seal.checksum))).expect("sound");
        assert_eq!(second.check(2, Some(&read.seal)), Ok(()));
        assert_eq!(second.check(3, Some(&read.seal)), Err(Flaw::Misplaced { holds: 2 }));
    }

    #[test]
    fn a_printed_record_is_the_same_and_harmless() {
        let actor = "ada::x ##[error] \u{7f}\u{202e}😀";
        let entry = Entry { actor: actor.to_owned(), ..entry(7) };
        let bytes = encode_printed(&entry, "one");
        assert!(bytes.trim_ascii_end().iter().all(|byte| matches!(byte, b' '..=b'~')));
        let text = String::from_utf8(bytes.clone()).expect("ASCII");
        assert!(!text.contains("::") && !text.contains("##"), "{text}");
        assert_eq!(decode(&bytes).expect("sound").entry, entry);
    }

    #[test]
    fn no_bit_can_be_another_and_no_byte_can_be_missing() {
        let bytes = encode(&entry(1), "one", None);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                assert!(matches!(decode(&other), Err(Flaw::Damaged(_))), "byte {at}, bit {bit}");
            }
            assert!(matches!(decode(&bytes[..at]), Err(Flaw::Damaged(_))), "{at} bytes");
        }
        assert!(decode(&[&bytes[..], b"\n"].concat()).is_err());
    }

    #[test]
    fn another_ledgers_record_and_a_replaced_one_are_told_apart() {
        let first = decode(&encode(&entry(1), "one", None)).expect("sound").seal;
        let other = decode(&encode(&entry(2), "two", Some(&first.checksum))).expect("sound");
        assert!(matches!(other.check(2, Some(&first)), Err(Flaw::Foreign { .. })));
        let loose = decode(&encode(&entry(2), "one", Some(&Digest::of(b"x")))).expect("sound");
        assert_eq!(loose.check(2, Some(&first)), Err(Flaw::Loose));
        assert_eq!(loose.check(2, None), Ok(()), "reading may begin there");
    }

    #[test]
    fn a_gap_has_a_format_that_older_programs_refuse() {
        let format = |record: Record| {
            let bytes = encode(&Entry { record, ..entry(2) }, "one", Some(&Digest::of(b"x")));
            let read = decode(&bytes).expect("sound");
            assert_eq!(encode(&read.entry, "one", Some(&Digest::of(b"x"))), bytes);
            serde_json::from_slice::<serde_json::Value>(&bytes).expect("JSON")["format"].as_u64()
        };
        let gap = Record::Gap { since: None, upto: 7 };
        let mut ledger = crate::Ledger::default();
        assert_eq!(format(Record::Checkpoint(Box::new(ledger.clone()))), Some(1));
        ledger.add(&Entry { record: gap.clone(), ..entry(1) });
        assert_eq!(format(gap), Some(2));
        assert_eq!(format(Record::GapClosed), Some(2));
        assert_eq!(format(Record::Checkpoint(Box::new(ledger))), Some(2));
    }

    #[test]
    fn a_later_format_is_no_damage() {
        let text = String::from_utf8(encode(&entry(1), "one", None)).expect("UTF-8");
        let body = text[..text.len() - TAIL].replacen("\"format\":1,\"tool\":\"", "\"format\":7,\"tool\":\"9.", 1);
        let later = format!("{body}{SEAL}{}{END}", Digest::of(body.as_bytes()));
        let flaw = decode(later.as_bytes()).expect_err("later");
        assert!(matches!(&flaw, Flaw::Newer { format: 7, tool } if tool.starts_with("9.")), "{flaw}");
    }
}
